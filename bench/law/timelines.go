package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/rdmagate/rdmagate/bench/internal/chart"
	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// mostPoints is how many points a line has at most.
const mostPoints = 300

// panel is one quantity over time, with a line for each arm.
type panel struct {
	name, unit string
	arms       []string
	series     []*fabriclab.Series
}

// panels sorts the series of all arms by name. Of flows that are numbered only the first
// two are drawn. What is nothing at all is left out.
func (r result) panels() (all []*panel) {
	for _, a := range r.arms {
		for _, s := range a.runs[0].Series {
			if numbered(s.Name) > 2 || !slices.ContainsFunc(s.Values, func(v float64) bool { return v != 0 }) {
				continue
			}
			i := slices.IndexFunc(all, func(p *panel) bool { return p.name == s.Name })
			if i < 0 {
				i = len(all)
				all = append(all, &panel{name: s.Name, unit: s.Unit})
			}
			all[i].arms = append(all[i].arms, a.arm.Name)
			all[i].series = append(all[i].series, s)
		}
	}
	return all
}

// numbered returns the number at the end of a name, or 0.
func numbered(name string) (n int) {
	if i := strings.LastIndex(name, " "); i >= 0 {
		if _, err := fmt.Sscanf(name[i:], " %d", &n); err != nil {
			return 0
		}
	}
	return n
}

// points are means of so many values that there are no more than mostPoints. They stand
// at the middle of their time.
func points(s *fabriclab.Series, unit time.Duration) (xy plotter.XYs, every time.Duration) {
	n := (len(s.Values) + mostPoints - 1) / mostPoints
	for i := 0; i < len(s.Values); i += n {
		part := s.Values[i:min(i+n, len(s.Values))]
		sum := 0.0
		for _, v := range part {
			sum += v
		}
		at := (float64(i) + float64(len(part))/2) * float64(s.Every)
		xy = append(xy, plotter.XY{X: at / float64(unit), Y: sum / float64(len(part))})
	}
	return xy, time.Duration(n) * s.Every
}

// timelines draws all quantities of the first seed over time.
func (rep report) timelines(r result) (*image, error) {
	panels := r.panels()
	if len(panels) == 0 {
		return nil, nil
	}
	var longest time.Duration
	for _, p := range panels {
		for _, s := range p.series {
			longest = max(longest, time.Duration(len(s.Values))*s.Every)
		}
	}
	unit, name := axis(longest)
	sheet := chart.NewSheet(r.experiment.Name+", over time", 4.6*vg.Centimeter)
	shown := map[string]bool{}
	dashed := ""
	for _, panel := range panels {
		var err error
		p := chart.NewPlot(strings.TrimSuffix(panel.name+", "+panel.unit, ", "))
		p.X.Min, p.X.Max = 0, float64(longest)/float64(unit)
		var means []float64
		least, most := math.Inf(1), 0.0
		var every time.Duration
		lines := map[string]plotter.XYs{}
		for i, s := range panel.series {
			lines[panel.arms[i]], every = points(s, unit)
			mean := 0.0
			for _, at := range lines[panel.arms[i]] {
				mean += at.Y / float64(len(lines[panel.arms[i]]))
				most = max(most, at.Y)
				if at.Y > 0 {
					least = min(least, at.Y)
				}
			}
			if mean > 0 {
				means = append(means, mean)
			}
		}
		// Bytes that differ by more than an order of magnitude want a logarithmic axis.
		log := strings.HasSuffix(panel.unit, "B") && slices.Max(means) > 12*slices.Min(means)
		if log {
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, chart.OneTwoFive{}
			p.Y.Min, p.Y.Max = max(least, slices.Min(means)/20), 1.5*most
			p.Title.Text += " (log)"
		} else {
			p.Y.Min, p.Y.Max = 0, 1.1*most
		}
		for _, arm := range panel.arms {
			xy := lines[arm]
			if log {
				xy = slices.DeleteFunc(xy, func(at plotter.XY) bool { return at.Y < p.Y.Min })
			}
			if len(xy) == 0 {
				continue
			}
			l, err := rep.line(arm, xy)
			if err != nil {
				return nil, err
			}
			if p.Add(l); !shown[arm] {
				shown[arm] = true
				sheet.Legend.Add(arm, l)
			}
		}
		p.Title.Text += fmt.Sprintf(", means of %v", every)
		if dashed, err = r.mark(p, unit); err != nil {
			return nil, err
		}
		sheet.Plots = append(sheet.Plots, p)
	}
	sheet.X, sheet.Note = name, dashed+rep.origin(rep.firstSeed())
	png, err := sheet.PNG()
	return &image{
		File: file(r, "time"), Title: r.experiment.Name + " over time", png: png,
		Caption: fmt.Sprintf("Over time; each panel names its interval. Lines that coincide hide each other. %s%s. %s.", dashed, rep.firstSeed(), rep.machine),
	}, err
}
