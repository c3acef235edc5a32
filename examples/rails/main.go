package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

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

// run is main without the process: it returns the exit status.
func run(args []string, find func() ([]discover.NIC, error), stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("rails", flag.ContinueOnError)
	f.SetOutput(stderr)
	asJSON := f.Bool("json", false, "print JSON, with all that is known")
	gids := f.Bool("gids", false, "list the GIDs of each port too")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case f.NArg() > 0:
		fmt.Fprintf(stderr, "rails: unexpected argument %q; flags come as -name\n", f.Arg(0))
		return exitUsage
	}

	// What was found is printed even if the list is not complete.
	nics, foundErr := find()
	if err := output(stdout, nics, foundErr, *asJSON, *gids); err != nil {
		fmt.Fprintln(stderr, "rails:", err)
		return exitFailed
	}
	if foundErr != nil {
		fmt.Fprintln(stderr, "rails:", foundErr)
		return exitFailed
	}
	return 0
}

func output(out io.Writer, nics []discover.NIC, foundErr error, asJSON, gids bool) error {
	if foundErr != nil && len(nics) == 0 {
		return nil // the error says it all
	}
	if asJSON {
		if nics == nil {
			nics = []discover.NIC{}
		}
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(nics)
	}
	_, err := io.WriteString(out, report(nics, gids))
	return err
}
