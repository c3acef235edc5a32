// Guestexec runs a command of this machine in a guest that has RDMA devices,
// and exits with the command's status. It is made for go test:
//
//	go test -tags guest -exec "/path/of/guestexec -nics 2 -timeout 5m" ./verbs
//
// and runs any other program as well:
//
//	guestexec -nics 2 -- ./engine -bytes 1G
//
// The guest sees this machine's files; what it writes is lost, except in the
// directory given by -share. If there is no status to exit with, because the
// guest did not start, its kernel died or a time limit passed, guestexec says why,
// runs the command again in a new guest as often as -tries allows, and then exits
// with status 125.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/rdmagate/rdmagate/internal/softroce"
)

// Exit statuses for the cases without one from the command.
const (
	exitUsage   = 2
	exitNoGuest = 125
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-agent" && softroce.InGuest() {
		if err := softroce.ServeAgent(); err != nil {
			fmt.Println(err) // to the guest's console
		}
		return
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	config, command, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends guestexec at once
	image, err := softroce.Prepare(ctx, stderr)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitNoGuest
	}
	status, err := softroce.Run(ctx, config, image, command, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitNoGuest
	}
	return status
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (softroce.Config, softroce.Command, error) {
	var c softroce.Config
	flags := flag.NewFlagSet("guestexec", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: guestexec [flags] [--] command [arguments]")
		flags.PrintDefaults()
	}
	flags.IntVar(&c.NICs, "nics", softroce.DefaultNICs, "NICs on each of the two sides")
	flags.IntVar(&c.MemoryMiB, "memory", softroce.DefaultMemoryMiB, "memory of the guest in `MiB`")
	flags.IntVar(&c.CPUs, "cpus", softroce.DefaultCPUs, "processors of the guest")
	flags.DurationVar(&c.TimeLimit, "timeout", softroce.DefaultTimeLimit, "time limit of the command")
	flags.DurationVar(&c.BootLimit, "boot-timeout", softroce.DefaultBootLimit, "time limit of the guest's start")
	flags.IntVar(&c.Tries, "tries", 1, "`guests` to boot where one is lost before the command ends")
	flags.StringVar(&c.Share, "share", "", "host `directory` in which the guest's writes are kept")
	quiet := flags.Bool("quiet", false, "no progress lines")
	if err := flags.Parse(args); err != nil {
		return c, softroce.Command{}, err
	}
	if flags.NArg() == 0 {
		return c, softroce.Command{}, errors.New("guestexec: no command given: usage: guestexec [flags] [--] command [arguments]")
	}
	if !*quiet {
		c.Progress = stderr
	}
	var err error
	if c.Agent, err = os.Executable(); err != nil {
		return c, softroce.Command{}, fmt.Errorf("guestexec: own path: %w", err)
	}
	if c.Share != "" {
		if c.Share, err = filepath.Abs(c.Share); err != nil {
			return c, softroce.Command{}, fmt.Errorf("guestexec: shared directory: %w", err)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return c, softroce.Command{}, fmt.Errorf("guestexec: working directory: %w", err)
	}
	return c, softroce.Command{Args: flags.Args(), Dir: dir, Env: os.Environ()}, c.Validate()
}
