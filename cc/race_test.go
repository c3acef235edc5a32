package cc

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
)

// Completion, deadline, cancel and teardown race for the same permits while their
// owner retries, other workers renew and a monitor looks on. Each edge is taken
// once for each admission, and everything comes back.
func TestSettleFromAllSides(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	r.renew(route, 1)
	const owners = 4
	rounds := 3_000
	if testing.Short() {
		rounds = 800
	}
	var admitted, released, ended atomic.Int64
	var done atomic.Bool
	var background, wg sync.WaitGroup

	background.Go(func() { // rebuilds
		for !done.Load() {
			route.Renew(route.Snapshot().Generation, []QP{{ID: 1, CQ: 1}})
		}
	})
	background.Go(func() { // looks on
		for !done.Load() {
			for _, s := range r.ctl.Snapshot().Routes {
				assert.GreaterOrEqual(t, s.InFlightBytes, int64(0), "bytes in flight")
				assert.LessOrEqual(t, s.InFlightBytes, mib, "bytes in flight")
			}
			r.ctl.Event(classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "D1", QP: 1}}, r.now)
		}
	})
	for range owners {
		wg.Go(func() {
			var s slice
			for range rounds {
				d := route.TryAcquire(&s.permit, route.Snapshot().Generation, 300*kib, &s.task)
				if !d.Admitted() {
					continue
				}
				admitted.Add(1)
				take := func(e Edges) {
					if e&Ended != 0 {
						ended.Add(1)
					}
					if e&Released != 0 {
						released.Add(1)
					}
				}
				posting := s.permit.Posting(1, r.now)
				if posting != nil { // renewed or retired: rolled back
					ended.Add(1)
					released.Add(1)
					continue
				}
				var sides sync.WaitGroup
				for _, v := range []classify.Verdict{success, deadline, cancel, flush} {
					sides.Go(func() { take(s.permit.Settle(d.Use, v, r.now)) })
				}
				sides.Wait()
				take(s.permit.Settle(d.Use, teardown, r.now))
				assert.Zero(t, s.permit.Held())
			}
		})
	}
	wg.Wait()
	done.Store(true)
	background.Wait()
	assert.Positive(t, admitted.Load())
	assert.Equal(t, admitted.Load(), released.Load(), "one release for each admission")
	assert.Equal(t, admitted.Load(), ended.Load(), "one verdict for each admission")
	r.inFlight(route, 0, 0)
}

// Routes of one device race for its window: the device never holds more than its
// window, and always what its routes hold.
func TestDeviceSharedByRoutes(t *testing.T) {
	r := newRig(t, Enforce)
	const workers = 8
	rounds := 5_000
	if testing.Short() {
		rounds = 1_000
	}
	var out gauged
	var wg sync.WaitGroup
	var routes []*Route
	for w := range workers {
		route := r.route("D1", "P", string(rune('a'+w)))
		gen := r.renew(route, uint64(w+1))
		routes = append(routes, route)
		wg.Go(func() {
			permits := make([]slice, 4)
			for i := range rounds {
				s := &permits[i%len(permits)]
				if n := s.permit.Held(); n != 0 {
					out.add(-n)
					s.permit.Settle(s.use, success, r.now)
				}
				n := int64(1+(i*37+w)%300) * kib
				if d := route.TryAcquire(&s.permit, gen, n, nil); d.Admitted() {
					s.use = d.Use
					out.add(n)
					assert.NoError(t, s.permit.Posting(uint64(w+1), r.now))
				}
			}
			for i := range permits {
				out.add(-permits[i].permit.Held())
				permits[i].permit.Settle(permits[i].use, teardown, r.now)
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, out.most.Load(), 4*mib, "bytes that were out of the device at once")
	for _, route := range routes {
		r.inFlight(route, 0, 0)
	}
}

// The owner acquires again as soon as some call has returned Released, while the
// other observers of the use before are still inside of Settle.
func TestReuseRightAfterReleased(t *testing.T) {
	r := newRig(t, Observe) // no suspicion in the way
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	var s slice
	var wg sync.WaitGroup
	for range rounds {
		if route.Snapshot().NeedsRenew {
			gen = r.renew(route, 1)
		}
		d := route.TryAcquire(&s.permit, gen, 4*kib, &s.task)
		if !assert.True(t, d.Admitted(), "%s", d) || !assert.NoError(t, s.permit.Posting(1, r.now)) {
			break
		}
		released := make(chan bool, 3)
		for _, v := range []classify.Verdict{deadline, cancel, success} {
			wg.Go(func() {
				if s.permit.Settle(d.Use, v, r.now)&Released != 0 {
					released <- true
				}
			})
		}
		<-released
		assert.Empty(t, released, "one call releases")
	}
	wg.Wait()
	r.inFlight(route, 0, 0)
}
