package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// A recorded run is replayed: exactly, if its calls ran one at a time.
func TestRecordedDemo(t *testing.T) {
	for _, serial := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "demo.rec")
		args := []string{"demo", "-fabric", "sim", "-bytes", "32M", "-object", "8M", "-cooldown", "100ms", "-cooldown-cap", "200ms",
			"-probe-interval", "50ms", "-record", file}
		if serial {
			args = append(args, "-record-serial")
		}
		status, out, errs := engine(t, args...)
		require.Zero(t, status, "stderr: %s\nstdout: %s", errs, out)
		assert.Regexp(t, `Recorded: \d+ records, [0-9.]+ [KM]iB`, out)
		f, err := os.Open(file)
		require.NoError(t, err)
		in, err := scenario.NewReader(f)
		require.NoError(t, err)
		assert.Equal(t, scenario.Binary, in.Format())
		result, err := replay.Run(in, replay.Options{})
		require.NoError(t, err, "it is whole")
		require.NoError(t, f.Close())
		assert.Greater(t, result.Answers, int64(1000))
		assert.Zero(t, result.Lost)
		for _, m := range result.Mismatches[:min(len(result.Mismatches), 5)] {
			t.Error(m)
		}
		if serial {
			assert.Empty(t, result.Differences)
		}
	}
}

func TestRecordFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"-record-serial without -record":         {"demo", "-fabric", "sim", "-record-serial"},
		"in mode off there is nothing to record": {"demo", "-fabric", "sim", "-mode", "off", "-record", "x"},
		"flag provided but not defined: -record": {"serve", "-record", "x"},
	} {
		status, _, errs := engine(t, args...)
		assert.Equal(t, exitUsage, status)
		assert.Contains(t, errs, want)
	}
	status, _, errs := engine(t, "demo", "-fabric", "sim", "-record", filepath.Join(t.TempDir(), "none", "x"))
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, errs, "-record: open")
}
