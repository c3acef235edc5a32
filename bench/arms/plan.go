package main

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	lab "github.com/rdmagate/rdmagate/internal/labcongestion"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// step is one load that all arms are given in turns.
type step struct {
	Name string
	Arms []arm
	// Sittings is how often the arms are started anew, if there is time, Least how many
	// rounds each has at least, and Share how much of the time that is left the step gets, by
	// that of the others.
	Sittings, Least int
	Share           float64
	Goals           []goal
	// One of them is set.
	Bulk   *bulk   `json:",omitempty"`
	Incast *incast `json:",omitempty"`
	Outage *outage `json:",omitempty"`
}

func (s step) kind() kind {
	switch {
	case s.Bulk != nil:
		return s.Bulk
	case s.Incast != nil:
		return s.Incast
	}
	return s.Outage
}

// short reports whether the step is one of those that stand for their kind.
func (s step) short() bool {
	return s.Incast != nil || s.Name == "bulk/write/64KiB" || s.Name == "small/write/4KiB" || s.Outage != nil && s.Outage.Op == transfer.Write
}

// Goals of a healthy fabric, and of an incast by the length of the queue: the least
// multiple of the goodput of off.
const (
	leastOff, leastEnforce = 0.99, 0.97
	mostDelay              = 0.2
)

var leastGoodput = map[int]float64{1000: 2, 40: 1.5}

// steps are all of them.
func steps() (all []step) {
	ops := []transfer.Op{transfer.Write, transfer.Read}
	controlled := append(append([]arm(nil), arms...), again)
	for _, slice := range []int{64 << 10, 256 << 10, 1 << 20} {
		for _, op := range ops {
			all = append(all, step{
				Name: fmt.Sprintf("bulk/%v/%dKiB", op, slice>>10), Arms: controlled, Sittings: 3, Least: 2, Share: 1.25,
				Goals: []goal{
					{Figure: throughput, Arm: "off", Versus: base, Value: leastOff},
					{Figure: throughput, Arm: "enforce", Versus: base, Value: leastEnforce},
					{Figure: throughput, Arm: again.Name, Versus: base, Same: true, Value: 1},
				},
				Bulk: newBulk(op, slice, 8<<20),
			})
		}
	}
	for _, op := range ops {
		all = append(all, step{
			Name: fmt.Sprintf("small/%v/4KiB", op), Arms: controlled, Sittings: 3, Least: 2, Share: 0.75,
			Bulk: newBulk(op, 4<<10, 2<<20),
		})
	}
	for _, queue := range lab.IncastQueues {
		all = append(all, step{
			Name: fmt.Sprintf("incast/%d", queue), Arms: arms, Sittings: 1, Least: 2, Share: 1.25,
			Goals: []goal{
				{Figure: goodput, Arm: "enforce", Versus: "off", Value: leastGoodput[queue]},
				{Figure: meanDelay, Arm: "enforce", Versus: "off", AtMost: true, Value: mostDelay},
			},
			Incast: &incast{Queue: queue, Warm: 700 * time.Millisecond, Measure: 1500 * time.Millisecond},
		})
	}
	all = append(all, step{
		Name: "recovery/write", Arms: arms, Sittings: 1, Least: 1, Share: 2,
		Outage: newOutage(transfer.Write, [][2]int{{1, 1}}, twohost.Outage{Before: 1500 * time.Millisecond, Down: 4 * time.Second, After: 4 * time.Second}),
	})
	for _, op := range ops {
		all = append(all, step{
			Name: fmt.Sprintf("failure/%v", op), Arms: arms, Sittings: 1, Least: 1, Share: 1.75,
			Outage: newOutage(op, management(), twohost.Outage{Before: 2 * time.Second, Down: 8 * time.Second}),
		})
	}
	return all
}
