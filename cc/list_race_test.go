package cc

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
)

// Goroutines settle overlapping parts of the same list in every way while others
// renew the route and look on: each slice is released once and has one verdict, and
// all bytes come back.
func TestListFromAllSides(t *testing.T) {
	for _, tt := range []struct {
		name     string
		verdicts []classify.Verdict
		renew    bool
	}{
		{"completions", []classify.Verdict{success, success, success, success}, false},
		{"everything", []classify.Verdict{success, deadline, cancel, flush, success}, true},
	} {
		t.Run(tt.name, func(t *testing.T) { settleFromAllSides(t, tt.verdicts, tt.renew) })
	}
}

func settleFromAllSides(t *testing.T, verdicts []classify.Verdict, renew bool) {
	r := newRig(t, Observe) // no quarantine in the way
	route := r.route("D1", "P", "n1")
	r.renew(route, 1)
	rounds := 800
	if testing.Short() {
		rounds = 300
	}
	var done atomic.Bool
	var background, owners sync.WaitGroup
	background.Go(func() {
		for !done.Load() && renew {
			route.Renew(route.Snapshot().Generation, []QP{{ID: 1, CQ: 1}})
			assert.GreaterOrEqual(t, route.InFlight(), int64(0))
		}
	})
	for range 2 {
		owners.Go(func() {
			var l List
			var task taskstate.Task
			all := first(MaxList)
			for round := range rounds {
				d := route.TryAcquireList(&l, route.Snapshot().Generation, sizes(MaxList), &task)
				if !assert.True(t, d.Admitted(), "%s", d) || l.Posting(1, r.now) != nil {
					continue
				}
				var ended, released [MaxList]atomic.Int32
				take := func(s Settled) {
					for m := s.Ended; m != 0; m &= m - 1 {
						ended[bits.TrailingZeros32(m)].Add(1)
					}
					for m := s.Released; m != 0; m &= m - 1 {
						released[bits.TrailingZeros32(m)].Add(1)
					}
				}
				var sides sync.WaitGroup
				for side, v := range verdicts {
					sides.Go(func() {
						mask := uint32(0x000fffff)
						for i := range 4 {
							take(l.Settle(d.Use, bits.RotateLeft32(mask, 7*(side+i+round)), v, r.now))
						}
					})
				}
				sides.Wait()
				take(l.Settle(d.Use, all, teardown, r.now))
				for i := range MaxList {
					assert.EqualValues(t, 1, ended[i].Load(), "verdicts of slice %d", i)
					assert.EqualValues(t, 1, released[i].Load(), "releases of slice %d", i)
				}
				assert.Zero(t, l.Held())
				task.NextAttempt()
			}
		})
	}
	owners.Wait()
	done.Store(true)
	background.Wait()
	r.inFlight(route, 0, 0)
}

// Lists and permits share a window, which neither goes beyond.
func TestListsAndPermitsShareWindow(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	rounds := 2_000
	if testing.Short() {
		rounds = 800
	}
	var out gauged
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			var l List
			for i := range rounds {
				list := sizes(1 + i%20)
				n := sum(list, ^uint32(0))
				d := route.TryAcquireList(&l, gen, list, nil)
				if !d.Admitted() {
					continue
				}
				out.add(n)
				if !assert.NoError(t, l.Posting(1, r.now)) {
					return
				}
				out.add(-n)
				l.Settle(d.Use, 0x3ff, success, r.now)
				l.Settle(d.Use, ^uint32(0), success, r.now)
			}
		})
		wg.Go(func() {
			var s slice
			for range rounds {
				if d := route.TryAcquire(&s.permit, gen, 100*kib, nil); d.Admitted() {
					out.add(100 * kib)
					assert.NoError(t, s.permit.Posting(1, r.now))
					out.add(-100 * kib)
					s.permit.Settle(d.Use, success, r.now)
				}
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, out.most.Load(), mib, "bytes that were out at once")
	r.inFlight(route, 0, 0)
}
