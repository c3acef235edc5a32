package cc

import (
	"time"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// acquireListOtherwise is TryAcquireList in mode off, or with a recorder.
func (r *Route) acquireListOtherwise(l *List, gen Generation, sizes []int64, task *taskstate.Task) Decision {
	p := &l.p
	if r.ctl.rec == nil {
		p.calls = off
		return Decision{Ruling: Ruling{Answer: Admit}}
	}
	var a recorder.Acquire
	r.beginAsking(&a, recorder.AcquiringList, p, gen, 0, task)
	d := r.TryAcquireList(l, gen, sizes, task)
	answered(&a, d, task)
	a.Sizes = sizes
	r.ctl.rec.AcquireList(&a)
	return r.endAsking(p, d)
}

// postingOtherwise is Posting for a list that is not just reserved.
func (l *List) postingOtherwise(qpID uint64, now time.Duration) error {
	p := &l.p
	c := p.recorder()
	if c == nil {
		return notHeld()
	}
	c.enter()
	err := l.postingNested(qpID, now)
	call := recorder.Post{Permit: address(p), Use: uint32(p.use), QP: qpID, Now: now, List: true}
	if err != nil {
		call.Fault = faultOf(err)
	}
	c.rec.Post(&call)
	c.leave()
	return err
}

func (l *List) postingNested(qpID uint64, now time.Duration) error {
	if l.p.hold == free {
		return notHeld()
	}
	l.p.hold = reserved
	return l.Posting(qpID, now)
}

func (l *List) recordUnposted(from int) (released uint32) {
	p := &l.p
	c := p.recorder()
	c.enter()
	was := p.calls
	p.calls = nested
	if p.hold != free {
		p.hold = reserved
	}
	if released = l.Unposted(from); p.hold != free {
		p.hold = reservedRecorded // the first slices are still to be posted
	}
	p.calls = was
	c.rec.Unposted(&recorder.Unposted{Permit: address(p), Use: uint32(p.use), List: true, Slices: released, From: from})
	c.leave()
	return released
}

// settleOtherwise is Settle for a use number that is not the list's, or for slices that
// it does not hold.
func (l *List) settleOtherwise(u Use, mask uint32, v classify.Verdict, now time.Duration) Settled {
	if u < recordedUse {
		return Settled{}
	}
	u &^= recordedUse
	c := l.p.poller.Load().controller()
	if c == nil {
		return Settled{} // nobody was told such a number
	}
	c.enter()
	took := l.Settle(u, mask, v, now)
	call := recorder.Settle{
		Permit: address(&l.p), Use: uint32(u), Now: now,
		List: true, Slices: mask, Ended: took.Ended, Released: took.Released,
	}
	call.Observation.Of(v)
	c.rec.Settle(&call)
	c.leave()
	return took
}
