package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// longIncasts: 64 senders that never end, into one at 400 Gb/s.
func longIncasts() []Experiment {
	const n = 64
	var all []Experiment
	for _, length := range []time.Duration{30 * time.Millisecond, 400 * time.Millisecond} {
		all = append(all, Experiment{
			Name:  fmt.Sprintf("incast400/%v", length),
			Setup: fmt.Sprintf("One switch, 400 Gb/s, 1 us a hop, lossless, 128 MiB. %d hosts write to one in slices of 64 KiB for %v. After the first ms; late is the last third.", n, length),
			Figures: []Figure{
				{"in the fabric, mean", "MB", atMost(8)},
				{"in the fabric, peak", "MB", atMost(8)},
				{"in the fabric, late mean", "MB", Goal{}},
				{"posted, mean", "MB", Goal{}},
				{"use", "%", atLeast(99)},
				{"late use", "%", Goal{}},
				{"drain time, p99", "us", Goal{}},
			},
			Run: func(seed uint64, arm Arm) (Outcome, error) { return longIncast(seed, arm, n, length) },
		})
	}
	return all
}

func longIncast(seed uint64, arm Arm, n int, length time.Duration) (Outcome, error) {
	out := newOutcome()
	b, err := newBed(seed, arm, fabric.Config{Topology: fabric.Star(n + 1), Link: fabric.LinkConfig{Rate: 400e9}}, DefaultSettings())
	if err != nil {
		return out, err
	}
	flows := b.streams(n, 0, slice64, 10*time.Microsecond)
	every := 10 * time.Microsecond
	inside, posted := b.watchFabric(every), b.watchPosted(every)
	rate := b.watchRate("goodput", 100*time.Microsecond, flows...)
	window := b.watchWindow("window of one", 100*time.Microsecond, flows[0])
	var times []time.Duration
	for _, f := range flows {
		f.watch = func(s *slice, now time.Duration) {
			if now > time.Millisecond {
				times = append(times, now-s.postedAt)
			}
		}
	}
	b.Sim.Run(length)
	const warm = time.Millisecond
	late := length - length/3
	out.Values["in the fabric, mean"] = inside.mean(warm, length)
	out.Values["in the fabric, peak"] = inside.peak(warm, length)
	out.Values["in the fabric, late mean"] = inside.mean(late, length)
	out.Values["posted, mean"] = posted.mean(warm, length)
	out.Values["use"] = 100 * rate.mean(warm, length) / b.lineGb()
	out.Values["late use"] = 100 * rate.mean(late, length) / b.lineGb()
	out.Values["drain time, p99"] = quantile(times, 0.99).Seconds() * 1e6
	out.Series = []*Series{inside, posted, rate, window}
	out.Times = thin(times)
	return out, b.Finish()
}

// streams has n hosts, from number 1 on, write to host 0 without end. They begin at
// random times within spread.
func (b *Bed) streams(n, to int, size int64, spread time.Duration) (flows []*Flow) {
	for i := range n {
		f := b.Flow(1+i, to, fabric.Write)
		b.Sim.At(time.Duration(b.random.Int64N(int64(spread))), func() { f.Stream(size) })
		flows = append(flows, f)
	}
	return flows
}
