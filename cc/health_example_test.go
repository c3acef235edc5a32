package cc_test

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// fail moves a slice on a new endpoint, whose QP then reports that the peer did not
// answer, as an unplugged cable does after some seconds.
func fail(route *cc.Route, gen cc.Generation, qp uint64, now *time.Duration) cc.Generation {
	gen, err := route.Renew(gen, []cc.QP{{ID: qp}})
	if err != nil {
		panic(err)
	}
	var permit cc.Permit
	d := route.TryAcquire(&permit, gen, 64<<10, nil)
	if err := permit.Posting(qp, *now); err != nil {
		panic(err)
	}
	*now += 4 * time.Second
	permit.Settle(d.Use, classify.Completion(classify.StatusRetryExcErr, 0x81), *now)
	return gen
}

// Three failures quarantine a pair: no slice is posted there, and its task knows. A prober
// asks which routes are due and sends a few bytes on a QP of its own. Its success brings
// the pair back.
func ExampleRoute_TryProbe() {
	var now time.Duration
	ctl, route, gen := newRoute(numbers(), byHand(&now)...)
	defer ctl.Close()
	for qp := uint64(21); qp <= 23; qp++ {
		gen = fail(route, gen, qp, &now)
	}

	var task taskstate.Task
	var slice cc.Permit
	fmt.Println(route.TryAcquire(&slice, gen, 64<<10, &task))
	fmt.Println(task.State(), "-", task.State().Guidance())

	// The prober, once in a probe interval. A trial wants an endpoint that is younger than
	// the verdict, with a QP for the prober: 31.
	now += time.Second
	fmt.Println("due:", len(ctl.Due(now)))
	gen, _ = route.Renew(gen, []cc.QP{{ID: 30}, {ID: 31}})
	var probe cc.Permit
	d := route.TryProbe(&probe, gen, 8)
	probe.Posting(31, now)
	fmt.Println(d.Answer, route.State())

	probe.Settle(d.Use, classify.Completion(classify.StatusSuccess, 0), now)
	fmt.Println(route.State(), "-", route.TryAcquire(&slice, gen, 64<<10, &task).Answer)
	// Output:
	// avoid, PATH_QUARANTINED, ask again in 30s
	// LONG_UNAVAILABLE - try elsewhere
	// due: 1
	// admit PROBING
	// HEALTHY - admit
}

// What an operator wants in the log: each change of a route's state, with its cause. The
// option WithLogger writes the same.
func ExampleWithTransitions() {
	var now time.Duration
	told := cc.WithTransitions(func(t cc.Transition) {
		fmt.Printf("%v %v: %v to %v, %v, %v\n", t.At, t.Pair, t.From, t.To, t.Reason, t.Verdict.Class())
	})
	ctl, route, gen := newRoute(numbers(), append(byHand(&now), told)...)
	defer ctl.Close()
	for qp := uint64(21); qp <= 23; qp++ {
		gen = fail(route, gen, qp, &now)
	}
	// Output:
	// 4s mlx5_0:1->host-b/mlx5_3: HEALTHY to SUSPECT, ROUTE_TIMEOUT, RouteTimeout
	// 12s mlx5_0:1->host-b/mlx5_3: SUSPECT to QUARANTINED, ROUTE_TIMEOUT, RouteTimeout
}

// An asynchronous event reaches what it names and nothing else: a port that went down
// takes its routes out of use at once, before any completion says so.
func ExampleController_Event() {
	var now time.Duration
	ctl, route, _ := newRoute(numbers(), byHand(&now)...)
	defer ctl.Close()

	down := classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "mlx5_0", Port: 1}}
	v, reached, err := ctl.Event(down, now)
	fmt.Println(v.Scope(), v.Action(), "QPs:", reached, err)
	fmt.Println(route.State())

	other := classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "mlx5_0", QP: 99}}
	_, reached, _ = ctl.Event(other, now)
	fmt.Println("QPs:", reached)
	// Output:
	// port isolate the port QPs: 1 <nil>
	// QUARANTINED
	// QPs: 0
}

// A poller that did not run is not taken for a network that did not deliver: a deadline
// that passed meanwhile neither ends the attempt nor counts.
func ExamplePoller() {
	var now time.Duration
	cfg := numbers()
	cfg.StallGap = time.Second
	ctl, err := cc.New(cfg, byHand(&now)...)
	if err != nil {
		panic(err)
	}
	defer ctl.Close()
	route, _ := ctl.Route(pair)
	poller, _ := ctl.NewPoller("mlx5_0", 3) // before the endpoints of its CQs
	gen, _ := route.Renew(0, []cc.QP{{ID: 17, CQ: 3}})

	var permit cc.Permit
	poller.Beat(now)
	d := route.TryAcquire(&permit, gen, 64<<10, nil)
	permit.Posting(17, now)

	now += 10 * time.Second // the thread was not scheduled
	poller.Beat(now)
	overdue := classify.Of(classify.SignalDeadlineProgressing)
	fmt.Println("after a stall:", permit.Settle(d.Use, overdue, now), route.State())

	for range 3 { // it runs again, and still nothing arrives
		now += cfg.Epoch
		ctl.Tick(now)
		poller.Beat(now)
	}
	fmt.Println("while polled:", permit.Settle(d.Use, overdue, now), route.State())
	// Output:
	// after a stall: none HEALTHY
	// while polled: ended SUSPECT
}
