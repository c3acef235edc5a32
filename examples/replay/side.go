package main

import (
	"hash/maphash"
	"iter"

	"github.com/rdmagate/rdmagate/internal/replay"
)

// side is one of two runs of the same file that go on step by step.
type side struct {
	tally   *tally
	result  *replay.Result
	err     error
	step    *replay.Step // the present one; good until next
	decided decisions    // in the present step
	reset   bool
	yield   func(*replay.Step) bool
	next    func() (*replay.Step, bool)
	stop    func()
}

// decisions are those of one step, as far as two runs are compared by them.
type decisions struct {
	answers [4]int
	hash    uint64
}

var seed = maphash.MakeSeed()

// begin starts a run, which goes on with each call of next.
func begin(src *source, what string, o replay.Options) *side {
	s := &side{tally: newTally()}
	o.Tracer = s
	s.next, s.stop = iter.Pull(func(yield func(*replay.Step) bool) {
		s.yield = yield
		s.result, s.err = src.run(what, o)
	})
	return s
}

// advance goes on to the next step, and reports whether there is one.
func (s *side) advance() bool {
	s.reset = true
	var more bool
	s.step, more = s.next()
	return more
}

// Trace is called by the run.
func (s *side) Trace(step *replay.Step) {
	s.begins()
	s.tally.step(step)
	s.yield(step)
}

// Decided is called by the run.
func (s *side) Decided(_ *replay.Step, d replay.Decision) {
	s.begins()
	s.tally.decided(d)
	s.decided.answers[d.Answer]++
	d.Use, d.At = 0, 0
	s.decided.hash = s.decided.hash*31 + maphash.Comparable(seed, key{d.Route, d.Ruling, d.RetryAfter})
}

// Passed is called by the run.
func (s *side) Passed(step *replay.Step) { s.tally.passed(step) }

// begins forgets the decisions of the step before.
func (s *side) begins() {
	if s.reset {
		s.reset, s.decided = false, decisions{}
	}
}
