//go:build linux && cgo

package verbs

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/verbs/internal/stub"
)

const pollBatch = 32

// TestPollCost holds a poll of 32 completions against a call into C that does
// nothing. Both are measured in turns, in the same process, and the best turn of
// each counts, so that a busy machine slows both alike. It measures on for as
// long as a disturbed run needs, up to a limit.
func TestPollCost(t *testing.T) {
	cq := endlessCQ(t)
	wcs := make([]WC, pollBatch)
	const least, limit, calls, most = 100, 2000, 2000, 2.0
	judged := !raceEnabled && !softroce.InGuest()

	poll := func() {
		if n, err := cq.Poll(wcs); n != pollBatch || err != nil {
			t.Fatalf("poll returned %d, %v; expected %d", n, err, pollBatch)
		}
	}
	empty, full, ratio := time.Hour, time.Hour, 0.0
	for turn := range limit {
		empty = min(empty, elapsed(calls, noop))
		full = min(full, elapsed(calls, poll))
		ratio = float64(full) / float64(empty)
		if turn >= least && (ratio <= most || !judged) {
			break
		}
	}
	t.Logf("empty call %v, poll of %d completions %v, ratio %.2f", empty/calls, pollBatch, full/calls, ratio)
	if !judged {
		t.Log("only reported: the race detector slows the Go side alone, and emulation has other ratios")
		return
	}
	assert.LessOrEqual(t, ratio, most, "a poll of %d completions shall cost at most %v empty cgo calls", pollBatch, most)
}

func elapsed(calls int, f func()) time.Duration {
	start := time.Now()
	for range calls {
		f()
	}
	return time.Since(start)
}

func endlessCQ(t testing.TB) *CQ {
	t.Helper()
	foreign := stub.OpenContext()
	t.Cleanup(func() { stub.CloseContext(foreign) })
	pointer := stub.CreateCQ(foreign, 0)
	t.Cleanup(func() { stub.DestroyCQ(pointer) })
	stub.Endless(pointer)
	ctx := newContext(stubLibrary(t), foreign, true)
	cq, err := ctx.WrapCQ(pointer)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cq.Close()) })
	return cq
}

// sendList is a list of n one-SGE WRITEs.
func sendList(n int) []SendWR {
	list := make([]SendWR, n)
	for i := range list {
		list[i] = SendWR{WRID: uint64(i), Op: OpWrite, RemoteAddr: 0x1000, RKey: 7, SGE: SGE{Addr: 0x2000, Length: 64, LKey: 8}}
	}
	return list
}

func TestFastPathAllocatesNothing(t *testing.T) {
	b := newBench(t, QPCap{MaxSendWR: 64, MaxRecvWR: 64, MaxSendSGE: 2})
	stub.Silence(b.qp.ptr)
	cq := endlessCQ(t)
	send, recv, wcs := sendList(pollBatch), make([]RecvWR, pollBatch), make([]WC, pollBatch)
	send[3].More = []SGE{{Addr: 1, Length: 2}}

	var poster Poster = b.qp
	var poller Poller = cq
	cases := []struct {
		name string
		call func() (int, error)
	}{
		{"PostSend", func() (int, error) { return b.qp.PostSend(send) }},
		{"PostSend of one request on the stack", func() (int, error) { return b.qp.PostSend([]SendWR{{WRID: 1, SGE: SGE{Length: 4}}}) }},
		{"PostSend through an interface", func() (int, error) { return poster.PostSend(send) }},
		{"PostRecv", func() (int, error) { return b.qp.PostRecv(recv) }},
		{"Poll", func() (int, error) { return cq.Poll(wcs) }},
		{"Poll through an interface", func() (int, error) { return poller.Poll(wcs) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			allocs := testing.AllocsPerRun(100, func() {
				if n, err := c.call(); n == 0 || err != nil {
					t.Fatalf("got %d, %v", n, err)
				}
			})
			assert.Zero(t, allocs, "the data path allocates nothing per call, request or completion")
		})
	}
}

// BenchmarkEmptyCall is the floor of the others: a call from Go into C that does
// nothing.
func BenchmarkEmptyCall(b *testing.B) {
	for b.Loop() {
		noop()
	}
}

func BenchmarkPoll32(b *testing.B) {
	cq := endlessCQ(b)
	wcs := make([]WC, pollBatch)
	floor := bestOf(noop)
	poll := func() {
		if n, _ := cq.Poll(wcs); n != pollBatch {
			b.Fatal(n)
		}
	}
	b.ReportMetric(bestOf(poll)/floor, "empty-calls/op")
	b.ReportAllocs()
	for b.Loop() {
		poll()
	}
}

func BenchmarkPostSend(b *testing.B) {
	for _, n := range []int{1, 32} {
		b.Run(map[int]string{1: "1", 32: "32"}[n], func(b *testing.B) {
			qp := newBench(b, QPCap{MaxSendWR: 64}).qp
			stub.Silence(qp.ptr)
			list := sendList(n)
			floor := bestOf(noop)
			post := func() {
				if took, _ := qp.PostSend(list); took != n {
					b.Fatal(took)
				}
			}
			b.ReportMetric(bestOf(post)/floor, "empty-calls/op")
			b.ReportAllocs()
			for b.Loop() {
				post()
			}
		})
	}
}

// bestOf returns the nanoseconds of f in the best of several turns.
func bestOf(f func()) float64 {
	const calls = 1000
	turns := make([]time.Duration, 50)
	for i := range turns {
		turns[i] = elapsed(calls, f)
	}
	return float64(slices.Min(turns)) / calls
}
