package cc

import (
	"context"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pause that one worker's failures led to is every worker's, for as long, and none
// of them pays for it.
func TestPauseAdopted(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.fail(rs[0], 3, retryExc)
	s.advance(10 * time.Second)
	b.state(rs[1], Healthy) // nobody asked
	x := &slice{}
	d := b.ask(x, rs[1], 4*kib)
	assert.Equal(t, avoided, d.Ruling)
	assert.Equal(t, 20*time.Second, d.RetryAfter)
	b.reason(x, unavailable, classify.ReasonPathQuarantined)
	b.count(rs[1], 3) // the avoided attempt is no failure
	require.Len(t, b.seen, 1)
	got := b.seen[0]
	assert.True(t, got.Shared)
	assert.True(t, got.LastRoute)
	assert.Equal(t, classify.ReasonPathQuarantined, got.Reason)
	assert.Equal(t, retryExc, got.Verdict, "what the other one saw")
	assert.Equal(t, 20*time.Second, got.Cooldown, "what is left of it")
	assert.Equal(t, s.now, got.At)
	for _, own := range a.seen {
		assert.False(t, own.Shared)
	}
	assert.Equal(t, []State{Quarantined}, b.path(rs[1]))
	b.done(rs[1])
}

// A new pause is met by whoever asks for the route in any way, and by a tick that
// visits it.
func TestPauseMetByEveryCaller(t *testing.T) {
	for name, ask := range map[string]func(*testing.T, *healthRig, *Route){
		"TryAcquire": func(t *testing.T, h *healthRig, r *Route) { h.ruling(r, avoided) },
		"TryAcquireList": func(t *testing.T, h *healthRig, r *Route) {
			var l List
			assert.Equal(t, avoided, r.TryAcquireList(&l, r.current.Load().number, sizes(2), nil).Ruling)
		},
		"Handoff": func(t *testing.T, h *healthRig, r *Route) {
			other := h.route("D2", "Q", "n1")
			gen, _ := h.renewed(other)
			var s slice
			require.True(t, other.TryAcquire(&s.permit, gen, kib, nil).Admitted())
			assert.Equal(t, avoided, r.Handoff(&s.permit, r.current.Load().number, nil).Ruling)
			h.inFlight(other, 0, 0)
		},
		"Acquire": func(t *testing.T, h *healthRig, r *Route) {
			var s slice
			assert.Equal(t, avoided, r.Acquire(context.Background(), &s.permit, r.current.Load().number, kib, nil).Ruling)
		},
		"TryProbe": func(t *testing.T, h *healthRig, r *Route) {
			var s slice
			assert.Equal(t, avoided, r.TryProbe(&s.permit, r.current.Load().number, 64).Ruling)
		},
		"Due":   func(t *testing.T, h *healthRig, r *Route) { assert.Empty(t, h.due(), "an interval later") },
		"Tick":  func(t *testing.T, h *healthRig, r *Route) { h.ctl.Tick(h.now) },
		"State": func(t *testing.T, h *healthRig, r *Route) { assert.Equal(t, Quarantined, r.State()) },
		"Snapshot": func(t *testing.T, h *healthRig, r *Route) {
			got := r.Snapshot().Health
			assert.Equal(t, Quarantined, got.State)
			assert.Equal(t, classify.ReasonPathQuarantined, got.Reason)
			assert.Equal(t, retryExc, got.Verdict)
			assert.Equal(t, 30*time.Second, got.CooldownLeft)
		},
		"Snapshot of all": func(t *testing.T, h *healthRig, r *Route) {
			assert.Equal(t, Quarantined, h.ctl.Snapshot().Routes[0].Health.State)
		},
		"a success": func(t *testing.T, h *healthRig, r *Route) {
			r.health.watched.Store(true)
			r.succeeded(&Permit{gen: r.current.Load()}, h.now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShared(t, 2)
			rs := s.routes("D1", "P", "n1")
			a, b := s.workers[0], s.workers[1]
			var out slice
			b.post(&out, rs[1], rs[1].current.Load().number, kib, b.qp(rs[1])) // so that ticks visit it
			a.fail(rs[0], 3, retryExc)
			b.state(rs[1], Healthy)
			ask(t, b, rs[1])
			b.state(rs[1], Quarantined)
			require.Len(t, b.seen, 1)
			assert.True(t, b.seen[0].Shared)
			assert.Equal(t, Quarantined, b.seen[0].To)
			b.settle(&out, flush)
			b.inFlight(rs[1], 0, 0)
		})
	}
}

// Failures are counted wherever they come up, and all take less of the path from the
// first on.
func TestFailuresCountedAcross(t *testing.T) {
	s := newShared(t, 3)
	rs := s.routes("D1", "P", "n1")
	for i, want := range []State{Suspect, Suspect, Quarantined} {
		s.workers[i].fail(rs[i], 1, retryExc)
		for j, r := range rs {
			assert.Equal(t, want, look(r), "worker %d after failure %d", j, i+1)
			assert.Equal(t, retryExc, r.Snapshot().Health.Verdict, "worker %d knows the evidence", j)
			s.workers[j].count(r, i+1)
			if want == Suspect {
				assert.Equal(t, 64*kib, r.window.Load(), "a lesson costs one slice")
			}
		}
		s.advance(9 * time.Second)
	}
	assert.Equal(t, classify.ReasonRouteSuspect, s.workers[2].seen[0].Reason)
	assert.True(t, s.workers[2].seen[0].Shared)
}

// A gap beyond the window breaks the row, also between workers.
func TestFailuresTooFarApart(t *testing.T) {
	s := newShared(t, 2)
	rs := s.routes("D1", "P", "n1")
	s.workers[0].fail(rs[0], 2, retryExc)
	s.advance(10*time.Second + 1)
	s.workers[1].fail(rs[1], 1, retryExc)
	assert.Equal(t, Suspect, look(rs[0]))
	s.workers[0].count(rs[0], 1)
}

// Whoever's trial succeeds ends the pause for all, at the minimum window.
func TestRecoveryIsShared(t *testing.T) {
	for name, try := range map[string]func(*healthRig, *Route) *slice{
		"transfer": (*healthRig).trial,
		"probe":    (*healthRig).probe,
	} {
		t.Run(name, func(t *testing.T) {
			s := newShared(t, 3)
			a, b := s.workers[0], s.workers[1]
			rs := s.routes("D1", "P", "n1")
			a.quarantine(rs[0])
			for _, r := range rs {
				require.Equal(t, Quarantined, look(r))
			}
			s.advance(30 * time.Second)
			p := try(b, rs[1])
			for i, w := range s.workers {
				assert.Equal(t, Probing, look(rs[i]))
				assert.Equal(t, classify.ReasonProbing, rs[i].Snapshot().Health.Reason)
				w.ruling(rs[i], probing)
			}
			b.settle(p, success)
			for i, w := range s.workers {
				require.Equal(t, Healthy, look(rs[i]))
				w.count(rs[i], 0)
				assert.Equal(t, 64*kib, rs[i].Snapshot().WindowBytes, "from the minimum window")
				w.done(rs[i])
			}
			last := s.workers[2].seen[len(s.workers[2].seen)-1]
			assert.Equal(t, Transition{Pair: last.Pair, From: Probing, To: Healthy, Generation: last.Generation, At: s.now, Shared: true}, last)
		})
	}
}

// A success that was posted after the failures clears the count for all; one that
// was posted before does not, wherever it comes up.
func TestSuccessClearsCountForAll(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	var early slice
	b.post(&early, rs[1], rs[1].current.Load().number, kib, b.qp(rs[1]))
	a.fail(rs[0], 2, retryExc)
	b.settle(&early, success)
	b.count(rs[1], 2)
	assert.Equal(t, Suspect, look(rs[1]))
	b.succeed(rs[1])
	a.count(rs[0], 0)
	assert.Equal(t, Healthy, look(rs[0]))
	a.fail(rs[0], 2, retryExc)
	assert.Equal(t, Suspect, look(rs[1]), "the count began again")
}

// A worker that saw none of it, and so was not told of a failure when it posted, does
// not clear it.
func TestLateSuccessHidesNothing(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	gen, qp := b.renewed(rs[1], 2)
	var first, second slice
	b.post(&first, rs[1], gen, kib, qp)
	b.post(&second, rs[1], gen, kib, qp)
	a.fail(rs[0], 3, retryExc)
	b.settle(&first, success)
	assert.Equal(t, Quarantined, look(rs[1]))
	b.settle(&second, success)
	assert.Equal(t, Quarantined, look(rs[1]), "posted before the verdict")
	b.ruling(rs[1], avoided)
	assert.Equal(t, 30*time.Second, rs[0].Snapshot().Health.CooldownLeft)
}

// Other paths to the peer, other peers and the peer's next incarnation are not
// touched, nor is a worker with another table.
func TestOthersUntouched(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	reborn, err := b.ctl.Route(rail.Pair{Peer: "P", Incarnation: "2", Local: "D1", Port: 1, Remote: "n1"})
	require.NoError(t, err)
	others := []*Route{reborn, b.route("D1", "P", "n2"), b.route("D2", "P", "n1"), b.route("D1", "Q", "n1")}
	alone := newHealthRig(t, Enforce)
	others = append(others, alone.route("D1", "P", "n1"))
	a.fail(rs[0], 3, retryExc)
	require.Equal(t, Quarantined, look(rs[1]))
	for _, r := range others {
		assert.Equal(t, Healthy, look(r), "%s", r.pair)
		assert.Equal(t, mib, r.window.Load())
	}
	assert.Equal(t, 4*mib, rs[1].device.window.Load())
	b.renewed(reborn)
	b.succeed(reborn)
	assert.Equal(t, Quarantined, look(rs[0]), "a success of the next incarnation is not one of the last")
}

// A pause that is over when a worker comes by is no open door: a trial is due.
func TestExpiredPauseMetByLateJoiner(t *testing.T) {
	s := newShared(t, 1)
	a := s.workers[0]
	a.fail(s.routes("D1", "P", "n1")[0], 3, retryExc)
	s.advance(10 * time.Minute)
	b := s.join(Enforce)
	late := b.route("D1", "P", "n1")
	b.renewed(late)
	assert.Equal(t, []*Route{late}, b.ctl.Due(b.now))
	b.state(late, Quarantined)
	probe := b.trial(late)
	b.ruling(late, probing)
	a.ruling(a.route("D1", "P", "n1"), probing)
	b.settle(probe, success)
	b.state(late, Healthy)
	b.done(late)
}

// A controller that is made later, and one that replaces another, take over what is
// known: the pause, its end, the remembered cooldown and the count.
func TestRebuiltRouteTakesOver(t *testing.T) {
	s := newShared(t, 1)
	a := s.workers[0]
	r := s.routes("D1", "P", "n1")[0]
	a.quarantine(r)
	s.advance(30 * time.Second)
	a.settle(a.trial(r), retryExc)
	a.ctl.Close()

	b := s.join(Enforce)
	next := b.route("D1", "P", "n1")
	b.renewed(next)
	b.ruling(next, avoided)
	assert.Equal(t, 60*time.Second, next.Snapshot().Health.CooldownLeft)
	assert.Equal(t, 60*time.Second, next.Snapshot().Health.Cooldown)
	s.advance(60 * time.Second)
	b.settle(b.trial(next), success)
	b.fail(next, 2, retryExc)

	c := s.join(Enforce)
	third := c.route("D1", "P", "n1")
	c.fail(third, 1, retryExc)
	c.state(third, Quarantined)
	assert.Equal(t, 120*time.Second, third.Snapshot().Health.CooldownLeft, "too soon after the last, which is not lived down")
}

// A failed trial lengthens the pause for all, once; other failures of the outage
// neither lengthen nor shorten it.
func TestReEscalationIsShared(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	gen, qp := b.renewed(rs[1], 4)
	var old [3]slice
	for i := range old {
		b.post(&old[i], rs[1], gen, kib, qp+uint64(i))
	}
	a.fail(rs[0], 3, retryExc)
	resume := s.now + 30*time.Second
	s.advance(5 * time.Second)
	for i := range old {
		b.settle(&old[i], retryExc)
	}
	assert.Equal(t, resume, pause(rs[0]).Resume, "three more failures elsewhere")
	b.count(rs[1], 3)
	b.renewed(rs[1])
	s.untilDue(rs[1])
	assert.Equal(t, resume, s.now)
	b.settle(b.trial(rs[1]), retryExc)
	x := &slice{}
	assert.Equal(t, 60*time.Second, a.ask(x, rs[0], kib).RetryAfter)
	assert.Equal(t, 60*time.Second, cooldown(rs[0]))
	a.renewed(rs[0])
	s.untilDue(rs[0])
	a.settle(a.trial(rs[0]), retryExc)
	assert.Equal(t, 120*time.Second, b.ask(x, rs[1], kib).RetryAfter)
}

// The remembered cooldown stays until successes live it down, whoever pauses next.
func TestCooldownKeptUntilLivedDown(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.quarantine(rs[0])
	s.untilDue(rs[0])
	a.settle(a.trial(rs[0]), retryExc)
	b.renewed(rs[1])
	s.untilDue(rs[1])
	b.settle(b.trial(rs[1]), success)
	assert.Equal(t, 60*time.Second, cooldown(rs[0]))
	s.advance(59 * time.Second)
	a.fail(rs[0], 3, retryExc)
	assert.Equal(t, 120*time.Second, pause(rs[1]).Resume-s.now, "59 s of health are less than one length")
	b.renewed(rs[1])
	s.untilDue(rs[1])
	b.settle(b.trial(rs[1]), success)
	s.advance(120*time.Second + 60*time.Second)
	b.fail(rs[1], 3, retryExc)
	assert.Equal(t, 30*time.Second, pause(rs[0]).Resume-s.now, "both lengths lived down")
}
