package cc_test

import (
	"errors"
	"fmt"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

var pair = rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}

func newRoute() (*cc.Controller, *cc.Route, cc.Generation) {
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	ctl, err := cc.New(cfg)
	if err != nil {
		panic(err)
	}
	route, err := ctl.Route(pair)
	if err != nil {
		panic(err)
	}
	gen, err := route.Renew(0, []cc.QP{{ID: 17, CQ: 3}})
	if err != nil {
		panic(err)
	}
	return ctl, route, gen
}

// The whole life of a permit: acquired, posted, settled.
func Example() {
	ctl, route, gen := newRoute()
	defer ctl.Close()

	var task taskstate.Task
	var permit cc.Permit // lives in the caller's slice

	d := route.TryAcquire(&permit, gen, 64<<10, &task)
	fmt.Println(d.Answer, route.InFlight())

	// Right before ibv_post_send. d.Use goes into wr_id.
	if err := permit.Posting(17, ctl.Now()); err != nil {
		fmt.Println(err)
	}

	// The completion came back with that wr_id.
	edges := permit.Settle(d.Use, classify.Completion(classify.StatusSuccess, 0), ctl.Now())
	fmt.Println(edges, route.InFlight(), task.State())

	// Whatever else is said of this admission does nothing.
	fmt.Println(permit.Settle(d.Use, classify.Of(classify.SignalTeardown), ctl.Now()))
	// Output:
	// admit 65536
	// ended+released 0 NORMAL
	// none
}

// A list of work requests of which the verb took only the first.
func ExamplePermit_Unposted() {
	ctl, route, gen := newRoute()
	defer ctl.Close()

	permits := make([]cc.Permit, 2)
	for i := range permits {
		route.TryAcquire(&permits[i], gen, 64<<10, nil)
		permits[i].Posting(17, ctl.Now())
	}
	posted := 1 // what ibv_post_send took before bad_wr
	for i := posted; i < len(permits); i++ {
		permits[i].Unposted()
	}
	fmt.Println(route.InFlight())
	// Output: 65536
}

// A full window defers; the task then says congestion, not failure.
func ExampleRoute_TryAcquire() {
	ctl, route, gen := newRoute()
	defer ctl.Close()

	var task taskstate.Task
	var big, small cc.Permit
	route.TryAcquire(&big, gen, 256<<10, nil)
	d := route.TryAcquire(&small, gen, 4<<10, &task)
	fmt.Println(d)
	fmt.Println(task.State())
	// Output:
	// defer, BYTE_WINDOW of the route
	// CONGESTED
}

// An endpoint was rebuilt between admission and post.
func ExampleRoute_Renew() {
	ctl, route, gen := newRoute()
	defer ctl.Close()

	var permit cc.Permit
	route.TryAcquire(&permit, gen, 64<<10, nil)
	next, _ := route.Renew(gen, []cc.QP{{ID: 18, CQ: 3}})

	err := permit.Posting(17, ctl.Now())
	fmt.Println(errors.Is(err, cc.ErrStaleGeneration), route.InFlight())

	d := route.TryAcquire(&permit, next, 64<<10, nil)
	fmt.Println(d.Answer, permit.Posting(18, ctl.Now()))
	// Output:
	// true 0
	// admit <nil>
}
