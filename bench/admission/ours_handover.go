package main

import (
	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/rdmagate/rdmagate/cc"
)

// handovers has one core acquire and post, and another one settle in batches of
// eight, through the same ring as the bare hand-over.
func handovers() []scenario {
	return []scenario{
		handover(oursHandover, "TryAcquire and Posting on one core, Settle in batches of 8 on another"),
		handover(oursHandover+withRecorder, "the same with a recorder", recording),
	}
}

// handover has options of its controller made anew for each sitting.
func handover(name, note string, options ...func() cc.Option) scenario {
	return scenario{kind: ours, note: note,
		Scenario: measure.Scenario{Name: name, Workers: 2, Pipeline: true,
			Setup: func() ([]measure.Loop, func(), error) {
				list, err := endpoints(cc.Enforce, 1, options...)
				if err != nil {
					return nil, nil, err
				}
				e, r, slices := list[0], new(ring), new([ringSlots]slice)
				var posted, room, polled uint64
				post := func(n int) {
					for range n {
						for posted >= room+ringSlots {
							room = r.polled.Load()
						}
						p := &slices[posted%ringSlots].permit
						d := e.route.TryAcquire(p, e.gen, sliceBytes, nil)
						for !d.Admitted() {
							d = e.route.TryAcquire(p, e.gen, sliceBytes, nil)
						}
						_ = p.Posting(e.qp, batchTime)
						room = r.post(posted, room, uint64(d.Use))
						posted++
					}
				}
				poll := func(n int) {
					for range n / pollBatch {
						for i, use := range r.poll(polled) {
							p := &slices[(polled+uint64(i))%ringSlots].permit
							p.Settle(cc.Use(use), success, batchTime)
						}
						polled += pollBatch
						r.done(polled)
					}
				}
				return []measure.Loop{post, poll}, nil, nil
			}}}
}
