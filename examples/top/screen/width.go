package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean returns a name as it may be written to a terminal: what would move the cursor,
// change the direction of text or is no text at all becomes a question mark.
func clean(name string, s Style) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) || !s.Unicode && r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, name)
}

// wide are the runes that take two cells.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x1f300, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1}},
}

// cells returns how many cells a rune takes.
func cells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// width returns how many cells a text takes.
func width(text string) (n int) {
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// cut returns as much of the beginning as so many cells hold.
func cut(text string, columns int) string {
	for i, r := range text {
		if columns -= cells(r); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// cutFront returns as much of the end as so many cells hold.
func cutFront(text string, columns int) string {
	n := len(text)
	for n > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:n])
		if columns -= cells(r); columns < 0 {
			break
		}
		n -= size
	}
	return text[n:]
}

// shorten returns a name that so many cells hold, without its middle if it is longer:
// names differ at their ends.
func shorten(name string, columns int, more string) string {
	if width(name) <= columns {
		return name
	}
	back := max(columns-width(more), 0) / 2
	return cut(cut(name, columns-width(more)-back)+more+cutFront(name, back), columns)
}

// left returns the text at the left end of a column of that width.
func left(text string, columns int, more string) string {
	text = shorten(text, columns, more)
	return text + blanks(columns-width(text))
}

// right returns the text at the right end of a column of that width.
func right(text string, columns int) string { return blanks(columns-width(text)) + cut(text, columns) }

func blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }
