package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A size that is none is refused on the fast path too, which looks at nothing else.
func TestWrongSizeOnALease(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	r.post(&s, route, gen, 4*kib, 1)
	r.settle(&s, success)
	require.True(t, route.flight.open())
	for _, n := range []int64{0, -1, -1 << 63, MaxBytes + 1, 1<<63 - 1} {
		d := route.TryAcquire(&s.permit, gen, n, nil)
		assert.ErrorContains(t, d.Err, "must be 1 to 2305843009213693951; a slice has the length of its work request", "%d bytes", n)
		assert.Zero(t, s.permit.Held())
	}
	r.inFlight(route, 0, 0)
}

// Observe mode admits whatever is asked for, as long as it can be counted.
func TestObserveCountsUpToMaxBytes(t *testing.T) {
	r := newRig(t, Observe)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var first, second, third slice
	r.post(&first, route, gen, MaxBytes-10, 1)
	d := route.TryAcquire(&second.permit, gen, 11, nil)
	assert.ErrorContains(t, d.Err, "where 2305843009213693941 are in flight: together more than 2305843009213693951")
	r.post(&second, route, gen, 10, 1)
	d = route.TryAcquire(&third.permit, gen, 1, nil)
	assert.Error(t, d.Err)
	r.settle(&first, success)
	r.settle(&second, success)
	r.inFlight(route, 0, 0)
}

// The evidence of a refusal says how long the cooldown still lasts.
func TestRefusalTellsTheCooldown(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	h.advance(12 * time.Second)
	s := h.ruling(route, avoided)
	assert.Equal(t, taskstate.Seen(18*time.Second), s.task.Detail().Cooldown)
	h.advance(18 * time.Second)
	s = h.ruling(route, wantsRenew)
	assert.Equal(t, taskstate.Seen(time.Duration(0)), s.task.Detail().Cooldown)
	h.advance(time.Second)
	s = h.ruling(route, wantsRenew)
	assert.Equal(t, taskstate.Seen(time.Duration(0)), s.task.Detail().Cooldown, "it is over")
}

// Who asks again for the same reason adds nothing: the evidence is that of the first time.
func TestRefusalIsNotRepeated(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	var s slice
	first := h.now
	for range 3 {
		require.Equal(t, avoided, h.ask(&s, route, 4*kib).Ruling)
		h.advance(time.Second)
	}
	assert.Equal(t, taskstate.Seen(first), s.task.Detail().At)
}

// A slice that is asked for without its task is its task's still.
func TestAskWithoutTheTask(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.renewed(route)
	var full, s slice
	require.True(t, h.ask(&full, route, mib).Admitted())
	require.Equal(t, Defer, h.ask(&s, route, 4*kib).Answer)
	require.Equal(t, congested, s.task.State())
	gen := route.current.Load().number
	require.Equal(t, Defer, route.TryAcquire(&s.permit, gen, 8*mib, nil).Answer)
	full.permit.Unposted()
	require.True(t, h.ask(&s, route, 4*kib).Admitted())
	assert.Equal(t, unknown, s.task.State(), "the admission resolves what its first attempt met")
	s.permit.Unposted()
}

// In observe mode a denial is counted, and the task does not hear of it.
func TestObservedDenialIsNoEvidence(t *testing.T) {
	h := newHealthRig(t, Observe)
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	var s slice
	require.True(t, h.ask(&s, route, 4*kib).Admitted())
	assert.Equal(t, taskstate.Detail{Attempt: 1}, s.task.Detail())
	assert.Contains(t, route.Snapshot().Refusals, RefusalCount{Reason: classify.ReasonPathQuarantined, Count: 1})
	s.permit.Unposted()
}

// The least limit of a SUSPECT route is a limit.
func TestSuspectWindowOfOneByte(t *testing.T) {
	h := newHealthRig(t, Enforce, func(c *Config) { c.SuspectWindowBytes = 1 })
	route := h.route("D1", "P", "n1")
	h.fail(route, 1, retryExc)
	h.renewed(route)
	var s slice
	require.True(t, h.ask(&s, route, 1).Admitted())
	h.ruling(route, Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Domain: RouteDomain, Hint: Divert})
	s.permit.Unposted()
}

// A full route is told before a claim on the device that precedes.
func TestFullRouteBeforeAClaim(t *testing.T) {
	r := newRig(t, Enforce)
	route, other := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	c := r.newCrowd(route, 1)
	gen := r.renew(other, 2)
	var big, small slice
	require.Equal(t, DeviceDomain, other.TryAcquire(&big.permit, gen, 5*mib, nil).Domain)
	r.now += claimAt(route)
	assert.Equal(t, RouteDomain, route.TryAcquire(&small.permit, c.gen, mib-1, nil).Domain)
	c.settleAll()
	assert.Equal(t, DeviceDomain, route.TryAcquire(&small.permit, c.gen, mib-1, nil).Domain)
}
