package main

import (
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// outcome is what an arm did in a round.
type outcome struct {
	Figures map[string]float64 `json:",omitempty"`
	// Times are those of slices from post to completion, where they are to be pooled.
	Times  []time.Duration `json:",omitempty"`
	Series []series        `json:",omitempty"`
	Marks  []mark          `json:",omitempty"`
	End    *end            `json:",omitempty"`
	// Wrong of Checked transfers or slices were reported as complete without all of
	// their data.
	Checked, Wrong int      `json:",omitempty"`
	Notes          []string `json:",omitempty"`
}

// series is a quantity over time.
type series struct {
	Name, Unit string
	At         []time.Duration
	Values     []float64
}

// mark is something that was done to the fabric.
type mark struct {
	At   time.Duration
	Text string
}

// end is what the controller held when everything was settled. Refusals in mode observe
// are those that enforce would have given.
type end struct {
	Mode     string
	InFlight int64
	States   map[string]int
	Refusals map[string]uint64
}

func newEnd(snapshots []cc.Snapshot) *end {
	e := &end{States: map[string]int{}, Refusals: map[string]uint64{}}
	for _, s := range snapshots {
		e.Mode = s.Mode.String()
		for _, r := range s.Routes {
			e.InFlight += r.InFlightBytes
			e.States[r.Health.State.String()]++
		}
		for _, d := range s.Devices {
			for _, c := range d.Refusals {
				e.Refusals[c.Reason.String()] += c.Count
			}
		}
	}
	return e
}

// add takes in the end of another round: states and refusals of all rounds are summed.
func (e *end) add(other *end) *end {
	if e == nil {
		return other
	}
	if other == nil {
		return e
	}
	e.InFlight += other.InFlight
	for k, n := range other.States {
		e.States[k] += n
	}
	for k, n := range other.Refusals {
		e.Refusals[k] += n
	}
	return e
}
