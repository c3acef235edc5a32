package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// summary prints what the demonstration did, and returns an error unless every
// payload matched and every permit came back.
func (d *demonstration) summary(rails []transfer.RailSample, took time.Duration) error {
	d.results.mu.Lock()
	defer d.results.mu.Unlock()
	out := d.table.out
	checked, bytes := d.results.checked.Load(), moved(rails)
	fmt.Fprintf(out, "\nSummary\n")
	fmt.Fprintf(out, "  bytes      %s moved in %s (%s); %s compared by checksum\n",
		bytesText(bytes), timeText(took), rateText(float64(bytes)/took.Seconds()), bytesText(checked))
	fmt.Fprintf(out, "  transfers  %d, of them %d failed; %d slices retried\n", d.results.transfers, d.results.failed, d.results.retries)
	printTotals(out, d.engine.Totals())
	fmt.Fprintf(out, "  fault      %s\n", d.fault.story(rails[d.fault.rail], timeouts(d.engine)))
	if d.fault.phase != waiting {
		fmt.Fprint(out, d.history.text(d.fault.before.Route.Pair, d.fault.start, d.began))
	}
	if remark := d.stage.remark; remark != nil && remark() != "" {
		fmt.Fprintf(out, "  fabric     %s\n", remark())
	}
	permits := printInFlight(out, d.ctl.Snapshot(), d.peer)
	if checked != 2*d.total {
		return errors.Join(permits, fmt.Errorf("%d of %d bytes were compared", checked, 2*d.total))
	}
	return permits
}

// printTotals prints decisions and completions by kind.
func printTotals(out io.Writer, t transfer.Totals) {
	var decisions, classes []string
	for _, r := range t.Rulings {
		kind := r.Answer.String()
		if r.Answer != cc.Admit {
			kind += " " + r.Reason.String()
		}
		decisions = append(decisions, fmt.Sprintf("%d %s", r.Count, kind))
	}
	for _, c := range t.Classes {
		classes = append(classes, fmt.Sprintf("%d %s", c.Count, c.Class))
	}
	fmt.Fprintf(out, "  decisions  %s\n", listText(decisions))
	fmt.Fprintf(out, "  outcomes   %s\n", listText(classes))
	fmt.Fprintf(out, "  probes     %d sent, %d of them succeeded\n", t.Probes, t.ProbesSucceeded)
}

func listText(kinds []string) string {
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kinds, ", ")
}

// printInFlight prints what is still reserved after a peer was closed, and returns an
// error if anything is. The controller has forgotten the routes; the peer has not.
func printInFlight(out io.Writer, s cc.Snapshot, p *transfer.Peer) error {
	var held []string
	for _, d := range s.Devices {
		if d.InFlightBytes != 0 {
			held = append(held, fmt.Sprintf("%d bytes on device %s", d.InFlightBytes, d.Device))
		}
	}
	if n := p.InFlight(); n != 0 {
		held = append(held, fmt.Sprintf("%d bytes on routes to %s", n, p.Name()))
	}
	if len(held) > 0 {
		err := fmt.Errorf("permits did not come back: %s", strings.Join(held, ", "))
		fmt.Fprintf(out, "  in flight  %v\n", err)
		return err
	}
	fmt.Fprintf(out, "  in flight  0 bytes on %d devices and %d routes: every permit came back\n", len(s.Devices), p.Rails())
	return nil
}
