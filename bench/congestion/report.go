package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/cc"
	lab "github.com/rdmagate/rdmagate/internal/labcongestion"
)

// report is what a person reads of the findings.
type report struct {
	machine machine.Machine
	plan    plan
	findings
}

// write puts the report and its plots into a folder.
func (rep report) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the report: %w", err)
	}
	if err := rep.plots(folder); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "report.md"), []byte(rep.markdown()), 0o644)
}

func (rep report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Admission at a bottleneck, on real verbs\n\n%s; %s; medians of %d rounds of %s each.\n", rep.guest(), rep.machine, rep.plan.Rounds, rep.plan.Measure)
	b.WriteString("\nCompare arms, not times. Delay is the median time from Posting to completion; drain is what the controller's snapshots show. Plots show the first round with its warm-up.\n")
	rep.steady(&b)
	rep.follow(&b)
	return b.String()
}

// guest says in what guest the figures were made.
func (rep report) guest() string {
	return fmt.Sprintf("Soft-RoCE in an emulated guest with Linux %s; seed %d", rep.Kernel, rep.plan.Seed)
}

func (rep report) steady(b *strings.Builder) {
	best := rep.bestStatic()
	fmt.Fprintf(b, "\n## Steady bottleneck\n\n%s.\n\n![](%s)\n\n![](%s)\n\n", rep.Steady[0].Setup.Traffic(), steadyPlot, sweepPlot)
	b.WriteString("| arm | Mbit/s | of the rounds | by the best static window | delay | drain |\n|---|--:|--:|--:|--:|--:|\n")
	for _, r := range rep.Steady {
		fmt.Fprintf(b, "| %s | %.2f | %s | %.3f | %s | %s |\n", r.Name, r.Goodput(), spread(r), r.Goodput()/best, millis(r.Delay()), drain(r))
	}
	policies(b, rep.Steady)
}

// bestStatic is the goodput of the best static window, in Mbit/s.
func (rep report) bestStatic() (best float64) {
	for _, r := range rep.Steady {
		if r.Setup.Static() {
			best = max(best, r.Goodput())
		}
	}
	return best
}

func (rep report) follow(b *strings.Builder) {
	b.WriteString("\n## A rate that changes\n\nThe steady bottleneck, with another rate in each phase.\n\n")
	for _, f := range rep.Follow {
		fmt.Fprintf(b, "![](%s)\n\n", followPlot(f.Setup.Control.Law))
	}
	fmt.Fprintf(b, "| law | rate | settled after, in epochs | then Mbit/s, from epoch %d | share of the link | delay |\n|---|--:|--:|--:|--:|--:|\n", followEpochs)
	for _, f := range rep.Follow {
		for _, p := range f.Phases {
			fmt.Fprintf(b, "| %s | %g | %.1f | %.2f | %.3f | %s |\n", f.Setup.Control.Law, p.Mbit,
				float64(p.Settled)/float64(f.Setup.Control.Epoch), p.Late.GoodputMbit, p.Late.GoodputMbit/p.Mbit, millis(p.Late.MedianDelay))
		}
	}
	b.WriteString("\nSettled: the last sample of 50 ms with a median delay above twice the target.\n")
}

// policies lists the settings of the arms, each once.
func policies(b *strings.Builder, results []lab.Result) {
	var seen []string
	b.WriteString("\n")
	for _, r := range results {
		text := r.Setup.Policy()
		if r.Setup.Static() || slices.Contains(seen, text) {
			continue
		}
		seen = append(seen, text)
		fmt.Fprintf(b, "- %s: %s\n", r.Name, text)
	}
}

// spread is the least and the most goodput of the rounds.
func spread(r lab.Result) string {
	least, most := r.Rounds[0].GoodputMbit, r.Rounds[0].GoodputMbit
	for _, s := range r.Rounds {
		least, most = min(least, s.GoodputMbit), max(most, s.GoodputMbit)
	}
	return fmt.Sprintf("%.2f to %.2f", least, most)
}

func drain(r lab.Result) string {
	if r.Setup.Control.Mode == cc.Off {
		return "-"
	}
	return millis(r.Drain())
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
