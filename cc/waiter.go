package cc

import (
	"container/list"
	"context"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// waiter is a goroutine that waits for room on a route.
//
// The waiters of a route stand in line, and only the first one ever tries; it is
// woken when bytes come back to the route. When the device is what refused, it also
// stands in the device's line, whose first is woken when bytes come back to the
// device. Whoever leaves a line wakes the next.
//
// No wake-up is lost: the first says that it waits (waitBit, roomWanted) before it
// tries, and a release looks for that after it gave its bytes back. So either the
// attempt meets the bytes or the release meets the flag. Who clears a flag sends a
// token, and the channel keeps it.
type waiter struct {
	number   uint64
	behind   bool          // others stood in the route's line before it
	ready    chan struct{} // holds one token
	atRoute  *list.Element
	atDevice *list.Element // nil while the device is not what refuses
}

// wake sends the waiter a token; w may be nil.
func (w *waiter) wake() {
	if w == nil {
		return
	}
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// Acquire is [Route.TryAcquire] for a goroutine that would otherwise spin: while the
// answer is a Defer that bytes coming back, or the end of a trial, can change
// (BYTE_WINDOW, CONGESTION_FEEDBACK, ROUTE_SUSPECT, PROBING), it sleeps and asks
// again. Every other answer is returned at once, also one that comes up while it
// waits, such as STALE_GENERATION after a Renew.
//
// Waiters of one route are admitted in the order in which they came, and so are
// those of one device that wait for its window. Callers of TryAcquire may overtake
// them for two drain times, and stand back after that.
//
// When the context ends first, the latest answer comes back with Err set to an
// error that wraps the context's cause; nothing is held. Close releases all waiters
// with [ErrClosed]. The goroutine that polls for completions must not wait here:
// it is the one that makes room.
func (r *Route) Acquire(ctx context.Context, p *Permit, gen Generation, n int64, task *taskstate.Task) Decision {
	if !enabled || r.mode == Off {
		p.calls = off
		return Decision{Ruling: Ruling{Answer: Admit}}
	}
	if r.ctl.rec != nil {
		return r.recordWait(ctx, p, gen, n, task)
	}
	return r.wait(ctx, p, gen, n, task, nil)
}

// wait is Acquire, with what is recorded of it when it goes to sleep.
func (r *Route) wait(ctx context.Context, p *Permit, gen Generation, n int64, task *taskstate.Task, call *recorder.Acquire) Decision {
	if ctx.Err() != nil {
		return r.gaveUp(ctx, Decision{})
	}
	if err := r.check(p, r.current.Load(), gen, n); err != nil {
		return Decision{Err: err}
	}
	if r.inLine() { // a claim that TryAcquire left
		r.endClaim(p)
	}
	var d Decision
	w := r.parkBehind(p)
	if w != nil {
		d = r.refuseWindow(p, RouteDomain, task)
	} else if d = r.tryAcquire(p, gen, n, task); d.waits() {
		w = r.park(p)
	} else {
		return d
	}
	defer r.leave(w, p)
	if w.behind && !r.sleep(ctx, w, 0, call) { // it is woken when it is the first
		return r.gaveUp(ctx, d)
	}
	for {
		r.announce(w)
		if d = r.tryAcquire(p, gen, n, task); !d.waits() {
			return d
		}
		if d.Domain == DeviceDomain && r.joinDevice(w) {
			continue // what came back meanwhile woke nobody
		}
		if d.Domain != DeviceDomain {
			r.leaveDevice(w)
		}
		if !r.sleep(ctx, w, r.lookAgain(d), call) {
			return r.gaveUp(ctx, d)
		}
	}
}

// waits reports whether waiting can change the answer.
func (d Decision) waits() bool {
	if d.Answer != Defer {
		return false
	}
	switch d.Reason {
	case classify.ReasonByteWindow, classify.ReasonCongestionFeedback, classify.ReasonRouteSuspect, classify.ReasonProbing:
		return true
	}
	return false
}

func (r *Route) gaveUp(ctx context.Context, d Decision) Decision {
	d.Err = fmt.Errorf("cc: Acquire on %s: %w", r.pair, context.Cause(ctx))
	return d
}

// sleep waits for a token, for the context's end (false), or at most for a while if
// that is not 0.
func sleep(ctx context.Context, w *waiter, atMost time.Duration) bool {
	var alarm <-chan time.Time
	if atMost > 0 {
		t := time.NewTimer(atMost)
		defer t.Stop()
		alarm = t.C
	}
	select {
	case <-w.ready:
	case <-alarm:
	case <-ctx.Done():
		return false
	}
	return true
}

// lookAgain returns after which time the first waiter looks without being woken: a
// claim that stands before it may lapse, the lease of a trial may expire, and another
// controller may have paused the pair.
func (r *Route) lookAgain(d Decision) time.Duration {
	after, dev := r.ctl.cfg.ProbeInterval, r.device
	dev.lineMu.Lock()
	defer dev.lineMu.Unlock()
	for _, l := range []*line{r.line.Load(), dev.line.Load()} {
		if l != nil && l.claim.number != 0 {
			after = min(after, claimLife(max(r.drainTime(), dev.drainTime())))
		}
	}
	return after
}

// parkBehind puts a new waiter at the end of the route's line if somebody waits
// already; else it returns nil.
func (r *Route) parkBehind(p *Permit) *waiter {
	if r.line.Load() == nil {
		return nil
	}
	now, d := r.ctl.now(), r.device
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	l := r.line.Load()
	if l.first() == nil {
		return nil
	}
	return l.park(p, now)
}

// park puts a new waiter at the end of the route's line. A claim that the permit
// left at its first attempt becomes that place.
func (r *Route) park(p *Permit) *waiter {
	if r.inLine() {
		r.endClaim(p)
	}
	now, d := r.ctl.now(), r.device
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	return r.routeLine().park(p, now)
}

// park puts a new waiter at the end.
func (l *line) park(p *Permit, now time.Duration) *waiter {
	w := &waiter{number: claims.Add(1), ready: make(chan struct{}, 1), behind: l.parked.Len() > 0}
	p.claim = w.number
	w.atRoute = l.parked.PushBack(place{w, now})
	return w
}

// leave takes the waiter out of both lines.
func (r *Route) leave(w *waiter, p *Permit) {
	d := r.device
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	p.claim = 0
	r.line.Load().parked.Remove(w.atRoute)
	if w.atDevice != nil {
		d.line.Load().parked.Remove(w.atDevice)
	}
	r.tidyLines()
}

// announce says that the route's first waiter is about to try.
func (r *Route) announce(w *waiter) {
	r.flight.leasedSettled.Or(waitBit)
	r.flight.directSettled.Or(waitBit)
	if w.atDevice != nil {
		r.device.roomWanted.Store(true)
	}
}

// joinDevice puts the waiter into the device's line too, by its number, and reports
// whether it is new there.
func (r *Route) joinDevice(w *waiter) bool {
	if w.atDevice != nil {
		return false
	}
	now, d := r.ctl.now(), r.device
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	l := d.deviceLine()
	before := l.parked.Back()
	for before != nil && before.Value.(place).number > w.number {
		before = before.Prev()
	}
	if before == nil {
		w.atDevice = l.parked.PushFront(place{w, now})
	} else {
		w.atDevice = l.parked.InsertAfter(place{w, now}, before)
	}
	return true
}

// leaveDevice takes the waiter out of the device's line.
func (r *Route) leaveDevice(w *waiter) {
	if w.atDevice == nil {
		return
	}
	d := r.device
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	d.line.Load().parked.Remove(w.atDevice)
	w.atDevice = nil
	d.tidyLine()
}

// roomMade wakes the route's first waiter. A release calls it that met waitBit.
func (r *Route) roomMade() {
	r.flight.leasedSettled.And(^uint64(waitBit))
	r.flight.directSettled.And(^uint64(waitBit))
	r.wake()
}

// roomMadeBy is roomMade for the rollback of an attempt. What the first waiter itself
// rolls back is no news to it.
func (r *Route) roomMadeBy(p *Permit) {
	r.device.lineMu.Lock()
	w := r.line.Load().first()
	own := w != nil && w.number == p.claim
	r.device.lineMu.Unlock()
	if !own {
		r.roomMade()
	}
}

// wake lets the route's first waiter look again. Any lock may be held but that of
// the lines.
func (r *Route) wake() {
	if r.line.Load() == nil {
		return
	}
	r.device.lineMu.Lock()
	defer r.device.lineMu.Unlock()
	r.line.Load().first().wake()
}

// giveBack returns n bytes of the window, and wakes the device's first waiter.
func (d *device) giveBack(n int64) {
	d.granted.Add(-n)
	if d.roomWanted.Load() && d.roomWanted.CompareAndSwap(true, false) {
		d.wake()
	}
}

// wake lets the device's first waiter look again.
func (d *device) wake() {
	if d.line.Load() == nil {
		return
	}
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	d.line.Load().first().wake()
}
