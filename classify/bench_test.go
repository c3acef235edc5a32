package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// statuses is what a busy CQ delivers: successes, with some of everything else.
var statuses = func() (mix [1024]Status) {
	for i := range mix {
		if i%4 == 0 {
			mix[i] = Status(i / 4 % 27)
		}
	}
	return mix
}()

// floor is the array that the look-up benchmark reads.
var floor = func() (a [256]uint8) {
	for i := range a {
		a[i] = uint8(i * 7)
	}
	return a
}()

var sink int

// lookUp is what a verdict is measured against: one array look-up per status.
func lookUp() (sum int) {
	for _, s := range statuses {
		sum += int(floor[uint8(s)])
	}
	return sum
}

// judge makes a verdict of every status and reads its class.
func judge() (sum int) {
	for _, s := range statuses {
		sum += int(Completion(s, 0x81).Class())
	}
	return sum
}

func perStatus(b *testing.B, f func() int) {
	b.ReportAllocs()
	sum := 0
	for b.Loop() {
		sum += f()
	}
	sink += sum
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(statuses)), "ns/status")
}

func BenchmarkArrayLookUp(b *testing.B) { perStatus(b, lookUp) }
func BenchmarkCompletion(b *testing.B)  { perStatus(b, judge) }

func BenchmarkRootCause(b *testing.B) {
	b.ReportAllocs()
	flush := Completion(StatusWRFlushErr, 0xf9)
	var root RootCause
	root.Note(Completion(StatusRetryExcErr, 0x81))
	for b.Loop() {
		if root.Note(flush) {
			b.Fatal("a flush became a root")
		}
	}
}

func TestVerdictsAllocateNothing(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		sink += judge()
		v, err := Event{Type: EventPortErr, Element: complete}.Verdict()
		if err != nil || v.Countable() || Of(SignalCancel).Releases() || RejectedPost(12).Succeeded() {
			t.Error("verdicts are wrong")
		}
		sink += len(v.Row())
	}))
}
