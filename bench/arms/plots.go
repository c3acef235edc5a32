package main

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rdmagate/rdmagate/bench/internal/chart"
)

// place is that of an arm among all, for its style.
func place(name string) int {
	return max(0, slices.IndexFunc(append(arms[:len(arms):len(arms)], again), func(a arm) bool { return a.Name == name }))
}

// overTime draws the quantities of the first round over time: a panel for each with all
// arms, or where there is only one, a panel for each arm.
func (rep report) overTime(r result) (*image, error) {
	names := r.quantities()
	if len(names) == 0 {
		return nil, nil
	}
	title := r.Step.Name + ", over time"
	sheet := chart.NewSheet(title, 4.6*vg.Centimeter)
	panels := make([][]armResult, len(names)) // arms by panel
	for i := range panels {
		panels[i] = r.Arms
	}
	if len(names) == 1 {
		panels = nil
		for _, a := range r.Arms {
			panels = append(panels, []armResult{a})
			names = append(names, names[0])
		}
	}
	shown := map[string]bool{}
	until, most := 0.0, 0.0
	for i, list := range panels {
		p, err := lines(names[i], list, sheet, shown)
		if err != nil {
			return nil, err
		}
		until, most = max(until, p.X.Max), max(most, p.Y.Max)
		sheet.Plots = append(sheet.Plots, p)
	}
	for i, p := range sheet.Plots {
		p.X.Min, p.X.Max = 0, until
		if len(panels[i]) == 1 {
			p.Y.Max = most
		}
		if err := dash(p, panels[i][0].Marks); err != nil {
			return nil, err
		}
	}
	sheet.X, sheet.Note = "s", rep.origin()
	png, err := sheet.PNG()
	return &image{
		File: strings.ReplaceAll(r.Step.Name, "/", "-") + ".png", Title: title, png: png,
		Caption: "The first round of each arm. " + explain(r) + rep.origin() + ".",
	}, err
}

// explain says what the lines do not.
func explain(r result) string {
	text := ""
	if r.Step.Incast != nil {
		text = "Observe computes windows that nobody has to keep. "
	}
	for i, m := range r.Arms[0].Marks {
		text += []string{"Dashed: ", ", "}[min(i, 1)] + m.Text
	}
	if len(r.Arms[0].Marks) > 0 {
		text += ". "
	}
	return text
}

// quantities are the names of what is known over time.
func (r result) quantities() (names []string) {
	for _, a := range r.Arms {
		for _, s := range a.Series {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// lines draws a quantity of some arms.
func lines(name string, list []armResult, sheet *chart.Sheet, shown map[string]bool) (*plot.Plot, error) {
	p := chart.NewPlot(name)
	if len(list) == 1 {
		p.Title.Text = list[0].Arm + ": " + name
	}
	unit := ""
	for _, a := range list {
		for _, s := range a.Series {
			if s.Name != name || len(s.At) == 0 {
				continue
			}
			unit = s.Unit
			xy := make(plotter.XYs, len(s.At))
			for i, at := range s.At {
				xy[i] = plotter.XY{X: at.Seconds(), Y: s.Values[i]}
			}
			l, err := chart.Line(place(a.Arm), xy)
			if err != nil {
				return nil, err
			}
			if p.Add(l); !shown[a.Arm] {
				shown[a.Arm] = true
				sheet.Legend.Add(a.Arm, l)
			}
		}
	}
	p.Title.Text += ", " + unit
	if unit == "KiB" && p.Y.Min > 0 {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, chart.OneTwoFive{}
		p.Title.Text += " (log)"
	} else {
		p.Y.Min, p.Y.Max = 0, 1.05*max(p.Y.Max, 1)
	}
	return p, nil
}

// dash draws when something was done to the fabric.
func dash(p *plot.Plot, marks []mark) error {
	for _, m := range marks {
		l, err := plotter.NewLine(plotter.XYs{{X: m.At.Seconds(), Y: p.Y.Min}, {X: m.At.Seconds(), Y: p.Y.Max}})
		if err != nil {
			return err
		}
		l.Width, l.Dashes = 1.5, []vg.Length{4, 3}
		p.Add(l)
	}
	return nil
}

// widest is how far from 1 ratios are drawn.
const widest = 0.25

// overview draws the throughput of the healthy fabric, as ratios with their intervals.
func (rep report) overview() (*image, error) {
	var steps []result
	for _, r := range rep.Results {
		if r.Step.Bulk != nil && r.Rounds > 1 {
			steps = append(steps, r)
		}
	}
	if len(steps) == 0 {
		return nil, nil
	}
	steps = append(steps, rep.together()...)
	sheet := chart.NewSheet("Throughput of a healthy fabric, by that of the arm that is compiled out", vg.Length(3+len(steps))*1.4*vg.Centimeter)
	p := chart.NewPlot("ratio of the same round, mean and interval of 95%")
	var labels []string
	for i, r := range steps {
		labels = append(labels, r.Step.Name)
		for _, a := range r.Arms[1:] {
			ratio, ok := ratios(a.Figures[throughput], r.Arms[0].Figures[throughput])
			if !ok {
				continue
			}
			// A little above each other, so that they can be told apart.
			y := float64(len(steps)-1-i) + 0.15*(2.5-float64(place(a.Arm)))
			l, err := chart.Line(place(a.Arm), plotter.XYs{{X: ratio.Low, Y: y}, {X: ratio.High, Y: y}})
			if err != nil {
				return nil, err
			}
			dot, err := plotter.NewScatter(plotter.XYs{{X: ratio.Mean, Y: y}})
			if err != nil {
				return nil, err
			}
			dot.Color, dot.Radius, dot.Shape = l.Color, vg.Points(3.5), draw.CircleGlyph{}
			if p.Add(l, dot); i == 0 {
				sheet.Legend.Add(a.Arm, l)
			}
		}
	}
	slices.Reverse(labels)
	p.Y.Tick.Marker, p.Y.Min, p.Y.Max = chart.Names(labels), -0.6, float64(len(labels))-0.4
	for _, goal := range []float64{leastEnforce, leastOff, 1} {
		l, err := plotter.NewLine(plotter.XYs{{X: goal, Y: p.Y.Min}, {X: goal, Y: p.Y.Max}})
		if err != nil {
			return nil, err
		}
		l.Dashes = []vg.Length{4, 3}
		p.Add(l)
	}
	p.X.Min, p.X.Max = max(p.X.Min, 1-widest), min(p.X.Max, 1+widest)
	sheet.Plots = []*plot.Plot{p}
	sheet.X, sheet.Note = "ratio", rep.origin()
	png, err := sheet.PNG()
	return &image{
		File: "throughput.png", Title: sheet.Title, png: png,
		Caption: fmt.Sprintf("Dashed: no difference, and the goals of off (%g) and enforce (%g). Intervals are cut %g beside 1. %s.", leastOff, leastEnforce, widest, rep.origin()),
	}, err
}
