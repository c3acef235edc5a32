package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A trial that fails in its turn pauses the pair for longer, also if one before it, of the
// pair or of the port, was ahead of its turn.
func TestFailedTrialAfterAnEarlyOne(t *testing.T) {
	for name, tt := range map[string]struct {
		before, then func(*healthRig, *Route)
		pause        time.Duration
	}{
		"the pair's, then the port's": {(*healthRig).quarantine, func(h *healthRig, _ *Route) { h.portErr() }, time.Minute},
		"the port's, then the pair's": {func(h *healthRig, _ *Route) { h.portErr() }, (*healthRig).quarantine, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.renewed(route)
			tt.before(h, route)
			h.advance(2 * time.Second)
			h.settle(h.probe(route), success)
			h.state(route, Healthy)
			h.advance(time.Hour)
			tt.then(h, route)
			h.renewed(route)
			h.advance(30 * time.Second)
			h.settle(h.trial(route), retryExc)
			assert.True(t, route.path().Paused)
			assert.Equal(t, tt.pause, route.path().Resume-h.now)
		})
	}
}

// After a probe that failed in its turn the next one is an interval later, however short
// the cooldown is.
func TestProbeAfterAFailedTrial(t *testing.T) {
	h := newHealthRig(t, Enforce, withShortPauses)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	h.settle(h.probe(route), retryExc)
	h.advance(time.Second - 1)
	assert.Empty(t, h.due())
	h.advance(1)
	assert.Equal(t, []string{"n1"}, h.due())
}

// An early probe of a port that fails is evidence against its endpoint, though the pair is
// not paused: the next needs another.
func TestFailedEarlyProbeOfAPort(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.renewed(route)
	h.portErr()
	h.advance(2 * time.Second)
	h.settle(h.probe(route), retryExc)
	assert.False(t, route.path().Paused)
	h.advance(time.Second)
	var s slice
	ask := func() Ruling { return route.TryProbe(&s.permit, route.current.Load().number, 64).Ruling }
	assert.Equal(t, wantsRenew, ask())
	h.renewed(route)
	assert.Equal(t, Ruling{Answer: Admit}, ask())
}

// While a port's trial is out another controller may pause the pair. What becomes of the
// trial is the port's.
func TestTrialOfAPortWhileThePairIsPaused(t *testing.T) {
	for _, ok := range []bool{false, true} {
		s := newShared(t, 2)
		a, b := s.workers[0], s.workers[1]
		rs := s.routes("D1", "P", "n1")
		a.portErr()
		s.advance(30 * time.Second)
		x := a.trial(rs[0])
		b.quarantine(rs[1])
		paused := rs[0].path()
		if ok {
			a.settle(x, success)
		} else {
			a.settle(x, retryExc)
		}
		a.state(rs[0], Quarantined)
		assert.Equal(t, !ok, rs[0].health.record.local.Paused)
		assert.Equal(t, paused, rs[0].path(), "the pause of the pair is later")
	}
}

// An outcome that is told with an earlier time counts from the latest.
func TestLatestTimeCounts(t *testing.T) {
	const behind = 5 * time.Second
	later := func(h *healthRig, r *Route) { // of the same device
		other := h.route("D1", "Q", "n1")
		h.advance(behind)
		h.fail(other, 1, retryExc)
		h.advance(-behind)
	}
	t.Run("a trial that was flushed", func(t *testing.T) {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		h.quarantine(route)
		h.advance(30 * time.Second)
		x := h.trial(route)
		later(h, route)
		h.settle(x, flush)
		h.renewed(route)
		h.advance(behind + time.Second - 1)
		h.ruling(route, avoided)
		h.advance(1)
		h.trial(route)
	})
	t.Run("an endpoint that was refused", func(t *testing.T) {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		h.fail(route, 1, retryExc)
		later(h, route)
		route.Unreachable(route.current.Load().number, h.now)
		assert.Equal(t, h.now+behind+30*time.Second, route.path().Resume)
	})
	t.Run("what another controller learnt", func(t *testing.T) {
		s := newShared(t, 2)
		rs := s.routes("D1", "P", "n1")
		a := s.workers[0]
		later(a, rs[0])
		s.workers[1].quarantine(rs[1])
		a.ctl.Due(a.now)
		last := a.seen[len(a.seen)-1]
		require.Equal(t, Quarantined, last.To)
		assert.Equal(t, a.now+behind, last.At)
	})
}

// A trial that proves nothing ends after what another controller has learnt meanwhile.
func TestUndecidedTrialOfALiftedPause(t *testing.T) {
	s, rs := paused(t, 2)
	a, b := s.workers[0], s.workers[1]
	x := a.trial(rs[0])
	s.advance(10 * time.Second)
	b.settle(b.probe(rs[1]), success)
	a.settle(x, flush)
	a.state(rs[0], Healthy)
	assert.True(t, a.seen[len(a.seen)-1].Shared)
}

// A refused endpoint is a verdict like another: other controllers see what it was, what
// they posted before it is of the same outage, and a port may have no usable route for it.
func TestUnreachableIsAVerdict(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.fail(rs[0], 1, retryExc)
	var before slice
	b.post(&before, rs[1], rs[1].current.Load().number, kib, b.qp(rs[1]))
	a.quarantine(a.route("D1", "Q", "n1"))
	require.Empty(t, a.notices(PortExhausted))
	rs[0].Unreachable(rs[0].current.Load().number, a.now)
	assert.Equal(t, []rail.Pair{rs[0].pair}, a.notices(PortExhausted))

	require.Equal(t, Quarantined, look(rs[1]))
	last := b.seen[len(b.seen)-1]
	assert.True(t, last.Shared)
	assert.Equal(t, classify.CMEvent(classify.CMEventUnreachable), last.Verdict)

	s.advance(30 * time.Second)
	a.renewed(rs[0])
	a.settle(a.trial(rs[0]), success)
	require.Equal(t, Healthy, look(rs[1]))
	b.settle(&before, retryExc)
	b.state(rs[1], Healthy)
	b.count(rs[1], 0)
}

// The last usable route of a port may have been closed meanwhile: a trial that fails finds
// the port without any.
func TestFailedTrialFindsThePortExhausted(t *testing.T) {
	h := newHealthRig(t, Enforce)
	p, q, usable := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1"), h.route("D1", "R", "n1")
	h.quarantine(p)
	h.quarantine(q)
	usable.Close()
	h.advance(30 * time.Second)
	x := h.trial(p)
	require.Empty(t, h.notices(PortExhausted))
	h.settle(x, retryExc)
	assert.Equal(t, []rail.Pair{p.pair}, h.notices(PortExhausted))
}
