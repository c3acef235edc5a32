package main

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rdmagate/rdmagate/bench/internal/chart"
	"github.com/rdmagate/rdmagate/cc"
)

// stateColors get darker with what is wrong, for print. A trial stands out.
var stateColors = []color.Color{
	cc.Healthy:     color.RGBA{R: 205, G: 232, B: 222, A: 255},
	cc.Congested:   color.RGBA{R: 240, G: 228, B: 66, A: 255},
	cc.Suspect:     color.RGBA{R: 230, G: 140, A: 255},
	cc.Quarantined: color.RGBA{R: 120, G: 30, B: 30, A: 255},
	cc.Probing:     color.RGBA{R: 86, G: 180, B: 233, A: 255},
}

// mostMoves is how many changes of a route can still be seen.
const mostMoves = 300

// span is a time that a route is in a state.
type span struct {
	row         int
	from, until float64
	state       cc.State
}

// spans draws rows of bars.
type spans struct{ all []span }

// Plot implements plot.Plotter.
func (s spans) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, b := range s.all {
		low, high := y(float64(b.row)-0.38), y(float64(b.row)+0.38)
		from, until := max(x(b.from), c.Min.X), min(max(x(b.until), x(b.from)+vg.Points(0.7)), c.Max.X)
		c.FillPolygon(stateColors[b.state], []vg.Point{{X: from, Y: low}, {X: until, Y: low}, {X: until, Y: high}, {X: from, Y: high}})
	}
}

// DataRange implements plot.DataRanger; the axes are set by whoever makes the plot.
func (s spans) DataRange() (xmin, xmax, ymin, ymax float64) { return 0, 0, 0, 0 }

// key is a state in the legend.
type key struct{ color color.Color }

// Thumbnail implements plot.Thumbnailer.
func (k key) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(k.color, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// states draws the states of the first host's routes in the first seed, for arms with a
// controller. Without anything that was done to the fabric there is nothing to see.
func (rep report) states(r result) (*image, error) {
	var bars spans
	var labels []string
	var until time.Duration
	for _, a := range r.arms {
		for _, s := range a.runs[0].Series {
			until = max(until, time.Duration(len(s.Values))*s.Every)
		}
		for _, m := range a.runs[0].Moves {
			until = max(until, m.At)
		}
	}
	unit, name := axis(until)
	x := func(t time.Duration) float64 { return float64(t) / float64(unit) }
	for _, a := range r.arms {
		moves := a.runs[0].Moves
		if a.arm.Config == nil || len(moves) == 0 {
			continue
		}
		host := moves[0].Host
		for _, m := range moves {
			host = min(host, m.Host)
		}
		var routes []string
		for _, m := range moves {
			if m.Host == host && !slices.Contains(routes, m.Pair.String()) {
				routes = append(routes, m.Pair.String())
			}
		}
		slices.Sort(routes)
		for _, route := range routes {
			row, state, since, n := len(labels), cc.Healthy, time.Duration(0), 0
			for _, m := range moves {
				if m.Host == host && m.Pair.String() == route && m.Notice == cc.NoNotice {
					bars.all = append(bars.all, span{row, x(since), x(m.At), state})
					state, since = m.To, m.At
					n++
				}
			}
			if n > mostMoves {
				return nil, nil
			}
			bars.all = append(bars.all, span{row, x(since), x(until), state})
			labels = append(labels, a.arm.Name+"  "+route)
		}
	}
	if len(labels) == 0 {
		return nil, nil
	}
	for i := range bars.all {
		bars.all[i].row = len(labels) - 1 - bars.all[i].row // the first on top
	}
	slices.Reverse(labels)
	sheet := chart.NewSheet(r.experiment.Name+", states of routes", vg.Length(2+len(labels))*0.75*vg.Centimeter)
	p := plot.New()
	p.X.Tick.Marker = chart.Round{}
	p.Add(bars)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, x(until), -0.6, float64(len(labels))-0.4
	p.Y.Tick.Marker = chart.Names(labels)
	p.Y.Tick.Label.Font.Size = chart.NoteSize
	dashed, err := r.mark(p, unit)
	if err != nil {
		return nil, err
	}
	for s, c := range stateColors {
		sheet.Legend.Add(cc.State(s).String(), key{c})
	}
	sheet.Plots = []*plot.Plot{p}
	sheet.X, sheet.Note = name, dashed+rep.origin(rep.firstSeed())
	png, err := sheet.PNG()
	return &image{
		File: file(r, "states"), Title: r.experiment.Name + ", states of routes", png: png,
		Caption: fmt.Sprintf("States of the routes of one host; those that never changed are left out. %s%s. %s.", dashed, rep.firstSeed(), rep.machine),
	}, err
}

// mark draws a dashed line where something was done to the fabric, and returns in words
// what that was.
func (r result) mark(p *plot.Plot, unit time.Duration) (string, error) {
	var marked []string
	for _, mark := range r.arms[0].runs[0].Marks {
		x := float64(mark.At) / float64(unit)
		l, err := plotter.NewLine(plotter.XYs{{X: x, Y: p.Y.Min}, {X: x, Y: p.Y.Max}})
		if err != nil {
			return "", err
		}
		l.Width, l.Dashes = 1.5, []vg.Length{4, 3}
		p.Add(l)
		marked = append(marked, fmt.Sprintf("%s at %v", mark.Text, mark.At.Round(time.Millisecond)))
	}
	if len(marked) == 0 {
		return "", nil
	}
	return "Dashed: " + strings.Join(marked, ", ") + ". ", nil
}
