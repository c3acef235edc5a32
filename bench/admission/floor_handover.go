package main

import (
	"sync/atomic"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
)

// ring hands numbers from one goroutine to one other. It stands for the hardware
// between a poster and a poller.
type ring struct {
	slots [ringSlots]uint64

	_      [64]byte
	posted atomic.Uint64
	_      [56]byte
	polled atomic.Uint64
	_      [56]byte
}

const (
	ringSlots = 64
	// pollBatch is how many completions a poller takes at once.
	pollBatch = 8
)

// post hands over the number that belongs to position at. room is a position that
// the poller has certainly not passed; the new one is returned.
func (r *ring) post(at, room, number uint64) uint64 {
	for at >= room+ringSlots {
		room = r.polled.Load()
	}
	r.slots[at%ringSlots] = number
	r.posted.Store(at + 1)
	return room
}

// poll waits for a batch from position at and returns it.
func (r *ring) poll(at uint64) []uint64 {
	for r.posted.Load() < at+pollBatch {
	}
	from := at % ringSlots
	return r.slots[from : from+pollBatch]
}

// done gives the slots before position at back to the poster.
func (r *ring) done(at uint64) { r.polled.Store(at) }

// handoverFloor is what it costs to hand a number to another core.
func handoverFloor() []scenario {
	return []scenario{{kind: floor, note: "a number through a ring from one core to another, taken out in batches of 8",
		Scenario: measure.Scenario{Name: floorHandover, Workers: 2, Pipeline: true,
			Setup: func() ([]measure.Loop, func(), error) {
				r := new(ring)
				var posted, room, polled uint64
				post := func(n int) {
					for range n {
						room = r.post(posted, room, posted)
						posted++
					}
				}
				poll := func(n int) {
					var sum uint64
					for range n / pollBatch {
						for _, number := range r.poll(polled) {
							sum += number
						}
						polled += pollBatch
						r.done(polled)
					}
					sink = int64(sum)
				}
				return []measure.Loop{post, poll}, nil, nil
			}}}}
}
