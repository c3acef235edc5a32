package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keys returns the keys of a package with this one file.
func keys(t *testing.T, text string) (all []string) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module one\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one.go"), []byte(text), 0o644))
	src, err := load(dir, ".")
	require.NoError(t, err)
	code, err := build(src)
	require.NoError(t, err)
	for _, m := range code.mutants {
		all = append(all, m.key.String())
	}
	return all
}

func TestKeysStayWhenOtherLinesChange(t *testing.T) {
	before := keys(t, `package one

func f(a, b int) bool {
	if a < 0 && a < b {
		return true
	}
	return a < 0 && a < b
}
`)
	after := keys(t, `package one

// A line more, and another function.
func g() {}

func f(a, b int) bool {
	g()

	if  a < 0  &&  a < b  {
		return true
	}
	return a < 0 && a < b
}
`)
	assert.Subset(t, after, before)
	assert.Len(t, after, len(before)+1, "g()")
	assert.Contains(t, before, "one.go :: f :: boundary #2 :: < → <= :: if a < 0 && a < b {")
	assert.Contains(t, before, "one.go :: f :: boundary #2 :: < → <= :: return a < 0 && a < b")
}
