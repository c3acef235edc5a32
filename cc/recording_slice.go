package cc

import (
	"context"
	"time"
	"unsafe"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// acquireOtherwise is tryAcquire where something is in the way of the fast path: a
// recorder, or what acquireSlowly sorts out.
func (r *Route) acquireOtherwise(p *Permit, cur *generation, gen Generation, n int64, task *taskstate.Task) Decision {
	switch {
	case r.ctl.rec == nil:
		return r.acquireSlowly(p, cur, gen, n, task, false)
	case p.calls == nested:
		return r.acquireNested(p, cur, gen, n, task)
	}
	a := r.beginAsking(recorder.Acquiring, p, gen, n, task)
	d := r.acquireNested(p, cur, gen, n, task)
	r.ctl.rec.Put(a.answered(p, d, task).Record())
	return r.endAsking(p, d)
}

// acquireNested is tryAcquire on a generation whose gate a recorder keeps closed.
func (r *Route) acquireNested(p *Permit, cur *generation, gen Generation, n int64, task *taskstate.Task) Decision {
	if cur.number != gen || cur.retired() || r.stale() || uint64(n-1) >= MaxBytes || p.taken() {
		return r.acquireSlowly(p, cur, gen, n, task, false)
	}
	return r.acquireAgain(p, cur, gen, n, task)
}

// asked is a call that asks for bytes.
type asked struct{ recorder.Acquire }

// beginAsking begins a call that asks for bytes.
func (r *Route) beginAsking(way recorder.Way, p *Permit, gen Generation, n int64, task *taskstate.Task) asked {
	r.ctl.rec.Enter()
	p.calls = nested
	return asked{recorder.Acquire{
		Way: way, Route: r.id, Permit: address(p), Task: uint64(uintptr(unsafe.Pointer(task))), New: task.Untouched(),
		Generation: uint64(gen), Bytes: n,
	}}
}

func address(p *Permit) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// answered adds what the call was answered.
func (a asked) answered(p *Permit, d Decision, task *taskstate.Task) recorder.Acquire {
	a.Attempt, a.TaskState = task.Attempt(), uint8(task.State())
	a.Answer, a.Domain, a.Hint, a.Reason, a.Fault = uint8(d.Answer), uint8(d.Domain), uint8(d.Hint), d.Reason, faultOf(d.Err)
	a.RetryAfter, a.Use = d.RetryAfter, uint32(d.Use)
	return a.Acquire
}

// endAsking ends the call: what was admitted is recorded from now on.
func (r *Route) endAsking(p *Permit, d Decision) Decision {
	p.calls = usual
	if d.Answer == Admit {
		p.hold = reservedRecorded
		d.Use |= recordedUse
		if p.poller.Load() == nil {
			p.poller.Store(r.ctl.nobody)
		}
	}
	r.ctl.leave()
	return d
}

func (r *Route) recordProbe(p *Permit, gen Generation, n int64) Decision {
	a := r.beginAsking(recorder.Probing, p, gen, n, nil)
	d := r.TryProbe(p, gen, n)
	r.ctl.rec.Put(a.answered(p, d, nil).Record())
	return r.endAsking(p, d)
}

func (r *Route) recordHandoff(p *Permit, gen Generation, task *taskstate.Task) Decision {
	a := r.beginAsking(recorder.HandingOff, p, gen, p.Held(), task)
	was := p.hold
	if was == reservedRecorded {
		p.hold = reserved
	}
	d := r.Handoff(p, gen, task)
	if d.Answer != Admit && p.hold != free {
		p.hold = was // nothing was changed
	}
	r.ctl.rec.Put(a.answered(p, d, task).Record())
	return r.endAsking(p, d)
}

func (r *Route) recordWait(ctx context.Context, p *Permit, gen Generation, n int64, task *taskstate.Task) Decision {
	a := r.beginAsking(recorder.Waiting, p, gen, n, task)
	r.ctl.rec.Put(a.answered(p, Decision{}, task).Record())
	d := r.Wait(ctx, p, gen, n, task)
	a.Way = recorder.Waited
	r.ctl.rec.Put(a.answered(p, d, task).Record())
	return r.endAsking(p, d)
}

// sleep is sleep for a waiter of the route. Other calls are recorded meanwhile.
func (r *Route) sleep(ctx context.Context, w *waiter, atMost time.Duration) bool {
	if c := r.ctl; c.rec != nil {
		c.leave()
		defer c.rec.Enter()
	}
	return sleep(ctx, w, atMost)
}

// recorder returns the controller of a permit whose calls are recorded, or nil. It is for
// the owner.
func (p *Permit) recorder() *Controller {
	if p.gen == nil || p.gen.route.ctl.rec == nil || p.calls == nested {
		return nil
	}
	return p.gen.route.ctl
}

// postingOtherwise is posting for a permit that is not just reserved.
func (p *Permit) postingOtherwise(qpID uint64, now time.Duration) error {
	c := p.recorder()
	if c == nil {
		return notHeld()
	}
	c.rec.Enter()
	defer c.leave()
	err := p.postingNested(qpID, now)
	c.rec.Put(recorder.Post{Permit: address(p), Use: uint32(p.use), QP: qpID, Now: now, Fault: faultOf(err)}.Record())
	return err
}

func (p *Permit) postingNested(qpID uint64, now time.Duration) error {
	if p.hold == free {
		return notHeld()
	}
	p.hold = reserved
	return p.posting(qpID, now)
}

func (p *Permit) recordUnposted() (gaveBack bool) {
	c := p.recorder()
	c.rec.Enter()
	defer c.leave()
	if p.hold != free {
		p.hold = reserved
		gaveBack = p.giveUp()
	} else {
		gaveBack = p.rejected()
	}
	c.rec.Put(recorder.Unposted{Permit: address(p), Use: uint32(p.use), GaveBack: gaveBack}.Record())
	return gaveBack
}

// settleOtherwise is settle for a use number that is not the permit's, or no longer: it is
// of a recorded admission, or an old one.
func (p *Permit) settleOtherwise(u Use, v classify.Verdict, now time.Duration) Edges {
	if u < recordedUse {
		return 0
	}
	u &^= recordedUse
	// Only the poller may be read by whoever comes too late.
	c := p.poller.Load().controller()
	if c == nil {
		return p.settle(u, v, now)
	}
	c.rec.Enter()
	defer c.leave()
	edges := p.settle(u, v, now)
	c.rec.Put(recorder.Settle{Permit: address(p), Use: uint32(u), Observation: recorder.Observed(v), Now: now, Edges: uint8(edges)}.Record())
	return edges
}

// controller returns the controller of a poller whose calls are recorded, or nil.
func (p *Poller) controller() *Controller {
	if p == nil || p.ctl.rec == nil {
		return nil
	}
	return p.ctl
}
