package recorder

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRingKeepsTheLatest(t *testing.T) {
	g := newRing(8)
	for i := range uint64(20) {
		g.put(i, i, i, i, i, i, i)
	}
	assert.Equal(t, uint64(12), g.oldest(g.cursor.Load()))
	for n := range uint64(22) {
		var r record
		switch got := g.read(n, &r); {
		case n < 12:
			assert.Equal(t, gone, got, "record %d", n)
		case n < 20:
			require.Equal(t, have, got, "record %d", n)
			assert.Equal(t, record{n, n, n, n, n, n, n}, r)
		default:
			assert.Equal(t, absent, got, "record %d", n)
		}
	}
}

// Who meets a busy slot goes away, and is counted.
func TestBusySlot(t *testing.T) {
	g := newRing(8)
	held := &g.slots[3]
	require.True(t, held.open(3)) // a writer that does not come to an end
	for i := range uint64(8) {
		g.put(i, 0, 0, 0, 0, 0, 0)
	}
	assert.Equal(t, uint64(1), g.dropped.Load(), "the fourth")
	var r record
	assert.Equal(t, absent, g.read(3, &r))
	assert.Equal(t, have, g.read(4, &r))
	held.turn.Store(0)

	for range 8 { // another round, with a writer of the first one that comes late
		g.put(0, 0, 0, 0, 0, 0, 0)
	}
	assert.False(t, g.slots[4].open(4), "a later record lies there")
	assert.Equal(t, have, g.read(12, &r))
}

// Writers and readers at once: each record is read whole, or not at all, and none is
// written and dropped.
func TestRingUnderStress(t *testing.T) {
	const writers, each = 3, 20_000
	g := newRing(64)
	var wg, reading sync.WaitGroup
	var stop atomic.Bool
	for range 2 {
		reading.Go(func() {
			for !stop.Load() {
				end := g.cursor.Load()
				for n := g.oldest(end); n < end; n++ {
					var r record
					if g.read(n, &r) != have {
						continue
					}
					for _, w := range r {
						if w != r[0] {
							t.Errorf("record %d is torn: %v", n, r)
							return
						}
					}
				}
			}
		})
	}
	for w := range uint64(writers) {
		wg.Go(func() {
			for i := range uint64(each) {
				v := w<<32 | i
				if i%7 == 0 {
					g.putAll([]record{{v, v, v, v, v, v, v}, {v, v, v, v, v, v, v}})
				} else {
					g.put(v, v, v, v, v, v, v)
				}
			}
		})
	}
	wg.Wait()
	stop.Store(true)
	reading.Wait()
	total := g.cursor.Load()
	pairs := uint64((each + 6) / 7)
	assert.Equal(t, uint64(writers)*(each+pairs), total)
	var there uint64
	for n := total - 64; n < total; n++ {
		var r record
		if g.read(n, &r) == have {
			there++
		}
	}
	assert.LessOrEqual(t, 64-there, g.dropped.Load(), "what is not there was counted")
	t.Logf("%d records, %d dropped", total, g.dropped.Load())
}
