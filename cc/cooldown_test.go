package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// New evidence does not lengthen a running cooldown.
func TestCooldownIsNotLengthened(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route, 8)
	slices := make([]slice, 8)
	for i := range slices {
		h.post(&slices[i], route, gen, 4*kib, qp+uint64(i))
	}
	for i := range slices {
		h.settle(&slices[i], retryExc)
		h.advance(time.Millisecond)
	}
	left := func() time.Duration { return route.Snapshot().Health.CooldownLeft }
	require.Equal(t, 30*time.Second-6*time.Millisecond, left(), "since the third failure")
	h.advance(20*time.Second - 6*time.Millisecond)
	h.portErr()
	h.event(classify.EventDeviceFatal, classify.Element{})
	assert.Equal(t, 10*time.Second, left())
	assert.Equal(t, 30*time.Second, route.Snapshot().Health.Cooldown)
	h.done(route)
}

// The other way round: a path verdict cannot come while the port's runs, since
// failures of a quarantined route count nothing.
func TestFailuresOfQuarantinedRoute(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route, 4)
	slices := make([]slice, 4)
	for i := range slices {
		h.post(&slices[i], route, gen, 4*kib, qp+uint64(i))
	}
	h.portErr()
	for i := range slices {
		h.settle(&slices[i], retryExc)
		h.reason(&slices[i], unavailable, classify.ReasonPathQuarantined)
	}
	h.count(route, 0)
	assert.False(t, route.path().Paused)
	assert.Equal(t, 30*time.Second, route.Snapshot().Health.CooldownLeft)
	h.done(route)
}

// Jitter acts on cooldowns, with the controller's own source within 20 per cent.
func TestCooldownJitter(t *testing.T) {
	h := newHealthRig(t, Enforce)
	h.jitter = 1.2
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	assert.Equal(t, 36*time.Second, route.Snapshot().Health.CooldownLeft)
	h.portErr()
	other := h.route("D1", "Q", "n1")
	assert.Equal(t, 36*time.Second, other.Snapshot().Health.CooldownLeft)

	ctl, err := New(DefaultConfig())
	require.NoError(t, err)
	low, high := 2.0, 0.0
	for range 1000 {
		f := ctl.jitter()
		low, high = min(low, f), max(high, f)
	}
	assert.GreaterOrEqual(t, low, 0.8)
	assert.LessOrEqual(t, high, 1.2)
	assert.Greater(t, high-low, 0.3, "it spreads")
}

// A verdict that comes when the cooldown is over starts one of its own.
func TestVerdictAfterCooldown(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(35 * time.Second)
	h.portErr()
	assert.Equal(t, 30*time.Second, route.Snapshot().Health.CooldownLeft)
	h.advance(30 * time.Second)
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
	h.done(route)
}

// PORT_ACTIVE makes a trial due one probe interval later, a later PORT_ERR takes
// that back, and the end of the cooldown never moves.
func TestPortActive(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	port2, err := h.ctl.Route(rail.Pair{Peer: "P", Local: "D1", Port: 2, Remote: "n1"})
	require.NoError(t, err)
	elsewhere := h.route("D2", "P", "n1")
	for _, r := range []*Route{port2, elsewhere} {
		h.quarantine(r)
	}
	h.portErr()
	h.renewed(route)
	h.jitter = 0.8
	interval := 800 * time.Millisecond
	left := func() time.Duration { return route.Snapshot().Health.CooldownLeft }

	h.advance(5 * time.Second)
	h.portActive()
	h.ruling(route, avoided)
	h.portErr()
	h.advance(interval)
	h.ruling(route, avoided)
	h.portActive()
	h.advance(interval - 1)
	h.ruling(route, avoided)
	h.advance(1)
	h.ruling(port2, avoided)
	h.ruling(elsewhere, avoided)
	require.Equal(t, 25*time.Second-2*interval, left(), "the end of the cooldown stays")

	h.settle(h.trial(route), retryExc)
	h.renewed(route)
	h.state(route, Quarantined)
	assert.Equal(t, 25*time.Second-2*interval, left(), "a failed early trial does not move it")
	assert.Equal(t, 30*time.Second, route.Snapshot().Health.Cooldown, "nor lengthens the next")
	h.advance(interval - 1)
	h.ruling(route, avoided)
	h.advance(1)
	h.settle(h.trial(route), flush)
	h.advance(interval)
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
	h.done(route)
}

// PORT_ACTIVE gives a path that timeouts quarantined its early trial too.
func TestPortActiveAfterTimeouts(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.portErr()
	h.renewed(route)
	h.advance(time.Second)
	h.portActive()
	h.advance(time.Second)
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
	h.done(route)
}

// Cooldowns across the lives of a route: the failed trial of a port's verdict makes
// the next one longer too, and each quarantine soon after a recovery.
func TestCooldownsGrow(t *testing.T) {
	cooldown := func(r *Route) time.Duration { return r.Snapshot().Health.CooldownLeft }
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.portErr()
	for _, want := range []time.Duration{60, 120, 240, 300, 300} {
		h.renewed(route)
		h.advance(cooldown(route))
		h.settle(h.trial(route), retryExc)
		assert.Equal(t, want*time.Second, cooldown(route), "after a failed trial")
	}
	h.renewed(route)
	h.advance(cooldown(route))
	h.settle(h.trial(route), success)
	h.fail(route, 3, retryExc)
	assert.Equal(t, 300*time.Second, cooldown(route), "again at once")

	other := h.route("D2", "P", "n1")
	flap := func() {
		h.event(classify.EventPortErr, classify.Element{Device: "D2", Port: 1})
		h.renewed(other)
	}
	for _, want := range []time.Duration{30, 60, 120} {
		flap()
		assert.Equal(t, want*time.Second, cooldown(other), "a port that flaps")
		h.advance(cooldown(other))
		h.settle(h.trial(other), success)
	}
	h.done(route, other)
}

// A verdict of a pair that comes after its route's port recovered is a new
// quarantine within one cooldown, too.
func TestPathVerdictAfterPort(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.portErr()
	h.renewed(route)
	h.advance(30 * time.Second)
	h.settle(h.trial(route), success)
	h.fail(route, 3, retryExc)
	assert.Equal(t, 60*time.Second, route.Snapshot().Health.CooldownLeft)
	h.done(route)
}
