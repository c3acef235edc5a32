package recorder

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The stream waits for a writer that was interrupted, while the ring has room; and no
// longer, since the record may have been dropped.
func TestStreamWaitsForWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := New(Slots(64), Stream(&out, Text))
		require.NoError(t, r.Attach(nil))
		n := r.ring.cursor.Add(1) - 1
		slow := &r.ring.slots[n]
		require.True(t, slow.open(n))
		for range 20 {
			r.Beat(&Beat{Poller: 1})
		}
		time.Sleep(time.Second)
		assert.Zero(t, r.Counters().Streamed)
		b := Beat{Poller: 2}
		slow.record = pack(b.words())
		slow.turn.Store(2*n + 2)
		time.Sleep(time.Second)
		assert.Equal(t, uint64(21), r.Counters().Streamed)

		r.ring.cursor.Add(1) // one that never comes
		for range 20 {
			r.Beat(&Beat{Poller: 1})
		}
		time.Sleep(time.Second)
		assert.Equal(t, uint64(21), r.Counters().Streamed)
		for range 20 {
			r.Beat(&Beat{Poller: 1})
		}
		time.Sleep(time.Second)
		assert.Equal(t, uint64(61), r.Counters().Streamed)
		require.NoError(t, r.Close())
		assert.Equal(t, uint64(1), r.Counters().Lost)
	})
}
