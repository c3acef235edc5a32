package twohost

import (
	"context"
	"errors"
	"math"
	"time"
)

// Comparison is two arms that ran side by side, so that whatever else the machine did
// meanwhile hit both: the bandwidth of each, in bytes per second, by second.
type Comparison struct {
	Op    string
	Arms  [2]string
	Rates [2][]float64
}

// Ratio is the bandwidth of the first arm to that of the second.
func (c Comparison) Ratio() float64 { return sum(c.Rates[0]) / sum(c.Rates[1]) }

// Error is the standard error of the ratio, as far as its seconds tell.
func (c Comparison) Error() float64 {
	n, ratio := float64(len(c.Rates[0])), c.Ratio()
	square := 0.0
	for i, first := range c.Rates[0] {
		off := first - ratio*c.Rates[1][i]
		square += off * off
	}
	return math.Sqrt(square/(n-1)*n) / sum(c.Rates[1])
}

func sum(list []float64) (total float64) {
	for _, v := range list {
		total += v
	}
	return total
}

// Compare has two arms run the same load at the same time, when they know the dead
// pairs.
func (b *Bed) Compare(ctx context.Context, n Numbers, l Load, arms [2]Arm) (c Comparison, err error) {
	c.Op, c.Arms = l.Op.String(), [2]string{arms[0].Name, arms[1].Name}
	first, err := b.startLearned(ctx, arms[0], n, l)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, first.Close()) }()
	second, err := b.startLearned(ctx, arms[1], n, l)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, second.Close()) }()
	// The first begins a little earlier and ends a little later.
	var inner Run
	outer, err := first.during(ctx, l, func(ctx context.Context) (err error) {
		inner, err = second.Run(ctx, l)
		return err
	})
	if err != nil {
		return c, err
	}
	for at := inner.Begin; at+time.Second <= inner.End; at += time.Second {
		for i, run := range []Run{outer, inner} {
			c.Rates[i] = append(c.Rates[i], run.Rate(at, at+time.Second))
		}
	}
	return c, nil
}

// startLearned starts an arm and runs the load until it knows the dead pairs.
func (b *Bed) startLearned(ctx context.Context, a Arm, n Numbers, l Load) (*Session, error) {
	s, err := b.Start(ctx, a, n)
	if err != nil || a.Perfect {
		return s, err
	}
	_, err = s.during(ctx, l, func(ctx context.Context) error { return s.Learned(ctx, 30*n.Timeout()) })
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
