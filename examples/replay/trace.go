package main

import (
	"fmt"
	"io"

	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// tracePrinter prints each statement with what it was answered and what changed by it.
type tracePrinter struct {
	out      io.Writer
	caseName string
	windows  map[scenario.ID]int64
}

// silent statements show in the call that they belong to.
var silent = map[*scenario.Kind]bool{scenario.Clock: true, scenario.Told: true}

// Trace prints one step.
func (p *tracePrinter) Trace(s *replay.Step) {
	if s.Case != p.caseName {
		p.caseName, p.windows = s.Case, nil
		fmt.Fprintf(p.out, "case %q\n", s.Case)
	}
	switch {
	case s.End:
		fmt.Fprintf(p.out, "%6s %12s  the end\n", "", seconds(s.At))
	case !silent[s.Statement.Kind]:
		fmt.Fprintf(p.out, "%6d %12s  %s", s.Statement.Line, seconds(s.At), plain(s.Statement))
		if text := answers(s.Answers); text != "" {
			fmt.Fprintf(p.out, " -> %s", text)
		}
		fmt.Fprintln(p.out)
	}
	for _, t := range s.Transitions {
		p.detail("%s  %s", t.Route, change(t))
	}
	p.changes(s)
	for _, m := range s.Mismatches {
		if m.NotRun() {
			p.detail("CANNOT BE RUN  %s", m.Got)
			continue
		}
		p.detail("NOT AS EXPECTED  %s: expected %s, got %s", m.What, m.Want, m.Got)
		if m.Excuse != "" {
			p.detail("  excused: %s", m.Excuse)
		}
	}
}

func (p *tracePrinter) detail(format string, args ...any) {
	fmt.Fprintf(p.out, "%21s  "+format+"\n", append([]any{""}, args...)...)
}

// changes prints how windows changed. A recording may have more routes than one wants to
// look at after each of its calls: there the monitor and transitions are what changes one.
func (p *tracePrinter) changes(s *replay.Step) {
	const few = 16 // routes
	if len(p.windows) > few && len(s.Transitions) == 0 && s.Statement.Kind != scenario.Tick && !s.End {
		return
	}
	if p.windows == nil {
		p.windows = map[scenario.ID]int64{}
	}
	for r := range s.Routes() {
		was, known := p.windows[r.Route]
		p.windows[r.Route] = r.WindowBytes
		if known && was != r.WindowBytes {
			p.detail("%s  window %s => %s", r.Route, bytesText(was), bytesText(r.WindowBytes))
		}
	}
}
