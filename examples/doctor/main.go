package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/rdmagate/rdmagate/cc"
)

// Exit statuses.
const (
	exitWell  = 0
	exitWrong = 1
	exitUsage = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), thisMachine, os.Stdout, os.Stderr))
}

// options are the flags.
type options struct {
	usage
	minWindow int64
	peer, sys string
	asJSON    bool
}

// run is main without the process: it returns the exit status.
func run(args, environ []string, machine func() *host, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitWell
	case err != nil:
		return exitUsage
	}
	h, err := o.host(environ, machine)
	if err != nil {
		fmt.Fprintln(stderr, "doctor:", err)
		return exitUsage
	}
	h.look()
	findings := examine(h)
	write := writeText
	if o.asJSON {
		write = writeJSON
	}
	if err := write(stdout, document{findings, h.facts(), h.skipped()}); err != nil {
		fmt.Fprintln(stderr, "doctor:", err)
		return exitWrong
	}
	if wrong(findings) {
		return exitWrong
	}
	return exitWell
}

// parse reads the flags. It has told what is wrong when it returns an error.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("doctor", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&o.asJSON, "json", false, "print JSON, also for -peer on another host")
	f.StringVar(&o.peer, "peer", "", "look at the way to the host whose ports are in this `file`, which \"doctor -json\" or \"rails -json\" wrote there")
	f.StringVar(&o.sys, "sys", "", "look at this `directory` in place of /sys, and at nothing else")
	f.IntVar(&o.retry, "retry", -1, "retry_cnt of the QPs, 0 to 7")
	f.IntVar(&o.timeout, "timeout", -1, "timeout `code` t of the QPs, 0 to 31: 4.096 us x 2^t a try")
	f.IntVar(&o.rnr, "rnr", -1, "rnr_retry of the QPs, 0 to 7")
	f.IntVar(&o.fanIn, "fan-in", -1, "how many senders may post to one receiver at once")
	f.Int64Var(&o.bufferBytes, "buffer", -1, "`bytes` of the switch port's buffer towards a receiver")
	f.Int64Var(&o.minWindow, "min-window", -1, "least window of a route, in `bytes`; without it that of the environment")
	f.Int64Var(&o.registerBytes, "register", 1<<30, "`bytes` of memory that the engine registers")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if fault := o.fault(given, f.Args()); fault != "" {
		fmt.Fprintln(stderr, "doctor:", fault)
		return o, errors.New(fault)
	}
	return o, nil
}

// fault says what is wrong with the flags; empty if nothing is.
func (o *options) fault(given map[string]bool, rest []string) string {
	for _, r := range []struct {
		name             string
		value, low, high int64
	}{
		{"retry", int64(o.retry), 0, 7},
		{"timeout", int64(o.timeout), 0, 31},
		{"rnr", int64(o.rnr), 0, 7},
		{"fan-in", int64(o.fanIn), 1, 1 << 20},
		{"buffer", o.bufferBytes, 1, cc.MaxBytes},
		{"min-window", o.minWindow, 1, cc.MaxBytes},
		{"register", o.registerBytes, 1, cc.MaxBytes},
	} {
		if given[r.name] && (r.value < r.low || r.value > r.high) {
			return fmt.Sprintf("-%s is %d, must be %d to %d", r.name, r.value, r.low, r.high)
		}
	}
	switch {
	case len(rest) > 0:
		return fmt.Sprintf("unexpected argument %q; flags come as -name", rest[0])
	case given["retry"] != given["timeout"]:
		return "-retry and -timeout make the retry time together; give both"
	case given["fan-in"] && !given["buffer"], given["min-window"] && !given["fan-in"]:
		return "the window floor takes -fan-in and -buffer; give both"
	case given["peer"] && o.peer == "", given["sys"] && o.sys == "":
		return "-peer names a file and -sys a directory"
	}
	return ""
}

// host returns what is to be looked at.
func (o *options) host(environ []string, machine func() *host) (*host, error) {
	var h *host
	if o.sys != "" {
		if _, err := os.Stat(o.sys + "/class"); err != nil {
			return nil, fmt.Errorf("-sys: %w; the directory stands for /sys", err)
		}
		h = &host{sys: os.DirFS(o.sys)}
	} else {
		h = machine()
	}
	if o.peer != "" {
		ports, err := readPeer(o.peer)
		if err != nil {
			return nil, fmt.Errorf("peer file: %w", err)
		}
		h.peer = ports
	}
	h.usage = o.usage
	if h.config, h.configErr = cc.ConfigFromEnv(environ); h.configErr != nil {
		h.config = cc.DefaultConfig()
	}
	if o.minWindow > 0 {
		h.config.MinWindowBytes = o.minWindow
	}
	return h, nil
}

// skipped lists what was not looked at for want of a flag, or because of -sys.
func (h *host) skipped() []string {
	all := []string{}
	if h.root == nil {
		all = append(all, "device nodes, libibverbs, limits and routes (-sys)")
	}
	if h.peer == nil {
		all = append(all, "the way to a peer (-peer)")
	}
	if h.usage.retry < 0 {
		all = append(all, "retry time (-retry, -timeout)")
	}
	if h.usage.rnr < 0 {
		all = append(all, "RNR retry (-rnr)")
	}
	if h.usage.fanIn < 0 {
		all = append(all, "window floor (-fan-in, -buffer)")
	}
	return all
}
