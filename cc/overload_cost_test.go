package cc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cost checks that something does not cost more for each of many than for each of few. f
// prepares it for n and returns what is timed. What looks at all for each one would be 32
// times as dear.
func cost(t *testing.T, what string, few int, f func(n int) func()) {
	t.Helper()
	const times, limit, attempts = 32, 10, 4
	least := func(n int) float64 {
		best := time.Duration(math.MaxInt64)
		for range 2 {
			timed := f(n)
			began := time.Now()
			timed()
			best = min(best, time.Since(began))
		}
		return float64(best) / float64(n)
	}
	var seen []string
	for range attempts {
		ratio := least(times*few) / least(few)
		if ratio <= limit {
			return
		}
		seen = append(seen, fmt.Sprintf("%.1f", ratio))
	}
	assert.Fail(t, "cost grows", "%s, for each of %d by each of %d: %s; must be at most %d", what, times*few, few, seen, limit)
}

// multitude makes n routes of one device, eight to a peer.
func multitude(h *healthRig, n int) (routes []*Route) {
	for i := range n {
		r := h.route("D1", fmt.Sprint("P", i/8), fmt.Sprint("n", i%8))
		h.renewed(r)
		routes = append(routes, r)
	}
	return routes
}

// With many routes none costs more for the others.
func TestOverloadManyRoutes(t *testing.T) {
	const few = 64
	t.Run("PORT_ERR", func(t *testing.T) {
		cost(t, "PORT_ERR", few, func(n int) func() {
			h := newHealthRig(t, Enforce)
			multitude(h, n)
			return func() { assert.Equal(t, n, h.event(classify.EventPortErr, classify.Element{Port: 1})) }
		})
	})
	t.Run("Fit", func(t *testing.T) {
		cost(t, "Fit on each", few, func(n int) func() {
			h := newHealthRig(t, Enforce)
			routes := multitude(h, n)
			return func() {
				for _, r := range routes {
					assert.Equal(t, 1, r.Fit([]int64{kib}))
				}
			}
		})
	})
	t.Run("recorded", func(t *testing.T) {
		cost(t, "making a recorded route", few, func(n int) func() {
			r, _ := recordedRig(t, Enforce, recorder.Slots(1<<12))
			return func() {
				for i := range n {
					r.route("D1", fmt.Sprint("P", i/8), fmt.Sprint("n", i%8))
				}
			}
		})
	})
	t.Run("ticks", func(t *testing.T) {
		h := newHealthRig(t, Enforce)
		routes := multitude(h, 2000)
		var s slice
		h.post(&s, routes[7], routes[7].current.Load().number, kib, h.qp(routes[7]))
		looks := func() int {
			before := h.ctl.monitor.looks
			for range 100 {
				h.advance(100 * time.Millisecond)
				h.ctl.Tick(h.now)
			}
			return h.ctl.monitor.looks - before
		}
		assert.Equal(t, 100, looks(), "looks at routes, of which one is in use")
		h.settle(&s, success)
		looks()
		assert.Zero(t, looks(), "looks at routes, of which none is in use any more")
	})
}

// An endpoint of many QPs, and events that reach all of them. That one of many costs no more
// is measured in bench/overload.
func TestOverloadWideEndpoint(t *testing.T) {
	qps := make([]QP, 32*200)
	for i := range qps {
		qps[i] = QP{ID: uint64(len(qps) - i), CQ: 7}
	}
	renew := func(h *healthRig, n int) func() {
		r := h.route("D1", "P", "n1")
		return func() { _, err := r.Renew(0, qps[:n]); assert.NoError(t, err) }
	}
	cost(t, "Renew, a QP", 200, func(n int) func() { return renew(newHealthRig(t, Enforce), n) })
	h := newHealthRig(t, Enforce)
	renew(h, len(qps))()
	other := h.route("D1", "Q", "n1")
	h.renew(other, 1) // takes one of them over
	assert.Equal(t, len(qps), h.event(classify.EventCQErr, classify.Element{CQ: 7})+h.event(classify.EventQPFatal, classify.Element{QP: 1}), "QPs that are reached")
	_, err := h.route("D1", "P", "n1").Renew(0, append(qps[:len(qps):len(qps)], QP{ID: 77}))
	assert.ErrorContains(t, err, "QP 77 is named twice")
}

// Routes of a device come, fail and go in any order. Each is found where it is, and whether
// any is usable is what a look at all of them says. What it costs is measured in
// bench/overload.
func TestOverloadRoutesOfADevice(t *testing.T) {
	const seed = 2
	rnd := rand.New(rand.NewPCG(seed, 0))
	h := newHealthRig(t, Enforce, func(c *Config) { c.HardErrorThreshold = 1 })
	var list []*Route
	d := h.route("D1", "P", "n").device // of a peer of its own
	for i := range 1200 {
		switch n := rnd.IntN(10); {
		case n < 3 || len(list) == 0:
			r, err := h.ctl.Route(rail.Pair{Peer: fmt.Sprint("P", i%5), Local: "D1", Port: uint8(1 + i%3), Remote: fmt.Sprint("n", i)})
			require.NoError(t, err)
			h.renewed(r)
			list = append(list, r)
		case n < 8:
			h.event(classify.EventQPFatal, classify.Element{QP: h.qp(list[rnd.IntN(len(list))])})
		default:
			at := rnd.IntN(len(list))
			list[at].Close()
			list = slices.Delete(list, at, at+1)
		}
		require.Len(t, d.routes, 1+len(list))
		for port := range uint8(4) {
			usable, peers := false, map[string]bool{}
			for at, r := range d.routes {
				if int(r.inDevice) != at {
					require.Fail(t, "wrong place", "%d of %s, which is at %d, after step %d, seed %d", r.inDevice, r.pair, at, i, seed)
				}
				if port == 0 || port == r.pair.Port {
					usable = usable || !r.state().barred()
					peers[r.pair.Peer] = true
				}
			}
			require.Equal(t, usable || len(peers) < 2, d.usable(port), "usable routes on port %d after step %d, seed %d", port, i, seed)
		}
		for peer := range 5 {
			name, n := fmt.Sprint("P", peer), 0
			for r := range h.ctl.routes.to(peerName{name, ""}) {
				require.Equal(t, name, r.pair.Peer)
				n++
			}
			for _, r := range list {
				if r.pair.Peer == name {
					n--
				}
			}
			require.Zero(t, n, "routes to a peer that are not its own, or are missing, after step %d, seed %d", i, seed)
		}
	}
}
