package cc

import (
	"testing"
	"testing/synctest"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The task hears of a success when the last slice has a verdict, and not before.
func TestListSucceedsAsAWhole(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(3)
	for _, mask := range []uint32{1, 2} {
		require.Equal(t, Settled{mask, mask}, l.settle(mask, success))
		assert.Equal(t, unknown, l.task.State(), "some are out still")
	}
	require.Equal(t, Settled{4, 4}, l.settle(7, success))
	assert.Equal(t, normal, l.task.State())
}

// A completion that comes twice is no success of anything.
func TestListThatSucceededTwice(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(2)
	l.settle(3, success)
	l.task.NoUsablePath(nil)
	assert.Zero(t, l.settle(3, success))
	assert.Equal(t, unavailable, l.task.State())
	assert.Zero(t, l.list.Settle(0, 3, success, l.now), "nobody was told such a number")
}

// A list that gives bytes of a lease back wakes who waits for them.
func TestListMakesRoomForAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newListRig(t, Enforce)
		d := l.route.TryAcquireList(&l.list, l.gen, []int64{100 * kib, 100 * kib}, nil)
		require.True(t, d.Admitted())
		require.NoError(t, l.list.Posting(l.qp, l.now))
		require.False(t, l.list.p.direct)
		var rest slice
		l.rig.post(&rest, l.route, l.gen, 824*kib, l.qp)
		w := l.wait(t.Context(), l.route, l.gen, 100*kib, l.qp)
		require.False(t, w.over(), "the window is full")
		l.list.Settle(d.Use, 1, success, l.now)
		require.True(t, w.over())
		l.rig.settle(&w.slice, success)
		l.rig.settle(&rest, success)
		l.list.Settle(d.Use, 2, success, l.now)
	})
}

// Only what ends a slice's attempt is news for the task: not what becomes of one that was
// cancelled.
func TestFlushOfACancelledListIsNoNews(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(2)
	require.Equal(t, Settled{Ended: 3}, l.settle(3, cancel))
	require.Equal(t, Settled{Released: 3}, l.settle(3, flush))
	assert.Equal(t, taskstate.Detail{Attempt: 1}, l.task.Detail())
}

// A failure that does not count against the path is one for the task all the same.
func TestListFailsForItsTask(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(2)
	l.settle(1, locLen())
	assert.Equal(t, taskstate.Seen(classify.ReasonLocalConfiguration), l.task.Detail().Reason)
	l.settle(2, success)
	assert.Equal(t, unknown, l.task.State(), "one of two has failed")
}

// A slice that has its verdict keeps none of the others from theirs.
func TestListTakesWhatIsLeft(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(4)
	require.Equal(t, Settled{Ended: 1}, l.settle(1, cancel))
	assert.Equal(t, Settled{Ended: 0xe}, l.settle(0xf, cancel))
	assert.Equal(t, Settled{Released: 0xf}, l.settle(0xf, teardown))
}

// A list is done when its last slice has a verdict, no sooner, and once.
func TestListIsDoneOnce(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(3)
	l.settle(1, cancel)
	l.settle(2, success)
	assert.Equal(t, unknown, l.task.State(), "the third is out")
	l.settle(4, success)
	assert.Equal(t, normal, l.task.State())
	l.task.NoUsablePath(nil)
	require.Equal(t, Settled{Released: 1}, l.settle(1, success))
	assert.Equal(t, unavailable, l.task.State(), "the cancelled one is no success")
}

// What settles a list while a deadline is being recorded counts in its order: a teardown
// is no success, and a late success stands when others follow it.
func TestListSettledTwiceByHook(t *testing.T) {
	for name, tt := range map[string]struct {
		slices int
		hook   func(*listRig)
		state  taskstate.State
	}{
		"teardown, then success": {1, func(l *listRig) {
			l.settle(1, teardown)
			assert.Zero(t, l.settle(1, success))
		}, congested},
		"late success, then another's": {2, func(l *listRig) {
			assert.Zero(t, l.settle(1, success))
			assert.Equal(t, Settled{2, 2}, l.settle(2, success))
		}, normal},
	} {
		t.Run(name, func(t *testing.T) {
			l := newListRig(t, Enforce)
			l.onSuspicion(func() { tt.hook(l) })
			l.post(tt.slices)
			assert.Equal(t, Settled{1, 1}, l.settle(1, deadline))
			assert.Equal(t, tt.state, l.task.State())
			l.left(tt.slices, 0)
		})
	}
}
