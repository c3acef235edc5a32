package cc

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every row of the table of refusals and failures: the answer, and what the task
// sees of it.
func TestRefusalTable(t *testing.T) {
	unchanged := taskstate.Normal
	failing := func(n int, v classify.Verdict) func(*healthRig, *Route, *slice) Ruling {
		return func(h *healthRig, r *Route, s *slice) Ruling {
			h.fail(r, n-1, v)
			gen, qp := h.renewed(r)
			h.post(s, r, gen, 4*kib, qp)
			h.settle(s, v)
			return Ruling{}
		}
	}
	tests := []struct {
		name   string
		do     func(h *healthRig, r *Route, s *slice) Ruling
		want   Ruling
		state  taskstate.State
		reason classify.Reason // none if the task learns nothing
	}{
		{"window full", func(h *healthRig, r *Route, s *slice) Ruling {
			h.ask(&slice{}, r, mib)
			return h.ask(s, r, 4*kib).Ruling
		}, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, congested, classify.ReasonByteWindow},
		{"window full, CONGESTED", func(h *healthRig, r *Route, s *slice) Ruling {
			h.congest(r, true)
			h.ask(&slice{}, r, mib)
			return h.ask(s, r, 4*kib).Ruling
		}, Ruling{Answer: Defer, Reason: classify.ReasonCongestionFeedback, Domain: RouteDomain}, congested, classify.ReasonCongestionFeedback},
		{"SUSPECT limit", func(h *healthRig, r *Route, s *slice) Ruling {
			h.fail(r, 1, retryExc)
			h.renewed(r)
			h.ask(&slice{}, r, 64*kib)
			return h.ask(s, r, 4*kib).Ruling
		}, Ruling{Answer: Defer, Reason: classify.ReasonRouteSuspect, Domain: RouteDomain, Hint: Divert}, congested, classify.ReasonRouteSuspect},
		{"PROBING", func(h *healthRig, r *Route, s *slice) Ruling {
			h.quarantine(r)
			h.advance(30 * time.Second)
			h.trial(r)
			return h.ask(s, r, 4*kib).Ruling
		}, probing, congested, classify.ReasonProbing},
		{"PROBING after quarantine", func(h *healthRig, r *Route, s *slice) Ruling {
			h.quarantine(r)
			h.ask(s, r, 4*kib)
			h.advance(30 * time.Second)
			h.trial(r)
			return h.ask(s, r, 4*kib).Ruling
		}, probing, unavailable, classify.ReasonPathQuarantined},
		{"stale generation", func(h *healthRig, r *Route, s *slice) Ruling {
			h.renewed(r)
			return r.TryAcquire(&s.permit, r.current.Load().number-1, 4*kib, &s.task).Ruling
		}, Ruling{Answer: Defer, Reason: classify.ReasonStaleGeneration}, unchanged, classify.ReasonNone},
		{"retired generation", func(h *healthRig, r *Route, s *slice) Ruling {
			h.fail(r, 1, deadline)
			return h.ask(s, r, 4*kib).Ruling
		}, Ruling{Answer: Defer, Reason: classify.ReasonNeedsRenew}, unchanged, classify.ReasonNone},
		{"cooling down", func(h *healthRig, r *Route, s *slice) Ruling {
			h.quarantine(r)
			return h.ask(s, r, 4*kib).Ruling
		}, avoided, unavailable, classify.ReasonPathQuarantined},
		{"trial due without a new generation", func(h *healthRig, r *Route, s *slice) Ruling {
			h.fail(r, 3, retryExc)
			h.advance(30 * time.Second)
			return h.ask(s, r, 4*kib).Ruling
		}, wantsRenew, unavailable, classify.ReasonPathQuarantined},
		{"no pair left", func(h *healthRig, r *Route, s *slice) Ruling {
			s.task.NoUsablePath(&taskstate.Evidence{Reason: classify.ReasonNoUsablePath, At: h.now})
			return Ruling{}
		}, Ruling{}, unavailable, classify.ReasonNoUsablePath},
		{"timeout below the threshold", failing(2, retryExc), Ruling{}, congested, classify.ReasonRouteTimeout},
		{"deadline below the threshold", failing(1, deadline), Ruling{}, congested, classify.ReasonRouteTimeout},
		{"the timeout that crosses it", failing(3, retryExc), Ruling{}, unavailable, classify.ReasonPathQuarantined},
		{"the deadline that crosses it", failing(3, deadline), Ruling{}, unavailable, classify.ReasonPathQuarantined},
		{"a timeout that meets a quarantine", func(h *healthRig, r *Route, s *slice) Ruling {
			gen, qp := h.renewed(r)
			h.post(s, r, gen, 4*kib, qp)
			h.portErr()
			h.settle(s, retryExc)
			return Ruling{}
		}, Ruling{}, unavailable, classify.ReasonPathQuarantined},
		{"a timeout that meets a trial", func(h *healthRig, r *Route, s *slice) Ruling {
			gen, qp := h.renewed(r)
			h.post(s, r, gen, 4*kib, qp)
			h.portErr()
			h.renewed(r)
			h.advance(30 * time.Second)
			h.trial(r)
			h.settle(s, retryExc)
			return Ruling{}
		}, Ruling{}, unavailable, classify.ReasonPathQuarantined},
		{"failed trial", func(h *healthRig, r *Route, s *slice) Ruling {
			h.quarantine(r)
			h.advance(30 * time.Second)
			h.post(s, r, r.current.Load().number, 4*kib, h.qp(r))
			h.settle(s, retryExc)
			return Ruling{}
		}, Ruling{}, unavailable, classify.ReasonProbeFailed},
		{"receiver not ready", failing(1, rnr()), Ruling{}, congested, classify.ReasonReceiverPressure},
		{"flush", failing(1, flush), Ruling{}, unknown, classify.ReasonDerivedFlush},
		{"local", failing(1, locLen()), Ruling{}, unknown, classify.ReasonLocalConfiguration},
		{"metadata", failing(1, remAccess()), Ruling{}, unknown, classify.ReasonRemoteMetadata},
		{"fatal", failing(1, fatal()), Ruling{}, unknown, classify.ReasonFatal},
		{"rejected post", failing(1, classify.RejectedPost(12)), Ruling{}, unchanged, classify.ReasonNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			gen, qp := h.renewed(route)
			var s slice
			if tt.reason == classify.ReasonNone { // "unchanged" is seen best on a task that has a state
				h.post(&s, route, gen, kib, qp)
				h.settle(&s, success)
			}
			assert.Equal(t, tt.want, tt.do(h, route, &s))
			h.reason(&s, tt.state, tt.reason)
			for _, k := range route.Snapshot().Refusals {
				if k.Reason == tt.want.Reason {
					assert.Equal(t, tt.want.Answer, k.Answer(), "the answer of a count of %s", k.Reason)
				}
			}
		})
	}
}

// Admission of a retry resolves what blocked the slice, except that of a trial.
func TestRetryResolves(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route, other := h.route("D1", "P", "n1"), h.route("D2", "P", "n1")
	s := h.fail(route, 3, retryExc)
	assert.Equal(t, unavailable, s.task.State())
	gen, qp := h.renewed(other)
	h.post(s, other, gen, kib, qp)
	assert.Equal(t, taskstate.Unknown, s.task.State(), "on another rail")
	h.settle(s, success)

	h.renewed(route)
	h.ask(s, route, kib)
	assert.Equal(t, unavailable, s.task.State())
	h.advance(30 * time.Second)
	h.post(s, route, route.current.Load().number, kib, h.qp(route))
	assert.Equal(t, unavailable, s.task.State(), "a trial proves by its outcome")
	h.settle(s, success)
	assert.Equal(t, normal, s.task.State())
	h.done(route, other)
}

// Observe computes every state, refuses nothing, and counts what enforce would have
// refused.
func TestObserveHealth(t *testing.T) {
	h := newHealthRig(t, Observe)
	route := h.route("D1", "P", "n1")
	refused := func(reason classify.Reason) (n uint64) {
		for _, k := range route.Snapshot().Refusals {
			if k.Reason == reason {
				n += k.Count
			}
		}
		return n
	}
	admit := func() *slice {
		t.Helper()
		s := &slice{}
		h.post(s, route, route.current.Load().number, 64*kib, h.qp(route))
		assert.Equal(t, unknown, s.task.State(), "a denial that did not happen is no evidence")
		return s
	}
	h.fail(route, 1, retryExc)
	h.state(route, Suspect)
	h.renewed(route)
	a, b := admit(), admit()
	assert.Equal(t, uint64(1), refused(classify.ReasonRouteSuspect))
	h.settle(a, flush)
	h.settle(b, flush)
	h.fail(route, 1, retryExc)
	s := h.fail(route, 1, retryExc)
	h.reason(s, unavailable, classify.ReasonPathQuarantined)
	h.state(route, Quarantined)

	h.renewed(route)
	for range 5 {
		h.settle(admit(), success)
	}
	h.state(route, Quarantined)
	assert.Equal(t, uint64(5), refused(classify.ReasonPathQuarantined), "cooling down")

	// The cooldown is over: one slice is what the trial would have been.
	h.advance(30 * time.Second)
	trial := admit()
	h.state(route, Probing)
	h.settle(admit(), success)
	assert.Equal(t, uint64(1), refused(classify.ReasonProbing))
	h.state(route, Probing)
	h.settle(trial, success)
	h.state(route, Healthy)
	assert.Equal(t, uint64(5), refused(classify.ReasonPathQuarantined), "enforce would have had it on a new endpoint")
	h.congest(route, true)
	var big slice
	h.post(&big, route, route.current.Load().number, mib, h.qp(route))
	h.settle(admit(), success)
	assert.Equal(t, uint64(1), refused(classify.ReasonCongestionFeedback))
	h.settle(&big, success)
	h.inFlight(route, 0, 0)

	h.portErr() // and nobody tells the engine to renew
	h.advance(route.Snapshot().Health.CooldownLeft)
	trial = admit()
	h.state(route, Probing)
	h.settle(trial, success)
	h.state(route, Healthy)

	// Each denial is counted once, for the first reason.
	total := func() (n uint64) {
		for _, k := range route.Snapshot().Refusals {
			n += k.Count
		}
		return n
	}
	h.portErr()
	before := total()
	h.renewed(route)
	h.post(&big, route, route.current.Load().number-1, 8*mib, h.qp(route))
	h.post(&slice{}, route, route.current.Load().number, 8*mib, h.qp(route))
	assert.Equal(t, before+2, total())
}

// Outcomes of slices that enforce would have refused for want of an endpoint change
// no health, and those on QPs that nobody registered neither.
func TestObserveUnregistered(t *testing.T) {
	h := newHealthRig(t, Observe)
	route := h.route("D1", "P", "n1")
	var s slice
	for range 5 {
		h.post(&s, route, 0, kib, 7)
		h.settle(&s, retryExc)
	}
	h.state(route, Healthy)
	h.renewed(route)
	for range 5 {
		h.post(&s, route, 1, kib, 999)
		h.settle(&s, retryExc)
	}
	h.state(route, Healthy)
	h.count(route, 0)
	h.inFlight(route, 0, 0)
}

// Nothing is kept before the first refusal, and none is lost when two are the first.
func TestFirstRefusals(t *testing.T) {
	for range 20_000 {
		var counts refusals
		require.Nil(t, counts.list())
		require.Nil(t, counts.made.Load())
		var here atomic.Int32
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for here.Add(1); here.Load() < 2; {
					runtime.Gosched()
				}
				counts.count(classify.ReasonByteWindow, DeviceDomain)
			})
		}
		wg.Wait()
		require.Equal(t, []RefusalCount{{Reason: classify.ReasonByteWindow, Domain: DeviceDomain, Count: 2}}, counts.list())
	}
}
