package cc

import (
	"slices"
	"time"
)

// modelFlow is what the monitor knows of a route: a list of what arrived.
type modelFlow struct {
	active    bool // the monitor visits it
	arrivals  []modelArrival
	delivered int64
	news      bool // something arrived since the last tick
	waiting   bool // bytes were out at a tick, that of since, and nothing arrived since
	since     time.Duration
	endpoint  Generation // what was current at the last tick
	failed    bool       // in this epoch
	notReady  bool       // in this epoch: the receiver
	full      bool       // the window refused a slice since the law last looked
	high, low int        // epochs in a row; idle ones are low
	ease      int        // low ones in a row that were not idle
	drain     time.Duration
	drained   bool // that was observed
	pressure  Pressure
	round     modelRound
}

// modelArrival is one completion.
type modelArrival struct {
	bytes  int64
	weight int64 // the bytes that its delay stands for; 0 if it was not measured
	us     int64 // from Posting to completion
	base   int64 // of them, those of an empty path
}

// modelSums is what arrivals come to, in bytes and bytes times microseconds.
type modelSums struct{ weight, delay, base int64 }

// sumOf adds arrivals up. What was delivered and not measured was fast.
func sumOf(arrivals []modelArrival) (s modelSums) {
	all := int64(0)
	for _, a := range arrivals {
		s = s.plus(modelSums{a.weight, a.weight * a.us, a.weight * a.base}, 1)
		all += a.bytes
	}
	s.weight = max(s.weight, all)
	return s
}

func (s modelSums) plus(t modelSums, times int64) modelSums {
	return modelSums{s.weight + times*t.weight, s.delay + times*t.delay, s.base + times*t.base}
}

func (s modelSums) mean(of int64) time.Duration {
	if s.weight == 0 {
		return 0
	}
	return time.Duration(float64(of) / float64(s.weight) * 1000)
}

func (s modelSums) drain() time.Duration    { return s.mean(s.delay) }
func (s modelSums) queueing() time.Duration { return s.mean(max(0, s.delay-s.base)) }

// pressure judges a drain time.
func (m *model) pressure(d time.Duration) Pressure {
	switch {
	case d > m.cfg.TargetDrain:
		return PressureHigh
	case 2*d < m.cfg.TargetDrain:
		return PressureLow
	}
	return PressureNeutral
}

// enter makes the monitor visit the route from now on.
func (r *modelRoute) enter() {
	if r.active {
		return
	}
	r.active, r.arrivals, r.news, r.waiting, r.high, r.low, r.ease = true, nil, false, false, 0, 0, 0
	r.device.active = append(r.device.active, r)
}

// out is what is in flight on the current endpoint.
func (r *modelRoute) out() (n int64) {
	if r.gen.number == 0 || r.gen.retired {
		return 0
	}
	for _, p := range r.m.permits {
		if p.held && p.route == r && p.gen == r.gen {
			n += p.bytes
		}
	}
	for _, l := range r.m.lists {
		for _, p := range l.parts() {
			if p.held && p.route == r && p.gen == r.gen {
				n += p.bytes
			}
		}
	}
	return n
}

// arrived takes a success of the current endpoint, before its bytes are given back.
func (r *modelRoute) arrived(p *modelPermit) {
	a, took := modelArrival{bytes: p.bytes}, r.m.now-p.postedAt
	long := min(100*time.Microsecond, r.m.cfg.TargetDrain/4)
	if r.m.cfg.Law == LawRound && !r.round.sparse {
		long = 0
	}
	switch {
	case took >= long:
		a.weight = p.bytes
	case p.use%8 == 0:
		a.weight = 8 * p.bytes
	}
	if a.weight > 0 {
		a.us = int64(min(took, time.Minute) / time.Microsecond)
		if r.m.cfg.Law == LawRound {
			a.base = r.round.learn(p.bytes, a.us)
			r.inRound(a, p.postedAt)
		}
	}
	r.arrivals, r.news, r.delivered = append(r.arrivals, a), true, r.delivered+p.bytes
}

// tick is the monitor.
func (m *model) tick() {
	epoch := m.now / m.cfg.Epoch
	for _, d := range m.devices {
		d.tick(epoch != m.epoch)
	}
	if epoch != m.epoch {
		m.epoch, m.began = epoch, m.now
	}
}

func (d *modelDevice) tick(closes bool) {
	visited := d.active
	for _, r := range visited {
		if r.endpoint != r.gen.number {
			r.endpoint, r.waiting = r.gen.number, false
		}
		switch {
		case r.news:
			r.waiting, r.since, d.moved = r.out() > 0, d.m.now, d.m.now
		case r.out() == 0:
			r.waiting = false
		case !r.waiting:
			r.waiting, r.since = true, d.m.now
		}
		r.news = false
	}
	d.active = nil
	var delivered []modelSums
	for _, r := range visited {
		if r.silent() {
			r.change(func() { r.early = true })
		}
		if closes {
			s := sumOf(r.arrivals)
			p := r.closeEpoch(s)
			if p != PressureVoid && s.weight > 0 {
				delivered = append(delivered, s)
			}
			r.active = p != PressureIdle || r.state() == Congested || r.state() == Suspect
		}
		if r.active {
			d.active = append(d.active, r)
		}
	}
	if closes {
		d.closeEpoch(delivered)
	}
}

// silent is early suspicion: nothing came for long, while a sibling was served and
// the pollers ran.
func (r *modelRoute) silent() bool {
	m, after := r.m, max(r.m.cfg.SuspectAfter, 4*r.drain)
	if m.cfg.SuspectAfter == 0 || !r.waiting || m.now-r.since < after || !r.state().usable() {
		return false
	}
	return r.device.moved >= m.now-after/2 && !r.gen.stalledIn(r.since, m.now) && r.gen.beatSince(m.now-after/2)
}

// closeEpoch judges the route's epoch, in which s arrived, and moves its window.
func (r *modelRoute) closeEpoch(s modelSums) Pressure {
	m := r.m
	p, mute := PressureNeutral, false
	switch {
	case s.weight == 0 && !r.notReady && r.inFlight == 0:
		p = PressureIdle
	case r.gen.stalledIn(m.began, m.now):
		p = PressureVoid
	case r.notReady:
		p, mute = PressureHigh, true
	case s.weight > 0:
		p = m.pressure(s.queueing())
	case r.waiting && r.since <= m.began && !r.failed && r.gen.beatSince(m.began):
		p, mute = PressureHigh, true
	}
	full := r.full
	if m.cfg.Law == LawEpoch {
		r.full = false
	}
	turned := m.cfg.Law == LawRound && r.round.turned(m.now)
	r.arrivals, r.failed, r.notReady, r.pressure = nil, false, false, p
	if p != PressureVoid && s.weight > 0 {
		r.drain, r.drained = s.drain(), true
	}
	if r.state() == Suspect && !(r.waiting && r.since < m.now) {
		r.lapse()
	}
	if r.state().barred() {
		r.high, r.low, r.ease = 0, 0, 0
		r.round.ramping, r.round.dipDue, r.round.dipLeft = true, false, 0
		return p
	}
	r.round.dipDue = r.round.dipDue || turned
	high, low, ease := countEpoch(p, &r.high, &r.low, &r.ease, &m.cfg)
	switch {
	case m.cfg.Law == LawRound && high && mute, m.cfg.Law == LawEpoch && high:
		r.law = max(r.law/2, m.cfg.MinWindowBytes)
	case m.cfg.Law == LawEpoch && ease && full && r.state() != Suspect:
		r.law = min(r.law+m.cfg.StartWindowBytes, m.cfg.MaxWindowBytes)
	}
	r.change(func() { r.congested = high || r.congested && !low })
	return p
}

// countEpoch counts epochs in a row, and reports whether there are enough.
func countEpoch(p Pressure, high, low, ease *int, cfg *Config) (enoughHigh, enoughLow, enoughEase bool) {
	switch p {
	case PressureHigh:
		*high, *low, *ease = *high+1, 0, 0
	case PressureLow:
		*high, *low, *ease = 0, *low+1, *ease+1
	case PressureIdle:
		*high, *low = 0, *low+1
	case PressureNeutral:
		*high, *low, *ease = 0, 0, 0
	}
	return p == PressureHigh && *high >= cfg.HighPressureEpochs, (p == PressureLow || p == PressureIdle) && *low >= cfg.LowPressureEpochs,
		p == PressureLow && *ease >= cfg.LowPressureEpochs
}

// closeEpoch judges the device by all that its routes delivered. One route that takes
// long is not the device: the others have to take long as well.
func (d *modelDevice) closeEpoch(delivered []modelSums) {
	cfg := &d.m.cfg
	var all, worst modelSums
	for i, s := range delivered {
		all = all.plus(s, 1)
		if i == 0 || s.queueing() > worst.queueing() {
			worst = s
		}
	}
	d.pressure = PressureIdle
	if len(delivered) > 0 {
		d.drain, d.drained = all.drain(), true
		d.pressure = d.m.pressure(all.queueing())
		if d.pressure == PressureHigh && d.m.pressure(all.plus(worst, -1).queueing()) != PressureHigh {
			d.pressure = PressureNeutral
		}
	}
	high, _, ease := countEpoch(d.pressure, &d.high, &d.low, &d.ease, cfg)
	least := cfg.DeviceMinWindowBytes
	if least == 0 {
		least = cfg.StartWindowBytes
	}
	switch {
	case high:
		d.window = max(d.window/2, least)
	case ease && d.full:
		d.window = min(d.window+max(cfg.StartWindowBytes, cfg.DeviceWindowBytes/16), cfg.DeviceWindowBytes)
	}
	d.full = false
}

// modelPoller is who polls for some CQs.
type modelPoller struct {
	gap    time.Duration   // a longer one between two beats is a stall
	beats  time.Duration   // the latest
	stalls []time.Duration // the beats that ended one
	closed bool
	awake  bool // it beats while time passes
}

func (p *modelPoller) beat(now time.Duration) {
	if now-p.beats > p.gap {
		p.stalls = append(p.stalls, now)
	}
	p.beats = now
}

// stalledIn reports whether a stall touched the time from then to now, or the poll
// batch of now is the first after one.
func (p *modelPoller) stalledIn(then, now time.Duration) bool {
	if p == nil || p.closed {
		return false
	}
	ended := func(at time.Duration) bool { return at >= then || at == p.beats }
	return now-p.beats > p.gap || slices.ContainsFunc(p.stalls, ended)
}

func (g *modelGeneration) stalledIn(then, now time.Duration) bool {
	return slices.ContainsFunc(g.pollers, func(p *modelPoller) bool { return p.stalledIn(then, now) })
}

// beatSince reports whether all who poll for the endpoint have run since then.
func (g *modelGeneration) beatSince(then time.Duration) bool {
	return !slices.ContainsFunc(g.pollers, func(p *modelPoller) bool { return p != nil && !p.closed && p.beats < then })
}
