package cc

import (
	"fmt"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// askMeanwhile asks for the trial like acquireBarred, and lets something happen between
// the look at what is due and the lease of the trial. Other controllers have other
// locks, so anything may.
func (h *healthRig) askMeanwhile(s *slice, r *Route, n int64, probe bool, meanwhile func()) (d Decision) {
	h.Helper()
	cur := r.current.Load()
	r.device.locked(func() {
		early, due := r.trialIsDue(&s.permit, cur, &s.task, h.now, probe)
		require.True(h.TB, due, "%v", early)
		meanwhile()
		d, _ = r.tryTrial(&s.permit, cur, n, &s.task, h.now, probe)
	})
	s.use = d.Use
	return d
}

// lifts are the ways in which another controller can end the pause of a pair while a
// trial is due here.
var lifts = map[string]func(*shared, *healthRig, *Route) func(){
	"by a trial from start to end": func(_ *shared, h *healthRig, r *Route) func() {
		return func() { h.settle(h.trial(r), success) }
	},
	"by a trial whose lease had expired": func(s *shared, h *healthRig, r *Route) func() {
		x := h.trial(r)
		s.advance(10 * time.Second)
		return func() { h.settle(x, success) }
	},
}

// A pause that another controller lifts before the trial is leased leaves nothing to
// try: the slice is no trial, which may exceed the window, but one like any other.
func TestPauseLiftedBeforeLease(t *testing.T) {
	for name, lift := range lifts {
		for _, probe := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, probe %t", name, probe), func(t *testing.T) {
				s := newShared(t, 2)
				a, b := s.workers[0], s.workers[1]
				rs := s.routes("D1", "P", "n1")
				var old slice // fills the window that the route will have
				a.post(&old, rs[0], rs[0].current.Load().number, 64*kib, a.qp(rs[0]))
				b.quarantine(rs[1])
				require.Equal(t, Quarantined, look(rs[0]))
				a.renewed(rs[0])
				s.advance(30 * time.Second)
				before := rs[0].health.record.trials

				var x slice
				d := a.askMeanwhile(&x, rs[0], 4*kib, probe, lift(s, b, rs[1]))
				assert.Equal(t, probing, d.Ruling)
				a.inFlight(rs[0], 64*kib, 64*kib)
				assert.Equal(t, before, rs[0].health.record.trials, "no trial began")
				assert.False(t, pause(rs[0]).Paused)

				assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, a.ask(&x, rs[0], 4*kib).Ruling)
				a.state(rs[0], Healthy)
				a.settle(&old, teardown)
				require.True(t, a.ask(&x, rs[0], 4*kib).Admitted(), "there is room now")
				assert.Zero(t, x.permit.trial)
				x.permit.Unposted()
				a.done(rs[0])
				b.done(rs[1])
			})
		}
	}
}

// While the own port, device or CQ has a verdict too, there is that one left to try.
func TestPauseLiftedBeforeLeaseOfLocalTrial(t *testing.T) {
	for name, lift := range lifts {
		t.Run(name, func(t *testing.T) {
			s, rs := paused(t, 2)
			a, b := s.workers[0], s.workers[1]
			a.portErr()
			s.advance(30 * time.Second)

			var x slice
			d := a.askMeanwhile(&x, rs[0], 4*kib, false, lift(s, b, rs[1]))
			require.True(t, d.Admitted(), "%v", d)
			a.state(rs[0], Probing)
			assert.NotZero(t, x.permit.trial)
			assert.False(t, pause(rs[0]).Paused, "the pair is not paused any more")
			assert.Zero(t, pause(rs[0]).Trial, "and has no trial")
			b.state(rs[1], Healthy)

			require.NoError(t, x.permit.Posting(a.qp(rs[0]), a.now))
			a.settle(&x, success)
			a.state(rs[0], Healthy)
			a.done(rs[0])
			b.done(rs[1])
		})
	}
}
