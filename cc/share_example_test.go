package cc_test

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Two controllers of one process share a pause: what one learnt, the other need not
// pay for, and either may find that it is over.
func ExampleWithPauses() {
	now := time.Duration(0) // an engine leaves the clock alone
	clock := cc.WithClock(func() time.Duration { return now })
	even := cc.WithJitter(func() float64 { return 1 })
	table := rail.NewTable() // usually rail.Shared()

	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	var routes [2]*cc.Route
	for i := range routes {
		ctl, err := cc.New(cfg, cc.WithPauses(table), clock, even)
		if err != nil {
			panic(err)
		}
		defer ctl.Close()
		routes[i], _ = ctl.Route(rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"})
	}
	first, second := routes[0], routes[1]

	// The first meets three timeouts, each on an endpoint of its own.
	timeout := classify.Completion(classify.StatusRetryExcErr, 0x81)
	var permit cc.Permit
	var gen cc.Generation
	for qp := uint64(1); qp <= 3; qp++ {
		gen, _ = first.Renew(gen, []cc.QP{{ID: qp}})
		d := first.TryAcquire(&permit, gen, 64<<10, nil)
		permit.Posting(qp, now)
		permit.Settle(d.Use, timeout, now)
		fmt.Println(first.State())
	}

	// The second is turned away at once.
	gen, _ = second.Renew(0, []cc.QP{{ID: 9}})
	d := second.TryAcquire(&permit, gen, 64<<10, nil)
	fmt.Println(d)

	// When the pause is over it gets the trial, and the pair is usable for both.
	now += d.RetryAfter
	d = second.TryAcquire(&permit, gen, 64<<10, nil)
	permit.Posting(9, now)
	fmt.Println(d.Answer, second.State())
	permit.Settle(d.Use, classify.Completion(classify.StatusSuccess, 0), now)
	fmt.Println(second.State(), table.Look(first.Pair()).Paused)
	// Output:
	// SUSPECT
	// SUSPECT
	// QUARANTINED
	// avoid, PATH_QUARANTINED, ask again in 30s
	// admit PROBING
	// HEALTHY false
}
