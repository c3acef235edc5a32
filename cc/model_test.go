package cc

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// The model is admission as one would explain it: no atomics, no leases of credit,
// no lazy work, just what each permit holds and why. Random operations go to it
// and to the controller; answers, states, windows and bytes have to agree at every
// step. See TestAgainstModel.
type model struct {
	cfg     Config
	observe bool
	now     time.Duration
	devices []*modelDevice
	permits []*modelPermit
	lists   []*modelList
	claims  int // numbers that were given out

	epoch, began time.Duration // the control epoch's number, and the tick that began it
}

type modelDevice struct {
	m         *model
	window    int64
	inFlight  int64
	routes    []*modelRoute
	marks     map[uint8]bool // failed ports; 0 is the device itself
	exhausted map[uint8]bool // ports without a usable route; 0 is the device
	pollers   map[uint64]*modelPoller
	claim     modelClaim

	active          []*modelRoute // in use, in the order in which they came
	moved           time.Duration // the latest tick that found news of a delivery
	high, low, ease int           // epochs in a row
	full            bool          // the window refused a slice in this epoch
	drain           time.Duration
	drained         bool // that was observed
	pressure        Pressure
}

// modelGeneration is one endpoint. Number 0 is none.
type modelGeneration struct {
	number  Generation
	qps     []uint64
	cqs     []uint64        // of each QP
	pollers []*modelPoller  // of each QP, nil if none
	dead    map[uint64]bool // QPs whose fault was counted
	retired bool
	used    bool
}

// modelPermit is what one slice holds.
type modelPermit struct {
	route     *modelRoute
	gen       *modelGeneration // nil: admitted in observe mode on an endpoint that is not current
	bytes     int64
	use       Use
	evidence  int
	claim     int // its place in line, 0 if none
	poller    *modelPoller
	trial     int // the route's trial that it is; 0 if none
	probe     bool
	qp        uint64
	postedAt  time.Duration
	held      bool
	posted    bool
	posts     int // so many slices were posted with it
	deadline  bool
	cancelled bool
}

// modelAnswer is a decision, less the use number.
type modelAnswer struct {
	Ruling
	after time.Duration
}

func deferred(reason classify.Reason) modelAnswer {
	return modelAnswer{Ruling: Ruling{Answer: Defer, Reason: reason}}
}

func fits(inFlight, n, window int64) bool { return inFlight == 0 || inFlight+n <= window }

// acquire is TryAcquire, or TryProbe.
func (m *model) acquire(r *modelRoute, p *modelPermit, gen Generation, n int64, probe bool) modelAnswer {
	suspect := false
	if probe {
		r.lapse()
		suspect = r.state() == Suspect
		if wait := r.nextProbe - m.now; suspect && wait > 0 && !m.observe && !p.held {
			return r.refuse(modelAnswer{Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Hint: Divert}, wait})
		}
	}
	a := m.admit(r, p, gen, n, probe)
	if suspect && a.Answer == Admit && p.trial == 0 {
		p.probe = true
		r.nextProbe, r.lastProbe = m.now+m.cfg.ProbeInterval, m.now
	}
	return a
}

func (m *model) admit(r *modelRoute, p *modelPermit, gen Generation, n int64, probe bool) modelAnswer {
	if p.held {
		return modelAnswer{Ruling: Ruling{Answer: Refused}}
	}
	cur, refused := r.gen, modelAnswer{}
	switch {
	case gen != cur.number:
		refused = deferred(classify.ReasonStaleGeneration)
	case (gen == 0 || cur.retired) && !m.observe && !probe && r.state() == Quarantined && m.now < r.trialFrom(false):
		return r.refuse(modelAnswer{avoided, r.trialFrom(false) - m.now})
	case gen == 0 || cur.retired:
		refused = deferred(classify.ReasonNeedsRenew)
	case r.state().barred():
		refused = r.askForTrial(p, n, probe)
		if refused.Answer == Admit {
			return refused
		}
	default:
		if r.lapse(); !probe && r.leftToProber() {
			refused = deferred(classify.ReasonRouteSuspect)
			refused.Hint = Divert
		}
	}
	var use *modelGeneration
	if refused.Reason == classify.ReasonPathQuarantined || refused.Reason == classify.ReasonProbing || refused.Reason == classify.ReasonRouteSuspect || refused.Answer == Refused {
		use = cur
	}
	full := NoDomain
	if refused.Answer == Refused || m.observe {
		if full = r.fullFor(p, n); full != NoDomain {
			r.limited(full)
		}
	}
	if refused.Answer == Refused && full != NoDomain {
		refused = r.windowRuling(full)
	}
	if refused.Answer != Refused {
		r.refuse(refused)
		if !m.observe {
			r.stake(p, n, full)
			return refused
		}
	}
	m.hold(p, r, use, n)
	return modelAnswer{Ruling: Ruling{Answer: Admit}}
}

// hold reserves the bytes.
func (m *model) hold(p *modelPermit, r *modelRoute, gen *modelGeneration, n int64) {
	r.endClaim(p)
	*p = modelPermit{route: r, gen: gen, bytes: n, held: true, evidence: r.evidence, posts: p.posts}
	r.inFlight += n
	r.device.inFlight += n
	r.enter()
}

// fullFor names the window that refuses the slice, or in which an earlier claim has
// precedence.
func (r *modelRoute) fullFor(p *modelPermit, n int64) Domain {
	if !fits(r.inFlight, n, r.window()) {
		return RouteDomain
	}
	if d := r.yields(p); d != NoDomain {
		return d
	}
	if !fits(r.device.inFlight, n, r.device.window) {
		return DeviceDomain
	}
	return NoDomain
}

// limited notes which window was the limit.
func (r *modelRoute) limited(d Domain) {
	if d == RouteDomain {
		r.full = true
	} else {
		r.device.full = true
	}
}

// windowRuling is the answer of a full window.
func (r *modelRoute) windowRuling(full Domain) modelAnswer {
	a := deferred(classify.ReasonByteWindow)
	a.Domain = full
	switch state := r.state(); {
	case state == Congested:
		a.Reason = classify.ReasonCongestionFeedback
	case state == Suspect && full == RouteDomain && (r.m.cfg.SuspectWindowBytes > 0 || r.kept):
		a.Reason, a.Hint = classify.ReasonRouteSuspect, Divert
	}
	return a
}

// refuse counts a refusal.
func (r *modelRoute) refuse(a modelAnswer) modelAnswer {
	key := RefusalCount{Reason: a.Reason}
	if a.Reason == classify.ReasonByteWindow {
		key.Domain = a.Domain
	}
	r.refusals[key]++
	return a
}

func (m *model) release(p *modelPermit) {
	p.route.inFlight -= p.bytes
	p.route.device.inFlight -= p.bytes
	p.held = false
}

// posting reports whether the post may go ahead.
func (m *model) posting(p *modelPermit, qp uint64) bool {
	if !p.held || p.posted {
		return false
	}
	r := p.route
	stale := p.gen != r.gen || p.gen.retired
	if stale && !m.observe {
		m.unposted(p)
		return false
	}
	if p.gen != nil {
		p.gen.used = true
	}
	if p.trial != 0 {
		switch {
		case r.trial.number == p.trial:
			r.trial.qp = qp
		case !m.observe:
			m.unposted(p)
			return false
		default:
			p.trial = 0
		}
	}
	p.posted, p.qp, p.postedAt = true, 0, m.now
	p.posts++
	if p.gen != nil {
		if i := slices.Index(p.gen.qps, qp); i >= 0 {
			p.qp, p.poller = qp, p.gen.pollers[i]
		}
	}
	return true
}

// unposted reports whether the bytes came back with it.
func (m *model) unposted(p *modelPermit) bool {
	if !p.held {
		return false
	}
	p.route.freeTrial(p.trial, 0)
	m.release(p)
	return true
}

// settle returns the edges that an outcome takes.
func (m *model) settle(p *modelPermit, v classify.Verdict) Edges {
	if !p.held || !p.posted {
		return 0
	}
	concluded := p.deadline || p.cancelled
	edges := Ended
	if concluded {
		edges = 0
	}
	switch {
	case v == cancel && !concluded:
		p.cancelled = true
		return Ended
	case v == deadline && !concluded && p.poller.stalledIn(m.now-m.now%m.cfg.Epoch, m.now):
		return 0 // nobody looked whether it had completed
	case v == deadline && !concluded:
		p.deadline = true
		if p.gen != nil {
			p.gen.retired = true
		}
		m.failed(p, v)
		return Ended
	case v != teardown && !v.Completed():
		return 0
	}
	m.completed(p, v, concluded)
	m.release(p)
	return edges | Released
}

// current reports whether the permit is of the route's current endpoint.
func (p *modelPermit) current() bool {
	return p.gen == p.route.gen || p.gen == nil && p.route.gen.number == 0
}

// completed is what the end of a work request means for the route.
func (m *model) completed(p *modelPermit, v classify.Verdict, concluded bool) {
	r := p.route
	if v.Succeeded() && p.current() && !p.deadline {
		r.arrived(p)
	}
	switch {
	case p.deadline:
	case p.cancelled:
		r.freeTrial(p.trial, 0)
	case v == teardown:
		r.freeTrial(p.trial, m.cfg.ProbeInterval)
	case !v.Succeeded():
		m.failed(p, v)
	case p.gen != nil && p.gen == r.gen:
		r.succeeded(p)
	default:
		r.freeTrial(p.trial, m.cfg.ProbeInterval)
	}
}

// failed is what a failed attempt means for the route. Whatever its trial was not
// decided by is no verdict on the path.
func (m *model) failed(p *modelPermit, v classify.Verdict) {
	r := p.route
	if p.current() {
		r.failed = true
		r.notReady = r.notReady || v.Class() == classify.ClassReceiverPressure
	}
	if v.Countable() && p.gen != nil {
		r.fault(p.gen, modelFault{trial: p.trial, took: m.now - p.postedAt, probe: p.probe, timeout: v.Class() == classify.ClassRouteTimeout}, p.qp)
	}
	r.freeTrial(p.trial, m.cfg.ProbeInterval)
}

// renew makes the next endpoint current.
func (m *model) renew(r *modelRoute, qps, cqs []uint64) {
	r.gen = &modelGeneration{number: r.gen.number + 1, qps: qps, cqs: cqs, dead: map[uint64]bool{}}
	for _, cq := range cqs {
		r.gen.pollers = append(r.gen.pollers, r.device.pollers[cq])
	}
}
