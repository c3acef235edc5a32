package chart

import (
	"image/color"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// style is how a line looks. Colours are those that are safe for the colour-blind; dashes
// and widths tell lines apart in print, and show one that lies below another.
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

// Line draws points in the i-th style, i from 0.
func Line(i int, points plotter.XYs) (*plotter.Line, error) {
	l, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	s := styles[i%len(styles)]
	l.Color, l.Width, l.Dashes = s.color, s.width, s.dashes
	return l, nil
}
