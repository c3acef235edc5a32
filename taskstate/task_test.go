package taskstate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

func TestZeroTaskIsUnknown(t *testing.T) {
	var task taskstate.Task
	assert.Equal(t, taskstate.Unknown, task.State(), "controller off, no evidence or unsupported transport: nothing was recorded")
	assert.Equal(t, taskstate.Detail{Attempt: 1}, task.Detail(), "nothing was observed")
}

func TestNormalNeedsASuccess(t *testing.T) {
	var task taskstate.Task
	slice := admitted(&task)
	assert.Equal(t, taskstate.Unknown, task.State(), "an admission is no success")
	assert.Equal(t, taskstate.Recorded, slice.Succeeded())
	assert.Equal(t, taskstate.Normal, task.State())
	assert.Equal(t, taskstate.Detail{State: taskstate.Normal, Attempt: 1}, task.Detail(), "a clean task observed no anomaly")
}

func TestResolvedWithoutSuccessIsUnknown(t *testing.T) {
	var task taskstate.Task
	var slice taskstate.Slice
	slice.Refused(&task, because(classify.ReasonByteWindow))
	slice.Admitted(&task, generation, false)
	assert.Equal(t, taskstate.Unknown, task.State(), "admission resolves the deferral, but nothing has succeeded")
	assert.Equal(t, taskstate.Seen(true), task.Detail().Resolved)
}

// Every combination of troubles of three slices beside one that succeeded.
func TestWorstUnresolvedSliceWins(t *testing.T) {
	troubles := []struct {
		reason classify.Reason
		state  taskstate.State
		rank   int
	}{
		{classify.ReasonNone, taskstate.Normal, 0},
		{classify.ReasonFatal, taskstate.Unknown, 1},
		{classify.ReasonRouteTimeout, taskstate.Congested, 2},
		{classify.ReasonPathQuarantined, taskstate.LongUnavailable, 3},
	}
	for _, a := range troubles {
		for _, b := range troubles {
			for _, c := range troubles {
				var task taskstate.Task
				arrived(&task)
				want := troubles[0]
				for _, trouble := range []int{a.rank, b.rank, c.rank} {
					admitted(&task).Failed(because(troubles[trouble].reason))
					want = troubles[max(want.rank, trouble)]
				}
				assert.Equal(t, want.state, task.State(), "slices met %s, %s, %s", a.reason, b.reason, c.reason)
				if want.rank > 0 {
					assert.Equal(t, taskstate.Seen(want.reason), task.Detail().Reason, "the reason of the worst is the relevant one")
				}
			}
		}
	}
}

func TestResolvingTheWorstUncoversTheNext(t *testing.T) {
	var task taskstate.Task
	arrived(&task)
	reasons := []classify.Reason{classify.ReasonDerivedFlush, classify.ReasonReceiverPressure, classify.ReasonProbeFailed}
	states := []taskstate.State{taskstate.Unknown, taskstate.Congested, taskstate.LongUnavailable}
	slices := make([]*taskstate.Slice, len(reasons))
	for i, reason := range reasons {
		slices[i] = admitted(&task)
		slices[i].Failed(because(reason))
	}
	for i := len(slices) - 1; i >= 0; i-- {
		assert.Equal(t, states[i], task.State(), "%s is the worst that is left", reasons[i])
		assert.Equal(t, taskstate.Seen(reasons[i]), task.Detail().Reason)
		slices[i].Admitted(&task, generation, false)
	}
	assert.Equal(t, taskstate.Normal, task.State(), "nothing is left, and one slice succeeded")
	assert.Equal(t, taskstate.Seen(reasons[2]), task.Detail().Reason, "the most recent of the resolved evidence")
}

func TestNewAttemptClears(t *testing.T) {
	for _, row := range allReasons {
		t.Run(row.reason.String(), func(t *testing.T) {
			var task taskstate.Task
			arrived(&task)
			slice := admitted(&task)
			slice.Failed(because(row.reason))
			task.NoUsablePath(nil)

			assert.Equal(t, uint32(2), task.NextAttempt(), "attempts count from 1")
			assert.Equal(t, taskstate.Unknown, task.State(), "blocking evidence and the old success are gone")
			detail := task.Detail()
			assert.Equal(t, uint32(2), detail.Attempt)
			assert.Equal(t, uint32(0), detail.Unresolved)
			assert.Equal(t, taskstate.Seen(true), detail.Resolved, "the old evidence is history")
			assert.Equal(t, taskstate.Seen(uint32(1)), detail.ObservedAttempt, "and says of which attempt it is")

			arrived(&task)
			assert.Equal(t, taskstate.Normal, task.State(), "a success of the new attempt")
		})
	}
}

func TestOlderAttemptCannotOverwrite(t *testing.T) {
	for _, row := range []struct {
		name  string
		state taskstate.State
		build func(task *taskstate.Task)
	}{
		{"nothing yet", taskstate.Unknown, func(*taskstate.Task) {}},
		{"success", taskstate.Normal, func(task *taskstate.Task) { arrived(task) }},
		{"congested", taskstate.Congested, func(task *taskstate.Task) { admitted(task).Failed(because(classify.ReasonRouteTimeout)) }},
		{"unavailable", taskstate.LongUnavailable, func(task *taskstate.Task) { task.NoUsablePath(nil) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			var task taskstate.Task
			clean, troubled := admitted(&task), admitted(&task)
			troubled.Failed(because(classify.ReasonPathQuarantined))
			task.NextAttempt()
			row.build(&task)
			before := task.Detail()

			assert.Equal(t, taskstate.OldAttempt, clean.Failed(because(classify.ReasonPathQuarantined)))
			assert.Equal(t, taskstate.OldAttempt, clean.Succeeded())
			assert.Equal(t, taskstate.OldAttempt, clean.SucceededLate())
			assert.Equal(t, taskstate.OldAttempt, troubled.Failed(because(classify.ReasonFatal)))
			assert.Equal(t, taskstate.OldAttempt, troubled.Succeeded())
			assert.Equal(t, taskstate.OldAttempt, troubled.SucceededLate())
			assert.Equal(t, before, task.Detail(), "late feedback of attempt 1 must not be seen in attempt 2")
			assert.Equal(t, row.state, task.State())

			troubled.Admitted(&task, generation, false)
			assert.Equal(t, taskstate.Recorded, troubled.Succeeded(), "admitted again, the slice belongs to the new attempt")
		})
	}
}

func TestNoUsablePath(t *testing.T) {
	resolve := map[string]struct {
		call func(task *taskstate.Task, slice *taskstate.Slice)
		want taskstate.State
	}{
		"admission":    {func(task *taskstate.Task, slice *taskstate.Slice) { slice.Admitted(task, generation, false) }, taskstate.Normal},
		"success":      {func(_ *taskstate.Task, slice *taskstate.Slice) { slice.Succeeded() }, taskstate.Normal},
		"late success": {func(_ *taskstate.Task, slice *taskstate.Slice) { slice.SucceededLate() }, taskstate.Normal},
		"new attempt":  {func(task *taskstate.Task, _ *taskstate.Slice) { task.NextAttempt() }, taskstate.Unknown},
		"success of a trial": {func(task *taskstate.Task, slice *taskstate.Slice) {
			slice.Admitted(task, generation, true)
			assert.Equal(t, taskstate.LongUnavailable, task.State(), "the posting of a trial resolves nothing")
			slice.Succeeded()
		}, taskstate.Normal},
	}
	for name, row := range resolve {
		t.Run("resolved by "+name, func(t *testing.T) {
			var task taskstate.Task
			slice := arrived(&task)
			assert.Equal(t, taskstate.Recorded, task.NoUsablePath(&taskstate.Evidence{At: time.Second}))
			assert.Equal(t, taskstate.LongUnavailable, task.State())
			assert.Equal(t, taskstate.Seen(classify.ReasonNoUsablePath), task.Detail().Reason, "whatever the evidence said")
			assert.Equal(t, taskstate.Seen(time.Second), task.Detail().At)
			row.call(&task, slice)
			assert.Equal(t, row.want, task.State())
			assert.Equal(t, taskstate.Seen(true), task.Detail().Resolved)
		})
	}

	t.Run("told twice counts once", func(t *testing.T) {
		var task taskstate.Task
		task.NoUsablePath(nil)
		task.NoUsablePath(&taskstate.Evidence{At: 2 * time.Second})
		assert.Equal(t, uint32(1), task.Detail().Unresolved)
		assert.Equal(t, taskstate.Seen(2*time.Second), task.Detail().At, "the later one is kept")
		arrived(&task)
		assert.Equal(t, taskstate.Normal, task.State())
	})

	t.Run("leaves the slices' own trouble alone", func(t *testing.T) {
		var task taskstate.Task
		admitted(&task).Failed(because(classify.ReasonProbeFailed))
		task.NoUsablePath(nil)
		assert.Equal(t, uint32(2), task.Detail().Unresolved)
		arrived(&task)
		assert.Equal(t, taskstate.LongUnavailable, task.State(), "the failed probe of the other slice stands")
		assert.Equal(t, taskstate.Seen(classify.ReasonProbeFailed), task.Detail().Reason, "what is resolved is not the relevant reason")
		assert.Equal(t, uint32(1), task.Detail().Unresolved)
	})
}

// A batch that was rejected before it had tasks is a nil task.
func TestNilTaskCostsNothing(t *testing.T) {
	var task *taskstate.Task
	var slice taskstate.Slice
	ev := because(classify.ReasonPathQuarantined)
	check := func() {
		assert.Equal(t, taskstate.Unknown, task.State())
		assert.Equal(t, uint32(0), task.NextAttempt())
		assert.Equal(t, taskstate.Nothing, task.NoUsablePath(ev))
		assert.Equal(t, taskstate.Nothing, slice.Refused(nil, ev))
		slice.Admitted(nil, generation, false)
		slice.Admitted(nil, generation, true)
		assert.Equal(t, taskstate.Nothing, slice.Failed(ev))
		assert.Equal(t, taskstate.Nothing, slice.Succeeded())
		assert.Equal(t, taskstate.Nothing, slice.SucceededLate())
		assert.Equal(t, taskstate.Detail{}, task.Detail())
	}
	check()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _, _ = task.State(), task.NextAttempt(), task.NoUsablePath(ev)
		slice.Admitted(nil, generation, false)
		_, _, _ = slice.Failed(ev), slice.Succeeded(), slice.SucceededLate()
		_, _ = slice.Refused(nil, ev), task.Detail()
	}), "a nil task must not allocate")
}

func TestNilEvidenceIsNothing(t *testing.T) {
	var task taskstate.Task
	slice := arrived(&task)
	assert.Equal(t, taskstate.Nothing, slice.Failed(nil))
	assert.Equal(t, taskstate.Nothing, slice.Refused(&task, nil))
	assert.Equal(t, taskstate.Normal, task.State())
}

func TestAttemptAndUntouched(t *testing.T) {
	var none *taskstate.Task
	assert.Zero(t, none.Attempt())
	assert.True(t, none.Untouched())
	var task taskstate.Task
	var s taskstate.Slice
	assert.Equal(t, uint32(1), task.Attempt())
	assert.True(t, task.Untouched())
	s.Admitted(&task, 1, false)
	assert.True(t, task.Untouched(), "an admission is nothing to a task yet")
	s.Succeeded()
	assert.False(t, task.Untouched())
	task.NextAttempt()
	assert.Equal(t, uint32(2), task.Attempt())
	assert.False(t, task.Untouched(), "it had an attempt before")
}
