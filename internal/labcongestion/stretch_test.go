package labcongestion

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
)

const msec = time.Millisecond

// second is a stretch of a second in which two senders land a slice of 1000 bytes
// every 10 ms, each after 5 ms.
func second() Stretch {
	s := Stretch{Took: time.Second, began: time.Hour, setup: Setup{Senders: 2, SliceBytes: 1000}}
	for at := 10 * msec; at <= time.Second; at += 10 * msec {
		s.landed = append(s.landed, landing{at: s.began + at, delay: 5 * msec})
	}
	s.Samples = []Sample{{At: 300 * msec, Drain: 4 * msec}, {At: 600 * msec, Drain: 6 * msec}, {At: 900 * msec}}
	s.summarize()
	return s
}

func TestStretchFigures(t *testing.T) {
	s := second()
	assert.InDelta(t, 0.8, s.GoodputMbit, 1e-9, "100 slices of 8000 bits in a second")
	assert.Equal(t, 5*msec, s.MedianDelay)
	assert.Equal(t, 5*msec, s.MeanDelay)
	assert.Equal(t, 5*msec, s.P99Delay)
	s.landed[0].delay, s.landed[1].delay = 70*msec, 90*msec
	s.summarize()
	assert.Equal(t, 90*msec, s.P99Delay, "the 99th of 100, counted from 0")
	assert.Equal(t, 6*msec, s.MedianDrain(), "of the samples that show one")

	late := s.From(500 * msec)
	assert.Equal(t, 51, late.Slices)
	assert.Equal(t, 500*msec, late.Took)
	require.Len(t, late.Samples, 2)
	assert.Equal(t, 100*msec, late.Samples[0].At, "times count from the part's beginning")

	joined := Timeline(s, late)
	assert.Equal(t, 1100*msec, joined[3].At)
}

// A stall of half the senders is half of its length, and what is found after it does
// not count.
func TestStretchLeavesStallsOut(t *testing.T) {
	s := second()
	assert.False(t, s.lookedAgain(s.began, s.began+stallGap))
	require.True(t, s.lookedAgain(s.began+100*msec, s.began+300*msec))
	for i := 10; i < 20; i++ {
		s.landed[i].void = true
	}
	s.summarize()
	assert.Equal(t, 100*msec, s.Stalled)
	assert.InDelta(t, 0.1, s.StalledShare(), 1e-9)
	assert.Equal(t, 90, s.Slices)
	assert.InDelta(t, 0.8, s.GoodputMbit, 1e-9)

	part := s.From(200 * msec)
	assert.Equal(t, 50*msec, part.Stalled, "of the stall that reaches into it")
}

func TestCalmest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		shares []float64
		want   float64
		runs   int
	}{
		{"calm at once", []float64{0.1}, 0.1, 1},
		{"calm at last", []float64{0.9, 0.2, 0.0}, 0, 3},
		{"never calm", []float64{0.9, 0.3, 0.5}, 0.3, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runs := 0
			got, err := calmest(
				func() (float64, error) { runs++; return tt.shares[runs-1], nil },
				func(share float64) float64 { return share },
				func(float64) {})
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.runs, runs)
		})
	}
	_, err := calmest(func() (int, error) { return 0, assert.AnError }, nil, nil)
	assert.ErrorIs(t, err, assert.AnError)
}

func TestBestGoodputIsOfCalmRounds(t *testing.T) {
	r := Result{Rounds: []Stretch{
		{Took: time.Second, GoodputMbit: 7},
		{Took: time.Second, GoodputMbit: 9},
		{Took: time.Second, GoodputMbit: 20, Stalled: 500 * msec},
	}}
	assert.Equal(t, 9.0, r.BestGoodput())
	assert.Equal(t, 9.0, r.Goodput(), "the median of all")
}

func TestSettledAfter(t *testing.T) {
	p := Phase{Stretch: Stretch{Samples: []Sample{
		{At: 1, MedianDelay: 10 * msec}, {At: 2, MedianDelay: 30 * msec}, {At: 3, MedianDelay: 20 * msec},
	}}}
	assert.Equal(t, time.Duration(2), p.SettledAfter(20*msec))
	assert.Zero(t, p.SettledAfter(30*msec), "never above")
}

func TestSetupCheck(t *testing.T) {
	good := SteadySetup(cc.Enforce, cc.LawRound, 1)
	require.NoError(t, good.check(4))
	require.NoError(t, good.Control.Validate())
	require.NoError(t, IncastSetup(40, cc.Enforce, cc.LawEpoch, 1).Control.Validate())
	assert.ErrorContains(t, good.check(2), "4 senders in a guest with 2 NICs a side", "says how to boot the guest")
	bad := good
	bad.Offered = maxOffered + 1
	assert.ErrorContains(t, bad.check(4), "64 slices")

	static := good.WithStaticWindow(3)
	assert.True(t, static.Static())
	assert.Equal(t, int64(12<<10), static.Control.StartWindowBytes)
	assert.Contains(t, static.Policy(), "static window 12 KiB")
	assert.Contains(t, good.String(), "law round, window 4 / 8 / 65536 KiB")
}

func TestCalm(t *testing.T) {
	round := func(stalled time.Duration) Stretch { return Stretch{Took: time.Second, Stalled: stalled} }
	assert.True(t, Result{Rounds: []Stretch{round(0), round(150 * msec), round(900 * msec)}}.Calm(), "most rounds were calm")
	assert.False(t, Result{Rounds: []Stretch{round(0), round(151 * msec), round(900 * msec)}}.Calm())
}
