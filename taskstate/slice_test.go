package taskstate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// What a second piece of evidence does to a slice that is already in trouble.
func TestSecondEvidenceOfASlice(t *testing.T) {
	for _, row := range []struct {
		name          string
		first, second classify.Reason
		effect        taskstate.Effect
		reason        classify.Reason
	}{
		{"suspect leaves a quarantine standing", classify.ReasonPathQuarantined, classify.ReasonRouteSuspect, taskstate.Outranked, classify.ReasonPathQuarantined},
		{"probing leaves a quarantine standing", classify.ReasonPathQuarantined, classify.ReasonProbing, taskstate.Outranked, classify.ReasonPathQuarantined},
		{"probing leaves a failed probe standing", classify.ReasonProbeFailed, classify.ReasonProbing, taskstate.Outranked, classify.ReasonProbeFailed},
		{"full window replaces a quarantine", classify.ReasonPathQuarantined, classify.ReasonByteWindow, taskstate.Recorded, classify.ReasonByteWindow},
		{"congested window replaces a failed probe", classify.ReasonProbeFailed, classify.ReasonCongestionFeedback, taskstate.Recorded, classify.ReasonCongestionFeedback},
		{"quarantine replaces a timeout", classify.ReasonRouteTimeout, classify.ReasonPathQuarantined, taskstate.Recorded, classify.ReasonPathQuarantined},
		{"suspect follows a timeout", classify.ReasonRouteTimeout, classify.ReasonRouteSuspect, taskstate.Recorded, classify.ReasonRouteSuspect},
		{"deferral replaces a flush", classify.ReasonDerivedFlush, classify.ReasonByteWindow, taskstate.Recorded, classify.ReasonByteWindow},
		{"stale generation changes nothing", classify.ReasonRouteTimeout, classify.ReasonStaleGeneration, taskstate.Nothing, classify.ReasonRouteTimeout},
		{"needs renew changes nothing", classify.ReasonPathQuarantined, classify.ReasonNeedsRenew, taskstate.Nothing, classify.ReasonPathQuarantined},
	} {
		t.Run(row.name, func(t *testing.T) {
			var task taskstate.Task
			var slice taskstate.Slice
			slice.Refused(&task, because(row.first))
			assert.Equal(t, row.effect, slice.Refused(&task, because(row.second)))
			detail := task.Detail()
			want, _ := taskstate.StateOf(row.reason)
			assert.Equal(t, want, detail.State)
			assert.Equal(t, taskstate.Seen(row.reason), detail.Reason)
			assert.Equal(t, uint32(1), detail.Unresolved, "it is still one slice")
			slice.Admitted(&task, generation, false)
			assert.Equal(t, taskstate.Seen(true), task.Detail().Resolved, "one admission resolves all of it")
		})
	}
}

func TestTrial(t *testing.T) {
	for _, row := range []struct {
		name   string
		end    func(*taskstate.Slice)
		state  taskstate.State
		reason classify.Reason
	}{
		{"success resolves", func(s *taskstate.Slice) { s.Succeeded() }, taskstate.Normal, classify.ReasonPathQuarantined},
		{"failure is the new reason", func(s *taskstate.Slice) { s.Failed(because(classify.ReasonProbeFailed)) }, taskstate.LongUnavailable, classify.ReasonProbeFailed},
		{"flush is no verdict", func(s *taskstate.Slice) { s.Failed(because(classify.ReasonDerivedFlush)) }, taskstate.LongUnavailable, classify.ReasonPathQuarantined},
		{"RNR is no verdict", func(s *taskstate.Slice) { s.Failed(because(classify.ReasonReceiverPressure)) }, taskstate.LongUnavailable, classify.ReasonPathQuarantined},
		{"stale rkey is no verdict", func(s *taskstate.Slice) { s.Failed(because(classify.ReasonRemoteMetadata)) }, taskstate.LongUnavailable, classify.ReasonPathQuarantined},
		{"cancel is no verdict", func(*taskstate.Slice) {}, taskstate.LongUnavailable, classify.ReasonPathQuarantined},
	} {
		t.Run(row.name, func(t *testing.T) {
			var task taskstate.Task
			var slice taskstate.Slice
			slice.Refused(&task, because(classify.ReasonPathQuarantined))
			slice.Admitted(&task, generation, true)
			assert.Equal(t, taskstate.LongUnavailable, task.State(), "the posting of a trial resolves nothing")
			row.end(&slice)
			assert.Equal(t, row.state, task.State())
			assert.Equal(t, taskstate.Seen(row.reason), task.Detail().Reason)
		})
	}
}

func TestLateSuccess(t *testing.T) {
	t.Run("after the deadline was recorded", func(t *testing.T) {
		var task taskstate.Task
		slice := admitted(&task)
		slice.Failed(signal(classify.SignalDeadlineProgressing))
		assert.Equal(t, taskstate.Congested, task.State())
		assert.Equal(t, taskstate.Recorded, slice.SucceededLate(), "the attempt is still open")
		assert.Equal(t, taskstate.Normal, task.State())
		assert.Equal(t, taskstate.Seen(true), task.Detail().Resolved)
	})
	t.Run("before the deadline was recorded", func(t *testing.T) {
		var task taskstate.Task
		slice := admitted(&task)
		assert.Equal(t, taskstate.Recorded, slice.SucceededLate())
		assert.Equal(t, taskstate.AlreadySucceeded, slice.Failed(signal(classify.SignalDeadlineProgressing)))
		assert.Equal(t, taskstate.Normal, task.State(), "the deadline lost the race and must not leave the task CONGESTED")
	})
	t.Run("is forgotten by the next attempt of the slice", func(t *testing.T) {
		var task taskstate.Task
		slice := admitted(&task)
		slice.SucceededLate()
		slice.Admitted(&task, generation, false)
		assert.Equal(t, taskstate.Recorded, slice.Failed(because(classify.ReasonRouteTimeout)))
		assert.Equal(t, taskstate.Congested, task.State())
	})
}

func TestGenerationFencesEvidence(t *testing.T) {
	for _, row := range []struct {
		name       string
		admitted   uint64
		evidence   uint64
		effect     taskstate.Effect
		generation taskstate.Observed[uint64]
	}{
		{"same", 8, 8, taskstate.Recorded, taskstate.Seen(uint64(8))},
		{"older", 8, 7, taskstate.OldGeneration, taskstate.Observed[uint64]{}},
		{"newer than the attempt", 8, 9, taskstate.OldGeneration, taskstate.Observed[uint64]{}},
		{"not observed", 8, 0, taskstate.Recorded, taskstate.Observed[uint64]{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var task taskstate.Task
			arrived(&task)
			var slice taskstate.Slice
			slice.Admitted(&task, row.admitted, false)
			effect := slice.Failed(&taskstate.Evidence{Reason: classify.ReasonRouteTimeout, Generation: row.evidence})
			assert.Equal(t, row.effect, effect)
			assert.Equal(t, row.effect.Ignored(), task.State() == taskstate.Normal, "ignored evidence leaves the task NORMAL")
			assert.Equal(t, row.generation, task.Detail().Generation)
		})
	}
}

func TestSliceWithoutAttempt(t *testing.T) {
	t.Run("zero slice", func(t *testing.T) {
		var slice taskstate.Slice
		assert.Equal(t, taskstate.Nothing, slice.Succeeded())
		assert.Equal(t, taskstate.Nothing, slice.SucceededLate())
		assert.Equal(t, taskstate.Nothing, slice.Failed(because(classify.ReasonFatal)))
	})
	t.Run("refused slice", func(t *testing.T) {
		var task taskstate.Task
		slice := arrived(&task)
		slice.Refused(&task, because(classify.ReasonPathQuarantined))
		before := task.Detail()
		assert.Equal(t, taskstate.NotAdmitted, slice.Succeeded(), "a completion of the slice's former attempt")
		assert.Equal(t, taskstate.NotAdmitted, slice.SucceededLate())
		assert.Equal(t, taskstate.NotAdmitted, slice.Failed(because(classify.ReasonFatal)))
		assert.Equal(t, before, task.Detail(), "they change nothing")
	})
}

func TestSliceMovesToAnotherTask(t *testing.T) {
	for _, row := range []struct {
		name string
		move func(slice *taskstate.Slice, to *taskstate.Task)
	}{
		{"by an admission", func(slice *taskstate.Slice, to *taskstate.Task) { slice.Admitted(to, generation, false) }},
		{"by a refusal", func(slice *taskstate.Slice, to *taskstate.Task) {
			slice.Refused(to, because(classify.ReasonByteWindow))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var old, next taskstate.Task
			slice := admitted(&old)
			slice.Failed(because(classify.ReasonRouteTimeout))
			before := old.Detail()
			row.move(slice, &next)
			slice.Admitted(&next, generation, false)
			assert.Equal(t, taskstate.Recorded, slice.Succeeded())
			assert.Equal(t, taskstate.Normal, next.State())
			assert.Equal(t, before, old.Detail(), "the old task keeps what was left unresolved")

			slice.Admitted(&old, generation, false)
			slice.Succeeded()
			assert.Equal(t, before, old.Detail(), "coming back, it is a new slice to the old task")
		})
	}
}

func TestNilTaskUnbindsTheSlice(t *testing.T) {
	var task taskstate.Task
	slice := admitted(&task)
	slice.Admitted(nil, generation, false)
	assert.Equal(t, taskstate.Nothing, slice.Succeeded())
	assert.Equal(t, taskstate.Unknown, task.State(), "the slice does not speak for its old task any more")
}

// A rejected post, a cancel, a teardown and a voided deadline are no evidence.
func TestSignalsThatAreNoEvidence(t *testing.T) {
	for _, s := range []classify.Signal{
		classify.SignalRejectedPost, classify.SignalCancel, classify.SignalTeardown,
		classify.SignalDeadlineStalled, classify.SignalGenerationChanged,
	} {
		t.Run(s.String(), func(t *testing.T) {
			var task taskstate.Task
			slice := arrived(&task)
			slice.Refused(&task, because(classify.ReasonByteWindow))
			slice.Admitted(&task, generation, false)
			before := task.Detail()
			assert.Equal(t, taskstate.Nothing, slice.Failed(signal(s)))
			assert.Equal(t, before, task.Detail(), "the task keeps its earlier state")
		})
	}
}

// Waits spares the caller of a refusal that is repeated, and nothing else.
func TestSliceWaits(t *testing.T) {
	byteWindow := &taskstate.Evidence{Reason: classify.ReasonByteWindow}
	suspect := &taskstate.Evidence{Reason: classify.ReasonRouteSuspect}
	var task, other taskstate.Task
	var s taskstate.Slice
	assert.False(t, s.Waits(&task, classify.ReasonByteWindow), "nothing was refused yet")
	assert.False(t, s.Waits(nil, classify.ReasonNone), "no task waits for anything")

	s.Refused(&task, byteWindow)
	assert.True(t, s.Waits(&task, classify.ReasonByteWindow))
	assert.False(t, s.Waits(&other, classify.ReasonByteWindow), "another task has heard nothing")
	assert.False(t, s.Waits(&task, classify.ReasonRouteSuspect), "another reason is news")
	s.Refused(&task, suspect)
	assert.True(t, s.Waits(&task, classify.ReasonRouteSuspect))
	assert.False(t, s.Waits(&task, classify.ReasonByteWindow))

	task.NextAttempt()
	assert.False(t, s.Waits(&task, classify.ReasonRouteSuspect), "the new attempt has heard nothing")
	s.Refused(&task, byteWindow)
	s.Admitted(&task, 1, false)
	assert.False(t, s.Waits(&task, classify.ReasonByteWindow), "it was admitted since")
}

// The other task knows of evidence that is older than the slice's own.
func TestSliceWaitsForOneTask(t *testing.T) {
	var task, other taskstate.Task
	other.NoUsablePath(nil)
	var s taskstate.Slice
	s.Refused(&task, because(classify.ReasonByteWindow))
	assert.True(t, s.Waits(&task, classify.ReasonByteWindow))
	assert.False(t, s.Waits(&other, classify.ReasonByteWindow))
}

func TestTrialDoesNotWait(t *testing.T) {
	var task taskstate.Task
	var s taskstate.Slice
	s.Refused(&task, because(classify.ReasonPathQuarantined))
	s.Admitted(&task, generation, true)
	assert.Equal(t, taskstate.LongUnavailable, task.State(), "the trial has resolved nothing yet")
	assert.False(t, s.Waits(&task, classify.ReasonPathQuarantined), "but the slice was admitted")
}

// A late success stands, whatever else is told of the attempt.
func TestLateSuccessIsRemembered(t *testing.T) {
	var task taskstate.Task
	slice := admitted(&task)
	slice.SucceededLate()
	task.NoUsablePath(nil)
	slice.Succeeded()
	assert.Equal(t, taskstate.AlreadySucceeded, slice.Failed(because(classify.ReasonRouteTimeout)))
	assert.Equal(t, taskstate.Normal, task.State())
}

// A task that is zeroed in place, as pools do, forgets; a slice that is still bound
// to it begins anew and cannot upset its counts.
func TestTaskZeroedInPlace(t *testing.T) {
	timeout := &taskstate.Evidence{Reason: classify.ReasonRouteTimeout, Generation: 1}
	fullWindow := &taskstate.Evidence{Reason: classify.ReasonByteWindow}
	steps := map[string]func(*taskstate.Slice, *taskstate.Task){
		"admitted":  func(s *taskstate.Slice, task *taskstate.Task) { s.Admitted(task, 1, false); s.Succeeded() },
		"succeeded": func(s *taskstate.Slice, _ *taskstate.Task) { s.Succeeded() },
		"late":      func(s *taskstate.Slice, _ *taskstate.Task) { s.SucceededLate() },
		"failed": func(s *taskstate.Slice, task *taskstate.Task) {
			s.Failed(timeout)
			s.Admitted(task, 1, false)
			s.Succeeded()
		},
		"refused": func(s *taskstate.Slice, task *taskstate.Task) {
			s.Refused(task, fullWindow)
			s.Admitted(task, 1, false)
			s.Succeeded()
		},
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			var slot struct{ task taskstate.Task }
			var s taskstate.Slice
			s.Admitted(&slot.task, 1, false)
			s.Failed(timeout)
			assert.Equal(t, taskstate.Congested, slot.task.State())

			slot = struct{ task taskstate.Task }{}
			assert.Equal(t, taskstate.Unknown, slot.task.State())
			step(&s, &slot.task)
			d := slot.task.Detail()
			assert.Equal(t, taskstate.Normal, d.State)
			assert.Zero(t, d.Unresolved, "nothing is left of the former task")
		})
	}
}

// The trouble of other slices in the new task, whatever its severity, is not taken
// for what a slice left in the former one.
func TestTaskZeroedInPlaceWithAnotherSlice(t *testing.T) {
	steps := map[string]func(*taskstate.Slice, *taskstate.Task){
		"admitted":  func(s *taskstate.Slice, task *taskstate.Task) { s.Admitted(task, generation, false) },
		"succeeded": func(s *taskstate.Slice, _ *taskstate.Task) { s.Succeeded() },
		"late":      func(s *taskstate.Slice, _ *taskstate.Task) { s.SucceededLate() },
		"failed": func(s *taskstate.Slice, task *taskstate.Task) {
			s.Failed(because(classify.ReasonRemoteMetadata))
			s.Admitted(task, generation, false)
		},
		"refused": func(s *taskstate.Slice, task *taskstate.Task) {
			s.Refused(task, because(classify.ReasonByteWindow))
			s.Admitted(task, generation, false)
		},
	}
	others := map[string]classify.Reason{
		"same reason":    classify.ReasonRouteTimeout,
		"same severity":  classify.ReasonByteWindow,
		"worse severity": classify.ReasonPathQuarantined,
		"milder":         classify.ReasonRemoteMetadata,
	}
	for stepName, step := range steps {
		for otherName, reason := range others {
			t.Run(stepName+", "+otherName, func(t *testing.T) {
				var slot struct{ task taskstate.Task }
				former := admitted(&slot.task)
				former.Failed(because(classify.ReasonRouteTimeout))
				slot = struct{ task taskstate.Task }{}

				var other taskstate.Slice
				other.Refused(&slot.task, because(reason))
				step(former, &slot.task)
				want, _ := taskstate.StateOf(reason)
				d := slot.task.Detail()
				assert.Equal(t, want, d.State, "the other slice still waits")
				assert.Equal(t, uint32(1), d.Unresolved, "it is the only one in trouble")
				assert.Equal(t, taskstate.Seen(false), d.Resolved, "its evidence is open")

				other.Admitted(&slot.task, generation, false)
				other.Succeeded()
				d = slot.task.Detail()
				assert.Equal(t, taskstate.Normal, d.State, "every slice is past its trouble")
				assert.Zero(t, d.Unresolved, "the counts are back at nothing")
			})
		}
	}
}

// A slice that waits must be asked again in a task that was zeroed: that task has
// not heard of it.
func TestSliceWaitsForATaskZeroedInPlace(t *testing.T) {
	var slot struct{ task taskstate.Task }
	var former, other taskstate.Slice
	former.Refused(&slot.task, because(classify.ReasonByteWindow))
	slot = struct{ task taskstate.Task }{}
	assert.False(t, former.Waits(&slot.task, classify.ReasonByteWindow), "the new task has met nothing")
	other.Refused(&slot.task, because(classify.ReasonByteWindow))
	assert.False(t, former.Waits(&slot.task, classify.ReasonByteWindow), "it is another slice that waits")
	former.Refused(&slot.task, because(classify.ReasonByteWindow))
	assert.True(t, former.Waits(&slot.task, classify.ReasonByteWindow))
	assert.Equal(t, uint32(2), slot.task.Detail().Unresolved, "now both wait")
}
