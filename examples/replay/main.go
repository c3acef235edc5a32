package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// Exit statuses beside 0.
const (
	exitMismatch = 1
	exitTrouble  = 2
)

func main() {
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	status := run(os.Args[1:], os.Stdin, out, os.Stderr)
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "replay: cannot write the output:", err)
		status = exitTrouble
	}
	os.Exit(status)
}

// run is main without the process: it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "replay:", err)
		return exitTrouble
	}
	r := &runner{options: *o, stdin: stdin, out: stdout, err: stderr}
	status := 0
	for _, name := range o.files {
		status = max(status, r.file(name))
	}
	return status
}

// runner does what the command line says.
type runner struct {
	options
	stdin    io.Reader
	out, err io.Writer
}

// file does it to one file and returns the exit status.
func (r *runner) file(name string) int {
	src, err := r.source(name, r.mode != modeCheck && r.mode != modePrint)
	if err != nil {
		return r.trouble(err)
	}
	defer src.close()
	switch r.mode {
	case modeWhatIf:
		return r.whatIf(src)
	case modeExplain:
		return r.explainRoute(src)
	case modePlot:
		return r.plotFile(src)
	case modePrint:
		return r.convert(src)
	case modeAnonymise:
		return r.anonymiseFile(src)
	}
	return r.check(src)
}

// trouble tells an error.
func (r *runner) trouble(err error) int {
	fmt.Fprintln(r.err, "replay:", err)
	return exitTrouble
}

// say tells something beside the output.
func (r *runner) say(format string, args ...any) {
	fmt.Fprintf(r.err, "replay: "+format+"\n", args...)
}
