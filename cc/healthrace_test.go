package cc

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trials keeps its own account of the trials of a route that are on the wire.
type trials struct {
	mu  sync.Mutex
	out map[uint64]bool
}

// began notes a trial. All that are out must be ones that a verdict has overtaken.
func (l *trials) began(t *testing.T, r *Route, number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.device.mu.Lock()
	voided := r.health.record.voided
	r.device.mu.Unlock()
	for other := range l.out {
		assert.LessOrEqual(t, min(other, number), voided, "trials %d and %d of %s are out at once", other, number, r.pair)
	}
	l.out[number] = true
}

func (l *trials) ended(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.out, number)
}

// Failures, successes, events, trials, renewals and snapshots, all at once. Bytes
// are conserved, there is one trial at a time, and however it went a trial is
// possible again in the end.
func TestHealthRace(t *testing.T) {
	rounds, steps := 20, 400
	if testing.Short() {
		rounds = 8
	}
	var clock atomic.Int64
	now := func() time.Duration { return time.Hour + time.Duration(clock.Load()) }
	cfg := DefaultConfig()
	cfg.Mode = Enforce
	cfg.Cooldown, cfg.CooldownCap, cfg.ProbeInterval = time.Millisecond, 2*time.Millisecond, 100*time.Microsecond
	ctl, err := New(cfg, WithClock(now))
	require.NoError(t, err)
	var routes []*Route
	var qps atomic.Uint64
	ledgers := map[*Route]*trials{}
	for i := range 4 {
		r, err := ctl.Route(rail.Pair{Peer: string(rune('P' + i%2)), Local: []string{"D1", "D2"}[i/2], Port: 1, Remote: "n1"})
		require.NoError(t, err)
		routes = append(routes, r)
		ledgers[r] = &trials{out: map[uint64]bool{}}
	}
	renew := func(r *Route) {
		id := qps.Add(2)
		r.Renew(r.Snapshot().Generation, []QP{{ID: id, CQ: 1}, {ID: id + 1, CQ: 1}})
	}
	outcomes := []classify.Verdict{success, success, success, success, retryExc, flush, locLen(), rnr(), deadline, cancel, teardown, fatal()}

	var admitted, released, tried atomic.Int64
	work := func(seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		var s slice
		for range steps {
			r := routes[rnd.IntN(len(routes))]
			clock.Add(int64(20 * time.Microsecond))
			cur := r.current.Load()
			n := 1 + rnd.Int64N(100*kib)
			d := r.TryAcquire(&s.permit, cur.number, n, &s.task)
			if !d.Admitted() {
				assert.NoError(t, d.Err)
				if d.WantsEndpoint() || rnd.IntN(20) == 0 {
					renew(r)
				}
				continue
			}
			admitted.Add(n)
			trial := s.permit.trial
			if trial != 0 {
				tried.Add(1)
				ledgers[r].began(t, r, trial)
			}
			end := func() {
				if trial != 0 {
					ledgers[r].ended(trial)
				}
			}
			if rnd.IntN(8) == 0 {
				end()
				assert.True(t, s.permit.Unposted())
				released.Add(n)
				continue
			}
			end() // a Posting that fails gives the trial back
			if s.permit.Posting(cur.qps[rnd.IntN(2)].ID, now()) != nil {
				released.Add(n)
				continue
			}
			if trial != 0 {
				ledgers[r].began(t, r, trial)
			}
			v := outcomes[rnd.IntN(len(outcomes))]
			end()
			taken := s.permit.Settle(d.Use, v, now())
			if taken&Released == 0 {
				taken |= s.permit.Settle(d.Use, teardown, now())
			}
			if assert.Equal(t, Ended|Released, taken, "edges of %s", v) {
				released.Add(n)
			}
		}
	}
	disturb := func(seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		for range steps / 4 {
			dev := []string{"D1", "D2"}[rnd.IntN(2)]
			e := classify.Event{Element: classify.Element{Device: dev, Port: 1, CQ: 1, QP: 1 + qps.Load()}}
			e.Type = []classify.EventType{classify.EventPortErr, classify.EventPortActive, classify.EventPortActive, classify.EventCQErr, classify.EventQPFatal, classify.EventDeviceFatal}[rnd.IntN(6)]
			_, _, err := ctl.Event(e, now())
			assert.NoError(t, err)
			clock.Add(int64(100 * time.Microsecond))
			for _, s := range ctl.Snapshot().Routes {
				assert.GreaterOrEqual(t, s.InFlightBytes, int64(0))
			}
		}
	}
	for round := range rounds {
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() { work(uint64(round*10 + w)) })
		}
		wg.Go(func() { disturb(uint64(round)) })
		wg.Wait()
		assert.Equal(t, admitted.Load(), released.Load(), "bytes")
		for _, r := range routes {
			assert.Zero(t, r.InFlight(), "bytes in flight of %s", r.pair)
		}
		clock.Add(int64(20 * time.Second)) // cooldowns and leases are over
		for _, r := range routes {
			renew(r)
			cur := r.current.Load()
			var s slice
			d := r.TryAcquire(&s.permit, cur.number, 4*kib, nil)
			require.True(t, d.Admitted(), "%s is stuck in %s: %s", r.pair, r.State(), d)
			require.NoError(t, s.permit.Posting(cur.qps[0].ID, now()))
			s.permit.Settle(d.Use, success, now())
			require.Equal(t, Healthy, r.State(), "after a success")
		}
	}
	assert.Positive(t, tried.Load(), "trials in the course of it")
	t.Logf("%d bytes admitted, %d trials", admitted.Load(), tried.Load())
	h := &rig{TB: t, ctl: ctl, now: now()}
	for _, r := range routes {
		h.inFlight(r, 0, 0)
	}
}
