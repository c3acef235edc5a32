package cc

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// acquireBarred answers on a route that only a trial may use. It starts the trial
// if one is due, and reports whether it did.
func (r *Route) acquireBarred(p *Permit, cur *generation, n int64, task *taskstate.Task) (Decision, bool) {
	h := &r.health
	now := r.ctl.now()
	if due := time.Duration(h.due.Load()); now < due && r.State() == Quarantined {
		return r.avoid(p, task, NoHint, due-now), false
	}
	var d Decision
	started := false
	r.device.locked(func() { d, started = r.tryTrial(p, cur, n, task, now) })
	return d, started
}

// tryTrial starts a trial if one is due. The caller holds the device's lock.
func (r *Route) tryTrial(p *Permit, cur *generation, n int64, task *taskstate.Task, now time.Duration) (Decision, bool) {
	h := &r.health
	path := h.entry.Breaker()
	due := time.Duration(h.due.Load())
	switch {
	case path.TrialOut(now) || h.local.TrialOut(now):
		return r.refuse(p, task, Ruling{Answer: Defer, Reason: classify.ReasonProbing, Hint: Divert}), false
	case now < due:
		return r.avoid(p, task, NoHint, due-now), false
	case cur.number <= h.barredUpTo:
		return r.avoid(p, task, NeedRenew, 0), false
	}
	// Bytes of older permits do not block the trial.
	if !r.device.take(n) && !(r.device.recallAndTake(n)) {
		return r.refuse(p, task, Ruling{Answer: Defer, Reason: classify.ReasonProbing, Domain: DeviceDomain, Hint: Divert}), false
	}
	r.flight.directAcquired.Add(units(n))
	r.trials++
	h.trial = trial{number: r.trials}
	h.entry.Update(func(b *rail.Breaker) bool {
		if b.Paused {
			h.trial.entry = b.StartTrial(now)
		}
		return false
	})
	if h.local.Paused {
		h.local.LongestRetry = path.LongestRetry
		h.trial.local = h.local.StartTrial(now)
	}
	d := p.admit(cur, n, task, true, r.trials)
	r.reconsider(now, cause{reason: classify.ReasonProbing})
	return d, true
}

// trialFailed ends the trial that is out with a failure. The caller holds the
// device's lock.
func (r *Route) trialFailed(v classify.Verdict, now time.Duration) {
	h := &r.health
	early := h.local.Paused && h.local.TrialEarly && now < h.local.Resume
	pol, jitter := r.ctl.policy(), r.ctl.jitter()
	h.entry.Update(func(b *rail.Breaker) bool {
		switch {
		case h.trial.entry != 0:
			b.TrialFailed(pol, h.trial.entry, now, jitter)
		case !early:
			b.Pause(pol, now, jitter)
		}
		return true
	})
	if early {
		h.local.TrialFailed(pol, h.trial.local, now, jitter)
	} else {
		h.local.TrialUndecided(h.trial.local, now, 0)
	}
	h.trial = trial{}
	r.reconsider(now, cause{classify.ReasonProbeFailed, v})
}

// trialUndecided ends a trial that proved nothing; the next may start after wait.
func (r *Route) trialUndecided(number uint64, v classify.Verdict, now, wait time.Duration) {
	r.device.locked(func() {
		h := &r.health
		if number != h.trial.number {
			return
		}
		h.entry.Update(func(b *rail.Breaker) bool {
			b.TrialUndecided(h.trial.entry, now, wait)
			return false
		})
		h.local.TrialUndecided(h.trial.local, now, wait)
		h.trial = trial{}
		r.reconsider(now, cause{v.Reason(), v})
	})
}

// avoid turns a slice away from a quarantined path.
func (r *Route) avoid(p *Permit, task *taskstate.Task, hint Hint, left time.Duration) Decision {
	d := r.refuse(p, task, Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined, Hint: hint})
	d.RetryAfter = left
	return d
}

// trialPosted notes the QP that the trial went to.
func (r *Route) trialPosted(number uint64, q *qp) {
	r.device.mu.Lock()
	defer r.device.mu.Unlock()
	if r.health.trial.number == number {
		r.health.trial.qp = q
	}
}
