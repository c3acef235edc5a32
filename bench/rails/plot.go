package main

import (
	"fmt"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/rdmagate/rdmagate/internal/twohost"
)

var (
	goodput  = color.RGBA{R: 46, G: 104, B: 173, A: 255}
	timeouts = color.RGBA{R: 200, G: 40, B: 40, A: 255}
)

// plot draws the goodput of every arm over time, an arm a row and an operation a
// column, with a red mark for each slice that timed out.
func (rep report) plot(file string) error {
	most := 0.0
	for _, s := range rep.steps {
		if s.Result != nil {
			for _, g := range s.Result.Goodput {
				most = max(most, g/1e6)
			}
		}
	}
	var grid [][]*plot.Plot
	for _, arm := range twohost.Arms() {
		if !rep.ran(arm.Name) {
			continue
		}
		var row []*plot.Plot
		for _, op := range ops {
			p, err := rep.panel(arm.Name, op.String(), most)
			if err != nil {
				return err
			}
			row = append(row, p)
		}
		grid = append(grid, row)
	}
	img := vgimg.New(30*vg.Centimeter, vg.Length(len(grid))*5*vg.Centimeter)
	tiles := draw.Tiles{Rows: len(grid), Cols: len(ops), PadX: vg.Millimeter * 4, PadY: vg.Millimeter * 4, PadTop: vg.Millimeter * 2, PadRight: vg.Millimeter * 4}
	for i, row := range plot.Align(grid, tiles, draw.New(img)) {
		for j, canvas := range row {
			grid[i][j].Draw(canvas)
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("cannot write the plot: %w", err)
	}
	defer f.Close()
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(f); err != nil {
		return fmt.Errorf("cannot write the plot: %w", err)
	}
	return f.Close()
}

// ran reports whether an arm was run.
func (rep report) ran(arm string) bool {
	for _, s := range rep.steps {
		if s.Result != nil && s.Result.Arm == arm {
			return true
		}
	}
	return false
}

// panel draws one arm and operation; it is empty if that was not run.
func (rep report) panel(arm, op string, most float64) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s, %s", arm, op)
	p.X.Label.Text, p.Y.Label.Text = "s", "MB/s"
	p.Y.Min, p.Y.Max = 0, most
	p.Add(plotter.NewGrid())
	for _, s := range rep.steps {
		if r := s.Result; r != nil && r.Arm == arm && r.Op == op {
			if err := draws(p, r, most); err != nil {
				return nil, fmt.Errorf("cannot draw %s: %w", s.Name, err)
			}
		}
	}
	return p, nil
}

func draws(p *plot.Plot, r *twohost.Result, most float64) error {
	var line, marks plotter.XYs
	for i, g := range r.Goodput {
		line = append(line, plotter.XY{X: (float64(i) + 0.5) * r.Bucket.Seconds(), Y: g / 1e6})
	}
	for _, at := range r.Failures {
		marks = append(marks, plotter.XY{X: at.Seconds(), Y: most * 0.97})
	}
	l, err := plotter.NewLine(line)
	if err != nil {
		return err
	}
	l.Color, l.Width = goodput, vg.Points(1.2)
	p.Add(l)
	p.X.Min, p.X.Max = 0, r.Duration.Seconds()
	if len(marks) == 0 {
		return nil
	}
	m, err := plotter.NewScatter(marks)
	if err != nil {
		return err
	}
	m.Color, m.Shape, m.Radius = timeouts, draw.CrossGlyph{}, vg.Points(3)
	p.Add(m)
	return nil
}
