package cc

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// trial is the one attempt that decides about a barred route.
type trial struct {
	number uint64 // of the route; 0 when none is out
	entry  uint64 // the pair's number for it; 0 if only the local verdict is tried
	local  uint64 // the local verdict's number for it; 0 if there is none
	qp     *qp
	ahead  bool // a probe that came before a trial was due
	probe  bool
	began  time.Duration
}

// wait returns the time from now to the next trial: an interval after a probe began, or
// after the end of a user's slice, so that users do not spend all their time in trials.
func (t trial) wait(now, interval time.Duration) time.Duration {
	if !t.probe {
		return interval
	}
	return max(0, t.began+interval-now)
}

// acquireBarred answers on a route that only a trial may use. It starts the trial
// if one is due, and reports whether it did.
func (r *Route) acquireBarred(p *Permit, cur *generation, n int64, task *taskstate.Task, probe bool) (d Decision, started bool) {
	now := r.ctl.now()
	if !probe {
		if d, early := r.tooEarly(p, task, now); early {
			return d, false
		}
	}
	r.device.locked(func() {
		now := r.device.later(now)
		var due bool
		if d, due = r.trialIsDue(p, cur, task, now, probe); due {
			d, started = r.tryTrial(p, cur, n, task, now, probe)
		}
	})
	return d, started
}

// refuseBarred answers a list on a route that only a trial may use: a list never is
// the trial.
func (r *Route) refuseBarred(p *Permit, cur *generation, task *taskstate.Task) (d Decision) {
	now := r.ctl.now()
	if d, early := r.tooEarly(p, task, now); early {
		return d
	}
	r.device.locked(func() {
		var due bool
		if d, due = r.trialIsDue(p, cur, task, r.device.later(now), false); due {
			d = r.leaveToTrial(p, task, NoDomain)
		}
	})
	return d
}

// tooEarly answers who comes long before a trial is due, without a lock.
func (r *Route) tooEarly(p *Permit, task *taskstate.Task, now time.Duration) (Decision, bool) {
	due := time.Duration(r.health.record.userDue.Load())
	if now >= due || r.state() != Quarantined {
		return Decision{}, false
	}
	return r.avoid(p, task, NoHint, due-now), true
}

// leaveToTrial answers a slice that is not the route's trial, or not now.
func (r *Route) leaveToTrial(p *Permit, task *taskstate.Task, full Domain) Decision {
	return r.refuse(p, task, Ruling{Answer: Defer, Reason: classify.ReasonProbing, Domain: full, Hint: Divert})
}

// trialIsDue reports whether a trial may start on generation cur, and answers if not.
// The caller holds the device's lock.
func (r *Route) trialIsDue(p *Permit, cur *generation, task *taskstate.Task, now time.Duration, probe bool) (Decision, bool) {
	rec := r.health.record
	r.syncLocked(now)
	path := r.path()
	if path.TrialOut(now) || rec.local.TrialOut(now) {
		return r.leaveToTrial(p, task, NoDomain), false
	}
	r.reconsider(now, cause{}) // the lease of a trial may have expired
	path = r.path()
	switch due := r.trialFrom(&path.Breaker, probe); {
	case !r.state().barred():
		return r.leaveToTrial(p, task, NoDomain), false
	case now < due:
		return r.avoid(p, task, NoHint, due-now), false
	case cur.number <= rec.barredUpTo && r.mode == Enforce:
		// Who is only observed gets no such hint, and is not held to it.
		return r.avoid(p, task, NeedRenew, 0), false
	case cur != r.current.Load():
		return r.refuse(p, task, Ruling{Answer: Defer, Reason: classify.ReasonStaleGeneration}), false
	}
	return Decision{}, true
}

// tryTrial starts the trial that is due, if there is room for it. Bytes of older
// permits on the route do not block it. The caller holds the device's lock.
func (r *Route) tryTrial(p *Permit, cur *generation, n int64, task *taskstate.Task, now time.Duration, probe bool) (Decision, bool) {
	full := r.yields(p)
	if full == NoDomain && !r.device.take(n) && !r.device.recallAndTake(n) {
		full = DeviceDomain
	}
	if full != NoDomain {
		d := r.leaveToTrial(p, task, full)
		if full == DeviceDomain {
			r.device.full.raise()
			if r.mode == Enforce {
				r.stakeTrial(p)
			}
			d.RetryAfter = claimPrecedes * r.device.drainTime()
		}
		return d, false
	}
	if !r.startTrial(now) {
		r.device.giveBack(n)
		return r.leaveToTrial(p, task, NoDomain), false
	}
	r.flight.directAcquired.Add(units(n))
	r.enterLocked()
	if r.inLine() {
		r.endClaim(p)
	}
	if probe {
		r.health.record.trial.probe = true
		r.probed(now)
	}
	d := p.admit(cur, n, task, true, r.health.record.trials)
	r.reconsider(now, cause{reason: classify.ReasonProbing})
	return d, true
}

// startTrial leases the one trial of the pair, unless another controller was faster
// or has ended the pause meanwhile.
func (r *Route) startTrial(now time.Duration) bool {
	rec := r.health.record
	next := trial{number: rec.trials + 1, ahead: now < rec.due, began: now}
	var longest time.Duration
	free := true
	r.updatePath(now, func(b *rail.Breaker) bool {
		longest = b.LongestRetry
		switch {
		case !b.Paused:
			free = rec.local.Paused
		case b.TrialOut(now):
			free = false
		default:
			next.entry = b.StartTrial(now)
		}
		return false
	})
	if !free {
		return false
	}
	rec.trials++
	rec.trial = next
	if rec.local.Paused {
		rec.local.LongestRetry = longest
		rec.trial.local = rec.local.StartTrial(now)
	}
	return true
}

// trialFailed ends the trial that is out with a failure. One that began before its
// time changes only when the next may begin; another one pauses the pair for
// longer, whatever quarantined the route. The caller holds the device's lock.
func (r *Route) trialFailed(f failure, now time.Duration) {
	rec := r.health.record
	pol, jitter, interval := r.ctl.policy(), r.ctl.jitter(), r.ctl.probeInterval()
	path := r.path()
	early := rec.trial.entry != 0 && path.TrialEarly || rec.trial.local != 0 && rec.local.TrialEarly
	r.updatePath(now, func(b *rail.Breaker) bool {
		if rec.trial.entry != b.Trial || rec.trial.entry == 0 && b.Paused {
			return false // a later trial or verdict knows better
		}
		b.LongestRetry, b.Cause = max(b.LongestRetry, f.took), f.verdict
		if !early {
			b.Escalate(pol, now, jitter)
			b.NextProbe = now + rec.trial.wait(now, b.ProbeInterval(pol, interval))
		}
		b.Unprove()
		return true
	})
	rec.local.Unprove()
	path = r.path()
	next := rec.trial.wait(now, max(path.ProbeInterval(pol, interval), rec.local.ProbeInterval(pol, interval)))
	wait := time.Duration(0)
	if early {
		wait = next
	}
	r.freeTrial(now, wait)
	rec.probes.next = now + next
	r.fence()
	r.reconsider(now, cause{reason: classify.ReasonProbeFailed, verdict: f.verdict})
	r.device.checkUsable(r, f.verdict, now)
}

// freeTrial ends the trial that is out without a verdict: the next may start after
// wait. The caller holds the device's lock.
func (r *Route) freeTrial(now, wait time.Duration) {
	rec := r.health.record
	r.updatePath(now, func(b *rail.Breaker) bool {
		if b.TrialUndecided(rec.trial.entry, now, wait) && rec.trial.ahead {
			b.Withdraw() // the next early one is a probe again
		}
		return false
	})
	rec.local.TrialUndecided(rec.trial.local, now, wait)
	if rec.trial.ahead {
		rec.local.Withdraw()
	}
	rec.probes.next = now + wait
	rec.trial = trial{}
}

// trialUndecided ends a trial that proved nothing, if it is still the one that is
// out; the next may start after wait.
func (r *Route) trialUndecided(number uint64, v classify.Verdict, now, wait time.Duration) {
	r.device.locked(func() {
		now = r.device.later(now)
		r.syncLocked(now)
		if number != r.health.record.trial.number {
			return
		}
		r.freeTrial(now, wait)
		r.reconsider(now, cause{reason: v.Reason(), verdict: v})
	})
}

// avoid turns a slice away from a quarantined path.
func (r *Route) avoid(p *Permit, task *taskstate.Task, hint Hint, left time.Duration) Decision {
	d := r.refuse(p, task, Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined, Hint: hint})
	d.RetryAfter = left
	return d
}

// trialPosted notes the QP that the trial goes to, and reports whether the permit
// still is the trial.
func (r *Route) trialPosted(number uint64, q *qp) bool {
	still := false
	r.device.locked(func() {
		r.syncLocked(r.device.latest)
		if still = r.health.record.trial.number == number; still {
			r.health.record.trial.qp = q
		}
	})
	return still
}

// returnTrial ends the lease of the trial that is out, if any, when the controller
// is closed: others may try the pair.
func (r *Route) returnTrial(now time.Duration) {
	r.device.mu.Lock()
	defer r.device.mu.Unlock()
	if rec := r.health.record; rec != nil && rec.trial.number != 0 {
		r.freeTrial(r.device.later(now), 0)
	}
}
