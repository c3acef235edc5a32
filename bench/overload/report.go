package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
)

// report is what came out of all cases.
type report struct {
	machine machine.Machine
	scale   float64
	results []*check
}

// broken joins the rules that did not hold.
func (rep report) broken() error {
	var list []error
	for _, c := range rep.results {
		list = append(list, c.broken)
	}
	return errors.Join(list...)
}

// rows returns the table, a row for each figure.
func (rep report) rows() (rows [][4]string) {
	for _, c := range rep.results {
		for _, f := range c.figures {
			rows = append(rows, [4]string{c.name, f.name, f.unit.text(f.value), f.bound()})
		}
	}
	return rows
}

// bound writes the limit.
func (f figure) bound() string {
	switch {
	case f.limit == 0:
		return ""
	case f.least:
		return ">= " + f.unit.text(f.limit)
	}
	return "<= " + f.unit.text(f.limit)
}

// verdict says which rules held.
func (rep report) verdict() string {
	rules := 0
	for _, c := range rep.results {
		rules += c.rules
	}
	if err := rep.broken(); err != nil {
		return fmt.Sprintf("%s rules held; broken were:\n%v\n", grouped(int64(rules)), err)
	}
	return fmt.Sprintf("%s rules of %d cases held, at scale %v.\n", grouped(int64(rules)), len(rep.results), rep.scale)
}

// text returns the table for a terminal.
func (rep report) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, rep.machine)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rep.rows() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r[0], r[1], r[2], r[3])
	}
	_ = t.Flush()
	return b.String() + rep.verdict()
}

// write puts the report and its plots into a folder.
func (rep report) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the report: %w", err)
	}
	plots, err := rep.plots(folder)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "report.md"), []byte(rep.markdown(plots)), 0o644); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

func (rep report) markdown(plots []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Overload and hostile input\n\n%s\n\n%s\n", rep.machine, rep.verdict())
	b.WriteString("Of times only ratios are shown, each of two that were measured in this run; times to recover are those of a fake clock.\n\n")
	for _, p := range plots {
		fmt.Fprintf(&b, "![%s](%s.png)\n\n", p, p)
	}
	b.WriteString("| case | | value | limit |\n| --- | --- | --: | --: |\n")
	for _, r := range rep.rows() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r[0], r[1], r[2], r[3])
	}
	return b.String()
}
