package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// interval is a mean with the limits between which it is with 95% confidence.
type interval struct{ Mean, Low, High float64 }

// trimmed is the share of rounds, and of sittings, that is left out at each end: the machine
// is not ours alone, and a round that it disturbed says nothing.
const trimmed = 0.2

// ratios compares an arm with another, round by round: the geometric mean of the ratios
// with its interval. Values are those of the rounds of each sitting. With several sittings
// each counts with its mean: processes that were started anew differ, and rounds of the same
// ones do not tell. It is false if there are less than two rounds, or if a value is
// not above 0.
func ratios(values, others [][]float64) (interval, bool) {
	var means, last []float64
	for i := range min(len(values), len(others)) {
		n := min(len(values[i]), len(others[i]))
		if n == 0 {
			continue
		}
		logs := make([]float64, n)
		for k := range n {
			if values[i][k] <= 0 || others[i][k] <= 0 {
				return interval{}, false
			}
			logs[k] = math.Log(values[i][k] / others[i][k])
		}
		m, _ := trimmedMean(logs)
		means, last = append(means, m), logs
	}
	if len(means) == 1 {
		means = last
	}
	if len(means) < 2 {
		return interval{}, false
	}
	m, half := trimmedMean(means)
	return interval{math.Exp(m), math.Exp(m - half), math.Exp(m + half)}, true
}

// trimmedMean returns the mean of what is left and half the length of its interval by
// Yuen.
func trimmedMean(list []float64) (mean, half float64) {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	cut := int(trimmed * float64(n))
	rest := sorted[cut : n-cut]
	for _, v := range rest {
		mean += v / float64(len(rest))
	}
	if len(rest) < 2 {
		return mean, math.Inf(1)
	}
	// The winsorized variance: what was left out counts as the outermost that was not.
	winsorized := slices.Clone(sorted)
	for i := range cut {
		winsorized[i], winsorized[n-1-i] = rest[0], rest[len(rest)-1]
	}
	middle, square := 0.0, 0.0
	for _, v := range winsorized {
		middle += v / float64(n)
	}
	for _, v := range winsorized {
		square += (v - middle) * (v - middle)
	}
	h := float64(len(rest))
	deviation := math.Sqrt(square / (h * (h - 1)))
	t := distuv.StudentsT{Sigma: 1, Nu: h - 1}.Quantile(0.975)
	return mean, t * deviation
}

// median returns the middle one, or the mean of the two that are; 0 if there are none.
func median(list []float64) float64 {
	n := len(list)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
