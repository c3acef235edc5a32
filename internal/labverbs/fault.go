package labverbs

import (
	"errors"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/verbs"
)

// Fault is one way in which the first of several requests fails, so that those
// behind it flush.
type Fault struct {
	Name string
	// Root is the status of the first request, as Soft-RoCE reports it.
	Root classify.Status

	prepare func(*softroce.Lab, *Pair) (softroce.Undo, error)
	op      verbs.Opcode
	spoil   func(*Pair, *verbs.SendWR)
}

// Prepare makes what the fault needs outside the request: a cut path, a
// destroyed peer, a posted receive. The undo is never nil.
func (f Fault) Prepare(lab *softroce.Lab, p *Pair) (undo softroce.Undo, err error) {
	undo = func() error { return nil }
	if f.prepare == nil {
		return undo, nil
	}
	made, err := f.prepare(lab, p)
	if made != nil {
		undo = made
	}
	return undo, err
}

// Requests returns n signaled requests, with WRIDs from 0, of which the first
// fails and the others are sound.
func (f Fault) Requests(p *Pair, n int) []verbs.SendWR {
	list := p.Requests(f.op, n)
	if f.spoil != nil {
		f.spoil(p, &list[0])
	}
	return list
}

// Provoke makes the fault on a connected pair: it prepares, posts n requests,
// collects their completions and undoes what it prepared. The pair needs a
// Reconnect after it.
func (f Fault) Provoke(lab *softroce.Lab, p *Pair, n int) (wcs []verbs.WC, err error) {
	undo, err := f.Prepare(lab, p)
	defer func() { err = errors.Join(err, undo()) }()
	if err != nil {
		return nil, err
	}
	if err := p.Post(f.Requests(p, n)); err != nil {
		return nil, err
	}
	return Collect(p.From.CQ, n)
}

// Faults returns every fault of this kind that Soft-RoCE shows.
func Faults() []Fault {
	return append(requestFaults(), pathFaults()...)
}

// requestFaults are in the request or at the peer; the path is sound.
func requestFaults() []Fault {
	return []Fault{
		{
			Name: "wrong rkey", Root: classify.StatusRemAccessErr, op: verbs.OpWrite,
			spoil: func(_ *Pair, w *verbs.SendWR) { w.RKey ^= 0xff00 },
		},
		{
			Name: "remote address out of range", Root: classify.StatusRemAccessErr, op: verbs.OpWrite,
			spoil: func(p *Pair, w *verbs.SendWR) { w.RemoteAddr = p.To.MR.Addr() + uint64(p.To.MR.Len()) },
		},
		{
			Name: "wrong rkey of a READ", Root: classify.StatusRemAccessErr, op: verbs.OpRead,
			spoil: func(_ *Pair, w *verbs.SendWR) { w.RKey ^= 0xff00 },
		},
		{
			// mlx5 reports LOC_PROT_ERR here.
			Name: "wrong lkey", Root: classify.StatusLocQPOpErr, op: verbs.OpWrite,
			spoil: func(_ *Pair, w *verbs.SendWR) { w.SGE.LKey ^= 0xff00 },
		},
		{
			Name: "no receive posted", Root: classify.StatusRNRRetryExcErr, op: verbs.OpSend,
		},
		{
			Name: "receive too short", Root: classify.StatusRemOpErr, op: verbs.OpSend,
			prepare: func(_ *softroce.Lab, p *Pair) (softroce.Undo, error) { return nil, p.PostReceives(8, SliceBytes/2) },
		},
	}
}

// pathFaults let the requests of a sound pair go unsent or unanswered.
func pathFaults() []Fault {
	retry := func(name string, prepare func(*softroce.Lab, *Pair) (softroce.Undo, error)) Fault {
		return Fault{Name: name, Root: classify.StatusRetryExcErr, op: verbs.OpWrite, prepare: prepare}
	}
	return []Fault{
		retry("peer's QP destroyed", func(_ *softroce.Lab, p *Pair) (softroce.Undo, error) { return nil, p.To.QP.Close() }),
		retry("peer's QP in RESET", func(_ *softroce.Lab, p *Pair) (softroce.Undo, error) { return nil, p.To.QP.ToReset() }),
		retry("every packet lost", func(lab *softroce.Lab, p *Pair) (softroce.Undo, error) { return lab.Loss(p.To.NIC, 100) }),
		retry("pair blocked", func(lab *softroce.Lab, p *Pair) (softroce.Undo, error) { return lab.Block(p.From.NIC, p.To.NIC) }),
		retry("answers blocked", func(lab *softroce.Lab, p *Pair) (softroce.Undo, error) { return lab.Block(p.To.NIC, p.From.NIC) }),
		retry("peer's link down", func(lab *softroce.Lab, p *Pair) (softroce.Undo, error) { return lab.LinkDown(p.To.NIC) }),
		{
			// Soft-RoCE finds no route from a link that is down, and blames its own QP. A
			// real NIC goes on sending into the dead link and reports RETRY_EXC_ERR.
			Name: "own link down", Root: classify.StatusLocQPOpErr, op: verbs.OpWrite,
			prepare: func(lab *softroce.Lab, p *Pair) (softroce.Undo, error) { return lab.LinkDown(p.From.NIC) },
		},
	}
}
