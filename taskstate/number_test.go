package taskstate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
)

func TestNumbersTellRecordsApart(t *testing.T) {
	former := newRecord()
	old := former.nextNumber()
	next := newRecord()
	assert.True(t, former.counted(old))
	assert.False(t, next.counted(old), "it is of the record before")
	assert.True(t, next.counted(next.nextNumber()), "the first of its block")
	var none *record
	assert.False(t, none.counted(old), "a task without a record has counted nothing")
}

func TestNumbersGoOnInAnotherBlock(t *testing.T) {
	long := newRecord()
	first := long.nextNumber()
	other := newRecord()
	others := other.nextNumber()
	last := first
	for range 3 * numberBlock {
		n := long.nextNumber()
		require.Greater(t, n, last, "numbers only grow")
		require.NotEqual(t, others, n, "no two pieces of evidence share a number")
		last = n
	}
	assert.True(t, long.counted(first), "the record still knows its first block")
	assert.True(t, long.counted(last))
	assert.False(t, newRecord().counted(last), "a later record lies above all of its blocks")
}

// A slice keeps what it left in a task whose numbers go on in another block.
func TestSliceAcrossBlocks(t *testing.T) {
	var task Task
	var waiting, busy Slice
	ev := &Evidence{Reason: classify.ReasonPathQuarantined}
	waiting.Refused(&task, ev)
	for range numberBlock + 1 {
		busy.Refused(&task, ev)
	}
	assert.Equal(t, uint32(2), task.Detail().Unresolved)
	waiting.Admitted(&task, 1, false)
	assert.Equal(t, uint32(1), task.Detail().Unresolved, "its own trouble, and nothing else, is resolved")
	task.NoUsablePath(nil)
	assert.Equal(t, uint32(2), task.Detail().Unresolved)
	busy.Admitted(&task, 1, false)
	assert.Zero(t, task.Detail().Unresolved)
	requireClean(t, &task)
}

// A record takes as many numbers at a time as it says, of which the lowest is none.
func TestBlockIsUsedUpBeforeTheNextIsTaken(t *testing.T) {
	r := newRecord()
	for range 3 {
		before := numberBlocks.Load()
		for range numberBlock - 1 {
			r.nextNumber()
		}
		require.Equal(t, before, numberBlocks.Load())
		first := r.nextNumber()
		require.Equal(t, before+1, numberBlocks.Load())
		require.Equal(t, (before+1)*numberBlock+1, first)
		r.last = newRecord().base // as if it were new
	}
}
