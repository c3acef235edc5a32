package main

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

var colours = map[kind]color.Color{
	floor: color.Gray{Y: 150},
	peer:  color.RGBA{R: 205, G: 133, B: 63, A: 255},
	ours:  color.RGBA{R: 46, G: 104, B: 173, A: 255},
}

// plot draws the ratios as bars, the first scenario on top, into a file whose name
// ends with the format.
func (rep *report) plot(file string) error {
	p := plot.New()
	p.Title.Text = "Time of an operation, by that of two CAS-loop pairs"
	p.X.Min = 0
	p.Legend.Top = true
	lines := slices.Clone(rep.lines)
	slices.Reverse(lines)
	var names []string
	for _, l := range lines {
		names = append(names, l.name())
	}
	for _, k := range []kind{floor, peer, ours} {
		ratios := make(plotter.Values, len(lines))
		for i, l := range lines {
			if l.kind == k {
				ratios[i] = l.ratio
			}
		}
		bars, err := plotter.NewBarChart(ratios, vg.Points(9))
		if err != nil {
			return fmt.Errorf("cannot draw the bars of %s: %w", k, err)
		}
		bars.Horizontal, bars.Color, bars.LineStyle.Width = true, colours[k], 0
		p.Add(bars)
		p.Legend.Add(string(k), bars)
	}
	p.Add(plotter.NewGrid())
	p.NominalY(names...)
	if err := p.Save(24*vg.Centimeter, vg.Length(len(lines))*vg.Points(15)+vg.Points(60), file); err != nil {
		return fmt.Errorf("cannot write the plot: %w", err)
	}
	return nil
}
