package cc_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

var pair = rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}

// numbers are those of the examples, so that their output stays whatever the defaults
// become: a window of 256 KiB, and failures count from the third on.
func numbers() cc.Config {
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	cfg.MinWindowBytes, cfg.StartWindowBytes, cfg.MaxWindowBytes = 64<<10, 256<<10, 64<<20
	cfg.HardErrorThreshold, cfg.Cooldown, cfg.ProbeInterval = 3, 30*time.Second, time.Second
	return cfg
}

// byHand makes a controller's clock stand where now says, and takes chance out of
// cooldowns. An engine has neither option.
func byHand(now *time.Duration) []cc.Option {
	return []cc.Option{
		cc.WithClock(func() time.Duration { return *now }),
		cc.WithJitter(func() float64 { return 1 }),
	}
}

// newRoute makes a controller and one route with an endpoint: QP 17, which completes to
// CQ 3.
func newRoute(cfg cc.Config, opts ...cc.Option) (*cc.Controller, *cc.Route, cc.Generation) {
	ctl, err := cc.New(cfg, opts...)
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
	ctl, route, gen := newRoute(numbers())
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
	ctl, route, gen := newRoute(numbers())
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

// A deadline ends the attempt, and the bytes stay out: the NIC may still write there. The
// late completion gives them back. One that is later still speaks of the slot's former
// owner, and does nothing to the next.
func ExamplePermit_Settle() {
	var now time.Duration
	ctl, route, gen := newRoute(numbers(), byHand(&now)...)
	defer ctl.Close()

	success := classify.Completion(classify.StatusSuccess, 0)
	var task taskstate.Task
	var permit cc.Permit
	first := route.TryAcquire(&permit, gen, 64<<10, &task).Use
	permit.Posting(17, now)

	now += 5 * time.Second
	fmt.Println(permit.Settle(first, classify.Of(classify.SignalDeadlineProgressing), now), route.InFlight(), task.State())
	fmt.Println(permit.Settle(first, success, now), route.InFlight(), task.State())

	// A deadline has retired the endpoint. The slot's next owner is on the next one.
	gen, _ = route.Renew(gen, []cc.QP{{ID: 18, CQ: 3}})
	second := route.TryAcquire(&permit, gen, 32<<10, &task).Use
	permit.Posting(18, now)
	fmt.Println(permit.Settle(first, success, now), route.InFlight())
	fmt.Println(permit.Settle(second, success, now), route.InFlight())
	// Output:
	// ended 65536 CONGESTED
	// released 0 NORMAL
	// none 32768
	// ended+released 0
}

// A full window defers; the task then says congestion, not failure.
func ExampleRoute_TryAcquire() {
	ctl, route, gen := newRoute(numbers())
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
	ctl, route, gen := newRoute(numbers())
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
