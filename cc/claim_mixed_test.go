package cc

import (
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A slice that the window has room for leaves a claim while slices of other sizes are
// out, and none while all are alike; each time it is refused, whether its task knows or not.
func TestClaimWithinTheWindow(t *testing.T) {
	for _, size := range []int64{64 * kib, 128 * kib, 192 * kib, 512 * kib, mib} {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		c := r.newCrowd(route, 1) // of 64 KiB each
		alike := route.InFlight()%size == 0
		var large slice
		for range 3 {
			d := route.TryAcquire(&large.permit, c.gen, size, &large.task)
			require.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, d.Ruling)
			assert.Equal(t, alike, route.line.Load() == nil, "%d bytes", size)
		}
		c.settleAll()
	}
	// A mix: the slice that needs much of the window has its turn.
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	c := r.newCrowd(route, 1)
	var odd, large slice
	c.settle(c.slices[0], success)
	c.slices = c.slices[1:]
	r.post(&odd, route, c.gen, 10*kib, 1)
	ask := func() Decision { return route.TryAcquire(&large.permit, c.gen, 512*kib, &large.task) }
	require.False(t, ask().Admitted())
	r.now += claimAt(route)
	for range 8 {
		require.False(t, ask().Admitted())
		require.False(t, c.turn(), "small slices stand back")
	}
	d := ask()
	require.True(t, d.Admitted(), "as soon as there is room: %s", d)
	large.permit.Unposted()
	require.True(t, c.turn(), "and the small ones go on")
	r.settle(&odd, success)
	c.settleAll()
}

// One byte more than a multiple is no multiple, also for who has no task.
func TestClaimNextToAMultiple(t *testing.T) {
	for over, claims := range map[int64]bool{-1: true, 0: false, 1: true} {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var out, s slice
		r.post(&out, route, gen, 600*kib+over, 1)
		require.False(t, route.TryAcquire(&s.permit, gen, 600*kib, nil).Admitted())
		assert.Equal(t, claims, route.line.Load() != nil, "%d bytes more", over)
		r.settle(&out, success)
	}
}

// A list of several slices leaves no claim, whatever is out.
func TestNoClaimOfAList(t *testing.T) {
	l := newListRig(t, Enforce)
	var out slice
	l.rig.post(&out, l.route, l.gen, l.route.window.Load()-1, 1)
	for range 2 {
		require.False(t, l.route.TryAcquireList(&l.list, l.gen, sizes(2), &l.task).Admitted())
		assert.Nil(t, l.route.line.Load())
	}
	require.False(t, l.route.TryAcquireList(&l.list, l.gen, sizes(1), &l.task).Admitted())
	assert.NotNil(t, l.route.line.Load(), "that of one does")
	l.rig.settle(&out, success)
}

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
