package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

func TestHistoryTellsWhatBecameOfARoute(t *testing.T) {
	pair, other := rail.Pair{Local: "a0", Port: 1, Remote: "b0"}, rail.Pair{Local: "a1", Port: 1, Remote: "b0"}
	var h history
	assert.Empty(t, h.text(pair, 0, 0), "nothing happened")
	timeout := classify.Of(classify.SignalDeadlineProgressing)
	for _, tr := range []cc.Transition{
		{Pair: pair, From: cc.Healthy, To: cc.Congested, At: time.Second, Reason: classify.ReasonCongestionFeedback},
		{Pair: pair, From: cc.Probing, To: cc.Healthy, At: 9 * time.Second, Verdict: classify.Completion(classify.StatusSuccess, 0)},
		{Pair: pair, From: cc.Congested, To: cc.Quarantined, At: 5 * time.Second, Reason: timeout.Reason(), Verdict: timeout},
		{Pair: other, From: cc.Healthy, To: cc.Suspect, At: 5 * time.Second},
		{Pair: pair, From: cc.Suspect, To: cc.Healthy, At: 12 * time.Second},
		{Pair: pair, From: cc.Suspect, To: cc.Suspect, Notice: cc.LastRouteKept, Reason: timeout.Reason(), At: 13 * time.Second},
	} {
		h.add(tr)
	}
	assert.Equal(t, `  states       4.00 s  CONGESTED   -> QUARANTINED  ROUTE_TIMEOUT
               8.00 s  PROBING     -> HEALTHY      success
              11.00 s  SUSPECT     -> HEALTHY      time passed
              12.00 s  last route to the peer is kept: ROUTE_TIMEOUT
`, h.text(pair, 2*time.Second, time.Second), "from the given time on, of that route, in the order of the times")

	for range maxPrinted {
		h.add(cc.Transition{Pair: pair, From: cc.Healthy, To: cc.Congested, At: 20 * time.Second})
	}
	text := h.text(pair, 2*time.Second, time.Second)
	assert.Equal(t, maxPrinted+1, strings.Count(text, "\n"), "a long history is cut off")
	assert.Contains(t, text, " 4 more\n")
}
