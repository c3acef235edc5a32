package transfer

import (
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// slice is one work request's worth of a transfer. One worker owns it from the
// start to the end and is the only one to touch it.
//
// The permit is part of the slice: a retry uses the same one, and the slice is not
// offered again before its bytes are back.
type slice struct {
	cc.Permit
	transfer *Transfer
	offset   int64
	length   int64
	failedOn *rail // where the latest attempt failed; another is asked first
	attempts int   // posts so far

	// What follows means something from the admission until the bytes are back.

	use      cc.Use
	slot     uint32
	qp       *queuePair
	armed    time.Duration // start of the time that the deadline allows
	verdict  classify.Verdict
	finished bool // verdict has ended the attempt
}

// end keeps the first verdict that ends the attempt.
func (s *slice) end(v classify.Verdict) {
	if !s.finished {
		s.finished, s.verdict = true, v
	}
}

// workRequest returns what moves the slice over its QP.
func (s *slice) workRequest() verbs.SendWR {
	t := s.transfer
	region := t.buffer.regions[s.qp.endpoint.rail.nic]
	remote := t.object.Keys[s.qp.endpoint.rail.pair.Remote]
	wr := verbs.SendWR{
		WRID:       s.wrID(),
		Op:         verbs.OpWrite,
		Flags:      verbs.SendSignaled,
		RKey:       remote.RKey,
		RemoteAddr: remote.Addr + uint64(s.offset),
		SGE:        verbs.SGE{Addr: region.Addr() + uint64(s.offset), Length: uint32(s.length), LKey: region.LKey()},
	}
	if t.op == Read {
		wr.Op = verbs.OpRead
	}
	return wr
}
