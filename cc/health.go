package cc

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// health is what is known of a route. The state is derived from a few facts: the
// pair's verdict, a local verdict on the port, device or CQ, the law's pressure.
// The device's lock guards all but the atomics.
type health struct {
	state   atomic.Uint32 // a State
	watched atomic.Bool   // a success may change something

	record *record // nil of a route that was never in trouble

	congested bool        // the law's
	early     bool        // suspected before any error
	kept      atomic.Bool // beyond the threshold, but the last usable route to the peer
	limited   bool        // made while nothing on its port or device was usable
}

// cause is why a state changes.
type cause struct {
	reason  classify.Reason
	verdict classify.Verdict
	shared  bool // another controller learnt it
}

// State returns the route's health. It takes in what other controllers have learnt of the
// pair, of which the hook is told then; while there is nothing to take in it costs three
// atomic loads. PROBING stands also when the trial's lease has expired meanwhile.
func (r *Route) State() State {
	r.read()
	return r.state()
}

// state is State as the route last saw it.
func (r *Route) state() State { return State(r.health.state.Load()) }

// policy returns the breaker's numbers.
func (c *Controller) policy() rail.Policy {
	return rail.Policy{
		Threshold:     c.cfg.HardErrorThreshold,
		ErrorWindow:   c.cfg.ErrorWindow,
		Cooldown:      c.cfg.Cooldown,
		CooldownCap:   c.cfg.CooldownCap,
		ProbeInterval: c.cfg.ProbeInterval,
		Proof:         c.proof(),
	}
}

// probeInterval returns the time to the next trial, with jitter.
func (c *Controller) probeInterval() time.Duration {
	return time.Duration(float64(c.cfg.ProbeInterval) * c.jitter())
}

// reconsider derives the state from the facts, opens and closes the gates for it,
// and notes the transition if there is one. The caller holds the device's lock.
func (r *Route) reconsider(now time.Duration, why cause) {
	h := &r.health
	from := r.state()
	path, local := r.path(), h.local()
	if !path.Paused && !local.Paused && from.barred() {
		h.early, h.congested = false, false // that was before
	}
	to := Healthy
	switch {
	case (path.Paused || local.Paused) && (path.TrialOut(now) || local.TrialOut(now)):
		to = Probing
	case path.Paused || local.Paused:
		to = Quarantined
	case path.Count > 0 || h.early:
		to = Suspect
	case h.congested:
		to = Congested
	}
	if path.Paused || local.Paused {
		h.openRecord().due = trialDue(&path.Breaker, &local)
		r.setUserDue()
	}
	if rec := h.record; rec != nil && rec.trial.entry != 0 && rec.trial.entry != path.Trial {
		// Another one was begun since its lease expired, or has ended it.
		if rec.trial.entry = 0; rec.trial.local == 0 || rec.trial.local != local.Trial {
			rec.trial = trial{}
		}
	}
	if path.Paused && path.Evidence != h.openRecord().evidence {
		r.fence()
		h.record.evidence = path.Evidence
	}
	if to != Suspect {
		h.kept.Store(false)
	}
	h.watched.Store(!to.usable() || h.limited || h.faulty())
	counted := h.record != nil && h.record.counted
	if path.Count > 0 || counted {
		h.openRecord().counted = path.Count > 0
	}
	defer r.seen.Store(path.Version) // whoever sees it finds the state in force
	if from == to {
		return
	}
	if why.shared {
		why.reason = sharedReason(to)
		if to >= Suspect {
			why.verdict = path.Cause
		}
	}
	rec := h.openRecord()
	switch {
	case to.barred() && !from.barred():
		r.fence()
		rec.probes = probes{next: now + r.ctl.probeInterval()}
		r.setUserDue()
	case from.barred() && !to.barred():
		rec.trial = trial{}
		rec.probes.suspects = r.current.Load().number // others may have failed since
		r.lawWindow = r.ctl.cfg.MinWindowBytes
	case from == Suspect && counted && path.Lapsed:
		r.lawWindow = r.ctl.cfg.MinWindowBytes
	case to == Suspect:
		rec.probes = probes{next: now, suspects: r.current.Load().number}
	}
	h.state.Store(uint32(to))
	rec.since, rec.reason, rec.verdict = now, why.reason, why.verdict
	r.applyWindow()
	t := Transition{From: from, To: to, Reason: why.reason, Verdict: why.verdict, Shared: why.shared, At: now}
	if to == Quarantined {
		t.Cooldown = max(0, cooldownEnds(&path.Breaker, &local)-now)
	}
	r.note(t)
	if from.barred() && !to.barred() {
		r.device.revive(r.pair.Port, now)
	}
}

// cooldownEnds returns when the cooldowns of both verdicts are over.
func cooldownEnds(path, local *rail.Breaker) (ends time.Duration) {
	for _, b := range []*rail.Breaker{path, local} {
		if b.Paused {
			ends = max(ends, b.Resume)
		}
	}
	return ends
}

// trialDue returns when a trial of both verdicts may start.
func trialDue(path, local *rail.Breaker) (due time.Duration) {
	if path.Paused {
		due = path.TrialDue()
	}
	if local.Paused {
		due = max(due, local.TrialDue())
	}
	return due
}

// note notes a transition or a notice, to be told when the device's lock is
// released.
func (r *Route) note(t Transition) {
	t.Pair, t.Generation = r.pair, r.current.Load().number
	r.device.note(t)
}

// fence sets a verdict apart from what came before it: generations that something
// was posted on, and trials. The caller holds the device's lock.
func (r *Route) fence() {
	cur := r.current.Load()
	upTo := cur.number
	if !cur.used.Load() && upTo > 0 {
		upTo--
	}
	rec := r.health.openRecord()
	rec.barredUpTo, rec.voided = max(rec.barredUpTo, upTo), rec.trials
}

// applyWindow makes the window that admission sees fit the law's window and the
// state. The caller holds the device's lock.
func (r *Route) applyWindow() {
	h, cfg := &r.health, &r.ctl.cfg
	window := r.lawWindow
	if r.state() == Suspect && cfg.SuspectWindowBytes > 0 {
		window = min(window, cfg.SuspectWindowBytes)
	}
	if h.kept.Load() || h.limited {
		window = min(window, cfg.ProbeWindowBytes)
	}
	r.window.Store(window)
	if !r.state().usable() {
		r.flight.leasedAcquired.Or(closedBit)
	} else if r.flight.open() {
		r.openLimit()
	}
	r.wake()
}

// lapse ends a suspicion that nothing has confirmed for the error window. The
// caller holds the device's lock.
func (r *Route) lapse(now time.Duration) {
	h := &r.health
	lapsed, counted := false, false
	r.updatePath(now, func(b *rail.Breaker) bool {
		counted = b.Count > 0
		lapsed = b.Lapse(r.ctl.policy(), now)
		return false
	})
	if r.state() == Suspect && (lapsed || h.early && !counted && now-h.record.since > r.ctl.cfg.ErrorWindow) {
		h.early = false
		r.lawWindow = r.ctl.cfg.MinWindowBytes
		r.reconsider(now, cause{})
		r.applyWindow()
	}
}

// lapseSuspicion ends a suspicion of a SUSPECT route whose time is over.
func (r *Route) lapseSuspicion() {
	if r.state() == Suspect {
		r.device.locked(func() { r.lapse(r.device.later(r.ctl.now())) })
	}
}

// succeeded takes a success into the route's health.
func (r *Route) succeeded(p *Permit, now time.Duration) {
	r.device.locked(func() {
		h := &r.health
		now = r.device.later(now)
		r.syncLocked(now)
		if r.current.Load() != p.gen || p.gen.number == 0 {
			// Renewed just now: a trial of the old endpoint proves nothing any more.
			if p.trial != 0 && p.trial == h.record.trial.number {
				r.freeTrial(now, r.ctl.probeInterval())
				r.reconsider(now, cause{})
			}
			return
		}
		if h.faulty() {
			h.record.faults = faults{}
		}
		why := cause{verdict: classify.Completion(classify.StatusSuccess, 0)}
		switch state := r.state(); {
		case state.barred() && r.proves(p):
			r.proved(p, now)
			if r.path().Paused || r.health.record.local.Paused {
				why.reason = classify.ReasonProbing // it has more to prove
			}
			r.device.liftMarks(r.pair.Port)
		case state.barred():
		default:
			h.early = false
			r.peer.Succeeded(r.pair, r.ctl.policy(), now, 0, p.evidence, 0)
			if h.limited {
				r.device.revive(r.pair.Port, now)
			}
		}
		r.reconsider(now, why)
		r.applyWindow()
	})
}

// proves reports whether a success of the permit disproves the verdicts on the
// route: it is the trial, or was one that was posted after the latest verdict and
// whose lease has expired.
func (r *Route) proves(p *Permit) bool {
	rec := r.health.record
	return p.trial != 0 && (p.trial == rec.trial.number || p.trial > rec.voided && p.evidence >= rec.evidence)
}

// proved takes what disproves the verdicts into both: it ends them, unless the path flaps
// and has to prove itself for longer. The caller holds the device's lock.
func (r *Route) proved(p *Permit, now time.Duration) {
	rec, pol := r.health.record, r.ctl.policy()
	var tried trial // none, if the permit's lease expired
	if p.trial == rec.trial.number {
		tried = rec.trial
	}
	if tried.number != 0 && !tried.probe {
		pol.Proof = 0 // no prober came: users need not try for longer than without one
	}
	wait := tried.wait(now, r.ctl.probeInterval())
	r.peer.Succeeded(r.pair, pol, now, wait, p.evidence, tried.entry)
	switch {
	case rec.local.Paused:
		rec.local.TrialSucceeded(pol, tried.local, now, wait)
	case !r.path().Paused:
		rec.local.Return(now)
	}
	r.updatePath(now, func(b *rail.Breaker) bool {
		switch {
		case b.Paused && tried.ahead:
			b.Withdraw()
		case !b.Paused && !rec.local.Paused:
			b.Return(now)
		}
		return false
	})
	if tried.ahead {
		rec.local.Withdraw()
	}
	if tried.number != 0 {
		rec.trial, rec.probes.next = trial{}, now+wait
	}
}

// failure is countable evidence against the QPs of one generation.
type failure struct {
	verdict classify.Verdict
	trial   uint64 // the permit's; 0 if it was none or if an event speaks
	// evidence is the permit's evidence number; an event has the newest.
	evidence uint64
	took     time.Duration // how long the work request took to fail; 0 if unknown
	probe    bool          // it verified a SUSPECT route
}

// failed takes a failure into the route's health, once for each QP. A failure of
// several QPs at once is one fault.
func (r *Route) failed(g *generation, f failure, now time.Duration, qps ...*qp) {
	c := r.ctl
	mayKeep := c.cfg.KeepLastRoute && f.verdict.Class() == classify.ClassRouteTimeout
	if mayKeep {
		c.mu.Lock() // of two last routes that fail at once, one is kept
	}
	told := r.device.run(func() {
		if r.firstEvidence(g, qps) {
			r.take(f, mayKeep && c.isLastUsable(r), r.device.later(now), qps)
		}
	})
	if mayKeep {
		c.mu.Unlock()
	}
	c.tell(told)
}

// firstEvidence reports whether a failure of these QPs is of the current
// generation and the first against any of them, and remembers it against all.
func (r *Route) firstEvidence(g *generation, qps []*qp) (first bool) {
	if g != r.current.Load() {
		return false
	}
	for _, q := range qps {
		if q != nil && !q.counted {
			q.counted, first = true, true
		}
	}
	return first
}

// take counts a failure, or fails the trial with it. keep says that the route is
// not to be quarantined for it. The caller holds the device's lock.
func (r *Route) take(f failure, keep bool, now time.Duration, qps []*qp) {
	h, pol := &r.health, r.ctl.policy()
	r.syncLocked(now)
	if r.state().barred() {
		if out := h.record.trial; out.number != 0 && (f.trial == out.number || slices.Contains(qps, out.qp)) {
			r.trialFailed(f, now)
		}
		return
	}
	r.lapse(now)
	cause := cause{reason: f.verdict.Reason(), verdict: f.verdict}
	switch {
	case keep:
		pol.Threshold = math.MaxInt
	case f.probe && r.state() == Suspect && r.current.Load().number > h.record.probes.suspects:
		pol.Threshold = 1 // verified on a new endpoint, and it failed again
		cause.reason = classify.ReasonProbeFailed
	}
	count := 0
	jitter := r.ctl.jitter()
	if !r.peer.Report(r.pair, now, f.evidence, named(qps), func(b *rail.Breaker) bool {
		b.LongestRetry, b.Cause = max(b.LongestRetry, f.took), f.verdict
		b.Fail(pol, now, jitter)
		count = b.Count
		return true
	}) {
		return
	}
	h.openRecord().probes.suspects = r.current.Load().number
	r.reconsider(now, cause)
	if keep && count >= r.ctl.cfg.HardErrorThreshold {
		r.keepAsLast(f.verdict, now)
	}
	r.device.checkUsable(r, f.verdict, now)
}

// isolate quarantines the route at once, for a port, device or CQ that failed. A
// trial that is out began before, and decides nothing any more. The caller holds
// the device's lock.
func (r *Route) isolate(v classify.Verdict, now time.Duration) {
	rec := r.health.openRecord()
	if rec.trial.number != 0 {
		r.freeTrial(now, r.ctl.probeInterval())
	}
	if !rec.local.Paused {
		rec.local.Pause(r.ctl.policy(), now, r.ctl.jitter())
		if path := r.path(); path.Paused && path.Resume > now {
			// New evidence does not lengthen a running cooldown.
			rec.local.Resume = min(rec.local.Resume, path.Resume)
			rec.local.NextTrial = rec.local.Resume
		}
	}
	rec.local.Unprove()
	if v.Scope() != classify.ScopeCQ {
		rec.local.Withdraw()
		r.updatePath(now, func(b *rail.Breaker) bool { b.Withdraw(); b.Unprove(); return false })
	}
	r.fence()
	r.reconsider(now, cause{reason: v.Reason(), verdict: v})
}
