package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whose turn it is while there is a prober: users wait for four intervals after the
// latest failure or probe.
func TestUsersLeaveASuspectRouteToTheProber(t *testing.T) {
	for name, tt := range map[string]struct {
		probe time.Duration // after the failure; 0 if there is none
		after time.Duration
		want  Ruling
	}{
		"right after the failure":      {0, 0, suspected},
		"just before four intervals":   {0, 4*time.Second - 1, suspected},
		"four intervals":               {0, 4 * time.Second, Ruling{Answer: Admit}},
		"after a probe":                {3 * time.Second, 4 * time.Second, suspected},
		"just before its four":         {3 * time.Second, 7*time.Second - 1, suspected},
		"four intervals after a probe": {3 * time.Second, 7 * time.Second, Ruling{Answer: Admit}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce, withProber)
			route := h.route("D1", "P", "n1")
			h.fail(route, 1, retryExc)
			h.renewed(route)
			if tt.probe > 0 {
				h.advance(tt.probe)
				h.probe(route)
			}
			h.advance(tt.after - tt.probe)
			h.ruling(route, tt.want).permit.Unposted()
		})
	}
}

// Nothing has failed on a route that only fell silent, and the last route to a peer is
// all that users have.
func TestUsersKeepSomeSuspectRoutes(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber, keepLast)
	silent, last := h.route("D1", "P", "n1"), h.route("D2", "Q", "n1")
	h.renewed(silent)
	silent.device.locked(func() {
		silent.health.early = true
		silent.reconsider(h.now, cause{reason: classify.ReasonRouteSuspect})
	})
	h.ruling(silent, Ruling{Answer: Admit}).permit.Unposted()
	h.fail(last, 3, retryExc)
	h.renewed(last)
	require.True(t, last.health.kept.Load())
	h.ruling(last, Ruling{Answer: Admit}).permit.Unposted()
}

// A user's slice may be the trial four intervals after it is due, or after the latest
// probe.
func TestWhenUsersMayTry(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	due := route.path().Resume
	userDue := func() time.Duration { return time.Duration(route.health.record.userDue.Load()) }
	assert.Equal(t, due+4*time.Second, userDue())
	h.advance(2 * time.Second)
	h.settle(h.probe(route), teardown)
	assert.Equal(t, due+4*time.Second, userDue(), "a probe long before it is due")
	h.advance(30 * time.Second)
	h.probe(route)
	assert.Equal(t, h.now+4*time.Second, userDue(), "and one after it was")
}

// Probes of a SUSPECT route are an interval apart, to the nanosecond; who only observes
// is told so and may go on.
func TestProbesOfASuspectRouteAreApart(t *testing.T) {
	for _, mode := range []Mode{Enforce, Observe} {
		h := newHealthRig(t, mode)
		route := h.route("D1", "P", "n1")
		h.fail(route, 1, retryExc)
		h.settle(h.probe(route), teardown)
		ask := func() Decision {
			var p Permit
			d := route.TryProbe(&p, route.current.Load().number, 64)
			p.Unposted()
			return d
		}
		h.advance(time.Second - 1)
		if d := ask(); mode == Enforce {
			assert.Equal(t, suspected, d.Ruling)
			assert.Equal(t, time.Duration(1), d.RetryAfter)
		} else {
			assert.True(t, d.Admitted())
			continue
		}
		h.advance(1)
		assert.True(t, ask().Admitted())
		assert.False(t, ask().Admitted(), "the next is another interval later, though that one was not posted")
	}
}

// What a pair or a port remembers of pauses that are over does not keep probes of the
// other's from coming early.
func TestEarlyProbeGoesByWhatIsPaused(t *testing.T) {
	early := func(h *healthRig, route *Route) {
		t.Helper()
		h.advance(2 * time.Second)
		h.settle(h.probe(route), success)
		h.state(route, Healthy)
	}
	t.Run("of the port", func(t *testing.T) {
		h := newHealthRig(t, Enforce, withProber)
		route := h.route("D1", "P", "n1")
		h.flap(route)
		h.advance(time.Minute + 4*time.Second)
		h.settle(h.trial(route), success)
		h.advance(40 * time.Second)
		path := route.path()
		require.False(t, path.EarlyProbes(h.ctl.policy()), "60 s are remembered")
		h.portErr()
		early(h, route)
	})
	t.Run("of the pair", func(t *testing.T) {
		h := newHealthRig(t, Enforce, withProber)
		route := h.route("D1", "P", "n1")
		h.renewed(route)
		h.portErr()
		early(h, route)
		h.portErr()
		h.renewed(route)
		h.advance(time.Minute + 4*time.Second)
		h.settle(h.trial(route), success)
		require.False(t, route.health.record.local.EarlyProbes(h.ctl.policy()))
		h.advance(2 * time.Minute) // the pair has lived down its own
		h.quarantine(route)
		path := route.path()
		require.True(t, path.EarlyProbes(h.ctl.policy()))
		early(h, route)
	})
}

// Without a prober one success ends every pause.
func TestNoProofWithoutAProber(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.flap(route)
	h.advance(time.Minute)
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
}

// The next probe is an interval after the last began, and not before now.
func TestWaitOfATrial(t *testing.T) {
	user, probe := trial{began: 100}, trial{began: 100, probe: true}
	for now, want := range map[time.Duration]time.Duration{100: 10, 105: 5, 110: 0, 111: 0, 1000: 0} {
		assert.Equal(t, want, probe.wait(now, 10))
		assert.Equal(t, time.Duration(10), user.wait(now, 10))
	}
}
