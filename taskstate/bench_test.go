package taskstate

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// The benchmarks compare with floors of the same run: ratio is the time of the
// call in units of its floor. Both are timed in turns and the best round of each
// counts, so that a busy machine slows neither alone.

const (
	benchRounds = 25
	benchCalls  = 20_000
)

func bestOf(call, floor func(n int)) (calls, floors time.Duration) {
	calls, floors = 1<<62, 1<<62
	for range benchRounds {
		start := time.Now()
		floor(benchCalls)
		middle := time.Now()
		call(benchCalls)
		calls = min(calls, time.Since(middle))
		floors = min(floors, middle.Sub(start))
	}
	return calls, floors
}

func reportRatio(b *testing.B, limit float64, call, floor func(n int)) {
	var ratio float64
	for b.Loop() {
		calls, floors := bestOf(call, floor)
		ratio = float64(calls) / float64(floors)
		b.ReportMetric(float64(calls.Nanoseconds())/benchCalls, "ns/call")
		b.ReportMetric(ratio, "ratio")
		b.ReportMetric(0, "ns/op") // of all rounds together: says nothing
	}
	if limit > 0 && ratio > limit {
		b.Errorf("the call takes %.1f times its floor, more than %.1f is not one load and at most one store", ratio, limit)
	}
}

// The floor: one atomic load and one atomic store.
func loadAndStore(n int) {
	var from, to atomic.Uint64
	for range n {
		to.Store(from.Load())
	}
}

func BenchmarkSuccessOnACleanTask(b *testing.B) {
	b.Run("later", func(b *testing.B) {
		reportRatio(b, 3, func(n int) {
			var task Task
			var slice Slice
			slice.Admitted(&task, 1, false)
			for range n {
				slice.Succeeded()
			}
		}, loadAndStore)
	})
	b.Run("first", func(b *testing.B) { // both sides also store to reset the word
		reportRatio(b, 3, func(n int) {
			var task Task
			var slice Slice
			slice.Admitted(&task, 1, false)
			for range n {
				task.word.Store(0)
				slice.Succeeded()
			}
		}, func(n int) {
			var from, to, reset atomic.Uint64
			for range n {
				reset.Store(0)
				to.Store(from.Load())
			}
		})
	})
	b.Run("allocations", func(b *testing.B) {
		var task Task
		var slice Slice
		b.ReportAllocs()
		for b.Loop() {
			slice.Admitted(&task, 1, false)
			slice.Succeeded()
		}
	})
}

func BenchmarkAdmittedOnACleanTask(b *testing.B) {
	reportRatio(b, 3, func(n int) {
		tasks := make([]Task, 2)
		var slice Slice
		for i := range n {
			slice.Admitted(&tasks[i/64%2], 1, false)
		}
	}, loadAndStore)
}

func BenchmarkState(b *testing.B) {
	reportRatio(b, 3, func(n int) {
		var task Task
		for range n {
			if task.State() != Unknown {
				panic("a new task must be UNKNOWN")
			}
		}
	}, loadAndStore)
}

func BenchmarkTroubledTask(b *testing.B) {
	ev := &Evidence{Reason: classify.ReasonByteWindow, Generation: 1}
	b.Run("refused and admitted", func(b *testing.B) {
		var task Task
		var slice Slice
		b.ReportAllocs()
		for b.Loop() {
			slice.Refused(&task, ev)
			slice.Admitted(&task, 1, false)
		}
	})
	b.Run("detail", func(b *testing.B) {
		var task Task
		var slice Slice
		slice.Refused(&task, ev)
		b.ReportAllocs()
		for b.Loop() {
			_ = task.Detail()
		}
	})
}
