package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

// fate is what became of a mutant.
type fate int

const (
	notRun fate = iota
	killed
	tookTooLong // killed, by the limit
	notCovered  // no test comes by
	survived
)

// outcome is what became of a mutant, and which test told if one did.
type outcome struct {
	fate fate
	by   string
}

// judge runs the tests that reach a mutant, until one fails.
func judge(ctx context.Context, suites []*suite, m *mutant) outcome {
	reached := false
	for _, s := range suites {
		for _, batch := range batches(s.reaching(m)) {
			reached = true
			end, wrote, _ := s.run(ctx, batch, limit(batch), "ZZ_MUTANT="+strconv.Itoa(m.id))
			switch end {
			case interrupted:
				return outcome{}
			case timedOut:
				return outcome{tookTooLong, s.String()}
			case failed:
				by := s.String()
				if name := failedTest.FindStringSubmatch(wrote); name != nil {
					by = name[1]
				}
				return outcome{killed, by}
			}
		}
	}
	if !reached {
		return outcome{fate: notCovered}
	}
	return outcome{fate: survived}
}

func limit(batch []*test) time.Duration {
	var sum time.Duration
	for _, t := range batch {
		sum += t.took
	}
	return limitLeast + limitFactor*sum
}

// reaching returns the tests that come by a mutant, the fastest first.
func (s *suite) reaching(m *mutant) (tests []*test) {
	first := m.point.mutants[0].id
	for _, t := range s.tests {
		if t.reached[first] != 0 {
			tests = append(tests, t)
		}
	}
	slices.SortStableFunc(tests, func(a, b *test) int { return cmp.Compare(a.cpu, b.cpu) })
	return tests
}

// firstBatch is how long the tests of the first process take together; each
// further process takes four times as long.
const firstBatch = 150 * time.Millisecond

// batches divides tests, the fastest first, into those that run in one process.
func batches(tests []*test) (all [][]*test) {
	room, sum, from := firstBatch, time.Duration(0), 0
	for i, t := range tests {
		if i > from && sum+t.cpu > room {
			all = append(all, tests[from:i])
			from, sum, room = i, 0, 4*room
		}
		sum += t.cpu
	}
	if from < len(tests) {
		all = append(all, tests[from:])
	}
	return all
}

// quickTest is the longest test that mutants run which nobody expects to be killed.
const quickTest = 100 * time.Millisecond

// quick returns the suite with its quick tests only.
func (s *suite) quick() *suite {
	q := *s
	q.tests = slices.DeleteFunc(slices.Clone(s.tests), func(t *test) bool { return t.cpu > quickTest })
	return &q
}

// judgeAll runs all mutants, each on the suites that are told for it, and returns what
// became of them. If it is interrupted, some were not run.
func judgeAll(ctx context.Context, suites func(*mutant) []*suite, mutants []*mutant, workers int, done func(*mutant, outcome)) map[*mutant]outcome {
	var mu sync.Mutex
	outcomes := map[*mutant]outcome{}
	each(workers, len(mutants), func(i int) {
		if ctx.Err() != nil {
			return
		}
		o := judge(ctx, suites(mutants[i]), mutants[i])
		mu.Lock()
		defer mu.Unlock()
		outcomes[mutants[i]] = o
		done(mutants[i], o)
	})
	return outcomes
}
