package cc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flapRig is an engine with a prober, and a link that goes down for 5 s and up for 2 s.
// Where the peer refuses, no endpoint can be built while the link is down.
type flapRig struct {
	*healthRig
	refuses bool
	began   time.Duration
	routes  []*Route
	pending []*onWire
	hit     map[int]bool // cycles in which a slice of a user was lost
}

// onWire is one work request on the wire.
type onWire struct {
	slice
	route *Route
	probe bool
	lost  bool
	ends  time.Duration
}

func (f *flapRig) cycle() int { return int((f.now - f.began) / (7 * time.Second)) }
func (f *flapRig) down() bool { return (f.now-f.began)%(7*time.Second) < 5*time.Second }

func (f *flapRig) out(route *Route, probe bool) bool {
	return slices.ContainsFunc(f.pending, func(w *onWire) bool { return w.route == route && w.probe == probe })
}

// send posts what was admitted: it fails when the QP has retried for as long as it may.
func (f *flapRig) send(w *onWire, d Decision) {
	if !d.Admitted() {
		return
	}
	w.use, w.lost, w.ends = d.Use, f.down(), f.now+10*time.Millisecond
	if w.lost {
		if w.ends = f.now + 3700*time.Millisecond; w.probe {
			w.ends = f.now + 200*time.Millisecond
		}
	}
	require.NoError(f, w.permit.Posting(f.qp(w.route), f.now))
	f.pending = append(f.pending, w)
}

// build renews the route if its endpoint is used up, and reports whether it has one.
func (f *flapRig) build(route *Route) bool {
	old := route.current.Load()
	if f.refuses && f.down() {
		route.Unreachable(old.number, f.now)
		return false
	}
	f.renewed(route)
	return true
}

// step is what the engine does every 50 ms.
func (f *flapRig) step() {
	f.advance(50 * time.Millisecond)
	f.pending = slices.DeleteFunc(f.pending, func(w *onWire) bool {
		if f.now < w.ends {
			return false
		}
		if !w.lost {
			f.settle(&w.slice, success)
			return true
		}
		f.settle(&w.slice, retryExc)
		f.build(w.route)
		if !w.probe {
			f.hit[int((w.ends-f.began-3700*time.Millisecond)/(7*time.Second))] = true
		}
		return true
	})
	for _, route := range f.ctl.Due(f.now) {
		if f.out(route, true) {
			continue
		}
		w := &onWire{route: route, probe: true}
		d := route.TryProbe(&w.permit, route.current.Load().number, 64)
		if d.WantsEndpoint() && f.build(route) {
			d = route.TryProbe(&w.permit, route.current.Load().number, 64)
		}
		f.send(w, d)
	}
	for _, route := range f.routes {
		if !f.out(route, false) {
			w := &onWire{route: route}
			f.send(w, f.ask(&w.slice, route, 4*kib))
		}
	}
}

// A link that flaps costs users the first time, and once more when it came back: then
// its pairs have to prove themselves for longer than it stays up.
func TestFlappingLink(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("refuses=%v/seed=%d", refuses, seed), func(t *testing.T) {
				f := &flapRig{healthRig: newHealthRig(t, Enforce, withProber), refuses: refuses, hit: map[int]bool{}}
				random := rand.New(rand.NewPCG(seed, 0))
				f.ctl.jitter = func() float64 { return 0.8 + 0.4*random.Float64() }
				for i := range 5 {
					f.routes = append(f.routes, f.route(fmt.Sprintf("D%d", i+1), "P", "n1"))
					f.renewed(f.routes[i])
				}
				f.began = f.now
				for f.cycle() < 17 {
					f.step()
				}
				assert.LessOrEqual(t, len(f.hit), 3, "cycles in which users lost slices: %v", f.hit)
				assert.NotEmpty(t, f.hit)

				// It stays up: all come back by themselves.
				for range 400 * 20 {
					f.began = f.now - 5*time.Second
					f.step()
				}
				for _, route := range f.routes {
					assert.Equal(t, Healthy, route.State(), "%s, when the link is stable", route.pair)
				}
			})
		}
	}
}

// Unreachable confirms a suspicion, and is no news of any other route.
func TestUnreachable(t *testing.T) {
	tests := []struct {
		name    string
		change  func(*Config)
		prepare func(h *healthRig, route *Route)
		old     func(Generation) Generation
		want    State
	}{
		{name: "suspect after a failure", prepare: func(h *healthRig, r *Route) { h.fail(r, 1, retryExc) }, want: Quarantined},
		{name: "healthy", prepare: func(h *healthRig, r *Route) { h.renewed(r) }, want: Healthy},
		{name: "never had an endpoint", prepare: func(*healthRig, *Route) {}, want: Healthy},
		{name: "congested", prepare: func(h *healthRig, r *Route) { h.congest(r, true) }, want: Congested},
		{
			name: "suspected before any error",
			prepare: func(h *healthRig, r *Route) {
				r.device.locked(func() { r.health.early = true; r.reconsider(h.now, cause{}) })
			},
			want: Suspect,
		},
		{
			name: "somebody has built one", prepare: func(h *healthRig, r *Route) { h.fail(r, 1, retryExc); h.renewed(r) },
			old: func(g Generation) Generation { return g - 1 }, want: Suspect,
		},
		{
			name: "the failure is too old", want: Healthy,
			prepare: func(h *healthRig, r *Route) { h.fail(r, 1, retryExc); h.advance(11 * time.Second) },
		},
		{
			name: "last to its peer", change: func(c *Config) { c.KeepLastRoute = true },
			prepare: func(h *healthRig, r *Route) { h.fail(r, 1, retryExc) }, want: Suspect,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce, func(c *Config) {
				if tt.change != nil {
					tt.change(c)
				}
			})
			route := h.route("D1", "P", "n1")
			tt.prepare(h, route)
			old := route.current.Load().number
			if tt.old != nil {
				old = tt.old(old)
			}
			route.Unreachable(old, h.now)
			h.state(route, tt.want)
			if tt.want == Quarantined {
				last := h.seen[len(h.seen)-1]
				assert.Equal(t, classify.ReasonProbeFailed, last.Reason)
				assert.Equal(t, classify.CMEvent(classify.CMEventUnreachable), last.Verdict)
				before := route.Snapshot().Health
				h.advance(time.Second)
				route.Unreachable(old, h.now)
				assert.Equal(t, before.CooldownLeft-time.Second, route.Snapshot().Health.CooldownLeft, "said again it is no news")
				h.renewed(route)
				h.settle(h.probe(route), success)
				h.state(route, Healthy)
			}
		})
	}
}

// In mode off, and on a closed controller, it does nothing.
func TestUnreachableElsewhere(t *testing.T) {
	off := newHealthRig(t, Off)
	off.route("D1", "P", "n1").Unreachable(0, off.now)
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 1, retryExc)
	h.ctl.Close()
	route.Unreachable(closedGeneration, h.now)
	h.state(route, Suspect)
}

// What another controller learnt of the pair is a suspicion too.
func TestUnreachableIsShared(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	ra, rb := a.route("D1", "P", "n1"), b.route("D1", "P", "n1")
	b.renewed(rb)
	a.fail(ra, 1, retryExc)
	rb.Unreachable(rb.current.Load().number, b.now)
	assert.Equal(t, Quarantined, rb.State())
	assert.Equal(t, rail.Paused, ra.path().Standing())
}

// flap has the route quarantined, back after a success, and quarantined again 10 s later.
func (h *healthRig) flap(route *Route) {
	h.Helper()
	h.quarantine(route)
	h.advance(2 * time.Second)
	h.settle(h.probe(route), success)
	h.state(route, Healthy)
	h.advance(10 * time.Second)
	h.quarantine(route)
}

// A pair that flaps comes back without a prober too, and with one that is always late.
func TestFlappingPairComesBack(t *testing.T) {
	for _, late := range []time.Duration{0, 3100 * time.Millisecond, 4500 * time.Millisecond, time.Minute} {
		t.Run(fmt.Sprintf("a probe every %v", late), func(t *testing.T) {
			h := newHealthRig(t, Enforce, withProber)
			route := h.route("D1", "P", "n1")
			h.flap(route)
			back := h.now + 10*time.Minute
			for last := h.now; route.State() != Healthy; h.advance(100 * time.Millisecond) {
				require.Less(t, h.now, back, "in %s", route.State())
				if late != 0 && h.now-last >= late && len(h.due()) > 0 {
					h.settle(h.probe(route), success)
					last = h.now
				}
				if late != 0 {
					continue // its probes alone are enough
				}
				var s slice
				if h.ask(&s, route, 4*kib).Admitted() {
					require.NoError(t, s.permit.Posting(h.qp(route), h.now))
					h.settle(&s, success)
				}
			}
		})
	}
}

// What proves a pair, or a port, has to come in a row.
func TestWhatInterruptsAProof(t *testing.T) {
	flaps := map[string]func(*healthRig, *Route){
		"pair": (*healthRig).flap,
		"port": func(h *healthRig, r *Route) {
			h.renewed(r)
			for range 2 {
				h.portErr()
				h.portActive()
				h.advance(time.Second)
				h.settle(h.probe(r), success)
			}
			h.advance(time.Second)
			h.settle(h.probe(r), retryExc)
		},
	}
	for name, interrupt := range map[string]func(*healthRig, *Route){
		"a failed trial":     func(h *healthRig, r *Route) { h.settle(h.probe(r), retryExc) },
		"the port":           func(h *healthRig, r *Route) { h.portErr(); h.advance(time.Second); h.portActive() },
		"a refused endpoint": func(h *healthRig, r *Route) { r.Unreachable(r.current.Load().number, h.now) },
	} {
		for what, flap := range flaps {
			t.Run(name+", of a "+what, func(t *testing.T) {
				h := newHealthRig(t, Enforce, withProber)
				route := h.route("D1", "P", "n1")
				flap(h, route)
				h.portActive() // trials are early: a failed one leaves the cooldown as it is
				for range 12 {
					h.advance(2 * time.Second) // as the cooldown is twice the base
					h.settle(h.probe(route), success)
					h.state(route, Quarantined)
					h.advance(time.Second)
					interrupt(h, route)
					h.renewed(route)
				}
			})
		}
	}
}

// The first success of a trial lifts the mark of its port, also if the route itself has
// more to prove.
func TestMarkOfAFlappingPort(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber)
	route := h.route("D1", "P", "n1")
	h.renewed(route)
	for range 2 {
		h.portErr()
		h.portActive()
		h.advance(time.Second)
		h.settle(h.probe(route), success)
		h.advance(5 * time.Second)
	}
	h.state(route, Quarantined)
	assert.Equal(t, Healthy, h.route("D1", "Q", "n1").State(), "a trial of the port has succeeded")
}
