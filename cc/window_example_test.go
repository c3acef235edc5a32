package cc_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// The window follows the time that bytes in flight take. Here they take five times the
// target, epoch after epoch.
func ExampleController_Tick() {
	var now time.Duration
	cfg := numbers()
	cfg.Law, cfg.Epoch, cfg.TargetDrain, cfg.HighPressureEpochs = cc.LawEpoch, 100*time.Millisecond, time.Millisecond, 2
	ctl, route, gen := newRoute(cfg, byHand(&now)...)
	defer ctl.Close()

	var permit cc.Permit
	for range 4 { // control epochs
		for range 20 { // slices, each alone and slow
			d := route.TryAcquire(&permit, gen, 64<<10, nil)
			permit.Posting(17, now)
			now += 5 * time.Millisecond
			permit.Settle(d.Use, classify.Completion(classify.StatusSuccess, 0), now)
			ctl.Tick(now)
		}
		s := route.Snapshot()
		fmt.Println(s.Health.State, s.WindowBytes>>10, "KiB, drain time", s.Flow.DrainTime)
	}
	// Output:
	// HEALTHY 256 KiB, drain time 5ms
	// CONGESTED 128 KiB, drain time 5ms
	// CONGESTED 64 KiB, drain time 5ms
	// CONGESTED 64 KiB, drain time 5ms
}

// A goroutine that has nothing else to do waits for room. The one that polls for
// completions must not: it is what makes room.
func ExampleRoute_Acquire() {
	ctl, route, gen := newRoute(numbers())
	defer ctl.Close()

	var first, second, third cc.Permit
	use := route.TryAcquire(&first, gen, 256<<10, nil).Use // the whole window
	if err := first.Posting(17, ctl.Now()); err != nil {
		fmt.Println(err)
	}

	admitted := make(chan cc.Answer)
	go func() { admitted <- route.Acquire(context.Background(), &second, gen, 256<<10, nil).Answer }()
	first.Settle(use, classify.Completion(classify.StatusSuccess, 0), ctl.Now()) // the poller's goroutine
	fmt.Println(<-admitted)

	// Who gives up holds nothing. Err has the context's cause; the answer is the latest.
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	d := route.Acquire(ctx, &third, gen, 64<<10, nil)
	fmt.Println(d.Answer, d.Reason, errors.Is(d.Err, context.DeadlineExceeded), third.Held())
	// Output:
	// admit
	// defer BYTE_WINDOW true 0
}

// A slice that was admitted and cannot be posted, since the endpoint has gone meanwhile,
// takes its reservation along to another rail.
func ExampleRoute_Handoff() {
	ctl, route, gen := newRoute(numbers())
	defer ctl.Close()
	spare, _ := ctl.Route(rail.Pair{Peer: "host-b", Local: "mlx5_1", Port: 1, Remote: "mlx5_4"})
	other, _ := spare.Renew(0, []cc.QP{{ID: 40}})

	var task taskstate.Task
	var permit cc.Permit
	route.TryAcquire(&permit, gen, 64<<10, &task)
	d := spare.Handoff(&permit, other, &task)
	fmt.Println(d.Answer, route.InFlight(), spare.InFlight())
	fmt.Println(permit.Posting(40, ctl.Now())) // d.Use is the new use number
	// Output:
	// admit 0 65536
	// <nil>
}

// Selective signalling: eight writes go out as one list, and every fourth asks for a
// completion, which stands for all before it. The verb takes six. The signal of the last
// was in what it did not take: the next completion of that QP stands for those that are
// left.
func ExampleList() {
	ctl, route, gen := newRoute(numbers())
	defer ctl.Close()

	sizes := make([]int64, 8)
	for i := range sizes {
		sizes[i] = 16 << 10
	}
	var list cc.List // lives in the caller's post list
	d := route.TryAcquireList(&list, gen, sizes, nil)
	fmt.Println(d.Answer, route.InFlight()>>10, "KiB")
	if err := list.Posting(17, ctl.Now()); err != nil {
		fmt.Println(err)
	}
	posted := 6 // what ibv_post_send took of those; 3 and 7 are signaled
	fmt.Printf("given back: %08b\n", list.Unposted(posted))

	upTo := func(i int) uint32 { return 1<<(i+1) - 1 } // the slices 0 to i
	success := classify.Completion(classify.StatusSuccess, 0)
	fmt.Printf("released:   %08b\n", list.Settle(d.Use, upTo(3), success, ctl.Now()).Released) // 3 completed
	fmt.Printf("released:   %08b\n", list.Settle(d.Use, upTo(7), success, ctl.Now()).Released) // and later something behind it
	fmt.Println(route.InFlight(), list.Held())
	// Output:
	// admit 128 KiB
	// given back: 11000000
	// released:   00001111
	// released:   00110000
	// 0 0
}

// A list that does not fit is asked for again with as many slices as do.
func ExampleRoute_Fit() {
	ctl, route, gen := newRoute(numbers())
	defer ctl.Close()

	sizes := []int64{100 << 10, 100 << 10, 100 << 10, 100 << 10}
	var list cc.List
	d := route.TryAcquireList(&list, gen, sizes, nil)
	fmt.Println(d)
	if d.Domain != cc.NoDomain {
		if n := route.Fit(sizes); n > 0 && n < len(sizes) {
			fmt.Println(n, route.TryAcquireList(&list, gen, sizes[:n], nil).Answer)
		}
	}
	// Output:
	// defer, BYTE_WINDOW of the route
	// 2 admit
}
