package cc

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/require"
)

// The model is admission as one would explain it: no atomics, no edges, just what
// each permit holds and why. Random operations go to it and to the controller;
// answers and bytes have to agree at every step.
type model struct {
	routes  []*modelRoute
	devices []*modelDevice
	permits []*modelPermit
}

type modelDevice struct{ window, inFlight int64 }

type modelRoute struct {
	device           *modelDevice
	window, inFlight int64
	gen              Generation
	retired          bool
}

type modelPermit struct {
	route                   *modelRoute
	gen                     Generation
	bytes                   int64
	held, posted, concluded bool
}

func (d *modelDevice) fits(n int64) bool { return d.inFlight == 0 || d.inFlight+n <= d.window }

func (m *model) acquire(r *modelRoute, p *modelPermit, gen Generation, n int64) Ruling {
	switch {
	case p.held:
		return Ruling{Answer: Refused}
	case gen < r.gen:
		return Ruling{Answer: Defer, Reason: classify.ReasonStaleGeneration}
	case r.gen == 0 || r.retired:
		return Ruling{Answer: Defer, Reason: classify.ReasonNeedsRenew}
	case r.inFlight > 0 && r.inFlight+n > r.window:
		return Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}
	case !r.device.fits(n):
		return Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: DeviceDomain}
	}
	r.inFlight += n
	r.device.inFlight += n
	*p = modelPermit{route: r, gen: gen, bytes: n, held: true}
	return Ruling{Answer: Admit}
}

func (m *model) release(p *modelPermit) {
	p.route.inFlight -= p.bytes
	p.route.device.inFlight -= p.bytes
	p.held = false
}

// posting reports whether the post may go ahead.
func (m *model) posting(p *modelPermit) bool {
	if !p.held || p.posted {
		return false
	}
	if p.gen != p.route.gen || p.route.retired {
		m.release(p)
		return false
	}
	p.posted = true
	return true
}

func (m *model) settle(p *modelPermit, v classify.Verdict) Edges {
	ended := Ended
	if p.concluded {
		ended = 0
	}
	switch {
	case !p.held || !p.posted:
		return 0
	case v == teardown, v.Source() == classify.SourceCompletion:
		m.release(p)
		return ended | Released
	case v == stalled || p.concluded:
		return 0
	}
	p.concluded = true
	if v == deadline && p.gen == p.route.gen {
		p.route.retired = true
	}
	return Ended
}

func TestAgainstModel(t *testing.T) {
	seeds, steps := 40, 5_000
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		runModel(t, uint64(seed), steps)
	}
}

func runModel(t *testing.T, seed uint64, steps int) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	r := newRig(t, Enforce)
	m := &model{devices: []*modelDevice{{window: 4 * mib}, {window: 4 * mib}}}
	var routes []*Route
	for i := range 12 {
		dev := i / 6 // six routes of 1 MiB share a device of 4 MiB: both windows bind
		routes = append(routes, r.route(fmt.Sprintf("D%d", dev+1), "P", fmt.Sprintf("n%d", i)))
		m.routes = append(m.routes, &modelRoute{device: m.devices[dev], window: mib})
	}
	permits := make([]slice, 40)
	for range permits {
		m.permits = append(m.permits, &modelPermit{})
	}
	var qp uint64
	var log []string
	outcomes := []classify.Verdict{success, success, success, flush, wc(classify.StatusRemAccessErr, 0), stalled, cancel, teardown}

	for range steps {
		i, j := rnd.IntN(len(permits)), rnd.IntN(len(routes))
		s, p, route, mr := &permits[i], m.permits[i], routes[j], m.routes[j]
		switch op := rnd.IntN(10); {
		case op < 5:
			n := 1 + rnd.Int64N(300*kib)
			if rnd.IntN(20) == 0 {
				n = 5 * mib
			}
			gen := mr.gen
			if gen > 0 && rnd.IntN(10) == 0 {
				gen--
			}
			log = append(log, fmt.Sprintf("acquire permit %d, route %d, gen %d, %d bytes", i, j, gen, n))
			d := route.TryAcquire(&s.permit, gen, n, &s.task)
			require.Equal(t, m.acquire(mr, p, gen, n), d.Ruling, "seed %d: %s", seed, tail(log))
			if d.Admitted() {
				s.use = d.Use
			}
		case op < 7:
			log = append(log, fmt.Sprintf("post permit %d", i))
			held := p.held && p.route.gen > 0
			ok := m.posting(p)
			if held {
				id := routes[index(m.routes, p.route)].current.Load().qps[0].ID
				require.Equal(t, ok, s.permit.Posting(id, r.now) == nil, "seed %d: %s", seed, tail(log))
			}
		case op == 7 && rnd.IntN(4) == 0:
			log = append(log, fmt.Sprintf("unposted permit %d", i))
			require.Equal(t, p.held, s.permit.Unposted(), "seed %d: %s", seed, tail(log))
			if p.held {
				m.release(p)
			}
		case op < 9:
			v := outcomes[rnd.IntN(len(outcomes))]
			log = append(log, fmt.Sprintf("settle permit %d: %s", i, v))
			require.Equal(t, m.settle(p, v), r.settle(s, v), "seed %d: %s", seed, tail(log))
		case mr.gen == 0 || mr.retired || rnd.IntN(8) == 0:
			qp++
			log = append(log, fmt.Sprintf("renew route %d", j))
			gen, err := route.Renew(mr.gen, []QP{{ID: qp, CQ: 1}})
			require.NoError(t, err)
			mr.gen, mr.retired = mr.gen+1, false
			require.Equal(t, mr.gen, gen)
		}
		for k, route := range routes {
			if mr := m.routes[k]; route.InFlight() != mr.inFlight || route.device.inFlight() != mr.device.inFlight {
				t.Logf("seed %d, route %d: %s", seed, k, tail(log))
				r.inFlight(route, mr.inFlight, mr.device.inFlight)
			}
		}
	}
	for i, p := range m.permits {
		if p.held {
			require.True(t, r.settle(&permits[i], teardown)&Released != 0 || permits[i].permit.Unposted())
		}
	}
	for _, route := range routes {
		r.inFlight(route, 0, 0)
	}
}

func index(routes []*modelRoute, r *modelRoute) int {
	for i := range routes {
		if routes[i] == r {
			return i
		}
	}
	panic("route is not of the model")
}

// tail shows the last steps that led to a disagreement.
func tail(log []string) string {
	return "\n" + strings.Join(log[max(0, len(log)-15):], "\n")
}
