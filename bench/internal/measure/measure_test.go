package measure

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var short = Plan{Sittings: 2, Rounds: 5, Batches: 2, Batch: 20 * time.Microsecond}

var sink atomic.Int64

// adds is an operation of so many additions.
func adds(count int) Scenario {
	return Scenario{Name: "adds", Workers: 1, Setup: func() ([]Loop, func(), error) {
		return []Loop{func(n int) {
			for range n * count {
				sink.Add(1)
			}
		}}, nil, nil
	}}
}

func TestLongerTakesLonger(t *testing.T) {
	r, err := Run(short, adds(1), adds(40))
	require.NoError(t, err)
	assert.Greater(t, r[1].NsPerOp, 5*r[0].NsPerOp, "40 additions next to one")
	assert.Zero(t, r[0].AllocsPerOp, "allocations of an addition")
}

func TestAllocationsAreCounted(t *testing.T) {
	var kept *[64]byte
	r, err := Run(short, Scenario{Name: "alloc", Workers: 1, Setup: func() ([]Loop, func(), error) {
		return []Loop{func(n int) {
			for range n {
				kept = new([64]byte)
			}
		}}, nil, nil
	}})
	require.NoError(t, err)
	require.NotNil(t, kept)
	assert.InDelta(t, 1, r[0].AllocsPerOp, 0.2)
}

func TestTwoWorkersRunTogether(t *testing.T) {
	var turns [2]atomic.Int64
	// Each waits for the other in each operation: alone, neither would get on.
	meet := func(me, other int) Loop {
		return func(n int) {
			for range n {
				mine := turns[me].Add(1)
				for turns[other].Load() < mine {
				}
			}
		}
	}
	r, err := Run(short, Scenario{Name: "meet", Workers: 2, Setup: func() ([]Loop, func(), error) {
		return []Loop{meet(0, 1), meet(1, 0)}, nil, nil
	}})
	require.NoError(t, err)
	assert.Positive(t, r[0].NsPerOp)
}

func TestFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		s    Scenario
		want string
	}{
		{"set-up fails", Scenario{Name: "x", Workers: 1, Setup: func() ([]Loop, func(), error) { return nil, nil, broken }}, "measure: x: broken"},
		{"too many workers", Scenario{Name: "x", Workers: 1000}, "needs 1000 cores"},
		{"loops missing", Scenario{Name: "x", Workers: 1, Setup: func() ([]Loop, func(), error) { return nil, nil, nil }}, "has 0 loops for 1 workers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(short, c.s)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestEndIsCalledForEachSitting(t *testing.T) {
	ended := 0
	s := adds(1)
	loop := s.Setup
	s.Setup = func() ([]Loop, func(), error) {
		l, _, err := loop()
		return l, func() { ended++ }, err
	}
	_, err := Run(short, s)
	require.NoError(t, err)
	assert.Equal(t, short.Sittings, ended)
}
