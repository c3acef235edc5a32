package cc

import (
	"errors"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecisionString(t *testing.T) {
	for want, d := range map[string]Decision{
		"boom":                                      {Err: errors.New("boom")},
		"admit, use 7":                              {Ruling: Ruling{Answer: Admit}, Use: 7},
		"defer, BYTE_WINDOW of the device":          {Ruling: Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: DeviceDomain}},
		"avoid, PATH_QUARANTINED, renew":            {Ruling: Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined, Hint: NeedRenew}},
		"avoid, PATH_QUARANTINED, ask again in 24s": {Ruling: Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined}, RetryAfter: 24 * time.Second},
		"avoid, PATH_QUARANTINED, ask again in 1ns": {Ruling: Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined}, RetryAfter: 1},
	} {
		assert.Equal(t, want, d.String())
	}
}

func TestStateStanding(t *testing.T) {
	for state, want := range map[State]rail.Standing{
		Healthy: rail.Healthy, Congested: rail.Healthy, Suspect: rail.Suspect, Quarantined: rail.Paused, Probing: rail.Paused,
	} {
		assert.Equal(t, want, state.Standing(), state.String())
	}
}

// Waiting does not help where there is no endpoint to wait for.
func TestWantsEndpoint(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	wants := func(want bool, gen Generation, why string) {
		t.Helper()
		var s slice
		d := route.TryAcquire(&s.permit, gen, kib, nil)
		assert.Equal(t, want, d.WantsEndpoint(), "%s: %s", why, d)
		assert.Equal(t, want && gen == route.current.Load().number, route.Snapshot().NeedsRenew, why)
		s.permit.Unposted()
	}
	wants(true, 0, "there was none yet")
	gen, _ := h.renewed(route)
	wants(false, gen, "it is new")
	next, _ := h.renewed(route)
	wants(true, gen, "it was renewed")
	wants(false, next, "this one is current")
	h.fail(route, 3, retryExc)
	h.advance(29 * time.Second)
	var s slice
	d := h.ask(&s, route, kib)
	assert.False(t, d.WantsEndpoint(), "a cooldown is waited for: %s", d)
	assert.True(t, route.Snapshot().NeedsRenew, "no trial starts on an endpoint that failed")
	h.advance(time.Second)
	wants(true, route.current.Load().number, "the trial needs another one")
	gen, _ = h.renewed(route)
	wants(false, gen, "that one")
}

// A nil option is named, and is no panic.
func TestNilOption(t *testing.T) {
	_, err := New(DefaultConfig(), WithJitter(func() float64 { return 1 }), nil)
	require.EqualError(t, err, "cc: New: option 2 of 2 is nil; leave it out")
}
