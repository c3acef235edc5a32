package main

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attempts is how often a ratio may be measured before it counts as missed: a busy
// machine can spoil all of a run, and nothing makes code faster than it is.
const attempts = 5

// expect measures the scenarios until the condition holds, and fails with what was
// measured if it never does.
func expect(t *testing.T, what string, holds func(map[string]measure.Result) bool, names ...string) {
	t.Helper()
	require.GreaterOrEqual(t, runtime.GOMAXPROCS(0), 2, "ratios of two goroutines need two cores; GOMAXPROCS")
	list := named(names...)
	require.Len(t, list, len(names), "scenarios named %q", names)
	var seen []string
	for range attempts {
		results, err := measure.Run(measure.DefaultPlan(), list...)
		require.NoError(t, err)
		found := map[string]measure.Result{}
		for _, r := range results {
			found[r.Name] = r
			seen = append(seen, fmt.Sprintf("%s: %.2f (quartile %.2f)", r.Name, r.NsPerOp, r.Quartile))
		}
		if holds(found) {
			return
		}
	}
	assert.Fail(t, "ratio missed", "%s; ns/op of %d runs:\n%s", what, attempts, strings.Join(seen, "\n"))
}

// below wants a scenario to take at most limit times another one.
func below(t *testing.T, name string, limit float64, base string) {
	t.Helper()
	expect(t, fmt.Sprintf("%s takes more than %.2f times %s", name, limit, base), func(r map[string]measure.Result) bool {
		return r[name].NsPerOp <= limit*r[base].NsPerOp
	}, name, base)
}

func TestPermitNextToFloor(t *testing.T) {
	below(t, oursEnforce, 1.4, floorCAS)
	below(t, oursTask, 1.4, floorCAS)
}

// recordedLimit is what a slice whose three calls are recorded may cost, by the floor.
const recordedLimit = 8

func TestRecordedPermitNextToFloor(t *testing.T) {
	below(t, oursEnforce+withRecorder, recordedLimit, floorCAS)
}

func TestPermitNextToPeers(t *testing.T) {
	for _, p := range []string{peerMutex, peerSemaphore, peerLibp2p, peerGobreaker, peerFailsafe} {
		t.Run(p, func(t *testing.T) {
			below(t, oursEnforce, 1, p)
			below(t, oursEnforce+ownRoutes, 1, p+ownRoutes)
		})
	}
}

// Two goroutines on routes of their own do at least 1.8 times as much as one.
func TestTwoRoutesOfOneDevice(t *testing.T) {
	expect(t, "two goroutines with routes of their own do less than 1.8 times as much as one", func(r map[string]measure.Result) bool {
		return 1.8*r[oursEnforce+ownRoutes].Quartile <= r[oursEnforce].Quartile
	}, oursEnforce, oursEnforce+ownRoutes)
}

func TestRefusal(t *testing.T) {
	below(t, oursRefusal, 0.4, floorCAS)
}

// A call in mode off costs a nanosecond more than an empty one, which is a twentieth
// of the floor where that was set.
func TestOff(t *testing.T) {
	const nanosecond, calls = 0.05, 3
	expect(t, "mode off costs more than an empty call and a twentieth of the floor", func(r map[string]measure.Result) bool {
		limit := r[floorLoop].NsPerOp + nanosecond*r[floorCAS].NsPerOp
		return r[oursOffAsk].NsPerOp <= limit && r[oursOff].NsPerOp <= calls*limit
	}, oursOffAsk, oursOff, floorLoop, floorCAS)
}

// handoverLimit is what a slice may cost between two cores, by a bare hand-over,
// when each is settled by itself.
const handoverLimit = 3.5

func TestPosterAndPoller(t *testing.T) {
	below(t, oursHandover, handoverLimit, floorHandover)
}

// Paused pairs cost a healthy one nothing, and what one change costs does not grow with
// the pairs of others.
func TestPausesOfOthers(t *testing.T) {
	below(t, oursPaused, 1.1, oursEnforce)
	below(t, oursSync+othersPaused, 1.25, oursSync)
}

// Nothing of ours allocates.
func TestAllocations(t *testing.T) {
	plan := measure.DefaultPlan()
	plan.Sittings, plan.Rounds = 2, 1
	for _, s := range scenarios() {
		if s.kind != ours || s.Workers > runtime.GOMAXPROCS(0) {
			continue
		}
		results, err := measure.Run(plan, s.Scenario)
		require.NoError(t, err)
		assert.Zero(t, results[0].AllocsPerOp, "allocations of %s", s.Name)
	}
}

// A tick over ten thousand idle routes looks at none of them: it takes less than a
// load of each would.
func TestTickPassesIdleRoutes(t *testing.T) {
	below(t, oursTick, tickRoutes/2, floorLoad)
}
