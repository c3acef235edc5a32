package rail_test

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/rail"
)

// An engine without a controller of this library's keeps its pauses in a table. A
// route joins its peer's record, compares versions before each post, and looks again
// when something changed.
func ExampleTable() {
	policy := rail.Policy{
		Threshold: 2, ErrorWindow: 10 * time.Second,
		Cooldown: 30 * time.Second, CooldownCap: 5 * time.Minute, ProbeInterval: time.Second,
	}
	table := rail.NewTable()
	pair := rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}
	peer := table.Join(pair)
	defer peer.Leave(pair)
	seen := peer.Version()

	now := time.Minute
	for qp := range uint64(2) {
		peer.Report(pair, now, seen, []rail.QP{{Number: qp, Incarnation: 1}}, func(b *rail.Breaker) bool {
			b.Fail(policy, now, 1)
			return true
		})
	}
	if peer.Version() != seen {
		view := peer.View(pair)
		fmt.Println("paused:", view.Paused, "until", view.Resume)
	}

	// The pause is over: whoever comes first leases the trial.
	now += policy.Cooldown
	var trial uint64
	peer.Update(pair, now, func(b *rail.Breaker) bool {
		if b.Paused && now >= b.TrialDue() && !b.TrialOut(now) {
			trial = b.StartTrial(now)
		}
		return false
	})
	peer.Succeeded(pair, policy, now, 0, seen, trial)
	fmt.Println("paused:", table.Look(pair).Paused)
	// Output:
	// paused: true until 1m30s
	// paused: false
}
