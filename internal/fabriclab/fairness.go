package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// fairBin is the time over which shares are compared.
const fairBin = time.Millisecond

// fairness: flows that meet on one link at 100 Gb/s.
func fairness() (all []Experiment) {
	for _, c := range []struct {
		name, text string
		joiners    int
		join       time.Duration
		large      bool
	}{
		{"equal", "Two flows begin at once with the start window.", 1, 0, false},
		{"join", "One flow runs; after 20 ms another joins with the start window.", 1, 20 * time.Millisecond, false},
		{"join-7", "One flow runs; after 20 ms seven others join with the start window.", 7, 20 * time.Millisecond, false},
		{"64MiB", "A flow with a window of 64 MiB begins; after 1 ms another joins with the minimum window. How the windows came to be, only the controllers saw.", 1, time.Millisecond, true},
	} {
		all = append(all, Experiment{
			Name:  "fairness/" + c.name,
			Setup: fmt.Sprintf("One switch, 100 Gb/s, 1 us a hop, lossless, 32 MiB. Hosts write to one in slices of 64 KiB. %s Shares in bins of 1 ms for %v after that.", c.text, fairLength),
			Figures: []Figure{
				{"Jain, least from 5 to 15 ms", "", atLeast(0.95)},
				{"Jain of 0.95 for good after", "ms", atMost(5)},
				{"use, from 5 to 15 ms", "%", Goal{}},
			},
			Run: func(seed uint64, arm Arm) (Outcome, error) { return meet(seed, arm, c.joiners, c.join, c.large) },
		})
	}
	return all
}

// fairLength is how long shares are looked at.
const fairLength = 50 * time.Millisecond

func meet(seed uint64, arm Arm, joiners int, join time.Duration, large bool) (Outcome, error) {
	out := newOutcome()
	settings := DefaultSettings()
	if large {
		settings.Depth = 2048 // or send queues are the limit
	}
	b, err := newBed(seed, arm, fabric.Config{Topology: fabric.Star(joiners + 2)}, settings)
	if err != nil {
		return out, err
	}
	var rates []*Series
	for i := range joiners + 1 {
		f := b.Flow(1+i, 0, fabric.Write)
		begins := time.Duration(b.random.Int64N(int64(10 * time.Microsecond)))
		switch {
		case i > 0:
			begins += join
			if large {
				b.preload(f, 64*kib)
			}
		case large:
			b.preload(f, 64*mib)
		}
		b.Sim.At(begins, func() { f.Stream(slice64) })
		rates = append(rates, b.watchRate(fmt.Sprint("flow ", i+1), fairBin, f))
		out.Series = append(out.Series, rates[i], b.watchWindow(fmt.Sprint("window ", i+1), 100*time.Microsecond, f))
	}
	b.Sim.Run(join + fairLength)

	index := &Series{Name: "Jain's index", Every: fairBin}
	var used []float64
	unfair := join
	for bin := range rates[0].Values {
		var x []float64
		sum := 0.0
		for _, r := range rates {
			x = append(x, r.Values[bin])
			sum += r.Values[bin]
		}
		index.Values = append(index.Values, jain(x))
		used = append(used, 100*sum/b.lineGb())
		if end := time.Duration(bin+1) * fairBin; end > join && jain(x) < 0.95 {
			unfair = end
		}
	}
	from, until := join+5*time.Millisecond, join+15*time.Millisecond
	out.Values["Jain, least from 5 to 15 ms"] = index.least(from, until)
	out.Values["Jain of 0.95 for good after"] = (unfair - join).Seconds() * 1e3
	out.Values["use, from 5 to 15 ms"] = (&Series{Every: fairBin, Values: used}).mean(from, until)
	out.Series = append(out.Series, index)
	return out, b.Finish()
}
