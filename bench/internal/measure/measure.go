package measure

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// Loop runs an operation n times.
type Loop func(n int)

// Scenario is something to time.
type Scenario struct {
	Name string
	// Workers is how many loops run at once, 1 or 2.
	Workers int
	// Setup makes the loops, one for each worker, and what ends them; end may be nil.
	Setup func() (loops []Loop, end func(), err error)
	// Pipeline says that the two loops are the two ends of one operation: n is then
	// counted once and not for each of them.
	Pipeline bool
}

// Result is what a scenario costs.
type Result struct {
	Name string
	// NsPerOp is the time of a batch by its operations: of the shortest one, or with
	// two workers of the lower quartile, since two that happen to miss each other are
	// faster than they could go on. The operations of both count: half the time of one
	// worker is what perfect scaling would give.
	NsPerOp float64
	// Quartile is the time of the lower quartile in any case. One worker and two are
	// to be compared by this.
	Quartile float64
	// AllocsPerOp is the number of heap allocations by operation.
	AllocsPerOp float64
	// Batches is how many batches counted.
	Batches int

	times []float64 // of the batches, ns by operation
}

// Plan says how long a run is.
type Plan struct {
	// Sittings is how often everything is set up anew: where things lie in memory
	// decides about what two cores pass to each other.
	Sittings int
	// Rounds is how many rounds a sitting has.
	Rounds int
	// Batches is how many batches of a scenario follow each other in a round.
	Batches int
	// Batch is about how long one takes, with one worker. Two need time to fall
	// into step: theirs is four times as long.
	Batch time.Duration
	// Progress, if not nil, is called after each round.
	Progress func(round, of int)
}

// DefaultPlan is long enough for a busy machine.
func DefaultPlan() Plan {
	return Plan{Sittings: 8, Rounds: 40, Batches: 4, Batch: 100 * time.Microsecond}
}

// minOverlap is the part of a batch in which both workers have to run.
const minOverlap = 0.7

// Run measures the scenarios and returns their results in the same order.
func Run(plan Plan, scenarios ...Scenario) ([]Result, error) {
	crew, err := newCrew()
	if err != nil {
		return nil, err
	}
	defer crew.dismiss()
	results := make([]Result, len(scenarios))
	for sitting := range plan.Sittings {
		if err := crew.sit(plan, sitting, scenarios, results); err != nil {
			return nil, err
		}
	}
	for i := range results {
		r := &results[i]
		if r.Batches = len(r.times); r.Batches == 0 {
			return nil, fmt.Errorf("measure: %s: in none of %d batches both workers ran at the same time; the machine is too busy, or has only one core for us",
				r.Name, plan.Sittings*plan.Rounds*plan.Batches)
		}
		slices.Sort(r.times)
		r.NsPerOp, r.Quartile = r.times[0], r.times[len(r.times)/4]
		if scenarios[i].Workers > 1 {
			r.NsPerOp = r.Quartile
		}
	}
	return results, nil
}

// sit sets the scenarios up, runs the rounds of one sitting and adds what they show
// to the results.
func (c *crew) sit(plan Plan, sitting int, scenarios []Scenario, results []Result) error {
	subjects := make([]*subject, len(scenarios))
	for i, s := range scenarios {
		sub, err := c.prepare(s, plan.Batch*time.Duration(s.Workers*s.Workers))
		if err != nil {
			return fmt.Errorf("measure: %s: %w", s.Name, err)
		}
		defer sub.end()
		subjects[i] = sub
	}
	for round := range plan.Rounds {
		for _, s := range subjects {
			for range plan.Batches {
				s.batch(c)
			}
		}
		if plan.Progress != nil {
			plan.Progress(sitting*plan.Rounds+round+1, plan.Sittings*plan.Rounds)
		}
	}
	for i, s := range subjects {
		if sitting == 0 {
			results[i] = s.Result
			continue
		}
		results[i].add(s.Result)
	}
	return nil
}

// add takes in the result of another sitting.
func (r *Result) add(s Result) {
	r.AllocsPerOp = min(r.AllocsPerOp, s.AllocsPerOp)
	r.times = append(r.times, s.times...)
}

// subject is a scenario under way.
type subject struct {
	Result
	loops    []Loop
	n        int // operations by batch and loop
	pipeline bool
	end      func()
}

// prepare sets a scenario up, warms it, counts its allocations and finds out how
// many operations make a batch.
func (c *crew) prepare(s Scenario, batch time.Duration) (*subject, error) {
	if s.Workers > len(c.workers) {
		return nil, fmt.Errorf("needs %d cores and GOMAXPROCS of at least %d; there are %d", s.Workers, s.Workers, len(c.workers))
	}
	loops, end, err := s.Setup()
	if err != nil {
		return nil, err
	}
	if len(loops) != s.Workers {
		return nil, fmt.Errorf("has %d loops for %d workers", len(loops), s.Workers)
	}
	if end == nil {
		end = func() {}
	}
	sub := &subject{loops: loops, n: 256, pipeline: s.Pipeline, end: end}
	sub.Name = s.Name
	shortest := time.Duration(math.MaxInt64)
	for range 5 {
		took, _ := c.run(sub.loops, sub.n)
		shortest = min(shortest, took)
	}
	sub.n = int(min(max(int64(batch)*int64(sub.n)/max(int64(shortest), 1), 64), 1<<17)) &^ 63
	sub.AllocsPerOp = sub.countAllocs(c)
	return sub, nil
}

// operations is how many operations a batch has.
func (s *subject) operations() float64 {
	if s.pipeline {
		return float64(s.n)
	}
	return float64(s.n * len(s.loops))
}

// batch runs one batch and keeps its time if all workers were at work at once.
func (s *subject) batch(c *crew) {
	took, overlap := c.run(s.loops, s.n)
	if overlap >= minOverlap {
		s.times = append(s.times, float64(took)/s.operations())
	}
}

// countAllocs returns the allocations by operation. What others allocate in
// between is less than one in a thousand.
func (s *subject) countAllocs(c *crew) float64 {
	fewest := math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.run(s.loops, s.n)
		runtime.ReadMemStats(&after)
		fewest = min(fewest, float64(after.Mallocs-before.Mallocs)/s.operations())
	}
	return math.Round(fewest*100) / 100
}
