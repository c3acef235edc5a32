package cc

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// sharedConfig is that of all workers.
var sharedConfig = modelConfig(nil)

// The model of shared pauses is one list of pairs that all workers write on, and for
// each worker's route what it made of the pair when it last looked. There are no
// versions and no locks; a route looks where the rules say that it does. See
// TestSharedAgainstModel. It has its numbers from sharedConfig, and its arithmetic of
// cooldowns from modelVerdict.
type pooled struct {
	now   time.Duration
	pairs []*pooledPair
	news  int // numbers failures and verdicts
}

// pooledPair is what all know of a pair.
type pooledPair struct {
	path        modelVerdict
	count       int
	lastFailure time.Duration
	lapsed      bool // the count ended by time
	longest     time.Duration
	evidence    int
	ended       int  // of the latest verdict that a success ended
	reported    []QP // whose failure was counted, of those that all name

	trials, trial int // how many there were; the one that is out, 0 if none
	trialEnds     time.Duration
	trialEarly    bool
}

// pooledRoute is what one worker made of a pair.
type pooledRoute struct {
	m         *pooled
	pair      *pooledPair
	local     modelVerdict
	localEnds time.Duration
	localOut  int // the local verdict's trial, 0 if none
	shown     State
	counted   bool // the pair had a count
	evidence  int  // of the verdict that it was set apart from
	gen       *pooledGeneration
	inFlight  int64
	law       int64

	trials, voided int
	trial          pooledTrial
	needAfter      Generation
	nextProbe      time.Duration
	failedGen      Generation
}

type pooledGeneration struct {
	number Generation
	qps    []QP
	dead   map[uint64]bool
	used   bool
}

type pooledTrial struct {
	number, entry, local int
	qp                   uint64
	ahead, localEarly    bool
	probe                bool
	began                time.Duration
}

func (t pooledTrial) next(now, interval time.Duration) time.Duration {
	return modelTrial{probe: t.probe, began: t.began}.next(now, interval)
}

// pooledPermit is what one slice holds; route is nil when its worker is gone.
type pooledPermit struct {
	route        *pooledRoute
	gen          *pooledGeneration
	bytes        int64
	evidence     int
	trial        int
	probe        bool
	held, posted bool
	qp           uint64
	postedAt     time.Duration
}

func (p *pooledPair) out(now time.Duration) bool { return p.trial != 0 && now < p.trialEnds }

func (p *pooledPair) gap() time.Duration {
	return max(sharedConfig.ErrorWindow, min(4*p.longest, time.Minute))
}

// success of what was posted with that evidence, or of the pair's trial entry.
func (p *pooledPair) success(now time.Duration, evidence, entry int) {
	switch {
	case evidence < p.evidence && (entry == 0 || entry != p.trial):
	case p.path.paused:
		p.path.lift(now)
		p.count, p.trial, p.ended = 0, 0, p.evidence
	default:
		p.count = 0
	}
}

func (r *pooledRoute) state() State {
	p, now := r.pair, r.m.now
	switch barred := p.path.paused || r.local.paused; {
	case barred && (p.out(now) || r.localOut != 0 && now < r.localEnds):
		return Probing
	case barred:
		return Quarantined
	case p.count > 0:
		return Suspect
	}
	return Healthy
}

func (r *pooledRoute) window() int64 {
	if r.shown == Suspect {
		return min(r.law, sharedConfig.SuspectWindowBytes)
	}
	return r.law
}

// look takes in what became of the pair.
func (r *pooledRoute) look() {
	p, from, to := r.pair, r.shown, r.state()
	if r.trial.entry != 0 && r.trial.entry != p.trial {
		if r.trial.entry = 0; r.trial.local == 0 || r.trial.local != r.localOut {
			r.trial = pooledTrial{}
		}
	}
	if p.path.paused && p.evidence != r.evidence {
		r.fence()
		r.evidence = p.evidence
	}
	switch {
	case to.barred() && !from.barred():
		r.fence()
		r.nextProbe = r.m.now + sharedConfig.ProbeInterval
	case from.barred() && !to.barred():
		r.trial, r.law, r.failedGen = pooledTrial{}, sharedConfig.MinWindowBytes, r.gen.number
	case from == Suspect && to == Healthy && r.counted && p.lapsed:
		r.law = sharedConfig.MinWindowBytes
	case to == Suspect && from != Suspect:
		r.nextProbe, r.failedGen = r.m.now, r.gen.number
	}
	r.shown, r.counted = to, p.count > 0
}

func (r *pooledRoute) fence() {
	upTo := r.gen.number
	if !r.gen.used {
		upTo--
	}
	r.needAfter, r.voided = max(r.needAfter, upTo), r.trials
}

// lapse ends a count that is too old.
func (r *pooledRoute) lapse() {
	p := r.pair
	if p.path.paused || p.count == 0 || r.m.now-p.lastFailure <= p.gap() {
		return
	}
	p.path.calm += r.m.now - p.lastFailure - p.gap()
	p.count, p.lapsed = 0, true
	if r.shown == Suspect {
		r.law = sharedConfig.MinWindowBytes
		r.look()
	}
}

func (r *pooledRoute) due() time.Duration { return max(r.pair.path.due(), r.local.due()) }

func (r *pooledRoute) acquire(p *pooledPermit, n int64, probe bool) modelAnswer {
	now, suspect := r.m.now, false
	if probe {
		r.look()
		r.lapse()
		suspect = r.shown == Suspect
	}
	if p.held {
		return modelAnswer{Ruling: Ruling{Answer: Refused}}
	}
	r.look()
	if suspect {
		if wait := r.nextProbe - now; wait > 0 {
			return modelAnswer{Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Hint: Divert}, wait}
		}
	}
	if r.shown.barred() {
		return r.askForTrial(p, n, probe)
	}
	r.lapse()
	if !fits(r.inFlight, n, r.window()) {
		a := deferred(classify.ReasonByteWindow)
		if a.Domain = RouteDomain; r.shown == Suspect {
			a.Reason, a.Hint = classify.ReasonRouteSuspect, Divert
		}
		return a
	}
	*p = pooledPermit{route: r, gen: r.gen, bytes: n, held: true, evidence: r.m.news, probe: suspect}
	if suspect {
		r.nextProbe = now + sharedConfig.ProbeInterval
	}
	r.inFlight += n
	return modelAnswer{Ruling: Ruling{Answer: Admit}}
}

func (r *pooledRoute) askForTrial(p *pooledPermit, n int64, probe bool) modelAnswer {
	now, due, pair := r.m.now, r.due(), r.pair
	from := due
	if probe && (!pair.path.paused || pair.path.probed()) && (!r.local.paused || r.local.probed()) {
		from = min(due, max(r.nextProbe, pair.path.probe))
	}
	switch {
	case r.state() == Probing:
		return modelAnswer{Ruling: probing}
	case now < from:
		return modelAnswer{avoided, from - now}
	case r.gen.number <= r.needAfter:
		return modelAnswer{Ruling: wantsRenew}
	}
	r.trials++
	r.trial = pooledTrial{number: r.trials, ahead: now < due, probe: probe, began: now}
	ends := now + min(max(10*time.Second, 2*pair.longest), 10*time.Minute)
	if pair.path.paused {
		pair.trials++
		pair.trial, pair.trialEnds, pair.trialEarly = pair.trials, ends, now < pair.path.resume
		pair.path.early, r.trial.entry = 0, pair.trials
	}
	if r.local.paused {
		r.trial.local, r.trial.localEarly = r.trials, now < r.local.resume
		r.localOut, r.localEnds, r.local.early = r.trials, ends, 0
	}
	*p = pooledPermit{route: r, gen: r.gen, bytes: n, held: true, evidence: r.m.news, trial: r.trials}
	r.inFlight += n
	r.look()
	return modelAnswer{Ruling: Ruling{Answer: Admit}}
}

// undecided ends the trial of one verdict: the next may start at that time.
func (v *modelVerdict) undecided(at time.Duration) {
	v.probe = at
	if at < v.resume {
		v.early = at
	} else {
		v.next = at
	}
}

// freeTrial ends the trial that is out without a verdict.
func (r *pooledRoute) freeTrial(wait time.Duration) {
	p, at := r.pair, r.m.now+wait
	if r.trial.entry != 0 && r.trial.entry == p.trial {
		p.trial = 0
		p.path.undecided(at)
		if r.trial.ahead {
			p.path.early = 0
		}
	}
	if r.trial.local != 0 && r.trial.local == r.localOut {
		r.localOut = 0
		r.local.undecided(at)
	}
	if r.trial.ahead {
		r.local.early = 0
	}
	r.nextProbe, r.trial = at, pooledTrial{}
}

// undecided is what proves nothing about the trial of that number.
func (r *pooledRoute) undecided(number int, wait time.Duration) {
	if number == 0 {
		return
	}
	if r.look(); number == r.trial.number {
		r.freeTrial(wait)
		r.look()
	}
}

// failed is a countable failure of a QP.
func (r *pooledRoute) failed(g *pooledGeneration, qp uint64, f pooledPermit) {
	if qp == 0 || g != r.gen || g.dead[qp] {
		return
	}
	g.dead[qp] = true
	r.look()
	p, now := r.pair, r.m.now
	if r.shown.barred() {
		if r.trial.number != 0 && (f.trial == r.trial.number || qp == r.trial.qp) {
			r.failTrial(f)
		}
		return
	}
	r.lapse()
	i := slices.IndexFunc(g.qps, func(q QP) bool { return q.ID == qp })
	if name := g.qps[i]; name.Incarnation != 0 {
		if slices.Contains(p.reported, name) || f.evidence < p.ended {
			return
		}
		p.reported = append(p.reported, name)
	} else if f.evidence < p.ended {
		return
	}
	verified := f.probe && r.shown == Suspect && g.number > r.failedGen
	p.longest = max(p.longest, now-f.postedAt)
	if p.count == 0 {
		p.path.decay()
	}
	p.count++
	p.lastFailure, p.lapsed = now, false
	r.m.news++
	p.evidence = r.m.news
	if p.count >= sharedConfig.HardErrorThreshold || verified {
		p.path.pause(now)
	}
	r.failedGen = g.number
	r.look()
}

func (r *pooledRoute) failTrial(f pooledPermit) {
	p, now := r.pair, r.m.now
	early := r.trial.entry != 0 && p.trialEarly || r.trial.local != 0 && r.trial.localEarly
	if r.trial.entry == p.trial && (r.trial.entry != 0 || !p.path.paused) {
		p.longest = max(p.longest, now-f.postedAt)
		if !early {
			if !p.path.paused && p.count == 0 {
				p.path.decay()
			}
			p.path.begin(now, 2*p.path.cooldown)
			p.path.probe = r.trial.next(now, p.path.interval())
			p.trial = 0
		}
		r.m.news++
		p.evidence = r.m.news
	}
	interval := sharedConfig.ProbeInterval
	for _, v := range []*modelVerdict{&p.path, &r.local} {
		if v.paused {
			interval = max(interval, v.interval())
		}
	}
	wait, next := time.Duration(0), r.trial.next(now, interval)
	if early {
		wait = next - now
	}
	r.freeTrial(wait)
	r.nextProbe = next
	r.fence()
	r.look()
}

func (r *pooledRoute) succeeded(p *pooledPermit) {
	if p.trial == 0 && r.shown <= Congested {
		return
	}
	r.look()
	now, pair := r.m.now, r.pair
	proves := p.trial != 0 && (p.trial == r.trial.number || p.trial > r.voided && p.evidence >= r.evidence)
	switch {
	case r.shown.barred() && proves:
		entry := 0
		if p.trial == r.trial.number {
			entry, r.nextProbe = r.trial.entry, r.trial.next(now, sharedConfig.ProbeInterval)
		}
		pair.success(now, p.evidence, entry)
		if r.local.paused {
			r.localOut = 0
		}
		r.local.lift(now)
		if !pair.path.paused {
			pair.path.lifted = now
			if pair.count == 0 {
				pair.path.calm = 0
			}
		}
		r.trial = pooledTrial{}
	case !r.shown.barred():
		pair.success(now, p.evidence, 0)
	}
	r.look()
}

// portError isolates this worker's route.
func (r *pooledRoute) portError() {
	now, path := r.m.now, &r.pair.path
	if r.trial.number != 0 {
		r.freeTrial(sharedConfig.ProbeInterval)
	}
	if !r.local.paused {
		r.local.pause(now)
		r.localOut = 0
		if path.paused && path.resume > now {
			r.local.resume = min(r.local.resume, path.resume)
			r.local.next = r.local.resume
		}
	}
	r.local.early, path.early = 0, 0
	r.fence()
	r.look()
}

// portActive allows an early trial to whoever is barred.
func (r *pooledRoute) portActive() {
	if r.look(); !r.shown.barred() {
		return
	}
	for _, v := range []*modelVerdict{&r.local, &r.pair.path} {
		if v.paused {
			v.early = r.m.now + sharedConfig.ProbeInterval
		}
	}
}
