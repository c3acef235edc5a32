package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// timeoutUnit is the time of timeout code 0, if it did not stand for no timeout.
const timeoutUnit = 4096 * time.Nanosecond

// slack is by how much hardware may exceed the timeout that it was given.
const slack = 4

// checkRetry compares the retry settings of the QPs with the controller's windows.
func checkRetry(h *host) []Finding {
	all := checkRNR(h)
	if h.usage.retry < 0 {
		return all
	}
	if h.usage.timeout == 0 {
		return append(all, Finding{
			Level: Fault, Seen: "The timeout code is 0.",
			Why: "It stands for no timeout: a request whose answer is lost waits for ever, and no error tells.",
			Fix: "Use 14 to 18 for a network with queues: 67 ms to 1.1 s a try.",
		})
	}
	try := timeoutUnit << h.usage.timeout
	total := try * time.Duration(h.usage.retry+1)
	found := retryFindings(h, try, total)
	if len(found) == 0 {
		found = []Finding{ok("", fmt.Sprintf("a dead path is reported after %s to %s", short(total), short(slack*total)))}
	}
	return append(all, found...)
}

func retryFindings(h *host, try, total time.Duration) []Finding {
	var all []Finding
	if h.usage.retry == 0 {
		all = append(all, Finding{
			Level: Warning, Seen: "retry_cnt is 0.",
			Why: "The first packet that is lost ends the QP, and with it all that was under way.",
			Fix: "Use 7, the most there is.",
		})
	}
	switch advice := h.config.Advice(cc.Surroundings{RetryTime: total}); {
	case len(advice) > 0:
		all = append(all, advised(advice[0], "Timeouts of a dead path come one after the other and each as late as this, so the path is used on and on."))
	case slack*total > h.config.ErrorWindow:
		all = append(all, Finding{
			Level: Note, Seen: fmt.Sprintf("The hardware retries for %s, and may take up to %s; the error window is %s.", short(total), short(slack*total), short(h.config.ErrorWindow)),
			Why: "The first failures of a slow path may not add up. The window widens once the controller has seen how long retries take.",
			Fix: "Raise ErrorWindow above the longer time, or use a shorter timeout.",
		})
	}
	if total > h.config.ProbeInterval {
		all = append(all, Finding{
			Level: Note, Seen: fmt.Sprintf("The hardware retries for %s, and the probe interval is %s.", short(total), short(h.config.ProbeInterval)),
			Why: "A probe of a dead path takes longer than the time to the next one, so a path that came back is found later than the interval says.",
			Fix: "Connect the prober's QPs with a shorter timeout than those of the data.",
		})
	}
	if drain, slowest := slowestDrain(h); try < drain {
		all = append(all, Finding{
			Level: Warning, Seen: fmt.Sprintf("A try times out after %s; a full buffer of %s in front of %s, at %s, takes %s.", short(try), bytesText(h.usage.bufferBytes), slowest, gbps(slowest.Rate), short(drain)),
			Why: "Packets that wait are taken for lost and sent again, which makes the queue longer: goodput falls to a fraction before any request fails.",
			Fix: fmt.Sprintf("Use timeout code %d or more; keep windows small enough for the buffer.", codeFor(drain)),
		})
	}
	return all
}

// codeFor returns the least timeout code with which a try takes so long.
func codeFor(d time.Duration) int {
	code := 1
	for timeoutUnit<<code < d {
		code++
	}
	return code
}

// slowestDrain returns how long a full buffer takes at the speed of the slowest active
// port; 0 if that, or the buffer, is not known.
func slowestDrain(h *host) (time.Duration, port) {
	var longest time.Duration
	var slowest port
	for _, p := range h.activePorts() {
		if p.Rate == 0 {
			continue
		}
		if drain := time.Duration(float64(h.usage.bufferBytes) * 8 / p.Rate); drain > longest { // bits by Gb/s are ns
			longest, slowest = drain, p
		}
	}
	return longest, slowest
}

// checkRNR looks at the retries for a receiver that is not ready.
func checkRNR(h *host) []Finding {
	if h.usage.rnr < 0 {
		return nil
	}
	if advice := h.config.Advice(cc.Surroundings{RNRRetry: uint8(h.usage.rnr)}); len(advice) > 0 {
		return []Finding{advised(advice[0], "A receiver without posted receives holds the QP up without an error, and every request behind it.")}
	}
	return []Finding{ok("", fmt.Sprintf("a receiver that is not ready is reported, after %s", count(h.usage.rnr, "retry")))}
}

// advised makes a finding of the controller's advice, which ends with the remedy:
// "...; use less".
func advised(advice, why string) Finding {
	seen, fix, _ := strings.Cut(advice, "; use ")
	return Finding{Level: Warning, Seen: seen + ".", Why: why, Fix: "Use " + fix + "."}
}

// short writes a duration with three digits.
func short(d time.Duration) string {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
}
