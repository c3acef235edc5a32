package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/fabric"
)

// diversionRate is the line's rate, low for the sake of long runs.
const diversionRate = 2500e6

// diversions: paths that are congested, but work.
func diversions() (all []Experiment) {
	for _, c := range []struct {
		name string
		weather
	}{
		{"congested", congested},
		{"storms", congested.with(40 * time.Millisecond)},
		{"long-storms", congested.with(100 * time.Millisecond)},
	} {
		text := fmt.Sprintf("2.5 Gb/s. A host writes to %d others without end, in slices of 64 KiB. To each of them %d more write, for %v at a time and as long not, on average.", c.receivers, c.others, c.busy)
		if c.storms > 0 {
			text += fmt.Sprintf(" One receiver takes half of the line; each one takes a hundredth for %v to %v, once in %v on average.", stormLeast, c.longest, c.storms)
		}
		figures := []Figure{
			{"SUSPECT or QUARANTINED", "transitions", atMost(0)},
			{"lost slices", "", atMost(0)},
			{"slice time, median", "ms", Goal{}},
			{"slice time, p99", "ms", Goal{}},
			{"goodput", "% of line", Goal{}},
		}
		all = append(all, Experiment{
			Name:    "diversion/" + c.name,
			Setup:   "One switch, 1 us a hop, lossless. " + text + fmt.Sprintf(" For %v, packet by packet. The transitions are those of all senders.", diversionLength),
			Figures: figures,
			Run: func(seed uint64, arm Arm) (Outcome, error) {
				return diversion(seed, arm, c.weather, diversionLength)
			},
		})
		hour := append([]Figure{{"SUSPECT or QUARANTINED", "transitions", atMost(1)}}, figures[2:]...)
		all = append(all, Experiment{
			Name:    "diversion/" + c.name + "-hour",
			Setup:   "A model of slices and queues, without packets and pauses; the others have a start window each with their receiver. " + text + " For an hour. The controller of the one host alone.",
			Figures: hour,
			Gated:   true,
			Long:    true,
			Run:     func(seed uint64, arm Arm) (Outcome, error) { return hourOf(seed, arm, c.weather, time.Hour) },
		})
	}
	return all
}

const diversionLength = 10 * time.Second

func diversion(seed uint64, arm Arm, w weather, length time.Duration) (Outcome, error) {
	out := newOutcome()
	b, err := newBed(seed, arm, fabric.Config{
		Topology: fabric.Star(1 + w.receivers*(1+w.others)), Link: fabric.LinkConfig{Rate: diversionRate},
	}, DefaultSettings())
	if err != nil {
		return out, err
	}
	var flows []*Flow
	for i := range w.receivers {
		receiver := 1 + i
		f := b.Flow(0, receiver, fabric.Write)
		b.Sim.At(time.Duration(1+b.random.Int64N(int64(time.Millisecond))), func() { f.Stream(slice64) })
		flows = append(flows, f)
		for j := range w.others {
			other := b.Flow(1+w.receivers+i*w.others+j, receiver, fabric.Write)
			b.alternate(func(bool) time.Duration { return w.spell(b.random) }, func(on bool) {
				if other.Stop(); on {
					other.Stream(slice64)
				}
			})
		}
		nic := b.Sim.NIC(receiver, 0)
		take := func(storm bool) {
			if nic.Drain(0); w.share(i, storm) < 1 {
				nic.Drain(int64(w.share(i, storm) * diversionRate))
			}
		}
		take(false)
		if w.storms > 0 {
			b.alternate(func(on bool) time.Duration { return w.storm(b.random, on) }, take)
		}
	}
	times := watchTimes(flows...)
	rate := b.watchRate("goodput", 10*time.Millisecond, flows...)
	posted := b.watchPosted(10 * time.Millisecond)
	window := b.watchWindow("window to one", 10*time.Millisecond, flows[0])
	b.Sim.Run(length)
	out.Moves = b.moves
	if arm.Config != nil {
		out.Values["SUSPECT or QUARANTINED"] = diverted(b.moves)
	}
	out.Values["lost slices"] = float64(b.failures)
	out.Values["slice time, median"] = millis(quantile(*times, 0.5))
	out.Values["slice time, p99"] = millis(quantile(*times, 0.99))
	out.Values["goodput"] = 100 * rate.mean(0, length) / b.lineGb()
	out.Times = thin(*times)
	out.Series = []*Series{rate, posted, window}
	for i := range w.receivers {
		b.Sim.NIC(1+i, 0).Drain(0)
	}
	return out, b.Finish()
}

// alternate has do called with true and false in turn until the run ends, first after a
// spell of false.
func (b *Bed) alternate(spell func(on bool) time.Duration, do func(on bool)) {
	on := false
	var turn func()
	turn = func() {
		if !b.ending {
			on = !on
			do(on)
			b.Sim.After(spell(on), turn)
		}
	}
	b.Sim.After(spell(false), turn)
}

// diverted counts the moves that have users take another path.
func diverted(moves []Move) (n float64) {
	for _, m := range moves {
		if m.From != m.To && (m.To == cc.Suspect || m.To == cc.Quarantined) {
			n++
		}
	}
	return n
}
