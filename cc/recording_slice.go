package cc

import (
	"context"
	"fmt"
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
	var a recorder.Acquire
	r.beginAsking(&a, recorder.Acquiring, p, gen, n, task)
	d := r.acquireNested(p, cur, gen, n, task)
	answered(&a, d, task)
	r.ctl.rec.Acquire(&a)
	return r.endAsking(p, d)
}

// acquireNested is tryAcquire on a generation whose gate a recorder keeps closed.
func (r *Route) acquireNested(p *Permit, cur *generation, gen Generation, n int64, task *taskstate.Task) Decision {
	if cur.number != gen || cur.retired() || r.stale() || uint64(n-1) >= MaxBytes || p.taken() {
		return r.acquireSlowly(p, cur, gen, n, task, false)
	}
	return r.acquireAgain(p, cur, gen, n, task)
}

// beginAsking begins a call that asks for bytes.
func (r *Route) beginAsking(a *recorder.Acquire, way recorder.Way, p *Permit, gen Generation, n int64, task *taskstate.Task) {
	r.ctl.enter()
	p.calls = nested
	a.Way, a.Route, a.Generation, a.Bytes = way, r.id, uint64(gen), n
	a.Permit, a.Task = address(p), uint64(uintptr(unsafe.Pointer(task)))
	a.New = task.Untouched()
}

func address(p *Permit) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// answered adds what the call was answered.
func answered(a *recorder.Acquire, d Decision, task *taskstate.Task) {
	a.Attempt, a.TaskState = task.Attempt(), uint8(task.State())
	a.Answer, a.Domain, a.Hint, a.Reason = uint8(d.Answer), uint8(d.Domain), uint8(d.Hint), d.Reason
	a.RetryAfter, a.Use = d.RetryAfter, uint32(d.Use)
	if d.Err != nil {
		a.Fault = faultOf(d.Err)
	}
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
	var a recorder.Acquire
	r.beginAsking(&a, recorder.Probing, p, gen, n, nil)
	d := r.TryProbe(p, gen, n)
	answered(&a, d, nil)
	r.ctl.rec.Acquire(&a)
	return r.endAsking(p, d)
}

func (r *Route) recordHandoff(p *Permit, gen Generation, task *taskstate.Task) Decision {
	var a recorder.Acquire
	r.beginAsking(&a, recorder.HandingOff, p, gen, p.Held(), task)
	was := p.hold
	if was == reservedRecorded {
		p.hold = reserved
	}
	d := r.Handoff(p, gen, task)
	if d.Answer != Admit && p.hold != free {
		p.hold = was // nothing was changed
	}
	answered(&a, d, task)
	r.ctl.rec.Acquire(&a)
	return r.endAsking(p, d)
}

func (r *Route) recordWait(ctx context.Context, p *Permit, gen Generation, n int64, task *taskstate.Task) Decision {
	var a recorder.Acquire
	r.beginAsking(&a, recorder.Waiting, p, gen, n, task)
	d := r.wait(ctx, p, gen, n, task, &a)
	a.Way = recorder.Waited
	if answered(&a, d, task); a.Fault == recorder.Invalid && ctx.Err() != nil {
		a.Fault = recorder.Ended // with a cause of the caller's
	}
	r.ctl.rec.Acquire(&a)
	return r.endAsking(p, d)
}

// sleep is sleep for a waiter of the route. With a call that is recorded, it is recorded
// that it sleeps, and so are other calls meanwhile.
func (r *Route) sleep(ctx context.Context, w *waiter, atMost time.Duration, call *recorder.Acquire) bool {
	if call != nil {
		r.ctl.rec.Acquire(call)
		r.ctl.leave()
		defer r.ctl.enter()
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
	c.enter()
	err := p.postingNested(qpID, now)
	call := recorder.Post{Permit: address(p), Use: uint32(p.use), QP: qpID, Now: now}
	if err != nil {
		call.Fault = faultOf(err)
	}
	c.rec.Post(&call)
	c.leave()
	return err
}

func (p *Permit) postingNested(qpID uint64, now time.Duration) error {
	if p.hold == free {
		return notHeld()
	}
	p.hold = reserved
	return p.posting(qpID, now)
}

func notHeld() error {
	return fmt.Errorf("cc: Posting: %w; acquire it first, and post each admission once", ErrNotHeld)
}

func (p *Permit) recordUnposted() (gaveBack bool) {
	c := p.recorder()
	c.enter()
	if p.hold != free {
		p.hold = reserved
		gaveBack = p.giveUp()
	} else {
		gaveBack = p.rejected()
	}
	c.rec.Unposted(&recorder.Unposted{Permit: address(p), Use: uint32(p.use), GaveBack: gaveBack})
	c.leave()
	return gaveBack
}

// rejected is Unposted for what was posted.
func (p *Permit) rejected() bool {
	return p.settle(p.use, classify.Of(classify.SignalRejectedPost), 0)&Released != 0
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
		return 0 // nobody was told such a number
	}
	c.enter()
	edges := p.settle(u, v, now)
	call := recorder.Settle{Permit: address(p), Use: uint32(u), Now: now, Edges: uint8(edges)}
	call.Observation.Of(v)
	c.rec.Settle(&call)
	c.leave()
	return edges
}

// controller returns the controller of a poller whose calls are recorded, or nil.
func (p *Poller) controller() *Controller {
	if p == nil || p.ctl.rec == nil {
		return nil
	}
	return p.ctl
}
