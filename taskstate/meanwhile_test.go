package taskstate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/classify"
)

// meanwhile makes a call wait for the record's lock, does something in its name, and
// lets it go on. It is right whenever the call comes; nearly always it has looked at the
// task before.
func meanwhile[T any](r *record, call func() T, something func()) T {
	result := make(chan T)
	r.mu.Lock()
	go func() { result <- call() }()
	time.Sleep(2 * time.Millisecond)
	something()
	r.mu.Unlock()
	return <-result
}

// endUnderLock is endAttempt for who holds the lock.
func endUnderLock(task *Task) {
	r, w := task.record.Load(), task.load()
	task.swap(w, w.nextAttempt())
	r.resolveAll()
}

func TestAttemptEndsWhileAdmissionWaits(t *testing.T) {
	var task Task
	var slice Slice
	slice.Refused(&task, &Evidence{Reason: classify.ReasonByteWindow})
	r := task.record.Load()
	meanwhile(r, func() bool { slice.Admitted(&task, 1, false); return true }, func() { endUnderLock(&task) })
	assert.Equal(t, [severities + 1]uint32{}, r.unresolved, "the end of the attempt has resolved it; nothing is left to resolve")
	assert.Equal(t, Recorded, slice.Succeeded(), "the slice belongs to the new attempt")
	assert.Equal(t, Normal, task.State())
}

func TestAttemptEndsWhileFailureWaits(t *testing.T) {
	var task Task
	var slice Slice
	slice.Admitted(&task, 1, false)
	r := task.needRecord()
	effect := meanwhile(r, func() Effect { return slice.Failed(&Evidence{Reason: classify.ReasonFatal}) }, func() { task.NextAttempt() })
	assert.Equal(t, OldAttempt, effect)
	assert.Equal(t, Detail{Attempt: 2}, task.Detail(), "the new attempt has met nothing")
	assert.Equal(t, OldAttempt, slice.Succeeded(), "the slice is still of attempt 1")
}

func TestTroubleEndsWhileNextAttemptWaits(t *testing.T) {
	var task Task
	var slice Slice
	slice.Refused(&task, &Evidence{Reason: classify.ReasonByteWindow})
	r := task.record.Load()
	n := meanwhile(r, task.NextAttempt, func() { slice.settle(r, 0) })
	assert.Equal(t, uint32(2), n, "it still begins a new attempt")
	assert.Equal(t, uint32(2), task.Attempt())
}
