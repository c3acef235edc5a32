package cc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// polled returns a load with its own CQ and poller.
func (r *rig) polled(local, peer string, cq uint64) (*load, *Poller) {
	r.Helper()
	p, err := r.ctl.NewPoller(local, cq)
	require.NoError(r.TB, err)
	nextQP++
	l := &load{rig: r, route: r.route(local, peer, "n1"), qp: nextQP}
	l.gen, err = l.route.Renew(0, []QP{{ID: l.qp, CQ: cq}})
	require.NoError(r.TB, err)
	return l, p
}

// beats lets pollers beat each millisecond for a while.
func (r *rig) beats(d time.Duration, pollers ...*Poller) {
	for end := r.now + d; r.now < end; r.now += ms {
		for _, p := range pollers {
			p.Beat(r.now)
		}
	}
}

// A deadline whose epoch was touched by a stall takes neither edge, whatever the
// caller says; other pollers' routes are not touched, nor is the next epoch.
func TestDeadlineWhilePollerStalls(t *testing.T) {
	const gap = time.Second
	tests := []struct {
		name string
		do   func(r *rig, p *Poller)
		void bool
	}{
		{"beating", func(r *rig, p *Poller) { r.beats(gap+500*ms, p) }, false},
		{"a pause of the longest allowed gap", func(r *rig, p *Poller) { p.Beat(r.now); r.now += gap }, false},
		{"stalled", func(r *rig, p *Poller) { p.Beat(r.now); r.now += gap + 1 }, true},
		{"never beaten", func(r *rig, p *Poller) { r.now += gap + 1 }, true},
		{"the batch that ends the stall", func(r *rig, p *Poller) { p.Beat(r.now); r.now += 2 * gap; p.Beat(r.now) }, true},
		{"that batch, settled in the next epoch", func(r *rig, p *Poller) { p.Beat(r.now); r.now += 2 * gap; p.Beat(r.now); r.now += oneEpoch }, true},
		{"the rest of the epoch in which it ended", func(r *rig, p *Poller) {
			p.Beat(r.now)
			r.now += 2 * gap
			p.Beat(r.now)
			r.now += ms
			p.Beat(r.now)
		}, true},
		{"the next epoch", func(r *rig, p *Poller) {
			p.Beat(r.now)
			r.now += 2 * gap
			p.Beat(r.now)
			r.now += oneEpoch - r.now%oneEpoch
			p.Beat(r.now)
		}, false},
		{"a beat from the past", func(r *rig, p *Poller) { r.beats(gap, p); p.Beat(r.now - time.Hour); r.now += 500 * ms }, false},
		{"a closed poller", func(r *rig, p *Poller) { p.Close(); r.now += 2 * gap }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Enforce)
			mine, p := r.polled("D1", "P", 1)
			other, q := r.polled("D1", "Q", 2)
			unpolled := r.load("D2", "P", "n1")
			var a, b, c slice
			r.post(&a, mine.route, mine.gen, kib, mine.qp)
			r.post(&b, other.route, other.gen, kib, other.qp)
			r.post(&c, unpolled.route, unpolled.gen, kib, unpolled.qp)
			tt.do(r, p)
			q.Beat(r.now)
			q.Beat(r.now + 1)
			q.resumed.Store(never)
			if tt.void {
				assert.Zero(t, r.settle(&a, deadline), "a voided deadline takes neither edge")
				assert.Equal(t, Healthy, mine.route.State())
				assert.Equal(t, "UNKNOWN", a.task.State().String(), "nothing is blamed on the network")
				assert.Equal(t, Ended|Released, r.settle(&a, success), "the completion takes both")
				assert.Equal(t, "NORMAL", a.task.State().String())
			} else {
				assert.Equal(t, Ended, r.settle(&a, deadline))
				assert.Equal(t, Suspect, mine.route.State())
				r.settle(&a, teardown)
			}
			assert.Equal(t, Ended, r.settle(&b, deadline), "another poller's route")
			assert.Equal(t, Ended, r.settle(&c, deadline), "without a poller the caller is trusted")
			r.settle(&b, teardown)
			r.settle(&c, teardown)
			r.inFlight(mine.route, 0, 0)
		})
	}
}

// Epochs that a stall touched give no pressure, and only those.
func TestStallVoidsSamples(t *testing.T) {
	r := newRig(t, Enforce)
	mine, p := r.polled("D1", "P", 1)
	other, q := r.polled("D1", "Q", 2)
	slow := func() { // an epoch of slow slices on both
		mine.fill()
		other.fill()
		r.now += high
		p.Beat(r.now)
		q.Beat(r.now)
		mine.drain(success)
		other.drain(success)
		r.now += ms
		p.Beat(r.now)
		q.Beat(r.now)
		r.next()
	}
	p.Beat(r.now)
	q.Beat(r.now)
	r.next()
	for range 5 {
		p.resumed.Store(int64(r.now)) // each epoch is touched by the end of a stall
		slow()
		assert.Equal(t, PressureVoid, mine.route.Snapshot().Flow.Pressure)
	}
	mine.want(Healthy, mib, "its poller stalled")
	other.want(Congested, 64*kib, "its own did not")
	slow()
	mine.want(Healthy, mib, "one high epoch after it")
	slow()
	mine.want(Congested, 512*kib, "two")
}

// A poller that does not look is not a network that does not deliver, also before
// the gap is long enough for a stall.
func TestSilenceWithoutBeats(t *testing.T) {
	for name, beating := range map[string]bool{"beating": true, "not beating": false} {
		r := newRig(t, Enforce)
		l, p := r.polled("D1", "P", 1)
		p.Beat(r.now)
		r.next()
		l.fill()
		for range 9 {
			if beating {
				r.beats(90*ms, p)
			}
			r.next()
		}
		if beating {
			assert.Equal(t, Congested, l.route.State(), name)
		} else {
			l.want(Healthy, mib, name)
		}
	}
}

func TestNewPollerFaults(t *testing.T) {
	r := newRig(t, Enforce)
	first, err := r.ctl.NewPoller("D1", 1, 2)
	require.NoError(t, err)
	for name, f := range map[string]func() (*Poller, error){
		"no device":  func() (*Poller, error) { return r.ctl.NewPoller("", 5) },
		"no CQ":      func() (*Poller, error) { return r.ctl.NewPoller("D1") },
		"CQ 0":       func() (*Poller, error) { return r.ctl.NewPoller("D1", 5, 0) },
		"polled":     func() (*Poller, error) { return r.ctl.NewPoller("D1", 5, 2) },
		"named long": func() (*Poller, error) { return r.ctl.NewPoller(string(make([]byte, 1<<20)), 5) },
	} {
		p, err := f()
		require.Error(t, err, name)
		assert.Nil(t, p, name)
		assert.Less(t, len(err.Error()), 1000, name)
	}
	_, err = r.ctl.NewPoller("D1", 5)
	require.NoError(t, err, "a fault registers nothing")
	_, err = r.ctl.NewPoller("D2", 1)
	require.NoError(t, err, "CQ numbers are a device's own")
	_, err = r.ctl.NewPoller("D1", 7, 0, 8)
	require.ErrorContains(t, err, "CQ 2 of 3 of D1 has number 0")
	_, err = r.ctl.NewPoller(strings.Repeat("d", rail.MaxName), 1)
	require.NoError(t, err, "the longest name")
	_, err = r.ctl.NewPoller(strings.Repeat("d", rail.MaxName+1), 1)
	require.ErrorContains(t, err, "a name of 256 bytes: name the device with 1 to 255 bytes")
	first.Close()
	first.Close()
	_, err = r.ctl.NewPoller("D1", 1, 2)
	require.NoError(t, err, "a closed poller's CQs are free")
	first.Close()
	_, err = r.ctl.NewPoller("D1", 1)
	require.ErrorContains(t, err, "CQ 1 of D1 has a poller already", "to close the old one again changes nothing")
	r.ctl.Close()
	_, err = r.ctl.NewPoller("D1", 9)
	assert.ErrorIs(t, err, ErrClosed)
}

// A poller that never stalled has not done so when the clock began either.
func TestPollerOfAYoungClock(t *testing.T) {
	now := time.Duration(0)
	cfg := DefaultConfig()
	cfg.Mode = Enforce
	ctl, err := New(cfg, WithClock(func() time.Duration { return now }))
	require.NoError(t, err)
	p, err := ctl.NewPoller("D1", 1)
	require.NoError(t, err)
	assert.False(t, p.stalledAt(0))
	assert.False(t, p.voids(5*ms))
	assert.True(t, p.beatSince(0), "it was made just then")
	p.Beat(5 * ms)
	assert.False(t, p.voids(6*ms))
	assert.True(t, p.beatSince(5*ms))
	assert.False(t, p.beatSince(5*ms+1))
}

// A route goes silent while its sibling is served: SUSPECT long before the
// transport gives up.
func TestEarlySuspicion(t *testing.T) {
	type scene struct {
		r              *rig
		silent, served *load
		p              *Poller
	}
	run := func(s scene, d time.Duration, tick time.Duration, serve, beat bool) {
		for end := s.r.now + d; s.r.now < end; {
			s.r.now += tick
			if beat {
				s.p.Beat(s.r.now)
			}
			if serve {
				s.served.fill()
				s.served.drain(success)
			}
			s.r.ctl.Tick(s.r.now)
		}
	}
	start := func(t *testing.T, after time.Duration) scene {
		r := tunedRig(t, Enforce, func(c *Config) { c.SuspectAfter, c.SuspectWindowBytes = after, 64*kib })
		silent, p := r.polled("D1", "P", 1)
		s := scene{r, silent, r.load("D1", "Q", "n1"), p}
		silent.fill() // it is visited before its sibling
		silent.drain(success)
		run(s, 200*ms, 10*ms, true, true)
		return s
	}
	t.Run("after the time, and cleared by any success", func(t *testing.T) {
		s := start(t, 50*ms)
		s.silent.fill()
		run(s, 50*ms, 10*ms, true, true)
		assert.Equal(t, Healthy, s.silent.route.State(), "50 ms")
		run(s, 10*ms, 10*ms, true, true)
		s.silent.want(Suspect, 64*kib, "60 ms: 50 and a tick")
		h := s.silent.route.Snapshot().Health
		assert.Equal(t, "ROUTE_SUSPECT", h.Reason.String())
		assert.Zero(t, h.Failures, "nothing was counted")
		assert.Equal(t, Healthy, s.served.route.State())
		s.r.settle(s.silent.out[0], success)
		assert.Equal(t, Healthy, s.silent.route.State())
		s.silent.drain(success)
	})
	t.Run("not without a sibling that is served", func(t *testing.T) {
		s := start(t, 50*ms)
		s.silent.fill()
		run(s, 400*ms, 10*ms, false, true)
		assert.NotEqual(t, Suspect, s.silent.route.State())
	})
	t.Run("not when the sibling fell silent too", func(t *testing.T) {
		s := start(t, 50*ms)
		s.silent.fill()
		run(s, 20*ms, 10*ms, true, true)
		run(s, 400*ms, 10*ms, false, true)
		assert.NotEqual(t, Suspect, s.silent.route.State())
	})
	t.Run("not for a sibling on another device", func(t *testing.T) {
		s := start(t, 50*ms)
		s.served = s.r.load("D2", "Q", "n1")
		s.silent.fill()
		run(s, 400*ms, 10*ms, true, true)
		assert.NotEqual(t, Suspect, s.silent.route.State())
	})
	t.Run("not while the poller does not run", func(t *testing.T) {
		s := start(t, 50*ms)
		s.silent.fill()
		run(s, 900*ms, 10*ms, true, false)
		assert.NotEqual(t, Suspect, s.silent.route.State())
	})
	t.Run("not with nothing out", func(t *testing.T) {
		s := start(t, 50*ms)
		run(s, 400*ms, 10*ms, true, true)
		assert.Equal(t, Healthy, s.silent.route.State())
	})
	t.Run("not while it delivers", func(t *testing.T) {
		s := start(t, 50*ms)
		s.silent.fill()
		for len(s.silent.out) > 0 {
			run(s, 40*ms, 10*ms, true, true)
			s.r.settle(s.silent.out[0], success)
			s.silent.out = s.silent.out[1:]
			assert.NotEqual(t, Suspect, s.silent.route.State())
		}
	})
	t.Run("not before four drain times", func(t *testing.T) {
		s := start(t, 50*ms)
		for range 2 {
			s.silent.fill()
			run(s, 40*ms, 10*ms, true, true)
			s.silent.drain(success)
			run(s, 100*ms, 10*ms, true, true)
		}
		s.silent.fill()
		run(s, 160*ms, 10*ms, true, true)
		assert.NotEqual(t, Suspect, s.silent.route.State(), "160 ms at a drain time of 40 ms")
		run(s, 20*ms, 10*ms, true, true)
		assert.Equal(t, Suspect, s.silent.route.State(), "180 ms")
	})
	t.Run("not for what an endpoint left that was replaced", func(t *testing.T) {
		s := start(t, 50*ms)
		s.silent.fill()
		s.silent.route.Renew(s.silent.gen, []QP{{ID: s.silent.qp, CQ: 1}})
		run(s, 400*ms, 10*ms, true, true)
		assert.Equal(t, Healthy, s.silent.route.State(), "neither silent nor under pressure")
		s.silent.drain(teardown)
		s.r.inFlight(s.silent.route, 0, 0)
	})
	t.Run("0 is off", func(t *testing.T) {
		s := start(t, 0)
		s.silent.fill()
		run(s, 400*ms, 10*ms, true, true)
		assert.NotEqual(t, Suspect, s.silent.route.State())
	})
	for _, tick := range []time.Duration{5 * ms, 20 * ms, 100 * ms} {
		t.Run(fmt.Sprintf("within two ticks of %s", tick), func(t *testing.T) {
			s := start(t, 100*ms)
			s.silent.fill()
			run(s, 100*ms+2*tick, tick, true, true)
			assert.Equal(t, Suspect, s.silent.route.State())
		})
	}
}
