package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/rdmagate/rdmagate/cc"
)

// Sizes of a picture.
const (
	pictureWidth = 28 * vg.Centimeter
	panelHeight  = 6 * vg.Centimeter
	headHeight   = 1.5 * vg.Centimeter
	small        = 8 // points
)

// Colours are such that those who do not tell red from green tell them apart.
var (
	stateColours = [...]color.NRGBA{
		cc.Healthy:     {R: 226, G: 240, B: 230, A: 255},
		cc.Congested:   {R: 250, G: 236, B: 170, A: 255},
		cc.Suspect:     {R: 250, G: 205, B: 150, A: 255},
		cc.Quarantined: {R: 236, G: 160, B: 150, A: 255},
		cc.Probing:     {R: 170, G: 200, B: 240, A: 255},
	}
	windowColour   = color.NRGBA{R: 20, G: 60, B: 130, A: 255}
	inFlightColour = color.NRGBA{R: 140, G: 60, B: 140, A: 255}
	inFlightArea   = color.NRGBA{R: 140, G: 60, B: 140, A: 60}
	answerColours  = [...]color.NRGBA{
		cc.Refused: {R: 120, G: 120, B: 120, A: 255},
		cc.Admit:   {R: 0, G: 114, B: 100, A: 255},
		cc.Defer:   {R: 220, G: 130, B: 0, A: 255},
		cc.Avoid:   {R: 190, G: 30, B: 30, A: 255},
	}
)

// draw draws routes, one below the other, into a file of the form that its name says.
func (p *picture) draw(file string, captions [2]string, routes []*drawn) error {
	height := headHeight + panelHeight*vg.Length(len(routes))
	var canvas vg.CanvasWriterTo
	if strings.EqualFold(filepath.Ext(file), ".svg") {
		canvas = vgsvg.New(pictureWidth, height)
	} else {
		canvas = vgimg.PngCanvas{Canvas: vgimg.New(pictureWidth, height)}
	}
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	p.head(draw.Crop(all, 8, -8, height-headHeight, 0), captions[0])
	var column [][]*plot.Plot
	for i, d := range routes {
		panel := p.panel(d)
		if i == len(routes)-1 {
			panel.X.Label.Text = captions[1]
		}
		column = append(column, []*plot.Plot{panel})
	}
	tiles := draw.Tiles{Rows: len(column), Cols: 1, PadTop: 2, PadBottom: 6, PadLeft: 6, PadRight: 14, PadY: 6}
	for i, row := range plot.Align(column, tiles, draw.Crop(all, 0, 0, 0, -headHeight)) {
		column[i][0].Draw(row[0])
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("cannot write the plot: %w", err)
	}
	defer f.Close()
	if _, err := canvas.WriteTo(f); err != nil {
		return fmt.Errorf("cannot write the plot: %w", err)
	}
	return f.Close()
}

// text returns a style for texts of a picture.
func text(size vg.Length) draw.TextStyle {
	style := plot.New().X.Tick.Label
	style.Font.Size = size
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	style.Color = color.Black
	return style
}

// head draws the title and what colours mean.
func (p *picture) head(c draw.Canvas, title string) {
	c.FillText(text(11), vg.Point{X: c.Min.X, Y: c.Max.Y - 12}, title)
	style := text(small)
	x, y := c.Min.X, c.Max.Y-30
	mark := func(name string, shape func(x vg.Length)) {
		shape(x)
		c.FillText(style, vg.Point{X: x + 20, Y: y}, name)
		x += 20 + style.Width(name) + 14
	}
	box := func(fill color.Color) func(vg.Length) {
		return func(x vg.Length) { rectangle(&c, fill, x, y-5, x+16, y+5) }
	}
	line := func(stroke color.Color, width vg.Length) func(vg.Length) {
		return func(x vg.Length) { c.StrokeLine2(draw.LineStyle{Color: stroke, Width: width}, x, y, x+16, y) }
	}
	tick := func(stroke color.Color) func(vg.Length) {
		return func(x vg.Length) {
			for dx := vg.Length(4); dx < 16; dx += 4 {
				c.StrokeLine2(draw.LineStyle{Color: stroke, Width: 1}, x+dx, y-4, x+dx, y+4)
			}
		}
	}
	for s, fill := range stateColours {
		mark(cc.State(s).String(), box(fill))
	}
	mark("window", line(windowColour, 1.6))
	mark("in flight", line(inFlightColour, 0.8))
	for _, lane := range lanes {
		mark(lane.String(), tick(answerColours[lane]))
	}
}

func rectangle(c *draw.Canvas, fill color.Color, x0, y0, x1, y1 vg.Length) {
	c.FillPolygon(fill, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
}

// lanes are the rows of ticks below a panel, from the top.
var lanes = [...]cc.Answer{cc.Admit, cc.Defer, cc.Avoid}

// laneHeight is that of one lane, as a part of the height above.
const laneHeight = 0.09

// panel draws one route.
func (p *picture) panel(d *drawn) *plot.Plot {
	panel := plot.New()
	c := d.counts
	panel.Title.Text = fmt.Sprintf("%s   %s   %d admitted, %d deferred, %d avoided, %s delivered",
		c.label, c.pair, c.answers[cc.Admit], c.answers[cc.Defer], c.answers[cc.Avoid], bytesText(c.delivered))
	panel.Title.TextStyle.Font.Size = 9
	panel.X.Label.TextStyle.Font.Size = small
	end := p.tally.end
	if end == 0 {
		end = time.Microsecond
	}
	panel.X.Min, panel.X.Max = p.tally.shown(0).Seconds(), p.tally.shown(end).Seconds()
	top := int64(64 << 10)
	for _, cell := range d.cells {
		top = max(top, cell.window.most, cell.inFlight.most)
	}
	height := scale(top) * 1.2
	panel.Y.Min, panel.Y.Max = -height*(laneHeight*float64(len(lanes))+0.02), height
	panel.Y.Tick.Marker = byteTicks{height}
	panel.X.Tick.Marker = timeTicks{}
	panel.Y.Tick.Label.Font.Size, panel.X.Tick.Label.Font.Size = small, small
	panel.Add(routePlot{d, p.tally.shown, end, height})
	return panel
}

// unit is what is 1 on the axis of bytes, which is linear below and logarithmic above.
const unit = 4 << 10

func scale(bytes int64) float64 { return math.Log2(1 + float64(bytes)/unit) }

// byteTicks marks powers of four, and the lanes by their names.
type byteTicks struct{ height float64 }

// Ticks returns the marks.
func (t byteTicks) Ticks(_, most float64) (ticks []plot.Tick) {
	for i, lane := range lanes {
		ticks = append(ticks, plot.Tick{Value: laneAt(i, t.height), Label: lane.String()})
	}
	ticks = append(ticks, plot.Tick{Value: 0, Label: "0"})
	for n := int64(16 << 10); scale(n) <= most; n *= 4 {
		ticks = append(ticks, plot.Tick{Value: scale(n), Label: bytesText(n)})
	}
	return ticks
}

// timeTicks marks five to thirteen round times, and smaller steps between them.
type timeTicks struct{}

// Ticks returns the marks.
func (timeTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	rough := (most - least) / 13
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	digit := 1.0
	for _, next := range []float64{2, 5, 10} {
		if digit*power < rough {
			digit = next
		}
	}
	const between = 5
	step := digit * power / between
	decimals := max(0, -int(math.Floor(math.Log10(digit*power)+0.01)))
	for i := math.Ceil(least / step); i*step <= most; i++ {
		tick := plot.Tick{Value: i * step}
		if int64(i)%between == 0 {
			tick.Label = strconv.FormatFloat(i/between*digit*power, 'f', decimals, 64)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// laneAt returns the middle of a lane.
func laneAt(i int, height float64) float64 {
	return -height * (0.02 + laneHeight*(float64(i)+0.5))
}

// routePlot draws a route's states, lines and answers.
type routePlot struct {
	*drawn
	shown  func(time.Duration) time.Duration
	end    time.Duration
	height float64
}

// Plot draws them.
func (r routePlot) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(t time.Duration) vg.Length { return x(r.shown(min(t, r.end)).Seconds()) }
	r.drawBands(&c, at, y)
	for i, lane := range lanes {
		r.drawLane(&c, lane, at, y(laneAt(i, r.height)-laneHeight*r.height*0.42), y(laneAt(i, r.height)+laneHeight*r.height*0.42))
	}
	inFlight := r.line(at, y, func(cell *cell) extent { return cell.inFlight })
	if n := len(inFlight); n > 0 {
		c.FillPolygon(inFlightArea, append(inFlight[:n:n], vg.Point{X: inFlight[n-1].X, Y: y(0)}, vg.Point{X: inFlight[0].X, Y: y(0)}))
		c.StrokeLines(draw.LineStyle{Color: inFlightColour, Width: 0.8}, inFlight)
	}
	c.StrokeLines(draw.LineStyle{Color: windowColour, Width: 1.6}, r.line(at, y, func(cell *cell) extent { return cell.window }))
}

// drawBands draws the states, with their names and reasons where there is room.
func (r routePlot) drawBands(c *draw.Canvas, at func(time.Duration) vg.Length, y func(float64) vg.Length) {
	style := text(7)
	style.YAlign = draw.YTop
	for i, b := range r.bands {
		until := r.end
		if i+1 < len(r.bands) {
			until = r.bands[i+1].from
		}
		x0, x1 := at(b.from), at(until)
		rectangle(c, stateColours[b.state], x0, y(0), max(x1, x0+0.5), y(r.height))
		if b.state == cc.Healthy {
			continue
		}
		for _, words := range []string{strings.TrimSpace(b.state.String() + " " + b.why), b.state.String()} {
			if style.Width(words)+4 < x1-x0 {
				c.FillText(style, vg.Point{X: x0 + 2, Y: y(r.height) - 2}, words)
				break
			}
		}
	}
}

// tickWidth is that of the tick of one answer.
const tickWidth = 1.5

// drawLane draws a tick for each cell with such an answer, and one for those that touch.
func (r routePlot) drawLane(c *draw.Canvas, lane cc.Answer, at func(time.Duration) vg.Length, bottom, top vg.Length) {
	var from, to vg.Length
	for _, cell := range r.cells {
		if cell.answers[lane] == 0 {
			continue
		}
		x := at(time.Duration(cell.number) * r.width)
		switch {
		case to == 0:
			from = x
		case x > to:
			rectangle(c, answerColours[lane], from, bottom, to, top)
			from = x
		}
		to = x + tickWidth
	}
	if to > 0 {
		rectangle(c, answerColours[lane], from, bottom, to, top)
	}
}

// line returns the line of a number that stays what it was until it is seen to be another
// one.
func (r routePlot) line(at func(time.Duration) vg.Length, y func(float64) vg.Length, of func(*cell) extent) (line []vg.Point) {
	var last vg.Length
	for i := range r.cells {
		if !r.cells[i].seen {
			continue
		}
		e, x := of(&r.cells[i]), at(time.Duration(r.cells[i].number)*r.width)
		if len(line) > 0 {
			line = append(line, vg.Point{X: x, Y: last})
		}
		for _, n := range []int64{e.least, e.most, e.last} {
			last = y(scale(n))
			line = append(line, vg.Point{X: x, Y: last})
		}
	}
	if len(line) > 0 {
		line = append(line, vg.Point{X: at(r.end), Y: last})
	}
	return line
}
