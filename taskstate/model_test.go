package taskstate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// The model keeps every piece of evidence for ever and works all answers out
// anew. Evidence is told apart by its time, which is a plain counter.

type modelEvidence struct {
	at      time.Duration
	reason  classify.Reason
	rank    int // 1 UNKNOWN by failure, 2 CONGESTED, 3 LONG_UNAVAILABLE
	attempt uint32
	open    bool
}

type modelTask struct {
	attempt   uint32
	succeeded bool
	history   []*modelEvidence
	noPath    *modelEvidence
	kept      [4][]*modelEvidence // by rank, as much as a real task keeps
}

type modelSlice struct {
	task       *modelTask
	trouble    *modelEvidence
	attempt    uint32
	generation uint64
	admitted   bool
	late       bool
}

func modelRank(r classify.Reason) int {
	state, evidence := taskstate.StateOf(r)
	switch {
	case !evidence:
		return 0
	case state == taskstate.Unknown:
		return 1
	case state == taskstate.Congested:
		return 2
	}
	return 3
}

func (t *modelTask) worst() int {
	worst := 0
	for _, e := range t.history {
		if e.open {
			worst = max(worst, e.rank)
		}
	}
	return worst
}

func (t *modelTask) state() taskstate.State {
	switch worst := t.worst(); {
	case worst == 0 && t.succeeded:
		return taskstate.Normal
	case worst < 2:
		return taskstate.Unknown
	case worst == 2:
		return taskstate.Congested
	}
	return taskstate.LongUnavailable
}

func (t *modelTask) unresolved() (n uint32) {
	for _, e := range t.history {
		if e.open && e.rank == t.worst() {
			n++
		}
	}
	return n
}

// relevant picks from a history: the newest open evidence of the worst rank, else
// the newest of that rank; with nothing open the newest at all.
func (t *modelTask) relevant(history []*modelEvidence) *modelEvidence {
	var best *modelEvidence
	for _, e := range history {
		if t.worst() != 0 && e.rank != t.worst() {
			continue
		}
		if best == nil || e.open && !best.open || e.open == best.open && e.at > best.at {
			best = e
		}
	}
	return best
}

// add appends evidence that replaces what its owner met before, which may be nil.
func (t *modelTask) add(e, before *modelEvidence) {
	t.history = append(t.history, e)
	kept := t.kept[e.rank]
	if i := slices.Index(kept, before); i >= 0 && before.open {
		kept = slices.Delete(kept, i, i+1)
	} else if len(kept) == 2 {
		victim := 0
		if kept[0].open && !kept[1].open || kept[0].open == kept[1].open && kept[1].at < kept[0].at {
			victim = 1
		}
		kept = slices.Delete(kept, victim, victim+1)
	}
	if before != nil {
		before.open = false
	}
	t.kept[e.rank] = append(kept, e)
}

func (s *modelSlice) bind(t *modelTask) {
	if s.task != t {
		s.task, s.trouble = t, nil
	}
	if t != nil {
		s.attempt = t.attempt
		if s.trouble != nil && !s.trouble.open {
			s.trouble = nil
		}
	}
}

func (s *modelSlice) raise(e *modelEvidence) taskstate.Effect {
	if s.trouble != nil && s.trouble.open && s.trouble.rank > e.rank {
		return taskstate.Outranked
	}
	e.open, e.attempt = true, s.task.attempt
	s.task.add(e, s.trouble)
	s.trouble = e
	return taskstate.Recorded
}

func (s *modelSlice) refused(t *modelTask, e *modelEvidence) taskstate.Effect {
	s.bind(t)
	s.admitted = false
	if t == nil || e.rank == 0 {
		return taskstate.Nothing
	}
	window := e.reason == classify.ReasonByteWindow || e.reason == classify.ReasonCongestionFeedback
	if window && s.trouble != nil && s.trouble.open && s.trouble.rank == 3 {
		s.trouble.open = false
	}
	return s.raise(e)
}

func (s *modelSlice) resolve() {
	if s.trouble != nil {
		s.trouble.open = false
	}
	if s.task.noPath != nil {
		s.task.noPath.open = false
	}
}

func (s *modelSlice) admit(t *modelTask, generation uint64, trial bool) {
	s.bind(t)
	s.admitted, s.generation, s.late = true, generation, false
	if t != nil && !trial {
		s.resolve()
	}
}

func (s *modelSlice) succeed(late bool) taskstate.Effect {
	switch {
	case s.task == nil:
		return taskstate.Nothing
	case !s.admitted:
		return taskstate.NotAdmitted
	case s.attempt != s.task.attempt:
		return taskstate.OldAttempt
	}
	s.resolve()
	s.task.succeeded = true
	s.late = s.late || late
	return taskstate.Recorded
}

func (s *modelSlice) failed(e *modelEvidence, generation uint64) taskstate.Effect {
	switch {
	case s.task == nil || e.rank == 0:
		return taskstate.Nothing
	case !s.admitted:
		return taskstate.NotAdmitted
	case s.attempt != s.task.attempt:
		return taskstate.OldAttempt
	case generation != s.generation:
		return taskstate.OldGeneration
	case s.late:
		return taskstate.AlreadySucceeded
	}
	return s.raise(e)
}

func (t *modelTask) nextAttempt() {
	for _, e := range t.history {
		e.open = false
	}
	t.attempt++
	t.succeeded = false
}

func (t *modelTask) noUsablePath(e *modelEvidence) {
	e.open, e.attempt = true, t.attempt
	before := t.noPath
	if before != nil && !before.open {
		before = nil
	}
	t.add(e, before)
	t.noPath = e
}

// rig runs the same calls against real tasks and the model.
type rig struct {
	rng    *rand.Rand
	tasks  []taskstate.Task
	slices []taskstate.Slice
	model  []modelTask
	mirror []modelSlice
	clock  time.Duration
	exact  bool // few enough slices that a task keeps all that is open
}

func newRig(seed uint64, tasks, slices int) *rig {
	r := &rig{
		rng:    rand.New(rand.NewPCG(seed, 1)),
		tasks:  make([]taskstate.Task, tasks),
		slices: make([]taskstate.Slice, slices),
		model:  make([]modelTask, tasks),
		mirror: make([]modelSlice, slices),
	}
	for i := range r.model {
		r.model[i].attempt = 1
	}
	return r
}

// step makes one random call on both sides and returns what it was.
func (r *rig) step(t *testing.T) string {
	r.clock++
	s, k := r.rng.IntN(len(r.slices)), r.rng.IntN(len(r.tasks))
	reason := classify.Reason(r.rng.IntN(int(classify.ReasonFatal) + 2))
	generation := r.rng.Uint64N(3) + 1
	e := &modelEvidence{at: r.clock, reason: reason, rank: modelRank(reason)}
	ev := &taskstate.Evidence{Reason: reason, At: r.clock, Generation: generation}
	task, model := &r.tasks[k], &r.model[k]
	if !r.exact && r.rng.IntN(20) == 0 {
		task, model = nil, nil
	}
	slice, mirror := &r.slices[s], &r.mirror[s]
	switch r.rng.IntN(12) {
	case 0, 1, 2:
		require.Equal(t, mirror.refused(model, e), slice.Refused(task, ev))
		return fmt.Sprintf("slice %d refused by task %d: %s", s, k, reason)
	case 3, 4, 5:
		trial := r.rng.IntN(4) == 0
		mirror.admit(model, generation, trial)
		slice.Admitted(task, generation, trial)
		return fmt.Sprintf("slice %d admitted to task %d, generation %d, trial %t", s, k, generation, trial)
	case 6, 7:
		if r.rng.IntN(4) > 0 {
			ev.Generation = mirror.generation
		}
		if ev.Generation == 0 {
			ev.Generation = 99 // 0 would mean not observed
		}
		require.Equal(t, mirror.failed(e, ev.Generation), slice.Failed(ev))
		return fmt.Sprintf("slice %d failed: %s, generation %d", s, reason, ev.Generation)
	case 8, 9:
		require.Equal(t, mirror.succeed(false), slice.Succeeded())
		return fmt.Sprintf("slice %d succeeded", s)
	case 10:
		require.Equal(t, mirror.succeed(true), slice.SucceededLate())
		return fmt.Sprintf("slice %d succeeded late", s)
	}
	return r.stepTask(t, k)
}

func (r *rig) stepTask(t *testing.T, k int) string {
	if r.rng.IntN(3) > 0 && !r.exact {
		e := &modelEvidence{at: r.clock, reason: classify.ReasonNoUsablePath, rank: 3}
		r.model[k].noUsablePath(e)
		require.Equal(t, taskstate.Recorded, r.tasks[k].NoUsablePath(&taskstate.Evidence{At: r.clock}))
		return fmt.Sprintf("task %d has no usable path", k)
	}
	r.model[k].nextAttempt()
	require.Equal(t, r.model[k].attempt, r.tasks[k].NextAttempt())
	return fmt.Sprintf("task %d begins attempt %d", k, r.model[k].attempt)
}

// compare checks both queries of every task.
func (r *rig) compare(t *testing.T, after []string) {
	for k := range r.tasks {
		model, detail := &r.model[k], r.tasks[k].Detail()
		because := func() string { return fmt.Sprintf("task %d after the steps %q", k, after) }
		if model.state() != detail.State || detail.State != r.tasks[k].State() {
			require.Failf(t, "wrong state", "want %s, detail %s, state %s: %s", model.state(), detail.State, r.tasks[k].State(), because())
		}
		if model.attempt != detail.Attempt || model.unresolved() != detail.Unresolved {
			require.Failf(t, "wrong counts", "want attempt %d, unresolved %d, got %s: %s", model.attempt, model.unresolved(), detail, because())
		}
		history := slices.Concat(model.kept[:]...)
		if r.exact {
			history = model.history
		}
		want := taskstate.Detail{State: detail.State, Attempt: detail.Attempt, Unresolved: detail.Unresolved}
		if e := model.relevant(history); e != nil {
			want.Reason = taskstate.Seen(e.reason)
			want.Resolved = taskstate.Seen(model.worst() == 0)
			want.At = taskstate.Seen(e.at)
			want.ObservedAttempt = taskstate.Seen(e.attempt)
			want.Generation = detail.Generation
		}
		if want != detail {
			require.Failf(t, "wrong detail", "want %s, got %s: %s", want, detail, because())
		}
	}
}

func (r *rig) run(t *testing.T, steps int) {
	var log []string
	for range steps {
		log = append(log, r.step(t))
		r.compare(t, log)
	}
}

func TestModel(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprintf("many slices, seed %d", seed), func(t *testing.T) {
			newRig(seed, 3, 7).run(t, 150)
		})
	}
}

// With one task and two slices everything that is open is kept, so the answer
// must be that of the whole history.
func TestModelWithWholeHistory(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprintf("two slices, seed %d", seed), func(t *testing.T) {
			r := newRig(seed, 1, 2)
			r.exact = true
			r.run(t, 150)
		})
	}
}
