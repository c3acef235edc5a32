package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A trial that was flushed has failed if what its QP died of counts against the path. In
// observe mode others may be on its QP, and it may be on one that nobody named.
func TestFlushedTrial(t *testing.T) {
	for name, tt := range map[string]struct {
		root   classify.Verdict // of another slice on the QP
		end    classify.Verdict // of the trial
		known  bool             // the QP
		reason classify.Reason
	}{
		"by a timeout":        {retryExc, flush, true, classify.ReasonProbeFailed},
		"by a wrong length":   {locLen(), flush, true, classify.ReasonDerivedFlush},
		"by nothing known":    {success, flush, true, classify.ReasonDerivedFlush},
		"on a QP of nobody's": {success, flush, false, classify.ReasonDerivedFlush},
		"no flush":            {retryExc, locLen(), true, classify.ReasonLocalConfiguration},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Observe)
			route := h.route("D1", "P", "n1")
			h.quarantine(route)
			h.advance(30 * time.Second)
			gen, qp := route.current.Load().number, h.qp(route)
			if !tt.known {
				qp = 4711
			}
			var trial, other slice
			h.post(&trial, route, gen, 4*kib, qp)
			require.NotZero(t, trial.permit.trial)
			h.post(&other, route, gen, 4*kib, qp)
			h.settle(&other, tt.root)
			h.settle(&trial, tt.end)
			assert.Equal(t, taskstate.Seen(tt.reason), trial.task.Detail().Reason)
		})
	}
}
