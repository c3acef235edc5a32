package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// images draws what an experiment gave: quantities over time, slice times, states of
// routes, and, with the last case of a group, how figures grow with it.
func (rep report) images(r result) (all []image, err error) {
	type drawer func(result) (*image, error)
	for _, draw := range []drawer{rep.timelines, rep.sliceTimes, rep.states, rep.growth} {
		i, err := draw(r)
		if err != nil {
			return nil, err
		}
		if i != nil {
			all = append(all, *i)
		}
	}
	return all, nil
}

// origin is the part of a caption that says where a plot comes from.
func (rep report) origin(seeds string) string {
	return fmt.Sprintf("%s; %s", seeds, rep.machine)
}

func (rep report) firstSeed() string { return fmt.Sprintf("Seed %d", rep.options.first) }

func (rep report) allSeeds(r result) string {
	if r.seeds == 1 {
		return rep.firstSeed()
	}
	return fmt.Sprintf("Seeds %d to %d", rep.options.first, rep.options.first+uint64(r.seeds)-1)
}

// file names a plot after its experiment.
func file(r result, kind string) string {
	return strings.ReplaceAll(r.experiment.Name, "/", "-") + "-" + kind + ".png"
}

// style is how an arm's line looks. Colours are those that are safe for the colour-blind;
// dashes and widths tell lines apart in print, and show one that lies below another.
type style struct {
	color  color.Color
	width  vg.Length
	dashes []vg.Length
}

var styles = []style{
	{color.RGBA{A: 255}, 2.2, nil},
	{color.RGBA{R: 230, G: 159, A: 255}, 2.2, []vg.Length{7, 3}},
	{color.RGBA{R: 204, G: 121, B: 167, A: 255}, 1.8, []vg.Length{2, 2}},
	{color.RGBA{G: 114, B: 178, A: 255}, 1.8, nil},
	{color.RGBA{R: 213, G: 94, A: 255}, 1.8, nil},
	{color.RGBA{R: 86, G: 180, B: 233, A: 255}, 1.4, []vg.Length{6, 2, 1, 2}},
	{color.RGBA{G: 158, B: 115, A: 255}, 1.4, []vg.Length{4, 3}},
}

// style returns that of an arm, the same in all plots.
func (rep report) style(arm string) style {
	for i, a := range rep.options.arms {
		if a.Name == arm {
			return styles[i%len(styles)]
		}
	}
	return styles[0]
}

// line draws points in the style of an arm.
func (rep report) line(arm string, points plotter.XYs) (*plotter.Line, error) {
	l, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	s := rep.style(arm)
	l.Color, l.Width, l.Dashes = s.color, s.width, s.dashes
	return l, nil
}

const (
	imageWidth  = 25 * vg.Centimeter
	legendWidth = 5.2 * vg.Centimeter
	noteHeight  = 0.6 * vg.Centimeter
	noteSize    = 8
)

// newPlot makes a plot with a grid.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = 11
	p.X.Tick.Marker, p.Y.Tick.Marker = round{}, round{}
	p.Add(plotter.NewGrid())
	return p
}

// sheet is a column of plots with one legend and a note below.
type sheet struct {
	title, x, note string
	plots          []*plot.Plot
	legend         plot.Legend
	height         vg.Length // of a plot
}

func newSheet(title string, height vg.Length) *sheet {
	s := &sheet{title: title, height: height, legend: plot.NewLegend()}
	s.legend.Top, s.legend.Left, s.legend.Padding = true, true, vg.Points(3)
	s.legend.ThumbnailWidth = vg.Points(30)
	s.legend.TextStyle.Font.Size = 10
	return s
}

// draw returns the sheet as an image.
func (s *sheet) draw() ([]byte, error) {
	last := s.plots[len(s.plots)-1]
	last.X.Label.Text = s.x
	canvas := vgimg.NewWith(vgimg.UseWH(imageWidth, s.height*vg.Length(len(s.plots))+2*noteHeight), vgimg.UseDPI(110))
	page := draw.New(canvas)
	column := draw.Crop(page, 0, -legendWidth, noteHeight, -noteHeight)
	note := last.X.Tick.Label
	note.Font.Size, note.XAlign, note.YAlign = noteSize, text.XLeft, text.YBottom
	page.FillText(note, vg.Point{X: 6, Y: 5}, s.note)
	title := note
	title.Font.Size, title.YAlign = 13, text.YTop
	page.FillText(title, vg.Point{X: 6, Y: page.Max.Y - 4}, s.title)
	var grid [][]*plot.Plot
	for _, p := range s.plots {
		grid = append(grid, []*plot.Plot{p})
	}
	tiles := draw.Tiles{Rows: len(grid), Cols: 1, PadTop: 6, PadBottom: 4, PadLeft: 4, PadRight: 12, PadY: 8}
	for i, row := range plot.Align(grid, tiles, column) {
		grid[i][0].Draw(row[0])
	}
	s.legend.Draw(draw.Crop(page, imageWidth-legendWidth+8, 0, 0, -2*noteHeight))
	var b bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(&b)
	return b.Bytes(), err
}

// axis is a unit of time for the X axis.
func axis(longest time.Duration) (unit time.Duration, name string) {
	switch {
	case longest > 10*time.Minute:
		return time.Minute, "min"
	case longest > time.Second:
		return time.Second, "s"
	}
	return time.Millisecond, "ms"
}

// round marks five to twelve round numbers of a linear axis.
type round struct{}

// Ticks implements plot.Ticker.
func (round) Ticks(least, most float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((most-least)/5)))
	for _, factor := range []float64{5, 2} {
		if (most-least)/(step*factor) >= 5 {
			step *= factor
			break
		}
	}
	for i := math.Ceil(least / step); i*step <= most*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: label(i * step)})
	}
	return ticks
}

// label writes a round number in full.
func label(v float64) string { return strconv.FormatFloat(v, 'f', -1, 32) }
