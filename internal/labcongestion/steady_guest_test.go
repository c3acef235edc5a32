//go:build guest

package labcongestion

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
)

// What is offered shows in the drain time of the snapshots, and nothing is refused.
func TestGuestObserveShowsTheQueue(t *testing.T) {
	c := Comparison{Lab: openLab(t), Warm: 500 * time.Millisecond, Measure: time.Second, Progress: t.Logf}
	for _, n := range []int{2, 8, 32} {
		c.Arms = append(c.Arms, ObservedArm(n, seed))
	}
	require.NoError(t, c.Round())
	var before time.Duration
	for _, r := range c.Results() {
		s := r.Rounds[0]
		t.Logf("%s: drain %s in snapshots, %s from Posting to completion", r.Name, r.Drain(), r.Delay())
		assert.Greater(t, r.Drain(), 2*before, "drain time of four times the bytes, to twice the one before")
		assert.InEpsilon(t, r.Delay(), r.Drain(), 0.5, "the snapshot's drain time, by the time from Posting to completion")
		assert.Equal(t, r.Setup.Slices(r.Setup.Offered*r.Setup.Senders), s.Samples[len(s.Samples)-1].InFlightBytes, "bytes in flight in the last snapshot")
		before = r.Drain()
	}
}

// A law keeps the link as busy as the best static window does, and the queue at the
// target.
func TestGuestLawHoldsTheQueue(t *testing.T) {
	c := Comparison{Lab: openLab(t), Warm: time.Second, Measure: 1500 * time.Millisecond, Progress: t.Logf}
	law := LawArm(cc.LawEpoch, seed)
	c.Arms = append(c.Arms, law)
	for _, n := range []int{2, 4, 8, 16} {
		c.Arms = append(c.Arms, StaticArm(n, seed))
	}
	t.Logf("seed %d; %s", seed, law.Setup)
	target := law.Setup.Control.TargetDrain

	const enough, least, patience = 0.97, 2, 70 * time.Second
	share, began := 0.0, time.Now()
	for round := 1; round <= least || share < enough && time.Since(began) < patience; round++ {
		require.NoError(t, c.Round())
		best := 0.0
		for _, r := range c.Results()[1:] {
			best = max(best, r.BestGoodput())
		}
		share = c.Result(law.Name).BestGoodput() / max(best, 1e-9)
		t.Logf("after round %d: %.3f of the best static window's %.2f Mbit/s, median delay %s", round, share, best, c.Result(law.Name).Delay())
	}
	assert.GreaterOrEqual(t, share, enough, "share of the best static window's goodput, of runs that the machine did not stall for more than %.0f%%", 100*mostStalled)
	assert.LessOrEqual(t, c.Result(law.Name).Delay(), 2*target, "median time from Posting to completion at a target drain of %s", target)
	for _, r := range c.Results() {
		for _, s := range r.Rounds {
			assert.Zero(t, s.Counters.OutOfSequence, "packets behind a lost one: nothing is lost here, %s", r.Name)
		}
	}
}

// The rate of the link falls to a quarter and comes back: ten epochs later the queue is
// near the target and the link is busy again.
func TestGuestLawFollowsTheRate(t *testing.T) {
	lab := openLab(t)
	s := LawArm(cc.LawEpoch, seed).Setup
	epochs, target := 10*s.Control.Epoch, s.Control.TargetDrain
	const length = 2500 * time.Millisecond
	phases, err := Follow(lab, s, length, t.Logf, s.Mbit, s.Mbit/4, s.Mbit)
	require.NoError(t, err)
	full := phases[0].From(epochs)
	for _, p := range phases {
		late := p.From(epochs)
		t.Logf("from ten epochs after the change to %g Mbit/s: %.2f Mbit/s in %s; last above twice the target after %s", p.Mbit, late.GoodputMbit, late.MedianDelay, p.SettledAfter(2*target))
		assert.LessOrEqual(t, late.MedianDelay, 2*target, "median delay at %g Mbit/s, from ten epochs after the change", p.Mbit)
		assert.Zero(t, p.Counters.OutOfSequence, "packets behind a lost one: a change of the rate loses none")
		// At the slow rate windows are at their least, a slice, where Soft-RoCE sends
		// some twice for no reason: its timer runs on when nothing is in flight.
		share, least := late.GoodputMbit/full.GoodputMbit*s.Mbit/p.Mbit, 0.85
		if p.Mbit == s.Mbit {
			least = 0.95
		}
		assert.GreaterOrEqual(t, share, least, "share of the link at %g Mbit/s, by that of the first phase; the machine stalled for %.0f%%", p.Mbit, 100*p.StalledShare())
	}
}
