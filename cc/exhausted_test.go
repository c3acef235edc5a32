package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (h *healthRig) routeOn(port uint8, peer string) *Route {
	h.Helper()
	r, err := h.ctl.Route(rail.Pair{Peer: peer, Local: "D1", Port: port, Remote: "n1"})
	require.NoError(h.TB, err)
	return r
}

func (h *healthRig) deviceSnapshot(name string) DeviceSnapshot {
	for _, d := range h.ctl.Snapshot().Devices {
		if d.Device == name {
			return d
		}
	}
	return DeviceSnapshot{}
}

// A port, and a device, without a usable route.
func TestExhausted(t *testing.T) {
	h := newHealthRig(t, Enforce, func(c *Config) { c.ProbeWindowBytes = 16 * kib })
	p1, q1, p2 := h.routeOn(1, "P"), h.routeOn(1, "Q"), h.routeOn(2, "P")
	elsewhere := h.route("D2", "P", "n1")
	h.fail(p1, 3, retryExc)
	assert.Empty(t, h.deviceSnapshot("D1").ExhaustedPorts, "Q is usable")
	h.fail(q1, 3, retryExc)
	d := h.deviceSnapshot("D1")
	assert.Equal(t, Ports{1}, d.ExhaustedPorts, "routes to two peers failed, and no other is left")
	assert.False(t, d.Exhausted, "port 2 is usable")
	assert.Equal(t, []rail.Pair{q1.pair}, h.notices(PortExhausted))

	fresh, usual := h.routeOn(1, "R"), h.routeOn(2, "R")
	assert.Equal(t, 16*kib, fresh.Snapshot().WindowBytes, "a new route is limited to the probe window")
	assert.True(t, fresh.Snapshot().Health.Limited)
	assert.Equal(t, mib, usual.Snapshot().WindowBytes)
	h.state(fresh, Healthy)
	gen, qp := h.renewed(fresh)
	var s slice
	h.post(&s, fresh, gen, 16*kib, qp)
	h.ruling(fresh, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain})
	h.settle(&s, flush)
	h.fail(fresh, 2, retryExc)
	assert.Len(t, h.notices(PortExhausted), 1, "reported once")

	h.renewed(fresh)
	h.succeed(fresh)
	assert.Empty(t, h.deviceSnapshot("D1").ExhaustedPorts, "a success ends it")
	assert.Equal(t, mib, fresh.Snapshot().WindowBytes)
	assert.False(t, fresh.health.watched.Load())
	h.state(p1, Quarantined)
	h.fail(fresh, 3, retryExc)
	for _, r := range []*Route{p2, usual} {
		h.fail(r, 3, retryExc)
	}
	d = h.deviceSnapshot("D1")
	assert.Equal(t, Ports{1, 2}, d.ExhaustedPorts)
	assert.True(t, d.Exhausted)
	assert.Len(t, h.notices(DeviceExhausted), 1)
	assert.Zero(t, h.deviceSnapshot("D2").ExhaustedPorts)
	assert.True(t, h.routeOn(3, "S").Snapshot().Health.Limited, "a new route on any port of the device")

	h.renewed(p1)
	h.advance(30 * time.Second)
	h.settle(h.trial(p1), success)
	d = h.deviceSnapshot("D1")
	assert.Equal(t, Ports{2}, d.ExhaustedPorts, "the trial succeeded on port 1")
	assert.False(t, d.Exhausted)
	assert.False(t, h.routeOn(3, "S").Snapshot().Health.Limited)
	h.done(p1, q1, p2, fresh, usual, elsewhere)
}

// Failed routes to one peer, however many, say nothing about the port.
func TestExhaustedNeedsTwoPeers(t *testing.T) {
	h := newHealthRig(t, Enforce)
	a, b := h.route("D1", "P", "n1"), h.route("D1", "P", "n2")
	h.fail(a, 3, retryExc)
	h.fail(b, 3, retryExc)
	assert.Empty(t, h.deviceSnapshot("D1").ExhaustedPorts)
	assert.Empty(t, h.notices(PortExhausted))
	assert.False(t, h.route("D1", "Q", "n1").Snapshot().Health.Limited)
	h.done(a, b)
}

// A device may have no usable route while none of its ports has failed by itself, and
// is released by any success.
func TestExhaustedDeviceIsReleased(t *testing.T) {
	h := newHealthRig(t, Enforce)
	a, b := h.routeOn(1, "P"), h.routeOn(2, "Q")
	h.fail(a, 3, retryExc)
	h.fail(b, 3, retryExc)
	d := h.deviceSnapshot("D1")
	assert.Empty(t, d.ExhaustedPorts, "one peer each")
	assert.True(t, d.Exhausted)
	first, second := h.routeOn(3, "R"), h.routeOn(4, "R")
	h.renewed(first)
	h.succeed(first)
	for _, r := range []*Route{first, second} {
		assert.False(t, r.Snapshot().Health.Limited)
		assert.False(t, r.health.watched.Load(), "a success of %s changes nothing any more", r.pair)
		assert.Equal(t, mib, r.Snapshot().WindowBytes)
	}
	assert.False(t, h.deviceSnapshot("D1").Exhausted)
}

// A port stays exhausted while failed routes are left on it, whichever goes.
func TestExhaustedUntilTheLastRouteGoes(t *testing.T) {
	h := newHealthRig(t, Enforce)
	p, q, other := h.routeOn(1, "P"), h.routeOn(1, "Q"), h.routeOn(2, "P")
	h.fail(p, 3, retryExc)
	h.fail(q, 3, retryExc)
	p.Close()
	assert.Equal(t, Ports{1}, h.deviceSnapshot("D1").ExhaustedPorts)
	q.Close()
	assert.Empty(t, h.deviceSnapshot("D1").ExhaustedPorts, "the route of another port says nothing")
	assert.False(t, h.routeOn(1, "R").Snapshot().Health.Limited)

	h.fail(other, 3, retryExc)
	last := h.routeOn(1, "R")
	h.fail(last, 3, retryExc)
	require.True(t, h.deviceSnapshot("D1").Exhausted)
	other.Close()
	assert.True(t, h.deviceSnapshot("D1").Exhausted, "a route of the device is left")
	last.Close()
	assert.False(t, h.deviceSnapshot("D1").Exhausted)
}

// A failed event reaches all routes at once and gives one notice.
func TestExhaustedByEvent(t *testing.T) {
	h := newHealthRig(t, Enforce)
	for _, peer := range []string{"P", "Q", "R"} {
		h.route("D1", peer, "n1")
	}
	h.portErr()
	assert.Len(t, h.notices(PortExhausted), 1)
	assert.Len(t, h.notices(DeviceExhausted), 1)
	assert.True(t, h.deviceSnapshot("D1").Exhausted)
}

// Exhausted ports come in order, whichever failed first.
func TestExhaustedPortsAreSorted(t *testing.T) {
	h := newHealthRig(t, Enforce)
	for i := range uint8(16) {
		port := 1 + i*7%16
		h.fail(h.routeOn(port, "P"), 3, retryExc)
		h.fail(h.routeOn(port, "Q"), 3, retryExc)
	}
	ports := h.deviceSnapshot("D1").ExhaustedPorts
	assert.Len(t, ports, 16)
	assert.IsIncreasing(t, []uint8(ports))
}
