package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func written(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "list.txt")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

func TestReasonHoldsForTheKeysBeforeIt(t *testing.T) {
	r, err := readReasons(written(t, `# a comment
a.go :: f :: boundary :: < → <= :: if a < b {
a.go :: f :: boundary #2 :: < → <= :: if a < b {
	Both ways
	give the same.

b.go :: g :: arithmetic :: & → | :: x := a & b || c :: d
	Another one.
`))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"a.go :: f :: boundary :: < → <= :: if a < b {":            "Both ways give the same.",
		"a.go :: f :: boundary #2 :: < → <= :: if a < b {":         "Both ways give the same.",
		"b.go :: g :: arithmetic :: & → | :: x := a & b || c :: d": "Another one.",
	}, r.why)
}

func TestReasonsThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"no reason":            "a.go :: f\n",
		"a reason for nothing": "\tBecause.\n",
		"twice":                "a.go :: f\n\tBecause.\na.go :: f\n\tAgain.\n",
	} {
		_, err := readReasons(written(t, text))
		assert.ErrorContains(t, err, name, name)
	}
	r, err := readReasons("no such file")
	require.NoError(t, err)
	assert.Empty(t, r.why, "a package without a list")
}

// The lists cannot rot: an entry must name a mutant, and an equivalent one cannot die.
func TestReasonsAreHeldAgainstTheRun(t *testing.T) {
	alive, dead := &mutant{key: key{file: "alive.go"}}, &mutant{key: key{file: "dead.go"}}
	outcomes := map[*mutant]outcome{alive: {fate: survived}, dead: {killed, "TestIt"}}
	r := &reasons{file: "list", why: map[string]string{alive.key.String(): "so", dead.key.String(): "so", "gone": "so"}}
	faults := r.faults([]*mutant{alive, dead}, outcomes, false)
	require.Len(t, faults, 2)
	assert.Contains(t, faults[0], "killed by TestIt")
	assert.Contains(t, faults[1], "no such mutant: gone")
	assert.Len(t, r.faults([]*mutant{alive, dead}, outcomes, true), 1, "one that a race may kill")
}
