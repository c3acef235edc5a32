//go:build !race

package taskstate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestCostRatios holds the calls without an anomaly against their floors. Call and
// floor run in turns far shorter than a scheduler's, and the best turn of each
// counts, so that a busy machine slows neither. A disturbed run is measured for
// longer, up to a bound. The race detector would measure its own instrumentation,
// so the test is left out there.
func TestCostRatios(t *testing.T) {
	const least, most, calls = 500, 20_000, 200
	for _, c := range costs {
		t.Run(c.name, func(t *testing.T) {
			call, floor, ratio := time.Hour, time.Hour, 0.0
			for turn := range most {
				oneCall, oneFloor := c.roundOf(calls)
				call, floor = min(call, oneCall), min(floor, oneFloor)
				ratio = float64(call) / float64(floor)
				if turn >= least && ratio <= c.limit {
					break
				}
			}
			t.Logf("call %.2f ns, floor %.2f ns, ratio %.2f",
				float64(call.Nanoseconds())/calls, float64(floor.Nanoseconds())/calls, ratio)
			if testing.CoverMode() != "" {
				return // the counters of coverage cost more than the call
			}
			assert.LessOrEqual(t, ratio, c.limit, "the call may cost %v times one load and one store of the same run", c.limit)
		})
	}
}
