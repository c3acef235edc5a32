package main

import (
	"fmt"
	"strings"

	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// check runs a file, says what is not as expected, and sums up in one line.
func (r *runner) check(src *source) int {
	var o replay.Options
	if r.verbose {
		fmt.Fprintf(r.out, "%s:\n", src.name)
		o.Tracer = &tracePrinter{out: r.out}
	}
	in, err := src.reader("replay")
	if err != nil {
		return r.trouble(err)
	}
	result, err := replay.Run(in, o)
	if err != nil && damaged(err) == nil {
		return r.trouble(src.named(err))
	}
	status, verdict := 0, "ok"
	if err != nil {
		r.say("%v", src.named(err))
		status, verdict = exitMismatch, "DAMAGED, ok up to there"
	}
	where := place{src.name, in.Format()}
	r.list(where, result.Mismatches, result.Mismatched)
	if !result.OK() {
		status, verdict = exitMismatch, fmt.Sprintf("FAILED: %d of %d answers are not as expected", result.Mismatched, result.Answers)
	}
	r.list(where, result.Differences, result.Different)
	if n := result.MadeUp; n > 0 {
		fmt.Fprintf(r.out, "%s: %s\n", src.name, madeUp(n))
	}
	fmt.Fprintf(r.out, "%s: %s\n", src.name, strings.Join(append([]string{verdict}, sum(result)...), ", "))
	return status
}

// sum is what there is to say of a result beside the verdict.
func sum(result *replay.Result) (parts []string) {
	parts = append(parts, count(result.Statements, "statement"))
	if n := len(result.Cases); n > 0 {
		parts = append(parts, count(n, "case"))
	}
	switch {
	case result.Answers == 0:
		parts = append(parts, "nothing was expected")
	case result.OK():
		parts = append(parts, count(result.Answers, "answer")+" compared")
	}
	if result.Different > 0 {
		parts = append(parts, count(result.Different, "difference")+" with an excuse")
	}
	if result.Lost > 0 {
		parts = append(parts, count(result.Lost, "statement")+" missing in the recording")
	}
	return parts
}

// place says where a statement stands.
type place struct {
	file   string
	format scenario.Format
}

func (p place) line(n int) string {
	switch {
	case n == 0:
		return p.file
	case p.format == scenario.Binary:
		return fmt.Sprintf("%s, statement %d", p.file, n)
	}
	return fmt.Sprintf("%s:%d", p.file, n)
}

// list prints what is not as expected, of so many in all.
func (r *runner) list(where place, list []replay.Mismatch, all int64) {
	shown := list[:min(len(list), r.most)]
	for _, m := range shown {
		fmt.Fprintf(r.out, "%s: at %s: ", where.line(m.Line), seconds(m.At))
		if m.Case != "" {
			fmt.Fprintf(r.out, "case %q: ", m.Case)
		}
		if m.Line == 0 {
			m.Statement = "at the end"
		}
		fmt.Fprintf(r.out, "%s\n", m.Statement)
		if m.NotRun() { // it cannot be run
			fmt.Fprintf(r.out, "  %s\n", m.Got)
			continue
		}
		fmt.Fprintf(r.out, "  expected  %s: %s\n  got       %s: %s\n", m.What, m.Want, m.What, m.Got)
		if m.Excuse != "" {
			fmt.Fprintf(r.out, "  excused   %s\n", m.Excuse)
		}
	}
	if more := all - int64(len(shown)); more > 0 {
		fmt.Fprintf(r.out, "%s: %d more like these; -n lists more\n", where.file, more)
	}
}
