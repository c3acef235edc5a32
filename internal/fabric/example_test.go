package fabric_test

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

// The whole life: a fabric, two QPs, work requests, a fault, completions and events.
func Example() {
	sim, err := fabric.New(fabric.Config{Seed: 1, Topology: fabric.FatTree(8)})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := sim.NIC(0, 0), sim.NIC(127, 0)
	cq := sim.NewCQ()
	cfg := fabric.DefaultQP()
	cfg.Timeout, cfg.Retry = 10, 1 // 4.19 ms, twice
	q, _, err := sim.Connect(fabric.Endpoint{NIC: a, Send: cq}, fabric.Endpoint{NIC: b}, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}

	cq.Notify(func() {
		var batch [16]fabric.Completion
		for _, c := range batch[:cq.Poll(batch[:])] {
			fmt.Printf("%v: work request %d: %v\n", sim.Now(), c.WRID, c.Status)
		}
	})
	a.Notify(func() {
		if e, ok := a.PollEvent(); ok {
			fmt.Printf("%v: %s: %v\n", sim.Now(), a.Name, e.Type)
		}
	})
	post := func(id uint64, op fabric.Op, bytes int64) {
		if err := q.Post(fabric.WR{ID: id, Op: op, Bytes: bytes}); err != nil {
			fmt.Println(err)
		}
	}
	post(1, fabric.Write, 1<<20)
	post(2, fabric.Read, 1<<20)
	sim.At(time.Millisecond, func() {
		a.Link().Down(fabric.Notice{Late: time.Millisecond})
		post(3, fabric.Write, 1<<20)
		post(4, fabric.Read, 1<<20)
	})
	sim.Drain()
	fmt.Println("in the fabric:", sim.Totals().InFabric())

	// Output:
	// 99.277µs: work request 1: success
	// 186.481µs: work request 2: success
	// 2ms: h0n0: port error
	// 9.388608ms: work request 3: transport retries exceeded
	// 9.388608ms: work request 4: work request flushed
	// in the fabric: 0
}
