package cc_test

import (
	"fmt"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
)

// wc is a completion as a binding of the caller's own has it: raw numbers.
type wc struct {
	wrID      uint64
	status    uint32 // enum ibv_wc_status
	vendorErr uint32
}

// slot is where a slice lives while it is on the wire.
type slot struct {
	permit cc.Permit
	name   string
}

// An engine with a binding of its own needs nothing of package verbs: QPs and CQs have
// numbers of its choice, statuses are raw, and wr_id carries the slot and the use number.
func Example_ownBinding() {
	ctl, route, gen := newRoute(numbers())
	defer ctl.Close()

	slots := []*slot{{name: "layer 0"}, {name: "layer 1"}}
	statuses := []uint32{0, 12} // what the hardware is going to say
	var queue []wc
	for i, s := range slots {
		d := route.TryAcquire(&s.permit, gen, 64<<10, nil)
		if !d.Admitted() || s.permit.Posting(17, ctl.Now()) != nil {
			continue // it stays in the caller's queue
		}
		wrID := uint64(i)<<32 | uint64(d.Use)
		queue = append(queue, wc{wrID: wrID, status: statuses[i]}) // post(wrID, ...)
	}

	now := ctl.Now() // once for the batch
	for _, c := range queue {
		s := slots[c.wrID>>32]
		v := classify.Completion(classify.Status(c.status), c.vendorErr)
		edges := s.permit.Settle(cc.Use(c.wrID), v, now)
		fmt.Printf("%s: %v, %v\n", s.name, edges, v)
	}
	fmt.Println(route.InFlight())
	// Output:
	// layer 0: ended+released, completion 0 (success), vendor_err 0x0: Success, scope operation, keep using
	// layer 1: ended+released, completion 12 (transport retries exceeded), vendor_err 0x0: RouteTimeout, scope QP, retire the QP
	// 0
}
