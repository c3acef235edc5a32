package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// mixes: large slices and small ones want room in the same window.
func mixes() (all []Experiment) {
	for _, c := range []struct {
		name, text string
		rate       int64
		device     bool
		length     time.Duration
	}{
		{"route-100", "100 Gb/s, one peer.", 100e9, false, 100 * time.Millisecond},
		{"route-10", "10 Gb/s, one peer.", 10e9, false, 500 * time.Millisecond},
		{"device-100", "100 Gb/s, a peer for each queue; controllers have a device window of 1 MiB.", 100e9, true, 100 * time.Millisecond},
		{"device-10", "10 Gb/s, a peer for each queue; controllers have a device window of 1 MiB.", 10e9, true, 500 * time.Millisecond},
	} {
		all = append(all, Experiment{
			Name:  "mix/" + c.name,
			Setup: fmt.Sprintf("One switch, 1 us a hop. A host writes without end from five queues in turn, one with slices of 1 MiB, four with slices of 64 KiB, for %v. %s A slice waits behind smaller ones from its first refusal until the last smaller one is admitted before it; one that still waits at the end counts. A drain time is what was posted then by the line's rate.", c.length, c.text),
			Figures: []Figure{
				{"behind smaller ones, longest", "drain times", atMost(2)},
				{"behind smaller ones, longest in ms", "ms", Goal{}},
				{"any wait, longest", "ms", Goal{}},
				{"large slices", "% of bytes", Goal{}},
				{"use", "%", Goal{}},
			},
			Run: func(seed uint64, arm Arm) (Outcome, error) { return mix(seed, arm, c.rate, c.device, c.length) },
		})
	}
	return all
}

func mix(seed uint64, arm Arm, rate int64, device bool, length time.Duration) (Outcome, error) {
	const small, sample = 4, 10 * time.Microsecond
	out := newOutcome()
	if device && arm.Config != nil {
		cfg := *arm.Config
		cfg.DeviceWindowBytes = max(mib, cfg.StartWindowBytes)
		arm.Config = &cfg
	}
	b, err := newBed(seed, arm, fabric.Config{Topology: fabric.Star(2 + small), Link: fabric.LinkConfig{Rate: rate}}, DefaultSettings())
	if err != nil {
		return out, err
	}
	peer := func(i int) int {
		if device {
			return 1 + i
		}
		return 1
	}
	large := b.Flow(0, peer(0), fabric.Write)
	large.waits = []wait{}
	landed := map[int64]float64{}
	for i := range 1 + small {
		f, size := large, mib
		if i > 0 {
			f, size = b.Flow(0, peer(i), fabric.Write), slice64
		}
		f.watch = func(s *slice, _ time.Duration) { landed[size] += float64(s.bytes) }
		b.Sim.At(time.Duration(1+b.random.Int64N(int64(10*time.Microsecond))), func() { f.Stream(size) })
	}
	posted := b.watchPosted(sample)
	window := b.watchWindow("window to the peer of the large ones", sample, large)
	b.Sim.Run(length)
	var behind, times, any float64
	for _, w := range large.waited(length) {
		any = max(any, millis(w.until-w.from))
		if w.overtaken == 0 {
			continue
		}
		drain := posted.mean(w.from, max(w.until, w.from+2*sample)) * 1e6 / b.line()
		behind = max(behind, millis(w.overtaken-w.from))
		times = max(times, (w.overtaken-w.from).Seconds()/drain)
	}
	all := landed[mib] + landed[slice64]
	out.Values["behind smaller ones, longest"] = times
	out.Values["behind smaller ones, longest in ms"] = behind
	out.Values["any wait, longest"] = any
	out.Values["large slices"] = 100 * landed[mib] / all
	out.Values["use"] = 100 * all / b.line() / length.Seconds()
	out.Series = []*Series{posted, window}
	return out, b.Finish()
}

func millis(d time.Duration) float64 { return d.Seconds() * 1e3 }
