package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A trial that a port's verdict asked for says nothing about failures that others
// counted after it was posted.
func TestLocalTrialAndLaterCount(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.portErr()
	a.renewed(rs[0])
	s.advance(30 * time.Second)
	probe := a.trial(rs[0])
	b.fail(rs[1], 2, retryExc)
	a.settle(probe, success)
	b.count(rs[1], 2)
	assert.Equal(t, Suspect, look(rs[1]), "the success was posted before both failures")
}

// What others counted meanwhile makes the route SUSPECT when its port's verdict ends. A
// probe on the endpoint that was up then verifies nothing; one on a newer one does.
func TestSuspectAfterLocalTrial(t *testing.T) {
	for _, renewed := range []bool{false, true} {
		s := newShared(t, 2)
		a, b := s.workers[0], s.workers[1]
		rs := s.routes("D1", "P", "n1")
		a.portErr()
		a.renewed(rs[0])
		s.advance(30 * time.Second)
		trial := a.trial(rs[0])
		b.fail(rs[1], 1, retryExc)
		a.settle(trial, success)
		require.Equal(t, Suspect, look(rs[0]))
		if renewed {
			a.renewed(rs[0])
		}
		s.advance(time.Second)
		probe := &slice{}
		d := rs[0].TryProbe(&probe.permit, rs[0].current.Load().number, 64)
		require.True(t, d.Admitted(), "%s", d)
		require.NoError(t, probe.permit.Posting(a.qp(rs[0]), a.now))
		probe.use = d.Use
		a.settle(probe, retryExc)
		assert.Equal(t, renewed, look(rs[0]) == Quarantined, "on a new endpoint: %t", renewed)
	}
}

// Nor does its failure make a pause longer that began after it was posted.
func TestLocalTrialAndLaterPause(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.portErr()
	a.renewed(rs[0])
	s.advance(30 * time.Second)
	probe := a.trial(rs[0])
	b.fail(rs[1], 3, retryExc)
	resume := rs[1].path().Resume
	s.advance(time.Second)
	a.settle(probe, retryExc)
	assert.Equal(t, resume, rs[1].path().Resume, "new evidence does not lengthen a running cooldown")
	assert.Equal(t, 30*time.Second, cooldown(rs[1]), "one outage, one cooldown")
}

// A pause from elsewhere has its reason in the snapshot too.
func TestReasonOfAdoptedState(t *testing.T) {
	s := newShared(t, 2)
	rs := s.routes("D1", "P", "n1")
	s.workers[0].fail(rs[0], 3, retryExc)
	require.Equal(t, Quarantined, look(rs[1]))
	last := s.workers[1].seen[len(s.workers[1].seen)-1]
	require.Equal(t, classify.ReasonPathQuarantined, last.Reason)
	assert.Equal(t, last.Reason, rs[1].Snapshot().Health.Reason, "time alone did not lead to it")
}

// A permit whose lease expired, and after which another worker began a trial, is not
// posted any more: as it is with one worker.
func TestTrialOverBeforePostElsewhere(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.quarantine(rs[0])
	look(rs[1])
	s.advance(30 * time.Second)
	first := a.ruling(rs[0], Ruling{Answer: Admit})
	s.advance(10 * time.Second)
	b.trial(rs[1])
	assert.ErrorIs(t, first.permit.Posting(a.qp(rs[0]), a.now), ErrTrialOver)
}

// What was suspected or found congested before a pause is over with the pause, also
// where another worker's trial ended it.
func TestAdoptedEndOfPause(t *testing.T) {
	for name, before := range map[string]func(*healthRig, *Route){
		"early suspicion": func(h *healthRig, r *Route) {
			r.device.locked(func() {
				r.health.early = true
				r.reconsider(h.now, cause{reason: classify.ReasonRouteSuspect})
			})
		},
		"congestion": func(h *healthRig, r *Route) { h.congest(r, true) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newShared(t, 2)
			a, b := s.workers[0], s.workers[1]
			rs := s.routes("D1", "P", "n1")
			before(b, rs[1])
			a.quarantine(rs[0])
			require.Equal(t, Quarantined, look(rs[1]))
			s.advance(30 * time.Second)
			a.settle(a.trial(rs[0]), success)
			a.state(rs[0], Healthy)
			assert.Equal(t, Healthy, look(rs[1]), "as at the worker that tried")
		})
	}
}

// A port's recovery event allows the early trial of a pause that its reader has not
// met yet.
func TestPortActiveBeforeSync(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.fail(rs[0], 3, retryExc)
	b.portActive() // b's route was not asked for since
	s.advance(time.Second)
	b.ruling(rs[1], Ruling{Answer: Admit})
}

// A suspicion that lapsed elsewhere leaves the minimum window, as it does here.
func TestAdoptedLapse(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.fail(rs[0], 1, retryExc)
	a.renewed(rs[0])
	require.Equal(t, Suspect, look(rs[1]))
	s.advance(10*time.Second + 1)
	a.succeed(rs[0]) // the first to ask
	b.succeed(rs[1])
	assert.Equal(t, rs[0].Snapshot().WindowBytes, rs[1].Snapshot().WindowBytes)
}

// A failed trial never makes the next cooldown shorter than the last, whatever the
// configuration of the worker that tried.
func TestSmallerCapElsewhere(t *testing.T) {
	s := newShared(t, 1)
	a := s.workers[0]
	b := s.join(Enforce, func(c *Config) { c.Cooldown, c.CooldownCap = 10*time.Second, 20*time.Second })
	rs := s.routes("D1", "P", "n1")
	a.fail(rs[0], 3, retryExc)
	for range 2 {
		a.renewed(rs[0])
		s.untilDue(rs[0])
		a.settle(a.trial(rs[0]), retryExc)
	}
	require.Equal(t, 120*time.Second, cooldown(rs[0]))
	look(rs[1])
	s.advance(120 * time.Second)
	b.settle(b.trial(rs[1]), retryExc)
	assert.GreaterOrEqual(t, cooldown(rs[0]), 120*time.Second, "the larger cooldown is kept until a success")
	a.renewed(rs[0])
	s.untilDue(rs[0])
	a.settle(a.trial(rs[0]), success)
	b.fail(rs[1], 3, retryExc)
	assert.GreaterOrEqual(t, pause(rs[0]).Resume-s.now, 120*time.Second, "and is not lived down")
}

// One change of state is told once, also when it ends a limit.
func TestTransitionToldOnce(t *testing.T) {
	h := newHealthRig(t, Enforce)
	h.fail(h.route("D1", "P", "n1"), 3, retryExc)
	h.fail(h.route("D1", "Q", "n1"), 3, retryExc)
	route := h.route("D1", "R", "n1")
	require.True(t, route.health.limited)
	h.quarantine(route)
	h.advance(30 * time.Second)
	h.settle(h.trial(route), success)
	assert.Equal(t, []State{Suspect, Quarantined, Probing, Healthy}, h.path(route))
}

// A suspicion that a success clears costs nothing, though an older one had lapsed,
// seen or unseen.
func TestSuccessAfterAdoptedLapse(t *testing.T) {
	for _, seen := range []bool{true, false} {
		s := newShared(t, 2)
		a, b := s.workers[0], s.workers[1]
		rs := s.routes("D1", "P", "n1")
		a.fail(rs[0], 1, retryExc)
		a.renewed(rs[0])
		if seen {
			require.Equal(t, Suspect, look(rs[1]))
		}
		s.advance(10*time.Second + 1)
		a.succeed(rs[0])
		look(rs[1])
		rs[1].device.locked(func() {
			rs[1].setLawWindow(2 * mib) // it grew since
			rs[1].health.early = true
			rs[1].reconsider(b.now, cause{reason: classify.ReasonRouteSuspect})
		})
		b.state(rs[1], Suspect)
		b.succeed(rs[1])
		b.state(rs[1], Healthy)
		assert.Equal(t, 2*mib, rs[1].Snapshot().WindowBytes)
	}
}

// A Renew may come between a look at the trial's endpoint, which was current, and
// the device's lock: what the success then says of the path is nothing, but the
// trial has ended.
func TestRenewWhileTrialSucceeds(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	probe := h.trial(route)
	h.renewed(route)
	route.succeeded(&probe.permit, h.now) // as outcome calls it
	assert.False(t, pause(route).TrialOut(h.now), "the lease of a trial that has ended")
	h.advance(time.Second)
	h.trial(route)
}
