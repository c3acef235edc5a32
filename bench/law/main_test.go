package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// A small experiment comes out as a table that says which arm missed the goal.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), []string{"-only", "^dcqcn/10$", "-seeds", "2", "-arms", "none;epoch,start=64KiB"}, &out, io.Discard))
	var none, epoch []string
	for line := range strings.Lines(out.String()) {
		if f := strings.Fields(line); strings.HasPrefix(line, "  queue, peak") {
			if f[4] == "none" {
				none = f
			} else {
				epoch = f
			}
		}
	}
	require.NotEmpty(t, none, out.String())
	require.NotEmpty(t, epoch, out.String())
	assert.Equal(t, "missed", none[len(none)-1])
	assert.NotEqual(t, "missed", epoch[len(epoch)-1])
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-only", "("}, {"-only", "nothing"}, {"-arms", "fast"}, {"-seeds", "0"}, {"x"}} {
		assert.Error(t, run(context.Background(), args, io.Discard, io.Discard), "%q", args)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, run(stopped, []string{"-only", "^dcqcn"}, io.Discard, io.Discard), context.Canceled)
}

func TestSpread(t *testing.T) {
	a := armResult{}
	_, ok := a.spread("x")
	assert.False(t, ok)
	for _, v := range []float64{4, 1, 3, 2} {
		a.runs = append(a.runs, fabriclab.Outcome{Values: map[string]float64{"x": v}})
	}
	s, ok := a.spread("x")
	assert.True(t, ok)
	assert.Equal(t, spread{2.5, 1, 4}, s)
}

func TestArmsAreSeparated(t *testing.T) {
	assert.Equal(t, []string{"none", "static"}, split("none,static"))
	assert.Equal(t, []string{"round,start=64KiB"}, split("round,start=64KiB"))
	assert.Equal(t, []string{"none", "round,start=64KiB"}, split("none;round,start=64KiB"))
}
