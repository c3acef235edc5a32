package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// probe takes a probe of the route, on a new endpoint, and posts it.
func (h *healthRig) probe(route *Route) *slice {
	h.Helper()
	gen, qp := h.renewed(route)
	s := &slice{}
	d := route.TryProbe(&s.permit, gen, 64)
	require.True(h.TB, d.Admitted(), "a probe that is due: %s", d)
	require.NoError(h.TB, s.permit.Posting(qp, h.now))
	s.use = d.Use
	return s
}

func (h *healthRig) due() []string {
	var names []string
	for _, r := range h.ctl.Due(h.now) {
		names = append(names, r.Pair().Remote)
	}
	return names
}

// withProber sets Config.Prober.
func withProber(c *Config) { c.Prober = true }

// Due lists what wants a probe by pair, whenever the routes were made.
func TestDueIsSorted(t *testing.T) {
	h := newHealthRig(t, Enforce)
	for i := range byte(20) {
		h.fail(h.route("D1", "P", string('a'+i*7%20)), 1, retryExc)
	}
	due := h.due()
	assert.Len(t, due, 20)
	assert.IsIncreasing(t, due)
}

// Due lists what wants a probe, in order, and changes nothing.
func TestDue(t *testing.T) {
	h := newHealthRig(t, Enforce)
	interval := h.ctl.cfg.ProbeInterval
	healthy, suspect, paused := h.route("D1", "P", "n1"), h.route("D1", "P", "n3"), h.route("D1", "P", "n2")
	h.renewed(healthy)
	assert.Empty(t, h.due(), "healthy routes want none")
	h.fail(suspect, 1, retryExc)
	h.fail(paused, 3, retryExc)
	assert.Equal(t, []string{"n3"}, h.due(), "SUSPECT at once, QUARANTINED one interval later")
	h.advance(interval)
	before, seen := h.ctl.Snapshot(), len(h.seen)
	for range 3 {
		assert.Equal(t, []string{"n2", "n3"}, h.due())
	}
	assert.Equal(t, before, h.ctl.Snapshot(), "a query changes nothing")
	assert.Len(t, h.seen, seen)

	p := h.probe(paused)
	assert.Equal(t, []string{"n3"}, h.due(), "a probe is on the wire")
	h.settle(p, success)
	assert.Equal(t, Healthy, paused.State())
	assert.Equal(t, []string{"n3"}, h.due())
	q := h.probe(suspect)
	assert.Empty(t, h.due(), "the next one an interval later")
	h.settle(q, success)
	h.inFlight(healthy, 0, 0)
}

// A failed early probe sets the time of the next, and nothing else.
func TestEarlyProbeFails(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	resume, interval := h.now+h.ctl.cfg.Cooldown, h.ctl.cfg.ProbeInterval
	var s slice
	gen, _ := h.renewed(route)
	d := route.TryProbe(&s.permit, gen, 64)
	assert.Equal(t, avoided, d.Ruling, "not before an interval is over")
	for range 5 {
		h.advance(interval)
		h.settle(h.probe(route), retryExc)
		require.Equal(t, Quarantined, route.State())
		require.Empty(t, h.due())
		gen, _ := h.renewed(route)
		h.advance(interval)
		d := route.TryAcquire(&s.permit, gen, kib, nil)
		require.Equal(t, avoided, d.Ruling, "user slices wait for the end of the cooldown")
		require.Equal(t, resume-h.now, d.RetryAfter, "the end of the cooldown does not move")
		h.now -= interval
	}
	h.now = resume
	h.post(&s, route, route.current.Load().number, kib, h.qps)
	h.settle(&s, success)
	assert.Equal(t, Healthy, route.State())
}

// Probes go an interval apart, start to start, however long one takes to fail. A user's
// slice that was an early trial is followed by the next an interval after it failed.
func TestIntervalCountsFromTheStart(t *testing.T) {
	for _, took := range []time.Duration{time.Millisecond, 900 * time.Millisecond, 3 * time.Second} {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		h.fail(route, 3, retryExc)
		h.advance(time.Second)
		began := h.now
		s := h.probe(route)
		h.advance(took)
		h.settle(s, retryExc)
		h.renewed(route)
		for h.now < began+time.Second-time.Millisecond {
			require.Empty(t, h.due(), "after %s of %s", h.now-began, took)
			h.advance(time.Millisecond)
		}
		h.now = max(h.now, began+time.Second)
		assert.Equal(t, []string{"n1"}, h.due(), "a probe that took %s", took)

		h.portActive()
		h.advance(time.Second)
		s = h.trial(route)
		h.advance(took)
		h.settle(s, retryExc)
		h.renewed(route)
		h.advance(time.Second - 1)
		h.ruling(route, avoided)
		h.advance(1)
		h.settle(h.trial(route), success)
	}
}

// The longer a pair is dead, the less often it is probed; but when it works again it comes
// back within such an interval, not when the cooldown is over. A failed early probe leaves
// the end of the cooldown where it was.
func TestProbesGetRarerAsCooldownsGrow(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	cfg := h.ctl.cfg
	h.fail(route, 3, retryExc)
	for cooldown := cfg.Cooldown; ; cooldown = min(2*cooldown, cfg.CooldownCap) {
		interval := cfg.ProbeInterval * (cooldown / time.Second) / (cfg.Cooldown / time.Second)
		for ends := h.now + cooldown; ; {
			h.advance(min(interval, ends-h.now) - 1)
			require.Empty(t, h.due(), "%s before the end of %s", ends-h.now, cooldown)
			h.advance(1)
			require.Equal(t, []string{"n1"}, h.due(), "%s before the end of %s", ends-h.now, cooldown)
			if h.now == ends {
				break
			}
			h.settle(h.probe(route), retryExc)
			h.renewed(route)
		}
		if cooldown == cfg.CooldownCap {
			break
		}
		h.settle(h.probe(route), retryExc)
		h.renewed(route)
	}
	h.settle(h.probe(route), success)
	assert.Equal(t, Healthy, route.State())
}

// What flaps is not probed before its cooldown is over: it would work just then.
func TestNoEarlyProbeOfFlappingPair(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	h.advance(h.ctl.cfg.ProbeInterval)
	h.settle(h.probe(route), success)
	require.Equal(t, Healthy, route.State())
	h.fail(route, 3, retryExc)
	h.advance(2*h.ctl.cfg.Cooldown - 1)
	assert.Empty(t, h.due())
	h.advance(1)
	assert.Equal(t, []string{"n1"}, h.due())
}

// A probe verifies a SUSPECT route.
func TestProbeOfSuspectRoute(t *testing.T) {
	for _, tc := range []struct {
		name    string
		outcome classify.Verdict
		want    State
	}{
		{"success clears", success, Healthy},
		{"failure on a new generation quarantines at once", retryExc, Quarantined},
		{"no verdict, no change", flush, Suspect},
		{"receiver not ready, no change", rnr(), Suspect},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.fail(route, 1, retryExc)
			p := h.probe(route)
			gen := route.current.Load().number
			var again slice
			d := route.TryProbe(&again.permit, gen, 64)
			assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Hint: Divert}, d.Ruling, "one in an interval")
			assert.Equal(t, h.ctl.cfg.ProbeInterval, d.RetryAfter)
			h.settle(p, tc.outcome)
			assert.Equal(t, tc.want, route.State())
			h.inFlight(route, 0, 0)
		})
	}
}

// On the generation that failed before, a probe's failure counts like any other.
func TestProbeOfSuspectRouteOnOldGeneration(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route, 2)
	var s, p slice
	h.post(&s, route, gen, kib, qp)
	h.settle(&s, retryExc)
	require.Equal(t, Suspect, route.State())
	d := route.TryProbe(&p.permit, gen, 64)
	require.True(t, d.Admitted())
	require.NoError(t, p.permit.Posting(qp+1, h.now))
	p.permit.Settle(d.Use, retryExc, h.now)
	assert.Equal(t, Suspect, route.State(), "two failures of three")
	h.fail(route, 1, retryExc)
	assert.Equal(t, Quarantined, route.State(), "an ordinary slice on a new generation counts as the third")
}

// An ordinary transfer after SUSPECT is no probe: it counts like any other.
func TestUserSliceIsNoProbe(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 2, retryExc)
	assert.Equal(t, Suspect, route.State())
}

// With a prober, user slices are not used as trials, unless no probe was taken for
// four intervals.
func TestProberTakesTheTrials(t *testing.T) {
	h := newHealthRig(t, Enforce, withProber)
	interval := h.ctl.cfg.ProbeInterval
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	gen, _ := h.renewed(route)
	var s slice
	ask := func() Decision { return route.TryAcquire(&s.permit, gen, kib, nil) }
	h.advance(h.ctl.cfg.Cooldown)
	d := ask()
	assert.Equal(t, avoided, d.Ruling, "the trial is the prober's")
	assert.Equal(t, 4*interval, d.RetryAfter)
	require.Equal(t, []string{"n1"}, h.due())
	h.advance(4*interval - 1)
	require.Equal(t, avoided, ask().Ruling)
	p := h.probe(route) // an endpoint of its own
	gen = route.current.Load().number
	h.settle(p, flush) // teaches nothing
	h.advance(4*interval - 1)
	require.Equal(t, avoided, ask().Ruling, "four intervals count from the last probe")
	h.advance(1 + interval)
	gen, qp := h.renewed(route)
	d = ask()
	require.True(t, d.Admitted(), "nobody probes: %s", d)
	require.NoError(t, s.permit.Posting(qp, h.now))
	s.permit.Settle(d.Use, success, h.now)
	assert.Equal(t, Healthy, route.State())
}

// A probe that never was posted is no attempt: the next may come at once.
func TestProbeCancelledBeforePost(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	h.advance(h.ctl.cfg.ProbeInterval)
	gen, _ := h.renewed(route)
	var p, other slice
	require.True(t, route.TryProbe(&p.permit, gen, 64).Admitted())
	assert.Equal(t, probing, route.TryProbe(&other.permit, gen, 64).Ruling, "one at a time")
	require.True(t, p.permit.Unposted())
	assert.Equal(t, []string{"n1"}, h.due())
	require.True(t, route.TryProbe(&p.permit, gen, 64).Admitted())
	p.permit.Unposted()
	h.inFlight(route, 0, 0)
}

// A lost probe does not block its route for ever.
func TestLostProbe(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 3, retryExc)
	h.advance(h.ctl.cfg.Cooldown)
	lost := h.probe(route)
	h.advance(10*time.Second - 1)
	assert.Empty(t, h.due())
	h.advance(1)
	assert.Equal(t, []string{"n1"}, h.due(), "its lease is over")
	h.settle(h.probe(route), success)
	assert.Equal(t, Healthy, route.State())
	h.settle(lost, flush)
	h.inFlight(route, 0, 0)
}

func TestTryProbeElsewhere(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.settle(h.probe(route), success) // a healthy route: an ordinary slice
	assert.Equal(t, Healthy, route.State())
	var s slice
	assert.Equal(t, classify.ReasonStaleGeneration, route.TryProbe(&s.permit, 0, 64).Reason)
	assert.Error(t, route.TryProbe(&s.permit, 1, 0).Err, "0 bytes")
	h.fail(route, 1, retryExc)
	assert.Error(t, route.TryProbe(&s.permit, 99, 64).Err, "a generation that is not there yet")
	h.fail(route, 2, retryExc)
	h.advance(h.ctl.cfg.Cooldown)
	assert.Equal(t, wantsRenew, route.TryProbe(&s.permit, route.current.Load().number, 64).Ruling)
	h.ctl.Close()
	assert.ErrorIs(t, route.TryProbe(&s.permit, 1, 64).Err, ErrClosed)
	assert.Empty(t, h.ctl.Due(h.now), "a closed controller has no routes to probe")
}

// With a prober, user slices leave a route that has failed to the probe: the lesson costs
// those that were on their way. If the prober misses its turn, one goes.
func TestProberSparesUserSlices(t *testing.T) {
	h := newHealthRig(t, Enforce, func(c *Config) { c.Prober = true })
	route := h.route("D1", "P", "n1")
	h.fail(route, 1, retryExc)
	h.renewed(route)
	h.ruling(route, suspected)
	var list List
	gen := route.current.Load().number
	assert.Equal(t, suspected, route.TryAcquireList(&list, gen, []int64{kib, kib}, nil).Ruling)
	var p slice
	d := route.TryProbe(&p.permit, gen, 64)
	require.True(t, d.Admitted(), d.String())
	p.use = d.Use
	require.NoError(t, p.permit.Posting(h.qp(route), h.now))
	h.ruling(route, suspected)
	h.settle(&p, success)
	h.state(route, Healthy)

	h.fail(route, 1, retryExc)
	h.renewed(route)
	h.advance(4*time.Second - 1)
	h.ruling(route, suspected)
	h.advance(1)
	h.ruling(route, Ruling{Answer: Admit}).permit.Unposted()

	// An early suspicion without a failure, and a last route that is kept, admit.
	early := h.route("D1", "Q", "n1")
	h.renewed(early)
	early.device.locked(func() {
		early.health.early = true
		early.reconsider(h.now, cause{reason: classify.ReasonRouteSuspect})
	})
	h.ruling(early, Ruling{Answer: Admit}).permit.Unposted()
}
