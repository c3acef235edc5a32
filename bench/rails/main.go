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
	"syscall"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// options are the flags.
type options struct {
	only    *regexp.Regexp
	out     string
	run     time.Duration
	cycles  int
	streams int
	slices  int
	rate    float64
	numbers twohost.Numbers
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == agentFlag && softroce.InGuest() {
		if err := softroce.ServeAgent(); err != nil {
			fmt.Println(err) // to the guest's console
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "rails:", err)
		os.Exit(1)
	}
}

// run measures when it is in the guest; on the host it boots the guest, has the same
// program run there, and reports.
func run(ctx context.Context, args []string) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	if softroce.InGuest() {
		return o.measure(ctx, os.Stdout, os.Stderr)
	}
	steps, failure := inGuest(ctx, args, os.Stderr)
	if len(steps) == 0 {
		return failure
	}
	rep := report{machine: machine.This(), steps: steps}
	fmt.Print(rep.table())
	if o.out != "" {
		failure = errors.Join(failure, rep.write(o.out))
	}
	return errors.Join(failure, rep.faults())
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{numbers: twohost.DefaultNumbers()}
	n := &o.numbers
	f := flag.NewFlagSet("rails", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "run only the steps that match this regular expression")
	f.StringVar(&o.out, "out", "", "folder for report.md and its plots; none are written without")
	f.DurationVar(&o.run, "run", 15*time.Second, "length of an arm's run")
	f.IntVar(&o.cycles, "cycles", 17, "times that a flapping link goes down, for 5 probe intervals, and up, for 2")
	f.IntVar(&o.streams, "streams", 0, "transfers under way at once; 0 is what the machine carries in a sixth of the timeout")
	f.IntVar(&o.slices, "slices", 60, "slices of a transfer; a multiple of 6")
	f.Float64Var(&o.rate, "rate", 16, "Mbit/s that reach one NIC; choose it below what the emulation can do")
	f.IntVar(&n.SliceBytes, "slice", n.SliceBytes, "`bytes` of a slice")
	f.IntVar(&n.WindowSlices, "window", n.WindowSlices, "slices that the window of a pair holds")
	ack := f.Uint("ack-timeout", uint(n.AckTimeout), "QP timeout `code` t: 4.096 us x 2^t a try")
	retry := f.Uint("retry", uint(n.Retry), "QP `count` of retries after a timeout; 7 never ends on Soft-RoCE")
	f.DurationVar(&n.ProbeInterval, "probe-interval", n.ProbeInterval, "time between two probes of a paused pair; at least 5 times what one takes to fail")
	f.DurationVar(&n.Cooldown, "cooldown", n.Cooldown, "base length of a pause")
	f.Uint64Var(&n.Seed, "seed", 1, "seed of all that is random")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return nil, fmt.Errorf("-only is not a regular expression: %w", err)
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q; flags come as -name value", f.Arg(0))
	case *ack < 8 || *ack > 20 || *retry > 6:
		return nil, fmt.Errorf("-ack-timeout %d -retry %d: the first must be 8 to 20, the second 0 to 6", *ack, *retry)
	case o.slices < twohost.Workers || o.slices%twohost.Workers != 0:
		return nil, fmt.Errorf("-slices %d: must be a multiple of %d", o.slices, twohost.Workers)
	case n.SliceBytes < 1 || n.WindowSlices < 1 || o.run < 2*time.Second || o.cycles < 1 || o.streams < 0:
		return nil, fmt.Errorf("-slice %d -window %d -run %v -cycles %d -streams %d: run at least 2s, and give positive numbers",
			n.SliceBytes, n.WindowSlices, o.run, o.cycles, o.streams)
	}
	n.AckTimeout, n.Retry = uint8(*ack), uint8(*retry)
	return o, nil
}
