package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
)

// watcher looks at what happens within a statement.
type watcher struct {
	answers   map[cc.Answer]int
	last      time.Duration // of a decision
	most      int64         // bytes in flight
	ends      []string
	delivered int64
}

func (w *watcher) Decided(s *Step, d Decision) {
	w.answers[d.Answer]++
	w.last = d.At
	now, known := s.Route(d.Route)
	if known {
		w.most = max(w.most, now.InFlightBytes)
	}
}

func (w *watcher) Passed(s *Step) {
	for r := range s.Routes() {
		w.most = max(w.most, r.InFlightBytes)
	}
}

func (w *watcher) Trace(s *Step) {
	if s.End {
		w.ends = append(w.ends, s.Case+s.At.String())
		for r := range s.Routes() {
			w.delivered += r.Flow.DeliveredBytes
		}
	}
}

// A watcher is told of each decision, also of those within a statement, and where a case
// ends: before the checks that come last.
func TestWatcher(t *testing.T) {
	seen := watcher{answers: map[cc.Answer]int{}}
	result := runText(t, begin+"case a\ntraffic r 10 512KiB every=1ms takes=5ms\nadvance 2ms\ncase b\nsend p,q r 4KiB\ncomplete p,q SUCCESS\n", Options{Tracer: &seen})
	assert.Empty(t, result.Mismatches)
	assert.Equal(t, 10+2, seen.answers[cc.Admit])
	assert.NotZero(t, seen.answers[cc.Defer])
	assert.Equal(t, time.Duration(0), seen.last, "of the second case")
	assert.Equal(t, int64(1<<20), seen.most)
	assert.Equal(t, []string{"a26ms", "b0s"}, seen.ends)
	assert.Equal(t, int64(10*512<<10+2*4<<10), seen.delivered)
}

// Traffic that is never admitted ends nothing.
func TestTrafficInVain(t *testing.T) {
	result := runText(t, begin+"send p r 1MiB\ntraffic r 2 4KiB\nadvance 1s\nleave_open\n", Options{})
	require.Len(t, result.Mismatches, 1)
	assert.Equal(t, "some waits for room in vain", result.Mismatches[0].Got)
}

// With another configuration a slice that is admitted where the text has it refused is
// given back: nothing in the text speaks of it.
func TestChangedConfigurationGivesBack(t *testing.T) {
	set, err := ParseSet("mode=observe")
	require.NoError(t, err)
	result := runText(t, begin+"send p r 1MiB\nacquire q r 4KiB -> defer\ncomplete p SUCCESS\nacquire q r 4KiB -> admit\nunposted q\n", Options{Set: set})
	assert.Equal(t, int64(1), result.Different)
	assert.Contains(t, result.Differences[0].Got, "admit")
}
