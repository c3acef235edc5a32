package main

import (
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc/recorder"
)

// peak follows how large the heap is until stopped.
func peak() (stop func() uint64) {
	var most atomic.Uint64
	done := make(chan struct{})
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > most.Load() {
			most.Store(m.HeapAlloc)
		}
	}
	runtime.GC()
	look()
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				look()
			}
		}
	}()
	return func() uint64 {
		close(done)
		return most.Load()
	}
}

// Memory does not grow with the length of a recording, whatever is done to it.
func TestMemoryIsBounded(t *testing.T) {
	long := 1_000_000
	if testing.Short() {
		long = 50_000
	}
	short := long / 10
	files := map[int]string{short: recording(t, recorder.Binary, short), long: recording(t, recorder.Binary, long)}
	for _, mode := range []struct {
		name string
		args []string
	}{
		{"check", nil},
		{"what if", []string{"-set", "high_pressure_epochs=3"}},
		{"explain", []string{"-explain", "r1"}},
		{"plot", []string{"-plot", "plot.png"}},
		{"print", []string{"-print", "text"}},
		{"anonymise", []string{"-anonymise"}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			heap, took := map[int]uint64{}, map[int]time.Duration{}
			for _, n := range []int{short, long} {
				stop, begun := peak(), time.Now()
				status := run(append(mode.args, files[n]), nil, io.Discard, os.Stderr)
				took[n], heap[n] = time.Since(begun), stop()
				require.Zero(t, status)
			}
			t.Logf("%d and %d records: %v and %v, heap at most %d and %d KiB", short, long, took[short], took[long], heap[short]>>10, heap[long]>>10)
			assert.Less(t, heap[long], 2*heap[short]+16<<20, "ten times the records must not need more memory")
		})
	}
}

// BenchmarkReplay is the time for each record of a recording.
func BenchmarkReplay(b *testing.B) {
	file := recording(b, recorder.Binary, b.N)
	info, err := os.Stat(file)
	require.NoError(b, err)
	b.ReportMetric(float64(info.Size())/float64(b.N), "file-B/op")
	b.ResetTimer()
	require.Zero(b, run([]string{file}, nil, io.Discard, os.Stderr))
}
