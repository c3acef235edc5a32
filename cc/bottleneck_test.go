package cc

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bottleneck is a link with a queue in fake time: slices leave it one after the
// other at its rate, and complete a path's delay later. Its senders always have
// more to send, and tick every 10 ms.
type bottleneck struct {
	*rig
	rate    float64 // bytes a second
	path    time.Duration
	free    time.Duration // when the link has sent all it was given
	senders []*sender
	queue   []*flying // in the order of completion
	sent    int64
	delays  []time.Duration
	tick    time.Duration
}

type sender struct {
	route *Route
	gen   Generation
	qp    uint64
	idle  []*flying
	sent  int64 // in the latest run
}

type flying struct {
	slice
	from   *sender
	posted time.Duration
	done   time.Duration
}

const sliceBytes = 64 * kib

func newBottleneck(t *testing.T, senders int, rate float64, path time.Duration, change func(*Config)) *bottleneck {
	b := &bottleneck{rate: rate, path: path}
	b.rig = tunedRig(t, Enforce, func(c *Config) {
		c.TargetDrain = ms
		c.StartWindowBytes, c.MaxWindowBytes, c.DeviceWindowBytes = 256*kib, 64*mib, 64*mib
		change(c)
	})
	b.join(senders)
	b.tick = b.now
	return b
}

// join adds senders, with routes that are new.
func (b *bottleneck) join(n int) {
	for range n {
		s := &sender{route: b.route("D1", fmt.Sprintf("P%d", len(b.senders)), "n1"), qp: uint64(len(b.senders) + 1)}
		s.gen = b.renew(s.route, s.qp)
		b.senders = append(b.senders, s)
	}
}

// run lets the senders send for a while, and returns the share of the link's rate
// that they used and the median time from post to completion.
func (b *bottleneck) run(d time.Duration) (used float64, median time.Duration) {
	began, end := b.now, b.now+d
	b.sent, b.delays = 0, b.delays[:0]
	for _, s := range b.senders {
		s.sent = 0
	}
	for {
		for _, s := range b.senders {
			b.fill(s)
		}
		require.NotEmpty(b.TB, b.queue, "a window always lets one slice through")
		next := b.queue[0]
		for ; b.tick <= min(next.done, end); b.tick += 10 * ms {
			b.now = max(b.now, b.tick)
			b.ctl.Tick(b.now)
		}
		if next.done > end {
			break
		}
		b.now = next.done
		b.queue = b.queue[1:]
		b.settle(&next.slice, success)
		next.from.idle = append(next.from.idle, next)
		b.sent += sliceBytes
		next.from.sent += sliceBytes
		b.delays = append(b.delays, b.now-next.posted)
	}
	b.now = end
	slices.SortFunc(b.delays, cmp.Compare)
	return float64(b.sent) / b.rate / (end - began).Seconds(), b.delays[len(b.delays)/2]
}

// fill posts what the window lets through.
func (b *bottleneck) fill(s *sender) {
	for {
		if len(s.idle) == 0 {
			s.idle = append(s.idle, &flying{from: s})
		}
		f := s.idle[len(s.idle)-1]
		d := s.route.TryAcquire(&f.permit, s.gen, sliceBytes, nil)
		if !d.Admitted() {
			return
		}
		s.idle = s.idle[:len(s.idle)-1]
		require.NoError(b.TB, f.permit.Posting(s.qp, b.now))
		f.use, f.posted = d.Use, b.now
		b.free = max(b.free, b.now) + time.Duration(float64(sliceBytes)/b.rate*float64(time.Second))
		f.done = b.free + b.path
		b.queue = append(b.queue, f)
	}
}

// Either law holds the queue near the target with the link busy, and follows a rate
// that changes.
func TestLawsHoldTheQueue(t *testing.T) {
	const gb = 1e9
	const phase = 1200 * ms
	for _, tt := range []struct {
		law     Law
		senders int
		path    time.Duration
		used    float64
	}{
		{LawEpoch, 1, 0, 0.97}, {LawEpoch, 4, 0, 0.97}, {LawEpoch, 1, 200 * time.Microsecond, 0.97},
		{LawRound, 1, 0, 0.97}, {LawRound, 4, 0, 0.97}, {LawRound, 1, ms, 0.97},
	} {
		t.Run(fmt.Sprintf("%s, %d senders, path of %s", tt.law, tt.senders, tt.path), func(t *testing.T) {
			b := newBottleneck(t, tt.senders, gb, tt.path, func(c *Config) { c.Law = tt.law })
			for _, rate := range []float64{gb, gb / 2, gb * 3 / 2} {
				b.rate = rate
				b.run(phase) // to get there
				used, median := b.run(phase)
				base := time.Duration(0)
				if tt.law == LawRound {
					base = tt.path
				}
				t.Logf("%.1f GB/s: %.3f used, median delay %s", rate/gb, used, median)
				assert.GreaterOrEqual(t, used, tt.used, "share of the link's %.1f GB/s that is used", rate/gb)
				assert.LessOrEqual(t, median-base, 2*ms, "median of the queue's delay at a target of 1 ms and %.1f GB/s", rate/gb)
			}
		})
	}
}

// Without windows the queue is what the senders offer: the simulation shows the
// trouble that the laws end.
func TestObserveShowsTheQueue(t *testing.T) {
	b := newBottleneck(t, 1, 1e9, 0, func(c *Config) {
		c.MinWindowBytes, c.StartWindowBytes, c.ProbeWindowBytes = 64*mib, 64*mib, 64*mib
	})
	_, median := b.run(time.Second)
	assert.Greater(t, median, 50*ms)
	assert.Equal(t, Congested, b.senders[0].route.State())
}

// LawRound reacts within rounds, not epochs: a rate that falls is followed within a
// few tens of rounds.
func TestRoundLawIsQuick(t *testing.T) {
	b := newBottleneck(t, 1, 4e9, 0, func(c *Config) { c.Law = LawRound })
	b.run(time.Second)
	b.rate = 0.5e9
	b.run(90 * ms)
	_, median := b.run(90 * ms)
	assert.LessOrEqual(t, median, 2*ms, "90 ms after the rate fell to an eighth")
}

// The queue that a law keeps is never learnt as the path's own delay.
func TestBaseDelayDoesNotDrift(t *testing.T) {
	for _, senders := range []int{1, 3} {
		b := newBottleneck(t, senders, 0.2e9, 5*ms, func(c *Config) { c.Law = LawRound })
		b.run(30 * time.Second)
		used, median := b.run(5 * time.Second)
		assert.GreaterOrEqual(t, used, 0.97, "share of the link that is used, with %d senders", senders)
		assert.LessOrEqual(t, median, 7*ms, "median delay on a path of 5 ms at a target of 1 ms, after 30 s with %d senders", senders)
		assert.GreaterOrEqual(t, median, 5*ms)

		b.path = time.Millisecond // a shorter path is seen at once, a longer one in time
		_, median = b.run(5 * time.Second)
		assert.LessOrEqual(t, median, 3*ms, "the path became shorter")
		b.path = 8 * ms
		b.run(20 * time.Second)
		used, _ = b.run(5 * time.Second)
		// The device's window may rest a little below what the path would carry now:
		// between half the target and the target it does not grow.
		assert.GreaterOrEqual(t, used, 0.9, "the path became longer")
	}
}
