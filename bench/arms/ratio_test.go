package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRatios(t *testing.T) {
	i, ok := ratios([][]float64{{20, 30, 50}}, [][]float64{{10, 15, 25}})
	require.True(t, ok)
	assert.InDelta(t, 2, i.Mean, 1e-12)
	assert.InDelta(t, 2, i.Low, 1e-9, "rounds that agree leave no doubt")
	assert.InDelta(t, 2, i.High, 1e-9)

	_, ok = ratios([][]float64{{1}}, [][]float64{{1}})
	assert.False(t, ok, "one round says nothing of another")
	_, ok = ratios([][]float64{{1, 0}}, [][]float64{{1, 1}})
	assert.False(t, ok, "nothing has no ratio")
	_, ok = ratios(nil, [][]float64{{1, 1}})
	assert.False(t, ok)
}

// By hand: mean 2, deviation 1, n 3: 4.303 / sqrt 3 = 2.484.
func TestTrimmedMeanOfFew(t *testing.T) {
	mean, half := trimmedMean([]float64{1, 2, 3})
	assert.InDelta(t, 2, mean, 1e-12)
	assert.InDelta(t, 2.484, half, 1e-3)
}

// By hand, of ten: 3 to 8 are left; winsorized 3 3 3 4 5 6 7 8 8 8 with squares of 42.5
// around 5.5; sqrt(42.5 / (6 * 5)) = 1.190; t of 5 is 2.571.
func TestTrimmedMeanLeavesTheOutermostOut(t *testing.T) {
	mean, half := trimmedMean([]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1})
	assert.InDelta(t, 5.5, mean, 1e-12)
	assert.InDelta(t, 3.060, half, 1e-3)
	far, _ := trimmedMean([]float64{1e9, 9, 8, 7, 6, 5, 4, 3, 2, -1e9})
	assert.InDelta(t, mean, far, 1e-12, "a round that was disturbed says nothing")
}

// The true ratio is in about 95 of 100 intervals, with disturbed rounds too.
func TestIntervalsHoldTheTruth(t *testing.T) {
	const seed, runs, rounds, truth = 7, 2000, 12, 0.98
	random := rand.New(rand.NewPCG(seed, 0))
	noise := func() float64 {
		v := math.Exp(0.05 * random.NormFloat64())
		if random.Float64() < 0.05 {
			v *= 0.5
		}
		return v
	}
	held := 0
	for range runs {
		var a, b []float64
		for range rounds {
			machine := noise()
			a, b = append(a, truth*machine*noise()), append(b, machine*noise())
		}
		i, ok := ratios([][]float64{a}, [][]float64{b})
		require.True(t, ok)
		if i.Low <= truth && truth <= i.High {
			held++
		}
	}
	assert.InDelta(t, 0.95, float64(held)/runs, 0.02, "share of intervals with the true ratio, seed %d", seed)
}

func TestMedian(t *testing.T) {
	assert.Zero(t, median(nil))
	assert.Equal(t, 2.0, median([]float64{9, 1, 2}))
	assert.Equal(t, 2.5, median([]float64{3, 1, 2, 9}))
}

func TestJudge(t *testing.T) {
	least := goal{Value: 0.99}
	most := goal{Value: 0.2, AtMost: true}
	same := goal{Value: 1, Same: true}
	for _, c := range []struct {
		g    goal
		i    interval
		want verdict
	}{
		{least, interval{1, 0.99, 1.01}, met},
		{least, interval{1, 0.98, 1.02}, open},
		{least, interval{0.985, 0.98, 0.989}, missed},
		{most, interval{0.1, 0.05, 0.2}, met},
		{most, interval{0.1, 0.05, 0.3}, open},
		{most, interval{0.3, 0.21, 0.4}, missed},
		{same, interval{0.9, 0.8, 1.01}, met},
		{same, interval{0.9, 0.8, 0.99}, missed},
		{same, interval{1.1, 1.01, 1.2}, missed},
	} {
		assert.Equal(t, c.want, c.g.judge(c.i), "%v of %v", c.g, c.i)
	}
}

// Processes that were started anew differ more than their rounds do: the interval is that of
// the sittings.
func TestSittingsCount(t *testing.T) {
	ones := []float64{1, 1, 1, 1}
	i, ok := ratios([][]float64{{1, 1, 1, 1}, {4, 4, 4, 4}}, [][]float64{ones, ones})
	require.True(t, ok)
	assert.InDelta(t, 2, i.Mean, 1e-12)
	assert.Greater(t, i.High, 100.0, "two sittings say little")
	one, ok := ratios([][]float64{{1, 1, 4, 4}}, [][]float64{ones})
	require.True(t, ok)
	assert.Less(t, one.High, i.High)
	_, ok = ratios([][]float64{{2, 2}, nil}, [][]float64{{1, 1}, nil})
	assert.True(t, ok, "a sitting without rounds does not count")
}
