package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A route that is in use, refuses, is looked at, probed and closed has no record
// while it stays healthy.
func TestHealthyRouteHasNoRecord(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route)
	var full, refused, probe slice
	h.post(&full, route, gen, mib, qp)
	assert.False(t, route.TryAcquire(&refused.permit, gen, kib, &refused.task).Admitted())
	h.settle(&full, success)
	require.True(t, route.TryProbe(&probe.permit, gen, kib).Admitted())
	probe.permit.Unposted()
	h.ctl.Tick(h.now)
	assert.Empty(t, h.ctl.Due(h.now))
	assert.Zero(t, h.event(classify.EventPortActive, classify.Element{Port: 2}))
	s := route.Snapshot().Health
	assert.Equal(t, HealthSnapshot{Cooldown: s.Cooldown}, s)
	h.ctl.Close()
	assert.Nil(t, route.health.record)
}

// Each kind of trouble opens a record, and the end of it keeps it.
func TestTroubleOpensRecord(t *testing.T) {
	tests := map[string]func(*healthRig, *Route){
		"congested":                   func(h *healthRig, r *Route) { h.congest(r, true) },
		"suspect":                     func(h *healthRig, r *Route) { h.fail(r, 1, retryExc) },
		"a fault that does not count": func(h *healthRig, r *Route) { h.fail(r, 1, classify.Completion(classify.StatusLocLenErr, 0)) },
		"quarantined at once":         func(h *healthRig, r *Route) { h.event(classify.EventPortErr, classify.Element{Port: 1}) },
	}
	for name, trouble := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.renewed(route)
			trouble(h, route)
			opened := route.health.record
			require.NotNil(t, opened)
			h.congest(route, false)
			h.advance(time.Minute)
			h.renewed(route)
			h.succeed(route)
			h.state(route, Healthy)
			assert.Same(t, opened, route.health.record)
		})
	}
}
