package screen

import "strings"

// Style says what a terminal can show.
type Style struct {
	Colour  bool // ANSI colours
	Unicode bool // signs beyond ASCII, in UTF-8
}

// ink is a colour with a meaning.
type ink uint8

const (
	plain ink = iota
	strong
	faint
	good
	notice
	doubt
	bad
	active
)

// codes are the ANSI sequences of the inks.
var codes = [...]string{strong: "1", faint: "2", good: "32", notice: "33", doubt: "35", bad: "31", active: "36"}

// span is a piece of a line. Its text is clean.
type span struct {
	text string
	ink  ink
}

// line is a row of the screen.
type line []span

// width returns how many cells the line takes.
func (l line) width() (n int) {
	for _, p := range l {
		n += width(p.text)
	}
	return n
}

// render returns the line as it is written. One that is too long ends with a sign that
// says so: what is left of a number is not taken for one.
func (l line) render(columns int, s Style) string {
	l = l.trimmed()
	if l.width() > columns {
		more := s.signs().more
		l = append(l.cut(columns-width(more)), span{cut(more, columns), faint})
	}
	var b strings.Builder
	for _, p := range l {
		if s.Colour && p.ink != plain && strings.TrimSpace(p.text) != "" {
			b.WriteString("\x1b[" + codes[p.ink] + "m" + p.text + "\x1b[0m")
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// cut returns as much of the line as so many cells hold.
func (l line) cut(columns int) (short line) {
	for _, p := range l {
		p.text = cut(p.text, columns)
		columns -= width(p.text)
		short = append(short, p)
	}
	return short
}

// trimmed returns the line without the blanks at its end.
func (l line) trimmed() line {
	for n := len(l); n > 0; n-- {
		if text := strings.TrimRight(l[n-1].text, " "); text != "" {
			l = append(line{}, l[:n]...)
			l[n-1].text = text
			return l
		}
	}
	return nil
}

// signs are the characters that frames are made of, beside text.
type signs struct{ full, half, empty, dot, arrow, more string }

func (s Style) signs() signs {
	if s.Unicode {
		return signs{full: "━", half: "╸", empty: "─", dot: "●", arrow: "→", more: "…"}
	}
	return signs{full: "#", half: "#", empty: ".", dot: "*", arrow: ">", more: "~"}
}
