package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// print writes the table of an experiment, a row for each figure and arm.
func (r result) print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n", r.experiment.Name, r.experiment.Setup)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.experiment.Figures {
		for _, a := range r.arms {
			s := a.spread(f.Name)
			missed := ""
			if !f.Goal.Met(s.median) {
				missed = "missed"
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s to %s\t%s\t%s\n", f.Name, f.Goal, a.name, number(s.median), number(s.least), number(s.most), f.Unit, missed)
		}
	}
	for _, a := range r.arms {
		fmt.Fprintf(t, "  time of a run\t\t%s\t%v\n", a.name, (a.took / time.Duration(len(a.runs))).Round(time.Millisecond))
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// number writes three or more digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
