package taskstate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// Field failures, as far as the task sees them. What the controller decides about
// the route (a quarantine, a deferral) is given as the evidence it hands on.

func TestScenarioLocalLengthErrors(t *testing.T) {
	var task, reverse taskstate.Task
	slice := new(taskstate.Slice)
	for gen := uint64(1); gen <= 3; gen++ {
		slice.Admitted(&task, gen, false)
		ev := completion(classify.StatusLocLenErr, 0x8e)
		ev.Generation = gen
		slice.Failed(ev)
		assert.Equal(t, taskstate.Unknown, task.State(), "generation %d: a local mistake is no path failure", gen)
		assert.Equal(t, taskstate.Seen(classify.ReasonLocalConfiguration), task.Detail().Reason)
		assert.Equal(t, taskstate.Seen(classify.ScopeOperation), task.Detail().Scope)
	}
	slice.Refused(&task, because(classify.ReasonPathQuarantined)) // three QP events have quarantined the route
	assert.Equal(t, taskstate.LongUnavailable, task.State())
	assert.Equal(t, taskstate.Seen(classify.ReasonPathQuarantined), task.Detail().Reason)

	slice.Admitted(&task, 1, false) // the other device admits
	slice.Succeeded()
	assert.Equal(t, taskstate.Normal, task.State())

	admitted(&reverse).Failed(completion(classify.StatusRemInvReqErr, 0x8a))
	assert.Equal(t, taskstate.Unknown, reverse.State(), "remote metadata")
	assert.Equal(t, taskstate.Seen(classify.ReasonRemoteMetadata), reverse.Detail().Reason)
}

func TestScenarioFlushBurstAfterOneTimeout(t *testing.T) {
	tasks := make([]taskstate.Task, 256)
	slices := make([]taskstate.Slice, len(tasks))
	var root classify.RootCause
	for i := range tasks {
		slices[i].Admitted(&tasks[i], generation, false)
	}
	timeout := completion(classify.StatusRetryExcErr, 0x81)
	require.True(t, root.Note(timeout.Verdict))
	require.Equal(t, taskstate.Recorded, slices[0].Failed(timeout))
	for i := range slices[1:] {
		flush := completion(classify.StatusWRFlushErr, 0xf9)
		flush.Root = &root
		require.Equal(t, taskstate.Recorded, slices[i+1].Failed(flush))
	}

	first, other := tasks[0].Detail(), tasks[199].Detail()
	assert.Equal(t, taskstate.Congested, first.State)
	assert.Equal(t, taskstate.Seen(classify.ReasonRouteTimeout), first.Reason)
	assert.Equal(t, taskstate.Unknown, other.State)
	assert.Equal(t, taskstate.Seen(classify.ReasonDerivedFlush), other.Reason)
	assert.Equal(t, taskstate.Seen(timeout.Verdict), other.RootCause, "the flush inherits the timeout")

	for _, i := range []int{0, 199} {
		slices[i].Admitted(&tasks[i], generation+1, false)
		slices[i].Succeeded()
		assert.Equal(t, taskstate.Normal, tasks[i].State())
		assert.Equal(t, taskstate.Seen(true), tasks[i].Detail().Resolved)
	}
}

func TestScenarioFlushesWithoutTheirRoot(t *testing.T) {
	var task taskstate.Task
	var root classify.RootCause
	flush := completion(classify.StatusWRFlushErr, 0xf9)
	flush.Root = &root
	admitted(&task).Failed(flush)
	assert.Equal(t, taskstate.Unknown, task.State())
	_, seen := task.Detail().RootCause.Get()
	assert.False(t, seen, "no root surfaced, so none is made up")
}

func TestScenarioTeardownAndCancel(t *testing.T) {
	t.Run("teardown without completions", func(t *testing.T) {
		var task taskstate.Task
		assert.Equal(t, taskstate.Nothing, admitted(&task).Failed(signal(classify.SignalTeardown)))
		assert.Equal(t, taskstate.Detail{Attempt: 1}, task.Detail(), "UNKNOWN, and no root failure made up")
	})
	t.Run("cancelled, then flushed", func(t *testing.T) {
		var task taskstate.Task
		var root classify.RootCause
		root.Seal()
		slice := admitted(&task)
		slice.Failed(signal(classify.SignalCancel))
		flush := completion(classify.StatusWRFlushErr, 0xf9)
		flush.Root = &root
		slice.Failed(flush)
		assert.Equal(t, taskstate.Unknown, task.State())
		_, seen := task.Detail().RootCause.Get()
		assert.False(t, seen, "a teardown is no root cause")
	})
	t.Run("the cancelled attempt is over", func(t *testing.T) {
		var task taskstate.Task
		slice := admitted(&task)
		task.NextAttempt()
		assert.Equal(t, taskstate.OldAttempt, slice.Failed(completion(classify.StatusRetryExcErr, 0x81)))
		assert.Equal(t, taskstate.Unknown, task.State(), "the late timeout belongs to a retired attempt")
	})
}

func TestScenarioRejectedPost(t *testing.T) {
	var fresh, deferred taskstate.Task
	slice := admitted(&fresh)
	v := classify.RejectedPost(12)
	assert.Equal(t, taskstate.Nothing, slice.Failed(&taskstate.Evidence{Reason: v.Reason(), Scope: v.Scope(), Verdict: v}))
	assert.Equal(t, taskstate.Unknown, fresh.State())

	waiting := new(taskstate.Slice)
	waiting.Refused(&deferred, because(classify.ReasonByteWindow))
	rejected := admitted(&deferred)
	rejected.Failed(&taskstate.Evidence{Reason: v.Reason(), Verdict: v})
	assert.Equal(t, taskstate.Congested, deferred.State(), "the task keeps its earlier state")
}

func TestScenarioReceiverNotReady(t *testing.T) {
	var task taskstate.Task
	slice := new(taskstate.Slice)
	for range 5 {
		slice.Admitted(&task, generation, false)
		slice.Failed(completion(classify.StatusRNRRetryExcErr, 0))
	}
	assert.Equal(t, taskstate.Congested, task.State())
	assert.Equal(t, taskstate.Seen(classify.ReasonReceiverPressure), task.Detail().Reason)
	assert.Equal(t, uint32(1), task.Detail().Unresolved, "five times the same slice")
	slice.Admitted(&task, generation, false)
	slice.Succeeded()
	assert.Equal(t, taskstate.Normal, task.State())
}

func TestScenarioDeviceGone(t *testing.T) {
	var onBond, onOther taskstate.Task
	slice := admitted(&onBond)
	slice.Failed(completion(classify.StatusWRFlushErr, 0))
	assert.Equal(t, taskstate.Unknown, onBond.State(), "a flush alone says nothing about the device")
	slice.Refused(&onBond, because(classify.ReasonPathQuarantined))
	assert.Equal(t, taskstate.LongUnavailable, onBond.State())
	arrived(&onOther)
	assert.Equal(t, taskstate.Normal, onOther.State(), "tasks on other devices are not touched")
}

func TestScenarioPortUpIsLost(t *testing.T) {
	var task taskstate.Task
	slice := admitted(&task)
	slice.Failed(completion(classify.StatusRetryExcErr, 0x81))
	assert.Equal(t, taskstate.Congested, task.State(), "below the threshold")
	slice.Refused(&task, because(classify.ReasonPathQuarantined))
	assert.Equal(t, taskstate.LongUnavailable, task.State(), "the port's event has quarantined the route")
	slice.Admitted(&task, generation, true)
	assert.Equal(t, taskstate.LongUnavailable, task.State(), "the trial decides, not its posting")
	slice.Failed(because(classify.ReasonProbeFailed))
	assert.Equal(t, taskstate.Seen(classify.ReasonProbeFailed), task.Detail().Reason)
	slice.Admitted(&task, generation, true)
	slice.Succeeded()
	assert.Equal(t, taskstate.Normal, task.State())
}

// Every status with every vendor code: the task's state follows the status alone.
func TestScenarioClassesAreNotLost(t *testing.T) {
	want := func(s classify.Status) taskstate.State {
		switch s {
		case classify.StatusRetryExcErr, classify.StatusRespTimeoutErr, classify.StatusRNRRetryExcErr:
			return taskstate.Congested
		case classify.StatusSuccess:
			return taskstate.Normal
		default:
			return taskstate.Unknown
		}
	}
	statuses := []classify.Status{24, 99, 255, 1<<32 - 1}
	for s := classify.StatusSuccess; s <= classify.StatusTMRndvIncomplete; s++ {
		statuses = append(statuses, s)
	}
	for _, s := range statuses {
		for _, vendorErr := range []uint32{0, 0x0a, 0x51, 0x81, 0x88, 0xf9} {
			var task taskstate.Task
			arrived(&task)
			ev := completion(s, vendorErr)
			if ev.Verdict.Succeeded() {
				arrived(&task)
			} else {
				require.Equal(t, taskstate.Recorded, admitted(&task).Failed(ev), "status %d", s)
				assert.Equal(t, taskstate.Seen(ev.Verdict), task.Detail().Verdict, "raw status and vendor_err are kept")
			}
			assert.Equal(t, want(s), task.State(), "status %d, vendor_err %#x", s, vendorErr)
		}
	}
}

func TestScenarioHungWithoutAnError(t *testing.T) {
	var task taskstate.Task
	slice := admitted(&task)
	slice.Failed(signal(classify.SignalDeadlineStalled))
	assert.Equal(t, taskstate.Unknown, task.State(), "a stalled poller says nothing about the network")
	slice.Failed(signal(classify.SignalDeadlineProgressing))
	assert.Equal(t, taskstate.Congested, task.State())
	assert.Equal(t, taskstate.Outranked, slice.Failed(completion(classify.StatusWRFlushErr, 0)), "the flush that follows is derived")
	assert.Equal(t, taskstate.Congested, task.State())
	slice.Admitted(&task, generation+1, false)
	slice.Succeeded()
	assert.Equal(t, taskstate.Normal, task.State())
}

// Input after shutdown is for permits only; a task that is asked after its batch
// was given back answers with the last it knew.
func TestScenarioShutdown(t *testing.T) {
	batch := make([]taskstate.Task, 1)
	task := &batch[0]
	slice := admitted(task)
	slice.Failed(because(classify.ReasonRouteTimeout))
	batch = nil
	assert.Equal(t, taskstate.Congested, task.State())
	assert.Equal(t, taskstate.Recorded, slice.SucceededLate())
	assert.Equal(t, taskstate.Normal, task.State())
	assert.Nil(t, batch)
}

// A slice of an oversize transfer blocks a small one until it drains.
func TestScenarioBehindAnOversizeSlice(t *testing.T) {
	var task taskstate.Task
	big, small := admitted(&task), new(taskstate.Slice)
	small.Refused(&task, because(classify.ReasonByteWindow))
	assert.Equal(t, taskstate.Congested, task.State())
	big.Succeeded()
	assert.Equal(t, taskstate.Congested, task.State(), "the small slice still waits")
	small.Admitted(&task, generation, false)
	small.Succeeded()
	assert.Equal(t, taskstate.Normal, task.State())
}
