package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first admission after the cooldown is the trial, and the only one.
func TestTrialAfterCooldown(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30*time.Second - 1)
	s := h.ruling(route, avoided)
	h.reason(s, unavailable, classify.ReasonPathQuarantined)
	d := h.ask(s, route, kib)
	assert.Equal(t, time.Duration(1), d.RetryAfter, "how long the cooldown still is")
	for range 100 {
		route.Snapshot()
		route.State()
	}
	h.advance(1)
	h.state(route, Quarantined)

	probe := h.trial(route)
	assert.True(t, route.Snapshot().Health.TrialOut)
	for range 10 {
		h.ruling(route, probing)
	}
	h.settle(probe, success)
	h.state(route, Healthy)
	assert.False(t, route.Snapshot().Health.TrialOut)
	assert.Equal(t, 64*kib, route.Snapshot().WindowBytes, "recovery starts from the minimum window")
	assert.Equal(t, normal, probe.task.State())
	h.done(route)
}

// The end of the cooldown alone is enough: after ten minutes in which nobody asked,
// after port and device events without a recovery event.
func TestTrialNeedsNoEvent(t *testing.T) {
	for name, isolate := range map[string]func(*healthRig, *Route){
		"timeouts": func(h *healthRig, r *Route) { h.fail(r, 3, retryExc) },
		"port":     func(h *healthRig, r *Route) { h.portErr() },
		"device":   func(h *healthRig, r *Route) { h.event(classify.EventDeviceFatal, classify.Element{}) },
		"CQ":       func(h *healthRig, r *Route) { h.event(classify.EventCQErr, classify.Element{CQ: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.renewed(route)
			isolate(h, route)
			h.renewed(route)
			h.advance(30*time.Second - 1)
			h.ruling(route, avoided)
			h.advance(10 * time.Minute)
			h.settle(h.trial(route), success)
			h.state(route, Healthy)
			h.done(route)
		})
	}
}

// A trial needs a generation in which nothing was posted before the verdict.
func TestTrialGeneration(t *testing.T) {
	h := newHealthRig(t, Enforce)
	used, idle := h.route("D1", "P", "n1"), h.route("D1", "P", "n2")
	h.renewed(used)
	h.succeed(used)
	h.renewed(idle)
	h.portErr()
	h.advance(30 * time.Second)

	s := h.ruling(used, wantsRenew)
	h.reason(s, unavailable, classify.ReasonPathQuarantined)
	h.settle(h.trial(idle), success)
	h.state(idle, Healthy)

	h.renewed(used)
	h.settle(h.trial(used), retryExc)
	h.advance(time.Hour)
	h.ruling(used, wantsRenew)
	h.renewed(used)
	h.settle(h.trial(used), success)
	h.state(used, Healthy)
	h.done(used, idle)
}

// A second verdict while the route is quarantined asks for a newer generation too.
func TestTrialAfterSecondVerdict(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	h.settle(h.trial(route), flush)
	h.portErr()
	h.advance(time.Hour)
	h.ruling(route, wantsRenew)
	h.renewed(route)
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
	h.done(route)
}

// How trials end. Every outcome frees the trial, and only a failure starts a new
// cooldown.
func TestTrialOutcomes(t *testing.T) {
	type outcome = func(h *healthRig, s *slice, qp uint64)
	settle := func(vs ...classify.Verdict) outcome {
		return func(h *healthRig, s *slice, _ uint64) {
			for _, v := range vs {
				h.settle(s, v)
			}
		}
	}
	event := func(e classify.EventType, then ...classify.Verdict) outcome {
		return func(h *healthRig, s *slice, qp uint64) {
			h.event(e, classify.Element{QP: qp, CQ: 1, Port: 1})
			settle(then...)(h, s, qp)
		}
	}
	const s, interval = time.Second, 1200 * time.Millisecond // with jitter
	tests := []struct {
		name string
		do   outcome
		due  time.Duration // of the next trial, from the outcome
		task classify.Reason
	}{
		{"timeout", settle(retryExc), 72 * s, classify.ReasonProbeFailed},
		{"response timeout", settle(wc(classify.StatusRespTimeoutErr, 0)), 72 * s, classify.ReasonProbeFailed},
		{"fatal", settle(fatal()), 72 * s, classify.ReasonProbeFailed},
		{"unknown status", settle(wc(99, 0)), 72 * s, classify.ReasonProbeFailed},
		{"deadline", settle(deadline), 72 * s, classify.ReasonProbeFailed},
		{"event, then the flush", event(classify.EventQPFatal, flush), 72 * s, classify.ReasonProbeFailed},
		{"flush without root", settle(flush), interval, classify.ReasonPathQuarantined},
		{"receiver not ready", settle(rnr()), interval, classify.ReasonPathQuarantined},
		{"local length", settle(locLen()), interval, classify.ReasonPathQuarantined},
		{"remote access", settle(remAccess()), interval, classify.ReasonPathQuarantined},
		{"teardown", settle(teardown), interval, classify.ReasonPathQuarantined},
		{"cancelled, not released", settle(cancel), 10 * s, classify.ReasonPathQuarantined},
		{"cancelled, then success", settle(cancel, success), 0, classify.ReasonPathQuarantined},
		{"cancelled, then timeout", settle(cancel, retryExc), 0, classify.ReasonPathQuarantined},
		{"cancelled, then torn down", settle(cancel, teardown), 0, classify.ReasonPathQuarantined},
		{"never posted", func(h *healthRig, s *slice, _ uint64) { s.permit.Unposted() }, 0, classify.ReasonPathQuarantined},
		{"rejected post", settle(classify.RejectedPost(12)), 0, classify.ReasonPathQuarantined},
		{"stalled deadline", settle(stalled), 10 * s, classify.ReasonPathQuarantined},
		{"lost", settle(), 10 * s, classify.ReasonPathQuarantined},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.quarantine(route)
			h.advance(30 * time.Second)
			h.jitter = 1.2
			qp := h.qp(route)
			probe := h.ruling(route, Ruling{Answer: Admit})
			probe.permit.slice.Refused(&probe.task, route.evidence(classify.ReasonPathQuarantined, h.now))
			probe.permit.Unposted()
			h.post(probe, route, route.current.Load().number, 4*kib, qp)
			assert.Equal(t, unavailable, probe.task.State(), "the posting of a trial resolves nothing")
			tt.do(h, probe, qp)

			h.reason(probe, unavailable, tt.task)
			h.renewed(route) // what was posted there before the verdict is of no concern here
			if tt.due > 0 {
				h.advance(tt.due - 1)
				var s slice
				require.False(t, h.ask(&s, route, 4*kib).Admitted(), "just before the next trial is due")
				h.advance(1)
			}
			next := h.trial(route)
			h.settle(probe, teardown)
			h.state(route, Probing)
			h.settle(next, success)
			h.state(route, Healthy)
			h.done(route)
		})
	}
}

// The lease lasts twice the longest retry time, at least 10 s; what comes of a trial
// after that still counts, until another one began.
func TestTrialLeaseExpires(t *testing.T) {
	for retry, lease := range map[time.Duration]time.Duration{0: 10 * time.Second, 8 * time.Second: 16 * time.Second} {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		gen, qp := h.renewed(route)
		var first slice
		h.post(&first, route, gen, 4*kib, qp)
		h.advance(retry)
		h.settle(&first, retryExc)
		h.fail(route, 2, retryExc)
		gen, qp = h.renewed(route, 2)
		h.advance(30 * time.Second)

		lost := h.trial(route)
		h.advance(lease - 1)
		h.ruling(route, probing)
		h.advance(1)
		second := &slice{}
		h.post(second, route, gen, 4*kib, qp+1)
		assert.Equal(t, []State{Suspect, Quarantined, Probing, Quarantined, Probing}, h.path(route))
		h.settle(lost, retryExc)
		h.state(route, Probing)
		h.ruling(route, probing)
		h.settle(second, flush)
		h.state(route, Quarantined)
		h.done(route)
	}
}

// A success of a trial whose lease expired proves the path all the same, if no
// verdict came in between.
func TestLateSuccessOfTrial(t *testing.T) {
	for _, verdict := range []bool{false, true} {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		h.quarantine(route)
		h.advance(30 * time.Second)
		lost := h.trial(route)
		h.advance(10 * time.Second)
		second := h.trial(route)
		if verdict {
			h.settle(second, retryExc)
		}
		h.settle(lost, success)
		if verdict {
			h.state(route, Quarantined)
		} else {
			h.state(route, Healthy)
			h.settle(second, success)
		}
		h.done(route)
	}
}

// Permits older than the quarantine neither end nor fail it, and their bytes do not
// block its trial.
func TestOldPermitsAndTrial(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route, 5)
	old := make([]slice, 5)
	for i := range old {
		n := 4 * kib
		if i == 0 {
			n = mib - 16*kib
		}
		h.post(&old[i], route, gen, n, qp+uint64(i))
	}
	h.portErr()
	h.settle(&old[1], success)
	h.state(route, Quarantined)
	h.renewed(route)
	h.advance(30 * time.Second)
	h.inFlight(route, mib-4*kib, mib-4*kib)

	var probe slice
	h.post(&probe, route, route.current.Load().number, 64*kib, h.qp(route))
	h.inFlight(route, mib+60*kib, mib+60*kib)
	h.settle(&old[2], success)
	h.settle(&old[3], retryExc)
	h.settle(&old[4], deadline)
	h.state(route, Probing)
	h.settle(&old[4], teardown)
	h.settle(&probe, success)
	h.state(route, Healthy)
	h.settle(&old[0], retryExc)
	h.state(route, Healthy)
	h.count(route, 0)
	h.done(route)
}

// Permits that were admitted on the trial's own generation before the verdict, but
// posted after it, do not decide either.
func TestAdmittedBeforeVerdict(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	_, qp := h.renewed(route, 3)
	var a, b slice
	require.True(t, h.ask(&a, route, 4*kib).Admitted())
	require.True(t, h.ask(&b, route, 4*kib).Admitted())
	h.portErr()
	require.NoError(t, a.permit.Posting(qp, h.now))
	require.NoError(t, b.permit.Posting(qp+1, h.now))
	h.settle(&a, success)
	h.state(route, Quarantined)
	h.advance(30 * time.Second)
	var probe slice
	h.post(&probe, route, route.current.Load().number, 4*kib, qp+2)
	h.settle(&b, retryExc)
	h.state(route, Probing)
	h.settle(&probe, success)
	h.state(route, Healthy)
	h.done(route)
}

// A trial that a verdict overtakes is an old permit from then on.
func TestVerdictDuringTrial(t *testing.T) {
	for name, end := range map[string]classify.Verdict{"success": success, "failure": retryExc} {
		for _, first := range []string{"timeouts", "port"} {
			t.Run(name+" after "+first, func(t *testing.T) {
				h := newHealthRig(t, Enforce)
				route := h.route("D1", "P", "n1")
				if first == "timeouts" {
					h.quarantine(route)
				} else {
					h.portErr()
					h.renewed(route)
				}
				h.advance(30 * time.Second)
				probe := h.trial(route)
				h.portErr()
				h.state(route, Quarantined)
				h.settle(probe, end)
				h.state(route, Quarantined)
				h.state(h.route("D1", "Q", "n9"), Quarantined) // the mark stands
				h.renewed(route)
				h.advance(31 * time.Second)
				h.settle(h.trial(route), success)
				h.state(route, Healthy)
				h.done(route)
			})
		}
	}
}

// A permit that ceased to be the trial before its post is given back.
func TestTrialOverBeforePost(t *testing.T) {
	for name, end := range map[string]func(*healthRig, *Route){
		"verdict": func(h *healthRig, r *Route) { h.portErr() },
		"lease": func(h *healthRig, r *Route) {
			h.advance(10 * time.Second)
			h.trial(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.quarantine(route)
			h.advance(30 * time.Second)
			probe := h.ruling(route, Ruling{Answer: Admit})
			end(h, route)
			before := route.InFlight()
			assert.ErrorIs(t, probe.permit.Posting(h.qp(route), h.now), ErrTrialOver)
			assert.Equal(t, before-4*kib, route.InFlight(), "the bytes are back")
			assert.Zero(t, probe.permit.Held())
		})
	}
}

// A trial whose generation was renewed under it says nothing about the new one.
func TestRenewDuringTrial(t *testing.T) {
	for name, end := range map[string]classify.Verdict{"success": success, "timeout": retryExc, "flush": flush, "deadline": deadline} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.quarantine(route)
			h.advance(30 * time.Second)
			probe := h.trial(route)
			h.renewed(route)
			h.ruling(route, probing)
			h.settle(probe, end)
			h.state(route, Quarantined)
			assert.Equal(t, 30*time.Second, route.Snapshot().Health.Cooldown)
			h.advance(time.Second)
			next := h.trial(route)
			h.settle(probe, teardown)
			h.settle(next, success)
			h.state(route, Healthy)
			h.done(route)
		})
	}
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	probe := h.ruling(route, Ruling{Answer: Admit})
	old := h.qp(route)
	h.renewed(route)
	assert.ErrorIs(t, probe.permit.Posting(old, h.now), ErrStaleGeneration)
	h.settle(h.trial(route), success)
	h.done(route)
}

// Without room in the device a trial has to wait, and its lease is not taken.
func TestTrialWithoutDeviceRoom(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	full := make([]slice, 4)
	for i := range full {
		other := h.route("D1", "Q", string(rune('a'+i)))
		gen, qp := h.renewed(other)
		h.post(&full[i], other, gen, mib, qp)
	}
	s := h.ruling(route, Ruling{Answer: Defer, Reason: classify.ReasonProbing, Domain: DeviceDomain, Hint: Divert})
	h.reason(s, congested, classify.ReasonProbing)
	h.state(route, Quarantined)
	h.settle(&full[0], success)
	h.settle(h.trial(route), success)
	for i := range full[1:] {
		h.settle(&full[1+i], success)
	}
	h.done(route)
}

// A slice that was turned away keeps its LONG_UNAVAILABLE while another is tried.
func TestTaskKeepsUnavailable(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	s := h.ruling(route, avoided)
	h.advance(30 * time.Second)
	probe := h.trial(route)
	assert.Equal(t, probing, h.ask(s, route, 4*kib).Ruling)
	assert.Equal(t, unavailable, s.task.State())
	fresh := h.ruling(route, probing)
	h.reason(fresh, congested, classify.ReasonProbing)
	h.settle(probe, success)
	h.post(s, route, route.current.Load().number, 4*kib, h.qp(route))
	h.settle(s, success)
	assert.Equal(t, normal, s.task.State())
	h.done(route)
}

// Close returns the lease of a trial, so that others who share the verdict may try.
func TestCloseReturnsTrial(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	probe := h.trial(route)
	h.ctl.Close()
	b := route.path()
	assert.False(t, b.TrialOut(h.now))
	assert.LessOrEqual(t, b.TrialDue(), h.now, "the next may start")
	assert.Equal(t, Ended|Released, h.settle(probe, success))
	assert.True(t, route.path().Paused, "a late success of a closed controller changes nothing")
	h.inFlight(route, 0, 0)
}
