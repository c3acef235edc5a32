package taskstate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

var testPair = rail.Pair{Peer: "host-b", Incarnation: "4", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}

func fullEvidence() *taskstate.Evidence {
	root := new(classify.RootCause)
	root.Note(classify.Completion(classify.StatusRetryExcErr, 0x81))
	flush := classify.Completion(classify.StatusWRFlushErr, 0xf9)
	return &taskstate.Evidence{
		Reason:     flush.Reason(),
		Scope:      flush.Scope(),
		Verdict:    flush,
		Root:       root,
		Pair:       &testPair,
		Generation: 3,
		At:         1500 * time.Millisecond,
		Window:     taskstate.Seen(int64(262144)),
		InFlight:   taskstate.Seen(int64(0)),
		Cooldown:   taskstate.Seen(30 * time.Second),
	}
}

func TestDetailOfEveryField(t *testing.T) {
	var task taskstate.Task
	var slice taskstate.Slice
	task.NextAttempt()
	slice.Admitted(&task, 3, false)
	slice.Failed(fullEvidence())
	assert.Equal(t, taskstate.Detail{
		State:           taskstate.Unknown,
		Attempt:         2,
		Unresolved:      1,
		Reason:          taskstate.Seen(classify.ReasonDerivedFlush),
		Resolved:        taskstate.Seen(false),
		Scope:           taskstate.Seen(classify.ScopeQP),
		Pair:            taskstate.Seen(testPair),
		At:              taskstate.Seen(1500 * time.Millisecond),
		ObservedAttempt: taskstate.Seen(uint32(2)),
		Generation:      taskstate.Seen(uint64(3)),
		Verdict:         taskstate.Seen(classify.Completion(classify.StatusWRFlushErr, 0xf9)),
		RootCause:       taskstate.Seen(classify.Completion(classify.StatusRetryExcErr, 0x81)),
		Window:          taskstate.Seen(int64(262144)),
		InFlight:        taskstate.Seen(int64(0)),
		Cooldown:        taskstate.Seen(30 * time.Second),
	}, task.Detail())
}

// Leaving out one field of the evidence makes exactly that one unobserved.
func TestDetailFieldsNotObserved(t *testing.T) {
	for _, row := range []struct {
		name     string
		leaveOut func(*taskstate.Evidence)
		forget   func(*taskstate.Detail)
	}{
		{"scope", func(e *taskstate.Evidence) { e.Scope = 0 }, func(d *taskstate.Detail) { d.Scope = taskstate.Observed[classify.Scope]{} }},
		{"pair", func(e *taskstate.Evidence) { e.Pair = nil }, func(d *taskstate.Detail) { d.Pair = taskstate.Observed[rail.Pair]{} }},
		{"generation", func(e *taskstate.Evidence) { e.Generation = 0 }, func(d *taskstate.Detail) { d.Generation = taskstate.Observed[uint64]{} }},
		{"verdict", func(e *taskstate.Evidence) { e.Verdict = classify.Verdict{} }, func(d *taskstate.Detail) { d.Verdict = taskstate.Observed[classify.Verdict]{} }},
		{"root: none kept", func(e *taskstate.Evidence) { e.Root = nil }, func(d *taskstate.Detail) { d.RootCause = taskstate.Observed[classify.Verdict]{} }},
		{"root: not known", func(e *taskstate.Evidence) { e.Root = new(classify.RootCause) }, func(d *taskstate.Detail) { d.RootCause = taskstate.Observed[classify.Verdict]{} }},
		{"window", func(e *taskstate.Evidence) { e.Window = taskstate.Observed[int64]{} }, func(d *taskstate.Detail) { d.Window = taskstate.Observed[int64]{} }},
		{"in flight", func(e *taskstate.Evidence) { e.InFlight = taskstate.Observed[int64]{} }, func(d *taskstate.Detail) { d.InFlight = taskstate.Observed[int64]{} }},
		{"cooldown", func(e *taskstate.Evidence) { e.Cooldown = taskstate.Observed[time.Duration]{} }, func(d *taskstate.Detail) { d.Cooldown = taskstate.Observed[time.Duration]{} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			detailOf := func(ev *taskstate.Evidence) taskstate.Detail {
				var task taskstate.Task
				var slice taskstate.Slice
				slice.Admitted(&task, 3, false)
				slice.Failed(ev)
				return task.Detail()
			}
			want := detailOf(fullEvidence())
			row.forget(&want)
			ev := fullEvidence()
			row.leaveOut(ev)
			assert.Equal(t, want, detailOf(ev))
		})
	}
}

func TestDetailIsACopy(t *testing.T) {
	var task taskstate.Task
	var slice taskstate.Slice
	pair := testPair
	ev := &taskstate.Evidence{Reason: classify.ReasonByteWindow, Pair: &pair}
	slice.Refused(&task, ev)
	detail := task.Detail()
	pair.Peer, ev.Reason = "host-c", classify.ReasonFatal
	assert.Equal(t, detail, task.Detail(), "the caller may reuse its evidence and pair")
	slice.Refused(&task, because(classify.ReasonPathQuarantined))
	assert.Equal(t, taskstate.Congested, detail.State, "later evidence does not change an answer that was given")
}

// The reason of a slice that recovered does not explain the state of one that did not.
func TestRelevantReasonIsOfAnUnresolvedSlice(t *testing.T) {
	var task taskstate.Task
	deferred, timedOut := new(taskstate.Slice), admitted(&task)
	deferred.Refused(&task, because(classify.ReasonByteWindow))
	timedOut.Failed(because(classify.ReasonRouteTimeout))
	assert.Equal(t, taskstate.Seen(classify.ReasonRouteTimeout), task.Detail().Reason, "the most recent")

	timedOut.SucceededLate()
	assert.Equal(t, taskstate.Congested, task.State())
	assert.Equal(t, taskstate.Seen(classify.ReasonByteWindow), task.Detail().Reason, "the most recent that is unresolved")
	assert.Equal(t, taskstate.Seen(false), task.Detail().Resolved)
	assert.Equal(t, uint32(1), task.Detail().Unresolved)

	deferred.Admitted(&task, generation, false)
	assert.Equal(t, taskstate.Normal, task.State())
	assert.Equal(t, taskstate.Seen(classify.ReasonRouteTimeout), task.Detail().Reason, "the most recent that was resolved")
}

// A milder, later evidence of another slice is not the relevant one.
func TestRelevantReasonIsOfTheDecidingSeverity(t *testing.T) {
	var task taskstate.Task
	admitted(&task).Failed(because(classify.ReasonProbeFailed))
	admitted(&task).Failed(because(classify.ReasonReceiverPressure))
	admitted(&task).Failed(because(classify.ReasonFatal))
	detail := task.Detail()
	assert.Equal(t, taskstate.Seen(classify.ReasonProbeFailed), detail.Reason)
	assert.Equal(t, uint32(1), detail.Unresolved, "slices of other severities are not counted")
}

// With more troubled slices than are kept, the count stays exact and the
// evidence is of the right severity.
func TestMoreTroubledSlicesThanKept(t *testing.T) {
	var task taskstate.Task
	slices := make([]*taskstate.Slice, 100)
	for i := range slices {
		slices[i] = admitted(&task)
		slices[i].Failed(&taskstate.Evidence{Reason: classify.ReasonRouteTimeout, At: time.Duration(i)})
		assert.Equal(t, taskstate.Seen(time.Duration(i)), task.Detail().At, "the latest")
	}
	for i := len(slices) - 1; i >= 0; i-- {
		detail := task.Detail()
		assert.Equal(t, uint32(i+1), detail.Unresolved)
		assert.Equal(t, taskstate.Congested, detail.State)
		assert.Equal(t, taskstate.Seen(classify.ReasonRouteTimeout), detail.Reason)
		assert.Equal(t, taskstate.Seen(false), detail.Resolved, "the state is not resolved while one slice is not")
		slices[i].SucceededLate()
	}
	assert.Equal(t, taskstate.Normal, task.State())
	assert.Equal(t, uint32(0), task.Detail().Unresolved)
}
