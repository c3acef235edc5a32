package cc

import "time"

// roundLaw moves the window once in a delivery round, the time in which the bytes
// outstanding at its start are delivered. It goes by two delays, see marks.
//
// Up to the low mark there is room: the window grows. Above it there is a queue, and no
// need of a larger window: a sixteenth is taken, and the step is added as in any round,
// which draws all windows to the same size of sixteen steps, from above and below. Flows
// that meet there share by their windows alone, also one that stands in two queues and
// waits twice as long as the others. Above the high mark windows of that size are too many
// for the path: with a queue at the bottleneck the delay is in proportion to the bytes in
// flight, so the window is cut to the share of the mark in the delay, and to three
// quarters of that. All who meet cut at the same time, so each of them sees the path with
// less than the mark in it, and who took a queue for the path learns better.
type roundLaw struct {
	bounds
	step int64 // bytes
}

// marks are the two delays that roundLaw goes by. The low one is a quarter of the target,
// the high one the target, for all flows alike: what a flow believes of the empty path
// does not matter, unless the path is long by itself. Then they are an eighth and a
// quarter above its own delay: little, since it may be others' queue, but enough for a
// slice or two to wait.
type marks struct{ low, high time.Duration }

func (c *Config) marks(base time.Duration) marks {
	return marks{max(c.TargetDrain/4, base+base/8), max(c.TargetDrain, base+base/4)}
}

func (l roundLaw) afterRound(window int64, s roundSigns) int64 {
	switch {
	case s.delay > s.high:
		window = int64(0.75 * float64(window) * float64(s.high) / float64(s.delay))
	case s.delay > s.low:
		window -= window / 16
	case s.ramping && s.mayGrow:
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
