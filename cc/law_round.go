package cc

import "time"

// roundLaw moves the window once in a delivery round, the time in which the bytes
// outstanding at its start are delivered.
//
// With a queue at the bottleneck the delay is in proportion to the bytes in
// flight. So the share of the delay that exceeds base plus target is the share of
// the window that is too much: cutting that share brings the delay to the mark in
// one step. It is at most one half, so that one odd round does not close the path.
//
// The step is added in every round, also in one that cuts: senders that meet at a
// bottleneck all add the same and cut the same share, which makes them even.
type roundLaw struct {
	bounds
	target time.Duration
	step   int64 // bytes, small against the start window
}

func (l roundLaw) afterRound(window int64, s roundSigns) int64 {
	mark := s.base + l.target
	if s.delay > mark {
		share := min(float64(s.delay-mark)/float64(s.delay), 0.5)
		window -= int64(share * float64(window))
	} else if s.mayGrow && s.ramping {
		return l.clamp(2 * window)
	}
	if s.mayGrow {
		window += l.step
	}
	return l.clamp(window)
}

// afterEpoch acts on the pressure that no completion shows: receivers that are not
// ready, and silence.
func (l roundLaw) afterEpoch(window int64, e epochSigns) int64 {
	if e.high && e.mute {
		window /= 2
	}
	return l.clamp(window)
}
