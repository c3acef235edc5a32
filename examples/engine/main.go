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

	"github.com/rdmagate/rdmagate/internal/softroce"
)

// Exit statuses beside 0, which means that all bytes arrived and all permits came
// back.
const (
	exitFailed = 1
	exitUsage  = 2
)

const usage = `usage: engine command [flags]

commands:
  demo    both sides in this process, a live table, a fault on the way, a summary
  serve   lend memory to engines that connect, until interrupted
  put     write a file, or random bytes, to an object of a server
  get     read an object of a server

engine command -h lists the flags of a command, engine help prints this.
`

// errUsage marks errors of the command line.
var errUsage = errors.New("usage")

func main() {
	if len(os.Args) == 2 && os.Args[1] == agentFlag && softroce.InGuest() {
		if err := softroce.ServeAgent(); err != nil {
			fmt.Println(err) // to the guest's console
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	commands := map[string]func(context.Context, []string, io.Writer, io.Writer) error{
		"demo": demo, "serve": serve, "put": put, "get": get,
	}
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return 0
	}
	command := commands[args[0]]
	if command == nil {
		fmt.Fprintf(stderr, "engine: command %q is unknown\n\n%s", args[0], usage)
		return exitUsage
	}
	err := command(ctx, args[1:], stdout, stderr)
	var status exitStatus
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(stderr, "engine:", err)
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	return exitFailed
}

// exitStatus is the status of a run in the guest, which has said why already.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }
