package chart

import (
	"bytes"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	imageWidth  = 25 * vg.Centimeter
	legendWidth = 5.2 * vg.Centimeter
	noteHeight  = 0.6 * vg.Centimeter

	// NoteSize is the size of small print, in points.
	NoteSize = 8
)

// NewPlot makes a plot with a grid and round numbers at both axes.
func NewPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = 11
	p.X.Tick.Marker, p.Y.Tick.Marker = Round{}, Round{}
	p.Add(plotter.NewGrid())
	return p
}

// Sheet is a column of plots with one legend and a note below. X names the X axis of
// all.
type Sheet struct {
	Title, X, Note string
	Plots          []*plot.Plot
	Legend         plot.Legend
	height         vg.Length
}

// NewSheet makes a sheet of plots of that height.
func NewSheet(title string, height vg.Length) *Sheet {
	s := &Sheet{Title: title, height: height, Legend: plot.NewLegend()}
	s.Legend.Top, s.Legend.Left, s.Legend.Padding = true, true, vg.Points(3)
	s.Legend.ThumbnailWidth = vg.Points(30)
	s.Legend.TextStyle.Font.Size = 10
	return s
}

// PNG returns the sheet as an image.
func (s *Sheet) PNG() ([]byte, error) {
	last := s.Plots[len(s.Plots)-1]
	last.X.Label.Text = s.X
	canvas := vgimg.NewWith(vgimg.UseWH(imageWidth, s.height*vg.Length(len(s.Plots))+2*noteHeight), vgimg.UseDPI(110))
	page := draw.New(canvas)
	column := draw.Crop(page, 0, -legendWidth, noteHeight, -noteHeight)
	note := last.X.Tick.Label
	note.Font.Size, note.XAlign, note.YAlign = NoteSize, text.XLeft, text.YBottom
	page.FillText(note, vg.Point{X: 6, Y: 5}, s.Note)
	title := note
	title.Font.Size, title.YAlign = 13, text.YTop
	page.FillText(title, vg.Point{X: 6, Y: page.Max.Y - 4}, s.Title)
	var grid [][]*plot.Plot
	for _, p := range s.Plots {
		grid = append(grid, []*plot.Plot{p})
	}
	tiles := draw.Tiles{Rows: len(grid), Cols: 1, PadTop: 6, PadBottom: 4, PadLeft: 4, PadRight: 12, PadY: 8}
	for i, row := range plot.Align(grid, tiles, column) {
		grid[i][0].Draw(row[0])
	}
	s.Legend.Draw(draw.Crop(page, imageWidth-legendWidth+8, 0, 0, -2*noteHeight))
	var b bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(&b)
	return b.Bytes(), err
}
