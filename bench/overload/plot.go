package main

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	blue = color.RGBA{R: 46, G: 104, B: 173, A: 255}
	red  = color.RGBA{R: 200, G: 40, B: 40, A: 255}
	tan  = color.RGBA{R: 205, G: 133, B: 63, A: 255}
)

// plots draws what there is to see, and returns the files' names without their ending:
// lines that cases kept, and a bar for each ratio, weight and time to recover.
func (rep report) plots(folder string) (names []string, err error) {
	lines := map[string][]series{}
	for _, c := range rep.results {
		for _, s := range c.series {
			if !slices.Contains(names, s.plot) {
				names = append(names, s.plot)
			}
			lines[s.plot] = append(lines[s.plot], s)
		}
	}
	for _, name := range names {
		if err := drawLines(lines[name], filepath.Join(folder, name+".png")); err != nil {
			return nil, fmt.Errorf("cannot draw %s: %w", name, err)
		}
	}
	for _, kind := range []struct {
		unit
		name, title string
	}{
		{seconds, "recovery", "Time to recover, by its limit"},
		{weight, "memory", "Bytes of one"},
		{ratio, "ratios", "Time of one, by that of one of a few"},
	} {
		drawn, err := rep.drawBars(kind.unit, kind.title, filepath.Join(folder, kind.name+".png"))
		if err != nil {
			return nil, fmt.Errorf("cannot draw %s: %w", kind.name, err)
		}
		if drawn {
			names = append(names, kind.name)
		}
	}
	return names, nil
}

func drawLines(list []series, file string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = list[0].plot, list[0].x, list[0].y
	p.Y.Min = 0
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for i, s := range list {
		var points plotter.XYs
		for _, at := range s.steps {
			points = append(points, plotter.XY{X: at.x, Y: at.y})
		}
		l, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		l.Color, l.Width = []color.Color{blue, tan, red}[i%3], vg.Points(1.5)
		p.Add(l)
		p.Legend.Add(s.name, l)
	}
	p.Y.Max *= 1.15 // room for the legend
	return p.Save(24*vg.Centimeter, 9*vg.Centimeter, file)
}

// drawBars draws the figures of one unit, with a red mark for the limit of each; times as
// parts of their limits. It reports whether there are any.
func (rep report) drawBars(u unit, title, file string) (drawn bool, err error) {
	var names []string
	var values plotter.Values
	var limits plotter.XYs
	for _, c := range slices.Backward(rep.results) {
		for _, f := range slices.Backward(c.figures) {
			if f.unit != u || u == seconds && f.limit == 0 {
				continue
			}
			name := c.name + ": " + f.name
			if u == seconds {
				name += ", " + f.bound()
				f.value, f.limit = f.value/f.limit, 1
			}
			if f.limit != 0 {
				limits = append(limits, plotter.XY{X: f.limit, Y: float64(len(names))})
			}
			names = append(names, name)
			values = append(values, f.value)
		}
	}
	if len(names) == 0 {
		return false, nil
	}
	p := plot.New()
	p.Title.Text = title
	p.X.Min = 0
	bars, err := plotter.NewBarChart(values, vg.Points(8))
	if err != nil {
		return false, err
	}
	bars.Horizontal, bars.Color, bars.LineStyle.Width = true, blue, 0
	p.Add(plotter.NewGrid(), bars)
	if len(limits) > 0 {
		marks, err := plotter.NewScatter(limits)
		if err != nil {
			return false, err
		}
		marks.Color, marks.Shape, marks.Radius = red, draw.CrossGlyph{}, vg.Points(3)
		p.Add(marks)
	}
	p.NominalY(names...)
	return true, p.Save(40*vg.Centimeter, vg.Length(len(names))*vg.Points(15)+vg.Points(60), file)
}
