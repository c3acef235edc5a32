package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of two verdicts only those that last have a say.
func TestTimesOfTwoVerdicts(t *testing.T) {
	over := rail.Breaker{Resume: 90, NextTrial: 90}
	short, long := rail.Breaker{Paused: true, Resume: 30, NextTrial: 35}, rail.Breaker{Paused: true, Resume: 60, NextTrial: 60}
	for _, tt := range []struct {
		path, local rail.Breaker
		due, ends   time.Duration
	}{{over, over, 0, 0}, {over, short, 35, 30}, {short, over, 35, 30}, {short, long, 60, 60}, {long, short, 60, 60}} {
		assert.Equal(t, tt.due, trialDue(&tt.path, &tt.local))
		assert.Equal(t, tt.ends, cooldownEnds(&tt.path, &tt.local))
	}
}

// Only QUARANTINED has a cooldown, and none is left when a trial after it was lost.
func TestCooldownOfTransitions(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	last := func() Transition { return h.seen[len(h.seen)-1] }
	assert.Equal(t, 30*time.Second, last().Cooldown)
	h.advance(2 * time.Second)
	early := h.probe(route)
	assert.Equal(t, Probing, last().To)
	assert.Zero(t, last().Cooldown, "28 s are left of it, but it is not in force")
	h.settle(early, teardown)
	assert.Equal(t, Quarantined, last().To)
	assert.Equal(t, 28*time.Second, last().Cooldown)

	h.advance(28 * time.Second)
	h.trial(route)
	h.advance(11 * time.Second)
	seen := len(h.seen)
	h.trial(route)
	require.Len(t, h.seen, seen+2, "the first one's lease expired, the second began")
	assert.Equal(t, Quarantined, h.seen[seen].To)
	assert.Zero(t, h.seen[seen].Cooldown)
}

// A success ends a row of faults, whatever the law did meanwhile.
func TestSuccessEndsARowOfFaults(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 1, locLen())
	h.congest(route, true)
	h.congest(route, false)
	h.renewed(route)
	h.succeed(route)
	h.fail(route, 2, locLen())
	assert.Empty(t, h.notices(PersistentFault))
	h.fail(route, 1, locLen())
	assert.Len(t, h.notices(PersistentFault), 1)
}

// The verdict of a trial that succeeded is that success, at the latest time that was heard of.
func TestTransitionOfASuccess(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route, other := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	x := h.trial(route)
	h.advance(2 * time.Second)
	h.fail(other, 1, retryExc)
	latest := h.now
	h.now -= time.Second
	h.settle(x, success)
	back := h.seen[len(h.seen)-1]
	assert.Equal(t, Healthy, back.To)
	assert.Equal(t, success, back.Verdict)
	assert.Equal(t, latest, back.At)
}

// The success of a trial whose lease expired, and that another trial has made needless, is
// one like any other.
func TestSuccessOfANeedlessTrial(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	late := h.trial(route)
	h.advance(11 * time.Second)
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
	h.advance(29 * time.Second)
	h.settle(late, success)
	h.advance(11 * time.Second)
	h.fail(route, 3, retryExc)
	assert.Equal(t, 30*time.Second, route.path().Resume-h.now, "the path came back 40 s ago")
}

// A route that was suspected for its silence is verified by one probe on a new endpoint.
func TestProbeOfASilentRoute(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.renewed(route)
	route.device.locked(func() {
		route.health.early = true
		route.reconsider(h.now, cause{reason: classify.ReasonRouteSuspect})
	})
	h.state(route, Suspect)
	h.settle(h.probe(route), retryExc)
	h.state(route, Quarantined)
	assert.Equal(t, classify.ReasonProbeFailed, h.seen[len(h.seen)-1].Reason)
}

// What revives a port leaves the routes alone that are not limited: a trial whose lease
// has expired is seen when somebody asks.
func TestReviveLeavesOthersAlone(t *testing.T) {
	h := newHealthRig(t, Enforce)
	p, q := h.routeOn(1, "P"), h.routeOn(1, "Q")
	h.fail(p, 3, retryExc)
	h.fail(q, 3, retryExc)
	h.renewed(p)
	h.renewed(q)
	h.advance(30 * time.Second)
	h.trial(p)
	h.advance(11 * time.Second)
	h.settle(h.trial(q), success)
	assert.Empty(t, h.deviceSnapshot("D1").ExhaustedPorts)
	h.state(p, Probing)
}

// A second event of a port moves nothing of the quarantine that the first one brought.
func TestSecondEventOfAPort(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.portErr()
	local := &route.health.record.local
	assert.Equal(t, h.now+30*time.Second, local.Resume)
	local.Resume, local.NextTrial = h.now, h.now+time.Second // a trial that proved nothing, after it
	h.portErr()
	assert.Equal(t, h.now+time.Second, local.NextTrial)
}

// A cooldown that is over does not shorten another one.
func TestEventAtTheEndOfACooldown(t *testing.T) {
	for _, left := range []time.Duration{0, 1} {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		h.quarantine(route)
		h.advance(30*time.Second - left)
		h.portErr()
		want := 30 * time.Second
		if left > 0 {
			want = left
		}
		assert.Equal(t, want, route.health.record.local.Resume-h.now)
	}
}

// A snapshot shows the trial of a port too.
func TestSnapshotOfAPortsTrial(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.portErr()
	h.renewed(route)
	h.advance(30 * time.Second)
	assert.False(t, route.Snapshot().Health.TrialOut)
	h.trial(route)
	assert.True(t, route.Snapshot().Health.TrialOut)
}

// A probe verifies nothing on an endpoint on which a user's slice has failed already.
func TestProbeOnAnEndpointThatFailed(t *testing.T) {
	h := newHealthRig(t, Enforce, func(c *Config) { c.HardErrorThreshold = 5 })
	route := h.route("D1", "P", "n1")
	h.fail(route, 1, retryExc)
	gen, qp := h.renewed(route, 2)
	var user, probe slice
	h.post(&user, route, gen, kib, qp)
	d := route.TryProbe(&probe.permit, gen, 64)
	require.True(t, d.Admitted())
	require.NoError(t, probe.permit.Posting(qp+1, h.now))
	probe.use = d.Use
	h.settle(&user, retryExc)
	h.settle(&probe, retryExc)
	h.count(route, 3)
	h.state(route, Suspect)
}
