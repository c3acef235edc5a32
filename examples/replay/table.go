package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/suggest"
)

// table prints two runs side by side.
type table struct{ out io.Writer }

// row prints a row, unless there is nothing in it.
func (t table) row(name string, original, changed int64, show func(int64) string) {
	if original == 0 && changed == 0 {
		return
	}
	difference := ""
	switch d := changed - original; {
	case d > 0:
		difference = "+" + show(d)
	case d < 0:
		difference = "-" + show(-d)
	}
	line := fmt.Sprintf("  %-38s%14s%14s%14s", name, show(original), show(changed), difference)
	fmt.Fprintln(t.out, strings.TrimRight(line, " "))
}

// route prints a route, or the sum of all.
func (t table) route(a, b *routeTally, one bool) {
	number := func(n int64) string { return fmt.Sprint(n) }
	length := func(n int64) string { return span(time.Duration(n)) }
	for _, k := range answersOf {
		t.row(k.word, int64(a.answers[k.answer]), int64(b.answers[k.answer]), number)
	}
	for _, k := range kinds(a, b) {
		t.row("  "+k.String(), int64(a.refusals[k]), int64(b.refusals[k]), number)
	}
	if a.onlyObserves() || b.onlyObserves() {
		fmt.Fprintln(t.out, "  (in mode observe: what mode enforce would have refused)")
	}
	t.row("delivered", a.delivered, b.delivered, bytesText)
	for s := cc.Healthy; s <= cc.Probing; s++ {
		t.row("time "+s.String(), int64(a.states[s]), int64(b.states[s]), length)
	}
	if !one {
		return
	}
	t.row("window, least", a.least, b.least, bytesText)
	t.row("window, mean over time", a.mean(), b.mean(), bytesText)
	t.row("window, most", a.most, b.most, bytesText)
	t.row("window, at the end", a.last.WindowBytes, b.last.WindowBytes, bytesText)
}

// because prints the reason of something, if there is one.
func because(out io.Writer, why string) {
	if why != "" {
		fmt.Fprintf(out, "              since %s\n", why)
	}
}

func nearest(word string, known []string) string { return suggest.For(word, known) }
