package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// healthRig is a rig with the health settings of the field scenarios (threshold 3,
// cooldown 30 s without jitter) that records transitions and notices.
type healthRig struct {
	*rig
	seen   []Transition
	jitter float64
	qps    uint64
}

func newHealthRig(t testing.TB, mode Mode, change ...func(*Config)) *healthRig {
	t.Helper()
	h := &healthRig{rig: newRig(t, mode), jitter: 1}
	cfg := h.ctl.cfg
	for _, c := range change {
		c(&cfg)
	}
	ctl, err := New(cfg,
		WithClock(func() time.Duration { return h.now }),
		WithJitter(func() float64 { return h.jitter }),
		WithTransitions(func(t Transition) { h.seen = append(h.seen, t) }))
	require.NoError(t, err)
	h.ctl = ctl
	return h
}

func (h *healthRig) advance(d time.Duration) { h.now += d }

// renewed builds the next endpoint with so many fresh QPs, 1 by default.
func (h *healthRig) renewed(route *Route, qps ...int) (gen Generation, first uint64) {
	h.Helper()
	n := 1
	if len(qps) > 0 {
		n = qps[0]
	}
	var ids []uint64
	first = h.qps + 1
	for range n {
		h.qps++
		ids = append(ids, h.qps)
	}
	return h.renew(route, ids...), first
}

// fail has n slices fail on the route with that outcome, each on an endpoint of its
// own, and returns the last slice. Where there is a prober they are on their way at once,
// on one endpoint: after the first failure no user slice would follow.
func (h *healthRig) fail(route *Route, n int, v classify.Verdict) *slice {
	h.Helper()
	s := &slice{}
	if h.ctl.cfg.Prober {
		gen, qp := h.renewed(route, n)
		slices := make([]slice, n)
		for i := range slices {
			h.post(&slices[i], route, gen, 4*kib, qp+uint64(i))
		}
		for i := range slices {
			if h.settle(&slices[i], v)&Released == 0 {
				h.settle(&slices[i], teardown)
			}
		}
		return &slices[n-1]
	}
	for range n {
		gen, qp := h.renewed(route)
		h.post(s, route, gen, 4*kib, qp)
		if h.settle(s, v)&Released == 0 {
			h.settle(s, teardown)
		}
	}
	return s
}

// quarantine has the route quarantined by three timeouts and builds a new endpoint.
func (h *healthRig) quarantine(route *Route) {
	h.Helper()
	h.fail(route, 3, retryExc)
	h.state(route, Quarantined)
	h.renewed(route)
}

// ask asks for n bytes on the current generation.
func (h *healthRig) ask(s *slice, route *Route, n int64) Decision {
	d := route.TryAcquire(&s.permit, route.current.Load().number, n, &s.task)
	if d.Admitted() {
		s.use = d.Use
	}
	return d
}

// trial has the trial of the route posted; it has to be due.
func (h *healthRig) trial(route *Route) *slice {
	h.Helper()
	s := &slice{}
	h.post(s, route, route.current.Load().number, 4*kib, h.qp(route))
	h.state(route, Probing)
	return s
}

// qp returns the first QP of the current generation.
func (h *healthRig) qp(route *Route) uint64 { return route.current.Load().qps[0].ID }

// succeed has a slice of the current generation succeed.
func (h *healthRig) succeed(route *Route) {
	h.Helper()
	var s slice
	h.post(&s, route, route.current.Load().number, 4*kib, h.qp(route))
	h.settle(&s, success)
}

func (h *healthRig) state(route *Route, want State) {
	h.Helper()
	require.Equal(h.TB, want, route.state(), "state of %s at %s", route.pair, h.now-time.Hour)
}

// ruling asserts the answer to 4 KiB, and that a refusal reserves nothing.
func (h *healthRig) ruling(route *Route, want Ruling) *slice {
	h.Helper()
	s := &slice{}
	before := route.InFlight()
	assert.Equal(h.TB, want, h.ask(s, route, 4*kib).Ruling, "answer of %s in %s", route.pair, route.State())
	assert.Equal(h.TB, before, route.InFlight()-s.permit.Held(), "bytes of other permits")
	return s
}

func (h *healthRig) count(route *Route, want int) {
	h.Helper()
	assert.Equal(h.TB, want, route.Snapshot().Health.Failures, "failures in a row of %s", route.pair)
}

// congest has the law find the route congested, or not any more.
func (h *healthRig) congest(route *Route, congested bool) {
	route.device.locked(func() {
		route.health.congested = congested
		route.reconsider(h.now, cause{reason: classify.ReasonCongestionFeedback})
	})
}

// event tells of an asynchronous event on D1 and returns how many QPs it reached.
func (h *healthRig) event(e classify.EventType, el classify.Element) int {
	h.Helper()
	if el.Device == "" {
		el.Device = "D1"
	}
	_, reached, err := h.ctl.Event(classify.Event{Type: e, Element: el}, h.now)
	require.NoError(h.TB, err)
	return reached
}

func (h *healthRig) portErr()    { h.event(classify.EventPortErr, classify.Element{Port: 1}) }
func (h *healthRig) portActive() { h.event(classify.EventPortActive, classify.Element{Port: 1}) }

// path returns the states that the route went through.
func (h *healthRig) path(route *Route) (states []State) {
	for _, t := range h.seen {
		if t.Pair == route.pair && t.Notice == NoNotice {
			states = append(states, t.To)
		}
	}
	return states
}

func (h *healthRig) notices(n Notice) (pairs []rail.Pair) {
	for _, t := range h.seen {
		if t.Notice == n {
			pairs = append(pairs, t.Pair)
		}
	}
	return pairs
}

// done is the invariant of every scenario: all bytes are back, and a route that is
// not quarantined admits a slice as large as its window.
func (h *healthRig) done(routes ...*Route) {
	h.Helper()
	for _, route := range routes {
		h.inFlight(route, 0, 0)
		if route.State().barred() {
			continue
		}
		gen, qp := h.renewed(route)
		var s slice
		h.post(&s, route, gen, route.window.Load(), qp)
		h.settle(&s, teardown)
		h.inFlight(route, 0, 0)
	}
}

var (
	avoided    = Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined}
	wantsRenew = Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined, Hint: NeedRenew}
	probing    = Ruling{Answer: Defer, Reason: classify.ReasonProbing, Hint: Divert}
)

func rnr() classify.Verdict       { return wc(classify.StatusRNRRetryExcErr, 0) }
func locLen() classify.Verdict    { return wc(classify.StatusLocLenErr, 0x8e) }
func remAccess() classify.Verdict { return wc(classify.StatusRemAccessErr, 0x88) }
func fatal() classify.Verdict     { return wc(classify.StatusFatalErr, 0) }

const normal, congested, unavailable, unknown = taskstate.Normal, taskstate.Congested, taskstate.LongUnavailable, taskstate.Unknown
