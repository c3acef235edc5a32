package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/rdmagate/rdmagate/bench/internal/chart"
)

// grown are the figures that are drawn against the number in an experiment's name.
var grown = map[string][]string{
	"victim": {"slowdown of 5 MB", "slowdown of 1 MB"},
	"fanin":  {"posted beyond BDP", "in the fabric"},
}

// number splits a name such as victim/64.
func (r result) number() (group string, n int) {
	group, last, _ := strings.Cut(r.experiment.Name, "/")
	n, err := strconv.Atoi(last)
	if err != nil {
		return group, 0
	}
	return group, n
}

// growth draws figures of a group's experiments against their numbers, with the last of
// them.
func (rep report) growth(r result) (*image, error) {
	group, _ := r.number()
	figures := grown[group]
	var all []result
	for _, other := range rep.results {
		if g, n := other.number(); g == group && n > 0 {
			all = append(all, other)
		}
	}
	if len(figures) == 0 || len(all) < 2 || all[len(all)-1].experiment.Name != r.experiment.Name {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b result) int {
		_, x := a.number()
		_, y := b.number()
		return cmp.Compare(x, y)
	})
	sheet := chart.NewSheet(group+", by the number of senders", 7*vg.Centimeter)
	for i, figure := range figures {
		unit := ""
		for _, f := range r.experiment.Figures {
			if f.Name == figure {
				unit = f.Unit
			}
		}
		p := chart.NewPlot(figure + ", " + unit + " (log)")
		for k, a := range r.arms {
			var xy plotter.XYs
			var bars plotter.YErrors
			for _, other := range all {
				_, n := other.number()
				for _, b := range other.arms {
					if s, ok := b.spread(figure); ok && b.arm.Name == a.arm.Name && s.least > 0 {
						// A little to the side, so that bars can be told apart.
						x := float64(n) * math.Pow(1.025, float64(k)-float64(len(r.arms)-1)/2)
						xy = append(xy, plotter.XY{X: x, Y: s.median})
						bars = append(bars, struct{ Low, High float64 }{s.median - s.least, s.most - s.median})
					}
				}
			}
			if len(xy) == 0 {
				continue
			}
			l, err := rep.line(a.arm.Name, xy)
			if err != nil {
				return nil, err
			}
			e, err := plotter.NewYErrorBars(struct {
				plotter.XYs
				plotter.YErrors
			}{xy, bars})
			if err != nil {
				return nil, err
			}
			e.Color = l.Color
			p.Add(l, e)
			if i == 0 {
				sheet.Legend.Add(a.arm.Name, l)
			}
		}
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.Y.Tick.Marker = chart.OneTwoFive{}
		if p.Y.Max < 1.3*p.Y.Min {
			p.Y.Min, p.Y.Max = p.Y.Min/1.1, p.Y.Max*1.1
		}
		var at numbers
		for _, other := range all {
			_, n := other.number()
			at = append(at, n)
		}
		p.X.Tick.Marker = at
		sheet.Plots = append(sheet.Plots, p)
	}
	sheet.X, sheet.Note = "senders (log)", rep.origin(rep.allSeeds(r))
	png, err := sheet.PNG()
	return &image{
		File: group + "-growth.png", Title: sheet.Title, png: png,
		Caption: fmt.Sprintf("Medians by the number of senders; bars are the least and the most, moved a little aside to be told apart. %s. %s.", rep.allSeeds(r), rep.machine),
	}, err
}

// numbers marks some numbers.
type numbers []int

// Ticks implements plot.Ticker.
func (n numbers) Ticks(_, _ float64) (ticks []plot.Tick) {
	for _, v := range n {
		ticks = append(ticks, plot.Tick{Value: float64(v), Label: strconv.Itoa(v)})
	}
	return ticks
}
