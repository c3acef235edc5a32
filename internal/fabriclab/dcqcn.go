package fabriclab

import (
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// dcqcn: an incast of ten at 25 Gb/s over DCQCN, as the public HPCC simulations set it.
func dcqcn() []Experiment {
	return []Experiment{{
		Name:  "dcqcn/10",
		Setup: "One switch, 25 Gb/s, 1 us a hop, lossless, packets of 1 KiB; DCQCN and ECN of the public HPCC simulations. Ten hosts write to one in slices of 64 KiB for 20 ms. Lost is what the goodput is below the line.",
		Figures: []Figure{
			{"queue, peak", "kB", atMost(700)},
			{"queue, mean", "kB", Goal{}},
			{"lost", "%", atMost(5)},
		},
		Run: func(seed uint64, arm Arm) (Outcome, error) { return tenToOne(seed, arm, 20*time.Millisecond) },
	}}
}

func tenToOne(seed uint64, arm Arm, length time.Duration) (Outcome, error) {
	const rate, n = 25e9, 10
	out := newOutcome()
	b, err := newBed(seed, arm, fabric.Config{
		Topology: fabric.Star(n + 1), MTU: 1024, Link: fabric.LinkConfig{Rate: rate},
		DCQCN: fabric.DeploymentDCQCN(rate), Switch: fabric.SwitchConfig{ECN: fabric.DeploymentECN(rate)},
	}, DefaultSettings())
	if err != nil {
		return out, err
	}
	flows := b.streams(n, 0, slice64, time.Microsecond)
	port := b.Sim.NIC(0, 0).Link().B
	queue := b.watch("queue", "kB", 10*time.Microsecond, func() float64 { return float64(port.Queue()) / 1e3 })
	goodput := b.watchRate("goodput", 100*time.Microsecond, flows...)
	window := b.watchWindow("window of one", 100*time.Microsecond, flows[0])
	times := watchTimes(flows...)
	b.Sim.Run(length)
	out.Values["queue, peak"] = float64(port.Stats().Peak) / 1e3
	out.Values["queue, mean"] = queue.mean(0, length)
	out.Values["lost"] = 100 * (1 - goodput.mean(0, length)/b.lineGb())
	out.Series = []*Series{queue, goodput, window}
	out.Times = thin(*times)
	return out, b.Finish()
}
