package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// recoveries: 16 flows share a link, then 15 of them stop.
func recoveries() (all []Experiment) {
	for _, length := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond} {
		all = append(all, Experiment{
			Name:  fmt.Sprintf("recovery/%v", length),
			Setup: fmt.Sprintf("One switch, 100 Gb/s, 1 us a hop, lossless, 32 MiB. 16 hosts write to one in slices of 64 KiB; after %v 15 of them hand over no more. Counted until the first ms in which the other one has 95 %% of the line, at most 200 ms.", length),
			Figures: []Figure{
				{"95 % of the line after", "ms", atMost(5)},
				{"window then", "KiB", Goal{}},
			},
			Run: func(seed uint64, arm Arm) (Outcome, error) { return recovery(seed, arm, length) },
		})
	}
	return all
}

func recovery(seed uint64, arm Arm, length time.Duration) (Outcome, error) {
	const (
		n     = 16
		bin   = 100 * time.Microsecond
		limit = 200 * time.Millisecond
	)
	out := newOutcome()
	b, err := newBed(seed, arm, fabric.Config{Topology: fabric.Star(n + 1)}, DefaultSettings())
	if err != nil {
		return out, err
	}
	flows := b.streams(n, 0, slice64, 10*time.Microsecond)
	rate, window := b.watchRate("flow 1", bin, flows[0]), b.watchWindow("window 1", bin, flows[0])
	b.Sim.Run(length)
	out.Values["window then"] = flows[0].window() / float64(kib)
	for _, f := range flows[1:] {
		f.Stop()
	}
	for b.Sim.Now() < length+limit && b.err == nil {
		b.Sim.Run(b.Sim.Now() + bin)
		from := b.Sim.Now() - time.Millisecond
		if from >= length && rate.mean(from, b.Sim.Now()) >= 0.95*b.lineGb() {
			break
		}
	}
	out.Values["95 % of the line after"] = (b.Sim.Now() - time.Millisecond - length).Seconds() * 1e3
	out.Series = []*Series{rate, window}
	return out, b.Finish()
}
