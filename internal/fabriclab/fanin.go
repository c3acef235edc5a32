package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// fanIns: how what is under way grows with the number of senders.
func fanIns() (all []Experiment) {
	for _, n := range []int{2, 8, 32, 128, 512, 1024} {
		all = append(all, Experiment{
			Name:  fmt.Sprintf("fanin/%d", n),
			Setup: fmt.Sprintf("One switch, 100 Gb/s, 1 us a hop, lossless, 32 MiB and headroom. %d hosts write to one in slices of 64 KiB, send queues of 16, for 500 ms, of which the last fifth counts. The floor is a slice for each.", n),
			Figures: []Figure{
				{"posted beyond BDP", "x floor", Goal{}},
				{"in the fabric beyond BDP", "x floor", atMost(1)},
				{"in the fabric", "MB", Goal{}},
				{"use", "%", atLeast(99)},
			},
			Run:  func(seed uint64, arm Arm) (Outcome, error) { return fanIn(seed, arm, n, 500*time.Millisecond) },
			Long: n > 100,
		})
	}
	return all
}

func fanIn(seed uint64, arm Arm, n int, length time.Duration) (Outcome, error) {
	late := length - length/5
	out := newOutcome()
	settings := DefaultSettings()
	settings.Depth = 16
	const share = 32 << 20
	b, err := newBed(seed, arm, fabric.Config{
		Topology: fabric.Star(n + 1), Switch: fabric.SwitchConfig{Buffer: share + int64(n+1)*100_000},
	}, settings)
	if err != nil {
		return out, err
	}
	flows := b.streams(n, 0, slice64, 100*time.Microsecond)
	every := 100 * time.Microsecond
	inside, posted := b.watchFabric(every), b.watchPosted(every)
	rate := b.watchRate("goodput", time.Millisecond, flows...)
	product := float64(flows[0].routes[0].product) / 1e6
	window := b.watchWindow("window of one", every, flows[0])
	b.Sim.Run(length)
	floor := float64(n) * float64(slice64) / 1e6
	out.Values["posted beyond BDP"] = (posted.mean(late, length) - product) / floor
	out.Values["in the fabric beyond BDP"] = (inside.mean(late, length) - product) / floor
	out.Values["in the fabric"] = inside.mean(late, length)
	out.Values["use"] = 100 * rate.mean(late, length) / b.lineGb()
	out.Series = []*Series{inside, posted, rate, window}
	return out, b.Finish()
}
