package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
)

func main() {
	out := flag.String("out", "", "folder for report.md and report.svg; none are written without")
	only := flag.String("only", "", "measure only scenarios that match this regular expression, and the floor")
	plan := measure.DefaultPlan()
	flag.IntVar(&plan.Rounds, "rounds", plan.Rounds, "rounds of each sitting; more for a busier machine")
	flag.IntVar(&plan.Sittings, "sittings", plan.Sittings, "times that everything is set up anew")
	flag.Parse()
	if err := run(plan, *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, "admission:", err)
		os.Exit(1)
	}
}

// run measures, prints the table, and writes the report if out is not empty.
func run(plan measure.Plan, only, out string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only is not a regular expression: %w", err)
	}
	if plan.Rounds < 1 || plan.Sittings < 1 {
		return fmt.Errorf("-rounds is %d and -sittings %d, both must be at least 1", plan.Rounds, plan.Sittings)
	}
	var list []scenario
	var measured []measure.Scenario
	for _, s := range scenarios() {
		if s.Name == floorCAS || pattern.MatchString(s.Name) {
			list = append(list, s)
			measured = append(measured, s.Scenario)
		}
	}
	plan.Progress = progress(os.Stderr)
	results, err := measure.Run(plan, measured...)
	if err != nil {
		return err
	}
	rep := newReport(list, results)
	if rep.bare, rep.withEndpoint, err = routeBytes(); err != nil {
		return err
	}
	rep.table(os.Stdout)
	if out == "" {
		return nil
	}
	return rep.write(out)
}

// progress shows how far a run is, if somebody looks.
func progress(f *os.File) func(round, of int) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(round, of int) {
		fmt.Fprintf(f, "\rround %d of %d", round, of)
		if round == of {
			fmt.Fprint(f, "\r\033[K")
		}
	}
}
