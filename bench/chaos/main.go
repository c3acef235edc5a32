package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/chaos"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

// options are the flags.
type options struct {
	fabric   string
	seed     uint64
	seeds    int
	run      time.Duration
	length   time.Duration
	schedule string
	out      string
	print    bool
	shrink   int
	stderr   io.Writer
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == agentFlag && softroce.InGuest() {
		if err := softroce.ServeAgent(); err != nil {
			fmt.Println(err) // to the guest's console
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == bubbleFlag {
		simulate(os.Stdin, os.Stdout)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// run runs what was asked for and reports. For real verbs it boots the guest and has the
// same program run there.
func run(ctx context.Context, args []string) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	plans, err := o.plans()
	if err != nil {
		return err
	}
	if o.print {
		for _, p := range plans {
			fmt.Println(p)
		}
		return nil
	}
	if softroce.InGuest() {
		return o.rounds(ctx, plans, os.Stdout)
	}
	if o.out != "" {
		if err := os.MkdirAll(o.out, 0o755); err != nil {
			return fmt.Errorf("cannot make the folder of the report: %w", err)
		}
	}
	var results []chaos.Result
	if o.fabric == "sim" {
		results, err = (&simulation{options: o, log: os.Stderr}).run(ctx, plans)
	} else if results, err = o.inGuest(ctx, args, plans); err == nil {
		for _, r := range results {
			if r.Failed() {
				o.save(r.Schedule)
			}
		}
	}
	if len(results) == 0 {
		return err
	}
	rep := report{machine: machine.This(), fabric: o.fabric, results: results}
	fmt.Print(rep.text())
	if o.out != "" {
		err = errors.Join(err, rep.write(o.out))
	}
	return errors.Join(err, rep.broken())
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{stderr: stderr}
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.fabric, "fabric", "sim", "sim, or guest for real verbs in the Soft-RoCE guest")
	f.Uint64Var(&o.seed, "seed", 1, "first seed")
	f.IntVar(&o.seeds, "seeds", 0, "how many seeds; 0 is 200 on the simulated fabric, and in the guest as many as -run has time for")
	f.DurationVar(&o.run, "run", 0, "how long to go on with further rounds in the guest; the last one may take longer")
	f.DurationVar(&o.length, "length", 0, "length of a round's faults; 0 is 3s on the simulated fabric and 1m in the guest")
	f.StringVar(&o.schedule, "schedule", "", "`file` with the schedule to run, instead of generated ones")
	f.StringVar(&o.out, "out", "", "folder for report.md, its plot, and schedules that failed; none are written without")
	f.BoolVar(&o.print, "print", false, "print the schedules and run nothing")
	f.IntVar(&o.shrink, "shrink", 150, "how many smaller schedules are tried for one that fails; 0 shrinks nothing")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q; flags come as -name value", f.Arg(0))
	case o.fabric != "sim" && o.fabric != "guest":
		return nil, fmt.Errorf("-fabric %q: use sim or guest", o.fabric)
	case o.seeds < 0 || o.run < 0 || o.length < 0 || o.shrink < 0:
		return nil, fmt.Errorf("-seeds %d -run %v -length %v -shrink %d: nothing may be negative", o.seeds, o.run, o.length, o.shrink)
	}
	return o, nil
}

// plans returns the schedules to run.
func (o *options) plans() ([]chaos.Schedule, error) {
	if o.schedule != "" {
		list, err := chaos.Load(o.schedule)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("%s: no schedule in it", o.schedule)
		}
		if err == nil {
			o.fabric = list[0].Fabric
		}
		return list, err
	}
	pace, n := chaos.SimPace(), 200
	if o.fabric == "guest" {
		pace = chaos.GuestPace()
	}
	if o.length > 0 {
		pace.Length = o.length
	}
	if o.fabric == "guest" {
		n = 1 + int(o.run/pace.Length) // a round takes longer than its faults
	}
	if o.seeds > 0 {
		n = o.seeds
	}
	var list []chaos.Schedule
	for i := range n {
		list = append(list, chaos.Generate(o.seed+uint64(i), pace))
	}
	return list, nil
}
