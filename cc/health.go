package cc

import (
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// health is what is known of a route. The state is derived from a few facts: the
// pair's verdict, a local verdict on the port, device or CQ, the law's pressure.
// The device's lock guards all but the atomics.
type health struct {
	state atomic.Uint32 // a State
	// due is when a trial may start, for barred routes: whoever comes earlier is
	// turned away without a lock.
	due atomic.Int64
	// watched says that a success may change the state.
	watched atomic.Bool

	entry     *rail.Entry  // the verdict on the pair
	local     rail.Breaker // the verdict on the port, device or CQ
	congested bool         // the law's
	early     bool         // suspected before any error

	// barredUpTo is the newest generation in which something may have been posted
	// before the verdict: a trial needs a later one.
	barredUpTo Generation
	trial      trial

	since   time.Duration
	reason  classify.Reason
	verdict classify.Verdict
}

// trial is the one attempt that decides about a barred route.
type trial struct {
	number uint64 // of the route; 0 when none is out
	entry  uint64 // the pair's number for it; 0 if only the local verdict is tried
	local  uint64
	qp     *qp
}

// State returns the route's health.
func (r *Route) State() State { return State(r.health.state.Load()) }

// policy returns the breaker's numbers.
func (c *Controller) policy() rail.Policy {
	return rail.Policy{
		Threshold:     c.cfg.HardErrorThreshold,
		ErrorWindow:   c.cfg.ErrorWindow,
		Cooldown:      c.cfg.Cooldown,
		CooldownCap:   c.cfg.CooldownCap,
		ProbeInterval: c.cfg.ProbeInterval,
	}
}

// reconsider derives the state from the facts, opens and closes the gates for it,
// and notes the transition if there is one. The caller holds the device's lock.
func (r *Route) reconsider(now time.Duration, why cause) {
	h := &r.health
	from := r.State()
	path := h.entry.Breaker()
	to := Healthy
	switch {
	case (path.Paused || h.local.Paused) && (path.TrialOut(now) || h.local.TrialOut(now)):
		to = Probing
	case path.Paused || h.local.Paused:
		to = Quarantined
	case path.Count > 0 || h.early:
		to = Suspect
	case h.congested:
		to = Congested
	}
	if path.Paused || h.local.Paused {
		due := time.Duration(0)
		if path.Paused {
			due = path.TrialDue()
		}
		if h.local.Paused {
			due = max(due, h.local.TrialDue())
		}
		h.due.Store(int64(due))
	}
	if from == to {
		return
	}
	if to.barred() && !from.barred() {
		cur := r.current.Load()
		h.barredUpTo = cur.number
		if !cur.used.Load() && cur.number > 0 {
			h.barredUpTo--
		}
	}
	h.state.Store(uint32(to))
	h.watched.Store(!to.usable())
	h.since, h.reason, h.verdict = now, why.reason, why.verdict
	r.applyWindow()
	r.device.note(Transition{Pair: r.pair, From: from, To: to, Reason: why.reason, Verdict: why.verdict, Generation: r.current.Load().number, At: now})
}

// cause is why a state changes.
type cause struct {
	reason  classify.Reason
	verdict classify.Verdict
}

// applyWindow makes the window that admission sees fit the law's window and the
// state. The caller holds the device's lock.
func (r *Route) applyWindow() {
	window := r.lawWindow
	if r.State() == Suspect && r.ctl.cfg.SuspectWindowBytes > 0 {
		window = min(window, r.ctl.cfg.SuspectWindowBytes)
	}
	r.window.Store(window)
	if !r.State().usable() {
		r.flight.leasedAcquired.Or(closedBit)
	} else if r.flight.open() {
		r.openLimit()
	}
}

// lapse ends a suspicion that nothing has confirmed for the error window.
func (r *Route) lapse(now time.Duration) {
	r.device.locked(func() {
		h := &r.health
		lapsed := false
		h.entry.Update(func(b *rail.Breaker) bool {
			if lapsed = b.Lapsed(r.ctl.policy(), now); lapsed {
				b.Clear(now)
			}
			return false
		})
		if r.State() == Suspect && (lapsed || h.early && now-h.since > r.ctl.cfg.ErrorWindow) {
			h.early = false
			r.lawWindow = r.ctl.cfg.MinWindowBytes
			r.reconsider(now, cause{})
			r.applyWindow()
		}
	})
}

// succeeded takes a success into the route's health. The permit is of the current
// generation.
func (r *Route) succeeded(p *Permit, now time.Duration) {
	r.device.locked(func() {
		h := &r.health
		switch {
		case p.trial != 0 && p.trial == h.trial.number:
			h.entry.Update(func(b *rail.Breaker) bool { b.Lift(now); return false })
			h.local.Lift(now)
			h.trial, h.early, h.congested = trial{}, false, false
			r.lawWindow = r.ctl.cfg.MinWindowBytes
			r.device.liftMarks(r.pair.Port)
		case r.State() == Suspect:
			h.early = false
			if p.evidence >= h.entry.Evidence() {
				h.entry.Update(func(b *rail.Breaker) bool { b.Clear(now); return false })
			}
		default:
			return
		}
		r.reconsider(now, cause{verdict: classify.Completion(classify.StatusSuccess, 0)})
		r.applyWindow()
	})
}

// failed takes a countable failure of a QP into the route's health, once for each
// QP. took is how long the work request took to fail, 0 if unknown. trialNumber is
// the permit's, 0 if it was none or if an event speaks.
func (r *Route) failed(g *generation, q *qp, trialNumber uint64, v classify.Verdict, took, now time.Duration) {
	r.device.locked(func() {
		h := &r.health
		if g != r.current.Load() || q != nil && q.counted {
			return
		}
		if q != nil {
			q.counted = true
		}
		if r.State().barred() {
			if h.trial.number != 0 && (trialNumber == h.trial.number || q != nil && q == h.trial.qp) {
				r.trialFailed(v, now)
			}
			return
		}
		h.entry.Update(func(b *rail.Breaker) bool {
			b.LongestRetry = max(b.LongestRetry, took)
			b.Fail(r.ctl.policy(), now, r.ctl.jitter())
			return true
		})
		r.reconsider(now, cause{v.Reason(), v})
	})
}

// isolate quarantines the route at once, for a port, device or CQ that failed. The
// caller holds the device's lock.
func (r *Route) isolate(v classify.Verdict, now time.Duration) {
	h := &r.health
	if !h.local.Paused {
		path := h.entry.Breaker()
		h.local.Pause(r.ctl.policy(), now, r.ctl.jitter())
		if path.Paused { // new evidence does not lengthen a running cooldown
			h.local.Resume, h.local.NextTrial = min(h.local.Resume, path.Resume), min(h.local.Resume, path.Resume)
		}
	}
	h.local.Withdraw()
	h.entry.Update(func(b *rail.Breaker) bool { b.Withdraw(); return false })
	r.reconsider(now, cause{v.Reason(), v})
}
