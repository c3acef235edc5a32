package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A user's slice that had to be the trial ends the pause of a pair that flaps at once.
func TestUserProvesAFlappingPairAtOnce(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber)
	route := h.route("D1", "P", "n1")
	h.flap(route)
	h.advance(time.Minute + 4*time.Second)
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
}

// A probe's success is one of several that the pair needs, also when its lease had
// expired: until then nothing but the time of the next probe has changed.
func TestOneProbeIsNoProof(t *testing.T) {
	for name, lease := range map[string]time.Duration{"in time": 0, "lease expired": 11 * time.Second} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce, withProber)
			route := h.route("D1", "P", "n1")
			h.flap(route)
			h.advance(time.Minute)
			evidence := route.path().Evidence
			x := h.probe(route)
			h.advance(lease)
			if lease > 0 {
				route.device.locked(func() { route.reconsider(h.now, cause{}) })
			}
			seen, local := len(h.seen), route.health.local()
			h.settle(x, success)
			h.state(route, Quarantined)
			assert.Equal(t, evidence, route.path().Evidence, "a success is no evidence")
			assert.Equal(t, local, route.health.local(), "its port had no part in it")
			assert.Zero(t, route.health.record.trial.number, "the trial is over")
			if lease == 0 {
				assert.Equal(t, classify.ReasonProbing, h.seen[seen].Reason, "it has more to prove")
				assert.Empty(t, h.due())
				h.advance(time.Second)
			}
			assert.Equal(t, []string{"n1"}, h.due())
		})
	}
}

// withShortPauses has all pauses be equally long, so that probes may come ahead of their
// turn on pairs that flap too.
func withShortPauses(c *Config) { c.CooldownCap = c.Cooldown }

// The same of a port: its next probe comes an interval later, and a probe that came
// ahead of its turn makes none of users.
func TestOneProbeIsNoProofOfAPort(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber, withShortPauses)
	route := h.route("D1", "P", "n1")
	h.renewed(route)
	h.portErr()
	h.advance(2 * time.Second)
	h.settle(h.probe(route), success)
	h.state(route, Healthy)
	h.advance(5 * time.Second)
	h.portErr()
	resume := route.health.record.local.Resume
	h.advance(2 * time.Second)
	seen := len(h.seen)
	h.settle(h.probe(route), success)
	h.state(route, Quarantined)
	assert.Equal(t, classify.ReasonProbing, h.seen[len(h.seen)-1].Reason, "transitions since: %v", h.seen[seen:])
	assert.Empty(t, h.due())
	assert.Equal(t, resume, route.health.record.due, "users are not let in early for it")
}

// Nor is a pair's early trial for users, after the first success of a probe.
func TestProbesOfAFlappingPairAreNoneOfUsers(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber, withShortPauses)
	route := h.route("D1", "P", "n1")
	h.flap(route)
	h.advance(2 * time.Second)
	resume := route.path().Resume
	h.settle(h.probe(route), success)
	h.state(route, Quarantined)
	assert.Equal(t, resume, route.health.record.due)
}

// A port that comes back after an early probe has its pairs come back: a pause that
// follows too soon is longer.
func TestReturnAfterAnEarlyProbe(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber)
	route := h.route("D1", "P", "n1")
	h.renewed(route)
	h.portErr()
	h.advance(2 * time.Second)
	h.settle(h.probe(route), success)
	h.state(route, Healthy)
	h.advance(10 * time.Second)
	h.fail(route, 3, retryExc)
	assert.Equal(t, time.Minute, route.path().Resume-h.now)
}

// An event of the port begins the proof of its routes and of their pairs anew.
func TestPortEventBeginsTheProofAnew(t *testing.T) {
	succeed := func(h *healthRig, route *Route, n int) {
		for range n {
			h.advance(time.Second)
			h.settle(h.probe(route), success)
		}
	}
	again := func(h *healthRig) {
		h.portErr()
		h.portActive()
	}
	t.Run("pair", func(t *testing.T) {
		h := newHealthRig(t, Enforce, withProber, withShortPauses)
		route := h.route("D1", "P", "n1")
		h.flap(route)
		h.advance(20 * time.Second) // so that the port does not flap
		succeed(h, route, 3)
		again(h)
		succeed(h, route, 4)
		h.state(route, Quarantined)
		succeed(h, route, 1)
		h.state(route, Healthy)
	})
	t.Run("port", func(t *testing.T) {
		h := newHealthRig(t, Enforce, withProber, withShortPauses)
		route := h.route("D1", "P", "n1")
		h.renewed(route)
		h.portErr()
		succeed(h, route, 1)
		h.state(route, Healthy)
		again(h) // too soon
		succeed(h, route, 3)
		again(h)
		succeed(h, route, 4)
		h.state(route, Quarantined)
		succeed(h, route, 1)
		h.state(route, Healthy)
	})
}

// The success of a probe whose lease expired is one of several too, and leaves the probe
// alone that is out since.
func TestLateProbeOfAFlappingPair(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber)
	route := h.route("D1", "P", "n1")
	h.flap(route)
	h.advance(time.Minute)
	late := h.probe(route)
	h.advance(11 * time.Second)
	next := h.probe(route)
	h.settle(late, success)
	h.state(route, Probing)
	h.settle(next, success)
	h.state(route, Quarantined)
}

// The same on one endpoint, so that the late success speaks of it: it is one of several,
// and decides nothing about the probe that is out, nor does it stand for a user's trial.
func TestLateProbeOfTheSameEndpoint(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber)
	route := h.route("D1", "P", "n1")
	h.flap(route)
	h.advance(time.Minute)
	gen, qp := h.renewed(route, 2)
	probe := func(qp uint64) *slice {
		s := &slice{}
		d := route.TryProbe(&s.permit, gen, 64)
		require.True(t, d.Admitted(), "%s", d)
		require.NoError(t, s.permit.Posting(qp, h.now))
		s.use = d.Use
		return s
	}
	late := probe(qp)
	h.advance(11 * time.Second)
	next := probe(qp + 1)
	out := route.health.record.trial
	h.settle(late, success)
	h.state(route, Probing)
	assert.Equal(t, out, route.health.record.trial)
	h.settle(next, success)
	h.state(route, Quarantined)
}

// A trial that the return of the port made early is followed by one that is early too.
func TestEarlyTrialsOfAFlappingPort(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber)
	route := h.route("D1", "P", "n1")
	h.renewed(route)
	h.portErr()
	h.advance(2 * time.Second)
	h.settle(h.probe(route), success)
	h.portErr()
	h.portActive()
	for range 4 {
		h.advance(time.Second)
		assert.Equal(t, []string{"n1"}, h.due())
		h.settle(h.probe(route), success)
		h.state(route, Quarantined)
	}
	h.advance(time.Second)
	h.settle(h.probe(route), success)
	h.state(route, Healthy)
}
