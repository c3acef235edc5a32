package cc

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A route that fits its lease leaves the device alone.
func TestLeaseCoversPosts(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	r.post(&s, route, gen, 4*kib, 1)
	r.settle(&s, success)
	granted := route.device.granted.Load()
	require.Positive(t, granted, "the first post brought a lease")
	for range 1000 {
		r.post(&s, route, gen, 4*kib, 1)
		assert.Equal(t, granted, route.device.granted.Load())
		r.settle(&s, success)
	}
	r.inFlight(route, 0, 0)
}

// How large a lease is, and when there is one: parts of a sixteenth of the device's window
// or of the route's whole window, while at most three quarters are given out.
func TestLeasePolicy(t *testing.T) {
	const part = 512 * kib // of 8 MiB
	for name, tt := range map[string]struct {
		window, direct int64 // of the route
		granted        int64 // before
		sizes          []int64
		lease          int64
		last           bool // the last size is worth a try
	}{
		"small":                            {2 * mib, 0, 0, []int64{4 * kib}, part, true},
		"a part":                           {2 * mib, 0, 0, []int64{part}, part, true},
		"more than a part":                 {2 * mib, 0, 0, []int64{part + 1}, 0, false},
		"a window below a part":            {64 * kib, 0, 0, []int64{64 * kib}, 64 * kib, true},
		"more than that window":            {64 * kib, 0, 0, []int64{64*kib + 1}, 0, false},
		"three quarters are given out":     {2 * mib, 0, 6*mib - part, []int64{4 * kib}, part, true},
		"more than three quarters":         {2 * mib, 0, 6*mib - part + 1, []int64{4 * kib}, 0, false},
		"as much as the lease has":         {2 * mib, 0, 0, []int64{part - kib, kib}, part, true},
		"more than the lease has":          {2 * mib, 0, 0, []int64{part - kib, kib + 1}, 2 * part, true},
		"what is out directly leaves room": {2 * mib, mib, mib, []int64{part, part}, 2 * part, true},
		"or does not":                      {mib, mib - part + 1, 0, []int64{part}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := tunedRig(t, Enforce, func(c *Config) { c.DeviceWindowBytes = 8 * mib })
			route := r.route("D1", "P", "n1")
			dev := route.device
			route.window.Store(tt.window)
			if tt.direct > 0 {
				require.True(t, route.flight.takeDirect(tt.direct, tt.window))
			}
			dev.granted.Store(tt.granted)
			got := false
			for i, n := range tt.sizes {
				got = route.growLease(n)
				if i < len(tt.sizes)-1 {
					require.True(t, got)
					taken, _ := route.flight.takeLeased(n)
					require.True(t, taken)
				}
			}
			assert.Equal(t, tt.last, got)
			assert.Equal(t, tt.lease, route.lease)
			assert.Equal(t, tt.lease > 0, route.lessee)
			assert.Equal(t, tt.granted+tt.lease, dev.granted.Load())
		})
	}
}

// A lease that ended leaves nothing behind, however it ended.
func TestEndOfALease(t *testing.T) {
	for name, end := range map[string]func(*Route){
		"recall": func(route *Route) { route.device.locked(route.device.recall) },
		"return": func(route *Route) { route.device.locked(func() { route.device.returnLease(route) }) },
		"close":  func(route *Route) { route.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Enforce)
			route := r.route("D1", "P", "n1")
			var s slice
			r.post(&s, route, r.renew(route, 1), 4*kib, 1)
			r.settle(&s, success)
			dev := route.device
			require.True(t, route.lessee)
			require.Equal(t, int64(1), dev.leases.Load())
			end(route)
			assert.Zero(t, route.lease)
			assert.False(t, route.lessee)
			assert.Zero(t, dev.granted.Load(), "idle credit is back")
			assert.Zero(t, dev.leases.Load())
			assert.Empty(t, dev.lessees)
			assert.Nil(t, dev.lessees[:1][0], "a route without a lease is not kept alive")
		})
	}
}

// Only a window that shrinks ends leases.
func TestLeaseOutlivesAWindowThatStays(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	var s slice
	r.post(&s, route, r.renew(route, 1), 4*kib, 1)
	r.settle(&s, success)
	route.device.setWindow(route.device.window.Load())
	assert.True(t, route.lessee)
	route.device.setWindow(route.device.window.Load() + 1)
	assert.True(t, route.lessee)
	route.device.setWindow(route.device.window.Load() - 1)
	assert.False(t, route.lessee)
}

// Idle credit of one route never refuses another.
func TestIdleLeaseIsRecalled(t *testing.T) {
	r := newRig(t, Enforce)
	idle, busy := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	var s slice
	r.post(&s, idle, r.renew(idle, 1), 4*kib, 1)
	r.settle(&s, success)
	require.Positive(t, idle.device.granted.Load())

	busy.window.Store(4 * mib)
	gen := r.renew(busy, 2)
	slices := make([]slice, 4)
	for i := range slices {
		r.post(&slices[i], busy, gen, mib, 2)
	}
	r.inFlight(busy, 4*mib, 4*mib)
	for i := range slices {
		r.settle(&slices[i], success)
	}
	r.inFlight(busy, 0, 0)
}

// What a recalled lease had under way returns to the device as it settles, and only
// once, also when the route has a new lease by then.
func TestRecallWithBytesUnderWay(t *testing.T) {
	for _, again := range []bool{false, true} {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		slices := make([]slice, 8)
		for i := range slices {
			r.post(&slices[i], route, gen, 16*kib, 1)
		}
		require.Equal(t, 128*kib, route.flight.leased(), "all on the lease")
		route.device.mu.Lock()
		route.device.recall()
		route.device.mu.Unlock()
		assert.Equal(t, 128*kib, route.device.granted.Load(), "only what is under way")
		if again {
			var s slice
			r.post(&s, route, gen, 16*kib, 1)
			r.settle(&s, success)
			require.Positive(t, route.lease)
		}
		for i := range slices {
			r.settle(&slices[i], success)
		}
		r.inFlight(route, 0, 0)
	}
}

// A slice larger than the device's window is never turned into a lease.
func TestOversizedSliceIsNoLease(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var big, small slice
	r.post(&big, route, gen, 64*mib, 1)
	assert.Equal(t, Defer, route.TryAcquire(&small.permit, gen, 1, nil).Answer)
	r.settle(&big, success)
	assert.LessOrEqual(t, route.device.granted.Load(), 4*mib)
	slices := make([]slice, 64)
	admitted := int64(0)
	for i := range slices {
		d := route.TryAcquire(&slices[i].permit, gen, 64*kib, nil)
		slices[i].use = d.Use
		admitted += slices[i].permit.Held()
	}
	assert.Equal(t, mib, admitted, "the route's window holds again")
	for i := range slices {
		slices[i].permit.Unposted()
	}
	r.inFlight(route, 0, 0)
}

// A device window that shrinks holds at once, whatever leases are out.
func TestDeviceWindowShrinks(t *testing.T) {
	r := newRig(t, Enforce)
	var routes []*Route
	var gens []Generation
	slices := make([]slice, 8)
	for i := range slices {
		route := r.route("D1", "P", string(rune('a'+i)))
		routes, gens = append(routes, route), append(gens, r.renew(route, uint64(i+1)))
		r.post(&slices[i], route, gens[i], 32*kib, uint64(i+1))
	}
	dev := routes[0].device
	dev.setWindow(256 * kib) // exactly what is in flight
	var s slice
	for i, route := range routes {
		d := route.TryAcquire(&s.permit, gens[i], 1, nil)
		assert.Equal(t, Ruling{Answer: Defer, Reason: d.Reason, Domain: DeviceDomain}, d.Ruling)
	}
	r.settle(&slices[0], success)
	r.post(&s, routes[5], gens[5], 32*kib, 6)
	assert.Equal(t, 256*kib, dev.inFlight())
	r.settle(&s, success)
	for i := range slices[1:] {
		r.settle(&slices[1+i], success)
	}
	r.inFlight(routes[0], 0, 0)
}

// Leases come and go, the window shrinks and grows, and slices of all sizes race:
// the device never holds more than its window, and all of it comes back.
func TestLeaseRace(t *testing.T) {
	r := newRig(t, Enforce)
	const workers = 6
	rounds := 20_000
	if testing.Short() {
		rounds = 3_000
	}
	var out gauged
	var done atomic.Bool
	var wg, background sync.WaitGroup
	first := r.route("D1", "P", "0")
	background.Go(func() {
		for i := 0; !done.Load(); i++ {
			first.device.mu.Lock()
			first.device.recall()
			first.device.mu.Unlock()
			assert.LessOrEqual(t, first.device.granted.Load(), 4*mib)
		}
	})
	for w := range workers {
		route := r.route("D1", "P", string(rune('0'+w)))
		gen := r.renew(route, uint64(w+1))
		wg.Go(func() {
			permits := make([]slice, 4)
			for i := range rounds {
				s := &permits[i%len(permits)]
				if n := s.permit.Held(); n != 0 {
					out.add(-n)
					s.permit.Settle(s.use, success, 0)
				}
				n := int64(1+(i*i*31+w)%200) * kib
				if i%50 == 0 {
					n = mib
				}
				if d := route.TryAcquire(&s.permit, gen, n, nil); d.Admitted() {
					s.use = d.Use
					out.add(n)
					assert.NoError(t, s.permit.Posting(uint64(w+1), 0))
				}
				assert.LessOrEqual(t, route.InFlight(), mib)
			}
			for i := range permits {
				out.add(-permits[i].permit.Held())
				permits[i].permit.Settle(permits[i].use, teardown, 0)
			}
		})
	}
	wg.Wait()
	done.Store(true)
	background.Wait()
	assert.LessOrEqual(t, out.most.Load(), 4*mib, "bytes that were out of the device at once")
	for w := range workers {
		r.inFlight(r.route("D1", "P", string(rune('0'+w))), 0, 0)
	}
}

// A goroutine that takes directly and is stopped at the worst moment: meanwhile the
// lease is opened, used and closed again, so that it looks as if nothing had
// happened. The window holds all the same.
func TestLeaseReopenedBehindDirectTake(t *testing.T) {
	r := newRig(t, Enforce) // route window 1 MiB
	route := r.route("D1", "P", "n1")
	route.device.window.Store(64 * mib)
	r.renew(route, 1)
	f := &route.flight
	route.closeLease()
	acquired := f.directAcquired.Load()
	require.Zero(t, f.inFlight(), "what takeDirect sees")

	var p Permit
	leased, refused := route.reserve(&p, 512*kib)
	require.True(t, leased)
	require.Equal(t, NoDomain, refused)
	route.closeLease()

	require.True(t, f.directAcquired.CompareAndSwap(acquired, acquired+units(mib)), "takeDirect goes on")
	assert.Equal(t, RouteDomain, route.cover(mib), "1 MiB beside 512 KiB in a window of 1 MiB")
}

// What the device refuses was not delivered by the route that gave it back.
func TestRefusedByDeviceIsNotDelivered(t *testing.T) {
	r := newRig(t, Enforce)
	a, b := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	ga, gb := r.renew(a, 1), r.renew(b, 2)
	var s, q slice
	r.post(&s, a, ga, 5*mib, 1)
	for range 3 {
		assert.Equal(t, DeviceDomain, b.TryAcquire(&q.permit, gb, 100*kib, nil).Domain)
	}
	assert.Zero(t, b.Snapshot().Flow.DeliveredBytes)
	r.settle(&s, success)
}

// A window that shrinks ends the leases, however little it shrinks.
func TestDeviceWindowShrinksALittle(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	r.post(&s, route, gen, 4*kib, 1)
	r.settle(&s, success)
	require.Positive(t, route.device.granted.Load())
	route.device.setWindow(4*mib - 1)
	assert.Zero(t, route.device.granted.Load())
}

// A reader that is interrupted between two words shows no more than was ever out.
func TestInFlightIsOfOneMoment(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() { // one slice of 64 KiB at a time
		var s slice
		for !done.Load() {
			if d := route.TryAcquire(&s.permit, gen, 64*kib, nil); d.Admitted() {
				s.permit.Unposted()
			}
		}
	})
	rounds := 300_000
	if testing.Short() {
		rounds = 30_000
	}
	var most int64
	for range rounds {
		most = max(most, route.InFlight())
	}
	done.Store(true)
	wg.Wait()
	assert.LessOrEqual(t, most, 64*kib)
}
