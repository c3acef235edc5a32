package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// slowReceivers: a host that takes what it receives at half the rate of the line, among
// others that do not.
func slowReceivers() (all []Experiment) {
	for _, length := range []time.Duration{30 * time.Millisecond, 500 * time.Millisecond} {
		all = append(all, Experiment{
			Name:  fmt.Sprintf("slowreceiver/%v", length),
			Setup: fmt.Sprintf("One switch, 100 Gb/s, 1 us a hop, lossless, 32 MiB. Four hosts write to one that takes 50 Gb/s, and each to a host of its own: fair are 12.5 and 87.5 Gb/s. Slices of 64 KiB for %v, of which the last third counts.", length),
			Figures: []Figure{
				{"other flows", "% of fair", atLeast(97)},
				{"flows to the slow one", "% of fair", Goal{}},
				{"posted to the slow one", "MB", Goal{}},
			},
			Run: func(seed uint64, arm Arm) (Outcome, error) { return slowReceiver(seed, arm, length) },
		})
	}
	return all
}

func slowReceiver(seed uint64, arm Arm, length time.Duration) (Outcome, error) {
	const n, drain = 4, 50e9
	out := newOutcome()
	b, err := newBed(seed, arm, fabric.Config{Topology: fabric.Star(1 + 2*n)}, DefaultSettings())
	if err != nil {
		return out, err
	}
	b.Sim.NIC(0, 0).Drain(drain)
	slow := b.streams(n, 0, slice64, 10*time.Microsecond)
	var others []*Flow
	for i := range n {
		f := b.Flow(1+i, 1+n+i, fabric.Write)
		b.Sim.At(time.Duration(b.random.Int64N(int64(10*time.Microsecond))), func() { f.Stream(slice64) })
		others = append(others, f)
	}
	every := 100 * time.Microsecond
	slowRate, otherRate := b.watchRate("to the slow one", every, slow...), b.watchRate("others", every, others...)
	posted := b.watch("posted to the slow one", "MB", every, func() (bytes float64) {
		for _, f := range slow {
			bytes += float64(f.routes[0].out) / 1e6
		}
		return bytes
	})
	window := b.watchWindow("window to the slow one", every, slow[0])
	times := watchTimes(others...)
	b.Sim.Run(length)
	late := length - length/3
	fairSlow := b.lineGb() * drain / 100e9
	fairOthers := n*b.lineGb() - fairSlow
	out.Values["other flows"] = 100 * otherRate.mean(late, length) / fairOthers
	out.Values["flows to the slow one"] = 100 * slowRate.mean(late, length) / fairSlow
	out.Values["posted to the slow one"] = posted.mean(late, length)
	out.Times = thin(*times)
	out.Series = []*Series{slowRate, otherRate, posted, window}
	return out, b.Finish()
}
