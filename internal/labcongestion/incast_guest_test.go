//go:build guest

package labcongestion

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

const seed = 1

func openLab(t *testing.T) *softroce.Lab {
	t.Helper()
	lab, err := softroce.Current()
	require.NoError(t, err, "guest tests must run in a guest: go test -tags guest -exec 'guestexec -nics 4'")
	require.NoError(t, lab.Heal())
	t.Cleanup(func() { assert.NoError(t, lab.Heal()) })
	return lab
}

// Four senders that together offer more than the link can take before they time out:
// enforce keeps a multiple of the goodput, in a fraction of the time. On a machine that
// stands still again and again it keeps more, and the fraction.
func TestGuestIncast(t *testing.T) {
	c := Comparison{Lab: openLab(t), Warm: 700 * time.Millisecond, Measure: 1500 * time.Millisecond, Progress: t.Logf}
	for _, queue := range IncastQueues {
		c.Arms = append(c.Arms, IncastArm(queue, cc.Off, cc.LawEpoch, seed), IncastArm(queue, cc.Enforce, cc.LawEpoch, seed))
	}
	t.Logf("seed %d; %s", seed, c.Arms[1].Setup)
	for range 3 {
		require.NoError(t, c.Round())
	}
	least := map[int]float64{1000: 2, 40: 1.5}
	for i, queue := range IncastQueues {
		off, enforced := c.Results()[2*i], c.Results()[2*i+1]
		ratio := enforced.Goodput() / off.Goodput()
		t.Logf("queue of %d: %.1f Mbit/s in %s with admission, %.1f in %s without: %.2f times", queue,
			enforced.Goodput(), enforced.Delay(), off.Goodput(), off.Delay(), ratio)
		if !off.Calm() || !enforced.Calm() {
			t.Logf("queue of %d: the machine was not calm, so that %v times the goodput are not asked for", queue, least[queue])
			least[queue] = 1
		}
		assert.GreaterOrEqual(t, ratio, least[queue], "goodput of enforce to that of off, queue of %d packets", queue)
		peak := off.Rounds[0].QueuePeak
		assert.Positive(t, peak, "packets seen in the queue of the link")
		assert.LessOrEqual(t, peak, int64(queue), "packets seen in a queue of %d", queue)
		if queue == 40 {
			assert.Positive(t, off.Rounds[0].Dropped, "packets that a queue of %d dropped", queue)
		}
		assert.Less(t, enforced.Delay(), off.Delay()/10, "time from Posting to completion of enforce, to a tenth of off's, queue of %d packets", queue)
	}
}
