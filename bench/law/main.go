package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// options are the flags.
type options struct {
	only  *regexp.Regexp
	seeds int
	first uint64
	arms  []fabriclab.Arm
	list  bool
	out   string
}

// asked returns the arms that an experiment is about.
func (o *options) asked(e fabriclab.Experiment) (arms []fabriclab.Arm) {
	for _, a := range o.arms {
		if a.Config != nil || !e.Gated {
			arms = append(arms, a)
		}
	}
	return arms
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "law:", err)
		os.Exit(1)
	}
}

// run runs the experiments, prints a table of each as soon as it is there, and writes
// the report. If it is interrupted it does so with what it has.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	var chosen []fabriclab.Experiment
	for _, e := range fabriclab.Experiments() {
		if o.only == nil && !e.Long || o.only != nil && o.only.MatchString(e.Name) {
			chosen = append(chosen, e)
		}
	}
	if len(chosen) == 0 {
		return errors.New("-only matches no experiment; -list shows them")
	}
	if o.list {
		for _, e := range chosen {
			fmt.Fprintf(stdout, "%s\n\t%s\n", e.Name, e.Setup)
		}
		return nil
	}
	rep := report{machine: machine.This(), options: o}
	p := newProgress(stderr, chosen, o)
	for _, e := range chosen {
		if len(o.asked(e)) == 0 {
			continue
		}
		r, failed := measure(ctx, e, o, p)
		p.clear()
		if r.seeds > 0 {
			if err := r.print(stdout); err != nil {
				return err
			}
			rep.results = append(rep.results, r)
		}
		if failed != nil {
			return errors.Join(failed, rep.write())
		}
	}
	return rep.write()
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("law", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "run only the experiments whose names match this regular expression")
	f.IntVar(&o.seeds, "seeds", 10, "runs of each experiment and arm")
	f.Uint64Var(&o.first, "seed", 1, "the first seed")
	arms := f.String("arms", strings.Join(fabriclab.DefaultArms(), ";"), "arms, separated by semicolons")
	f.BoolVar(&o.list, "list", false, "list the experiments and run none")
	f.StringVar(&o.out, "out", "", "folder for report.html, report.md and its plots; none are written without")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if *only != "" {
		if o.only, err = regexp.Compile(*only); err != nil {
			return nil, fmt.Errorf("-only is not a regular expression: %w", err)
		}
	}
	if f.NArg() > 0 || o.seeds < 1 {
		return nil, fmt.Errorf("flags come as -name value, and -seeds is at least 1")
	}
	for _, name := range split(*arms) {
		a, err := fabriclab.ParseArm(name)
		if err != nil {
			return nil, err
		}
		o.arms = append(o.arms, a)
	}
	return o, nil
}

// split separates names of arms.
func split(arms string) []string {
	if strings.ContainsAny(arms, ";=") {
		return strings.Split(arms, ";")
	}
	return strings.Split(arms, ",")
}
