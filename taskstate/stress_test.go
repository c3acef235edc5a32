package taskstate

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

const (
	stressWorkers = 8
	stressSlices  = 4 // of each worker
	stressRounds  = 300
)

// live is one slice in the hands of a worker.
type live struct {
	slice Slice
	rng   *rand.Rand
}

func (l *live) evidence() *Evidence {
	return &Evidence{
		Reason:     classify.Reason(l.rng.IntN(int(classify.ReasonFatal) + 1)),
		Scope:      classify.ScopeRoute,
		Pair:       &rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"},
		Generation: 1,
		At:         time.Duration(l.rng.Int64N(1e9)),
	}
}

// attempt takes the slice through one attempt, as a permit would.
func (l *live) attempt(task *Task) {
	for range l.rng.IntN(3) {
		l.slice.Refused(task, l.evidence())
	}
	l.slice.Admitted(task, 1, l.rng.IntN(4) == 0)
	switch l.rng.IntN(4) {
	case 0:
		l.slice.Failed(l.evidence())
	case 1: // a deadline and the completion that comes after all
		var both sync.WaitGroup
		ev := l.evidence()
		both.Go(func() { l.slice.Failed(ev) })
		both.Go(func() { l.slice.SucceededLate() })
		both.Wait()
	case 2:
		l.slice.Succeeded()
	}
}

// mostUnresolved counts every slice of a run, and the task's own evidence.
const mostUnresolved = stressWorkers*stressSlices + 1

// query runs both queries until stop, and looks at every answer.
func query(t *testing.T, task *Task, most uint32, stop *atomic.Bool) {
	for !stop.Load() {
		if s := task.State(); s > LongUnavailable {
			assert.Failf(t, "impossible state", "%d", s)
			return
		}
		d := task.Detail()
		switch d.State {
		case Congested, LongUnavailable:
			assert.NotZero(t, d.Unresolved, "state %s must have its slice", d.State)
			assert.Equal(t, Seen(false), d.Resolved, "state %s", d.State)
		case Normal:
			assert.Zero(t, d.Unresolved, "a NORMAL task has no unresolved slice")
		}
		if reason, seen := d.Reason.Get(); seen && d.Unresolved > 0 {
			state, _ := StateOf(reason)
			assert.Equal(t, d.State, state, "reason %s cannot explain the state", reason)
		}
		if !assert.LessOrEqual(t, d.Unresolved, most, "more is unresolved than can be") {
			return
		}
	}
}

// run lets every worker play its slices, beside two goroutines that query.
func run(t *testing.T, task *Task, most uint32, work func(worker int, slices []live)) [][]live {
	all := make([][]live, stressWorkers)
	var workers, queries sync.WaitGroup
	var stop atomic.Bool
	for range 2 {
		queries.Go(func() { query(t, task, most, &stop) })
	}
	for w := range all {
		all[w] = make([]live, stressSlices)
		for i := range all[w] {
			all[w][i].rng = rand.New(rand.NewPCG(uint64(w), uint64(i)))
		}
		workers.Go(func() { work(w, all[w]) })
	}
	workers.Wait()
	stop.Store(true)
	queries.Wait()
	return all
}

// requireClean checks that the counts came back to nothing.
func requireClean(t *testing.T, task *Task) {
	t.Helper()
	r := task.record.Load()
	require.NotNil(t, r, "the run must have met anomalies")
	require.Equal(t, [severities + 1]uint32{}, r.unresolved, "every slice is past its trouble, so nothing may be counted")
	require.Zero(t, r.noPath)
	for i := range r.kept {
		for _, e := range r.kept[i] {
			require.False(t, e.open, "kept evidence %d is open, but its slice has succeeded", e.number)
		}
	}
	require.Equal(t, severityNone, task.load().worst(), "the word must agree with the counts")
}

func TestStressConservation(t *testing.T) {
	var task Task
	run(t, &task, mostUnresolved, func(worker int, slices []live) {
		for range stressRounds {
			for i := range slices {
				slices[i].attempt(&task)
			}
			if worker == 0 {
				task.NoUsablePath(nil)
			}
		}
		for i := range slices {
			slices[i].slice.Admitted(&task, 1, true)
			assert.Equal(t, Recorded, slices[i].slice.Succeeded())
		}
	})
	var last Slice
	last.Admitted(&task, 1, false) // in case the task's own evidence came last
	last.Succeeded()
	requireClean(t, &task)
	require.Equal(t, Normal, task.State(), "all slices succeeded")
}

// At the end, before anything is resolved, the counts are those of the slices.
func TestStressCountsAreExact(t *testing.T) {
	var task Task
	all := run(t, &task, mostUnresolved, func(_ int, slices []live) {
		for range stressRounds {
			for i := range slices {
				slices[i].attempt(&task)
			}
		}
	})
	var want [severities + 1]uint32
	for w := range all {
		for i := range all[w] {
			if s := all[w][i].slice.severity; s != severityNone {
				want[s]++
			}
		}
	}
	require.Equal(t, want, task.record.Load().unresolved, "the counts must be those of the slices")
	require.NotEqual(t, [severities + 1]uint32{}, want, "the run must leave something unresolved, or it shows nothing")
}

func TestStressAttempts(t *testing.T) {
	var task Task
	var begun atomic.Uint32
	run(t, &task, mostUnresolved, func(worker int, slices []live) {
		for range stressRounds {
			for i := range slices {
				slices[i].attempt(&task)
			}
			if worker < 2 {
				task.NextAttempt()
				begun.Add(1)
			}
			if worker == 2 {
				task.NoUsablePath(nil)
			}
		}
	})
	require.Equal(t, begun.Load()+1, task.Detail().Attempt, "each call begins one attempt")
	task.NextAttempt()
	requireClean(t, &task)
	require.Equal(t, Unknown, task.State(), "nothing has happened in the new attempt")
}

// Slices that change over leave what they left unresolved; a new attempt of each
// task ends that.
func TestStressRebinding(t *testing.T) {
	tasks := make([]Task, 3)
	// Each time a slice leaves a task, it may leave one more behind.
	const most = stressWorkers * stressSlices * stressRounds
	run(t, &tasks[0], most, func(_ int, slices []live) {
		for round := range stressRounds {
			for i := range slices {
				slices[i].attempt(&tasks[(round+i)%len(tasks)])
			}
		}
	})
	for i := range tasks {
		tasks[i].NextAttempt()
		requireClean(t, &tasks[i])
	}
}

// The two calls that may meet on one slice, over and over on fresh tasks, so that
// the first anomaly is also raced for.
func TestStressDeadlineAgainstLateSuccess(t *testing.T) {
	for range 2_000 {
		var task Task
		var slice Slice
		slice.Admitted(&task, 1, false)
		var failed, succeeded Effect
		var both sync.WaitGroup
		both.Go(func() { failed = slice.Failed(&Evidence{Reason: classify.ReasonRouteTimeout, Generation: 1}) })
		both.Go(func() { succeeded = slice.SucceededLate() })
		both.Wait()
		require.Contains(t, []Effect{Recorded, AlreadySucceeded}, failed)
		require.Equal(t, Recorded, succeeded)
		require.Equal(t, Normal, task.State(), "whichever came first, the transfer arrived")
		requireClean(t, &task)
	}
}

// A detailed query beside a task's first anomaly tells of the state and of its
// reason, or of neither.
func TestStressDetailOfTheFirstAnomaly(t *testing.T) {
	const tasks = 100_000
	all := make([]Task, tasks)
	var turn atomic.Int64
	var writer sync.WaitGroup
	writer.Go(func() {
		ev := &Evidence{Reason: classify.ReasonByteWindow}
		for i := range all {
			var slice Slice
			turn.Store(int64(i))
			slice.Refused(&all[i], ev)
		}
		turn.Store(tasks)
	})
	unexplained := 0
	for i := turn.Load(); i < tasks; i = turn.Load() {
		d := all[i].Detail()
		if _, seen := d.Reason.Get(); d.State != Unknown && !seen {
			unexplained++
		}
	}
	writer.Wait()
	assert.Zero(t, unexplained, "answers that say CONGESTED must say why")
}
