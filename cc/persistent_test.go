package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
)

// Three failures for local configuration or remote metadata within ten minutes,
// without a success, raise a persistent fault. Nothing else changes for them.
func TestPersistentFault(t *testing.T) {
	tests := []struct {
		name   string
		v      []classify.Verdict
		gap    time.Duration
		raised bool
	}{
		{"two", []classify.Verdict{locLen(), locLen()}, 0, false},
		{"three local ones", []classify.Verdict{locLen(), locLen(), locLen()}, 0, true},
		{"three remote ones", []classify.Verdict{remAccess(), remAccess(), remAccess()}, 0, true},
		{"mixed, slowly", []classify.Verdict{locLen(), remAccess(), wc(classify.StatusLocQPOpErr, 0)}, 5 * time.Minute, true},
		{"too slowly", []classify.Verdict{locLen(), locLen(), locLen(), locLen()}, 5*time.Minute + 1, false},
		{"a success between", []classify.Verdict{locLen(), locLen(), success, locLen(), locLen()}, 0, false},
		{"other failures", []classify.Verdict{rnr(), flush, rnr(), teardown}, 0, false},
		{"others between", []classify.Verdict{locLen(), rnr(), locLen(), flush, locLen()}, 0, true},
		{"many", []classify.Verdict{locLen(), locLen(), locLen(), locLen(), locLen(), locLen(), locLen()}, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			other := h.route("D1", "Q", "n1")
			for i, v := range tt.v {
				if i > 0 {
					h.advance(tt.gap)
				}
				h.fail(route, 1, v)
			}
			assert.Equal(t, tt.raised, route.Snapshot().Health.PersistentFault)
			assert.False(t, other.Snapshot().Health.PersistentFault)
			if tt.raised {
				assert.Len(t, h.notices(PersistentFault), 1, "reported once")
			} else {
				assert.Empty(t, h.notices(PersistentFault))
			}
			assert.Empty(t, h.path(route), "health does not change")
			assert.Equal(t, mib, route.Snapshot().WindowBytes, "nor the window")
			h.count(route, 0)

			h.renewed(route)
			h.succeed(route)
			assert.False(t, route.Snapshot().Health.PersistentFault, "a success ends it")
			assert.False(t, route.health.watched.Load(), "successes are on the fast path again")
			h.done(route)
		})
	}
}

// Failures of an old generation do not add up to a fault of the new one.
func TestPersistentFaultOfOldGeneration(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route)
	old := make([]slice, 3)
	for i := range old {
		h.post(&old[i], route, gen, kib, qp)
	}
	h.renewed(route)
	for i := range old {
		h.settle(&old[i], locLen())
	}
	assert.False(t, route.Snapshot().Health.PersistentFault)
	h.done(route)
}

// The latest three failures decide, whenever the clock began, and once.
func TestFaultsInARow(t *testing.T) {
	gaps := []time.Duration{0, time.Minute, 5 * time.Minute, 5*time.Minute + 1, 11 * time.Minute}
	var try func(times []time.Duration)
	try = func(times []time.Duration) {
		var f faults
		raised := false
		for i, at := range times {
			want := !raised && i >= 2 && at-times[i-2] <= 10*time.Minute
			raised = raised || want
			if !assert.Equal(t, want, f.add(at), "failures at %v", times[:i+1]) {
				return
			}
		}
		for _, gap := range gaps {
			if len(times) < 5 {
				at := time.Second
				if len(times) > 0 {
					at = times[len(times)-1] + gap
				}
				try(append(times[:len(times):len(times)], at))
			}
		}
	}
	try(nil)
}

// What has no endpoint has no faults; who only observes may have posted all the same.
func TestFaultWithoutAnEndpoint(t *testing.T) {
	h := newHealthRig(t, Observe)
	route := h.route("D1", "P", "n1")
	for range 4 {
		var s slice
		h.post(&s, route, 0, kib, 1)
		h.settle(&s, locLen())
	}
	assert.Empty(t, h.notices(PersistentFault))
}

// A fault is told at the latest time that was heard of.
func TestFaultWithAnOlderTime(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route, other := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
	h.fail(route, 2, locLen())
	h.fail(other, 1, retryExc)
	latest := h.now
	h.now -= time.Second
	h.fail(route, 1, locLen())
	assert.Equal(t, latest, h.seen[len(h.seen)-1].At)
}
