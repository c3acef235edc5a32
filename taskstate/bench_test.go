package taskstate

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// cost is a call beside its floor, the least that could do its work. The ratio of
// both is what counts; see TestCostRatios for the limits.
type cost struct {
	name        string
	limit       float64
	call, floor func(n int)
}

var costs = []cost{
	{"later success on a clean task", 1, func(n int) {
		var task Task
		var slice Slice
		slice.Admitted(&task, 1, false)
		for range n {
			slice.Succeeded()
		}
	}, loadAndStore},
	{"first success on a clean task", 1.5, func(n int) {
		var task Task
		var slice Slice
		slice.Admitted(&task, 1, false)
		for range n {
			task.word.Store(0)
			slice.Succeeded()
		}
	}, resetLoadAndStore},
	{"admission on a clean task", 1, func(n int) {
		tasks := make([]Task, 2)
		var slice Slice
		for i := range n {
			slice.Admitted(&tasks[i/64%2], 1, false)
		}
	}, loadAndStore},
	{"minimal query", 1, func(n int) {
		var task Task
		for range n {
			if task.State() != Unknown {
				panic("a new task must be UNKNOWN")
			}
		}
	}, loadAndStore},
}

// loadAndStore is one atomic load and one store by compare-and-swap for each turn.
func loadAndStore(n int) {
	var from, to atomic.Uint64
	for range n {
		to.CompareAndSwap(0, from.Load())
	}
}

// resetLoadAndStore is the same on one word, which is reset before.
func resetLoadAndStore(n int) {
	var word atomic.Uint64
	for range n {
		word.Store(0)
		word.CompareAndSwap(word.Load(), 1)
	}
}

// roundOf times n calls, and their floor.
func (c *cost) roundOf(n int) (call, floor time.Duration) {
	start := time.Now()
	c.floor(n)
	middle := time.Now()
	c.call(n)
	return time.Since(middle), middle.Sub(start)
}

func BenchmarkCosts(b *testing.B) {
	const rounds, calls = 25, 20_000
	for _, c := range costs {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				call, floor := time.Hour, time.Hour
				for range rounds {
					oneCall, oneFloor := c.roundOf(calls)
					call, floor = min(call, oneCall), min(floor, oneFloor)
				}
				b.ReportMetric(float64(call.Nanoseconds())/calls, "ns/call")
				b.ReportMetric(float64(call)/float64(floor), "ratio")
				b.ReportMetric(0, "ns/op") // of all rounds together: says nothing
			}
		})
	}
}

func BenchmarkCleanAttempt(b *testing.B) {
	var task Task
	var slice Slice
	b.ReportAllocs()
	for b.Loop() {
		slice.Admitted(&task, 1, false)
		slice.Succeeded()
	}
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
