package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	lab "github.com/rdmagate/rdmagate/internal/labcongestion"
)

// made is a report of made-up findings that went through JSON, as those of the guest do.
func made(t *testing.T) report {
	t.Helper()
	plan := defaultPlan()
	found := findings{Kernel: "6.1.0-test"}
	found.Steady = results(plan.steady())
	for _, law := range laws {
		setup := lab.LawArm(law, 1).Setup
		found.Follow = append(found.Follow, followed{setup, []phase{
			{lab.Phase{Mbit: 10, Stretch: stretch(9)}, stretch(9), 0},
			{lab.Phase{Mbit: 5, Stretch: stretch(4)}, stretch(4), 300 * time.Millisecond},
		}})
	}
	text, err := json.Marshal(found)
	require.NoError(t, err)
	rep := report{machine: machine.This(), plan: plan}
	require.NoError(t, json.Unmarshal(text, &rep.findings))
	return rep
}

// results gives the first arm 4 Mbit/s, the second 8, and so on.
func results(arms []lab.Arm) (all []lab.Result) {
	for i, a := range arms {
		s := stretch(float64(4 * (i + 1)))
		all = append(all, lab.Result{Arm: a, Rounds: []lab.Stretch{s, s}, Ramps: []lab.Stretch{s, s}})
	}
	return all
}

func stretch(mbit float64) lab.Stretch {
	s := lab.Stretch{
		Took: 2 * time.Second, GoodputMbit: mbit, MedianDelay: 40 * time.Millisecond,
	}
	for at := 50 * time.Millisecond; at < s.Took; at += 50 * time.Millisecond {
		s.Samples = append(s.Samples, lab.Sample{
			At: at, GoodputMbit: mbit, WindowBytes: 64 << 10, InFlightBytes: 60 << 10,
			MedianDelay: 40 * time.Millisecond, Drain: 41 * time.Millisecond,
		})
	}
	return s
}

func TestReportShowsRatiosAndSettings(t *testing.T) {
	text := made(t).markdown()
	for _, line := range []string{
		"| off | 4.00 | 4.00 to 4.00 | 0.083 | 40.0 ms | - |",
		"| static window of 32 slices | 48.00 | 48.00 to 48.00 | 1.000 | 40.0 ms | 41.0 ms |",
		"| round | 5 | 3.0 | 4.00 | 0.800 | 40.0 ms |",
	} {
		assert.Contains(t, text, line)
	}
	for _, setting := range []string{"seed 1", "6.1.0-test", "target drain 100ms", "law round, window 4 / 8 / 65536 KiB", "ACK timeout 1.0737s"} {
		assert.Contains(t, text, setting)
	}
}

// Every picture that the report names is there.
func TestReportFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	rep := made(t)
	require.NoError(t, rep.write(folder))
	text, err := os.ReadFile(filepath.Join(folder, "report.md"))
	require.NoError(t, err)
	assert.Equal(t, rep.markdown(), string(text))
	pictures := 0
	for _, part := range strings.Split(string(text), "![](")[1:] {
		name, _, _ := strings.Cut(part, ")")
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		assert.NotZero(t, info.Size(), "bytes of %s", name)
		pictures++
	}
	assert.Equal(t, 4, pictures)
}

func TestPlan(t *testing.T) {
	p := defaultPlan()
	require.NoError(t, p.check())
	p.Rounds = 0
	assert.ErrorContains(t, p.check(), "-rounds is 0")

	seen := map[string]bool{}
	for _, a := range p.steady() {
		assert.False(t, seen[a.Name], "two arms are named %q", a.Name)
		seen[a.Name] = true
		assert.Equal(t, senders, a.Setup.Senders, "the guest has NICs for %q", a.Name)
	}
}
