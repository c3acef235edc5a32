package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/each.txt")

// Package each has a mutation point of each kind. Each mutant there, what its function
// returns, and what it would return without it.
func TestEachMutatorDoesWhatItSays(t *testing.T) {
	src, err := load(".", "./testdata/each")
	require.NoError(t, err)
	code, err := build(src)
	require.NoError(t, err)
	s, err := compile(context.Background(), ".", t.TempDir(), code, suiteSpec{pkg: "./testdata/each"})
	require.NoError(t, err)
	usual := shown(t, s, nil)
	var b strings.Builder
	for _, m := range code.mutants {
		now := shown(t, s, m)
		for _, function := range sortedKeys(usual) {
			if other := now[function]; function != m.key.function && other != "" && other != usual[function] {
				fmt.Fprintf(&b, "(%s changes too) ", function)
			}
		}
		before, after := m.diff()
		fmt.Fprintf(&b, "%s %s, %s\n\t- %s\n\t+ %s\n\t%s, not%s\n", m.key.function, m.key.mutator, m.key.change, before, after,
			now[m.key.function], usual[m.key.function])
	}
	for _, m := range code.broken {
		fmt.Fprintf(&b, "does not compile: %s %s, %s\n", m.key.function, m.key.mutator, m.key.change)
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/each.txt", []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/each.txt")
	require.NoError(t, err)
	was, is := strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")
	for i := range min(len(was), len(is)) {
		require.Equal(t, was[i], is[i], "line %d", i+1)
	}
	assert.Len(t, is, len(was))
}

// shown returns what the functions of package each return as a mutant, by name. If the
// process ends it is that of its own function that ended it.
func shown(t *testing.T, s *suite, m *mutant) map[string]string {
	id := 0
	if m != nil {
		id = m.id
	}
	cmd := exec.Command(s.binary, "-test.run", "TestShow")
	cmd.Env = append(os.Environ(), "ZZ_MUTANT="+strconv.Itoa(id))
	out, err := cmd.CombinedOutput()
	results := map[string]string{}
	if m == nil {
		require.NoError(t, err, string(out))
	} else if err != nil {
		results[m.key.function] = " the process ends"
	}
	for line := range strings.Lines(string(out)) {
		if name, result, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ":"); ok {
			results[name] = result
		}
	}
	return results
}
