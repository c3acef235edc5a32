package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// history keeps the transitions of all routes. It is safe for concurrent use.
type history struct {
	mu   sync.Mutex
	list []cc.Transition
}

// Bounds of a history: what is kept, and what is printed of one route.
const (
	maxKept    = 1 << 16
	maxPrinted = 24
)

// add is the controller's hook.
func (h *history) add(t cc.Transition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.list) < maxKept {
		h.list = append(h.list, t)
	}
}

// of returns the transitions of a route from then on, in their order.
func (h *history) of(pair rail.Pair, then time.Duration) []cc.Transition {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []cc.Transition
	for _, t := range h.list {
		if t.Pair == pair && t.At >= then {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b cc.Transition) int { return cmp.Compare(a.At, b.At) })
	return list
}

// text prints the transitions of a route from then on, with times since began.
func (h *history) text(pair rail.Pair, then, began time.Duration) string {
	list := h.of(pair, then)
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	label := "states"
	for i, t := range list {
		if i == maxPrinted {
			fmt.Fprintf(&b, "  %-10s %d more\n", label, len(list)-i)
			break
		}
		fmt.Fprintf(&b, "  %-10s %6.2f s  %s\n", label, (t.At - began).Seconds(), transitionText(t))
		label = ""
	}
	return b.String()
}

// transitionText says what changed and why.
func transitionText(t cc.Transition) string {
	if t.Notice != cc.NoNotice {
		return fmt.Sprintf("%v: %v", t.Notice, t.Reason)
	}
	why := "time passed"
	switch {
	case t.Reason != classify.ReasonNone:
		why = t.Reason.String()
	case t.Verdict.Succeeded():
		why = "success"
	}
	return fmt.Sprintf("%-11v -> %-11v  %s", t.From, t.To, why)
}
