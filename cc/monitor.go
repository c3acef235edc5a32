package cc

import (
	"slices"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// monitor is what ticks go by. Its lock keeps ticks apart, and guards the devices'
// lists of active routes.
type monitor struct {
	mu    sync.Mutex
	last  time.Duration // the latest tick
	epoch time.Duration // its control epoch's number
	began time.Duration // the tick that began the epoch
	looks int           // at routes, for tests
}

// Tick is the monitor: it closes control epochs, moves windows by their laws, and
// finds routes that fell silent. The library starts no goroutine; the caller ticks,
// every 10 to 20 ms: that is how fine early suspicion is. A control epoch lasts
// Config.Epoch; the first tick in a new one closes the one before, and more ticks in
// one close nothing. One late tick closes one epoch, however long it took.
//
// A tick visits the routes that are in use and no others, and allocates nothing. It
// keeps nobody waiting for longer than one route's turn, and no poster or poller of
// slices that are admitted and succeed at all. It may be called from any goroutine;
// of two ticks at once the second returns at once. A time before that of the last
// tick counts as that.
//
// Specification: "the monitor updates policy".
func (c *Controller) Tick(now time.Duration) {
	if c.rec != nil {
		c.recordTick(now)
		return
	}
	c.tick(now)
}

// tick is Tick, and reports whether it did anything.
func (c *Controller) tick(now time.Duration) bool {
	m := &c.monitor
	if !enabled || c.cfg.Mode == Off || !m.mu.TryLock() {
		return false
	}
	defer m.mu.Unlock()
	c.mu.Lock()
	devices, closed := c.deviceList, c.closed
	c.mu.Unlock()
	if closed {
		return false
	}
	now = max(now, m.last)
	m.last = now
	epoch := now / c.cfg.Epoch
	t := tick{now: now, began: m.began, closes: epoch != m.epoch}
	for _, d := range devices {
		m.looks += d.tick(t)
	}
	if t.closes {
		m.epoch, m.began = epoch, now
		c.table.Sweep(now)
	}
	return true
}

// tick is one call of Tick.
type tick struct {
	now    time.Duration
	began  time.Duration // when the epoch began that may close
	closes bool
}

// enter lists the route with the monitor when it was idle. It is called after bytes
// were reserved, and before they are posted.
func (r *Route) enter() {
	if r.active.Load() {
		return
	}
	r.device.mu.Lock()
	defer r.device.mu.Unlock()
	r.enterLocked()
}

// enterLocked is enter with the device's lock held.
func (r *Route) enterLocked() {
	if r.active.Swap(true) {
		return
	}
	m := r.meter.Load()
	if m == nil {
		m = &meter{}
		if r.ctl.cfg.Law == LawRound {
			m.rounds = &rounds{}
			m.rounds.ramping = true
		}
	}
	m.seen = r.flight.delivered()
	m.began = m.read(m.seen)
	m.streak, m.waiting = streak{}, false
	r.meter.Store(m)
	r.device.joining = append(r.device.joining, r)
}

// rest takes an idle route off the monitor's list and returns its lease, so that
// its next slice comes by enter. It reports whether the route was idle.
func (r *Route) rest() bool {
	d := r.device
	d.mu.Lock()
	defer d.mu.Unlock()
	r.active.Store(false)
	d.returnLease(r)
	// Whoever reserves looks at active afterwards: of the two, at least one sees the
	// other.
	if r.flight.inFlight() != 0 {
		r.active.Store(true)
		return false
	}
	return true
}

// out returns the bytes in flight on the current endpoint. Those of older ones, and
// of one that was given up, are out for reasons of their own.
func (r *Route) out() int64 {
	if r.current.Load().retired() {
		return 0
	}
	n, outdated := r.flight.inFlight(), r.outdated.Load()
	if outdated > n {
		// Permits that were settled just while Renew counted are counted still.
		r.outdated.CompareAndSwap(outdated, n)
	}
	return max(0, n-outdated)
}

// tick visits the active routes of a device and returns how many it visited.
func (d *device) tick(t tick) int {
	d.mu.Lock()
	d.active = append(d.active, d.joining...)
	clear(d.joining)
	d.joining = d.joining[:0]
	d.mu.Unlock()
	looks := len(d.active)
	for _, r := range d.active {
		r.sync()
		r.look(t.now) // first, so that each route knows of its siblings
	}
	var sum epochSum
	d.active = slices.DeleteFunc(d.active, func(r *Route) bool { return !r.tick(t, &sum) })
	if t.closes {
		d.closeEpoch(sum)
	}
	return looks
}

// look sees whether the route delivered since the last tick, or waits.
func (r *Route) look(now time.Duration) {
	m, cur := r.meter.Load(), r.current.Load()
	delivered, out := r.flight.delivered(), r.out()
	if m.endpoint != cur.number {
		m.endpoint, m.waiting = cur.number, false // what is out there, is out since now
	}
	switch {
	case delivered > m.seen:
		m.seen, m.waiting, m.since = delivered, out > 0, now
		r.device.moved = now
	case out == 0:
		m.waiting = false
	case !m.waiting:
		m.waiting, m.since = true, now
	}
}

// tick visits one route, and reports whether it stays on the list.
func (r *Route) tick(t tick, sum *epochSum) bool {
	m, d := r.meter.Load(), r.device
	if r.current.Load().number == closedGeneration {
		return !r.rest()
	}
	if r.silent(m, t.now) {
		d.locked(func() {
			if r.state().usable() && r.flight.delivered() <= m.seen {
				r.health.early = true
				r.reconsider(d.later(t.now), cause{reason: classify.ReasonRouteSuspect})
			}
		})
	}
	if !t.closes {
		return true
	}
	p := r.closeEpoch(m, t, sum)
	return p != PressureIdle || r.state() == Congested || r.state() == Suspect || !r.rest()
}

// silent reports whether bytes have been out for too long with nothing delivered,
// while the poller ran and a sibling on the device was served: early suspicion. It
// comes long before the transport gives up, which takes 0.5 to 4 s.
func (r *Route) silent(m *meter, now time.Duration) bool {
	after := r.ctl.cfg.SuspectAfter
	if after == 0 || !m.waiting {
		return false
	}
	after = max(after, 4*m.drain.get())
	if now-m.since < after || !r.state().usable() {
		return false
	}
	lately := now - after/2
	cur := r.current.Load()
	return r.device.moved >= lately && !cur.stalledSince(m.since, now) && cur.beatSince(lately)
}

// closeEpoch judges the route's epoch and lets the law act on it.
func (r *Route) closeEpoch(m *meter, t tick, sum *epochSum) Pressure {
	cfg := &r.ctl.cfg
	now := m.read(m.seen)
	e := now.since(m.began)
	m.began = now
	failed, notReady := m.failed.Swap(false), m.notReady.Swap(false)
	p, mute := PressureNeutral, false
	switch cur := r.current.Load(); {
	case e.weight() == 0 && !notReady && r.flight.inFlight() == 0:
		p = PressureIdle // also for a poller that sleeps
	case cur.stalledSince(t.began, t.now):
		p = PressureVoid
	case notReady:
		p, mute = PressureHigh, true
	case e.weight() > 0:
		p = drainPressure(e.queueing(), cfg.TargetDrain)
	case m.waiting && m.since <= t.began && !failed && cur.beatSince(t.began):
		p, mute = PressureHigh, true
	}
	if p != PressureVoid && e.weight() > 0 {
		m.drain.set(e.drain())
		sum.add(e)
	}
	m.pressure.Store(uint32(p))
	full := m.rounds == nil && r.full.take()
	dip := m.rounds != nil && m.rounds.bases.turn(t.now)
	r.device.locked(func() {
		now := r.device.later(t.now)
		if r.state() == Suspect && !(m.waiting && m.since < t.now) {
			r.lapse(now)
		}
		if r.state().barred() {
			m.restart()
			return
		}
		if dip {
			m.rounds.dip.due = true
		}
		signs := epochSigns{mute: mute, mayGrow: full && p == PressureLow && r.state() != Suspect}
		signs.high, signs.low, signs.ease = m.streak.take(p, cfg.HighPressureEpochs, cfg.LowPressureEpochs)
		r.setLawWindow(r.ctl.law.afterEpoch(r.lawWindow, signs))
		r.setCongested(signs, notReady, now)
	})
	return p
}

// restart lets the law begin anew, for a route that only a trial may use: from the
// minimum window, once that succeeds. The device's lock is held.
func (m *meter) restart() {
	m.streak = streak{}
	if m.rounds != nil {
		m.rounds.ramping, m.rounds.dip = true, dip{}
	}
}

// setLawWindow makes the law's window effective. The device's lock is held.
func (r *Route) setLawWindow(window int64) {
	if window != r.lawWindow {
		r.lawWindow = window
		r.applyWindow()
	}
}

// setCongested enters or leaves CONGESTED. The device's lock is held.
func (r *Route) setCongested(s epochSigns, notReady bool, now time.Duration) {
	h := &r.health
	was := h.congested
	h.congested = s.high || was && !s.low
	if h.congested == was {
		return
	}
	why := cause{}
	switch {
	case notReady:
		why.reason = classify.ReasonReceiverPressure
	case h.congested:
		why.reason = classify.ReasonCongestionFeedback
	}
	r.reconsider(now, why)
}

// troubled notes a failed attempt for the epoch's pressure.
func (r *Route) troubled(g *generation, v classify.Verdict) {
	m := r.meter.Load()
	if m == nil || r.current.Load() != g {
		return
	}
	m.failed.Store(true)
	if v.Class() == classify.ClassReceiverPressure {
		m.notReady.Store(true)
	}
}
