//go:build guest

package twohost

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/softroce"
)

func open(t *testing.T) *Bed {
	t.Helper()
	lab, err := softroce.Current()
	require.NoError(t, err, "this test needs the Soft-RoCE guest; run it with guestexec")
	b, err := Open(lab)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, b.Close(), "something was left open") })
	return b
}

// Six workers that share what they learn pay one timeout for each dead pair, and no
// slice is posted there when the first failure is known.
func TestGuestLearnsOnce(t *testing.T) {
	b, n := open(t), DefaultNumbers()
	for _, op := range []transfer.Op{transfer.Write, transfer.Read} {
		t.Run(op.String(), func(t *testing.T) {
			r, err := b.Learn(t.Context(), Ours, n, n.DefaultLoad(op, 3*n.Timeout()))
			require.NoError(t, err)
			lost, after := r.Lost()
			t.Logf("%d transfers, %.2f MB/s; %d dead pairs cost %d rounds and %d slices, %d after the verdict; last error at %v",
				r.Transfers, r.Bandwidth/1e6, len(r.Dead), r.Rounds(), lost, after, r.LastError)
			require.NoError(t, r.Check(b))
		})
	}
}

// Pairs that work again are found by probes, and carry user slices soon after.
func TestGuestRepair(t *testing.T) {
	b, n := open(t), DefaultNumbers()
	r, err := b.Repair(t.Context(), n, n.DefaultLoad(transfer.Write, 0), time.Second)
	require.NoError(t, err)
	t.Logf("probes every %v, a failing one takes %v: %+v", r.Interval, r.Retry.Middle, r.Pairs)
	require.NoError(t, r.Check())
}
