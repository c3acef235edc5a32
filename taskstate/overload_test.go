package taskstate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// A task fails for a day on hundreds of pairs, in every way that there is. What it keeps
// is one record of fixed size, its answers are right all the time, and one success for
// each slice ends it all. The long form is in bench/overload.
func TestOverloadTaskThatFailsForADay(t *testing.T) {
	attempts := 200_000
	if testing.Short() {
		attempts = 50_000
	}
	const seed = 4
	rnd := rand.New(rand.NewPCG(seed, 0))
	var task Task
	var root classify.RootCause
	slices := make([]Slice, 8)
	worst := make([]severity, len(slices)) // of each slice, by the rules
	pairs := make([]rail.Pair, 300)
	for i := range pairs {
		pairs[i] = rail.Pair{Peer: "host", Local: "mlx5_0", Port: 1, Remote: string(rune('A' + i))}
	}
	var reasons []classify.Reason
	for r := classify.ReasonNone; r <= classify.ReasonFatal; r++ {
		reasons = append(reasons, r)
	}
	slices[0].Refused(&task, &Evidence{Reason: classify.ReasonByteWindow})
	worst[0] = severityCongested
	first := task.record.Load()
	require.NotNil(t, first)

	fail := func(i int) {
		n := rnd.IntN(len(slices))
		ev := Evidence{
			Reason: reasons[rnd.IntN(len(reasons))], Verdict: classify.Completion(classify.Status(rnd.IntN(30)), uint32(i)),
			Pair: &pairs[i%len(pairs)], Root: &root, Generation: 1, At: 24 * time.Hour / time.Duration(attempts) * time.Duration(i),
		}
		to := severityOf(ev.Reason)
		if rnd.IntN(3) == 0 {
			slices[n].Refused(&task, &ev)
			if to > severityNone && (to >= worst[n] || opensPath(ev.Reason)) {
				worst[n] = to
			}
			return
		}
		trial := rnd.IntN(8) == 0
		slices[n].Admitted(&task, 1, trial)
		if !trial {
			worst[n] = severityNone
		}
		slices[n].Failed(&ev)
		worst[n] = max(worst[n], to)
	}
	i := 0
	allocs := testing.AllocsPerRun(1, func() { // runs it twice
		for range attempts / 2 {
			fail(i)
			i++
			most := severityNone
			for _, s := range worst {
				most = max(most, s)
			}
			if got := task.State(); got != most.state() {
				require.Equal(t, most.state(), got, "state after attempt %d, seed %d", i, seed)
			}
		}
	})
	assert.Zero(t, allocs, "allocations after the first anomaly")
	assert.Same(t, first, task.record.Load(), "it stays the one record")
	for n := range slices {
		slices[n].Admitted(&task, 1, false)
		require.Equal(t, Recorded, slices[n].Succeeded())
	}
	assert.Equal(t, Normal, task.State(), "a success in the end")
	assert.Equal(t, Seen(true), task.Detail().Resolved)
	assert.Zero(t, first.unresolved, "of all that was counted")
}

// Success and failure in turn leave nothing behind.
func TestOverloadSuccessAndFailureInTurn(t *testing.T) {
	var task Task
	var s Slice
	turn := func() {
		s.Admitted(&task, 1, false)
		s.Failed(&Evidence{Reason: classify.ReasonRouteTimeout, Generation: 1})
		require.Equal(t, Congested, task.State())
		s.Admitted(&task, 1, false)
		s.Succeeded()
		require.Equal(t, Normal, task.State())
	}
	turn()
	assert.Zero(t, testing.AllocsPerRun(20_000, turn))
	assert.Zero(t, task.record.Load().unresolved)
}
