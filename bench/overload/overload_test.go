package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
)

// All cases at a small scale; but a pause table has one size, and takes its time.
func TestCases(t *testing.T) {
	for _, s := range scenarios() {
		if s.name == "pauses" && testing.Short() {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			var log bytes.Buffer
			c := s.check(0.01, &log)
			require.NoError(t, c.broken)
			assert.NotEmpty(t, c.figures)
			assert.Positive(t, c.rules)
			assert.Contains(t, log.String(), "all hold")
		})
	}
}

// A rule that does not hold ends its case, and the program, with case, rule and value.
func TestBrokenRule(t *testing.T) {
	after := false
	for _, tt := range []struct {
		want string
		run  func(c *check)
	}{
		{"x: nothing is lost: 3 of 4 left", func(c *check) { c.must(false, "nothing is lost", "%d of %d left", 3, 4) }},
		{"x: bytes of a thing: 1,500 B, must be at most 1,000 B", func(c *check) { c.atMost(1000, "bytes of a thing", 1500, weight) }},
		{"x: what goes on: 0.10, must be at least 0.50", func(c *check) { c.atLeast(0.5, "what goes on", 0.1, ratio) }},
		{"x: things of 2: 7, must be 8", func(c *check) { equal(c, 8, 7, "things of %d", 2) }},
		{"x: heap: 106.0%, must be at most 105.0%", func(c *check) { c.flat("heap", 1<<30, 1.06*(1<<30)) }},
		{"x: Renew works: oh", func(c *check) { c.works(assert.AnError, "Renew") }},
	} {
		var log bytes.Buffer
		c := scenario{"x", "a case", func(c *check) { tt.run(c); after = true }}.check(1, &log)
		require.Error(t, c.broken)
		if !strings.HasSuffix(tt.want, "oh") {
			assert.EqualError(t, c.broken, tt.want)
		} else {
			assert.ErrorContains(t, c.broken, "x: Renew works: ")
		}
		assert.Contains(t, log.String(), "BROKEN")
		assert.ErrorContains(t, report{results: []*check{c}}.broken(), c.broken.Error())
	}
	assert.False(t, after, "a case goes on after a rule that was broken")
}

func TestReport(t *testing.T) {
	c := scenario{"things", "many things", func(c *check) {
		c.shows("things", 1234567, count)
		c.atMost(640, "bytes of a thing", 512, weight)
		c.atMost(36, "time until a thing is back", 35.95, seconds)
		c.atLeast(0.05, "what goes on", 0.5, ratio)
		c.draws(series{"things", "heap", "things", "MiB", []point{{1, 2}, {2, 2}}})
	}}.check(1, &bytes.Buffer{})
	require.NoError(t, c.broken)
	rep := report{machine: machine.This(), scale: 1, results: []*check{c}}
	folder := t.TempDir()
	require.NoError(t, rep.write(folder))
	got, err := os.ReadFile(filepath.Join(folder, "report.md"))
	require.NoError(t, err)
	for _, want := range []string{
		"| things | things | 1,234,567 |  |", "| things | bytes of a thing | 512 B | <= 640 B |",
		"| things | time until a thing is back | 35.95s | <= 36s |", "| things | what goes on | 0.50 | >= 0.05 |",
		"3 rules of 1 cases held, at scale 1.", "![things](things.png)",
	} {
		assert.Contains(t, string(got), want)
	}
	for _, file := range []string{"things", "memory", "recovery", "ratios"} {
		assert.FileExists(t, filepath.Join(folder, file+".png"))
	}
	assert.Regexp(t, regexp.MustCompile(`things +bytes of a thing +512 B +<= 640 B`), rep.text())
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-scale", "0"}, {"-scale", "NaN"}, {"-scale", "11"}, {"-only", "("}, {"extra"}, {"-what"}} {
		_, err := parse(args, &bytes.Buffer{})
		assert.Error(t, err, "%v", args)
	}
	assert.ErrorContains(t, run([]string{"-only", "nothing like that"}, &bytes.Buffer{}, &bytes.Buffer{}), "matches no case")
	o, err := parse([]string{"-only", "^task$", "-scale", "0.5"}, &bytes.Buffer{})
	require.NoError(t, err)
	assert.Equal(t, 0.5, o.scale)
	assert.True(t, o.only.MatchString("task"))
}

func TestUnits(t *testing.T) {
	for want, got := range map[string]string{
		"0": count.text(0), "999": count.text(999), "1,000": count.text(1000), "-1,234,567": count.text(-1234567), "-123": count.text(-123),
		"1,023 B": weight.text(1023), "1.5 MiB": weight.text(1.5 * (1 << 20)), "2.00": ratio.text(2), "1.25s": seconds.text(1.25), "5.0%": percent.text(5),
	} {
		assert.Equal(t, want, got)
	}
}
