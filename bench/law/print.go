package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// print writes the table of an experiment, a row for each figure and arm.
func (r result) print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n%s\n", r.experiment.Name, r.experiment.Setup, r.seedText())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.experiment.Figures {
		for _, a := range r.arms {
			s, ok := a.spread(f.Name)
			if !ok {
				fmt.Fprintf(t, "  %s\t%s\t%s\t-\t\t%s\t\n", f.Name, f.Goal, a.arm.Name, f.Unit)
				continue
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s to %s\t%s\t%s\n", f.Name, f.Goal, a.arm.Name, number(s.median), number(s.least), number(s.most), f.Unit, verdict(f, s))
		}
	}
	for _, a := range r.arms {
		if n := len(a.runs); n > 0 {
			fmt.Fprintf(t, "  time of a run\t\t%s\t%v\n", a.arm.Name, (a.took / time.Duration(n)).Round(time.Millisecond))
		}
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// seedText says what a figure is the median of.
func (r result) seedText() string {
	switch r.seeds {
	case 0:
		return "No seed is complete."
	case 1:
		return "One seed."
	}
	return fmt.Sprintf("Medians of %d seeds, with the least and the most.", r.seeds)
}

// verdict is "met", "missed", or nothing for a figure without a goal.
func verdict(f fabriclab.Figure, s spread) string {
	switch {
	case f.Goal.Sense == fabriclab.NoGoal:
		return ""
	case f.Goal.Met(s.median):
		return "met"
	}
	return "missed"
}

// number writes three or more digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case v == math.Trunc(v) && a < 1e6 || a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a < 0.01:
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.3f", v)
}
