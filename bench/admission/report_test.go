package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fixed is a report of two scenarios with made-up times.
func fixed() *report {
	list := []scenario{
		{kind: floor, note: "the floor", Scenario: measure.Scenario{Name: floorCAS}},
		{kind: ours, note: "the life of a permit", Scenario: measure.Scenario{Name: oursEnforce}},
	}
	return newReport(list, []measure.Result{{Name: floorCAS, NsPerOp: 20}, {Name: oursEnforce, NsPerOp: 25, AllocsPerOp: 0}})
}

func TestReportShowsRatios(t *testing.T) {
	var table bytes.Buffer
	fixed().table(&table)
	assert.Regexp(t, `25\.00 +1\.25 +0\.00 +rdmagate: permit, enforce`, table.String(), "a line of the table")
	assert.Contains(t, fixed().markdown(), "| rdmagate: permit, enforce | 25.00 | 1.25 | 0.00 | the life of a permit |")
}

func TestReportFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	require.NoError(t, fixed().write(folder))
	for _, name := range []string{"report.md", "report.svg"} {
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		assert.NotZero(t, info.Size(), "bytes of %s", name)
	}
}

func TestScenarioNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios() {
		assert.False(t, seen[s.Name], "two scenarios are named %q", s.Name)
		assert.NotEmpty(t, s.note, "what %q is", s.Name)
		seen[s.Name] = true
	}
}
