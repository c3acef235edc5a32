package cc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// roundRig has windows that the law alone moves: a target of 1 ms, no bound in reach.
func roundRig(t *testing.T) (*rig, *Route, Generation) {
	r := tunedRig(t, Enforce, func(c *Config) {
		c.Law, c.TargetDrain = LawRound, ms
		c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = 1, 16*mib, 64*mib, 64*mib
		c.ProbeWindowBytes, c.SuspectWindowBytes = 1, 1
	})
	route := r.route("D1", "P", "n1")
	return r, route, r.renew(route, 1)
}

// roundOf has so many slices of 64 KiB out, of which the first has just come and begun a
// round, and some more with it.
func roundOf(t *testing.T, slices, come int) (*rig, *Route, []slice) {
	r, route, gen := roundRig(t)
	out := make([]slice, slices)
	for i := range out {
		r.post(&out[i], route, gen, 64*kib, 1)
	}
	r.now += 100 * time.Microsecond
	for i := range come {
		r.settle(&out[i], success)
	}
	require.Equal(t, 16*mib, route.window.Load())
	return r, route, out[come:]
}

// A round is cut short when it has lasted for longer than the high mark and what is out
// will take more than twice that.
func TestWhenARoundIsCutShort(t *testing.T) {
	for name, tt := range map[string]struct {
		slices, come int
		after        time.Duration // in the round
		predicted    time.Duration // 0 if it is not cut
	}{
		"it lasts for the mark":        {4, 1, ms, 0},
		"it lasts for longer":          {4, 1, ms + 1, 3*ms + 3},
		"less than twice the mark":     {7, 3, 1200 * time.Microsecond, 0},
		"twice the mark":               {7, 3, 1500 * time.Microsecond, 0},
		"more than twice the mark":     {7, 3, 1500*time.Microsecond + 3, 2*ms + 4},
		"just below thrice the mark":   {7, 3, 2250*time.Microsecond - 3, 3*ms - 4},
		"it is not only what was seen": {16, 1, 4 * ms, 60 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			r, route, out := roundOf(t, tt.slices, tt.come)
			r.now += tt.after
			r.settle(&out[0], success)
			want := 16 * mib
			if tt.predicted > 0 {
				want = int64(0.75 * float64(int64(len(out))*64*kib) * float64(ms) / float64(tt.predicted))
			}
			assert.Equal(t, want, route.window.Load())
		})
	}
}

// A dip is counted by rounds that are complete.
func TestDipIsNotCutShort(t *testing.T) {
	for rounds := range 4 {
		r, route, out := roundOf(t, 4, 1)
		s := route.meter.Load().rounds
		s.dip = dip{rounds: rounds, window: 16 * mib}
		r.now += 2 * ms
		r.settle(&out[0], success)
		assert.Equal(t, rounds, s.dip.rounds)
		assert.Equal(t, rounds == 0, route.window.Load() < mib, "%d rounds are left", rounds)
	}
}

// A cut shows in what is posted from then on, and what was posted before says nothing.
func TestRoundAfterACut(t *testing.T) {
	r, route, out := roundOf(t, 16, 1)
	s := route.meter.Load().rounds
	r.now += 2 * ms
	delivered := route.flight.delivered()
	r.settle(&out[0], success)
	window := route.window.Load()
	require.Less(t, window, mib)
	assert.EqualValues(t, r.now, s.cutAt.Load())
	assert.EqualValues(t, r.now, s.began.Load())
	assert.Equal(t, delivered, s.from.Load())
	for _, sum := range []uint64{s.bytes.Load(), s.delay.Load(), s.base.Load()} {
		assert.Zero(t, sum, "a round begins with nothing")
	}
	r.now += 5 * ms
	r.settle(&out[1], success)
	assert.Equal(t, window, route.window.Load(), "the round took far too long, of which nothing is known yet")

	cut := r.now
	s.cutAt.Store(int64(cut))
	r.now += ms / 2
	for _, tt := range []struct {
		posted time.Duration
		want   uint64
	}{{cut - 1, 0}, {cut, 64 << 10}, {cut + 1, 64 << 10}} {
		s.bytes.Store(0)
		p := &Permit{bytes: 64 * kib, postedAt: tt.posted}
		route.roundSample(route.meter.Load(), p, uint64(p.bytes), 500, 100, r.now)
		assert.Equal(t, tt.want, s.bytes.Load(), "posted %s after the cut", tt.posted-cut)
	}
}

// Delays up to the high mark are no reason for a cut; above it a round of one byte is one.
func TestWhatIsCutAfterARound(t *testing.T) {
	r, route, gen := roundRig(t)
	var s slice
	send := func(n int64, took time.Duration) {
		r.post(&s, route, gen, n, 1)
		r.now += took
		r.settle(&s, success)
	}
	send(64*kib, 100*time.Microsecond) // so long is the path
	send(64*kib, ms)
	assert.Equal(t, 15*mib, route.window.Load(), "some queue: a sixteenth less")
	assert.Zero(t, route.meter.Load().rounds.cutAt.Load())
	send(1, 100*time.Microsecond)
	send(1, 3*ms)
	assert.Equal(t, 15*mib/4, route.window.Load(), "three quarters of a third, for a byte")
	assert.EqualValues(t, r.now, route.meter.Load().rounds.cutAt.Load())
}

// What is out takes its time at the rate of the round, in which a byte came at least,
// and no more than a minute.
func TestRemaining(t *testing.T) {
	for name, tt := range map[string]struct {
		took           time.Duration
		out, delivered int64
		want           time.Duration
	}{
		"one of four came":     {ms, 3, 1, 3 * ms},
		"two of eight":         {ms, 6, 2, 3 * ms},
		"all but one":          {3 * ms, 1, 3, ms},
		"all":                  {ms, 0, 3, 0},
		"nothing":              {ms, 3, 0, 3 * ms},
		"less than a minute":   {30*time.Second - 1, 2, 1, time.Minute - 2},
		"more than a minute":   {30*time.Second + 1, 2, 1, time.Minute},
		"more than a lifetime": {time.Hour, 1 << 60, 1, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r, route, _ := roundRig(t)
			const before = 1000
			route.flight.directAcquired.Store(units(before + tt.delivered + tt.out))
			route.flight.directSettled.Store(units(before + tt.delivered))
			s := &rounds{}
			s.from.Store(before)
			s.began.Store(int64(r.now))
			assert.Equal(t, tt.want, route.remaining(s, r.now+tt.took))
		})
	}
}
