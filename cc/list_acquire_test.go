package cc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The largest slice and sum are stated, and are the largest.
func TestListSizes(t *testing.T) {
	for name, tt := range map[string]struct {
		sizes []int64
		fault string // empty if there is none
	}{
		"the largest":            {[]int64{MaxBytes - 1, 1}, ""},
		"a slice that is larger": {[]int64{1, MaxBytes + 1}, "slice 1 of 2 has 2305843009213693952 bytes: must be 1 to 2305843009213693951;"},
		"a sum that is larger":   {[]int64{MaxBytes, 1, 1}, "the first 2 of 3 slices have 2305843009213693952 bytes: at most 2305843009213693951 together;"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newListRig(t, Observe)
			d := l.route.TryAcquireList(&l.list, l.gen, tt.sizes, nil)
			if tt.fault == "" {
				require.True(t, d.Admitted(), "%s", d)
				l.list.Unposted(0)
				return
			}
			assert.ErrorContains(t, d.Err, tt.fault)
			assert.Zero(t, l.list.Held())
		})
	}
}

// Observe mode admits a list that enforce would have refused, as long as it can be counted.
func TestObservedListCountsUpToMaxBytes(t *testing.T) {
	l := newListRig(t, Observe)
	l.fail(l.route, 3, retryExc)
	gen := l.route.current.Load().number
	var other List
	require.True(t, l.route.TryAcquireList(&l.list, gen, []int64{MaxBytes - 20, 10}, nil).Admitted())
	d := l.route.TryAcquireList(&other, gen, []int64{11}, nil)
	assert.ErrorContains(t, d.Err, "TryAcquireList of 11 bytes")
	assert.ErrorContains(t, d.Err, "where 2305843009213693941 are in flight: together more than 2305843009213693951;")
	require.True(t, l.route.TryAcquireList(&other, gen, []int64{10}, nil).Admitted())
	other.Unposted(0)
	l.list.Unposted(0)
	l.inFlight(l.route, 0, 0)
}

// What a list met before is resolved by its admission, also where that is only observed:
// it is no trial.
func TestObservedListResolves(t *testing.T) {
	l := newListRig(t, Observe)
	l.post(2)
	l.settle(3, retryExc)
	require.Equal(t, congested, l.task.State())
	l.fail(l.route, 2, retryExc)
	l.state(l.route, Quarantined)
	l.gen = l.route.current.Load().number
	require.True(t, l.route.TryAcquireList(&l.list, l.gen, sizes(2), &l.task).Admitted())
	assert.Equal(t, unknown, l.task.State())
	l.list.Unposted(0)
}

// A list that exceeds a window has met its limit, which may grow then.
func TestListAboveAWindowIsItsLimit(t *testing.T) {
	l := newListRig(t, Enforce)
	require.Equal(t, RouteDomain, l.route.TryAcquireList(&l.list, l.gen, []int64{mib, 1}, nil).Domain)
	assert.True(t, l.route.full.take())
	l.route.window.Store(8 * mib)
	require.Equal(t, DeviceDomain, l.route.TryAcquireList(&l.list, l.gen, []int64{4 * mib, 1}, nil).Domain)
	assert.False(t, l.route.full.take())
	assert.True(t, l.route.device.full.take())
}

// Only the first slices count: what follows one that does not fit would overtake it. In
// mode off everything fits.
func TestFitStopsAtTheFirstThatDoesNot(t *testing.T) {
	l := newListRig(t, Enforce)
	large := []int64{kib, mib, kib}
	assert.Equal(t, 1, l.route.Fit(large))
	off := newListRig(t, Off)
	assert.Equal(t, 3, off.route.Fit(large))
	assert.Equal(t, 1, off.route.Fit([]int64{1 << 40}))
}

// A list that is posted too late is free, and posts nothing.
func TestListOfAnOldEndpoint(t *testing.T) {
	for name, tt := range map[string]struct {
		then  func(*listRig)
		fault error
	}{
		"renewed": {func(l *listRig) { l.renew(l.route, l.qp) }, ErrStaleGeneration},
		"retired": {func(l *listRig) {
			var s slice
			l.rig.post(&s, l.route, l.gen, kib, l.qp)
			l.rig.settle(&s, deadline)
			l.rig.settle(&s, teardown)
		}, ErrStaleGeneration},
		"closed": {func(l *listRig) { l.route.Close() }, ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			l := newListRig(t, Enforce)
			require.True(t, l.route.TryAcquireList(&l.list, l.gen, sizes(4), &l.task).Admitted())
			tt.then(l)
			assert.ErrorIs(t, l.list.Posting(l.qp, l.now), tt.fault)
			l.left(4, 0)
		})
	}
}

// A list uses its endpoint: after a verdict that touches it a trial needs another.
func TestListUsesItsEndpoint(t *testing.T) {
	for _, used := range []bool{false, true} {
		l := newListRig(t, Enforce)
		if used {
			l.post(1)
			l.settle(1, success)
		}
		l.portErr()
		l.advance(30 * time.Second)
		want := Ruling{Answer: Admit}
		if used {
			want = wantsRenew
		}
		l.ruling(l.route, want).permit.Unposted()
	}
}

// Where the hardware took all, there is no tail to give back.
func TestUnpostedBeyondTheList(t *testing.T) {
	l := newListRig(t, Enforce)
	require.True(t, l.route.TryAcquireList(&l.list, l.gen, sizes(4), nil).Admitted())
	for _, from := range []int{-1, 4, 5, 33} {
		assert.Zero(t, l.list.Unposted(from))
	}
	l.left(4, 0xf)
	assert.Equal(t, uint32(0xc), l.list.Unposted(2))
	assert.Equal(t, uint32(3), l.list.Unposted(0))
	assert.Zero(t, l.list.Unposted(0), "it is free")
	l.left(4, 0)
}
