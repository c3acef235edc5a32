package taskstate

import (
	"encoding/json"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

func TestSizes(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(Task{}), uintptr(64), "a task without anomaly must fit a cache line of the caller's task")
	assert.LessOrEqual(t, unsafe.Sizeof(Slice{}), uintptr(32), "every permit holds one")
	assert.LessOrEqual(t, unsafe.Sizeof(record{}), uintptr(2048), "the record of a task with anomalies")
}

// evidenceMill makes evidence of every kind, on many paths, for ever.
type evidenceMill struct {
	slices  []Slice
	reasons []classify.Reason
	pairs   []rail.Pair
	root    classify.RootCause
	n       int
}

func newEvidenceMill() *evidenceMill {
	m := &evidenceMill{slices: make([]Slice, 64)}
	for r := classify.ReasonNone; r <= classify.ReasonFatal; r++ {
		m.reasons = append(m.reasons, r)
	}
	for port := uint8(1); port <= 100; port++ {
		m.pairs = append(m.pairs, rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: port, Remote: "mlx5_3"})
	}
	return m
}

// feed makes the next call: refusals, failures, admissions, successes, also of
// the task's own evidence and of new attempts.
func (m *evidenceMill) feed(task *Task) {
	m.n++
	slice := &m.slices[m.n%len(m.slices)]
	ev := Evidence{
		Reason:     m.reasons[m.n%len(m.reasons)],
		Scope:      classify.ScopeRoute,
		Verdict:    classify.Completion(classify.StatusRetryExcErr, uint32(m.n)),
		Root:       &m.root,
		Pair:       &m.pairs[m.n%len(m.pairs)],
		Generation: 1,
		At:         time.Duration(m.n),
		Window:     Seen(int64(m.n)),
	}
	switch m.n / 64 % 5 {
	case 0, 1:
		slice.Refused(task, &ev)
	case 2:
		slice.Admitted(task, 1, m.n%3 == 0)
		slice.Failed(&ev)
	case 3:
		task.NoUsablePath(&ev)
	case 4:
		slice.Succeeded()
	}
	if m.n%10_007 == 0 {
		task.NextAttempt()
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var task Task
	mill := newEvidenceMill()
	require.Equal(t, Recorded, mill.slices[1].Refused(&task, &Evidence{Reason: classify.ReasonByteWindow}))
	first := task.record.Load()
	require.NotNil(t, first, "the first anomaly allocates the record")

	const calls = 1_000_000
	allocs := testing.AllocsPerRun(1, func() {
		for range calls / 2 { // AllocsPerRun runs it twice
			mill.feed(&task)
		}
	})
	require.Equal(t, calls, mill.n)
	assert.Zero(t, allocs, "nothing after the first anomaly may allocate")
	assert.Same(t, first, task.record.Load(), "it stays the one record, whose size is fixed")
	assert.Greater(t, first.last-first.base, uint64(calls/4), "the evidence really was recorded")
}

// dump copies the bytes of the task and of its record.
func dump(task *Task) (word, rec []byte) {
	word = append(word, unsafe.Slice((*byte)(unsafe.Pointer(task)), unsafe.Sizeof(*task))...)
	if r := task.record.Load(); r != nil {
		rec = append(rec, unsafe.Slice((*byte)(unsafe.Pointer(r)), unsafe.Sizeof(*r))...)
	}
	return word, rec
}

func TestQueriesChangeNothing(t *testing.T) {
	states := map[State]bool{}
	var task Task
	mill := newEvidenceMill()
	for range 2_000 {
		word, rec := dump(&task)
		state := task.State()
		detail := task.Detail()
		_, err := json.Marshal(detail)
		require.NoError(t, err)
		_, _ = detail.String(), detail.Guidance().Advice()
		require.Equal(t, state, detail.State, "both queries must agree")
		_, noted := mill.root.Cause()
		require.False(t, noted, "a query must not touch the root cause")
		wordAfter, recAfter := dump(&task)
		require.Equal(t, word, wordAfter, "a query changed the task in state %s", state)
		require.Equal(t, rec, recAfter, "a query changed the record in state %s", state)
		states[state] = true
		mill.feed(&task)
	}
	for range mill.slices { // until the mill's last failures are behind
		mill.n++
		slice := &mill.slices[mill.n%len(mill.slices)]
		slice.Admitted(&task, 1, false)
		slice.Succeeded()
	}
	word, rec := dump(&task)
	states[task.State()] = true
	_ = task.Detail()
	wordAfter, recAfter := dump(&task)
	require.Equal(t, word, wordAfter)
	require.Equal(t, rec, recAfter)
	assert.Len(t, states, 4, "the run must have seen all four states, not only %v", states)
}

func TestMinimalQueryAllocatesNothing(t *testing.T) {
	var troubled, clean Task
	var slice Slice
	slice.Refused(&troubled, &Evidence{Reason: classify.ReasonByteWindow})
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = troubled.State(), clean.State()
		_ = troubled.Detail()
	}))
}

func TestSuccessPathStoresAtMostOnce(t *testing.T) {
	var task Task
	slices := make([]Slice, 2)
	slices[0].Admitted(&task, 1, false)
	slices[1].Admitted(&task, 1, false)
	before := slices[0]
	require.Equal(t, Recorded, slices[0].Succeeded())
	assert.Equal(t, uint64(successBit), task.word.Load(), "the first success stores one bit")
	assert.Equal(t, before, slices[0], "and nothing in the slice")

	for range 100 {
		require.Equal(t, Recorded, slices[1].Succeeded())
	}
	assert.Equal(t, uint64(successBit), task.word.Load(), "later ones store nothing")
	assert.Nil(t, task.record.Load(), "a clean task has no record, and so no lock to take")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		slices[0].Admitted(&task, 1, false)
		slices[0].Succeeded()
	}))
}

// The lock of a task in trouble is not needed by slices that have none.
func TestCleanSlicesOfATroubledTaskTakeNoLock(t *testing.T) {
	var task Task
	var troubled, clean Slice
	troubled.Refused(&task, &Evidence{Reason: classify.ReasonPathQuarantined})
	r := task.record.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	clean.Admitted(&task, 1, false)
	assert.Equal(t, Recorded, clean.Succeeded(), "it would hang here if it took the lock")
	assert.Equal(t, LongUnavailable, task.State(), "the minimal query takes no lock either")
}

func TestAttemptNumbersWrap(t *testing.T) {
	var task Task
	task.word.Store(uint64(1<<32-1) << attemptShift)
	assert.Equal(t, uint32(1), task.NextAttempt(), "the count starts again")
	assert.Equal(t, Unknown, task.State(), "and no flag is touched by the carry")
}
