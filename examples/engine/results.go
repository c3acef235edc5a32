package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// results adds up finished transfers. It is safe for concurrent use.
type results struct {
	checked atomic.Int64

	mu        sync.Mutex
	transfers int
	failed    int
	retries   int64
	bytes     int64         // of the transfers below
	took      time.Duration // of those that did not fail
}

// A transfer is slow when it takes so many times the average of those before it,
// counted per byte, of which there must be some.
const (
	slowFactor = 2
	slowAfter  = 4
)

// add counts a transfer and returns "failed", "slow" or "".
func (r *results) add(t transfer.Report) string {
	r.checked.Add(t.Checked)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.transfers++
	r.retries += t.Retries
	if t.Err != nil {
		r.failed++
		return "failed"
	}
	usual := float64(r.took) / float64(max(r.bytes, 1))
	slow := r.transfers-r.failed > slowAfter && float64(t.Took) > slowFactor*usual*float64(t.Bytes)
	r.bytes += t.Bytes
	r.took += t.Took
	if slow {
		return "slow"
	}
	return ""
}

// taskText tells the detailed state of a transfer's task.
func taskText(r transfer.Report, why string) string {
	text := fmt.Sprintf("task: %v of %q, %s, %s in %s, %d slices retried", r.Op, r.Object, bytesText(r.Bytes), why, timeText(r.Took), r.Retries)
	if r.Err != nil {
		text += "\n" + indent("error: "+r.Err.Error())
	}
	if r.Task.Attempt == 0 { // it never began
		return text
	}
	return text + "\n" + indent(r.Task.String())
}

// indent breaks a text into lines of at most 78 columns that begin with spaces.
func indent(text string) string {
	const margin, width = "    ", 78
	var lines []string
	line := margin
	for _, word := range strings.Fields(text) {
		if len(line) > len(margin) && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = margin
		}
		if len(line) > len(margin) {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
