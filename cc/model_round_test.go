package cc

import (
	"slices"
	"time"
)

// modelRound is what LawRound keeps of a route: what came in this delivery round, and
// how long slices of each size took of late.
type modelRound struct {
	came    modelSums     // of what was posted after the last cut
	ends    int64         // with so much delivered
	began   time.Duration // 0 for the first
	cutAt   time.Duration
	ramping bool // no round was high yet

	seen   []modelSeen
	period time.Duration // of five seconds, at the last look; 0 before the first
	turns  int           // of that

	dipDue    bool
	dipLeft   int // rounds
	dipWindow int64
}

// modelSeen is a delay that was seen.
type modelSeen struct {
	class int
	us    int64
	turn  int
}

// sizeClass is 0 up to 4 KiB, and one more for each doubling.
func sizeClass(n int64) (class int) {
	for limit := int64(4 * kib); n > limit && class < 15; limit *= 2 {
		class++
	}
	return class
}

// learn takes in a delay and returns the least of its size of this period and the two
// before it.
func (m *modelRound) learn(n, us int64) int64 {
	class := sizeClass(n)
	m.seen = append(m.seen, modelSeen{class, us, m.turns})
	for _, s := range m.seen {
		if s.class == class {
			us = min(us, s.us)
		}
	}
	return us
}

// turned reports whether a period is over.
func (m *modelRound) turned(now time.Duration) bool {
	was := m.period
	m.period = now / (5 * time.Second)
	if was == 0 || was == m.period {
		return false
	}
	m.turns++
	m.seen = slices.DeleteFunc(m.seen, func(s modelSeen) bool { return s.turn < m.turns-2 })
	return true
}

// inRound takes an arrival into the delivery round, and ends the round when all that
// was out at its start is delivered.
func (r *modelRoute) inRound(a modelArrival, postedAt time.Duration) {
	m, cfg := &r.round, &r.m.cfg
	if postedAt >= m.cutAt {
		m.came = m.came.plus(modelSums{a.weight, a.weight * a.us, a.weight * a.base}, 1)
	}
	if r.delivered < m.ends {
		return
	}
	came, began := m.came, m.began
	m.came, m.began, m.ends = modelSums{}, r.m.now, r.delivered+r.inFlight
	switch {
	case m.dipLeft > 0 && !r.state().usable():
		m.dipLeft, m.dipDue = 0, false
		return
	case m.dipLeft > 0:
		if m.dipLeft--; m.dipLeft == 1 {
			r.law = m.dipWindow
		}
		return
	case came.weight == 0 || r.state().barred() || r.gen.stalledIn(began, r.m.now):
		return
	}
	grows := r.full && r.state() != Suspect
	r.full = false
	delay, most := came.drain(), came.mean(came.base)+cfg.TargetDrain
	step := max(1, cfg.StartWindowBytes/16)
	switch {
	case delay > most:
		r.law -= int64(min(float64(delay-most)/float64(delay), 0.5) * float64(r.law))
		m.ramping, m.cutAt = false, r.m.now
	case grows && m.ramping:
		r.law, step = 2*r.law, 0
	}
	if grows {
		r.law += step
	}
	r.law = min(max(r.law, cfg.MinWindowBytes), cfg.MaxWindowBytes)
	if !m.dipDue {
		return
	}
	m.dipDue = false
	if !m.ramping && r.state().usable() && r.law > cfg.MinWindowBytes {
		m.dipLeft, m.dipWindow, r.law = 3, r.law, cfg.MinWindowBytes
	}
}
