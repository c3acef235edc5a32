package main

import (
	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/rdmagate/rdmagate/cc"
)

// ticks are calls of the monitor that find nothing to do.
func ticks() []scenario {
	return []scenario{{kind: ours, note: "Tick at the end of an epoch, every route was in use once", Scenario: measure.Scenario{
		Name: oursTick, Workers: 1, Setup: func() ([]measure.Loop, func(), error) {
			ctl, err := newController(cc.Enforce)
			if err != nil {
				return nil, nil, err
			}
			epoch, now := cc.DefaultConfig().Epoch, batchTime
			var s slice
			for _, pair := range pairs(tickRoutes) {
				route, err := ctl.Route(pair)
				if err != nil {
					return nil, nil, err
				}
				gen, err := route.Renew(0, []cc.QP{{ID: nextQP(), CQ: 1}})
				if err != nil {
					return nil, nil, err
				}
				if d := route.TryAcquire(&s.permit, gen, sliceBytes, nil); d.Admitted() {
					s.permit.Unposted()
				}
			}
			tick := func(n int) {
				for range n {
					now += epoch
					ctl.Tick(now)
				}
			}
			tick(10) // all come to rest
			return []measure.Loop{tick}, nil, nil
		}}}}
}
