package cc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who was refused here and posted elsewhere holds up nobody here. An admission that comes
// to nothing leaves the claim, since the slice may come again.
func TestClaimEndsWithAPostElsewhere(t *testing.T) {
	for _, posted := range []bool{false, true} {
		r := newRig(t, Enforce)
		route, other := r.route("D1", "P", "n1"), r.route("D2", "P", "n1")
		c := r.newCrowd(route, 1)
		gen := r.renew(other, 2)
		var big, small slice
		require.False(t, route.TryAcquire(&big.permit, c.gen, 2*mib, nil).Admitted())
		r.now += claimAt(route)
		require.False(t, c.turn(), "the claim has precedence")
		d := other.TryAcquire(&big.permit, gen, 2*mib, nil)
		require.True(t, d.Admitted())
		if posted {
			require.NoError(t, big.permit.Posting(2, r.now))
			big.use = d.Use
		} else {
			big.permit.Unposted()
		}
		assert.Equal(t, posted, route.TryAcquire(&small.permit, c.gen, 64*kib, nil).Admitted(), "posted elsewhere: %t", posted)
		assert.Equal(t, posted, route.line.Load() == nil)
		small.permit.Unposted()
		if posted {
			r.settle(&big, success)
		}
		c.settleAll()
	}
}
