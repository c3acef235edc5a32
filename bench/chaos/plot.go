package main

import (
	"fmt"
	"image/color"
	"os"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/chaos"
)

// colors of the states.
var colors = [cc.Probing + 1]color.RGBA{
	cc.Healthy:     {R: 150, G: 200, B: 150, A: 255},
	cc.Congested:   {R: 120, G: 160, B: 210, A: 255},
	cc.Suspect:     {R: 245, G: 215, B: 110, A: 255},
	cc.Quarantined: {R: 210, G: 90, B: 80, A: 255},
	cc.Probing:     {R: 150, G: 100, B: 170, A: 255},
}

// plot draws how many routes are in which state, above the faults: of all rounds in the
// guest, one after the other, and of the simulated round with the most faults.
func (rep report) plot(file string) error {
	rounds := rep.results
	if rep.fabric == "sim" {
		rounds = rounds[:1]
		for _, r := range rep.results {
			if len(r.Schedule.Faults) > len(rounds[0].Schedule.Faults) {
				rounds = []chaos.Result{r}
			}
		}
	}
	states, faults := plot.New(), plot.New()
	states.Title.Text = fmt.Sprintf("%s, seed %d", rep.fabric, rounds[0].Schedule.Seed)
	states.Y.Label.Text, faults.X.Label.Text = "routes", "s"
	if err := drawStates(states, rounds); err != nil {
		return fmt.Errorf("cannot draw the states: %w", err)
	}
	if err := drawFaults(faults, rounds); err != nil {
		return fmt.Errorf("cannot draw the faults: %w", err)
	}
	faults.X.Min, faults.X.Max = states.X.Min, states.X.Max
	img := vgimg.New(30*vg.Centimeter, 20*vg.Centimeter)
	grid := [][]*plot.Plot{{states}, {faults}}
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Millimeter * 4, PadTop: vg.Millimeter * 2, PadRight: vg.Millimeter * 4}
	for i, row := range plot.Align(grid, tiles, draw.New(img)) {
		grid[i][0].Draw(row[0])
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

// drawStates stacks the numbers of routes, the worst state at the bottom.
func drawStates(p *plot.Plot, rounds []chaos.Result) error {
	p.Legend.Top = true
	for s := int(cc.Healthy); s <= int(cc.Probing); s++ {
		var edge plotter.XYs
		offset, height := time.Duration(0), 0.0
		step := func(at time.Duration, sum float64) {
			edge = append(edge, plotter.XY{X: at.Seconds(), Y: height}, plotter.XY{X: at.Seconds(), Y: sum})
			height = sum
		}
		for _, r := range rounds {
			for _, st := range r.States {
				sum := 0
				for worse := s; worse <= int(cc.Probing); worse++ {
					sum += st.Count[worse]
				}
				step(offset+time.Duration(st.At), float64(sum))
			}
			offset += time.Duration(r.Took)
		}
		step(offset, height)
		edge = append(edge, plotter.XY{X: offset.Seconds()}, plotter.XY{})
		area, err := plotter.NewPolygon(edge)
		if err != nil {
			return err
		}
		area.Color, area.LineStyle.Width = colors[s], 0
		p.Add(area)
		p.Legend.Add(cc.State(s).String(), area)
	}
	return nil
}

// drawFaults draws a bar for each fault, a row for each kind.
func drawFaults(p *plot.Plot, rounds []chaos.Result) error {
	var names []string
	for _, k := range chaos.Kinds() {
		names = append(names, k.String())
	}
	p.NominalY(names...)
	offset := time.Duration(0)
	for _, r := range rounds {
		for _, f := range r.Schedule.Faults {
			begin := (offset + time.Duration(f.At)).Seconds()
			end := begin + max(time.Duration(f.For).Seconds(), time.Duration(r.Took).Seconds()/500)
			bar, err := plotter.NewLine(plotter.XYs{{X: begin, Y: float64(f.Kind)}, {X: end, Y: float64(f.Kind)}})
			if err != nil {
				return err
			}
			bar.Width, bar.Color = vg.Points(5), color.RGBA{R: 60, G: 60, B: 60, A: 130}
			p.Add(bar)
		}
		offset += time.Duration(r.Took)
	}
	return nil
}
