package cc

import (
	"slices"
	"time"
)

// modelRoute is a route's health: two verdicts, one on the pair and one on what is
// local (its port, device or CQ), a count of failures, and the trial.
type modelRoute struct {
	m        *model
	device   *modelDevice
	peer     string
	port     uint8
	gen      *modelGeneration
	inFlight int64
	law      int64 // the window, but for the state
	refusals map[RefusalCount]int
	claim    modelClaim
	parked   []*modelPlace
	modelFlow

	path, local modelVerdict

	count       int
	lastFailure time.Duration
	longest     time.Duration // that a work request took to fail
	evidence    int

	congested, early, kept bool
	narrow                 bool // limited to the probe window since it was made
	suspectSince           time.Duration

	trial     modelTrial
	trials    int
	voided    int        // trials up to here began before the latest verdict
	needAfter Generation // a trial needs a later endpoint
	nextProbe time.Duration
	lastProbe time.Duration // since the route was barred, if not 0
	failedGen Generation    // the newest in which something failed
}

// modelTrial is the attempt that is out; number 0 is none.
type modelTrial struct {
	number int
	ends   time.Duration
	qp     uint64
	ahead  bool // a probe that came before its turn
	early  bool // before the cooldown was over
	probe  bool
	began  time.Duration
}

// next is when the next trial may start after one that ends now.
func (t modelTrial) next(now, interval time.Duration) time.Duration {
	if t.probe {
		return max(now, t.began+interval)
	}
	return now + interval
}

type modelFault struct {
	trial   int
	took    time.Duration
	probe   bool
	timeout bool
}

func (r *modelRoute) state() State {
	switch {
	case (r.path.paused || r.local.paused) && r.trial.number != 0 && r.m.now < r.trial.ends:
		return Probing
	case r.path.paused || r.local.paused:
		return Quarantined
	case r.count > 0 || r.early:
		return Suspect
	case r.congested:
		return Congested
	}
	return Healthy
}

func (r *modelRoute) window() int64 {
	w := r.law
	if suspect := r.m.cfg.SuspectWindowBytes; r.state() == Suspect && suspect > 0 {
		w = min(w, suspect)
	}
	if r.narrow || r.kept {
		w = min(w, r.m.cfg.ProbeWindowBytes)
	}
	return w
}

// change makes a change of what is known and does what goes with a new state.
func (r *modelRoute) change(f func()) {
	from := r.state()
	f()
	r.kept = r.kept && r.state() == Suspect
	switch to := r.state(); {
	case to.barred() && !from.barred():
		r.fence()
		r.nextProbe, r.lastProbe = r.m.now+r.m.cfg.ProbeInterval, 0
	case to == Suspect && from != Suspect:
		r.nextProbe, r.failedGen, r.suspectSince = r.m.now, r.gen.number, r.m.now
	}
	r.device.judge()
}

// fence: what was posted or tried up to now proves nothing any more.
func (r *modelRoute) fence() {
	upTo := r.gen.number
	if !r.gen.used && upTo > 0 {
		upTo--
	}
	r.needAfter, r.voided = max(r.needAfter, upTo), r.trials
}

// gap is the longest time between failures in a row.
func (r *modelRoute) gap() time.Duration {
	return max(r.m.cfg.ErrorWindow, min(4*r.longest, time.Minute))
}

// old reports whether the failures that were counted are too old to count on.
func (r *modelRoute) old() bool { return r.count > 0 && r.m.now-r.lastFailure > r.gap() }

// lapse ends a suspicion that nothing confirmed.
func (r *modelRoute) lapse() {
	unconfirmed := r.count == 0 && r.early && r.m.now-r.suspectSince > r.m.cfg.ErrorWindow
	suspect := r.state() == Suspect
	switch {
	case r.path.paused || !r.old() && !unconfirmed:
		return
	case r.count > 0:
		r.path.calm += r.m.now - r.lastFailure - r.gap()
	}
	r.count = 0
	if suspect {
		r.early, r.law = false, r.m.cfg.MinWindowBytes
	}
	r.kept = r.kept && r.state() == Suspect
}

// pass lets time pass.
func (r *modelRoute) pass(d time.Duration) {
	if !r.path.paused && r.count == 0 {
		r.path.calm += d
	}
	if !r.local.paused {
		r.local.calm += d
	}
}

func (r *modelRoute) due() time.Duration { return max(r.path.due(), r.local.due()) }

// verdicts are those that forbid the route.
func (r *modelRoute) verdicts() (vs []*modelVerdict) {
	for _, v := range []*modelVerdict{&r.path, &r.local} {
		if v.paused {
			vs = append(vs, v)
		}
	}
	return vs
}

// trialFrom is when a trial may start. A probe may come before the cooldown is over,
// unless the pair has a long one since it flaps. User slices leave a trial to the prober, if there is
// one, until it has missed four turns.
func (r *modelRoute) trialFrom(probe bool) time.Duration {
	due, flaps := r.due(), func(v *modelVerdict) bool { return !v.probed() }
	switch {
	case probe && !slices.ContainsFunc(r.verdicts(), flaps):
		return min(due, r.nextProbe)
	case !probe && r.m.cfg.Prober:
		return max(due, r.lastProbe) + 4*r.m.cfg.ProbeInterval
	}
	return due
}

// askForTrial starts the trial, or says why not.
func (r *modelRoute) askForTrial(p *modelPermit, n int64, probe bool) modelAnswer {
	now, due, from := r.m.now, r.due(), r.trialFrom(probe)
	switch {
	case r.state() == Probing:
		return modelAnswer{Ruling: probing}
	case now < from:
		return modelAnswer{avoided, from - now}
	case r.gen.number <= r.needAfter && !r.m.observe:
		return modelAnswer{Ruling: wantsRenew}
	}
	full := r.yields(p)
	if full == NoDomain && !fits(r.device.inFlight, n, r.device.window) {
		full = DeviceDomain
	}
	if full != NoDomain {
		a := modelAnswer{Ruling: Ruling{Answer: Defer, Reason: probing.Reason, Domain: full, Hint: Divert}}
		if full == DeviceDomain {
			r.limited(full)
			if !r.m.observe {
				r.stakeIn(p, full, true)
			}
			a.after = 2 * r.domains()[1].drain
		}
		return a
	}
	r.trials++
	r.trial = modelTrial{number: r.trials, ends: now + min(max(10*time.Second, 2*r.longest), 10*time.Minute), ahead: now < due, probe: probe, began: now}
	for _, v := range r.verdicts() {
		r.trial.early = r.trial.early || now < v.resume
		v.early = 0
	}
	if probe {
		r.lastProbe = now
	}
	r.m.hold(p, r, r.gen, n)
	p.trial = r.trials
	return modelAnswer{Ruling: Ruling{Answer: Admit}}
}

// wantsProbe reports whether a prober should come now.
func (r *modelRoute) wantsProbe() bool {
	switch state := r.state(); {
	case state == Suspect:
		return r.m.now >= r.nextProbe
	case state == Quarantined:
		return r.m.now >= r.trialFrom(true)
	}
	return false
}

// freeTrial ends the trial without a verdict, if it is the one that is out: the
// next may start after wait.
func (r *modelRoute) freeTrial(number int, wait time.Duration) {
	if number == 0 || number != r.trial.number {
		return
	}
	at := r.m.now + wait
	for _, v := range r.verdicts() {
		switch {
		case at >= v.resume:
			v.next = at
		case r.trial.ahead:
		default:
			v.early = at
		}
		if r.trial.ahead {
			v.early = 0
		}
	}
	r.nextProbe, r.trial = at, modelTrial{}
}

// fault is the first countable evidence against QPs of an endpoint, or no news.
func (r *modelRoute) fault(g *modelGeneration, f modelFault, qps ...uint64) {
	first := false
	for _, qp := range qps {
		if qp != 0 && g == r.gen && !g.dead[qp] {
			g.dead[qp], first = true, true
		}
	}
	switch {
	case !first:
	case !r.state().barred():
		r.countFault(f)
	case r.trial.number != 0 && (f.trial == r.trial.number || r.trial.qp != 0 && slices.Contains(qps, r.trial.qp)):
		r.failTrial(f)
	}
}

func (r *modelRoute) countFault(f modelFault) {
	r.lapse()
	keep := r.m.cfg.KeepLastRoute && f.timeout && r.last()
	r.change(func() {
		verified := f.probe && r.state() == Suspect && r.gen.number > r.failedGen
		r.longest = max(r.longest, f.took)
		r.path.decay()
		r.count++
		r.lastFailure = r.m.now
		r.evidence++
		switch enough := r.count >= r.m.cfg.HardErrorThreshold; {
		case keep:
			r.kept = r.kept || enough
		case enough || verified:
			r.path.pause(r.m.now)
		}
	})
	r.failedGen = r.gen.number
}

// unreachable is an endpoint that could not be built in the place of that one.
func (r *modelRoute) unreachable(old Generation) {
	if old != r.gen.number {
		return
	}
	r.lapse()
	switch state := r.state(); {
	case state.barred():
		r.path.proof, r.local.proof = nil, nil
	case state == Suspect && r.count > 0 && !(r.m.cfg.KeepLastRoute && r.last()):
		r.change(func() {
			r.evidence++
			r.path.pause(r.m.now)
		})
	}
}

// last reports whether no other route to the peer is usable.
func (r *modelRoute) last() bool {
	for _, d := range r.m.devices {
		for _, other := range d.routes {
			if other != r && other.peer == r.peer && !other.state().barred() {
				return false
			}
		}
	}
	return true
}

func (r *modelRoute) failTrial(f modelFault) {
	r.change(func() {
		r.longest = max(r.longest, f.took)
		r.evidence++
		now, tried := r.m.now, r.trial
		if !tried.early {
			if !r.path.paused {
				r.path.decay()
			}
			r.freeTrial(tried.number, 0)
			r.path.begin(now, 2*r.path.cooldown)
		}
		interval := time.Duration(0)
		for _, v := range r.verdicts() {
			interval = max(interval, v.interval())
		}
		next := tried.next(now, interval)
		r.freeTrial(r.trial.number, next-now)
		r.nextProbe = next
		r.path.proof, r.local.proof = nil, nil
		r.fence()
	})
}

// succeeded is a success on the current endpoint.
func (r *modelRoute) succeeded(p *modelPermit) {
	barred := r.state().barred()
	proves := p.trial != 0 && (p.trial == r.trial.number || p.trial > r.voided && p.evidence == r.evidence)
	r.change(func() {
		switch {
		case barred && proves:
			r.proved(p)
		case barred:
		default:
			r.early = false
			if p.evidence == r.evidence {
				r.count = 0
			}
			if r.narrow {
				r.device.revive(r.port)
			}
		}
	})
}

// proved is a success that disproves the verdicts.
func (r *modelRoute) proved(p *modelPermit) {
	now, tried := r.m.now, modelTrial{}
	if p.trial == r.trial.number {
		tried = r.trial
	}
	next := tried.next(now, r.m.cfg.ProbeInterval)
	for _, v := range []*modelVerdict{&r.path, &r.local} {
		was := v.paused
		if tried.number != 0 && !tried.probe || v.proves(now) {
			v.paused = false
		}
		switch {
		case was && !v.paused:
			v.lift(now)
		case tried.number == 0 || !v.paused:
		case next >= v.resume:
			v.next = next
		case !tried.ahead:
			v.early = next
		}
		if tried.ahead {
			v.early = 0
		}
	}
	if !r.path.paused {
		r.count = 0
	}
	if tried.number != 0 {
		r.trial, r.nextProbe = modelTrial{}, next
	}
	delete(r.device.marks, r.port)
	delete(r.device.marks, 0)
	if r.path.paused || r.local.paused {
		return
	}
	r.path.lift(now)
	r.local.lift(now)
	r.trial = modelTrial{}
	r.early, r.congested, r.law = false, false, r.m.cfg.MinWindowBytes
	r.device.revive(r.port)
}

// isolate is the verdict of a port, device or CQ.
func (r *modelRoute) isolate(cq bool) {
	r.change(func() {
		now := r.m.now
		r.freeTrial(r.trial.number, r.m.cfg.ProbeInterval)
		if !r.local.paused {
			r.local.pause(now)
			if r.path.paused && r.path.resume > now {
				r.local.resume = min(r.local.resume, r.path.resume)
				r.local.next = r.local.resume
			}
		}
		r.local.proof = nil
		if !cq {
			r.local.early, r.path.early, r.path.proof = 0, 0, nil
		}
		r.fence()
	})
}

// judge looks for ports, and the device, on which nothing is usable to two peers.
func (d *modelDevice) judge() {
	for _, port := range []uint8{0, 1, 2} {
		peers, usable := map[string]bool{}, false
		for _, r := range d.routes {
			if port == 0 || port == r.port {
				peers[r.peer] = true
				usable = usable || !r.state().barred()
			}
		}
		if !usable && len(peers) > 1 {
			d.exhausted[port] = true
		}
	}
}

// revive: something succeeded on the port.
func (d *modelDevice) revive(port uint8) {
	was := d.exhausted[port] || d.exhausted[0]
	delete(d.exhausted, port)
	delete(d.exhausted, 0)
	for _, r := range d.routes {
		if was && !d.exhausted[r.port] {
			r.narrow = false
		}
	}
}

// leftToProber reports whether user slices leave a SUSPECT route to the prober.
func (r *modelRoute) leftToProber() bool {
	turn := r.lastFailure
	if r.lastProbe > turn {
		turn = r.lastProbe
	}
	return r.m.cfg.Prober && r.state() == Suspect && r.count > 0 && !r.kept && r.m.now < turn+4*r.m.cfg.ProbeInterval
}
