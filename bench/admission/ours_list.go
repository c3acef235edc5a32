package main

import (
	"unsafe"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/rdmagate/rdmagate/cc"
)

const (
	oursList         = "list of 32, enforce"
	oursListEights   = "list of 32, settled in eights"
	oursListHandover = "poster and poller, lists of 8"
)

// postList is a post list as an engine holds it, on cache lines of its own.
type postList struct {
	cc.List
	_ [cacheLine - unsafe.Sizeof(cc.List{})%cacheLine]byte
}

// sizesOf returns the sizes of n slices.
func sizesOf(n int) []int64 {
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = sliceBytes
	}
	return sizes
}

// listLife is the whole life of a post list, settled by so many slices at a time.
// An operation is one slice.
func listLife(e endpoint, batch int) measure.Loop {
	l, sizes := new(postList), sizesOf(groupSize)
	return func(n int) {
		for range n / groupSize {
			d := e.route.TryAcquireList(&l.List, e.gen, sizes, nil)
			if !d.Admitted() || l.Posting(e.qp, batchTime) != nil {
				continue
			}
			for done := 0; done < groupSize; done += batch {
				l.Settle(d.Use, (1<<batch-1)<<done, success, batchTime)
			}
		}
	}
}

// lists are the scenarios of post lists.
func lists() []scenario {
	one := func(name, note string, batch int) scenario {
		return scenario{kind: ours, note: note, Scenario: measure.Scenario{Name: name, Workers: 1,
			Setup: func() ([]measure.Loop, func(), error) {
				list, err := endpoints(cc.Enforce, 1)
				if err != nil {
					return nil, nil, err
				}
				return []measure.Loop{listLife(list[0], batch)}, nil, nil
			}}}
	}
	return []scenario{
		one(oursList, "a post list of 32 as one list: TryAcquireList, Posting, one Settle; per slice", groupSize),
		one(oursListEights, "the same with a Settle for each 8 slices", pollBatch),
		listHandover(),
	}
}

// listHandover has one core acquire and post lists of eight, and another one settle
// each with one call, through the same ring as the bare hand-over.
func listHandover() scenario {
	return scenario{kind: ours, note: "TryAcquireList and Posting of 8 on one core, one Settle for them on another; per slice",
		Scenario: measure.Scenario{Name: oursListHandover, Workers: 2, Pipeline: true,
			Setup: func() ([]measure.Loop, func(), error) {
				list, err := endpoints(cc.Enforce, 1)
				if err != nil {
					return nil, nil, err
				}
				e, r, sizes := list[0], new(ring), sizesOf(pollBatch)
				held := new([ringSlots / pollBatch]postList)
				var posted, room, polled uint64
				post := func(n int) {
					for range n / pollBatch {
						for posted+pollBatch > room+ringSlots {
							room = r.polled.Load()
						}
						l := &held[posted%ringSlots/pollBatch]
						d := e.route.TryAcquireList(&l.List, e.gen, sizes, nil)
						for !d.Admitted() {
							d = e.route.TryAcquireList(&l.List, e.gen, sizes, nil)
						}
						_ = l.Posting(e.qp, batchTime)
						for range pollBatch {
							room = r.post(posted, room, uint64(d.Use))
							posted++
						}
					}
				}
				poll := func(n int) {
					for range n / pollBatch {
						uses := r.poll(polled)
						l := &held[polled%ringSlots/pollBatch]
						l.Settle(cc.Use(uses[0]), 1<<pollBatch-1, success, batchTime)
						polled += pollBatch
						r.done(polled)
					}
				}
				return []measure.Loop{post, poll}, nil, nil
			}}}
}
