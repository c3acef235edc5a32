package main

import "time"

// sampler says when to look at all routes: at every step of a short file, and in a long
// one more seldom the longer it has lasted, so that how often is bounded.
type sampler struct {
	last  time.Duration
	taken int
}

const (
	everyStep = 10_000 // looks in the beginning, whenever there is a reason
	parts     = 4096   // of the time since the beginning: the gap between two looks later
)

// due reports whether to look now, at a time since the beginning.
func (s *sampler) due(at time.Duration) bool {
	if s.taken > everyStep && at-s.last < at/parts+1 {
		return false
	}
	s.last = at
	s.taken++
	return true
}
