package cc

import (
	"testing"

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
