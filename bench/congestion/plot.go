package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/rdmagate/rdmagate/cc"
	lab "github.com/rdmagate/rdmagate/internal/labcongestion"
)

// Names of the plots' files.
const (
	steadyPlot = "steady.png"
	sweepPlot  = "sweep.png"
)

func followPlot(l cc.Law) string { return fmt.Sprintf("follow-%s.png", l) }

// plots draws everything into a folder.
func (rep report) plots(folder string) error {
	var modes []lab.Result
	for _, r := range rep.Steady {
		if !r.Setup.Static() && r.Setup.Offered == rep.Steady[0].Setup.Offered {
			modes = append(modes, r)
		}
	}
	if err := rep.timelines(filepath.Join(folder, steadyPlot), "Steady bottleneck", curves(modes)); err != nil {
		return err
	}
	if err := rep.sweep(filepath.Join(folder, sweepPlot)); err != nil {
		return err
	}
	for _, f := range rep.Follow {
		var stretches []lab.Stretch
		for _, p := range f.Phases {
			stretches = append(stretches, p.Stretch)
		}
		law := f.Setup.Control.Law
		all := []curve{{"enforce by " + law.String(), lab.Timeline(stretches...)}}
		if err := rep.timelines(filepath.Join(folder, followPlot(law)), "A rate that changes, law "+law.String(), all); err != nil {
			return err
		}
	}
	return nil
}

// curve is one line in each panel.
type curve struct {
	name    string
	samples []lab.Sample
}

// curves are the first rounds of results, from the beginning of their warm-up.
func curves(results []lab.Result) (all []curve) {
	for _, r := range results {
		all = append(all, curve{r.Name, lab.Timeline(r.Ramps[0], r.Rounds[0])})
	}
	return all
}

// captionSize is small enough for a line of a caption.
const captionSize = 8

// caption is the text below a plot: what its X axis is, and where the figures come from.
func (rep report) caption(axis string) string {
	return fmt.Sprintf("%s\n%s\n%s", axis, rep.guest(), rep.machine)
}

// palette is safe for those who do not tell red from green.
var palette = []color.Color{
	color.RGBA{R: 213, G: 94, A: 255},
	color.RGBA{R: 230, G: 159, A: 255},
	color.RGBA{G: 114, B: 178, A: 255},
	color.RGBA{G: 158, B: 115, A: 255},
}

// panel is one thing that is drawn over time.
type panel struct {
	title string
	log   bool // zero is then not shown
	value func(lab.Sample) float64
}

// panels are what is drawn, from the top.
var panels = []panel{
	{"goodput, Mbit/s", false, func(s lab.Sample) float64 { return s.GoodputMbit }},
	{"window of all, KiB", true, func(s lab.Sample) float64 { return float64(s.WindowBytes) / 1024 }},
	{"in flight of all, KiB", true, func(s lab.Sample) float64 { return float64(s.InFlightBytes) / 1024 }},
	{"delay, ms", true, func(s lab.Sample) float64 { return s.MedianDelay.Seconds() * 1000 }},
	{"drain, ms", true, func(s lab.Sample) float64 { return s.Drain.Seconds() * 1000 }},
}

func (p panel) points(samples []lab.Sample) (points plotter.XYs) {
	for _, s := range samples {
		if v := p.value(s); v > 0 || !p.log {
			points = append(points, plotter.XY{X: s.At.Seconds(), Y: v})
		}
	}
	return points
}

// timelines draws one panel under the other.
func (rep report) timelines(file, title string, all []curve) error {
	var column []*plot.Plot
	for i, panel := range panels {
		p := plot.New()
		p.Y.Label.Text = panel.title
		p.X.Tick.Marker = seconds{}
		p.Add(plotter.NewGrid())
		most := 0.0
		for k, c := range all {
			points := panel.points(c.samples)
			if len(points) == 0 {
				continue // what this arm does not show
			}
			line, err := plotter.NewLine(points)
			if err != nil {
				return fmt.Errorf("cannot draw the %s of %s: %w", panel.title, c.name, err)
			}
			line.Color, line.Width = palette[k%len(palette)], vg.Points(1.2)
			p.Add(line)
			for _, at := range points {
				most = max(most, at.Y)
			}
			if i == 0 {
				p.Legend.Add(c.name, line)
			}
		}
		if panel.log && most > 0 {
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, oneTwoFive{}
		} else {
			p.Y.Min, p.Y.Max = 0, 1.1*most
		}
		column = append(column, p)
	}
	first, last := column[0], column[len(column)-1]
	first.Title.Text, last.X.Label.Text = title, rep.caption("seconds")
	last.X.Label.TextStyle.Font.Size = captionSize
	first.Y.Max *= 1.5 // room for the legend
	first.Legend.Top = true
	return tile(file, column, 24*vg.Centimeter, 6*vg.Centimeter)
}

// seconds marks the whole ones.
type seconds struct{}

func (seconds) Ticks(least, most float64) (ticks []plot.Tick) {
	for v := math.Ceil(least); v <= most; v++ {
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprint(v)})
	}
	return ticks
}

// oneTwoFive marks 1, 2, 5, 10, 20, 50 and so on.
type oneTwoFive struct{}

func (oneTwoFive) Ticks(least, most float64) (ticks []plot.Tick) {
	for power := math.Pow(10, math.Floor(math.Log10(least))); power <= most; power *= 10 {
		for _, digit := range []float64{1, 2, 5} {
			if v := digit * power; v >= least && v <= most {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
			}
		}
	}
	return ticks
}

// tile writes plots one under the other, each of that height.
func tile(file string, column []*plot.Plot, width, height vg.Length) error {
	image := vgimg.New(width, height*vg.Length(len(column)))
	tiles := draw.Tiles{Rows: len(column), Cols: 1, PadTop: vg.Points(6), PadBottom: vg.Points(4), PadLeft: vg.Points(4), PadRight: vg.Points(12), PadY: vg.Points(6)}
	for i, p := range column {
		p.Draw(tiles.At(draw.New(image), 0, i))
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("cannot write the plot: %w", err)
	}
	defer f.Close()
	if _, err := (vgimg.PngCanvas{Canvas: image}).WriteTo(f); err != nil {
		return fmt.Errorf("cannot write the plot: %w", err)
	}
	return f.Close()
}

// sweep draws goodput over delay: static windows as a line, the laws as points.
func (rep report) sweep(file string) error {
	p := plot.New()
	p.Title.Text = "Static windows, and where the laws are"
	p.X.Label.Text, p.Y.Label.Text = rep.caption("delay, ms"), "goodput, Mbit/s"
	p.X.Label.TextStyle.Font.Size = captionSize
	p.Y.Min = 0
	p.Add(plotter.NewGrid())
	var static plotter.XYs
	for _, r := range rep.Steady {
		if r.Setup.Static() {
			static = append(static, at(r))
		}
	}
	line, marks, err := plotter.NewLinePoints(static)
	if err != nil {
		return fmt.Errorf("cannot draw the static windows: %w", err)
	}
	p.Add(line, marks)
	p.Legend.Add("static windows", line, marks)
	for _, r := range rep.Steady {
		if r.Setup.Static() || r.Setup.Control.Mode != cc.Enforce {
			continue
		}
		points, err := plotter.NewScatter(plotter.XYs{at(r)})
		if err != nil {
			return fmt.Errorf("cannot draw %s: %w", r.Name, err)
		}
		points.Color, points.Radius, points.Shape = palette[2+int(r.Setup.Control.Law)], vg.Points(5), draw.CircleGlyph{}
		p.Add(points)
		p.Legend.Add(r.Name, points)
	}
	return tile(file, []*plot.Plot{p}, 18*vg.Centimeter, 11*vg.Centimeter)
}

func at(r lab.Result) plotter.XY { return plotter.XY{X: r.Delay().Seconds() * 1000, Y: r.Goodput()} }
