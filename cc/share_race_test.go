package cc

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var racedPairs = []rail.Pair{
	{Peer: "P", Local: "D1", Port: 1, Remote: "n1"},
	{Peer: "P", Local: "D2", Port: 1, Remote: "n2"},
	{Peer: "Q", Local: "D1", Port: 1, Remote: "n1"},
}

// sharedRace is several controllers of one table that many goroutines work on.
type sharedRace struct {
	*testing.T
	table  *rail.Table
	clock  atomic.Int64
	qps    atomic.Uint64
	events bool // that isolate routes and end trials, apart from their permits

	ctls   []*Controller
	routes [][]*Route // by controller and pair

	trials                    [3]gauged // of each pair, on the wire
	admitted, released, tried atomic.Int64
}

func newSharedRace(t *testing.T, controllers int, events bool) *sharedRace {
	x := &sharedRace{T: t, table: rail.NewTable(), events: events}
	cfg := DefaultConfig()
	cfg.Mode, cfg.TargetDrain = Enforce, time.Minute // however busy the machine is
	cfg.Cooldown, cfg.CooldownCap, cfg.ProbeInterval = 2*time.Millisecond, 4*time.Millisecond, 200*time.Microsecond
	for range controllers {
		ctl, err := New(cfg, WithPauses(x.table), WithClock(x.now))
		require.NoError(t, err)
		var routes []*Route
		for _, pair := range racedPairs {
			r, err := ctl.Route(pair)
			require.NoError(t, err)
			x.renew(r)
			routes = append(routes, r)
		}
		x.ctls, x.routes = append(x.ctls, ctl), append(x.routes, routes)
	}
	return x
}

func (x *sharedRace) now() time.Duration { return time.Hour + time.Duration(x.clock.Load()) }

func (x *sharedRace) renew(r *Route) {
	id := x.qps.Add(2)
	r.Renew(r.Snapshot().Generation, []QP{{ID: id, CQ: 1}, {ID: id + 1, CQ: 1, Incarnation: id}})
}

// work sends slices, lists and probes, and has them end in every way.
func (x *sharedRace) work(seed uint64, steps int) {
	outcomes := []classify.Verdict{success, success, success, success, retryExc, retryExc, flush, locLen(), deadline, cancel, teardown, fatal()}
	rnd := rand.New(rand.NewPCG(seed, 8))
	var s slice
	var l List
	var task taskstate.Task
	for range steps {
		x.clock.Add(int64(20 * time.Microsecond))
		i := rnd.IntN(len(racedPairs))
		r := x.routes[rnd.IntN(len(x.ctls))][i]
		cur := r.current.Load()
		v := outcomes[rnd.IntN(len(outcomes))]
		if rnd.IntN(5) == 0 {
			x.list(&l, r, cur, v, &task, rnd)
			continue
		}
		n := 1 + rnd.Int64N(32*kib)
		var d Decision
		if rnd.IntN(4) == 0 {
			d = r.TryProbe(&s.permit, cur.number, n)
		} else {
			d = r.TryAcquire(&s.permit, cur.number, n, &s.task)
		}
		if !d.Admitted() {
			assert.NoError(x, d.Err)
			x.mayRenew(r, d, rnd)
			continue
		}
		x.admitted.Add(n)
		trial := s.permit.trial != 0
		began := func() {
			if trial {
				x.trials[i].add(1)
			}
		}
		ended := func() { // before the call that may end it
			if trial {
				x.trials[i].add(-1)
			}
		}
		if trial {
			x.tried.Add(1)
		}
		began()
		if rnd.IntN(8) == 0 {
			ended()
			assert.True(x, s.permit.Unposted())
			x.released.Add(n)
			continue
		}
		ended()
		if s.permit.Posting(cur.qps[rnd.IntN(2)].ID, x.now()) != nil {
			x.released.Add(n)
			continue
		}
		began()
		if rnd.IntN(4) == 0 {
			x.clock.Add(int64(time.Millisecond))
		}
		ended()
		taken := s.permit.Settle(d.Use, v, x.now())
		if taken&Released == 0 {
			taken |= s.permit.Settle(d.Use, teardown, x.now())
		}
		if assert.Equal(x, Ended|Released, taken, "edges of %s", v) {
			x.released.Add(n)
		}
	}
}

func (x *sharedRace) list(l *List, r *Route, cur *generation, v classify.Verdict, task *taskstate.Task, rnd *rand.Rand) {
	d := r.TryAcquireList(l, cur.number, sizes(3), task)
	if !d.Admitted() {
		assert.NoError(x, d.Err)
		x.mayRenew(r, d, rnd)
		return
	}
	n := l.Held()
	x.admitted.Add(n)
	x.released.Add(n)
	assert.Zero(x, l.p.trial, "a list is never the trial")
	if l.Posting(cur.qps[0].ID, x.now()) != nil {
		return
	}
	l.Settle(d.Use, 1<<1, v, x.now())
	l.Settle(d.Use, first(MaxList), teardown, x.now())
	assert.Zero(x, l.Held())
}

func (x *sharedRace) mayRenew(r *Route, d Decision, rnd *rand.Rand) {
	if d.Hint == NeedRenew || d.Reason == classify.ReasonNeedsRenew || rnd.IntN(30) == 0 {
		x.renew(r)
	}
}

// disturb ticks, looks on, and tells of events.
func (x *sharedRace) disturb(seed uint64, steps int) {
	rnd := rand.New(rand.NewPCG(seed, 9))
	types := []classify.EventType{classify.EventPortActive, classify.EventPortActive, classify.EventPortErr, classify.EventCQErr, classify.EventQPFatal, classify.EventDeviceFatal}
	for range steps {
		x.clock.Add(int64(50 * time.Microsecond))
		ctl := x.ctls[rnd.IntN(len(x.ctls))]
		e := classify.Event{Element: classify.Element{Device: []string{"D1", "D2"}[rnd.IntN(2)], Port: 1, CQ: 1, QP: 1 + x.qps.Load()}}
		if e.Type = types[rnd.IntN(2)]; x.events {
			e.Type = types[rnd.IntN(len(types))]
		}
		_, _, err := ctl.Event(e, x.now())
		assert.NoError(x, err)
		ctl.Tick(x.now())
		ctl.Due(x.now())
		x.table.Sweep(x.now())
		for _, l := range x.table.List() {
			assert.LessOrEqual(x, l.Evidence, l.Version)
			assert.False(x, !l.Paused && l.Trial != 0, "a trial of %v, which is not paused", l.Pair)
		}
		for _, s := range ctl.Snapshot().Routes {
			assert.GreaterOrEqual(x, s.InFlightBytes, int64(0))
		}
	}
}

// settled checks what has to hold when nobody works: nothing is in flight, and every
// controller that looks agrees with the table.
func (x *sharedRace) settled() {
	require.Equal(x, x.admitted.Load(), x.released.Load(), "bytes")
	for c, routes := range x.routes {
		for i, r := range routes {
			require.Zero(x, r.InFlight(), "bytes in flight of %s", r.pair)
			v := x.table.Look(racedPairs[i])
			require.False(x, v.TrialOut(x.now()), "a trial of %s that nobody has", r.pair)
			state := look(r)
			switch {
			case v.Paused:
				require.True(x, state.barred(), "controller %d shows %s as %s", c, r.pair, state)
			case x.events && state.barred(): // by a verdict of its own
			default:
				require.Equal(x, v.Count > 0, state == Suspect, "controller %d shows %s, which has a count of %d, as %s", c, r.pair, v.Count, state)
			}
			require.Equal(x, r.peer.Version(), r.seen.Load())
		}
	}
}

// recovered tries each route, and sees what one worker's trial proved at the others.
func (x *sharedRace) recovered() {
	x.clock.Add(int64(20 * time.Second))
	for c, routes := range x.routes {
		for i, r := range routes {
			x.renew(r)
			cur := r.current.Load()
			var s slice
			d := r.TryAcquire(&s.permit, cur.number, 4*kib, nil)
			require.True(x, d.Admitted(), "%s of controller %d is stuck in %s: %s", r.pair, c, r.State(), d)
			require.NoError(x, s.permit.Posting(cur.qps[0].ID, x.now()))
			s.permit.Settle(d.Use, success, x.now())
			require.Equal(x, Healthy, r.State(), "after a success")
			for _, other := range x.routes {
				if !x.events {
					require.Equal(x, Healthy, look(other[i]))
				}
			}
		}
	}
}

// Several controllers share a table: failures, successes, deadlines, trials, probes,
// lists, renewals, events, ticks and sweeps, all at once.
func TestSharedRace(t *testing.T) {
	rounds, steps := 15, 400
	if testing.Short() {
		rounds = 6
	}
	for name, events := range map[string]bool{"trials": false, "events": true} {
		t.Run(name, func(t *testing.T) {
			x := newSharedRace(t, 3, events)
			for round := range rounds {
				var wg sync.WaitGroup
				for w := range 6 {
					wg.Go(func() { x.work(uint64(round*10+w), steps) })
				}
				wg.Go(func() { x.disturb(uint64(round), steps/4) })
				wg.Wait()
				x.settled()
				x.recovered()
			}
			if !events {
				for i := range x.trials {
					assert.EqualValues(t, 1, x.trials[i].most.Load(), "trials of %s that were out at once", racedPairs[i])
				}
			}
			assert.Positive(t, x.tried.Load())
			t.Logf("%d bytes admitted, %d trials", x.admitted.Load(), x.tried.Load())
			for _, ctl := range x.ctls {
				ctl.Close()
			}
			x.table.Sweep(x.now() + 24*time.Hour)
			assert.Equal(t, rail.Stats{}, x.table.Stats())
		})
	}
}

// Controllers come and go while others work on the same pairs: what they knew stays,
// and whoever is left goes on.
func TestSharedRaceOfJoiners(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	x := newSharedRace(t, 2, false)
	var wg sync.WaitGroup
	wg.Go(func() { x.work(1, 40*rounds) })
	wg.Go(func() { x.work(2, 40*rounds) })
	for w := range 2 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 10))
			for range rounds {
				ctl, err := New(x.ctls[0].cfg, WithPauses(x.table), WithClock(x.now))
				assert.NoError(t, err)
				pair := racedPairs[rnd.IntN(len(racedPairs))]
				r, err := ctl.Route(pair)
				assert.NoError(t, err)
				x.renew(r)
				var s slice
				for range 20 {
					cur := r.current.Load()
					d := r.TryAcquire(&s.permit, cur.number, kib, nil)
					if !d.Admitted() {
						x.mayRenew(r, d, rnd)
						continue
					}
					if s.permit.Posting(cur.qps[0].ID, x.now()) == nil {
						if rnd.IntN(10) == 0 {
							break // it is lost with the controller
						}
						s.permit.Settle(d.Use, []classify.Verdict{success, retryExc}[rnd.IntN(2)], x.now())
					}
				}
				ctl.Close()
				s.permit.Settle(s.permit.use, success, x.now())
				assert.Zero(t, r.InFlight())
			}
		})
	}
	wg.Wait()
	x.settled()
	x.recovered()
	assert.Equal(t, 2, x.table.Stats().Peers)
}

// Who asks while a pause is published is turned away, however many ask while the first
// of them takes it in.
func TestPauseHoldsAtOnce(t *testing.T) {
	pauses := 200_000
	if testing.Short() {
		pauses = 20_000
	}
	x := newSharedRace(t, 2, false)
	pair, r := racedPairs[0], x.routes[1][0]
	gen := r.current.Load()
	var epoch atomic.Int64 // odd while the pair is paused, -1 in the end
	var admitted, refused atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			var s slice
			for i, before := 0, epoch.Load(); before >= 0; i, before = i+1, epoch.Load() {
				if i%16 == 0 {
					runtime.Gosched() // it is another's turn
				}
				d := r.TryAcquire(&s.permit, gen.number, kib, nil)
				if !d.Admitted() {
					refused.Add(1)
					continue
				}
				admitted.Add(1)
				assert.False(t, before%2 == 1 && epoch.Load() == before, "admitted while the pair is paused")
				s.permit.Unposted()
			}
		})
	}
	peer := x.routes[0][0].peer
	update := func(f func(*rail.Breaker)) {
		peer.Update(pair, x.now(), func(b *rail.Breaker) bool { f(b); return true })
	}
	meets := func(answers *atomic.Int64) {
		for before := answers.Load(); answers.Load() == before; {
			runtime.Gosched()
		}
	}
	for range pauses {
		update(func(b *rail.Breaker) { b.Pause(x.ctls[0].policy(), x.now(), 1) })
		epoch.Add(1)
		meets(&refused)
		epoch.Add(1)
		update(func(b *rail.Breaker) { b.TrialSucceeded(rail.Policy{}, 0, x.now(), 0) })
		meets(&admitted)
	}
	epoch.Store(-1)
	wg.Wait()
	t.Logf("%d admitted, %d refused", admitted.Load(), refused.Load())
}

// Two workers ask for the due trial for ever, and give it back at once: never do both
// have it.
func TestTrialHerdRace(t *testing.T) {
	asked := 300_000
	if testing.Short() {
		asked = 50_000
	}
	x := newSharedRace(t, 2, false)
	x.routes[0][0].peer.Update(racedPairs[0], x.now(), func(b *rail.Breaker) bool {
		b.Pause(x.ctls[0].policy(), x.now(), 1)
		return true
	})
	x.clock.Add(int64(time.Second))
	var wg sync.WaitGroup
	for _, routes := range x.routes {
		wg.Go(func() {
			r := routes[0]
			gen := r.current.Load().number
			var s slice
			for i := range asked {
				if i%16 == 0 {
					runtime.Gosched()
				}
				if !r.TryAcquire(&s.permit, gen, kib, nil).Admitted() {
					continue
				}
				x.tried.Add(1)
				x.trials[0].add(1)
				runtime.Gosched() // so that others come by
				x.trials[0].add(-1)
				s.permit.Unposted()
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, x.trials[0].most.Load(), "trials that were out at once")
	t.Logf("%d trials", x.tried.Load())
}
