package chaos

import (
	"context"
	"time"
)

// simWarm is how long the load of a simulated round runs before the faults.
const simWarm = 300 * time.Millisecond

// Simulate runs a schedule on a simulated fabric of its own. Call it in a bubble of
// testing/synctest.
func Simulate(ctx context.Context, plan Schedule) (Result, error) {
	return simulate(ctx, plan, Options{Seed: plan.Seed})
}

func simulate(ctx context.Context, plan Schedule, o Options) (r Result, err error) {
	bed, err := NewSimBed(plan.Setup)
	if err != nil {
		return r, err
	}
	s, err := Start(ctx, bed, plan.Setup, o)
	if err != nil {
		return r, err
	}
	if err = s.Warm(ctx, plan, simWarm); err == nil {
		r, err = s.Round(ctx, plan)
	}
	if bad := s.Close(); bad != nil && !r.Failed() {
		r.Broken = append(r.Broken, Broken{Flight, Duration(r.Took), bad.Error()})
	}
	return r, err
}
