package fabriclab

import (
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// healthy: traffic that needs no control.
func healthy() []Experiment {
	figures := []Figure{
		{"goodput", "% of none", atLeast(99)},
		{"slice time, p99", "x none", atMost(1.02)},
		{"goodput, absolute", "% of line", Goal{}},
	}
	const text = "Fat tree of 16 hosts, 100 Gb/s, 1 us a hop, lossless. "
	const rest = " transfers of 4 MiB in slices of 64 KiB, two at a time, for 20 ms. A slice's time begins when its transfer is handed over."
	return []Experiment{
		{
			Name: "healthy/single", Figures: figures,
			Setup: text + "One host writes to another in another pod:" + rest,
			Run: func(seed uint64, arm Arm) (Outcome, error) {
				return againstNone(seed, arm, func(b *Bed) [][2]int { return [][2]int{{15, 0}} })
			},
		},
		{
			Name: "healthy/permutation", Figures: figures,
			Setup: text + "Each host writes to another one, at random:" + rest,
			Run: func(seed uint64, arm Arm) (Outcome, error) {
				return againstNone(seed, arm, func(b *Bed) (pairs [][2]int) {
					order := b.random.Perm(b.Sim.Hosts()) // a ring in random order
					for i, h := range order {
						pairs = append(pairs, [2]int{h, order[(i+1)%len(order)]})
					}
					return pairs
				})
			},
		},
	}
}

// healthyRun is what flows without any need of control had.
type healthyRun struct {
	goodput float64 // Gb/s a flow
	p99     time.Duration
	line    float64
	rate    *Series
	times   []time.Duration
}

func againstNone(seed uint64, arm Arm, pairs func(*Bed) [][2]int) (Outcome, error) {
	out := newOutcome()
	none, err := calm(seed, None(), pairs)
	if err != nil {
		return out, err
	}
	mine, err := calm(seed, arm, pairs)
	if err != nil {
		return out, err
	}
	out.Values["goodput"] = 100 * mine.goodput / none.goodput
	out.Values["slice time, p99"] = mine.p99.Seconds() / none.p99.Seconds()
	out.Values["goodput, absolute"] = 100 * mine.goodput / mine.line
	out.Series = []*Series{mine.rate}
	out.Times = mine.times
	return out, nil
}

func calm(seed uint64, arm Arm, pairs func(*Bed) [][2]int) (r healthyRun, err error) {
	const length = 20 * time.Millisecond
	b, err := newBed(seed, arm, fabric.Config{Topology: fabric.FatTree(4)}, DefaultSettings())
	if err != nil {
		return r, err
	}
	var flows []*Flow
	for _, p := range pairs(b) {
		f := b.Flow(p[0], p[1], fabric.Write)
		f.times = []time.Duration{}
		flows = append(flows, f)
		var next func(time.Duration)
		next = func(now time.Duration) {
			if now < length {
				f.Transfer(4*mib, slice64, next)
			}
		}
		for range 2 {
			b.Sim.At(time.Duration(b.random.Int64N(int64(20*time.Microsecond))), func() { next(0) })
		}
	}
	r.rate = b.watchRate("goodput of all", 100*time.Microsecond, flows...)
	b.Sim.Run(length)
	r.line = b.lineGb()
	r.goodput = r.rate.mean(0, length) / float64(len(flows))
	err = b.FinishTransfers(time.Second)
	for _, f := range flows {
		r.times = append(r.times, f.times...)
	}
	r.p99 = quantile(r.times, 0.99)
	r.times = thin(r.times)
	return r, err
}
