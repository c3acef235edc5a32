package cc

import (
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseMode(t *testing.T) {
	for name, want := range map[string]Mode{"off": Off, "observe": Observe, "enforce": Enforce} {
		m, err := ParseMode(name)
		require.NoError(t, err)
		assert.Equal(t, want, m)
	}
	for _, name := range []string{"", "OFF", "on", " enforce"} {
		_, err := ParseMode(name)
		assert.ErrorContains(t, err, "use off, observe or enforce", "mode %q", name)
	}
	assert.Equal(t, Off, Mode(0), "the zero value is off")
}

// A controller tells the mode that it was built with, and reads the clock that it was given.
func TestModeAndNow(t *testing.T) {
	for _, mode := range []Mode{Off, Observe, Enforce} {
		r := newRig(t, mode)
		assert.Equal(t, mode, r.ctl.Mode())
		assert.Equal(t, mode, r.ctl.Config().Mode)
		assert.Equal(t, r.now, r.ctl.Now())
	}
}

// Off admits everything and keeps nothing.
func TestOff(t *testing.T) {
	r := newRig(t, Off)
	route := r.route("D1", "P", "n1")
	gen, err := route.Renew(0, []QP{{ID: 1}})
	require.NoError(t, err)
	assert.Equal(t, Generation(1), gen)
	for old := range Generation(3) {
		gen, err := route.Renew(old, []QP{{ID: 1}})
		require.NoError(t, err)
		assert.Equal(t, old+1, gen, "nobody keeps which one is current")
	}
	var s slice
	for range 100 {
		d := route.TryAcquire(&s.permit, 77, 64*mib, &s.task)
		require.True(t, d.Admitted())
		require.NoError(t, s.permit.Posting(99, r.now))
		require.Zero(t, s.permit.Settle(d.Use, success, r.now))
		require.Zero(t, s.permit.Settle(d.Use, retryExc, r.now))
		require.False(t, s.permit.Unposted())
	}
	r.inFlight(route, 0, 0)
	assert.Empty(t, route.Snapshot().Refusals)
	assert.Equal(t, "UNKNOWN", s.task.State().String(), "a controller that is off gives no evidence")
}

// Observe refuses nothing, keeps exact accounts, and counts what enforce would
// have refused.
func TestObserve(t *testing.T) {
	r := newRig(t, Observe)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	slices := make([]slice, 8)
	for i := range slices {
		r.post(&slices[i], route, gen, mib, 1)
	}
	r.inFlight(route, 8*mib, 8*mib)
	assert.Equal(t, []RefusalCount{{Reason: classify.ReasonByteWindow, Domain: RouteDomain, Count: 7}}, route.Snapshot().Refusals)
	assert.Equal(t, "UNKNOWN", slices[7].task.State().String(), "a denial that did not happen is no evidence")

	other := r.route("D1", "Q", "n1")
	var s slice
	r.post(&s, other, r.renew(other, 2), kib, 2)
	assert.Equal(t, []RefusalCount{{Reason: classify.ReasonByteWindow, Domain: DeviceDomain, Count: 1}}, other.Snapshot().Refusals)

	r.settle(&slices[0], deadline) // enforce would want a new endpoint
	var late slice
	r.post(&late, route, gen, kib, 1)
	r.renew(route, 3)
	var stale slice
	r.post(&stale, route, gen, kib, 1)
	var never slice
	r.post(&never, r.route("D2", "P", "n1"), 0, kib, 5)

	for i := range slices {
		assert.NotZero(t, r.settle(&slices[i], success)&Released)
	}
	assert.Equal(t, "NORMAL", slices[7].task.State().String(), "outcomes are evidence")
	for _, s := range []*slice{&s, &late, &stale, &never} {
		assert.Equal(t, Ended|Released, r.settle(s, success))
	}
	r.inFlight(route, 0, 0)
	refused := map[classify.Reason]uint64{}
	for _, k := range route.Snapshot().Refusals {
		refused[k.Reason] += k.Count
	}
	assert.Equal(t, uint64(1), refused[classify.ReasonNeedsRenew])
	assert.Equal(t, uint64(1), refused[classify.ReasonStaleGeneration])
}

func TestClose(t *testing.T) {
	for _, mode := range []Mode{Observe, Enforce} {
		r := newRig(t, mode)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		open := make([]slice, 10)
		for i := range open {
			r.post(&open[i], route, gen, 64*kib, 1)
		}
		var unposted, s slice
		require.True(t, route.TryAcquire(&unposted.permit, gen, kib, nil).Admitted())
		r.ctl.Close()
		r.ctl.Close()

		assert.ErrorIs(t, route.TryAcquire(&s.permit, gen, kib, nil).Err, ErrClosed)
		assert.ErrorIs(t, route.TryAcquire(&s.permit, ^Generation(0), kib, nil).Err, ErrClosed)
		if mode == Enforce {
			assert.ErrorIs(t, unposted.permit.Posting(1, r.now), ErrClosed, "what was admitted before is not posted after")
			require.False(t, unposted.permit.Unposted(), "Posting gave it back")
		}
		_, err := route.Renew(gen, []QP{{ID: 2}})
		assert.ErrorIs(t, err, ErrClosed)
		_, err = r.ctl.Route(route.Pair())
		assert.ErrorIs(t, err, ErrClosed)
		_, reached, err := r.ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}, r.now)
		require.NoError(t, err)
		assert.Zero(t, reached, "events are ignored")

		assert.Equal(t, Ended|Released, r.settle(&open[0], success))
		assert.Equal(t, Ended|Released, r.settle(&open[1], retryExc))
		for i := range open[2:] {
			assert.Equal(t, Ended|Released, r.settle(&open[2+i], teardown))
		}
		unposted.permit.Unposted()
		r.inFlight(route, 0, 0)
		assert.Zero(t, route.Snapshot().Generation)
	}
}
