package chaos

import (
	"context"
	"errors"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// simWarm is how long the load of a simulated round runs before the faults.
const simWarm = 300 * time.Millisecond

// Simulate runs a schedule on a simulated fabric of its own. Call it in a bubble of
// testing/synctest. near is for tests; nil leaves the NICs as they are.
func Simulate(ctx context.Context, plan Schedule, near func(fabric.Host) fabric.Host) (r Result, err error) {
	bed, err := NewSimBed(plan.Setup)
	if err != nil {
		return r, err
	}
	s, err := Start(ctx, bed, plan.Setup, Options{Near: near, Seed: plan.Seed})
	if err != nil {
		return r, err
	}
	if err = s.Warm(ctx, plan, simWarm); err == nil {
		r, err = s.Round(ctx, plan)
	}
	return r, errors.Join(err, s.Close())
}
