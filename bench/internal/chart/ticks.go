package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// Round marks five to twelve round numbers of a linear axis.
type Round struct{}

// Ticks implements plot.Ticker.
func (Round) Ticks(least, most float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((most-least)/5)))
	for _, factor := range []float64{5, 2} {
		if (most-least)/(step*factor) >= 5 {
			step *= factor
			break
		}
	}
	for i := math.Ceil(least / step); i*step <= most*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: label(i * step)})
	}
	return ticks
}

// OneTwoFive marks 1, 2, 5, 10 and so on of a logarithmic axis, or only the powers of ten
// if there are many.
type OneTwoFive struct{}

// Ticks implements plot.Ticker.
func (OneTwoFive) Ticks(least, most float64) (ticks []plot.Tick) {
	digits := []float64{1, 2, 5}
	if most > 100*least {
		digits = digits[:1]
	}
	for power := math.Pow(10, math.Floor(math.Log10(least))); power <= most; power *= 10 {
		for _, digit := range digits {
			if v := digit * power; v >= least && v <= most {
				ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
			}
		}
	}
	return ticks
}

// label writes a round number in full.
func label(v float64) string { return strconv.FormatFloat(v, 'f', -1, 32) }

// Names marks 0, 1, 2 with names.
type Names []string

// Ticks implements plot.Ticker.
func (n Names) Ticks(_, _ float64) (ticks []plot.Tick) {
	for i, name := range n {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}
