package cc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A wrong call is told at once, also where others wait.
func TestWrongCallDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var full slice
		r.post(&full, route, gen, mib, 1)
		first := r.wait(t.Context(), route, gen, kib, 1)
		wrong := r.wait(t.Context(), route, gen, 0, 1)
		assert.True(t, wrong.over())
		assert.Error(t, wrong.d.Err)
		r.settle(&full, success)
		require.True(t, first.over())
		r.settle(&first.slice, success)
	})
}

// Who waits gives up the claim that TryAcquire left: a waiter that goes away leaves none.
func TestWaiterLeavesNoClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var full slice
		r.post(&full, route, gen, mib, 1)
		first := r.wait(t.Context(), route, gen, kib, 1)
		ctx, cancel := context.WithCancel(t.Context())
		large := &sleeper{done: make(chan struct{})}
		require.Equal(t, RouteDomain, route.TryAcquire(&large.permit, gen, 2*mib, nil).Domain)
		require.NotZero(t, route.line.Load().claim.number)
		go func() {
			defer close(large.done)
			large.d = route.Acquire(ctx, &large.permit, gen, 2*mib, nil)
		}()
		require.False(t, large.over())
		assert.Zero(t, route.line.Load().claim.number)
		cancel()
		require.True(t, large.over())
		r.settle(&full, success)
		require.True(t, first.over())
		assert.False(t, route.inLine())
		r.settle(&first.slice, success)
	})
}

// A waiter that its own route holds up stands in no way of those who wait for the device.
func TestWaiterLeavesTheDevicesLine(t *testing.T) {
	for name, comes := range map[string]bool{"before others come": false, "when others stand behind it": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Enforce)
				busy, route, other := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1"), r.route("D1", "R", "n1")
				gen, ogen := r.renew(route, 2), r.renew(other, 3)
				var full, out slice
				r.post(&out, route, gen, 64*kib, 2)
				busy.window.Store(4 * mib)
				r.post(&full, busy, r.renew(busy, 1), 4*mib-64*kib, 1)
				first := r.wait(t.Context(), route, gen, 512*kib, 2)
				require.NotNil(t, route.device.line.Load())
				var second *sleeper
				if comes {
					second = r.wait(t.Context(), other, ogen, 256*kib, 3)
					route.window.Store(64 * kib)
				} else {
					r.setWindow(route, 64*kib)
					require.False(t, first.over())
					assert.Nil(t, route.device.line.Load(), "it looked, and left")
					second = r.wait(t.Context(), other, ogen, 256*kib, 3)
				}
				require.False(t, second.over())
				r.settle(&full, success)
				require.True(t, second.over(), "there is room for it")
				require.False(t, first.over())
				assert.Nil(t, route.device.line.Load())
				r.settle(&second.slice, success)
				r.settle(&out, success)
				require.True(t, first.over(), "its route is empty")
				r.settle(&first.slice, success)
				r.inFlight(route, 0, 0)
			})
		})
	}
}

// Waiters stand in the device's line by when they came, not by when it refused them.
func TestDevicesLineIsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		busy, route, other := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1"), r.route("D1", "R", "n1")
		gen, ogen := r.renew(route, 2), r.renew(other, 3)
		var full, out slice
		r.post(&out, route, gen, mib, 2)
		busy.window.Store(4 * mib)
		r.post(&full, busy, r.renew(busy, 1), 3*mib, 1)
		first := r.wait(t.Context(), route, gen, 512*kib, 2) // the route is full
		second := r.wait(t.Context(), other, ogen, mib, 3)   // and so is the device
		r.setWindow(route, 2*mib)
		require.False(t, first.over(), "now the device holds it up")
		order := []uint64{}
		for e := route.device.line.Load().parked.Front(); e != nil; e = e.Next() {
			order = append(order, e.Value.(place).number)
		}
		assert.Len(t, order, 2)
		assert.IsIncreasing(t, order)
		r.settle(&full, success)
		require.True(t, first.over())
		require.True(t, second.over())
		for _, s := range []*slice{&out, &first.slice, &second.slice} {
			r.settle(s, success)
		}
		r.inFlight(route, 0, 0)
	})
}

// A deadline on a QP that was counted against the route before is no news of the route,
// but it retires the endpoint all the same: who waits on that looks again.
func TestRetiredEndpointWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var failed, late slice
		r.post(&failed, route, gen, 64*kib, 1)
		r.post(&late, route, gen, 64*kib, 1)
		r.settle(&failed, retryExc)
		require.Equal(t, Suspect, route.State())
		s := r.wait(t.Context(), route, gen, kib, 1)
		require.False(t, s.over(), "the suspect window is full")
		r.settle(&late, deadline)
		require.True(t, s.over())
		assert.Equal(t, classify.ReasonNeedsRenew, s.d.Reason)
		r.settle(&late, flush)
	})
}

// Where a claim stands, of the route or of its device, waiters look again when it may have
// lapsed; otherwise once in a probe interval.
func TestWhenWaitersLookAgain(t *testing.T) {
	const mine, shared = 3 * time.Millisecond, 5 * time.Millisecond
	for name, tt := range map[string]struct {
		route, device *line
		want          time.Duration
	}{
		"nobody":            {nil, nil, time.Second},
		"a waiter":          {&line{}, nil, time.Second},
		"waiters":           {&line{}, &line{}, time.Second},
		"a claim":           {&line{claim: claim{number: 1}}, nil, 4 * shared},
		"a device's claim":  {&line{}, &line{claim: claim{number: 2}}, 4 * shared},
		"a claim and a gap": {&line{claim: claim{number: 3}}, &line{}, 4 * shared},
	} {
		for _, swapped := range []bool{false, true} {
			r := newRig(t, Enforce)
			route := r.route("D1", "P", "n1")
			var s slice
			r.post(&s, route, r.renew(route, 1), kib, 1)
			r.settle(&s, success)
			route.meter.Load().drain.set(mine)
			route.device.report.drain.set(shared)
			if swapped {
				route.meter.Load().drain.set(shared)
				route.device.report.drain.set(mine)
			}
			route.line.Store(tt.route)
			route.device.line.Store(tt.device)
			assert.Equal(t, tt.want, route.lookAgain(Decision{}), name)
		}
	}
}

// A claim alone is nobody to stand behind: while it may be overtaken, who waits is
// admitted at once, and nothing is refused.
func TestWaitBesideAClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var out, large slice
		r.post(&out, route, gen, 64*kib, 1)
		require.Equal(t, RouteDomain, route.TryAcquire(&large.permit, gen, 2*mib, nil).Domain)
		before := route.Snapshot().Refusals
		s := r.wait(t.Context(), route, gen, kib, 1)
		require.True(t, s.over())
		require.True(t, s.d.Admitted())
		assert.Equal(t, before, route.Snapshot().Refusals)
		r.settle(&s.slice, success)
		assert.Equal(t, normal, s.task.State())
		r.settle(&out, success)
	})
}
