package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// paused returns workers whose routes of one pair are paused and renewed, with the
// cooldown over.
func paused(t *testing.T, workers int, change ...func(*Config)) (*shared, []*Route) {
	t.Helper()
	s := newShared(t, workers, change...)
	rs := s.routes("D1", "P", "n1")
	s.workers[0].quarantine(rs[0])
	for _, r := range rs {
		require.Equal(t, Quarantined, look(r))
	}
	s.advance(30 * time.Second)
	return s, rs
}

// Of all workers that ask at once, whether they knew of the pause or not, one gets
// the trial.
func TestTrialHerd(t *testing.T) {
	s, rs := paused(t, 4)
	for range 4 {
		w := s.join(Enforce)
		r := w.route("D1", "P", "n1")
		w.renewed(r)
		rs = append(rs, r)
	}
	got := 0
	for i, w := range s.workers {
		for range 3 {
			var x slice
			if d := w.ask(&x, rs[i], kib); d.Admitted() {
				got++
			} else {
				assert.Equal(t, probing, d.Ruling)
			}
		}
	}
	assert.Equal(t, 1, got, "trials of one pair")
	assert.Empty(t, s.workers[7].ctl.Due(s.now), "it is on the wire")
}

// The trial that is out elsewhere is left alone: what old permits bring, what other
// pairs of the peer do and who asks.
func TestTrialElsewhereLeftAlone(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	gen, qp := b.renewed(rs[1], 3)
	var old [3]slice
	for i := range old {
		b.post(&old[i], rs[1], gen, kib, qp+uint64(i))
	}
	a.quarantine(rs[0])
	s.untilDue(rs[0])
	probe := a.trial(rs[0])
	out := pause(rs[0]).Trial
	b.settle(&old[0], success)
	b.settle(&old[1], retryExc)
	b.settle(&old[2], deadline)
	b.settle(&old[2], teardown)
	b.fail(b.route("D1", "P", "n2"), 3, retryExc)
	b.renewed(rs[1])
	b.ruling(rs[1], probing)
	assert.Equal(t, out, pause(rs[1]).Trial)
	assert.Equal(t, Probing, look(rs[0]))
	a.settle(probe, success)
	assert.Equal(t, Healthy, look(rs[1]))
	b.done(rs[1])
}

// After a trial that proved nothing all take in when the next is due.
func TestTrialWithoutVerdictIsReRead(t *testing.T) {
	for name, end := range map[string]struct {
		do   func(*healthRig, *slice)
		wait time.Duration
	}{
		"flush":       {func(h *healthRig, x *slice) { h.settle(x, flush) }, time.Second},
		"not posted":  {func(h *healthRig, x *slice) { x.permit.Unposted() }, 0},
		"worker gone": {func(h *healthRig, x *slice) { h.ctl.Close() }, 0},
		"port error":  {func(h *healthRig, x *slice) { h.portErr() }, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s, rs := paused(t, 2)
			a, b := s.workers[0], s.workers[1]
			x := a.ruling(rs[0], Ruling{Answer: Admit})
			if end.wait != 0 {
				x.permit.Unposted()
				x = a.trial(rs[0])
			}
			b.ruling(rs[1], probing)
			end.do(a, x)
			assert.Equal(t, Quarantined, look(rs[1]))
			if end.wait > 0 {
				s.advance(end.wait - 1)
				b.ruling(rs[1], avoided)
				s.advance(1)
			}
			b.settle(b.trial(rs[1]), success)
			b.state(rs[1], Healthy)
			b.done(rs[1])
		})
	}
}

// A trial of which nothing is heard any more blocks the others for its lease, which
// is as long as the pair's longest retry time asks for.
func TestLostTrialElsewhere(t *testing.T) {
	for retry, lease := range map[time.Duration]time.Duration{0: 10 * time.Second, 8 * time.Second: 16 * time.Second} {
		s := newShared(t, 2)
		a, b := s.workers[0], s.workers[1]
		rs := s.routes("D1", "P", "n1")
		var slow slice
		b.post(&slow, rs[1], rs[1].current.Load().number, kib, b.qp(rs[1]))
		s.advance(retry)
		b.settle(&slow, retryExc) // seen by b; the lease is a's
		a.fail(rs[0], 2, retryExc)
		a.renewed(rs[0])
		b.renewed(rs[1])
		s.untilDue(rs[0])
		a.trial(rs[0])
		require.Equal(t, Probing, look(rs[1]))
		s.advance(lease - 1)
		b.ruling(rs[1], probing)
		assert.Empty(t, b.ctl.Due(b.now))
		s.advance(1)
		assert.Equal(t, []*Route{rs[1]}, b.ctl.Due(b.now))
		b.settle(b.trial(rs[1]), success)
		assert.Equal(t, Healthy, look(rs[0]), "retry time %s", retry)
	}
}

// Two trials with different outcomes, of which the first outlived its lease: a later
// success of the first proves the path until the second has failed; a failure of the
// first is nobody's verdict.
func TestConflictingTrials(t *testing.T) {
	type outcome struct {
		first bool
		v     classify.Verdict
		want  State
		count int
	}
	for _, tt := range []struct {
		name  string
		order []outcome
	}{
		{"first succeeds, then second fails", []outcome{{true, success, Healthy, 0}, {false, retryExc, Suspect, 1}}},
		{"second fails, then first succeeds", []outcome{{false, retryExc, Quarantined, 3}, {true, success, Quarantined, 3}}},
		{"first fails, then second succeeds", []outcome{{true, retryExc, Probing, 3}, {false, success, Healthy, 0}}},
		{"second succeeds, then first fails", []outcome{{false, success, Healthy, 0}, {true, retryExc, Suspect, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, rs := paused(t, 2)
			a, b := s.workers[0], s.workers[1]
			first := a.trial(rs[0])
			s.advance(10 * time.Second)
			second := b.trial(rs[1])
			for _, o := range tt.order {
				if o.first {
					a.settle(first, o.v)
				} else {
					b.settle(second, o.v)
				}
				for i, w := range s.workers {
					assert.Equal(t, o.want, look(rs[i]), "worker %d", i)
					w.count(rs[i], o.count)
				}
			}
			if tt.order[1].want == Quarantined {
				assert.Equal(t, 60*time.Second, cooldown(rs[0]), "one failed trial")
			}
		})
	}
}

// Where nothing but probes is sent, a prober on any worker is enough.
func TestRecoveryWithoutTraffic(t *testing.T) {
	s := newShared(t, 2, withProber)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.fail(rs[0], 3, retryExc)
	assert.Empty(t, b.ctl.Due(b.now), "it takes the pause in")
	b.state(rs[1], Quarantined)
	s.advance(time.Second)
	require.Equal(t, []*Route{rs[1]}, b.ctl.Due(b.now), "an early probe")
	b.settle(b.probe(rs[1]), retryExc)
	assert.Equal(t, 30*time.Second, cooldown(rs[0]), "a failed early probe lengthens nothing")
	assert.Equal(t, Quarantined, look(rs[0]))
	s.advance(30 * time.Second)
	b.settle(b.probe(rs[1]), success)
	assert.Empty(t, b.ctl.Due(b.now))
	assert.Equal(t, Healthy, look(rs[0]))
}

// PORT_ACTIVE at one worker allows an early trial to all; a later PORT_ERR takes it
// back. The end of the pause never moves.
func TestPortActiveIsShared(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := newShared(t, 2)
		a, b := s.workers[0], s.workers[1]
		rs := s.routes("D1", "P", "n1")
		a.quarantine(rs[0])
		resume := pause(rs[0]).Resume
		require.Equal(t, Quarantined, look(rs[1]))
		a.portActive()
		assert.Equal(t, resume, pause(rs[1]).Resume)
		if again {
			a.portErr()
		}
		s.advance(time.Second - 1)
		b.ruling(rs[1], avoided)
		s.advance(1)
		if again {
			b.ruling(rs[1], avoided)
			s.untilDue(rs[1])
			assert.Equal(t, resume, s.now)
		}
		probe := b.trial(rs[1])
		b.settle(probe, retryExc)
		if !again {
			assert.Equal(t, resume, pause(rs[0]).Resume)
			assert.Equal(t, 30*time.Second, cooldown(rs[0]), "an early trial that fails lengthens nothing")
		} else {
			assert.Equal(t, 60*time.Second, cooldown(rs[0]))
		}
	}
}

// A worker's own verdict on a port is its own: others go on. Each verdict stands
// until a trial where it holds.
func TestLocalVerdictIsNotShared(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.portErr()
	assert.Equal(t, Healthy, look(rs[1]))
	assert.Zero(t, s.table.Stats().Entries, "nothing was published")
	b.succeed(rs[1])
	a.state(rs[0], Quarantined)

	b.fail(rs[1], 3, retryExc)
	a.renewed(rs[0])
	b.renewed(rs[1])
	s.untilDue(rs[1])
	b.settle(b.trial(rs[1]), success)
	assert.Equal(t, Quarantined, look(rs[0]), "the port's verdict stands")
	a.settle(a.trial(rs[0]), success)
	a.state(rs[0], Healthy)
}

// A trial of both verdicts that fails publishes a pause, a success lifts both.
func TestTrialOfBothVerdicts(t *testing.T) {
	for _, end := range []classify.Verdict{success, retryExc} {
		s, rs := paused(t, 2)
		a, b := s.workers[0], s.workers[1]
		a.portErr()
		a.renewed(rs[0])
		s.advance(30 * time.Second)
		a.settle(a.trial(rs[0]), end)
		want := Healthy
		if end == retryExc {
			want = Quarantined
		}
		assert.Equal(t, want, rs[0].State())
		assert.Equal(t, want, look(rs[1]))
		if end == retryExc {
			assert.Equal(t, 60*time.Second, b.ask(&slice{}, rs[1], kib).RetryAfter)
		}
	}
	// Where only the port was suspected, a failed trial is a verdict on the path.
	s := newShared(t, 2)
	a := s.workers[0]
	rs := s.routes("D1", "P", "n1")
	a.portErr()
	a.renewed(rs[0])
	s.advance(30 * time.Second)
	a.settle(a.trial(rs[0]), retryExc)
	assert.Equal(t, Quarantined, look(rs[1]))
}

// A trial needs an endpoint on which nothing was posted before the verdict, whoever
// came to it.
func TestTrialGenerationAcrossWorkers(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	b.succeed(rs[1])
	a.quarantine(rs[0])
	s.advance(30 * time.Second)
	b.ruling(rs[1], wantsRenew)
	b.renewed(rs[1])
	b.settle(b.trial(rs[1]), retryExc)
	a.renewed(rs[0]) // nothing was posted there, before or after
	s.untilDue(rs[0])
	a.settle(a.trial(rs[0]), retryExc)
	s.untilDue(rs[0])
	b.ruling(rs[1], wantsRenew)
}

// A list that meets a pause which is over leaves the trial to others, and their lease
// alone.
func TestListMeetsExpiredPause(t *testing.T) {
	s := newShared(t, 2)
	rs := s.routes("D1", "P", "n1")
	s.workers[0].fail(rs[0], 3, retryExc)
	s.advance(30 * time.Second)
	version := rs[1].peer.Version()
	var l List
	d := rs[1].TryAcquireList(&l, rs[1].current.Load().number, sizes(2), nil)
	assert.Equal(t, probing, d.Ruling)
	assert.Equal(t, version, rs[1].peer.Version(), "nothing changed")
	s.workers[1].inFlight(rs[1], 0, 0)
}

// Probes that come ahead of their turn are an interval apart, whoever sends them.
func TestProbersTakeTurns(t *testing.T) {
	s := newShared(t, 3, withProber)
	rs := s.routes("D1", "P", "n1")
	s.workers[0].fail(rs[0], 3, retryExc)
	for i, w := range s.workers {
		look(rs[i])
		w.renewed(rs[i])
	}
	var began []time.Duration
	for s.now < time.Hour+20*time.Second {
		s.advance(100 * time.Millisecond)
		for i, w := range s.workers {
			if len(w.due()) == 0 {
				continue
			}
			began = append(began, s.now)
			p := w.probe(rs[i])
			s.advance(200 * time.Millisecond)
			w.settle(p, retryExc)
		}
	}
	require.Greater(t, len(began), 15)
	for i, at := range began[1:] {
		assert.GreaterOrEqual(t, at-began[i], time.Second, "probe %d", i+1)
	}
}

// Who only looks on sees a pair come back, and takes it again.
func TestStateOfALookerOn(t *testing.T) {
	s := newShared(t, 2, withProber)
	rs := s.routes("D1", "P", "n1")
	a := s.workers[0]
	a.fail(rs[0], 3, retryExc)
	require.Equal(t, Quarantined, rs[1].State())
	s.advance(time.Second)
	a.settle(a.probe(rs[0]), success)
	assert.Equal(t, Healthy, rs[1].State())
	assert.Equal(t, rail.Healthy, rs[1].State().Standing())
}
