package main

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/rdmagate/rdmagate/bench/internal/chart"
)

// sliceTimes draws the distribution of the slice times of all seeds.
func (rep report) sliceTimes(r result) (*image, error) {
	sheet := chart.NewSheet(r.experiment.Name+", times of slices", 9*vg.Centimeter)
	p := chart.NewPlot("share of slices, %")
	for _, a := range r.arms {
		times := a.times()
		if len(times) == 0 || times[len(times)-1] == 0 {
			continue
		}
		var xy plotter.XYs
		for i, t := range times {
			if i%max(1, len(times)/mostPoints) == 0 || i == len(times)-1 {
				xy = append(xy, plotter.XY{X: float64(max(t, 1)) / float64(time.Microsecond), Y: 100 * float64(i+1) / float64(len(times))})
			}
		}
		l, err := rep.line(a.arm.Name, xy)
		if err != nil {
			return nil, err
		}
		p.Add(l)
		sheet.Legend.Add(a.arm.Name, l)
	}
	if math.IsInf(p.X.Max, -1) {
		return nil, nil
	}
	if p.X.Min == p.X.Max {
		p.X.Max *= 2
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, chart.OneTwoFive{}
	p.Y.Min, p.Y.Max = 0, 101
	sheet.Plots = []*plot.Plot{p}
	sheet.X, sheet.Note = "slice time, us (log)", rep.origin(rep.allSeeds(r))
	png, err := sheet.PNG()
	return &image{
		File: file(r, "times"), Title: r.experiment.Name + ", distribution of slice times", png: png,
		Caption: fmt.Sprintf("Slice times from post to completion, if the setup says nothing else: how many took no longer. At most a thousand quantiles a run. %s. %s.", rep.allSeeds(r), rep.machine),
	}, err
}
