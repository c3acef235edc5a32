package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rdmagate/rdmagate/examples/top/demo"
	"github.com/rdmagate/rdmagate/examples/top/live"
)

// Exit statuses beside 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

// errUsage marks errors of the command line.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1:], newTerminal(os.Stdout, os.Getenv), os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "top:", err)
		os.Exit(exitUsage)
	}
	fmt.Fprintln(os.Stderr, "top:", err)
	os.Exit(exitFailed)
}

// defaultAddr is where an engine on this machine is looked for.
const defaultAddr = "127.0.0.1:7474"

type options struct {
	addr  string
	every time.Duration
	once  bool
	demo  bool
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("top", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.addr, "addr", "", "`address` of the engine: HOST:PORT, the path of a Unix socket, or a URL (default "+defaultAddr+")")
	f.DurationVar(&o.every, "every", time.Second, "`time` between two looks")
	f.BoolVar(&o.once, "once", false, "print one frame and end")
	f.BoolVar(&o.demo, "demo", false, "show the example engine at work on a simulated fabric")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%w: unexpected argument %q; flags come as -name value", errUsage, f.Arg(0))
	}
	if o.every < 10*time.Millisecond {
		return o, fmt.Errorf("%w: -every %v: must be at least 10ms", errUsage, o.every)
	}
	if o.addr == "" && !o.demo {
		o.addr = defaultAddr
	}
	return o, nil
}

// run is main without the process.
func run(ctx context.Context, args []string, t *terminal, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.demo {
		return runDemo(ctx, o, t)
	}
	s, err := newSource(o.addr)
	if err != nil {
		return err
	}
	return show(ctx, s, func() string { return s.name }, o, t)
}

// runDemo serves the example engine and looks at it, as at any other.
func runDemo(ctx context.Context, o options, t *terminal) (err error) {
	if o.addr == "" {
		o.addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", o.addr)
	if err != nil {
		return fmt.Errorf("%w: -demo serves its page at -addr HOST:PORT: %w", errUsage, err)
	}
	defer listener.Close()
	var recent live.Recent
	d, err := demo.Start(recent.Add)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	go http.Serve(listener, &live.Handler{Controller: d.Controller, Recent: &recent, Admissions: d.Admissions})
	s, err := newSource(listener.Addr().String())
	if err != nil {
		return err
	}
	title := func() string { return "http://" + s.name + "  " + d.Fault() }
	return show(ctx, s, title, o, t)
}
