package cc

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// userTrialAfter is for how many probe intervals user slices leave a due trial to the
// prober, if there is one.
const userTrialAfter = 4

// proofAfter is for how many probe intervals the probes of a pair that flaps must succeed
// before users get it back. A user's slice that had to be the trial proves it at once.
const proofAfter = 4

// proof returns the same as a time. Without a prober one success is enough: to try longer
// would cost users more than a pair that fails again.
func (c *Controller) proof() time.Duration {
	if !c.cfg.Prober {
		return 0
	}
	return proofAfter * c.cfg.ProbeInterval
}

// probes is what a prober has to know of a route. The device's lock guards it.
type probes struct {
	next     time.Duration // when the next probe is wanted
	last     time.Duration // when the last one was taken, if any was
	any      bool
	suspects Generation // the newest generation in which something failed
}

// Due returns the routes that want a probe at now, by pair: those that are SUSPECT,
// those whose cooldown is over, and those that may be tried early, which is once in
// a probe interval; the interval is longer by as much as the cooldown is longer than the
// base, and a pair that flaps is not tried early while its cooldown is longer than that.
// A route with a probe on the wire is not among them. Nothing is changed; [Route.TryProbe] takes the probe.
//
// A prober calls it about once in a probe interval. A route may have to be renewed
// before it can be probed: TryProbe hints at that.
func (c *Controller) Due(now time.Duration) []*Route {
	if c.rec != nil {
		return c.recordDue(now)
	}
	return c.due(now)
}

func (c *Controller) due(now time.Duration) []*Route {
	due, told := c.findDue(now)
	c.tell(told)
	return due
}

// findDue is Due, with the transitions of what other controllers learnt.
func (c *Controller) findDue(now time.Duration) (due []*Route, told []Transition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil
	}
	var routes []*Route
	for r := range c.routes.all() {
		if s := r.state(); s == Suspect || s.barred() || r.stale() {
			routes = append(routes, r)
		}
	}
	slices.SortFunc(routes, func(a, b *Route) int { return a.pair.Compare(b.pair) })
	for _, r := range routes {
		told = append(told, r.device.run(func() {
			if r.syncLocked(now); r.wantsProbe(now) {
				due = append(due, r)
			}
		})...)
	}
	return due, told
}

// wantsProbe reports whether the route is due. The caller holds the device's lock.
func (r *Route) wantsProbe(now time.Duration) bool {
	rec := r.health.record
	switch {
	case r.state() == Suspect:
		return now >= rec.probes.next
	case !r.state().barred():
		return false
	}
	path := r.path()
	return !path.TrialOut(now) && !rec.local.TrialOut(now) && now >= r.trialFrom(&path.Breaker, true)
}

// trialFrom returns when a trial may start. A probe may come before the cooldown is
// over, unless the pair has a longer one since it flaps. The caller holds the device's lock.
func (r *Route) trialFrom(path *rail.Breaker, probe bool) time.Duration {
	rec := r.health.record
	switch pol := r.ctl.policy(); {
	case !probe:
		return time.Duration(rec.userDue.Load())
	case (!path.Paused || path.EarlyProbes(pol)) && (!rec.local.Paused || rec.local.EarlyProbes(pol)):
		return min(rec.due, max(rec.probes.next, path.NextProbe))
	}
	return rec.due
}

// setUserDue says from when on a user's slice may be the trial: when one is due, or
// when the prober has missed its turn. The caller holds the device's lock.
func (r *Route) setUserDue() {
	rec, cfg := r.health.record, &r.ctl.cfg
	due := rec.due
	if cfg.Prober {
		if rec.probes.any {
			due = max(due, rec.probes.last)
		}
		due += userTrialAfter * cfg.ProbeInterval
	}
	rec.userDue.Store(int64(due))
}

// suspected is the answer on a SUSPECT route that is left to the prober.
var suspected = Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Hint: Divert}

// leftToProber reports whether user slices leave a SUSPECT route to the prober, so that
// a failure costs those that were on their way and no more: unless nothing has failed
// yet, it is kept as the last to its peer, or the prober has missed its turn.
func (r *Route) leftToProber() (left bool) {
	cfg := &r.ctl.cfg
	if !cfg.Prober || r.state() != Suspect || r.health.kept.Load() {
		return false
	}
	now := r.ctl.now()
	r.device.locked(func() {
		path, probes := r.path(), &r.health.record.probes
		turn := path.LastFailure
		if probes.any {
			turn = max(turn, probes.last)
		}
		left = path.Count > 0 && r.device.later(now) < turn+userTrialAfter*cfg.ProbeInterval
	})
	return left
}

// probed notes a probe that was taken. The caller holds the device's lock.
func (r *Route) probed(now time.Duration) {
	r.health.record.probes.last, r.health.record.probes.any = now, true
	r.setUserDue()
}

// TryProbe is [Route.TryAcquire] for a prober: a goroutine of the engine that posts a
// few bytes on a QP of its own (named to Renew like the others) to routes that are
// [Controller.Due], so that no user transfer has to be the one that finds out.
//
//   - On a quarantined route it starts the trial, also before the cooldown is over,
//     unless the pair has a longer one since it flaps. A failure before the cooldown is over only sets the time of
//     the next probe.
//   - On a SUSPECT route the probe verifies it, once in a probe interval: its success
//     clears the suspicion like any success; its failure, on a generation newer than
//     what failed before, quarantines the route at once. The suspect window holds
//     for it too: while a user slice is out there, that one verifies the route.
//   - On any other route it is an ordinary acquisition.
//
// A trial that a full device defers leaves a claim there: ask again with the same permit
// after Decision.RetryAfter.
//
// Specification: PROBING; completion matrix, RETRY_EXC row; recovery escalation.
func (r *Route) TryProbe(p *Permit, gen Generation, n int64) Decision {
	if !enabled || r.mode == Off {
		p.calls = off
		return Decision{Ruling: Ruling{Answer: Admit}}
	}
	if r.ctl.rec != nil && p.calls != nested {
		return r.recordProbe(p, gen, n)
	}
	now := r.ctl.now()
	suspect := false
	var wait time.Duration
	r.device.locked(func() {
		at := r.device.later(now)
		r.syncLocked(at)
		r.lapse(at)
		if suspect = r.state() == Suspect; suspect {
			wait = r.health.record.probes.next - at
		}
	})
	cur := r.current.Load()
	if suspect && wait > 0 && r.mode == Enforce && r.check(p, cur, gen, n) == nil {
		d := r.refuse(p, nil, Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Hint: Divert})
		d.RetryAfter = wait
		return d
	}
	d := r.acquireSlowly(p, cur, gen, n, nil, true)
	if suspect && d.Admitted() && p.trial == 0 {
		p.probe = true
		r.device.locked(func() {
			at := r.device.later(now)
			r.probed(at)
			r.health.record.probes.next = at + r.ctl.probeInterval()
		})
	}
	return d
}
