package cc

import (
	"sync"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func keepLast(c *Config) { c.KeepLastRoute = true }

// With KeepLastRoute the last usable route to a peer is not quarantined by timeouts.
// It carries the probe window and says so.
func TestKeepLastRoute(t *testing.T) {
	h := newHealthRig(t, Enforce, keepLast, func(c *Config) { c.ProbeWindowBytes, c.SuspectWindowBytes = 16*kib, 0 })
	first, last := h.route("D1", "P", "n1"), h.route("D2", "P", "n1")
	h.route("D1", "Q", "n1") // of another peer
	h.fail(first, 3, retryExc)
	h.state(first, Quarantined)
	assert.Empty(t, h.notices(LastRouteKept))

	h.fail(last, 2, retryExc)
	assert.False(t, last.Snapshot().Health.KeptAsLast)
	s := h.fail(last, 10, retryExc)
	h.state(last, Suspect)
	h.count(last, 12)
	h.reason(s, congested, classify.ReasonRouteTimeout)
	assert.True(t, last.Snapshot().Health.KeptAsLast)
	assert.Equal(t, []rail.Pair{last.pair}, h.notices(LastRouteKept), "it says so once")
	assert.Equal(t, 16*kib, last.Snapshot().WindowBytes, "the probe window")
	gen, qp := h.renewed(last)
	var a slice
	h.post(&a, last, gen, 16*kib, qp)
	h.ruling(last, Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Domain: RouteDomain, Hint: Divert})
	h.settle(&a, success)
	h.state(last, Healthy)
	assert.False(t, last.Snapshot().Health.KeptAsLast)
	assert.Equal(t, mib, last.Snapshot().WindowBytes)
	h.done(first, last)
}

// Verdicts on the port, device and CQ, and fatal errors, override it; so does the
// next timeout once there is another route.
func TestKeepLastRouteOverridden(t *testing.T) {
	for name, do := range map[string]func(*healthRig, *Route){
		"port":   func(h *healthRig, r *Route) { h.portErr() },
		"device": func(h *healthRig, r *Route) { h.event(classify.EventDeviceFatal, classify.Element{}) },
		"fatal":  func(h *healthRig, r *Route) { h.fail(r, 1, fatal()) },
		"another route": func(h *healthRig, r *Route) {
			h.route("D2", "P", "n1")
			h.fail(r, 1, retryExc)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce, keepLast)
			route := h.route("D1", "P", "n1")
			h.fail(route, 5, retryExc)
			h.state(route, Suspect)
			do(h, route)
			h.state(route, Quarantined)
			assert.False(t, route.Snapshot().Health.KeptAsLast)
			h.renewed(route)
			h.advance(30 * time.Second)
			h.settle(h.trial(route), success)
			h.state(route, Healthy)
			h.done(route)
		})
	}
}

// Off by default: the engine is told to avoid the last route as well, and the hook
// that it was the last one. A peer's new incarnation is another peer.
func TestLastRouteIsTold(t *testing.T) {
	h := newHealthRig(t, Enforce)
	a, b := h.route("D1", "P", "n1"), h.route("D2", "P", "n1")
	_, err := h.ctl.Route(rail.Pair{Peer: "P", Incarnation: "2", Local: "D1", Port: 1, Remote: "n1"})
	assert.NoError(t, err)
	h.fail(a, 3, retryExc)
	assert.False(t, h.seen[len(h.seen)-1].LastRoute)
	h.fail(b, 3, retryExc)
	assert.True(t, h.seen[len(h.seen)-1].LastRoute)
	h.state(b, Quarantined)
	h.done(a, b)
}

// Of two last routes that fail at once on different devices, one is kept.
func TestKeepLastRouteRace(t *testing.T) {
	for range 50 {
		r := newRig(t, Enforce)
		cfg := r.ctl.cfg
		cfg.KeepLastRoute = true
		ctl, err := New(cfg, WithClock(func() time.Duration { return r.now }))
		assert.NoError(t, err)
		r.ctl = ctl
		routes := []*Route{r.route("D1", "P", "n1"), r.route("D2", "P", "n1")}
		var slices [2][3]slice
		for i, route := range routes {
			gen := r.renew(route, 1, 2, 3)
			for j := range slices[i] {
				r.post(&slices[i][j], route, gen, kib, uint64(j+1))
			}
		}
		var wg sync.WaitGroup
		for i := range slices {
			wg.Go(func() {
				for j := range slices[i] {
					r.settle(&slices[i][j], retryExc)
				}
			})
		}
		wg.Wait()
		kept := 0
		for _, route := range routes {
			if route.State() == Suspect {
				kept++
			}
		}
		assert.Equal(t, 1, kept, "routes that stay")
	}
}

// The routes to another incarnation of a peer lead elsewhere.
func TestLastRouteToAnIncarnation(t *testing.T) {
	h := newHealthRig(t, Enforce, keepLast)
	route := h.route("D1", "P", "n1")
	restarted := route.pair
	restarted.Incarnation = "2"
	_, err := h.ctl.Route(restarted)
	require.NoError(t, err)
	h.fail(route, 3, retryExc)
	h.state(route, Suspect)
	h.fail(h.route("D1", "P", "n2"), 3, retryExc)
	h.state(h.route("D1", "P", "n2"), Quarantined)
}
