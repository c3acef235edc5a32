//go:build !race

package classify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestVerdictCostsAFewLookUps compares a completion's verdict with an array
// look-up. Both run in turn, in slices far shorter than a scheduler's, and the
// best slice of each counts, so that a busy machine slows neither. The race
// detector would measure its own instrumentation, so it is left out there.
func TestVerdictCostsAFewLookUps(t *testing.T) {
	const limit = 3
	best := func(so time.Duration, f func() int) time.Duration {
		start := time.Now()
		for range 16 {
			sink += f()
		}
		return min(so, time.Since(start))
	}
	floor, verdict := time.Duration(1<<62), time.Duration(1<<62)
	for range 500 {
		floor = best(floor, lookUp)
		verdict = best(verdict, judge)
	}
	ratio := float64(verdict) / float64(floor)
	t.Logf("array look-up %.2f ns, verdict %.2f ns, ratio %.2f",
		float64(floor)/16/float64(len(statuses)), float64(verdict)/16/float64(len(statuses)), ratio)
	if testing.CoverMode() != "" {
		return // the counters of coverage cost more than the verdict
	}
	assert.LessOrEqual(t, ratio, float64(limit), "a verdict may cost %d array look-ups of the same run", limit)
}
