package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// result is what an experiment gave.
type result struct {
	experiment fabriclab.Experiment
	arms       []armResult
}

// armResult is what it gave with one arm, a run a seed.
type armResult struct {
	name string
	runs []fabriclab.Outcome
	took time.Duration
}

// measure runs an experiment with all arms and seeds.
func measure(ctx context.Context, e fabriclab.Experiment, o *options, progress io.Writer) (result, error) {
	r := result{experiment: e}
	for _, arm := range o.arms {
		began := time.Now()
		a := armResult{name: arm.Name}
		for seed := range uint64(o.seeds) {
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			fmt.Fprintf(progress, "\r%s: %s, seed %d of %d \x1b[K", e.Name, arm.Name, seed+1, o.seeds)
			out, err := e.Run(o.first+seed, arm)
			if err != nil {
				return r, fmt.Errorf("%s: %w", e.Name, err)
			}
			a.runs = append(a.runs, out)
		}
		a.took = time.Since(began)
		r.arms = append(r.arms, a)
	}
	fmt.Fprint(progress, "\r\x1b[K")
	return r, nil
}

// spread is a figure over all seeds.
type spread struct{ median, least, most float64 }

func (a armResult) spread(figure string) spread {
	var v []float64
	for _, o := range a.runs {
		x, ok := o.Values[figure]
		if !ok {
			panic("no figure " + figure)
		}
		v = append(v, x)
	}
	slices.Sort(v)
	n := len(v)
	return spread{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}
