package cc

import (
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHandoff(t *testing.T) {
	r := newRig(t, Enforce)
	from, to := r.route("D1", "P", "n1"), r.route("D2", "P", "n2")
	same := r.route("D1", "P", "n2")
	fg, tg, sg := r.renew(from, 1), r.renew(to, 1), r.renew(same, 2)
	var s, full slice
	require.True(t, from.TryAcquire(&s.permit, fg, 3*mib, &s.task).Admitted())
	before := s.permit.use
	require.True(t, to.Handoff(&s.permit, tg, &s.task).Admitted())
	r.inFlight(from, 0, 0)
	r.inFlight(to, 3*mib, 3*mib)
	assert.ErrorIs(t, s.permit.Posting(2, r.now), ErrUnknownQP, "it belongs to the new route now")

	d := from.TryAcquire(&s.permit, fg, 3*mib, &s.task)
	require.True(t, d.Admitted())
	d = same.Handoff(&s.permit, sg, &s.task)
	require.True(t, d.Admitted(), "the bytes do not stand in their own way on one device")
	assert.NotEqual(t, before, d.Use, "each admission has a use number of its own")
	require.NoError(t, s.permit.Posting(2, r.now))
	s.use = d.Use

	other := s.permit.bytes
	assert.ErrorIs(t, to.Handoff(&s.permit, tg, &s.task).Err, ErrNotHeld, "what is posted stays")
	r.inFlight(same, other, other)
	r.settle(&s, success)
	assert.ErrorIs(t, to.Handoff(&s.permit, tg, &s.task).Err, ErrNotHeld, "there is nothing to move")

	r.post(&full, to, tg, mib, 1)
	require.True(t, from.TryAcquire(&s.permit, fg, kib, &s.task).Admitted())
	d = to.Handoff(&s.permit, tg, &s.task)
	assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, d.Ruling)
	assert.Zero(t, s.permit.Held(), "a refusal leaves the permit free")
	assert.Equal(t, "CONGESTED", s.task.State().String())
	r.inFlight(from, 0, 0)
	r.settle(&full, success)
	r.inFlight(to, 0, 0)
}

// A wrong call changes nothing.
func TestHandoffWrongCalls(t *testing.T) {
	r, foreign := newRig(t, Enforce), newRig(t, Enforce)
	from, to := r.route("D1", "P", "n1"), r.route("D2", "P", "n2")
	away := foreign.route("D1", "P", "n1")
	fg, tg, ag := r.renew(from, 1), r.renew(to, 1), foreign.renew(away, 1)
	var s slice
	require.True(t, from.TryAcquire(&s.permit, fg, kib, nil).Admitted())
	assert.ErrorIs(t, away.Handoff(&s.permit, ag, nil).Err, ErrForeign)
	assert.ErrorContains(t, to.Handoff(&s.permit, tg+1, nil).Err, "the newest is 1")
	r.inFlight(from, kib, kib)
	require.NoError(t, s.permit.Posting(1, r.now), "it still is where it was")
	s.permit.Settle(s.permit.use, success, r.now)
	require.True(t, from.TryAcquire(&s.permit, fg, kib, nil).Admitted())
	r.ctl.Close()
	assert.ErrorIs(t, to.Handoff(&s.permit, tg, nil).Err, ErrClosed)
	assert.True(t, s.permit.Unposted())
	r.inFlight(from, 0, 0)
}

// A trial that is handed to another route is free again for the next slice.
func TestHandoffOfTrial(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route, spare := h.route("D1", "P", "n1"), h.route("D2", "P", "n2")
	h.fail(route, 3, retryExc)
	gen, _ := h.renewed(route)
	sg, _ := h.renewed(spare)
	h.advance(h.ctl.cfg.Cooldown)
	var s slice
	require.True(t, route.TryAcquire(&s.permit, gen, kib, nil).Admitted())
	require.Equal(t, Probing, route.State())
	require.True(t, spare.Handoff(&s.permit, sg, nil).Admitted())
	assert.Equal(t, Quarantined, route.State())
	s.permit.Unposted()
	assert.True(t, route.TryAcquire(&s.permit, gen, kib, nil).Admitted(), "the trial is due again at once")
	s.permit.Unposted()
	h.inFlight(route, 0, 0)
}
