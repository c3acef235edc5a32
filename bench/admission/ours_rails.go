package main

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/rail"
)

// pausedPairs is how many pairs of other peers are paused while a healthy one is
// measured.
const pausedPairs = 10_000

// railPolicy pauses a pair at its first failure.
var railPolicy = rail.Policy{Threshold: 1, ErrorWindow: time.Minute, Cooldown: time.Hour, CooldownCap: time.Hour, ProbeInterval: time.Second}

// rails are what the shared pause table costs a healthy route: nothing but the look at
// its peer's version, however many pairs are paused, and a look at its own pair when
// something about the peer changed.
func rails() []scenario {
	return []scenario{
		{kind: ours, note: "a shared table, " + fmt.Sprint(pausedPairs) + " pairs of other peers paused", Scenario: measure.Scenario{
			Name: oursPaused, Workers: 1, Setup: func() ([]measure.Loop, func(), error) {
				e, _, err := sharing(pausedPairs)
				return []measure.Loop{life(e, false)}, nil, err
			}}},
		synced(oursSync, 0),
		synced(oursSync+othersPaused, pausedPairs),
	}
}

// synced is an admission after each change of another pair of the peer.
func synced(name string, paused int) scenario {
	return scenario{kind: ours, note: "another pair of the peer changes before each TryAcquire", Scenario: measure.Scenario{
		Name: name, Workers: 1, Setup: func() ([]measure.Loop, func(), error) {
			e, table, err := sharing(paused)
			if err != nil {
				return nil, nil, err
			}
			other := e.route.Pair()
			other.Remote = "mlx5_7"
			peer := table.Join(other)
			s := new(slice)
			return []measure.Loop{func(n int) {
				for range n {
					peer.Update(other, batchTime, func(b *rail.Breaker) bool { b.LongestRetry++; return false })
					if d := e.route.TryAcquire(&s.permit, e.gen, sliceBytes, nil); d.Admitted() {
						s.permit.Unposted()
					}
				}
			}}, nil, nil
		}}}
}

// sharing returns an endpoint of a controller with a shared table, in which so many
// pairs of other peers are paused.
func sharing(paused int) (endpoint, *rail.Table, error) {
	table := rail.NewTable()
	for _, pair := range pairs(paused) {
		table.Join(pair).Update(pair, batchTime, func(b *rail.Breaker) bool { return b.Fail(railPolicy, batchTime, 1) })
	}
	if n := table.Stats().Entries; n != paused {
		return endpoint{}, nil, fmt.Errorf("%d pairs are paused, want %d", n, paused)
	}
	ctl, err := newController(cc.Enforce, cc.WithPauses(table))
	if err != nil {
		return endpoint{}, nil, err
	}
	e, err := newEndpoint(ctl, "mlx5_0")
	return e, table, err
}
