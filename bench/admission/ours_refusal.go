package main

import (
	"fmt"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/rdmagate/rdmagate/cc"
)

// refusals are what an engine meets that asks again and again for a window that
// is full.
func refusals() []scenario {
	return []scenario{{kind: ours, note: "TryAcquire of a slice that was refused before", Scenario: measure.Scenario{
		Name: oursRefusal, Workers: 1, Setup: func() ([]measure.Loop, func(), error) {
			list, err := endpoints(cc.Enforce, 1)
			if err != nil {
				return nil, nil, err
			}
			e, held, s := list[0], new(slice), new(slice)
			if d := e.route.TryAcquire(&held.permit, e.gen, windowBytes, nil); !d.Admitted() {
				return nil, nil, fmt.Errorf("a slice as large as the window of an idle route was not admitted: %s", d)
			}
			return []measure.Loop{func(n int) {
				for range n {
					e.route.TryAcquire(&s.permit, e.gen, sliceBytes, &s.task)
				}
			}}, func() { held.permit.Unposted() }, nil
		}}}}
}
