package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/internal/chaos"
)

// simulation runs schedules in bubbles, one for each processor.
type simulation struct {
	*options
	log io.Writer

	mu      sync.Mutex
	results []chaos.Result
	failed  int
	began   time.Time
}

// run runs all schedules, and shrinks those that fail. The error says that one could not
// be run.
func (s *simulation) run(ctx context.Context, plans []chaos.Schedule) ([]chaos.Result, error) {
	s.began = time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan chaos.Schedule)
	var running sync.WaitGroup
	for range min(runtime.NumCPU(), len(plans)) {
		running.Go(func() {
			b := &bubble{ctx: ctx}
			defer b.close()
			for plan := range todo {
				if err := s.one(b, plan, len(plans)); err != nil {
					cancel(fmt.Errorf("seed %d: %w", plan.Seed, err))
				}
			}
		})
	}
	for _, plan := range plans {
		select {
		case todo <- plan:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(todo)
	running.Wait()
	return s.results, context.Cause(ctx)
}

// one runs a schedule.
func (s *simulation) one(b *bubble, plan chaos.Schedule, of int) error {
	r, err := b.run(plan)
	if err != nil {
		return err
	}
	if r.Failed() && s.shrink > 0 {
		r = s.smaller(b, r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results = append(s.results, r)
	if r.Failed() {
		s.failed++
		fmt.Fprintf(s.log, "chaos: seed %d: %v\n", plan.Seed, r.Broken[0])
	}
	if n := len(s.results); n%max(1, of/20) == 0 || n == of {
		fmt.Fprintf(s.log, "chaos: %4.0f s  %d of %d seeds, %d failed\n", time.Since(s.began).Seconds(), n, of, s.failed)
	}
	return nil
}

// tries is how often a smaller schedule is run before it counts as good.
const tries = 3

// smaller shrinks the schedule of a result that failed, writes what is left to a file, and
// returns how that failed.
func (s *simulation) smaller(b *bubble, r chaos.Result) chaos.Result {
	first := r.Broken[0].Invariant
	fmt.Fprintf(s.log, "chaos: seed %d broke %q; shrinking %d faults\n", r.Schedule.Seed, first, len(r.Schedule.Faults))
	least := chaos.Shrink(r.Schedule, s.shrink, func(c chaos.Schedule) bool {
		for range tries {
			got, err := b.run(c)
			if err != nil {
				return false
			}
			for _, broken := range got.Broken {
				if broken.Invariant == first {
					r = got
					return true
				}
			}
		}
		return false
	})
	s.save(least)
	return r
}

// save writes a schedule to the folder of the report, or prints it if there is none.
func (o *options) save(plan chaos.Schedule) {
	if o.out == "" {
		fmt.Fprint(o.stderr, plan)
		return
	}
	file := filepath.Join(o.out, fmt.Sprintf("seed-%d.json", plan.Seed))
	if err := plan.Save(file); err != nil {
		fmt.Fprintln(o.stderr, "chaos:", err)
		return
	}
	fmt.Fprintf(o.stderr, "chaos: replay with -schedule %s\n", file)
}
