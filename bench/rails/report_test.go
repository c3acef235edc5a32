package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/twohost"
)

func steps() []step {
	lesson := twohost.Lesson{
		Path: twohost.Path{Local: "rxa0", Remote: "rxb0"}, Rounds: 2, Slices: 5, After: 1,
		First: time.Second, Last: 2 * time.Second, Paused: 6, PausedAt: time.Second,
	}
	return []step{
		{Name: "wire/write", Wire: &wire{Op: "write", Numbers: twohost.DefaultNumbers(), Nominal: time.Second, Retry: 1100 * time.Millisecond, Rate: 9e6, Streams: 3, Bytes: 480 << 10}},
		{Name: "alone/write", Result: &twohost.Result{
			Arm: "alone", Op: "write", Duration: 10 * time.Second, Transfers: 100, Stalled: 7, Slow: 1, Builds: 12, Longest: 3 * time.Second,
			Bandwidth: 4e6, Late: 5e6, Dead: []twohost.Lesson{lesson}, LastError: 2 * time.Second,
			Bucket: 5 * time.Second, Goodput: []float64{3e6, 5e6}, Failures: []time.Duration{time.Second},
		}, Fault: "too slow"},
		{Name: "compare/read", Compare: &twohost.Comparison{
			Op: "read", Arms: [2]string{"ours", "file"}, Rates: [2][]float64{{9e6, 8e6}, {8e6, 9e6}},
		}},
		{Name: "repair/read", Repair: &twohost.Repair{Op: "read", Interval: 6 * time.Second, Pairs: []twohost.Repaired{{User: 3 * time.Second}}}},
		{Name: "flap/rxb2/read", Flap: &twohost.Flap{Link: "rxb2", Op: "read", Down: 5 * time.Second, Up: 2 * time.Second, Stalled: []int{4, 0, 1}, Failed: []int{9, 0, 1}, Paused: []int{4, 0, 0}, Back: []int{0, 3, 0}, Unbuilt: []int{5, 1, 0}, Why: "port down"}},
	}
}

func TestReport(t *testing.T) {
	// Steps come from the guest as JSON.
	text, err := json.Marshal(steps())
	require.NoError(t, err)
	var list []step
	require.NoError(t, json.Unmarshal(text, &list))
	require.Equal(t, steps(), list)

	folder := t.TempDir()
	rep := report{steps: list}
	require.NoError(t, rep.write(folder))
	got, err := os.ReadFile(filepath.Join(folder, "report.md"))
	require.NoError(t, err)
	for _, want := range []string{
		"| write | 1.00 s | 1.10 s | 9.00 MB/s | 3 transfers of 480 KiB at once, in slices of 8 KiB |",
		"| write | 4.00 MB/s | 5.00 MB/s | 7 of 100, longest 3.00 s; 1 slow without a loss | 2, 2 | 5, 1 | 2.00 s of 10.00 s | 1, 6 | 0 | 12 |",
		"| ours, file | read | 8.50 MB/s | 8.50 MB/s | 100.0% +- 23.5 | 1.12 0.89 |",
		"3.00 s = 0.50 intervals",
		"| rxb2 | read | 5s, 2s | 2 of 3 | [4 0 1] | [9 0 1] | [4 0 0] | [0 3 0] | [5 1 0] | port down |",
		"alone/write: too slow",
	} {
		assert.Contains(t, string(got), want)
	}
	assert.FileExists(t, filepath.Join(folder, "goodput.png"))
	assert.ErrorContains(t, rep.faults(), "too slow")
	assert.NotContains(t, report{steps: list[2:]}.table(), "Arm |", "tables without rows are left out")
}

func TestParseRefusesNonsense(t *testing.T) {
	for _, args := range [][]string{{"-only", "("}, {"-retry", "7"}, {"-slices", "7"}, {"-run", "1ms"}, {"extra"}} {
		_, err := parse(args, os.Stderr)
		assert.Error(t, err, "%v", args)
	}
	o, err := parse(nil, os.Stderr)
	require.NoError(t, err)
	assert.Greater(t, o.numbers.ProbeInterval, 5*o.numbers.ProbeTimeout(), "a failing probe is to take at most a fifth of the interval")
}
