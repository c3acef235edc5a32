package taskstate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// allReasons is every reason, with the state that the specification's evidence
// table, or the table of refusals, gives it. none: no evidence about a task.
var allReasons = []struct {
	reason classify.Reason
	state  taskstate.State
	none   bool
}{
	{reason: classify.ReasonNone, none: true},
	{reason: classify.ReasonByteWindow, state: taskstate.Congested},
	{reason: classify.ReasonCongestionFeedback, state: taskstate.Congested},
	{reason: classify.ReasonReceiverPressure, state: taskstate.Congested},
	{reason: classify.ReasonRouteTimeout, state: taskstate.Congested},
	{reason: classify.ReasonRouteSuspect, state: taskstate.Congested},
	{reason: classify.ReasonProbing, state: taskstate.Congested},
	{reason: classify.ReasonPathQuarantined, state: taskstate.LongUnavailable},
	{reason: classify.ReasonProbeFailed, state: taskstate.LongUnavailable},
	{reason: classify.ReasonNoUsablePath, state: taskstate.LongUnavailable},
	{reason: classify.ReasonStaleGeneration, none: true},
	{reason: classify.ReasonNeedsRenew, none: true},
	{reason: classify.ReasonLocalConfiguration, state: taskstate.Unknown},
	{reason: classify.ReasonRemoteMetadata, state: taskstate.Unknown},
	{reason: classify.ReasonDerivedFlush, state: taskstate.Unknown},
	{reason: classify.ReasonFatal, state: taskstate.Unknown},
}

func TestEveryReasonHasItsState(t *testing.T) {
	for i, row := range allReasons {
		assert.Equal(t, classify.Reason(i), row.reason, "the table must list every reason once, in order")
		state, evidence := taskstate.StateOf(row.reason)
		assert.Equal(t, !row.none, evidence, "%s: is it evidence about a task?", row.reason)
		assert.Equal(t, row.state, state, "%s: state by the evidence table", row.reason)
	}
	for r := len(allReasons); r < 256; r++ {
		state, evidence := taskstate.StateOf(classify.Reason(r))
		assert.False(t, evidence, "reason %d is not known and must not be evidence", r)
		assert.Equal(t, taskstate.Unknown, state, "reason %d is not known", r)
	}
}

// A task with one success and one slice in trouble shows the slice's state. The
// success is there so that UNKNOWN differs from a task that met nothing.
func TestReasonSetsTaskState(t *testing.T) {
	calls := map[string]func(*taskstate.Slice, *taskstate.Task, *taskstate.Evidence) taskstate.Effect{
		"refused": func(s *taskstate.Slice, task *taskstate.Task, ev *taskstate.Evidence) taskstate.Effect {
			return s.Refused(task, ev)
		},
		"failed": func(s *taskstate.Slice, task *taskstate.Task, ev *taskstate.Evidence) taskstate.Effect {
			s.Admitted(task, generation, false)
			return s.Failed(ev)
		},
	}
	for name, call := range calls {
		for _, row := range allReasons {
			t.Run(name+" "+row.reason.String(), func(t *testing.T) {
				var task taskstate.Task
				var slice taskstate.Slice
				arrived(&task)
				effect := call(&slice, &task, because(row.reason))
				if row.none {
					assert.Equal(t, taskstate.Nothing, effect, "the reason is no evidence about a task")
					assert.Equal(t, taskstate.Normal, task.State(), "the task's state must stay as it was")
					return
				}
				assert.Equal(t, taskstate.Recorded, effect)
				assert.Equal(t, row.state, task.State(), "state of a task whose only trouble this is")
				detail := task.Detail()
				assert.Equal(t, taskstate.Seen(row.reason), detail.Reason, "the detail must name the reason")
				assert.Equal(t, taskstate.Seen(false), detail.Resolved, "nothing has resolved it")
				assert.Equal(t, uint32(1), detail.Unresolved, "one slice is in trouble")

				slice.Admitted(&task, generation, false)
				slice.Succeeded()
				assert.Equal(t, taskstate.Normal, task.State(), "the success of the slice's retry resolves it")
				assert.Equal(t, taskstate.Seen(true), task.Detail().Resolved, "and the detail says so")
				assert.Equal(t, taskstate.Seen(row.reason), task.Detail().Reason, "the reason stays readable")
			})
		}
	}
}

func TestUnknownReasonChangesNothing(t *testing.T) {
	for r := len(allReasons); r < 256; r++ {
		var task taskstate.Task
		var slice taskstate.Slice
		assert.Equal(t, taskstate.Nothing, slice.Refused(&task, because(classify.Reason(r))))
		slice.Admitted(&task, generation, false)
		assert.Equal(t, taskstate.Nothing, slice.Failed(because(classify.Reason(r))))
		assert.Equal(t, taskstate.Detail{Attempt: 1}, task.Detail(), "reason %d is not known", r)
	}
}
