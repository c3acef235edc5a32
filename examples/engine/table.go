package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/rail"
)

// table shows the routes. On a terminal it is drawn again in place, elsewhere one
// block follows the other. It is safe for concurrent use.
type table struct {
	out  io.Writer
	live bool

	mu    sync.Mutex
	lines int // of the block that stands on the terminal
}

// isTerminal reports whether w is a terminal that can be redrawn.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// rowFormat keeps a row within 80 columns as long as the NICs' names do.
const rowFormat = "%-25s %-16s %8s %9s %9s %7s"

// show draws one block: a headline and a row for each rail.
func (t *table) show(headline string, rails []transfer.RailSample) {
	lines := []string{strings.TrimSpace(headline), fmt.Sprintf(rowFormat, "ROUTE", "STATE", "WINDOW", "IN FLIGHT", "RATE", "DRAIN")}
	for _, r := range rails {
		rate, drain := "-", "-"
		if r.Rate > 0 {
			rate = rateText(r.Rate)
			if r.Drain > 0 {
				drain = timeText(r.Drain)
			}
		}
		lines = append(lines, fmt.Sprintf(rowFormat, pairText(r.Route.Pair), stateText(r),
			bytesText(r.Route.WindowBytes), bytesText(r.Route.InFlightBytes), rate, drain))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	fmt.Fprintln(t.out, strings.Join(lines, "\n"))
	if t.live {
		t.lines = len(lines)
	} else {
		fmt.Fprintln(t.out)
	}
}

// note prints lines above the table.
func (t *table) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	fmt.Fprintln(t.out, text)
}

// erase takes the block off the terminal.
func (t *table) erase() {
	if t.lines > 0 {
		fmt.Fprintf(t.out, "\x1b[%dA\x1b[J", t.lines)
		t.lines = 0
	}
}

func pairText(p rail.Pair) string { return p.Local + " -> " + p.Remote }

// stateText says what the controller and the engine know about a rail: its health, and
// if that is good what the endpoint lacks, or that it is asked first.
func stateText(r transfer.RailSample) string {
	health := r.Route.Health
	switch {
	case health.State == cc.Quarantined && health.CooldownLeft > 0:
		return fmt.Sprintf("%s %.0fs", health.State, health.CooldownLeft.Seconds())
	case health.State > cc.Congested:
		return health.State.String()
	case !r.Up:
		return "no endpoint"
	case r.Route.Generation == 0:
		return "not tracked" // mode off
	case r.Route.NeedsRenew:
		return "needs renew"
	}
	if r.First {
		return health.State.String() + ", first"
	}
	return health.State.String()
}

func rateText(bytesPerSecond float64) string {
	if bytesPerSecond >= 999.95e6 {
		return fmt.Sprintf("%.1f GB/s", bytesPerSecond/1e9)
	}
	return fmt.Sprintf("%.1f MB/s", bytesPerSecond/1e6)
}
