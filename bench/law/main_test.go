package main

import (
	"bytes"
	"context"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"

	"github.com/rdmagate/rdmagate/bench/internal/chart"
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

// cutOff is a progress writer that interrupts when it sees a text.
type cutOff struct {
	text   string
	cancel func()
}

func (c cutOff) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.text)) {
		c.cancel()
	}
	return len(p), nil
}

// An interrupted run prints and writes what it has.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	folder := t.TempDir()
	var out bytes.Buffer
	args := []string{"-only", "^(mix/route-100|mix/route-10|herd/users)$", "-seeds", "3", "-arms", "none;static", "-out", folder}
	err := run(ctx, args, &out, cutOff{"mix/route-100: none, seed 2", cancel})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Contains(t, out.String(), "One seed.")
	assert.NotContains(t, out.String(), "mix/route-10:")
	assert.FileExists(t, filepath.Join(folder, "report.html"))
}

// The report has a table and plots for each experiment, and its page needs no other file.
func TestReport(t *testing.T) {
	folder := t.TempDir()
	args := []string{"-only", "^(mix/route-100|death/peer-light|repair/peer-long)$", "-seeds", "1", "-arms", "none;epoch", "-out", folder}
	require.NoError(t, run(context.Background(), args, io.Discard, io.Discard))
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(folder, "report.md"))
	require.NoError(t, err)
	sources := regexp.MustCompile(`(?:src|href)="([^"]{0,20})`).FindAllSubmatch(page, -1)
	assert.NotEmpty(t, sources)
	for _, m := range sources {
		assert.Regexp(t, "^(#|data:image/png)", string(m[1]))
	}
	assert.NotContains(t, string(page), "://")
	for _, name := range []string{"mix/route-100", "death/peer-light", "repair/peer-long"} {
		assert.Contains(t, string(page), `<h2 id="`+name+`">`)
		assert.Contains(t, string(text), "## "+name)
	}
	assert.Contains(t, string(text), "**missed**")
	links := regexp.MustCompile(`!\[[^]]*\]\(([^)]*)\)`).FindAllSubmatch(text, -1)
	assert.Len(t, links, 5, "three over time, two of states")
	for _, m := range links {
		f, err := os.Open(filepath.Join(folder, string(m[1])))
		require.NoError(t, err)
		_, err = png.DecodeConfig(f)
		assert.NoError(t, err, "%s", m[1])
		assert.NoError(t, f.Close())
	}
}

// What is missing is said to be missing, not met.
func TestCells(t *testing.T) {
	f := fabriclab.Figure{Name: "x", Goal: fabriclab.Goal{Sense: fabriclab.AtMost, Value: 2}}
	r := result{experiment: fabriclab.Experiment{Name: "a/b"}}
	for name, v := range map[string][]float64{"good": {1, 1}, "bad": {2, 3}, "mute": nil} {
		a := armResult{arm: fabriclab.Arm{Name: name}}
		for _, x := range v {
			a.runs = append(a.runs, fabriclab.Outcome{Values: map[string]float64{"x": x}})
		}
		r.arms = append(r.arms, a)
	}
	w := r.row(f, []string{"good", "bad", "mute", "absent"})
	assert.Equal(t, []cell{{"1", "", "met"}, {"2.500", "2 to 3", "missed"}, {"-", "", ""}, {"-", "", ""}}, w.Cells)
}

// Marks of an axis are round, in order, and on it.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		least, most float64
		log         bool
		want        []string
	}{
		{0, 10, false, []string{"0", "2", "4", "6", "8", "10"}},
		{0, 2.72, false, []string{"0", "0.5", "1", "1.5", "2", "2.5"}},
		{0, 95, false, []string{"0", "10", "20", "30", "40", "50", "60", "70", "80", "90"}},
		{0.3, 12, true, []string{"0.5", "1", "2", "5", "10"}},
		{0.3, 12000, true, []string{"1", "10", "100", "1000", "10000"}},
	} {
		var marker plot.Ticker = chart.Round{}
		if c.log {
			marker = chart.OneTwoFive{}
		}
		var got []string
		for _, tick := range marker.Ticks(c.least, c.most) {
			got = append(got, tick.Label)
		}
		assert.Equal(t, c.want, got)
	}
}

// The rest is as long as the runs so far were.
func TestRemaining(t *testing.T) {
	a, b := fabriclab.Experiment{Name: "a"}, fabriclab.Experiment{Name: "b"}
	o := &options{seeds: 3, arms: []fabriclab.Arm{fabriclab.None()}}
	p := newProgress(io.Discard, []fabriclab.Experiment{a, b}, o)
	assert.Zero(t, p.remaining())
	p.done(a, 2*time.Second)
	assert.Equal(t, 2*2*time.Second+3*2*time.Second, p.remaining())
	p.done(b, 10*time.Second)
	assert.Equal(t, 2*2*time.Second+2*10*time.Second, p.remaining())
}
