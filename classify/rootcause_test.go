package classify

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRootCauseTakesTheFirstRoot(t *testing.T) {
	flush := Completion(StatusWRFlushErr, 0xf9)
	for _, tt := range []struct {
		name string
		note []Verdict
		want Verdict // zero: no root
	}{
		{"nothing was noted", nil, Verdict{}},
		{"flushes alone have no root", []Verdict{flush, flush}, Verdict{}},
		{"timeout, then its flushes", []Verdict{Completion(StatusRetryExcErr, 0x81), flush}, Completion(StatusRetryExcErr, 0x81)},
		{"flushes on another CQ came first", []Verdict{flush, Completion(StatusRetryExcErr, 0x81)}, Completion(StatusRetryExcErr, 0x81)},
		{"the root is an event", []Verdict{flush, AsyncEvent(EventQPFatal)}, AsyncEvent(EventQPFatal)},
		{"general error and QP event of one fault", []Verdict{Completion(StatusGeneralErr, 0), AsyncEvent(EventQPFatal)}, Completion(StatusGeneralErr, 0)},
		{"a failed CQ takes its QPs along", []Verdict{AsyncEvent(EventCQErr)}, AsyncEvent(EventCQErr)},
		{"a failed device too", []Verdict{AsyncEvent(EventDeviceFatal)}, AsyncEvent(EventDeviceFatal)},
		{"a port that goes down leaves the QP as it is", []Verdict{AsyncEvent(EventPortErr)}, Verdict{}},
		{"counted deadline, then the timeout", []Verdict{Of(SignalDeadlineProgressing), Completion(StatusRetryExcErr, 0)}, Of(SignalDeadlineProgressing)},
		{"a voided deadline is no root", []Verdict{Of(SignalDeadlineStalled)}, Verdict{}},
		{"what does not count can be a root: local", []Verdict{Completion(StatusLocLenErr, 0x8e), AsyncEvent(EventQPAccessErr)}, Completion(StatusLocLenErr, 0x8e)},
		{"what does not count can be a root: remote", []Verdict{Completion(StatusRemAccessErr, 0x88), flush}, Completion(StatusRemAccessErr, 0x88)},
		{"what does not count can be a root: RNR", []Verdict{Completion(StatusRNRRetryExcErr, 0)}, Completion(StatusRNRRetryExcErr, 0)},
		{"unknown status, all bits kept", []Verdict{Completion(1<<32-1, 1<<32-1)}, Completion(1<<32-1, 1<<32-1)},
		{"lost connection", []Verdict{CMEvent(CMEventDisconnected)}, CMEvent(CMEventDisconnected)},
		{"successes and notices are none", []Verdict{Completion(StatusSuccess, 7), AsyncEvent(EventCommEst), AsyncEvent(99), {}}, Verdict{}},
		{"neither is a cancel", []Verdict{Of(SignalCancel), flush}, Verdict{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var root RootCause
			taken := 0
			for _, v := range tt.note {
				if root.Note(v) {
					taken++
					assert.Equal(t, tt.want, v, "only the first root may be taken")
				}
			}
			got, ok := root.Cause()
			assert.Equal(t, tt.want != Verdict{}, ok, "whether there is a root")
			assert.Equal(t, tt.want, got)
			assert.Equal(t, ok, taken == 1, "Note must say true exactly once if there is a root")
		})
	}
}

func TestFlushFindsARootThatArrivesAfterIt(t *testing.T) {
	var root RootCause
	evidence := &root // what the evidence of a flush keeps
	_, ok := evidence.Cause()
	require.False(t, ok, "no root is known yet")
	root.Note(AsyncEvent(EventQPReqErr))
	cause, ok := evidence.Cause()
	require.True(t, ok, "the root is known now, and the evidence is asked now")
	assert.Equal(t, AsyncEvent(EventQPReqErr), cause)
}

func TestSealedRootCauseTakesNothingMore(t *testing.T) {
	t.Run("teardown before any root", func(t *testing.T) {
		var root RootCause
		assert.True(t, root.Seal(), "there is no root")
		assert.False(t, root.Note(Completion(StatusRetryExcErr, 0)), "the application tore the QP down; this is an aftermath")
		assert.True(t, root.Seal(), "sealing again changes nothing")
		cause, ok := root.Cause()
		assert.False(t, ok)
		assert.Equal(t, Verdict{}, cause)
	})
	t.Run("teardown after the root", func(t *testing.T) {
		var root RootCause
		require.True(t, root.Note(Completion(StatusRetryExcErr, 0)))
		assert.False(t, root.Seal(), "there is a root")
		cause, ok := root.Cause()
		assert.True(t, ok, "flushes that teardown brings about derive from the error that made it necessary")
		assert.Equal(t, Completion(StatusRetryExcErr, 0), cause)
	})
}

// TestRootCauseRace lets roots, flushes, a teardown and readers meet on one QP.
// Whoever wins, there is one answer, whole, and it never changes.
func TestRootCauseRace(t *testing.T) {
	for round := range 200 {
		var root RootCause
		var start, done sync.WaitGroup
		start.Add(1)
		const writers = 4
		took := make([]bool, writers)
		sealed := false
		run := func(f func()) {
			done.Go(func() {
				start.Wait()
				f()
			})
		}
		for w := range writers {
			run(func() {
				took[w] = root.Note(Completion(Status(100+w), uint32(200+w)))
				root.Note(Completion(StatusWRFlushErr, 0xf9))
			})
		}
		run(func() { sealed = root.Seal() })
		seen := make([]Verdict, writers)
		for r := range seen {
			run(func() {
				for range 20 {
					v, ok := root.Cause()
					if ok != (v != Verdict{}) {
						t.Errorf("Cause gives %v, %t", v, ok)
					}
					if seen[r] != (Verdict{}) && v != seen[r] {
						t.Errorf("the root changed from %s to %s", seen[r], v)
					}
					seen[r] = v
				}
			})
		}
		start.Done()
		done.Wait()

		cause, ok := root.Cause()
		winners := 0
		for w, won := range took {
			if won {
				winners++
				assert.Equal(t, Completion(Status(100+w), uint32(200+w)), cause, "the one that was told so is the root")
			}
		}
		require.Equal(t, ok, winners == 1, "round %d: one writer or none", round)
		require.Equal(t, !ok, sealed, "round %d: sealed without a root, or a root", round)
		for _, v := range seen {
			if v != (Verdict{}) {
				require.Equal(t, cause, v, "round %d: a reader saw another root", round)
			}
		}
	}
}

func TestRootCauseAllocatesNothing(t *testing.T) {
	flush := Completion(StatusWRFlushErr, 0)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		var root RootCause
		root.Note(flush)
		root.Note(Completion(StatusRetryExcErr, 0x81))
		root.Cause()
		root.Seal()
	}))
}
