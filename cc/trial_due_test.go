package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever asks for the trial looks again with the lock held: the pause may be over by
// then, or the endpoint another. Such a refusal counts once.
func TestTrialIsLookedAtAgain(t *testing.T) {
	refused := func(route *Route, reason classify.Reason) (n uint64) {
		for _, k := range route.Snapshot().Refusals {
			if k.Reason == reason {
				n += k.Count
			}
		}
		return n
	}
	t.Run("lifted", func(t *testing.T) {
		s := newShared(t, 2)
		a, b := s.workers[0], s.workers[1]
		rs := s.routes("D1", "P", "n1")
		a.succeed(rs[0]) // so that a trial would need another endpoint
		b.quarantine(rs[1])
		require.Equal(t, Quarantined, look(rs[0]))
		s.advance(2 * time.Second)
		b.settle(b.probe(rs[1]), success)
		var p Permit
		d, started := rs[0].acquireBarred(&p, rs[0].current.Load(), 64, nil, true)
		assert.False(t, started)
		assert.Equal(t, probing, d.Ruling)
		assert.Equal(t, uint64(1), refused(rs[0], classify.ReasonProbing))
		last := a.seen[len(a.seen)-1]
		assert.Equal(t, Healthy, last.To)
		assert.True(t, last.Shared)
		require.True(t, rs[0].TryAcquire(&p, rs[0].current.Load().number, 64, nil).Admitted(), "and now it is no trial")
		assert.Zero(t, p.trial)
	})
	t.Run("tried", func(t *testing.T) {
		s, rs := paused(t, 2)
		a, b := s.workers[0], s.workers[1]
		var x slice
		d := a.askMeanwhile(&x, rs[0], 4*kib, false, func() { b.trial(rs[1]) })
		assert.Equal(t, probing, d.Ruling)
		assert.Zero(t, rs[0].health.record.trials)
		a.inFlight(rs[0], 0, 0)
	})
	t.Run("renewed", func(t *testing.T) {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		h.quarantine(route)
		h.advance(30 * time.Second)
		was := route.current.Load()
		h.renewed(route)
		var p Permit
		d, started := route.acquireBarred(&p, was, 64, nil, false)
		assert.False(t, started)
		assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonStaleGeneration}, d.Ruling)
		assert.Equal(t, uint64(1), refused(route, classify.ReasonStaleGeneration))
		h.inFlight(route, 0, 0)
		h.state(route, Quarantined)
	})
}

// A trial that has to stand back on its route waits there; one that finds its device full
// leaves a claim on that, and shows it that it was the limit.
func TestWhereATrialWaits(t *testing.T) {
	setup := func(t *testing.T) (*healthRig, *Route, *slice) {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		gen, qp := h.renewed(route)
		out := &slice{}
		h.post(out, route, gen, mib, qp)
		route.meter.Load().drain.set(time.Second)
		route.device.report.drain.set(time.Second)
		return h, route, out
	}
	probe := func(h *healthRig, route *Route, p *Permit) Decision {
		gen, _ := h.renewed(route)
		h.advance(2 * time.Second)
		return route.TryProbe(p, gen, 64)
	}
	t.Run("route", func(t *testing.T) {
		h, route, out := setup(t)
		require.Equal(t, RouteDomain, h.ask(&slice{}, route, 2*mib).Domain)
		h.portErr()
		d := probe(h, route, &Permit{})
		assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonProbing, Domain: RouteDomain, Hint: Divert}, d.Ruling)
		assert.Zero(t, d.RetryAfter)
		assert.Nil(t, route.device.line.Load())
		assert.False(t, route.device.full.take())
		h.settle(out, success)
	})
	t.Run("device", func(t *testing.T) {
		h, route, out := setup(t)
		other := h.route("D1", "Q", "n1")
		gen, qp := h.renewed(other)
		other.window.Store(3 * mib)
		var full slice
		h.post(&full, other, gen, 3*mib, qp)
		h.portErr()
		require.False(t, route.device.full.take())
		var p Permit
		d := probe(h, route, &p)
		assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonProbing, Domain: DeviceDomain, Hint: Divert}, d.Ruling)
		assert.Equal(t, 2*time.Second, d.RetryAfter, "two drain times")
		assert.NotNil(t, route.device.line.Load())
		assert.True(t, route.device.full.take())
		h.settle(out, success)
		h.settle(&full, success)
		require.True(t, probe(h, route, &p).Admitted(), "there is room")
		assert.Nil(t, route.device.line.Load(), "so the claim has ended")
		p.Unposted()
	})
}
