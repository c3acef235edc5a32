package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// leftOut is a test that fails without any mutant, since it sees that the package was
// changed: it counts allocations, say, or asks the compiler.
type leftOut struct {
	test *test
	why  string
}

// A process of tests may take a multiple of what it took without a mutant, and no less
// than this: the machine does other things too.
const limitFactor = 10

var limitLeast = 5 * time.Second

// longest is how long a test may take without a mutant.
const longest = 5 * time.Minute

// measure runs each test without a mutant, to see how long it takes and what it
// reaches, and then all together. Tests that fail are taken out of the suite.
func (s *suite) measure(ctx context.Context, temp string, mutants, workers int) ([]leftOut, error) {
	var (
		mu   sync.Mutex
		out  []leftOut
		errs []error
	)
	each(workers, len(s.tests), func(i int) {
		t := s.tests[i]
		why, err := t.measure(ctx, temp, mutants)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			errs = append(errs, err)
		}
		if why != "" {
			out = append(out, leftOut{t, why})
		}
	})
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if len(errs) > 0 {
		return out, errs[0]
	}
	s.leave(out)
	s.startFree()
	together, err := s.together(ctx)
	slices.SortFunc(out, func(a, b leftOut) int { return slices.Index(s.tests, a.test) - slices.Index(s.tests, b.test) })
	return append(out, together...), err
}

func (s *suite) leave(out []leftOut) {
	s.tests = slices.DeleteFunc(s.tests, func(t *test) bool {
		return slices.ContainsFunc(out, func(l leftOut) bool { return l.test == t })
	})
}

// startFree takes the start of a process out of what tests take on the processor.
func (s *suite) startFree() {
	start := longest
	for _, t := range s.tests {
		start = min(start, t.cpu)
	}
	for _, t := range s.tests {
		t.cpu -= start
	}
}

// measure runs one test; why is what it wrote if it failed.
func (t *test) measure(ctx context.Context, temp string, mutants int) (why string, err error) {
	file := filepath.Join(temp, "reached_"+t.name)
	if err := os.WriteFile(file, make([]byte, mutants+1), 0o644); err != nil {
		return "", err
	}
	defer os.Remove(file)
	began := time.Now()
	end, wrote, cpu := t.suite.run(ctx, []*test{t}, longest, "ZZ_REACHED="+file)
	t.cpu, t.took = cpu, time.Since(began)
	if end != passed {
		return fmt.Sprintf("%s%s", map[ending]string{timedOut: "it takes too long\n"}[end], wrote), nil
	}
	t.reached, err = os.ReadFile(file)
	return "", err
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// together takes out the tests that pass alone and fail among others.
func (s *suite) together(ctx context.Context) (out []leftOut, err error) {
	for len(s.tests) > 0 {
		end, wrote, _ := s.run(ctx, s.tests, longest)
		if end == interrupted {
			return out, ctx.Err()
		}
		if end == passed {
			return out, nil
		}
		name := failedTest.FindStringSubmatch(wrote)
		i := -1
		if name != nil {
			i = slices.IndexFunc(s.tests, func(t *test) bool { return t.name == name[1] })
		}
		if i < 0 {
			return out, fmt.Errorf("the tests of %s fail together, without a mutant:\n%s", s, wrote)
		}
		out = append(out, leftOut{s.tests[i], "it passes alone, and fails among the others\n" + wrote})
		s.leave(out)
	}
	return out, nil
}

// each calls f for 0 to n-1, by several workers at once.
func each(workers, n int, f func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
