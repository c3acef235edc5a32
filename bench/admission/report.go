package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/bench/internal/measure"
)

// report is a run's results in the order of its scenarios.
type report struct {
	machine machine.Machine
	lines   []line

	bare, withEndpoint float64 // bytes of an idle route
}

// line is one scenario with its result.
type line struct {
	scenario
	measure.Result
	ratio float64 // to the floor of the run
}

func newReport(list []scenario, results []measure.Result) *report {
	rep := &report{machine: machine.This()}
	base := byName(results)[floorCAS]
	for i, s := range list {
		rep.lines = append(rep.lines, line{s, results[i], results[i].NsPerOp / base})
	}
	return rep
}

// byName returns the times of results.
func byName(results []measure.Result) map[string]float64 {
	times := map[string]float64{}
	for _, r := range results {
		times[r.Name] = r.NsPerOp
	}
	return times
}

// table prints the results in columns.
func (rep *report) table(w io.Writer) {
	fmt.Fprintln(w, rep.machine)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ns/op\tratio\tallocs/op\t\t")
	for _, l := range rep.lines {
		fmt.Fprintf(t, "%.2f\t%.2f\t%.2f\t%s\t\n", l.NsPerOp, l.ratio, l.AllocsPerOp, pad(l.name()))
	}
	_ = t.Flush()
	fmt.Fprintf(w, "an idle route: %.0f bytes, with an endpoint of one QP %.0f (of %d routes)\n", rep.bare, rep.withEndpoint, memoryRoutes)
}

// name is the scenario's name with its kind.
func (l line) name() string { return string(l.kind) + ": " + l.Result.Name }

// pad makes names of one length, so that right-aligned columns keep them on the left.
func pad(s string) string { return fmt.Sprintf("%-56s", s) }

// write puts the report and its plot into a folder.
func (rep *report) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the report: %w", err)
	}
	if err := rep.plot(filepath.Join(folder, "report.svg")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "report.md"), []byte(rep.markdown()), 0o644)
}

func (rep *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What admission costs\n\n%s\n\n", rep.machine)
	b.WriteString("Ratios are to the two CAS-loop pairs of the same run; compare them, not the times.\n\n![bars](report.svg)\n\n")
	b.WriteString("| scenario | ns/op | ratio | allocs/op | what it is |\n|---|--:|--:|--:|---|\n")
	for _, l := range rep.lines {
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %.2f | %s |\n", l.name(), l.NsPerOp, l.ratio, l.AllocsPerOp, l.note)
	}
	fmt.Fprintf(&b, "\nAn idle route takes %.0f bytes, with an endpoint of one QP %.0f, measured over %d routes.\n", rep.bare, rep.withEndpoint, memoryRoutes)
	return b.String()
}
