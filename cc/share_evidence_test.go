package cc

import (
	"fmt"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A failure of something that was posted before a pause is of the same outage, also
// when it comes in at another worker after the pause has ended.
func TestLateFailureOfOutage(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	gen, qp := b.renewed(rs[1], 3)
	var old [2]slice
	for i := range old {
		b.post(&old[i], rs[1], gen, kib, qp+uint64(i))
	}
	a.quarantine(rs[0])
	s.advance(30 * time.Second)
	a.settle(a.trial(rs[0]), success)
	b.settle(&old[0], retryExc)
	assert.Equal(t, Healthy, look(rs[1]))
	b.count(rs[1], 0)
	b.event(classify.EventQPFatal, classify.Element{QP: qp + 1}) // an event has no posting time: it is news
	b.count(rs[1], 1)
	assert.Equal(t, Suspect, look(rs[0]))
	b.settle(&old[1], flush)
	b.count(rs[1], 1)
	b.done(rs[1])
}

// Several QPs that fail at once count as they do with one worker: completions one by
// one, an event as one fault.
func TestCorrelatedFailures(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	b.event(classify.EventQPFatal, classify.Element{QP: b.qp(rs[1])})
	a.fail(rs[0], 1, retryExc)
	a.count(rs[0], 2)
	gen, qp := b.renewed(rs[1], 8)
	var out [8]slice
	for i := range out {
		if d := b.ask(&out[i], rs[1], 4*kib); d.Admitted() {
			require.NoError(t, out[i].permit.Posting(qp+uint64(i), b.now))
			require.Equal(t, gen, out[i].permit.gen.number)
		}
	}
	for i := range out {
		if out[i].use != 0 {
			b.settle(&out[i], retryExc)
		}
	}
	assert.Equal(t, Quarantined, look(rs[0]))
	a.count(rs[0], 3)
	assert.Equal(t, 30*time.Second, pause(rs[0]).Resume-s.now, "one outage, one cooldown")
	assert.Equal(t, 30*time.Second, cooldown(rs[1]))
	b.done(rs[1])
}

// Workers that use the same QPs and say so have each of their failures counted once,
// whatever both see of it; QPs that nobody else names are different QPs.
func TestSharedQPCountsOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		a, b   QP
		counts int
	}{
		{"the same QP", QP{ID: 7, CQ: 1, Incarnation: 3}, QP{ID: 7, CQ: 1, Incarnation: 3}, 1},
		{"its number used again", QP{ID: 7, CQ: 1, Incarnation: 3}, QP{ID: 7, CQ: 1, Incarnation: 4}, 2},
		{"another QP", QP{ID: 7, CQ: 1, Incarnation: 3}, QP{ID: 8, CQ: 1, Incarnation: 3}, 2},
		{"no incarnation", QP{ID: 7, CQ: 1}, QP{ID: 7, CQ: 1}, 2},
		{"one incarnation", QP{ID: 7, CQ: 1, Incarnation: 3}, QP{ID: 7, CQ: 1}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newShared(t, 2)
			rs := []*Route{s.workers[0].route("D1", "P", "n1"), s.workers[1].route("D1", "P", "n1")}
			var xs [2]slice
			for i, q := range []QP{tt.a, tt.b} {
				gen, err := rs[i].Renew(0, []QP{q})
				require.NoError(t, err)
				s.workers[i].post(&xs[i], rs[i], gen, kib, q.ID)
			}
			s.workers[0].settle(&xs[0], retryExc)
			s.workers[1].event(classify.EventQPFatal, classify.Element{QP: tt.b.ID})
			s.workers[1].settle(&xs[1], retryExc)
			s.workers[0].count(rs[0], tt.counts)
			s.workers[0].inFlight(rs[0], 0, 0)
			s.workers[1].inFlight(rs[1], 0, 0)
		})
	}
	// The same endpoint, named again by a later generation, was counted.
	s := newShared(t, 1)
	a := s.workers[0]
	r := a.route("D1", "P", "n1")
	q := []QP{{ID: 7, CQ: 1, Incarnation: 3}}
	for range 3 {
		gen, err := r.Renew(r.current.Load().number, q)
		require.NoError(t, err)
		var x slice
		a.post(&x, r, gen, kib, 7)
		a.settle(&x, retryExc)
	}
	a.count(r, 1)
}

// Two configurations in one process: each failure is judged by the numbers of the
// worker that met it.
func TestTwoConfigurations(t *testing.T) {
	s := newShared(t, 1)
	a := s.workers[0]
	b := s.join(Enforce, func(c *Config) {
		c.HardErrorThreshold, c.Cooldown, c.CooldownCap = 5, 5*time.Second, 15*time.Second
	})
	rs := s.routes("D1", "P", "n1")
	b.fail(rs[1], 4, retryExc)
	assert.Equal(t, Suspect, look(rs[0]), "four of five, though three are enough for the other")
	a.count(rs[0], 4)
	b.fail(rs[1], 1, retryExc)
	assert.Equal(t, Quarantined, look(rs[0]))
	assert.Equal(t, 5*time.Second, pause(rs[0]).Resume-s.now)
	assert.Equal(t, 5*time.Second, rs[0].Snapshot().Health.CooldownLeft)
	assert.Equal(t, 30*time.Second, rs[0].Snapshot().Health.Cooldown, "its next one")
	a.renewed(rs[0])
	s.untilDue(rs[0])
	a.settle(a.trial(rs[0]), retryExc)
	assert.Equal(t, 60*time.Second, pause(rs[1]).Resume-s.now, "twice its own base")
	x := &slice{}
	assert.Equal(t, 60*time.Second, b.ask(x, rs[1], kib).RetryAfter)

	a.fail(a.route("D1", "Q", "n1"), 3, retryExc)
	q := b.route("D1", "Q", "n1")
	assert.Equal(t, Quarantined, look(q), "three are enough for a")
	assert.Equal(t, 30*time.Second, q.Snapshot().Health.CooldownLeft)
}

// An error window shorter than the retry time grows with what any worker saw of the
// pair: else no two failures would be in a row.
func TestErrorWindowShorterThanRetry(t *testing.T) {
	s := newShared(t, 3, func(c *Config) { c.ErrorWindow = time.Second })
	rs := s.routes("D1", "P", "n1")
	for i, w := range s.workers {
		gen, qp := w.renewed(rs[i])
		var x slice
		w.post(&x, rs[i], gen, kib, qp)
		s.advance(4 * time.Second) // the transport gives up
		w.settle(&x, retryExc)
		w.count(rs[i], i+1)
	}
	assert.Equal(t, Quarantined, look(rs[0]))
}

// What came and went between two looks is not missed where it matters: the route is
// well, and what was posted before counts neither way.
func TestPauseComesAndGoesUnseen(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	gen, qp := b.renewed(rs[1], 2)
	var old slice
	b.post(&old, rs[1], gen, kib, qp)
	a.quarantine(rs[0])
	s.advance(30 * time.Second)
	a.settle(a.trial(rs[0]), success)
	assert.Equal(t, Healthy, look(rs[1]))
	assert.Empty(t, b.seen, "there is nothing to tell")
	b.settle(&old, retryExc)
	b.count(rs[1], 0)

	// One pause after another, of which the first is seen: the second is a new
	// verdict, with a cooldown and a fence of its own.
	a.quarantine(rs[0])
	require.Equal(t, Quarantined, look(rs[1]))
	b.renewed(rs[1])
	s.untilDue(rs[0])
	lost := b.trial(rs[1])
	s.advance(10 * time.Second)
	a.settle(a.trial(rs[0]), success)
	a.quarantine(rs[0])
	b.settle(lost, success)
	assert.Equal(t, Quarantined, look(rs[1]), "a trial of the first pause says nothing of the second")
	s.untilDue(rs[0])
	b.ruling(rs[1], wantsRenew)
}

// A withdrawal that a new failure follows leaves the new failure.
func TestWithdrawalThenFailure(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.quarantine(rs[0])
	require.Equal(t, Quarantined, look(rs[1]))
	s.advance(30 * time.Second)
	a.settle(a.trial(rs[0]), success)
	a.fail(rs[0], 1, retryExc)
	assert.Equal(t, Suspect, look(rs[1]), "from QUARANTINED, without a stop")
	assert.Equal(t, []State{Quarantined, Suspect}, b.path(rs[1]))
	b.count(rs[1], 1)
	b.renewed(rs[1])
	b.succeed(rs[1])
	b.done(rs[1])
}

// A probe that verifies a suspicion from elsewhere quarantines the path at once when
// it fails on an endpoint that was built since.
func TestProbeOfSuspicionFromElsewhere(t *testing.T) {
	for _, renewed := range []bool{true, false} {
		s := newShared(t, 2)
		a, b := s.workers[0], s.workers[1]
		rs := s.routes("D1", "P", "n1")
		a.fail(rs[0], 1, retryExc)
		require.Equal(t, []*Route{rs[1]}, b.ctl.Due(b.now))
		want := Quarantined
		x := &slice{}
		if renewed {
			x = b.probe(rs[1])
		} else {
			want = Suspect
			d := rs[1].TryProbe(&x.permit, rs[1].current.Load().number, 64)
			require.True(t, d.Admitted())
			require.NoError(t, x.permit.Posting(b.qp(rs[1]), b.now))
			x.use = d.Use
		}
		b.settle(x, retryExc)
		assert.Equal(t, want, look(rs[0]))
	}
}

// One peer that comes and goes makes no work for the routes to a thousand others.
func TestFlappingPeerAmongMany(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	var steady []*Route
	for i := range 1000 {
		r := b.route("D1", fmt.Sprint("P", i), "n1")
		b.renewed(r)
		steady = append(steady, r)
	}
	b.ctl.syncs.Store(0)
	flapping := s.workers[0].route("D1", "F", "n1")
	fromB := b.route("D1", "F", "n1")
	b.renewed(fromB)
	for round := range 5 {
		a.quarantine(flapping)
		s.untilDue(flapping)
		a.settle(a.trial(flapping), success)
		for i := round; i < len(steady); i += 5 {
			b.succeed(steady[i])
		}
		b.ctl.Due(b.now)
	}
	looks := b.ctl.syncs.Load()
	assert.LessOrEqual(t, looks, uint64(5), "looks at the table, for one peer's one route")
	a.fail(flapping, 1, retryExc)
	looks = b.ctl.syncs.Load()
	b.succeed(fromB)
	for range 1000 {
		b.succeed(fromB)
	}
	assert.Equal(t, looks+1, b.ctl.syncs.Load(), "who is up to date looks no more")
	assert.Equal(t, uint64(0), steady[0].peer.Version())
}

// Who observes neither publishes nor adopts.
func TestObserveSharesNothing(t *testing.T) {
	s := newShared(t, 1)
	a, watcher := s.workers[0], s.join(Observe)
	rs := s.routes("D1", "P", "n1")
	watcher.fail(rs[1], 3, retryExc)
	watcher.state(rs[1], Quarantined)
	assert.Equal(t, Healthy, look(rs[0]))
	assert.Zero(t, s.table.Stats().Entries)
	a.fail(rs[0], 3, retryExc)
	other := watcher.route("D1", "Q", "n1")
	a.fail(a.route("D1", "Q", "n1"), 3, retryExc)
	assert.Equal(t, Healthy, look(other))
	watcher.renewed(rs[1])
	s.advance(30 * time.Second)
	watcher.settle(watcher.trial(rs[1]), success)
	watcher.state(rs[1], Healthy)
	assert.Equal(t, Quarantined, look(rs[0]))
	assert.Equal(t, 2, s.table.Stats().Peers, "only who enforces is there")
	off, err := New(DefaultConfig(), WithPauses(s.table))
	require.NoError(t, err)
	_, err = off.Route(rail.Pair{Peer: "R", Local: "D1", Port: 1, Remote: "n1"})
	require.NoError(t, err)
	assert.Equal(t, 2, s.table.Stats().Peers)
}

// Ticks sweep the table: an hour after its pause a pair to which no route leads is
// forgotten, one to which a route leads waits for its trial.
func TestTicksSweepTable(t *testing.T) {
	s := newShared(t, 1)
	a := s.workers[0]
	r := s.routes("D1", "P", "n1")[0]
	a.fail(r, 3, retryExc)
	gone := rail.Pair{Peer: "gone", Local: "D1", Port: 1, Remote: "n1"}
	p := s.table.Join(gone)
	p.Update(gone, s.now, func(b *rail.Breaker) bool { b.Pause(a.ctl.policy(), s.now, 1); return true })
	p.Leave(gone)
	a.ctl.Tick(s.now)
	s.advance(time.Hour + 30*time.Second - 1)
	a.ctl.Tick(s.now)
	assert.True(t, s.table.Look(gone).Paused)
	s.advance(5 * time.Minute)
	a.ctl.Tick(s.now)
	assert.Equal(t, rail.View{}, s.table.Look(gone))
	assert.Equal(t, Quarantined, look(r))
	a.renewed(r)
	a.settle(a.trial(r), success)
	s.advance(2 * time.Hour)
	a.ctl.Tick(s.now)
	assert.Zero(t, s.table.Stats().Entries, "what was lived down is forgotten too")
	assert.Equal(t, Healthy, look(r))
	a.done(r)
}

// Close gives up the routes: what they knew is swept as if they never were.
func TestCloseForgets(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.fail(rs[0], 3, retryExc)
	a.ctl.Close()
	b.ruling(rs[1], avoided)
	assert.Equal(t, 1, s.table.Stats().Peers)
	b.ctl.Close()
	b.ctl.Close()
	assert.Equal(t, rail.Stats{Peers: 1, Entries: 1}, s.table.Stats(), "the pause outlives them")
	s.table.Sweep(s.now + 2*time.Hour)
	assert.Equal(t, rail.Stats{}, s.table.Stats())
}

// A closed route takes in nothing any more: there is nobody to tell.
func TestClosedRouteDoesNotLook(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	a.ctl.Close()
	b.fail(rs[1], 3, retryExc)
	assert.Equal(t, Healthy, look(rs[0]))
	assert.ErrorIs(t, rs[0].TryAcquire(&Permit{}, 1, kib, nil).Err, ErrClosed)
	assert.Empty(t, a.seen)
}

// Pauses from elsewhere may leave a port without a usable route, as one's own may.
func TestAdoptedPausesExhaustPort(t *testing.T) {
	s := newShared(t, 2)
	a, b := s.workers[0], s.workers[1]
	toP, toQ := s.routes("D1", "P", "n1"), s.routes("D1", "Q", "n1")
	a.fail(toP[0], 3, retryExc)
	b.ruling(toP[1], avoided)
	assert.Empty(t, b.notices(PortExhausted), "one dead peer says nothing of the port")
	a.quarantine(toQ[0])
	b.ruling(toQ[1], avoided)
	assert.Equal(t, []rail.Pair{toQ[1].pair}, b.notices(PortExhausted))
	assert.Equal(t, []rail.Pair{toQ[1].pair}, b.notices(DeviceExhausted))
	next := b.route("D1", "R", "n1")
	assert.Equal(t, 64*kib, next.window.Load(), "a new route there is limited")
	s.advance(30 * time.Second)
	a.settle(a.trial(toQ[0]), success)
	require.Equal(t, Healthy, look(toQ[1]))
	assert.Equal(t, mib, next.window.Load(), "a success elsewhere is one here")
}
