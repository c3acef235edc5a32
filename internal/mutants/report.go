package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// required is the part of the non-equivalent mutants that tests have to kill.
const required = 0.95

// result is what a run found out about a package.
type result struct {
	pkg                  string
	mutants              []*mutant // all, also those that were not run
	broken               []*mutant // did not compile
	chosen               int       // how many were to be run
	outcomes             map[*mutant]outcome
	leftOut              []leftOut
	equivalent, accepted *reasons
	took                 time.Duration
}

// count is a row of the table.
type count struct {
	run, killed, tookTooLong, notCovered, survived, equivalent int
}

func (r *result) count() (c count) {
	for _, m := range r.mutants {
		o := r.outcomes[m]
		switch _, same := r.equivalent.why[m.key.String()]; {
		case o.fate == notRun:
			continue
		case o.fate == killed:
			c.killed++
		case o.fate == tookTooLong:
			c.tookTooLong++
		case same:
			c.equivalent++
		case o.fate == notCovered:
			c.notCovered++
		case o.fate == survived:
			c.survived++
		}
		c.run++
	}
	return c
}

// score is the part of the non-equivalent mutants that were killed; 1 if there are none.
func (c count) score() float64 {
	if c.run == c.equivalent {
		return 1
	}
	return float64(c.killed+c.tookTooLong) / float64(c.run-c.equivalent)
}

// survivors returns the mutants that no test killed and nobody showed to be equivalent.
func (r *result) survivors() (left []*mutant) {
	for _, m := range r.mutants {
		_, same := r.equivalent.why[m.key.String()]
		if f := r.outcomes[m].fate; (f == survived || f == notCovered) && !same {
			left = append(left, m)
		}
	}
	return left
}

// explained reports whether a list of reasons has the mutant.
func (r *result) explained(m *mutant) bool {
	k := m.key.String()
	return r.equivalent.why[k] != "" || r.accepted.why[k] != ""
}

// faults returns why the run has not passed; nothing if it has.
func (r *result) faults() []string {
	var faults []string
	if n := r.count().run; n < r.chosen {
		faults = append(faults, fmt.Sprintf("%s: interrupted: %d of %d mutants were run", r.pkg, n, r.chosen))
	}
	faults = append(faults, r.equivalent.faults(r.mutants, r.outcomes, false)...)
	faults = append(faults, r.accepted.faults(r.mutants, r.outcomes, true)...)
	if score := r.count().score(); score < required {
		faults = append(faults, fmt.Sprintf("%s: %s of the mutants were killed, less than %s", r.pkg, percent(score), percent(required)))
	}
	unexplained := 0
	for _, m := range r.survivors() {
		if !r.explained(m) {
			unexplained++
		}
	}
	if unexplained > 0 {
		faults = append(faults, fmt.Sprintf("%s: %d survivors are unexplained", r.pkg, unexplained))
	}
	return faults
}

// percent rounds down: 94.99 is not 95.
func percent(part float64) string {
	return fmt.Sprintf("%.1f%%", float64(int(part*1000))/10)
}

// writeReport writes the results as Markdown.
func writeReport(w io.Writer, results []*result) {
	fmt.Fprint(w, "# Mutants of the packages\n\n")
	fmt.Fprint(w, "| package | mutants | killed | timed out | not covered | survived | equivalent | killed of non-equivalent | took |\n")
	fmt.Fprint(w, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, r := range results {
		c := r.count()
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %s | %s |\n", r.pkg, c.run, c.killed, c.tookTooLong,
			c.notCovered, c.survived, c.equivalent, percent(c.score()), r.took.Round(time.Second))
	}
	for _, r := range results {
		writePackage(w, r)
	}
}

func writePackage(w io.Writer, r *result) {
	fmt.Fprintf(w, "\n## %s\n\n", r.pkg)
	if c := r.count(); c.run < len(r.mutants) {
		fmt.Fprintf(w, "Only %d of %d mutants were run.\n\n", c.run, len(r.mutants))
	}
	for _, f := range r.faults() {
		fmt.Fprintf(w, "- **%s**\n", f)
	}
	if len(r.broken) > 0 {
		fmt.Fprintf(w, "- %d changes do not compile and are no mutants\n", len(r.broken))
	}
	for _, l := range r.leftOut {
		fmt.Fprintf(w, "- left out, since it fails without a mutant: %s of %s: %s\n", l.test.name, l.test.suite, firstFault(l.why))
	}
	if left := r.survivors(); len(left) > 0 {
		fmt.Fprint(w, "\n### Survivors\n\n")
		for _, m := range left {
			why := cmp.Or(r.accepted.why[m.key.String()], "unexplained")
			if r.outcomes[m].fate == notCovered {
				why = "not covered; " + why
			}
			writeMutant(w, r, m, why)
		}
	}
	if r.count().equivalent > 0 {
		fmt.Fprint(w, "\n### Equivalent\n\n")
		for _, m := range r.mutants {
			if why := r.equivalent.why[m.key.String()]; why != "" && r.outcomes[m].fate != notRun {
				writeMutant(w, r, m, why)
			}
		}
	}
}

func writeMutant(w io.Writer, r *result, m *mutant, why string) {
	before, after := m.diff()
	fmt.Fprintf(w, "%s/%s:%d: %s\n\n    %s\n    - %s\n    + %s\n\n", r.pkg, m.key.file, m.line, why, m.key, before, after)
}

// firstFault returns a line that says what failed.
func firstFault(output string) string {
	lines := strings.Split(output, "\n")
	for i, l := range lines {
		if strings.Contains(l, "Error:") || strings.HasPrefix(l, "panic:") {
			return oneLine(strings.Join(lines[i:min(i+3, len(lines))], " "))
		}
	}
	return oneLine(output[:min(200, len(output))])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
