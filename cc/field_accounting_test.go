package cc

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Completions that never come after a reset, and ones that come too late after a
// cancel. https://github.com/kvcache-ai/Mooncake/pull/2427
func TestFieldTeardownAndCancel(t *testing.T) {
	r := newHealthRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	post := func(gen Generation, qp uint64) []slice {
		s := make([]slice, 20)
		for i := range s {
			r.post(&s[i], route, gen, 4*kib, qp)
		}
		return s
	}

	s := post(r.renew(route, 1), 1)
	for i := range s { // the QP went to RESET: no completions
		assert.Equal(t, Ended|Released, r.settle(&s[i], teardown))
		assert.Equal(t, taskstate.Unknown, s[i].task.State(), "no failure is made up")
	}
	gen := r.renew(route, 2)
	var whole slice
	r.post(&whole, route, gen, mib, 2)
	r.settle(&whole, success)

	s = post(gen, 2)
	late := []classify.Verdict{flush, flush, flush, flush, flush, flush, success, success, success, retryExc}
	for i, v := range late {
		assert.Equal(t, Ended, r.settle(&s[i], cancel))
		assert.Equal(t, Released, r.settle(&s[i], v), "bytes come back with the completion")
		assert.Equal(t, taskstate.Unknown, s[i].task.State(), "after a cancel, %s is no evidence", v)
	}
	for i := range s[10:] {
		r.settle(&s[10+i], success)
	}
	r.inFlight(route, 0, 0)

	s = post(gen, 2)
	for i := range s {
		if i < 10 {
			r.settle(&s[i], success)
		}
	}
	released := 0
	for range 2 { // the teardown is reported twice
		for i := range s {
			if r.settle(&s[i], teardown)&Released != 0 {
				released++
			}
		}
	}
	assert.Equal(t, 10, released, "only the open permits are released")
	assert.Empty(t, r.path(route), "no teardown, cancel or flush counted")
	r.count(route, 0)
	r.qps = 2
	r.done(route)
}

// Rejected posts left counters up until the queue served nothing.
// https://github.com/spdk/spdk/pull/224
func TestFieldRejectedPosts(t *testing.T) {
	r := newHealthRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	route.window.Store(4 * mib)
	gen := r.renew(route, 1)
	slices := make([]slice, 4)
	for i := range slices {
		r.post(&slices[i], route, gen, mib, 1)
		assert.True(t, slices[i].permit.Unposted(), "ENOMEM")
		assert.Equal(t, taskstate.Unknown, slices[i].task.State())
	}
	r.inFlight(route, 0, 0)

	for i := range slices { // a list of four, of which two went
		r.post(&slices[i], route, gen, mib, 1)
	}
	for i := range slices[2:] {
		slices[2+i].permit.Unposted()
	}
	r.inFlight(route, 2*mib, 2*mib)
	for i := range slices[:2] {
		r.settle(&slices[i], success)
		r.post(&slices[2+i], route, gen, mib, 1)
	}
	for i := range slices[2:] {
		r.settle(&slices[2+i], success)
		assert.Equal(t, taskstate.Normal, slices[2+i].task.State())
	}
	var dead slice // its QP is in ERR already
	r.post(&dead, route, gen, mib, 1)
	assert.Equal(t, Ended|Released, r.settle(&dead, classify.RejectedPost(22)))
	assert.Equal(t, taskstate.Unknown, dead.task.State())
	assert.Empty(t, r.path(route))
	r.count(route, 0)
	r.qps = 1
	r.done(route)
}

// Shutdown hung in the event reader, and handlers met objects that were gone.
// https://github.com/ofiwg/libfabric/issues/5353
func TestFieldShutdown(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route)
	open := make([]slice, 10)
	for i := range open {
		h.post(&open[i], route, gen, 4*kib, qp)
	}
	assert.Equal(t, 1, h.event(classify.EventQPFatal, classify.Element{QP: qp}), "the owner tears it down just now")
	h.state(route, Suspect)
	gen, old := h.renewed(route)
	_ = gen
	for _, e := range []classify.EventType{classify.EventQPLastWQEReached, classify.EventQPFatal, classify.EventQPAccessErr} {
		assert.Zero(t, h.event(e, classify.Element{QP: qp}), "a QP that is forgotten")
		assert.Zero(t, h.event(e, classify.Element{QP: 999}), "a QP that is unknown")
	}
	assert.Zero(t, h.event(classify.EventQPLastWQEReached, classify.Element{QP: old}), "no failure")
	h.count(route, 1)

	h.ctl.Close()
	assert.Equal(t, Ended|Released, h.settle(&open[0], success))
	assert.Equal(t, Ended|Released, h.settle(&open[1], retryExc))
	h.portErr()
	for i := range open[2:] {
		assert.Equal(t, Ended|Released, h.settle(&open[2+i], teardown))
	}
	h.state(route, Suspect)
	h.count(route, 1)
	h.inFlight(route, 0, 0)
}

// Six leaks in one selector: bytes went back to the wrong device, twice, or never.
// https://github.com/kvcache-ai/Mooncake/pull/3511
func TestFieldAccountingDrift(t *testing.T) {
	for _, mode := range []Mode{Off, Observe, Enforce} {
		t.Run(mode.String(), func(t *testing.T) {
			h := newHealthRig(t, mode)
			a, b := h.route("D1", "P", "n1"), h.route("D2", "P", "n1")
			renew := func(r *Route) (Generation, uint64) {
				if mode == Off {
					return 1, 1
				}
				return h.renewed(r)
			}
			gen, _ := renew(a)
			var s slice
			require.True(t, a.TryAcquire(&s.permit, gen, mib, &s.task).Admitted())
			assert.Equal(t, mode != Off, s.permit.Unposted(), "before the post it falls back to D2")
			assert.False(t, s.permit.Unposted(), "a second release does nothing")
			gen, qp := renew(b)
			h.post(&s, b, gen, mib, qp)
			h.settle(&s, success)
			for _, v := range []classify.Verdict{retryExc, success} { // and its retry
				gen, qp = renew(a)
				h.post(&s, a, gen, mib, qp)
				if mode != Off {
					h.inFlight(a, mib, mib)
				}
				h.settle(&s, v)
			}
			h.post(&s, a, gen, mib, qp)
			h.settle(&s, deadline)
			h.settle(&s, teardown)
			assert.Zero(t, h.settle(&s, flush), "late")
			for _, r := range []*Route{a, b} {
				h.inFlight(r, 0, 0)
			}
			if mode == Off {
				h.state(a, Healthy)
				h.count(a, 0)
			} else {
				h.count(a, 1)
				h.done(a, b)
			}
		})
	}
}

// An old completion released the charge of the new owner of its slot.
// https://github.com/kvcache-ai/Mooncake/pull/4092
func TestFieldLateCompletionOnReusedSlot(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	var s slice
	var first taskstate.Task
	d := route.TryAcquire(&s.permit, h.renew(route, 1), mib, &first)
	old := d.Use
	require.NoError(t, s.permit.Posting(1, h.now))
	s.permit.Settle(old, deadline, h.now)
	s.permit.Settle(old, teardown, h.now)
	h.state(route, Suspect)
	gen := h.renew(route, 1) // the batch was freed; its slot and QP number are reused
	h.post(&s, route, gen, mib, 1)
	for _, v := range []classify.Verdict{success, retryExc, flush} {
		assert.Zero(t, s.permit.Settle(old, v, h.now), "%s of the former owner", v)
	}
	h.count(route, 1)
	h.state(route, Suspect)
	h.inFlight(route, mib, mib)
	third := h.ruling(route, Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Domain: RouteDomain, Hint: Divert})
	assert.Equal(t, congested, third.task.State())
	h.settle(&s, success)
	assert.Equal(t, normal, s.task.State())
	assert.Equal(t, congested, first.State(), "the former owner's task has its own state")
	h.qps = 1
	h.done(route)
}

// A window that was tested once for each request filled and never reopened.
// https://github.com/uccl-project/uccl/pull/837
func TestFieldChunks(t *testing.T) {
	h := newHealthRig(t, Enforce, func(c *Config) { c.StartWindowBytes = 2 * mib })
	route, other := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
	gen, qp := h.renewed(route)
	chunks := make([]slice, 8)
	done := 0
	for next := 0; done < len(chunks); {
		switch {
		case next < len(chunks) && h.ask(&chunks[next], route, mib).Admitted():
			if next == 3 && chunks[3].permit.Unposted() { // EAGAIN
				h.post(&chunks[3], route, gen, mib, qp)
			} else {
				require.NoError(t, chunks[next].permit.Posting(qp, h.now))
			}
			next++
		default:
			assert.LessOrEqual(t, route.InFlight(), 2*mib)
			h.settle(&chunks[done], success)
			done++
		}
	}
	h.inFlight(route, 0, 0)

	// A slice that the route admits and the device does not is rolled back.
	h.post(&chunks[0], route, gen, mib, qp)
	h.post(&chunks[1], route, gen, mib, qp)
	third := h.route("D1", "R", "n1")
	h.renewed(third)
	h.post(&chunks[2], third, 1, mib, h.qp(third))
	gen2, qp2 := h.renewed(other)
	h.post(&chunks[3], other, gen2, 512*kib, qp2)
	assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: DeviceDomain}, h.ask(&chunks[4], other, 1280*kib).Ruling)
	h.inFlight(other, 512*kib, 3*mib+512*kib)
	for i := range chunks[:4] {
		h.settle(&chunks[i], success)
	}
	h.done(route, other, third)
}

// Over random steps a device always holds what its routes hold.
func TestFieldTwoWindows(t *testing.T) {
	h := newHealthRig(t, Enforce)
	rnd := rand.New(rand.NewPCG(3, 132))
	var routes []*Route
	for i := range 4 {
		r, err := h.ctl.Route(rail.Pair{Peer: "P", Local: []string{"D1", "D2"}[i%2], Port: 1, Remote: string(rune('a' + i))})
		require.NoError(t, err)
		h.renewed(r)
		routes = append(routes, r)
	}
	steps := 100_000
	if testing.Short() {
		steps = 10_000
	}
	permits := make([]slice, 32)
	outcomes := []classify.Verdict{success, success, success, flush, retryExc, teardown}
	for range steps {
		s, r := &permits[rnd.IntN(len(permits))], routes[rnd.IntN(len(routes))]
		if s.permit.Held() > 0 {
			h.settle(s, outcomes[rnd.IntN(len(outcomes))])
		} else if h.ask(s, r, 1+rnd.Int64N(300*kib)).Admitted() {
			require.NoError(t, s.permit.Posting(h.qp(r), h.now))
		}
		if rnd.IntN(50) == 0 {
			h.advance(40 * time.Second)
			h.renewed(r)
		}
		for i := range 2 {
			require.Equal(t, routes[i].InFlight()+routes[i+2].InFlight(), routes[i].device.inFlight())
			require.GreaterOrEqual(t, routes[i].InFlight(), int64(0))
		}
	}
	for i := range permits {
		h.settle(&permits[i], teardown)
	}
	h.advance(time.Second) // claims of slices that nobody asks for any more lapse
	h.done(routes...)
}
