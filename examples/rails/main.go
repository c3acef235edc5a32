package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// Exit statuses beside 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(os.Args[1:], discover.NICs, os.Stdout, os.Stderr))
}

// options are the flags.
type options struct {
	asJSON, gids bool
	pathOptions
}

// run is main without the process: it returns the exit status.
func run(args []string, find func() ([]discover.NIC, error), stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	if err := output(stdout, find, o); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(stderr, "rails:", line)
		}
		return exitFailed
	}
	return 0
}

// parse reads the flags. It has told what is wrong when it returns an error.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("rails", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&o.asJSON, "json", false, "print JSON, for -peer on another host")
	f.BoolVar(&o.gids, "gids", false, "list the GIDs of each port too")
	f.StringVar(&o.peer, "peer", "", "print the paths to the NICs in this `file`, which \"rails -json\" wrote on the peer")
	f.StringVar(&o.local, "local", "", "with -peer: take the local NICs from this `file` and not from this machine")
	f.StringVar(&o.railFile, "rails", "", "with -peer: pin the pairs by this rail `file`")
	f.IntVar(&o.prefix, "prefix", 0, "with -peer: NICs reach each other only within an IPv4 prefix of so many `bits`")
	f.IntVar(&o.prefix6, "prefix6", 0, "with -peer: the same for IPv6")
	f.IntVar(&o.localNode, "local-node", -1, "with -peer: NUMA `node` of the local buffer, -1 if unknown")
	f.IntVar(&o.remoteNode, "remote-node", -1, "with -peer: NUMA `node` of the remote buffer, -1 if unknown")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	fault := ""
	switch {
	case f.NArg() > 0:
		fault = fmt.Sprintf("unexpected argument %q; flags come as -name", f.Arg(0))
	case given["peer"] && o.peer == "", given["local"] && o.local == "":
		fault = "-peer and -local name files; write them with \"rails -json\" on those hosts"
	case given["peer"] && (o.asJSON || o.gids):
		fault = "-json and -gids show this machine's NICs, -peer shows paths; use one or the other"
	case !given["peer"]:
		for _, name := range []string{"local", "rails", "prefix", "prefix6", "local-node", "remote-node"} {
			if given[name] {
				fault = fmt.Sprintf("-%s is about paths; name the other side's NICs with -peer", name)
			}
		}
	case o.prefix < 0 || o.prefix > 32:
		fault = fmt.Sprintf("-prefix is %d, must be 1 to 32 bits, or 0 for none", o.prefix)
	case o.prefix6 < 0 || o.prefix6 > 128:
		fault = fmt.Sprintf("-prefix6 is %d, must be 1 to 128 bits, or 0 for none", o.prefix6)
	}
	if fault != "" {
		fmt.Fprintln(stderr, "rails:", fault)
		return o, errors.New(fault)
	}
	return o, nil
}

// output prints what is asked for. What was found on this machine is printed even if
// the list is not complete.
func output(out io.Writer, find func() ([]discover.NIC, error), o options) error {
	if o.local != "" {
		nics, err := readNICs("local", o.local)
		if err != nil {
			return err
		}
		return printPaths(out, nics, o.pathOptions)
	}
	found, foundErr := find()
	if foundErr != nil && len(found) == 0 {
		return foundErr
	}
	var err error
	switch {
	case o.peer != "":
		err = printPaths(out, discover.Local(found), o.pathOptions)
	case o.asJSON:
		err = writeNICs(out, discover.Local(found))
	default:
		_, err = io.WriteString(out, report(found, o.gids))
	}
	return errors.Join(err, foundErr)
}
