package cc

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sleeper is a goroutine in Acquire.
type sleeper struct {
	slice
	done chan struct{}
	d    Decision
}

// wait starts a sleeper, and returns when it is admitted or asleep.
func (r *rig) wait(ctx context.Context, route *Route, gen Generation, n int64, qp uint64) *sleeper {
	s := &sleeper{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.d = route.Acquire(ctx, &s.permit, gen, n, &s.task)
		s.use = s.d.Use
		if s.d.Admitted() {
			assert.NoError(r.TB, s.permit.Posting(qp, r.now))
		}
	}()
	synctest.Wait()
	return s
}

// over reports whether the sleeper has its answer.
func (s *sleeper) over() bool {
	synctest.Wait()
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Waiters of a route are admitted in the order in which they came, as soon as there
// is room.
func TestWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		first := r.wait(t.Context(), route, gen, 700*kib, 1)
		require.True(t, first.over(), "there is room")
		var line []*sleeper
		for _, n := range []int64{400 * kib, 500 * kib, 100 * kib, 2 * mib, 64 * kib} {
			line = append(line, r.wait(t.Context(), route, gen, n, 1))
		}
		for i, s := range line {
			require.False(t, s.over(), "waiter %d, the window is full or others came before", i)
		}
		assert.Equal(t, "CONGESTED", line[2].task.State().String(), "who waits is held up by congestion")
		r.settle(&first.slice, success)
		for i, want := range []bool{true, true, true, false, false} {
			require.Equal(t, want, line[i].over(), "waiter %d after 700 KiB came back", i)
		}
		r.inFlight(route, 1000*kib, 1000*kib)
		for i := range 3 {
			require.False(t, line[3].over(), "the slice that exceeds the window waits for an empty route")
			r.settle(&line[i].slice, success)
		}
		require.True(t, line[3].over())
		require.False(t, line[4].over())
		r.settle(&line[3].slice, success)
		require.True(t, line[4].over())
		r.settle(&line[4].slice, success)
		r.inFlight(route, 0, 0)
		assert.Nil(t, route.line.Load(), "nobody waits any more")
	})
}

// A waiter that the device refused is woken by what other routes give back, however
// they took it.
func TestWaitForDevice(t *testing.T) {
	for name, giveBack := range map[string]func(r *rig, s *slice){
		"completion": func(r *rig, s *slice) { r.settle(s, success) },
		"teardown":   func(r *rig, s *slice) { r.settle(s, teardown) },
		"unposted":   func(r *rig, s *slice) { s.permit.Unposted() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Enforce)
				busy, route := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
				bg, gen := r.renew(busy, 1), r.renew(route, 2)
				busy.window.Store(4 * mib)
				slices := make([]slice, 64)
				for i := range slices {
					r.post(&slices[i], busy, bg, 64*kib, 1)
				}
				s := r.wait(t.Context(), route, gen, 128*kib, 2)
				require.False(t, s.over(), "the device is full")
				giveBack(r, &slices[0])
				require.False(t, s.over(), "half of what it needs")
				giveBack(r, &slices[1])
				require.True(t, s.over(), "now it fits")
				r.settle(&s.slice, success)
				for i := range slices {
					r.settle(&slices[i], success)
				}
				r.inFlight(route, 0, 0)
				assert.False(t, busy.inLine())
			})
		})
	}
}

// Waiters of several routes take the device's room in the order in which they came.
func TestWaitForDeviceInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		busy := r.route("D1", "P", "n1")
		var full slice
		r.post(&full, busy, r.renew(busy, 1), 5*mib, 1)
		var line []*sleeper
		for i := range 8 {
			route := r.route("D1", "Q", string(rune('a'+i)))
			qp := uint64(i + 2)
			line = append(line, r.wait(t.Context(), route, r.renew(route, qp), mib, qp))
		}
		r.settle(&full, success)
		for i, s := range line {
			require.Equal(t, i < 4, s.over(), "waiter %d of 8, when 4 fit", i)
		}
		for i := range 4 {
			r.settle(&line[i].slice, success)
			require.True(t, line[i+4].over(), "waiter %d", i+4)
		}
		for _, s := range line[4:] {
			r.settle(&s.slice, success)
		}
		r.inFlight(busy, 0, 0)
	})
}

// What ends a wait without room.
func TestWaitEnds(t *testing.T) {
	patience := errors.New("patience is over")
	for _, tc := range []struct {
		name string
		end  func(r *rig, route *Route, gen Generation, cancel func(error))
		want func(t *testing.T, d Decision)
	}{
		{"context", func(_ *rig, _ *Route, _ Generation, cancel func(error)) { cancel(patience) }, func(t *testing.T, d Decision) {
			assert.ErrorIs(t, d.Err, patience)
			assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, d.Ruling, "the latest answer")
		}},
		{"Close", func(r *rig, _ *Route, _ Generation, _ func(error)) { r.ctl.Close() }, func(t *testing.T, d Decision) {
			assert.ErrorIs(t, d.Err, ErrClosed)
		}},
		{"Renew", func(r *rig, route *Route, _ Generation, _ func(error)) { r.renew(route, 2) }, func(t *testing.T, d Decision) {
			assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonStaleGeneration}, d.Ruling)
		}},
		{"quarantine", func(r *rig, _ *Route, _ Generation, _ func(error)) {
			r.ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}, r.now)
		}, func(t *testing.T, d Decision) {
			assert.Equal(t, Ruling{Answer: Avoid, Reason: classify.ReasonPathQuarantined}, d.Ruling)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Enforce)
				route := r.route("D1", "P", "n1")
				gen := r.renew(route, 1)
				var full slice
				r.post(&full, route, gen, mib, 1)
				ctx, cancel := context.WithCancelCause(t.Context())
				var all []*sleeper
				for range 3 {
					all = append(all, r.wait(ctx, route, gen, kib, 1))
				}
				for _, s := range all {
					require.False(t, s.over())
				}
				tc.end(r, route, gen, cancel)
				for i, s := range all {
					require.True(t, s.over(), "waiter %d", i)
					tc.want(t, s.d)
					assert.Zero(t, s.permit.Held())
				}
				cancel(nil)
				r.settle(&full, success)
				r.inFlight(route, 0, 0)
				assert.False(t, route.inLine(), "nobody waits any more")
			})
		})
	}
}

// A deadline retires the generation: who waits on it has to renew.
func TestWaitEndsWithTheGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var full slice
		r.post(&full, route, gen, mib, 1)
		s := r.wait(t.Context(), route, gen, kib, 1)
		r.settle(&full, deadline)
		require.True(t, s.over())
		assert.Equal(t, classify.ReasonNeedsRenew, s.d.Reason)
		r.settle(&full, flush)
		r.inFlight(route, 0, 0)
	})
}

// A window that grows wakes who waits for it.
func TestWaitSeesWindowGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var full slice
		r.post(&full, route, gen, 4*mib, 1)
		s := r.wait(t.Context(), route, gen, kib, 1)
		r.setWindow(route, 4*mib+kib)
		require.False(t, s.over(), "the device is full as well")
		route.device.setWindow(5 * mib)
		require.True(t, s.over())
		r.settle(&s.slice, success)
		r.settle(&full, success)
		r.inFlight(route, 0, 0)
	})
}

// setWindow sets the law's window of a route.
func (r *rig) setWindow(route *Route, bytes int64) {
	route.device.locked(func() {
		route.lawWindow = bytes
		route.applyWindow()
	})
}

// Callers of TryAcquire overtake a waiter for two drain times, and no longer.
func TestWaiterIsAClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		c := r.newCrowd(route, 1)
		s := r.wait(t.Context(), route, c.gen, 640*kib, 1)
		require.False(t, s.over())
		r.now += claimAt(route) - 1
		require.True(t, c.turn(), "just before two drain times")
		require.False(t, s.over())
		r.now++
		for !s.over() {
			require.False(t, c.turn(), "after two drain times")
		}
		assert.Len(t, c.slices, 6, "the waiter was admitted as soon as it fitted")
		c.settleAll()
		r.settle(&s.slice, success)
		r.inFlight(route, 0, 0)
	})
}

// A claim that is older than a waiter goes first; when nobody comes for it, it
// lapses, and the waiter does not sleep for ever.
func TestWaiterBehindAClaim(t *testing.T) {
	for _, comes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Enforce)
			var clock atomic.Int64 // the waiter reads it whenever it looks
			r.ctl.now = func() time.Duration { return time.Duration(clock.Load()) }
			route := r.route("D1", "P", "n1")
			c := r.newCrowd(route, 1)
			var big slice
			require.Equal(t, Defer, route.TryAcquire(&big.permit, c.gen, 2*mib, nil).Answer)
			clock.Add(int64(claimAt(route)))
			s := r.wait(t.Context(), route, c.gen, kib, 1)
			c.settleAll()
			require.False(t, s.over(), "the claim goes first")
			if comes {
				require.True(t, route.TryAcquire(&big.permit, c.gen, 2*mib, nil).Admitted())
				require.False(t, s.over(), "the large slice fills the route")
				big.permit.Unposted()
			} else {
				clock.Add(int64(claimLife(route.drainTime())))
				time.Sleep(claimLife(route.drainTime())) // the bubble's time
			}
			require.True(t, s.over(), "the claim is gone")
			r.settle(&s.slice, success)
			r.inFlight(route, 0, 0)
		})
	}
}

// While the trial of a route is out its waiters sleep; its outcome wakes them.
func TestWaitForTrial(t *testing.T) {
	for _, ok := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Enforce)
			route := r.route("D1", "P", "n1")
			r.renew(route, 1)
			r.ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}, r.now)
			gen := r.renew(route, 2)
			r.now += r.ctl.cfg.Cooldown
			var trial slice
			r.post(&trial, route, gen, kib, 2)
			require.Equal(t, Probing, route.State())
			s := r.wait(t.Context(), route, gen, kib, 2)
			require.False(t, s.over(), "the trial is out")
			if ok {
				r.settle(&trial, success)
			} else {
				r.settle(&trial, retryExc)
			}
			require.True(t, s.over())
			assert.Equal(t, ok, s.d.Admitted(), "trial succeeded: %t, answer: %s", ok, s.d)
			r.settle(&s.slice, success)
			r.inFlight(route, 0, 0)
		})
	}
}

func TestWaitWrongCalls(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	done, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, route.Acquire(done, &s.permit, gen, kib, nil).Err, context.Canceled, "a context that has ended")
	assert.ErrorContains(t, route.Acquire(t.Context(), &s.permit, gen, 0, nil).Err, "0 bytes")
	assert.ErrorContains(t, route.Acquire(t.Context(), &s.permit, gen+1, kib, nil).Err, "newest")
	require.True(t, route.Acquire(t.Context(), &s.permit, gen, kib, nil).Admitted())
	assert.ErrorIs(t, route.Acquire(t.Context(), &s.permit, gen, kib, nil).Err, ErrHeld)
	s.permit.Unposted()
	assert.Equal(t, classify.ReasonStaleGeneration, route.Acquire(t.Context(), &s.permit, 0, kib, nil).Reason, "what waiting cannot change is not waited for")
	for _, mode := range []Mode{Off, Observe} {
		r := newRig(t, mode)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var s slice
		assert.True(t, route.Acquire(t.Context(), &s.permit, gen, 64*mib, nil).Admitted(), "mode %s", mode)
	}
}
