package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == agentFlag && softroce.InGuest() {
		if err := softroce.ServeAgent(); err != nil {
			fmt.Println(err) // to the guest's console
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	plan := defaultPlan()
	out := flag.String("out", "", "folder for report.md and its plots; none are written without")
	flag.IntVar(&plan.Rounds, "rounds", plan.Rounds, "rounds of each comparison; more for a busier machine")
	flag.DurationVar(&plan.Measure, "measure", plan.Measure, "measured time of each run")
	flag.Uint64Var(&plan.Seed, "seed", plan.Seed, "makes payload and order")
	flag.Parse()
	if err := run(ctx, plan, *out); err != nil {
		fmt.Fprintln(os.Stderr, "congestion:", err)
		os.Exit(1)
	}
}

// run measures in a guest, prints the tables, and writes the report if out is not
// empty. In the guest it measures and prints what it measured, for the host to read.
func run(ctx context.Context, plan plan, out string) error {
	if err := plan.check(); err != nil {
		return err
	}
	if softroce.InGuest() {
		found, err := plan.measure(os.Stderr)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found, err := measureInGuest(ctx, os.Stderr)
	if err != nil {
		return err
	}
	rep := report{machine: machine.This(), plan: plan, findings: found}
	if _, err := io.WriteString(os.Stdout, rep.markdown()); err != nil || out == "" {
		return err
	}
	return rep.write(out)
}
