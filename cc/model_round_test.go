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
	from    int64         // so much was delivered when it began
	cutAt   time.Duration
	ramping bool // no delay was above the low mark or the target yet
	sparse  bool // only one in eight completions is measured, and the long ones

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

// modelMarks are a fourth of the target and the target, or nine eighths and five fourths
// of what an empty path takes.
func (m *model) modelMarks(base time.Duration) (low, high time.Duration) {
	return max(m.cfg.TargetDrain/4, base*9/8), max(m.cfg.TargetDrain, base*5/4)
}

// inRound takes an arrival into the delivery round, and ends the round when all that
// was out at its start is delivered, or when it is clear that this takes far too long.
func (r *modelRoute) inRound(a modelArrival, postedAt time.Duration) {
	m, cfg := &r.round, &r.m.cfg
	low, high := r.m.modelMarks(time.Duration(a.base) * time.Microsecond)
	us := time.Duration(a.us) * time.Microsecond
	if r.delivered >= m.ends && m.came.weight == 0 && !r.full && m.dipLeft == 0 && us <= low && us <= cfg.TargetDrain {
		m.began, m.from, m.ends = r.m.now, r.delivered, r.delivered+r.inFlight
		m.sparse = r.window()/8 >= a.bytes
		return // all is well
	}
	if postedAt >= m.cutAt {
		m.came = m.came.plus(modelSums{a.weight, a.weight * a.us, a.weight * a.base}, 1)
	}
	delay, window := time.Duration(0), r.law
	if r.delivered < m.ends {
		// A slice that is older than the round tells that the path was busy all the time.
		took := r.m.now - m.began
		if m.dipLeft > 0 || postedAt > m.began || took <= high {
			return
		}
		delay = time.Duration(min(float64(took)*float64(r.inFlight)/float64(max(1, r.delivered-m.from)), float64(time.Minute)))
		if delay <= 2*high {
			return
		}
		window = min(window, r.inFlight)
	}
	came, began := m.came, m.began
	m.came, m.began, m.from, m.ends = modelSums{}, r.m.now, r.delivered, r.delivered+r.inFlight
	m.sparse = r.law/8 >= a.bytes
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
	delay = max(delay, came.drain())
	low, high = r.m.modelMarks(came.mean(came.base))
	if delay > low || delay > cfg.TargetDrain {
		m.ramping = false
	}
	step := max(1, cfg.MinWindowBytes/4)
	switch {
	case delay > high:
		window, m.cutAt = int64(0.75*float64(window)*float64(high)/float64(delay)), r.m.now
	case delay > low:
		window -= window / 16
	case m.ramping:
		step = window
	}
	if grows {
		window += step
	}
	r.law = min(max(window, cfg.MinWindowBytes), cfg.MaxWindowBytes)
	if !m.dipDue {
		return
	}
	m.dipDue = false
	if !m.ramping && r.state().usable() && r.law > cfg.MinWindowBytes {
		m.dipLeft, m.dipWindow, r.law = 3, r.law, cfg.MinWindowBytes
	}
}
