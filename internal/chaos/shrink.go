package chaos

import (
	"slices"
	"time"
)

// Shrink looks for a smaller schedule that still fails: with fewer faults, shorter ones,
// a smaller load. fails runs one; it is asked until budget is used, at most. The result
// is the smallest for which it said yes, or the schedule itself.
func Shrink(s Schedule, budget int, fails func(Schedule) bool) Schedule {
	try := func(smaller Schedule) bool {
		if budget <= 0 || smaller.Validate() != nil {
			return false
		}
		budget--
		if !fails(smaller) {
			return false
		}
		s = smaller
		return true
	}
	for progress := true; progress && budget > 0; {
		progress = fewerFaults(&s, try)
		for _, change := range simpler {
			for c := copied(s); change(&c) && try(c); c = copied(s) {
				progress = true
			}
		}
		progress = shorter(&s, try) || progress
		progress = closer(&s, try) || progress
	}
	return s
}

func copied(s Schedule) Schedule {
	s.Faults = slices.Clone(s.Faults)
	return s
}

// fewerFaults drops runs of faults, long ones first.
func fewerFaults(s *Schedule, try func(Schedule) bool) (progress bool) {
	for n := len(s.Faults); n > 0; n /= 2 {
		for i := 0; i < len(s.Faults); {
			c := copied(*s)
			c.Faults = slices.Delete(c.Faults, i, min(i+n, len(c.Faults)))
			if try(c) {
				progress = true
			} else {
				i += n
			}
		}
	}
	return progress
}

// shorter halves the lengths of faults.
func shorter(s *Schedule, try func(Schedule) bool) (progress bool) {
	for i := range s.Faults {
		for s.Faults[i].For > Duration(2*time.Millisecond) {
			c := copied(*s)
			c.Faults[i].For = (c.Faults[i].For / 2).whole()
			if !try(c) {
				break
			}
			progress = true
		}
	}
	return progress
}

// closer halves the gaps between faults, and lets the rest of the time go.
func closer(s *Schedule, try func(Schedule) bool) (progress bool) {
	for i := range s.Faults {
		for gap := s.gap(i); gap >= Duration(2*time.Millisecond); gap = s.gap(i) {
			c := copied(*s)
			for j := i; j < len(c.Faults); j++ {
				c.Faults[j].At -= (gap / 2).whole()
			}
			if !try(c) {
				break
			}
			progress = true
		}
	}
	last := time.Duration(0)
	for _, f := range s.Faults {
		last = max(last, f.end())
	}
	if c := copied(*s); Duration(last) < c.Length {
		c.Length = Duration(last)
		progress = try(c) || progress
	}
	return progress
}

// gap is the time from the beginning of the fault before to that of a fault.
func (s Schedule) gap(i int) Duration {
	if i == 0 {
		return s.Faults[0].At
	}
	return s.Faults[i].At - s.Faults[i-1].At
}

// whole is in whole milliseconds.
func (d Duration) whole() Duration { return Duration(time.Duration(d).Truncate(time.Millisecond)) }

// simpler are changes that make a schedule smaller. Each says whether it changed anything.
var simpler = []func(*Schedule) bool{
	func(s *Schedule) bool { s.Setup.Streams--; return s.Setup.Streams >= 0 },
	func(s *Schedule) bool {
		s.Setup.MaxBytes = max(leastBytes, s.Setup.MaxBytes/4)
		return s.Setup.MaxBytes > leastBytes
	},
	func(s *Schedule) bool { s.Setup.Workers--; return s.Setup.Workers > 0 },
	func(s *Schedule) bool { s.Setup.Peers--; return s.Setup.Peers > 0 },
}
