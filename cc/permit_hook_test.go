package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The transition hook may settle the permit whose deadline is being recorded: the call
// that records it gives the bytes back, once, whatever comes after the first.
func TestPermitSettledByHook(t *testing.T) {
	for name, tt := range map[string]struct {
		in    []classify.Verdict
		edges Edges
		state taskstate.State
	}{
		"nothing":               {nil, Ended, congested},
		"a cancel":              {[]classify.Verdict{cancel, deadline}, Ended, congested},
		"a success":             {[]classify.Verdict{success}, Ended | Released, normal},
		"a success, a teardown": {[]classify.Verdict{success, teardown}, Ended | Released, normal},
		"a teardown":            {[]classify.Verdict{teardown}, Ended | Released, congested},
		"a teardown, a success": {[]classify.Verdict{teardown, success}, Ended | Released, congested},
		"a failure":             {[]classify.Verdict{retryExc}, Ended | Released, congested},
	} {
		t.Run(name, func(t *testing.T) {
			l := newListRig(t, Enforce)
			var s slice
			l.onSuspicion(func() {
				for _, v := range tt.in {
					assert.Zero(t, l.rig.settle(&s, v), "%s takes nothing by itself", v)
				}
			})
			l.rig.post(&s, l.route, l.gen, kib, l.qp)
			assert.Equal(t, tt.edges, l.rig.settle(&s, deadline))
			assert.Equal(t, tt.state, s.task.State())
			if tt.edges&Released == 0 {
				assert.Equal(t, Released, l.rig.settle(&s, teardown))
			}
			assert.Zero(t, l.rig.settle(&s, success))
			l.inFlight(l.route, 0, 0)
			assert.Zero(t, l.route.flight.delivered(), "what comes after a deadline was not delivered")
			d := l.route.TryAcquire(&s.permit, l.route.current.Load().number, kib, &s.task)
			assert.Equal(t, classify.ReasonNeedsRenew, d.Reason, "the permit is free: %s", d)
		})
	}
}

// A use number is all of it: none that its bits could be taken for.
func TestUseNumberIsCompared(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	s.permit.use = 511
	r.post(&s, route, gen, kib, 1)
	require.Equal(t, Use(512), s.use)
	for shift := range 32 {
		for _, u := range []Use{1 << shift, 512<<shift | 1, 512 >> shift} {
			if u != s.use {
				assert.Zero(t, s.permit.Settle(u, success, r.now), "use number %#x", u)
			}
		}
	}
	assert.Equal(t, Ended|Released, r.settle(&s, success))
}

// A slice that was cancelled on an endpoint which is not current is no sample.
func TestCancelledOnAnOldEndpointIsNoSample(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	for _, renewed := range []bool{false, true} {
		var s slice
		r.post(&s, route, gen, kib, 1)
		r.settle(&s, cancel)
		if renewed {
			r.renew(route, 2)
		}
		before := route.meter.Load().bytes.Load()
		r.now += time.Second
		r.settle(&s, success)
		assert.Equal(t, !renewed, route.meter.Load().bytes.Load() > before)
	}
}

// In observe mode a trial that is over by the time of its post goes out as any other slice.
func TestObservedTrialOverBeforePost(t *testing.T) {
	h := newHealthRig(t, Observe)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	var s slice
	require.True(t, h.ask(&s, route, 4*kib).Admitted())
	require.NotZero(t, s.permit.trial)
	h.portErr()
	require.NoError(t, s.permit.Posting(h.qp(route), h.now))
	assert.Zero(t, s.permit.trial)
	h.settle(&s, success)
	h.state(route, Quarantined)
	h.inFlight(route, 0, 0)
}
