package main

import (
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/rdmagate/rdmagate/examples/top/screen"
)

// terminal is where frames are drawn: in place if it is one, else one after the other.
type terminal struct {
	out   io.Writer
	file  *os.File // nil if it is no terminal
	style screen.Style
	env   func(string) string
	drawn bool
}

// newTerminal finds out what out is and can show.
func newTerminal(out io.Writer, env func(string) string) *terminal {
	t := &terminal{out: out, env: env}
	t.style.Unicode = isUTF8(env)
	if f, ok := out.(*os.File); ok && env("TERM") != "dumb" {
		if _, is := windowSize(f); is {
			t.file = f
			t.style.Colour = env("NO_COLOR") == ""
		}
	}
	return t
}

// isUTF8 reports whether the locale's characters are written in UTF-8.
func isUTF8(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// Sizes where nothing says another.
const (
	defaultColumns = 80
	defaultRows    = 24
)

// size returns the size as it is now.
func (t *terminal) size() screen.Size {
	if t.file != nil {
		if s, ok := windowSize(t.file); ok && s.Columns > 0 && s.Rows > 0 {
			return s
		}
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(t.env(name)); err == nil && n > 0 && n < 10_000 {
			return n
		}
		return otherwise
	}
	return screen.Size{Columns: number("COLUMNS", defaultColumns), Rows: number("LINES", defaultRows)}
}

// resized returns a channel that tells of other sizes, and what ends that.
func (t *terminal) resized() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	if t.file == nil || len(sizeSignals) == 0 {
		return c, func() {}
	}
	signal.Notify(c, sizeSignals...)
	return c, func() { signal.Stop(c) }
}

// begin turns to a screen of its own, end back to what was there before.
func (t *terminal) begin() { t.control("\x1b[?1049h\x1b[?25l") }
func (t *terminal) end()   { t.control("\x1b[?25h\x1b[?1049l") }

func (t *terminal) control(sequence string) {
	if t.file != nil {
		io.WriteString(t.out, sequence)
		t.drawn = !t.drawn
	}
}

// draw draws a frame: in place on a screen of its own, below the one before elsewhere.
func (t *terminal) draw(lines []string) {
	text := strings.Join(lines, "\n") + "\n"
	switch {
	case t.file != nil && t.drawn:
		text = "\x1b[H" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[K\x1b[J"
	case t.drawn:
		text = "\n" + text
	}
	io.WriteString(t.out, text)
	if t.file == nil {
		t.drawn = true
	}
}
