package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// result is what an experiment gave.
type result struct {
	experiment fabriclab.Experiment
	seeds      int // that are complete
	arms       []armResult
}

// armResult is what it gave with one arm, a run a seed. Only the first run has its
// series and moves.
type armResult struct {
	arm  fabriclab.Arm
	runs []fabriclab.Outcome
	took time.Duration
}

// measure runs an experiment seed by seed, each with all arms. If it is interrupted or
// fails, the result has the seeds that are complete.
func measure(ctx context.Context, e fabriclab.Experiment, o *options, p *progress) (result, error) {
	r := result{experiment: e}
	for _, arm := range o.asked(e) {
		r.arms = append(r.arms, armResult{arm: arm})
	}
	for seed := range uint64(o.seeds) {
		var outs []fabriclab.Outcome
		for i := range r.arms {
			a := &r.arms[i]
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			p.show(e, a.arm.Name, seed, o.seeds)
			began := time.Now()
			out, err := e.Run(o.first+seed, a.arm)
			if err != nil {
				return r, fmt.Errorf("%s: %w", e.Name, err)
			}
			a.took += time.Since(began)
			p.done(e, time.Since(began))
			if seed > 0 {
				out.Series, out.Moves, out.Marks = nil, nil, nil
			}
			outs = append(outs, out)
		}
		for i, out := range outs {
			r.arms[i].runs = append(r.arms[i].runs, out)
		}
		r.seeds++
	}
	return r, nil
}

// spread is a figure over all seeds.
type spread struct{ median, least, most float64 }

// spread returns false if the arm has no such figure.
func (a armResult) spread(figure string) (spread, bool) {
	var v []float64
	for _, o := range a.runs {
		if x, ok := o.Values[figure]; ok {
			v = append(v, x)
		}
	}
	n := len(v)
	if n == 0 {
		return spread{}, false
	}
	slices.Sort(v)
	return spread{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}, true
}

// times returns the slice times of all seeds in order.
func (a armResult) times() (all []time.Duration) {
	for _, o := range a.runs {
		all = append(all, o.Times...)
	}
	slices.Sort(all)
	return all
}
