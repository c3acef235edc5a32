package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// options are the flags.
type options struct {
	only     *regexp.Regexp
	short    bool
	length   time.Duration
	seed     uint64
	out      string
	list     bool
	programs string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := begin(ctx); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "arms:", err)
		os.Exit(1)
	}
}

// begin is what the program is told to be: in the guest also its agent, or one arm.
func begin(ctx context.Context) error {
	if len(os.Args) == 2 && softroce.InGuest() {
		switch os.Args[1] {
		case agentFlag:
			if err := softroce.ServeAgent(); err != nil {
				fmt.Println(err) // to the guest's console
			}
			return nil
		case workerFlag:
			return serve(ctx, os.Stdin, os.Stdout)
		}
	}
	return command(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// command measures when it is in the guest; on the host it boots the guest, has the same
// program run there, and reports.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	todo, err := o.chosen()
	if err != nil {
		return err
	}
	if o.list {
		for _, s := range todo {
			fmt.Fprintf(stdout, "%s\n\t%s\n", s.Name, s.kind().Setup())
		}
		return nil
	}
	if softroce.InGuest() {
		out, kernel := json.NewEncoder(stdout), machine.Kernel()
		r := &run{programs: o.programs, seed: o.seed, began: time.Now(), length: o.length, log: stderr}
		return r.measure(ctx, todo, func(res result) error { return out.Encode(line{kernel, &res}) })
	}
	found, failure := inGuest(ctx, o.length, args, stderr)
	if len(found.Results) == 0 {
		return failure
	}
	rep := report{machine: machine.This(), seed: o.seed, findings: found}
	p, err := rep.page()
	if err != nil {
		return errors.Join(failure, err)
	}
	text, err := p.markdown()
	if err != nil {
		return errors.Join(failure, err)
	}
	_, err = io.WriteString(stdout, text)
	return errors.Join(failure, err, p.write(o.out), rep.faults())
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("arms", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "run only the steps whose names match this regular expression")
	f.BoolVar(&o.short, "short", false, "run only steps that stand for their kind, to see whether all works")
	f.DurationVar(&o.length, "time", 0, "`length` of all steps together; the more, the narrower the intervals, but each step has a round or two in any case. 0 is 18m, and 2m with -short")
	f.Uint64Var(&o.seed, "seed", 1, "makes the order of the arms, payload, and jitter")
	f.StringVar(&o.out, "out", "", "`folder` for report.html, report.md and its plots; none are written without")
	f.BoolVar(&o.list, "list", false, "list the steps and run none")
	f.StringVar(&o.programs, "programs", "", "`folder` of the two programs; for the guest, where nothing is built")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 || o.length < 0 {
		return nil, errors.New("flags come as -name value, and -time is not negative")
	}
	switch {
	case o.length == 0 && o.short:
		o.length = 2 * time.Minute
	case o.length == 0:
		o.length = 18 * time.Minute
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return nil, fmt.Errorf("-only is not a regular expression: %w", err)
	}
	return o, nil
}

// chosen returns the steps that were asked for.
func (o *options) chosen() (todo []step, err error) {
	for _, s := range steps() {
		if o.only.MatchString(s.Name) && (s.short() || !o.short) {
			todo = append(todo, s)
		}
	}
	if len(todo) == 0 {
		return nil, errors.New("-only matches no step; -list shows those that there are")
	}
	return todo, nil
}
