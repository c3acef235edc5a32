package simfabric

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// rnrDelay is how long a requester waits after a receiver was not ready.
const rnrDelay = time.Millisecond

// request is one work request on the send queue.
type request struct {
	verbs.SendWR
	sges   []verbs.SGE
	length int

	done   bool
	status classify.Status // when done
	// applied says that the responder has carried it out, so that a repetition is
	// only acknowledged.
	applied bool
	recv    *receive // the receive that a SEND fills
}

func newRequest(wr *verbs.SendWR) *request {
	sges := list(wr.SGE, wr.More)
	w := &request{SendWR: *wr, sges: sges, length: length(sges)}
	w.More = nil // the caller's
	return w
}

// requester is the part of a QP that sends requests and sees to their answers.
type requester struct {
	outstanding []*request // from the oldest one that has not completed
	launched    int        // how many of them are with the NIC
	requests    stream
	answers     stream // of READs, and refusals; leaves the peer's NIC

	// epoch changes when everything under way is given up. What arrives of an older
	// one is ignored.
	epoch   uint64
	stalled bool // waits for the time of the next try
	hung    bool // in a black hole
	refused bool // the responder has refused a request and takes no more
	tries   int  // that brought no answer, since the last progress
	rnr     int  // that found the receiver not ready, since the last progress
}

// launch gives outstanding requests to the NIC, as far as may be.
func (q *QP) launch() {
	for q.state == verbs.StateRTS && !q.stalled && !q.hung && !q.refused && q.launched < len(q.outstanding) {
		w := q.outstanding[q.launched]
		if w.done && w.status != classify.StatusSuccess {
			return // the QP fails once this is the oldest
		}
		if w.Flags&verbs.SendFence != 0 && q.reading() {
			return
		}
		if !w.done && !q.send(w) {
			return
		}
		q.launched++
	}
}

// reading reports whether a launched READ has not completed.
func (q *QP) reading() bool {
	for _, w := range q.outstanding[:q.launched] {
		if w.Op == verbs.OpRead && !w.done {
			return true
		}
	}
	return false
}

// send puts one request on its way, unless there is a reason against it.
func (q *QP) send(w *request) bool {
	if _, ok := q.nic.local(w.sges); !ok {
		q.settle(w, classify.StatusLocProtErr)
		return false
	}
	switch {
	case q.net.faults.hole(q.nic, q.peer):
		q.hang()
		return false
	case q.net.faults.lost(q.nic, q.peer) || q.partner() == nil:
		q.unanswered()
		return false
	}
	bytes := w.length
	if w.Op == verbs.OpRead {
		bytes = 0
	}
	epoch := q.epoch
	q.requests.push(bytes, func(offset, n int) {
		if q.epoch == epoch && !w.done && !q.refused {
			q.arrive(w, offset, n)
		}
	})
	return true
}

// settle ends a request. It completes when it is the oldest.
func (q *QP) settle(w *request, status classify.Status) {
	w.done, w.status = true, status
	q.tries, q.rnr = 0, 0
	for len(q.outstanding) > 0 && q.outstanding[0].done {
		w := q.outstanding[0]
		q.outstanding = q.outstanding[1:]
		q.launched = max(0, q.launched-1)
		if w.status != classify.StatusSuccess {
			q.complainOf(w.WRID, w.status)
			q.fail()
			return
		}
		if w.Flags&verbs.SendSignaled != 0 {
			q.cq.push(verbs.WC{WRID: w.WRID, QPNum: q.qpn, Opcode: opcodes[w.Op], ByteLen: uint32(w.length)})
		}
	}
	q.launch()
}

var opcodes = map[verbs.Opcode]verbs.WCOpcode{
	verbs.OpWrite:        verbs.WCWrite,
	verbs.OpWriteWithImm: verbs.WCWrite,
	verbs.OpSend:         verbs.WCSend,
	verbs.OpSendWithImm:  verbs.WCSend,
	verbs.OpRead:         verbs.WCRead,
}

// rewind gives up everything under way.
func (q *QP) rewind() {
	q.epoch++
	q.launched = 0
	q.requests.jobs, q.answers.jobs = nil, nil
	q.stalled, q.hung, q.refused = false, false, false
}

// unanswered counts a try that brings no answer, and waits for its timeout.
func (q *QP) unanswered() {
	q.tries++
	q.stall(q.timeout(), func() {
		if q.tries > int(q.cfg.Retry) {
			q.give(classify.StatusRetryExcErr)
		}
	})
}

// notReady counts a receiver without a buffer.
func (q *QP) notReady() {
	const forever = 7
	if q.rnr++; q.rnr > int(q.cfg.RNRRetry) && q.cfg.RNRRetry != forever {
		q.give(classify.StatusRNRRetryExcErr)
		return
	}
	q.stall(rnrDelay, func() {})
}

// stall gives up what is under way, and after a time begins again with the oldest
// request. Before that it calls then, which may end the QP.
func (q *QP) stall(d time.Duration, then func()) {
	q.rewind()
	q.stalled = true
	epoch := q.epoch
	q.net.after(d, func() {
		if q.epoch != epoch {
			return
		}
		q.stalled = false
		then()
		q.launch()
	})
}

// give gives up the oldest request. It has no answer yet, or it would be gone.
func (q *QP) give(status classify.Status) {
	if len(q.outstanding) > 0 {
		q.settle(q.outstanding[0], status)
	}
}

// hang waits for the end of a black hole.
func (q *QP) hang() {
	q.rewind()
	q.hung = true
}
