package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
)

// options are the flags.
type options struct {
	only  *regexp.Regexp
	scale float64
	out   string
}

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "overload:", err)
		os.Exit(1)
	}
}

// run runs the cases that were asked for, prints the table, and writes the report if a
// folder was named. It returns the rules that were broken.
func run(args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	rep := report{machine: machine.This(), scale: o.scale}
	for _, s := range scenarios() {
		if o.only.MatchString(s.name) {
			rep.results = append(rep.results, s.check(o.scale, stderr))
		}
	}
	if len(rep.results) == 0 {
		return fmt.Errorf("-only %q matches no case", o.only)
	}
	fmt.Fprint(stdout, rep.text())
	if o.out != "" {
		err = rep.write(o.out)
	}
	return errors.Join(err, rep.broken())
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("overload", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "run only the cases whose names match this regular expression")
	f.Float64Var(&o.scale, "scale", 1, "multiplies all counts; 0.001 to 10")
	f.StringVar(&o.out, "out", "", "folder for report.md and its plots; none are written without")
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
	case !(o.scale >= 0.001 && o.scale <= 10):
		return nil, fmt.Errorf("-scale is %v, must be 0.001 to 10", o.scale)
	}
	return o, nil
}
