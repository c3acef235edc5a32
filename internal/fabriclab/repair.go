package fabriclab

import (
	"fmt"
	"time"
)

// outage is how long a rail stays dead.
type outage struct {
	name        string
	rate        int64
	least, most time.Duration
	limit       time.Duration // how long users are waited for
}

// repairs: a dead rail works again.
func repairs() (all []Experiment) {
	short := outage{"", 10e9, 2 * time.Second, 4 * time.Second, 5 * time.Second}
	long := outage{"-long", 100e6, 35 * time.Second, 50 * time.Second, 200 * time.Second}
	for _, c := range []struct {
		fault fault
		outage
	}{{peerFault, short}, {portFault, short}, {lostFault, short}, {peerFault, long}, {portFault, long}} {
		e := Experiment{
			Name:  "repair/" + c.fault.name + c.name,
			Setup: fmt.Sprintf("%sAfter 200 to 300 ms %s; after %v to %v it works again, told as the fault was. Probes by default: each 0.8 to 1.2 s.", twoRailsText, c.fault.text, c.least, c.most),
			Figures: []Figure{
				{"user slices again after", "s", atMost(1)},
				{"lost slices", "", Goal{}},
			},
			Run: func(seed uint64, arm Arm) (Outcome, error) { return repair(seed, arm, c.fault, c.outage) },
		}
		if c.rate != short.rate {
			e.Setup += fmt.Sprintf(" Here the rate is %d Mb/s.", c.rate/1e6)
		}
		all = append(all, e)
	}
	return all
}

func repair(seed uint64, arm Arm, f fault, o outage) (Outcome, error) {
	out := newOutcome()
	t, err := newTwoRails(seed, arm, o.rate, false)
	if err != nil {
		return out, err
	}
	died := 200*time.Millisecond + time.Duration(t.random.Int64N(int64(100*time.Millisecond)))
	mended := died + o.least + time.Duration(t.random.Int64N(int64(o.most-o.least)))
	var again time.Duration
	t.flow.watch = func(s *slice, now time.Duration) {
		if now > mended && again == 0 && s.endpoint.route == t.dying {
			again = now
			t.Sim.Stop()
		}
	}
	rate := t.watchRate("goodput to the peer", 5*time.Millisecond*time.Duration(10e9/o.rate), t.flow)
	t.Sim.Run(died)
	t.die(f)
	t.Sim.Run(mended)
	t.mend(f)
	t.Sim.Run(mended + o.limit)
	if again == 0 {
		again = mended + o.limit
	}
	out.Marks = []Mark{{died, "death"}, {mended, "repair"}}
	out.Values["user slices again after"] = (again - mended).Seconds()
	out.Values["lost slices"] = float64(t.failures)
	t.Sim.Run(again + 200*time.Millisecond)
	out.Series = []*Series{rate}
	out.Moves = t.moves
	return out, t.Finish()
}
