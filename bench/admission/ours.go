package main

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

var success = classify.Completion(classify.StatusSuccess, 0)

// batchTime is the time that every batch carries: nothing here takes any.
const batchTime = time.Hour

// endpoint is a route with a current generation.
type endpoint struct {
	route *cc.Route
	gen   cc.Generation
	qp    uint64
}

func newController(mode cc.Mode, opts ...cc.Option) (*cc.Controller, error) {
	cfg := cc.DefaultConfig()
	cfg.Mode = mode
	cfg.StartWindowBytes, cfg.DeviceWindowBytes = windowBytes, deviceBytes
	return cc.New(cfg, append(opts, cc.WithClock(func() time.Duration { return batchTime }))...)
}

// newEndpoint builds an endpoint to a remote NIC of that name.
func newEndpoint(ctl *cc.Controller, remote string) (endpoint, error) {
	route, err := ctl.Route(rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: remote})
	if err != nil {
		return endpoint{}, err
	}
	qp := nextQP()
	gen, err := route.Renew(0, []cc.QP{{ID: qp, CQ: 1}})
	return endpoint{route, gen, qp}, err
}

var lastQP uint64

// nextQP returns a number for a QP that no other has.
func nextQP() uint64 { lastQP++; return lastQP }

// endpoints builds endpoints to different NICs through one device.
func endpoints(mode cc.Mode, n int, options ...func() cc.Option) ([]endpoint, error) {
	var opts []cc.Option
	for _, o := range options {
		opts = append(opts, o())
	}
	ctl, err := newController(mode, opts...)
	if err != nil {
		return nil, err
	}
	var list []endpoint
	for i := range n {
		e, err := newEndpoint(ctl, fmt.Sprintf("mlx5_%d", i))
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// slice is a slice as an engine holds it, on cache lines of its own.
type slice struct {
	sliceFields
	_ [cacheLine - unsafe.Sizeof(sliceFields{})%cacheLine]byte
}

type sliceFields struct {
	permit cc.Permit
	task   taskstate.Task
}

const cacheLine = 64

// life is the whole life of a permit: acquire, post, settle.
func life(e endpoint, withTask bool) measure.Loop {
	s := new(slice)
	var task *taskstate.Task
	if withTask {
		task = &s.task
	}
	return func(n int) {
		for range n {
			d := e.route.TryAcquire(&s.permit, e.gen, sliceBytes, task)
			if !d.Admitted() || s.permit.Posting(e.qp, batchTime) != nil {
				continue
			}
			s.permit.Settle(d.Use, success, batchTime)
		}
	}
}

// ask is TryAcquire alone, for mode off, where nothing is kept.
func ask(e endpoint) measure.Loop {
	s := new(slice)
	return func(n int) {
		for range n {
			if !e.route.TryAcquire(&s.permit, e.gen, sliceBytes, nil).Admitted() {
				panic("mode off refused a slice")
			}
		}
	}
}

// groupSize is the length of a post list.
const groupSize = 32

// group posts a list of slices and then settles all of them, call by call.
func group(e endpoint) measure.Loop {
	list := make([]slice, groupSize)
	var uses [groupSize]cc.Use
	return func(n int) {
		for range n / groupSize {
			for i := range list {
				p := &list[i].permit
				d := e.route.TryAcquire(p, e.gen, sliceBytes, nil)
				if !d.Admitted() || p.Posting(e.qp, batchTime) != nil {
					continue
				}
				uses[i] = d.Use
			}
			for i := range list {
				list[i].permit.Settle(uses[i], success, batchTime)
			}
		}
	}
}

// permits are the scenarios of permits that are admitted and succeed.
func permits() []scenario {
	one := func(name, note string, mode cc.Mode, loop func(endpoint) measure.Loop) scenario {
		return scenario{kind: ours, note: note, Scenario: measure.Scenario{Name: name, Workers: 1,
			Setup: func() ([]measure.Loop, func(), error) {
				list, err := endpoints(mode, 1)
				if err != nil {
					return nil, nil, err
				}
				return []measure.Loop{loop(list[0])}, nil, nil
			}}}
	}
	without := func(e endpoint) measure.Loop { return life(e, false) }
	with := func(e endpoint) measure.Loop { return life(e, true) }
	const note = "TryAcquire, Posting, Settle"
	return []scenario{
		one(oursOffAsk, "TryAcquire alone", cc.Off, ask),
		one(oursOff, note, cc.Off, without),
		one(oursObserve, note, cc.Observe, without),
		one(oursEnforce, note, cc.Enforce, without),
		one(oursTask, note, cc.Enforce, with),
		one(oursGroup, "a post list of 32, then its completions, one call for each", cc.Enforce, group),
		twoPermits(oursEnforce+ownRoutes, 2, false),
		twoPermits(oursTask+ownRoutes, 2, true),
		twoPermits(oursEnforce+sameRoute, 1, false),
	}
}

// twoPermits has two goroutines on so many routes of one device.
func twoPermits(name string, routes int, withTask bool, options ...func() cc.Option) scenario {
	return scenario{kind: ours, note: "the same from two cores", Scenario: measure.Scenario{Name: name, Workers: 2,
		Setup: func() ([]measure.Loop, func(), error) {
			list, err := endpoints(cc.Enforce, routes, options...)
			if err != nil {
				return nil, nil, err
			}
			return []measure.Loop{life(list[0], withTask), life(list[routes-1], withTask)}, nil, nil
		}}}
}
