package cc

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
)

// Ticks, beats, posts, settles, renewals and snapshots race, with routes that go
// idle and come back: windows stay in their bounds, and all bytes come back.
func TestTickRace(t *testing.T) {
	for _, law := range []Law{LawEpoch, LawRound} {
		var now atomic.Int64
		now.Store(int64(time.Hour))
		r := tunedRig(t, Enforce, func(c *Config) { c.Law, c.SuspectAfter, c.TargetDrain = law, 50*ms, 2*ms })
		r.ctl.now = func() time.Duration { return time.Duration(now.Load()) }
		poller, err := r.ctl.NewPoller("D1", 1)
		assert.NoError(t, err)
		const workers = 4
		rounds := 10_000
		if testing.Short() {
			rounds = 2_000
		}
		var routes []*Route
		for w := range workers {
			routes = append(routes, r.route("D1", "P", string(rune('a'+w))))
			r.renew(routes[w], uint64(w+1))
		}
		var done atomic.Bool
		var wg, background sync.WaitGroup
		for range 2 {
			background.Go(func() {
				for !done.Load() {
					r.ctl.Tick(time.Duration(now.Add(int64(30 * ms))))
				}
			})
		}
		background.Go(func() {
			for !done.Load() {
				poller.Beat(time.Duration(now.Load()))
				for _, s := range r.ctl.Snapshot().Routes {
					assert.GreaterOrEqual(t, s.InFlightBytes, int64(0))
					assert.GreaterOrEqual(t, s.WindowBytes, 64*kib)
					assert.LessOrEqual(t, s.WindowBytes, 4*mib)
				}
				w := int(now.Load()/int64(ms)) % workers
				routes[w].Renew(routes[w].current.Load().number, []QP{{ID: uint64(w + 1), CQ: 1}})
			}
		})
		for w, route := range routes {
			wg.Go(func() {
				permits := make([]slice, 8)
				for i := range rounds {
					s := &permits[i%len(permits)]
					if i%500 < 20 { // idle for a while
						s.permit.Settle(s.use, success, time.Duration(now.Load()))
						continue
					}
					v := success
					if i%97 == 0 {
						v = rnr()
					}
					s.permit.Settle(s.use, v, time.Duration(now.Load()))
					d := route.TryAcquire(&s.permit, route.current.Load().number, int64(1+i%5)*64*kib, &s.task)
					if d.Admitted() && s.permit.Posting(uint64(w+1), time.Duration(now.Load())) == nil {
						s.use = d.Use
					}
				}
				for i := range permits {
					permits[i].permit.Settle(permits[i].use, teardown, 0)
				}
			})
		}
		wg.Wait()
		done.Store(true)
		background.Wait()
		for _, route := range routes {
			r.inFlight(route, 0, 0)
		}
		for range 5 {
			r.ctl.Tick(time.Duration(now.Add(int64(200 * ms))))
		}
		for _, route := range routes {
			assert.False(t, route.active.Load() && !route.State().barred() && route.State() != Suspect, "%s rests at the end", route.pair)
			assert.Zero(t, max(0, route.outdated.Load()-route.InFlight()), "bytes of older endpoints")
		}
		_, _, err = r.ctl.Event(classify.Event{Type: classify.EventCommEst, Element: classify.Element{Device: "D1", QP: 1}}, 0)
		assert.NoError(t, err)
	}
}
