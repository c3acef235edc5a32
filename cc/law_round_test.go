package cc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// roundBottleneck is a link whose senders go by LawRound at a target of 1 ms.
func roundBottleneck(t *testing.T, senders int, rate float64, path time.Duration, start int64) *bottleneck {
	return newBottleneck(t, senders, rate, path, func(c *Config) { c.Law, c.StartWindowBytes = LawRound, start })
}

// Who joins a standing queue believes that the path is that long, and gets no more than
// those who saw it empty, nor less.
func TestRoundLawIsFairToJoiners(t *testing.T) {
	for _, joiners := range []int{1, 7} {
		b := newBottleneck(t, 1, 12.5e9, 10*time.Microsecond, func(c *Config) {
			c.Law, c.StartWindowBytes, c.TargetDrain = LawRound, 64*kib, 100*time.Microsecond
		})
		b.run(100 * ms)
		b.join(joiners)
		b.run(50 * ms)
		b.run(50 * ms)
		squares := 0.0
		for _, s := range b.senders {
			squares += float64(s.sent) * float64(s.sent)
		}
		index := float64(b.sent) * float64(b.sent) / squares / float64(len(b.senders))
		assert.GreaterOrEqual(t, index, 0.95, "Jain's index of %d that join one", joiners)
	}
}

// Senders that begin at once on a slow link see at their first slice that there is no
// room for more.
func TestRampSeesFirstCongestion(t *testing.T) {
	b := roundBottleneck(t, 10, 0.05e9, 0, 64*kib)
	b.run(50 * ms) // a slice takes 1.3 ms
	for i, s := range b.senders {
		assert.Less(t, s.route.window.Load(), 2*sliceBytes, "the window of sender %d", i)
	}
	one := roundBottleneck(t, 1, 4e9, 200*time.Microsecond, 64*kib)
	one.run(2 * ms)
	assert.GreaterOrEqual(t, one.senders[0].route.window.Load(), 12*sliceBytes, "a path with room: it doubles")
}

// A window that is many times too large is cut as soon as the rate is known, long before
// what it let out is delivered.
func TestOverdueRoundIsNotWaitedFor(t *testing.T) {
	b := roundBottleneck(t, 1, 1e9, 0, 64*mib) // 67 ms of the link's time
	b.run(5 * ms)
	s := b.senders[0]
	require.Greater(t, s.route.InFlight(), 60*mib, "it is still out")
	assert.LessOrEqual(t, s.route.window.Load(), int64(1e6), "1 ms of the link's time")
	used, _ := b.run(500 * ms)
	assert.GreaterOrEqual(t, used, 0.99, "and one cut is all that comes of it")
}

// What counts is what is out, not what a large window would let out.
func TestOverdueRoundCountsWhatIsOut(t *testing.T) {
	r := tunedRig(t, Enforce, func(c *Config) {
		c.Law, c.TargetDrain = LawRound, ms
		c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = 64*mib, 64*mib, 64*mib
	})
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	out := make([]slice, 12)
	for i := range out {
		r.post(&out[i], route, gen, 64*kib, 1)
	}
	r.now += ms / 10
	r.settle(&out[0], success) // a round begins
	r.now += 2 * ms
	r.settle(&out[1], success)
	// 11 slices are out at one in 2 ms, so two thirds of a slice are out for three quarters
	// of 1 ms.
	assert.Equal(t, 64*kib, route.window.Load(), "the least there is")
}

// What an overdue round predicts is acted on above twice the mark only: below that the
// round is waited for.
func TestOverdueRoundBelowTwiceTheMark(t *testing.T) {
	for out, cut := range map[int]bool{8: false, 9: true} {
		r := tunedRig(t, Enforce, func(c *Config) { c.Law, c.TargetDrain = LawRound, ms })
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		slices := make([]slice, out)
		for i := range slices {
			r.post(&slices[i], route, gen, 64*kib, 1)
		}
		r.fast(route, gen) // a round begins, of all that are out
		r.now += 9 * ms / 10
		for i := range 3 {
			r.settle(&slices[i], success)
		}
		r.now += 7 * ms / 10
		r.settle(&slices[3], success) // after four, with that before the round: 2 ms for five, 2.4 ms for six
		assert.Equal(t, cut, route.window.Load() < mib, "of %d slices", out)
	}
}

// fast has a slice that is measured succeed in no time.
func (r *rig) fast(route *Route, gen Generation) {
	r.Helper()
	s := &slice{}
	s.permit.use = sampleEvery - 1
	r.post(s, route, gen, 64*kib, 1)
	r.settle(s, success)
}

// A round in which a slice was slow is the law's, also if the last one was fast.
func TestRoundOfSlowAndFastSlices(t *testing.T) {
	const window = 448 * kib // room for seven: all are measured
	r := tunedRig(t, Enforce, func(c *Config) { c.Law, c.TargetDrain, c.StartWindowBytes = LawRound, ms, window })
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var slow, other slice
	r.post(&slow, route, gen, 64*kib, 1)
	r.post(&other, route, gen, 64*kib, 1)
	r.fast(route, gen) // a round of three slices begins, with that one
	r.now += 9 * ms / 10
	r.settle(&slow, success)
	r.fast(route, gen)
	require.EqualValues(t, window, route.window.Load())
	r.fast(route, gen)
	assert.EqualValues(t, window-window/16, route.window.Load(), "0.3 ms in the mean: a sixteenth less")
	r.settle(&other, success)
}

// A dip goes on, and ends, while nobody is refused.
func TestDipEndsWithoutRefusals(t *testing.T) {
	r := tunedRig(t, Enforce, func(c *Config) { c.Law, c.TargetDrain = LawRound, ms })
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	r.fast(route, gen)
	m := route.meter.Load().rounds
	route.device.locked(func() { m.ramping = false; route.beginDip(m) })
	require.Equal(t, 64*kib, route.window.Load())
	r.fast(route, gen)
	require.Equal(t, 64*kib, route.window.Load())
	r.fast(route, gen)
	assert.Equal(t, mib, route.window.Load(), "after two rounds")
	r.fast(route, gen)
	assert.False(t, m.dipping.Load(), "after three")
	assert.Zero(t, m.dip.rounds)
}

// A path on which nobody is refused, and no delay shows a queue, is not emptied to see it
// empty; nor is one that is suspect.
func TestNoDipWithoutNeed(t *testing.T) {
	r := tunedRig(t, Enforce, func(c *Config) { c.Law, c.TargetDrain = LawRound, ms })
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	r.fast(route, gen)
	m := route.meter.Load().rounds
	for _, tt := range []struct {
		full    bool
		delay   time.Duration
		suspect bool
		dips    bool
	}{{delay: ms / 4}, {full: true, dips: true}, {delay: ms/4 + time.Microsecond, dips: true}, {full: true, suspect: true}} {
		route.device.locked(func() {
			m.ramping, m.dip = false, dip{due: true}
			route.health.early = tt.suspect
			route.reconsider(r.now, cause{})
			route.setLawWindow(mib)
		})
		m.dipping.Store(false)
		if tt.full {
			route.full.raise()
		}
		var s slice
		s.permit.use = sampleEvery - 1
		r.post(&s, route, gen, 64*kib, 1)
		r.now += tt.delay
		r.settle(&s, success)
		assert.Equal(t, tt.dips, m.dip.rounds > 0, "%+v", tt)
	}
}

// A pause is not taken for a link that is slow.
func TestPauseIsNotOverdue(t *testing.T) {
	r := tunedRig(t, Enforce, func(c *Config) { c.Law, c.TargetDrain = LawRound, ms })
	l := r.load("D1", "P", "n1")
	for range 5 {
		l.fill()
		l.now += 200 * time.Microsecond
		l.drain(success)
	}
	window := l.route.window.Load()
	require.Greater(t, window, mib)
	for range 5 {
		l.now += 100 * ms
		l.fill()
		l.now += 200 * time.Microsecond
		l.settle(l.out[0], success)
		l.out = l.out[1:]
		assert.GreaterOrEqual(t, l.route.window.Load(), window, "after a pause of 100 ms")
		l.drain(success)
	}
}

// While a window has room for few slices, all are measured; the others stand for eight.
func TestSmallWindowsAreSeenWhole(t *testing.T) {
	for _, tt := range []struct {
		slices int64 // that fit into the window
		full   bool
		seen   bool
	}{{1, false, true}, {7, false, true}, {8, false, false}, {7, true, true}, {8, true, false}} {
		r := tunedRig(t, Enforce, func(c *Config) {
			c.Law, c.TargetDrain = LawRound, ms
			c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes = tt.slices*64*kib, tt.slices*64*kib, tt.slices*64*kib
		})
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var s slice
		for range 16 { // two of which are measured at any rate
			if tt.full {
				route.full.raise()
			}
			r.post(&s, route, gen, 64*kib, 1)
			r.settle(&s, success)
		}
		before := route.meter.Load().bytes.Load()
		s.permit.use = 8 // the next is 9
		r.post(&s, route, gen, 64*kib, 1)
		r.now += 50 * time.Microsecond
		r.settle(&s, success)
		assert.Equal(t, tt.seen, route.meter.Load().bytes.Load() > before, "a window of %d slices, and somebody was refused: %t", tt.slices, tt.full)
	}
}
