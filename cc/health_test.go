package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every arrow of the state machine. Specification: path state machine.
func TestStateArrows(t *testing.T) {
	type on = func(h *healthRig, r *Route)
	fail := func(n int) on { return func(h *healthRig, r *Route) { h.fail(r, n, retryExc) } }
	congest := func(yes bool) on { return func(h *healthRig, r *Route) { h.congest(r, yes) } }
	wait := func(d time.Duration) on { return func(h *healthRig, r *Route) { h.advance(d) } }
	succeed := func(h *healthRig, r *Route) { h.renewed(r); h.succeed(r) }
	portErr := func(h *healthRig, r *Route) { h.portErr() }
	try := func(outcome classify.Verdict) on {
		return func(h *healthRig, r *Route) { h.renewed(r); h.settle(h.trial(r), outcome) }
	}
	ask := func(h *healthRig, r *Route) {
		var s slice
		if h.ask(&s, r, 4*kib).Admitted() {
			s.permit.Unposted()
		}
	}
	cooldown := wait(30 * time.Second)
	tests := []struct {
		name  string
		steps []on
		path  []State
		last  classify.Reason
	}{
		{"HEALTHY to CONGESTED", []on{congest(true)}, []State{Congested}, classify.ReasonCongestionFeedback},
		{"CONGESTED to HEALTHY", []on{congest(true), congest(false)}, []State{Congested, Healthy}, classify.ReasonCongestionFeedback},
		{"HEALTHY to SUSPECT", []on{fail(1)}, []State{Suspect}, classify.ReasonRouteTimeout},
		{"CONGESTED to SUSPECT", []on{congest(true), fail(1)}, []State{Congested, Suspect}, classify.ReasonRouteTimeout},
		{"SUSPECT to HEALTHY", []on{fail(2), succeed}, []State{Suspect, Healthy}, classify.ReasonNone},
		{"SUSPECT to CONGESTED", []on{congest(true), fail(1), succeed}, []State{Congested, Suspect, Congested}, classify.ReasonNone},
		{"SUSPECT, congested meanwhile", []on{fail(1), congest(true), succeed}, []State{Suspect, Congested}, classify.ReasonNone},
		{"SUSPECT lapses to HEALTHY", []on{fail(1), wait(10*time.Second + 1), ask}, []State{Suspect, Healthy}, classify.ReasonNone},
		{"SUSPECT lapses to CONGESTED", []on{congest(true), fail(1), wait(11 * time.Second), ask}, []State{Congested, Suspect, Congested}, classify.ReasonNone},
		{"SUSPECT stays for the window", []on{fail(1), wait(10 * time.Second), ask}, []State{Suspect}, classify.ReasonRouteTimeout},
		{"SUSPECT to QUARANTINED", []on{fail(3)}, []State{Suspect, Quarantined}, classify.ReasonRouteTimeout},
		{"HEALTHY to QUARANTINED", []on{portErr}, []State{Quarantined}, classify.ReasonNone},
		{"CONGESTED to QUARANTINED", []on{congest(true), portErr}, []State{Congested, Quarantined}, classify.ReasonNone},
		{"QUARANTINED to PROBING to HEALTHY", []on{fail(3), cooldown, try(success)},
			[]State{Suspect, Quarantined, Probing, Healthy}, classify.ReasonNone},
		{"CONGESTED is forgotten", []on{congest(true), fail(3), cooldown, try(success)},
			[]State{Congested, Suspect, Quarantined, Probing, Healthy}, classify.ReasonNone},
		{"PROBING to QUARANTINED", []on{fail(3), cooldown, try(retryExc)},
			[]State{Suspect, Quarantined, Probing, Quarantined}, classify.ReasonProbeFailed},
		{"PROBING ends undecided", []on{fail(3), cooldown, try(flush)},
			[]State{Suspect, Quarantined, Probing, Quarantined}, classify.ReasonDerivedFlush},
		{"the lapse between two failures", []on{fail(1), wait(11 * time.Second), fail(1)},
			[]State{Suspect, Healthy, Suspect}, classify.ReasonRouteTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.renewed(route)
			for _, step := range tt.steps {
				step(h, route)
			}
			require.Equal(t, tt.path, h.path(route), "states")
			from := Healthy
			for _, tr := range h.seen {
				if tr.Notice == NoNotice {
					assert.Equal(t, from, tr.From, "transitions follow each other")
					from = tr.To
				}
			}
			last := h.seen[len(h.seen)-1]
			s := route.Snapshot().Health
			if tt.name != "HEALTHY to QUARANTINED" && tt.name != "CONGESTED to QUARANTINED" {
				assert.Equal(t, tt.last, s.Reason, "reason of the state")
			}
			assert.Equal(t, last.At, s.Since, "since when")
			assert.Equal(t, last.Verdict, s.Verdict)
			h.done(route)
		})
	}
}

// Two failures, then a success that was posted after them, for ever: SUSPECT and
// HEALTHY in turn.
func TestFailFailSucceedForEver(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	for range 50 {
		h.fail(route, 2, retryExc)
		h.state(route, Suspect)
		h.count(route, 2)
		h.renewed(route)
		h.succeed(route)
		h.state(route, Healthy)
		h.count(route, 0)
		h.advance(time.Millisecond)
	}
	h.done(route)
}

// A success clears the failures that it was posted after, and no others.
func TestSuccessByEvidence(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route, 4)
	var before, between, after, a, b slice
	h.post(&before, route, gen, 4*kib, qp)
	h.post(&a, route, gen, 4*kib, qp+1)
	h.post(&b, route, gen, 4*kib, qp+2)
	h.settle(&a, retryExc)
	h.post(&between, route, gen, 4*kib, qp)
	h.settle(&b, retryExc)
	h.post(&after, route, gen, 4*kib, qp)

	h.settle(&before, success)
	h.count(route, 2)
	h.settle(&between, success)
	h.count(route, 2)
	h.state(route, Suspect)
	h.settle(&after, success)
	h.count(route, 0)
	h.state(route, Healthy)
	h.done(route)
}

// One fault of a QP counts once, whatever speaks of it.
func TestOncePerQP(t *testing.T) {
	type qpEvent = func(h *healthRig, s *slice, qp uint64)
	completion := func(v classify.Verdict) qpEvent { return func(h *healthRig, s *slice, _ uint64) { h.settle(s, v) } }
	event := func(e classify.EventType) qpEvent {
		return func(h *healthRig, _ *slice, qp uint64) { h.event(e, classify.Element{QP: qp}) }
	}
	tests := []struct {
		name  string
		steps []qpEvent // each on a slice of its own
		count int
	}{
		{"timeout", []qpEvent{completion(retryExc)}, 1},
		{"timeout, then its flushes", []qpEvent{completion(retryExc), completion(flush), completion(flush)}, 1},
		{"flushes before the timeout", []qpEvent{completion(flush), completion(flush), completion(retryExc)}, 1},
		{"flushes alone", []qpEvent{completion(flush), completion(flush)}, 0},
		{"timeout, then the event", []qpEvent{completion(retryExc), event(classify.EventQPFatal)}, 1},
		{"the event, then the timeout", []qpEvent{event(classify.EventQPFatal), completion(retryExc)}, 1},
		{"three events", []qpEvent{event(classify.EventQPFatal), event(classify.EventQPReqErr), event(classify.EventQPAccessErr)}, 1},
		{"deadlines", []qpEvent{completion(deadline), completion(deadline), completion(deadline)}, 1},
		{"a deadline, then the timeout", []qpEvent{completion(deadline), completion(retryExc)}, 1},
		{"a stalled deadline", []qpEvent{completion(stalled)}, 0},
		{"a general error and the event", []qpEvent{completion(wc(classify.StatusGeneralErr, 0)), event(classify.EventQPFatal)}, 1},
		{"local error, then the event", []qpEvent{completion(locLen()), event(classify.EventQPAccessErr)}, 1},
		{"migration failure", []qpEvent{event(classify.EventPathMigErr)}, 1},
		{"local errors", []qpEvent{completion(locLen()), completion(wc(classify.StatusLocQPOpErr, 0))}, 0},
		{"remote metadata", []qpEvent{completion(remAccess())}, 0},
		{"receiver not ready", []qpEvent{completion(rnr())}, 0},
		{"teardown", []qpEvent{completion(teardown)}, 0},
		{"harmless events", []qpEvent{event(classify.EventCommEst), event(classify.EventSQDrained), event(classify.EventPathMig)}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			gen, qp := h.renewed(route)
			slices := make([]slice, len(tt.steps))
			for i := range slices {
				h.post(&slices[i], route, gen, 4*kib, qp)
			}
			for i, step := range tt.steps {
				step(h, &slices[i], qp)
			}
			h.count(route, tt.count)
			for i := range slices {
				h.settle(&slices[i], teardown)
			}
			h.done(route)
		})
	}
}

// QPs that fail one by one are one count each; a shared object that fails is one.
func TestCountsOfSeveralQPs(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	_, qp := h.renewed(route, 3)
	for i := range uint64(3) {
		h.count(route, int(i))
		h.event(classify.EventQPFatal, classify.Element{QP: qp + i})
	}
	h.state(route, Quarantined)

	other := h.route("D1", "Q", "n1")
	gen, err := other.Renew(0, []QP{{ID: 100, SRQ: 7}, {ID: 101, SRQ: 7}, {ID: 102, SRQ: 7}, {ID: 103}})
	require.NoError(t, err)
	assert.Equal(t, 3, h.event(classify.EventSRQErr, classify.Element{SRQ: 7}))
	h.count(other, 1)
	h.event(classify.EventQPFatal, classify.Element{QP: 101})
	h.count(other, 1)
	var s slice
	h.post(&s, other, gen, 4*kib, 103)
	h.settle(&s, retryExc)
	h.count(other, 2)
	h.done(route, other)
}

// Counts survive a new generation; what comes from an old one changes nothing.
func TestGenerationsAndHealth(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route, 4)
	old := make([]slice, 4)
	for i := range old {
		h.post(&old[i], route, gen, 4*kib, qp+uint64(i))
	}
	h.settle(&old[0], retryExc)
	h.renewed(route)
	h.count(route, 1)
	h.state(route, Suspect)
	h.settle(&old[1], success)
	h.settle(&old[2], retryExc)
	h.settle(&old[3], deadline)
	assert.Zero(t, h.event(classify.EventQPFatal, classify.Element{QP: qp}), "a QP of an old generation is not registered any more")
	h.count(route, 1)
	h.state(route, Suspect)
	assert.False(t, route.Snapshot().NeedsRenew, "an old deadline does not retire the new generation")
	h.settle(&old[3], teardown)
	h.succeed(route)
	h.state(route, Healthy)
	h.done(route)
}

// A SUSPECT route admits the suspect window, or one slice when nothing is in flight.
func TestSuspectWindow(t *testing.T) {
	refused := Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Domain: RouteDomain, Hint: Divert}
	for _, limit := range []int64{0, 64 * kib} {
		h := newHealthRig(t, Enforce, func(c *Config) { c.SuspectWindowBytes = limit })
		route := h.route("D1", "P", "n1")
		h.fail(route, 1, retryExc)
		gen, qp := h.renewed(route)
		if limit == 0 {
			var a, b slice
			h.post(&a, route, gen, mib-4*kib, qp)
			h.post(&b, route, gen, 4*kib, qp)
			h.ruling(route, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain})
			h.settle(&a, teardown)
			h.settle(&b, teardown)
			h.done(route)
			continue
		}
		var a, b, c slice
		h.post(&a, route, gen, 512*kib, qp)
		h.ruling(route, refused)
		h.settle(&a, flush)
		h.post(&b, route, gen, 60*kib, qp)
		h.post(&c, route, gen, 4*kib, qp)
		s := h.ruling(route, refused)
		h.reason(s, congested, classify.ReasonRouteSuspect)
		h.settle(&b, flush)
		h.settle(&c, success)
		h.state(route, Healthy)
		assert.Equal(t, mib, route.Snapshot().WindowBytes, "the law's window is back")
		h.done(route)
	}
}

// A full device is not the suspect window.
func TestSuspectMeetsFullDevice(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 1, retryExc)
	h.renewed(route)
	full := make([]slice, 4)
	for i := range full {
		other := h.route("D1", "Q", string(rune('a'+i)))
		gen, qp := h.renewed(other)
		h.post(&full[i], other, gen, mib, qp)
	}
	h.ruling(route, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: DeviceDomain})
	for i := range full {
		h.settle(&full[i], success)
	}
	h.done(route)
}

// A suspicion that nothing confirms ends with the minimum window.
func TestSuspectLapses(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 2, retryExc)
	h.renewed(route)
	h.advance(10*time.Second + 1)
	h.succeed(route)
	h.state(route, Healthy)
	h.count(route, 0)
	assert.Equal(t, 64*kib, route.Snapshot().WindowBytes, "the minimum window")
	h.fail(route, 2, retryExc)
	h.state(route, Suspect)
	h.done(route)
}

// It lapses also when the next thing that is heard of the route is a failure.
func TestSuspectLapsesBeforeFailure(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 2, retryExc)
	_, qp := h.renewed(route)
	h.advance(11 * time.Second)
	h.event(classify.EventQPFatal, classify.Element{QP: qp})
	h.count(route, 1)
	assert.Equal(t, []State{Suspect, Healthy, Suspect}, h.path(route))
	h.renewed(route)
	h.succeed(route)
	assert.Equal(t, 64*kib, route.Snapshot().WindowBytes, "the minimum window")
	h.done(route)
}

// The window between two failures widens with the retry times that were observed.
func TestObservedRetryTimes(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	slow := func() {
		gen, qp := h.renewed(route)
		var s slice
		h.post(&s, route, gen, 4*kib, qp)
		h.advance(5 * time.Second)
		h.settle(&s, retryExc)
	}
	slow()
	h.advance(14 * time.Second)
	slow()
	h.count(route, 2)
	h.advance(14 * time.Second)
	slow()
	h.state(route, Quarantined)
	assert.Equal(t, 5*time.Second, route.path().LongestRetry)
	h.done(route)
}

// Times that go back count as the latest one seen.
func TestTimeDoesNotGoBack(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.fail(route, 2, retryExc)
	gen, qp := h.renewed(route)
	var s slice
	h.post(&s, route, gen, 4*kib, qp)
	s.permit.Settle(s.use, retryExc, h.now-time.Minute)
	h.state(route, Quarantined)
	assert.Equal(t, 30*time.Second, route.Snapshot().Health.CooldownLeft)
	h.done(route)
}
