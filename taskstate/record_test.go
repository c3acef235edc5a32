package taskstate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// A new attempt of a task without trouble takes no lock, so it may come between a
// slice's first look at the task and its taking the lock. These tests stand at
// that point.
func betweenLookAndLock(t *testing.T) (*Task, *Slice, *record) {
	task, slice := new(Task), new(Slice)
	slice.Admitted(task, 1, false)
	r := task.needRecord()
	require.Equal(t, uint32(2), task.NextAttempt())
	return task, slice, r
}

func TestAttemptEndsBeforeEvidenceIsCounted(t *testing.T) {
	task, slice, r := betweenLookAndLock(t)
	ev := &Evidence{Reason: classify.ReasonPathQuarantined}
	assert.False(t, slice.raise(r, severityUnavailable, ev), "the evidence is of attempt 1")
	assert.Equal(t, severityNone, slice.severity)
	assert.Equal(t, [severities + 1]uint32{}, r.unresolved, "what was counted must be taken back")
	assert.Equal(t, r.base, r.last, "and nothing kept")
	assert.Equal(t, Detail{Attempt: 2}, task.Detail())
}

func TestAttemptEndsBeforeLateSuccessIsRecorded(t *testing.T) {
	task, slice, _ := betweenLookAndLock(t)
	assert.Equal(t, OldAttempt, slice.resolve(true))
	assert.False(t, slice.late, "an ignored success is not remembered")
	assert.Equal(t, Unknown, task.State(), "the success is of attempt 1")
}

func TestAttemptEndsBeforeSuccessIsRecorded(t *testing.T) {
	task, slice, _ := betweenLookAndLock(t)
	var sawBefore word // of attempt 1, with nothing in it
	assert.Equal(t, OldAttempt, slice.succeed(sawBefore), "its compare-and-swap must fail")
	assert.Equal(t, Unknown, task.State())
}

func TestPublishRefusesAnotherAttempt(t *testing.T) {
	task, _, r := betweenLookAndLock(t)
	before := task.load()
	assert.False(t, r.publish(task, 0, successBit))
	assert.Equal(t, before, task.load())
	assert.True(t, r.publish(task, 1, successBit))
	assert.Equal(t, Normal, task.State())
}

func TestEndAttemptWithoutTrouble(t *testing.T) {
	task, _, r := betweenLookAndLock(t)
	before := task.load()
	_, ended := r.endAttempt(task)
	assert.False(t, ended, "the trouble was resolved before the lock was taken")
	assert.Equal(t, before, task.load(), "the caller ends the attempt, not this call")
}

// Kept evidence gives way in this order: the owner's own, empty or resolved,
// oldest.
func TestKeepChoosesItsVictim(t *testing.T) {
	const s = severityCongested
	numbers := func(r *record) []uint64 {
		var all []uint64
		for _, e := range r.kept[s-1] {
			all = append(all, e.number)
		}
		return all
	}
	var r record
	ev := &Evidence{Reason: classify.ReasonByteWindow}
	first := r.keep(s, 0, 0, ev)
	second := r.keep(s, 0, 0, ev)
	assert.Equal(t, []uint64{first, second}, numbers(&r), "empty places are used first")

	third := r.keep(s, second, 0, ev)
	assert.Equal(t, []uint64{first, third}, numbers(&r), "then the owner's own")

	fourth := r.keep(s, 0, 0, ev)
	assert.Equal(t, []uint64{fourth, third}, numbers(&r), "with all open, the oldest")

	r.close(s, fourth)
	fifth := r.keep(s, 0, 0, ev)
	assert.Equal(t, []uint64{fifth, third}, numbers(&r), "a resolved one before an open one, though it is newer")

	r.close(s, third)
	r.close(s, fifth)
	sixth := r.keep(s, 0, 0, ev)
	assert.Equal(t, []uint64{fifth, sixth}, numbers(&r), "of two resolved ones the older")

	r.close(s, sixth)
	seventh := r.keep(s, 0, 0, ev)
	assert.Equal(t, []uint64{seventh, sixth}, numbers(&r), "wherever it is")
}

// Evidence is copied, its pair too.
func TestKeptEvidenceIsACopy(t *testing.T) {
	var r record
	pair := rail.Pair{Peer: "host-b"}
	r.keep(severityCongested, 0, 0, &Evidence{Reason: classify.ReasonByteWindow, Pair: &pair})
	kept := r.kept[severityCongested-1][0]
	assert.Equal(t, pair, kept.pair)
	assert.Nil(t, kept.ev.Pair, "the caller's own must not be kept alive")
}

// What a task without trouble is told makes no record.
func TestNoRecordWithoutTrouble(t *testing.T) {
	var task Task
	var slice Slice
	slice.Admitted(&task, 1, false)
	slice.Failed(&Evidence{Reason: classify.ReasonRouteTimeout})
	task = Task{} // as pools do
	assert.Equal(t, Recorded, slice.Succeeded())
	assert.Nil(t, task.record.Load(), "the trouble was of the task before")
	task.NextAttempt()
	assert.Equal(t, OldAttempt, slice.SucceededLate())
	assert.Nil(t, task.record.Load(), "it is no news")
}
