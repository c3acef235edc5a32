package cc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// soon runs f and fails, with all stacks, if it does not end: a wake-up was lost or
// claims block each other.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s did not end\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}

// Waiters and callers of TryAcquire of all sizes race on routes of one device, while
// others cancel, windows move and claims are left behind. Nobody sleeps for ever, no
// window is exceeded, and all bytes come back.
func TestWaiterRace(t *testing.T) {
	r := newRig(t, Enforce)
	start := time.Now()
	ctl, err := New(r.ctl.cfg, WithClock(func() time.Duration { return time.Since(start) }))
	require.NoError(t, err)
	r.ctl = ctl
	const routes, waiters, pollers = 4, 6, 2
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	all := make([]*Route, routes)
	gens := make([]Generation, routes)
	for i := range all {
		all[i] = r.route("D1", "P", fmt.Sprint("n", i))
		gens[i] = r.renew(all[i], uint64(i+1))
	}
	var out, admitted, gaveUp atomic.Int64
	size := func(rnd *rand.Rand) int64 {
		switch rnd.IntN(20) {
		case 0:
			return 3 * mib // more than a route's window
		case 1:
			return 5 * mib // more than the device's
		}
		return 1 + rnd.Int64N(400*kib)
	}
	life := func(s *slice, i int, n int64, use Use) {
		if now := out.Add(n); n < 4*mib {
			assert.LessOrEqual(t, now, 4*mib, "bytes out of the device at once")
		}
		assert.NoError(t, s.permit.Posting(uint64(i+1), ctl.now()))
		runtime.Gosched()
		out.Add(-n)
		s.permit.Settle(use, success, ctl.now())
		admitted.Add(1)
	}
	var stop atomic.Bool
	var background, wg sync.WaitGroup
	background.Go(func() { // the monitor's part
		for k := int64(0); !stop.Load(); k++ {
			r.setWindow(all[k%routes], mib/2+(k%2)*mib/2)
			runtime.Gosched()
		}
	})
	for w := range pollers {
		background.Go(func() { // spins, and leaves claims behind
			rnd := rand.New(rand.NewPCG(uint64(w), 7))
			var s slice
			for !stop.Load() {
				i, n := rnd.IntN(routes), size(rnd)
				if d := all[i].TryAcquire(&s.permit, gens[i], n, nil); d.Admitted() {
					life(&s, i, n, d.Use)
				}
				runtime.Gosched()
			}
		})
	}
	for w := range routes * waiters {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 9))
			i := w % routes
			var s slice
			for range rounds {
				n := size(rnd)
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if rnd.IntN(10) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rnd.IntN(1000))*time.Microsecond)
				}
				d := all[i].Acquire(ctx, &s.permit, gens[i], n, nil)
				cancel()
				if d.Admitted() {
					life(&s, i, n, d.Use)
				} else if assert.ErrorIs(t, d.Err, context.DeadlineExceeded) {
					gaveUp.Add(1)
				}
			}
		})
	}
	soon(t, "waiting", wg.Wait)
	stop.Store(true)
	soon(t, "polling", background.Wait)
	assert.Positive(t, admitted.Load())
	t.Logf("%d admitted, %d gave up", admitted.Load(), gaveUp.Load())
	for _, route := range all {
		r.inFlight(route, 0, 0)
		assert.Nil(t, route.line.Load().first(), "nobody is left in line")
	}
}

// Only the release of one slice at a time wakes anybody: each of those that wait in
// turn has to be woken by the one before it.
func TestNoWakeUpIsLost(t *testing.T) {
	r := newRig(t, Enforce)
	routes := []*Route{r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")}
	gens := []Generation{r.renew(routes[0], 1), r.renew(routes[1], 2)}
	rounds := 20_000
	if testing.Short() {
		rounds = 3_000
	}
	for _, n := range []int64{mib, 5 * mib} { // the route is what is full, or the device
		soon(t, fmt.Sprintf("turns with slices of %d bytes", n), func() {
			var wg sync.WaitGroup
			var inside atomic.Int64
			for w := range 4 {
				i := w % 2
				if n == mib {
					i = 0
				}
				wg.Go(func() {
					var s slice
					for range rounds {
						d := routes[i].Acquire(context.Background(), &s.permit, gens[i], n, nil)
						if !assert.True(t, d.Admitted(), "%s", d) {
							return
						}
						assert.Equal(t, int64(1), inside.Add(1), "slices that fill the domain, at once")
						inside.Add(-1)
						if w == 3 {
							s.permit.Unposted()
							continue
						}
						assert.NoError(t, s.permit.Posting(uint64(i+1), 0))
						s.permit.Settle(d.Use, success, 0)
					}
				})
			}
			wg.Wait()
		})
	}
	r.inFlight(routes[0], 0, 0)
}

// A hundred thousand goroutines wait on one route: each costs some hundred bytes
// beside its stack, a release wakes one, and Close sends all home.
func TestManyWaiters(t *testing.T) {
	many := 100_000
	if testing.Short() {
		many = 10_000
	}
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var full slice
	r.post(&full, route, gen, mib, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var served, closed, cancelled atomic.Int64
	permits := make([]Permit, many)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for i := range permits {
		wg.Go(func() {
			c := ctx
			if i%10 != 0 {
				c = context.Background()
			}
			p := &permits[i]
			switch d := route.Acquire(c, p, gen, 64*kib, nil); {
			case d.Admitted():
				served.Add(1)
				assert.NoError(t, p.Posting(1, 0))
				p.Settle(d.Use, success, 0)
			case c.Err() != nil:
				cancelled.Add(1)
			default:
				closed.Add(1)
				assert.ErrorIs(t, d.Err, ErrClosed)
			}
		})
	}
	parked := func() int {
		route.device.lineMu.Lock()
		defer route.device.lineMu.Unlock()
		return route.line.Load().parked.Len()
	}
	require.Eventually(t, func() bool { return route.line.Load() != nil && parked() == many }, time.Minute, time.Millisecond, "all are parked")
	runtime.GC()
	runtime.ReadMemStats(&after)
	perWaiter := (after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)) / uint64(many)
	assert.Less(t, perWaiter, uint64(1024), "heap bytes per waiter")

	cancel()
	require.Eventually(t, func() bool { return cancelled.Load() == int64(many/10) }, time.Minute, time.Millisecond, "who gives up leaves from the middle")
	refused := route.refusals.counters().routeWindow.Load()
	var s slice
	for range 1000 {
		d := route.TryAcquire(&s.permit, gen, kib, nil)
		assert.False(t, d.Admitted())
	}
	assert.LessOrEqual(t, route.refusals.counters().routeWindow.Load()-refused, uint64(1010), "a full route wakes nobody")
	if testing.Short() {
		r.settle(&full, success)
		soon(t, "serving", wg.Wait)
		assert.Equal(t, int64(many-many/10), served.Load())
	} else {
		r.ctl.Close()
		soon(t, "closing", wg.Wait)
		assert.Equal(t, int64(many-many/10), closed.Load())
		r.settle(&full, success)
	}
	r.inFlight(route, 0, 0)
}

// Random claims and waiters over two devices; then everything settles: whoever is
// parked is admitted, whatever claims are left behind.
func TestClaimsNeverDeadlock(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		soon(t, fmt.Sprintf("seed %d", seed), func() { claimsSettle(t, uint64(seed)) })
	}
}

func claimsSettle(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	r := newRig(t, Enforce)
	start := time.Now()
	fast := func() time.Duration { return 100 * time.Since(start) } // claims mature in microseconds
	ctl, err := New(r.ctl.cfg, WithClock(fast))
	require.NoError(t, err)
	r.ctl = ctl
	var routes []*Route
	var gens []Generation
	for i := range 6 {
		routes = append(routes, r.route(fmt.Sprint("D", i%2), "P", fmt.Sprint("n", i)))
		gens = append(gens, r.renew(routes[i], uint64(i+1)))
	}
	sizes := []int64{kib, 300 * kib, mib, 2 * mib, 5 * mib}
	var open []*slice
	var wg sync.WaitGroup
	for range 80 {
		i, n := rnd.IntN(len(routes)), sizes[rnd.IntN(len(sizes))]
		s := &slice{}
		if rnd.IntN(3) == 0 {
			wg.Go(func() {
				d := routes[i].Acquire(context.Background(), &s.permit, gens[i], n, nil)
				if assert.True(t, d.Admitted(), "seed %d: %s", seed, d) {
					assert.NoError(t, s.permit.Posting(uint64(i+1), 0))
					s.permit.Settle(d.Use, success, 0)
				}
			})
			continue
		}
		d := routes[i].TryAcquire(&s.permit, gens[i], n, nil) // a refusal may leave a claim
		if d.Admitted() {
			open = append(open, s)
		}
		if len(open) > 0 && rnd.IntN(3) == 0 {
			k := rnd.IntN(len(open))
			open[k].permit.Unposted()
			open = append(open[:k], open[k+1:]...)
		}
	}
	for _, s := range open {
		s.permit.Unposted()
	}
	wg.Wait()
	for _, route := range routes {
		r.inFlight(route, 0, 0)
	}
}
