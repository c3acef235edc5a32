package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// report is the steps of a run.
type report struct {
	machine machine.Machine
	steps   []step
}

// faults joins the promises that were broken.
func (rep report) faults() error {
	var list []error
	for _, s := range rep.steps {
		if s.Fault != "" {
			list = append(list, fmt.Errorf("%s: %s", s.Name, s.Fault))
		}
	}
	return errors.Join(list...)
}

// write puts the report and its plots into a folder.
func (rep report) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the report: %w", err)
	}
	text := "# What sharing the pause table is worth\n\n" + rep.machine.String() + "\n\n"
	if rep.hasResults() {
		if err := rep.plot(filepath.Join(folder, "goodput.png")); err != nil {
			return err
		}
		text += "![goodput of each arm, with the moments at which slices timed out](goodput.png)\n\n"
	}
	return os.WriteFile(filepath.Join(folder, "report.md"), []byte(text+rep.table()), 0o644)
}

func (rep report) hasResults() bool {
	for _, s := range rep.steps {
		if s.Result != nil {
			return true
		}
	}
	return false
}

// table returns the numbers of all steps in Markdown.
func (rep report) table() string {
	var b strings.Builder
	rep.wires(&b)
	rep.arms(&b)
	rep.comparisons(&b)
	rep.repairs(&b)
	rep.flaps(&b)
	if err := rep.faults(); err != nil {
		fmt.Fprintf(&b, "Promises that did not hold, and steps that failed:\n\n```\n%v\n```\n", err)
	} else {
		b.WriteString("Nothing was seen that breaks a promise.\n")
	}
	return b.String()
}

// rows writes a table of the steps for which cells returns any; nothing if for none.
func (rep report) rows(b *strings.Builder, head string, cells func(step) []any) {
	columns := strings.Count(head, "|")
	begun := false
	for _, s := range rep.steps {
		list := cells(s)
		if list == nil {
			continue
		}
		if !begun {
			fmt.Fprintf(b, "| %s |\n|%s\n", head, strings.Repeat(" --- |", columns+1))
			begun = true
		}
		for _, c := range list {
			fmt.Fprintf(b, "| %v ", c)
		}
		b.WriteString("|\n")
	}
	if begun {
		b.WriteString("\n")
	}
}

func (rep report) wires(b *strings.Builder) {
	rep.rows(b, "Fabric | timeout by the QP's numbers | on the wire | carries | load", func(s step) []any {
		w := s.Wire
		if w == nil {
			return nil
		}
		return []any{w.Op, text(w.Nominal), text(w.Retry), mb(w.Rate),
			fmt.Sprintf("%d transfers of %d KiB at once, in slices of %d KiB", w.Streams, w.Bytes>>10, w.Numbers.SliceBytes>>10)}
	})
}

func (rep report) arms(b *strings.Builder) {
	rep.rows(b, "Arm | Operation | whole run | second half | transfers stalled | timeout rounds of a dead pair: most, sum | slices lost, of them posted when a failure was known | last error | dead pairs met, pauses | failures on live pairs | endpoints built", func(s step) []any {
		r := s.Result
		if r == nil {
			return nil
		}
		lost, after := r.Lost()
		last := "none"
		if len(r.Dead) > 0 {
			last = fmt.Sprintf("%s of %s", text(r.LastError), text(r.Duration))
		}
		pauses, live := 0, 0
		for _, l := range r.Dead {
			pauses += l.Paused
		}
		for _, l := range r.Spurious {
			live += l.Slices
		}
		return []any{fmt.Sprintf("%s (%s)", r.Arm, what(r.Arm)), r.Op, mb(r.Bandwidth), mb(r.Late),
			fmt.Sprintf("%d of %d, longest %s; %d slow without a loss", r.Stalled, r.Transfers, text(r.Longest), r.Slow),
			fmt.Sprintf("%d, %d", r.MostRounds(), r.Rounds()), fmt.Sprintf("%d, %d", lost, after), last,
			fmt.Sprintf("%d, %d", len(r.Dead), pauses), live, r.Builds}
	})
}

func what(arm string) string {
	for _, a := range twohost.Arms() {
		if a.Name == arm {
			return a.What
		}
	}
	return ""
}

func (rep report) comparisons(b *strings.Builder) {
	rep.rows(b, "Side by side, after learning | operation | first | second | ratio, two standard errors | ratios by second", func(s step) []any {
		c := s.Compare
		if c == nil {
			return nil
		}
		var each []string
		for i, first := range c.Rates[0] {
			each = append(each, fmt.Sprintf("%.2f", first/c.Rates[1][i]))
		}
		return []any{fmt.Sprintf("%s, %s", c.Arms[0], c.Arms[1]), c.Op, mb(mean(c.Rates[0])), mb(mean(c.Rates[1])),
			fmt.Sprintf("%.1f%% +- %.1f", 100*c.Ratio(), 200*c.Error()), strings.Join(each, " ")}
	})
}

func mean(list []float64) (m float64) {
	for _, v := range list {
		m += v / float64(len(list))
	}
	return m
}

func (rep report) repairs(b *strings.Builder) {
	rep.rows(b, "Repair | probe interval | a failing probe takes | last pair back after | each pair: probe that failed, that succeeded, user slice | longest from failed to good probe | user slices lost | lifting took", func(s step) []any {
		r := s.Repair
		if r == nil {
			return nil
		}
		latest, all := r.Latest()
		back := "never"
		if all {
			back = fmt.Sprintf("%s = %.2f intervals", text(latest), latest.Seconds()/r.Interval.Seconds())
		}
		var each []string
		var gap time.Duration
		for _, p := range r.Pairs {
			each = append(each, fmt.Sprintf("(%.2f %.2f %.2f)", p.Failed.Seconds(), p.Probe.Seconds(), p.User.Seconds()))
			gap = max(gap, p.Gap())
		}
		return []any{r.Op, text(r.Interval), text(r.Retry.Middle), back, strings.Join(each, " "),
			fmt.Sprintf("%s = %.2f intervals", text(gap), gap.Seconds()/r.Interval.Seconds()), r.Lost, text(r.Lifting)}
	})
}

func (rep report) flaps(b *strings.Builder) {
	rep.rows(b, "Flapping link | Operation | down, up | cycles with a stalled transfer | stalled transfers by cycle | slices lost by cycle | pairs paused by cycle | pairs back by cycle | pairs without endpoint by cycle | why", func(s step) []any {
		f := s.Flap
		if f == nil {
			return nil
		}
		return []any{f.Link, f.Op, fmt.Sprintf("%v, %v", f.Down, f.Up), fmt.Sprintf("%d of %d", f.Hit(), len(f.Stalled)), f.Stalled, f.Failed, f.Paused, f.Back, f.Unbuilt, f.Why}
	})
}

func text(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func mb(rate float64) string { return fmt.Sprintf("%.2f MB/s", rate/1e6) }
