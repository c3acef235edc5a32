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

	"github.com/rdmagate/rdmagate/cc/recorder"
)

const outage = "testdata/outage.scenario"

// wrong is a scenario of which one expectation does not come true.
const wrong = "scenario 1\nroute r D1 P n1\nrenew r\nacquire p r 4KiB -> defer\nunposted p\n"

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		name, stdin    string
		args           []string
		status         int
		stdout, stderr string
	}{
		{"as expected", "", []string{outage}, 0, "outage.scenario: ok, 25 statements, 6 answers compared\n", ""},
		{"several", wrong, []string{outage, "-"}, 1, "outage.scenario: ok", ""},
		{"mismatch", wrong, []string{"-"}, 1,
			"standard input:4: at 0s: acquire p r 4KiB -> defer\n  expected  p: defer\n  got       p: admit\nstandard input: FAILED: 1 of 1 answers are not as expected, 4 statements\n", ""},
		{"cannot be run", "scenario 1\nroute r D1 P n1\nacquire p s\n", []string{"-"}, 1, "standard input:3: at 0s: acquire p s\n  no route is called \"s\"", ""},
		{"at the end", "scenario 1\nroute r D1 P n1\nrenew r\nsend p r\n", []string{"-"}, 1, "at the end\n  expected  permit p", ""},
		{"nothing expected", "scenario 1\nadvance 1s\n", []string{"-"}, 0, "ok, 1 statement, nothing was expected", ""},
		{"no file", "", nil, 2, "", "no FILE is given"},
		{"help", "", []string{"-h"}, 0, "", "usage: replay"},
		{"missing file", "", []string{"testdata/none"}, 2, "", "cannot read FILE: open testdata/none"},
		{"folder", "", []string{"testdata"}, 2, "", "testdata is a folder"},
		{"no scenario", "hello\n", []string{"-"}, 2, "", `the first line is "hello", must be "scenario 1"`},
		{"faults", "scenario 1\nrout r D1 P n1\nadvance 1q\n", []string{"-"}, 2, "", "standard input: line 2, column 1: \"rout\" is no statement; did you mean \"route\"?\nstandard input: line 3"},
		{"unknown flag", "", []string{"-explai", "r", outage}, 2, "", `flag -explai is unknown; did you mean "explain"?`},
		{"flag behind a file", "", []string{outage, "-v"}, 2, "", "flags come before files"},
		{"field", "", []string{"-set", "hard_eror_threshold=3", outage}, 2, "", `-set hard_eror_threshold=3: "hard_eror_threshold" is no argument of set; did you mean "hard_error_threshold"?`},
		{"word", "", []string{"-mode", "observ", outage}, 2, "", `did you mean "observe"?`},
		{"worker", "", []string{"-set", "worker=w cooldown=1s", outage}, 2, "", "it is set for all workers"},
		{"nothing set", "", []string{"-set", " ", outage}, 2, "", "it is field=value"},
		{"wrong configuration", "", []string{"-set", "min_window_bytes=8MiB", outage}, 2, "", "MinWindowBytes is 8388608, must not be above"},
		{"two files", "", []string{"-law", "round", outage, outage}, 2, "", "2 files: only one goes with these flags"},
		{"two modes", "", []string{"-explain", "r", "-plot", "x.png", outage}, 2, "", "-explain and -plot do not go together"},
		{"flag of another mode", "", []string{"-key", "k", outage}, 2, "", "-key has no meaning here"},
		{"set and print", "", []string{"-set", "cooldown=1s", "-print", "text", outage}, 2, "", "do not go with -print"},
		{"extension", "", []string{"-plot", "x.gif", outage}, 2, "", `-plot "x.gif": the name must end in .png or .svg`},
		{"no picture", "", []string{"-plot", outage}, 2, "", "-plot testdata/outage.scenario: the name of the picture is missing; call replay -plot PICTURE.png testdata/outage.scenario\n"},
		{"missing picture and file", "", []string{"-plot", "x.png"}, 2, "", "no FILE is given"},
		{"form", "", []string{"-print", "json", outage}, 2, "", `-print "json": must be text or binary`},
		{"places", "", []string{"-n", "0", outage}, 2, "", "-n 0: must be 1 or more"},
		{"route", "", []string{"-explain", "main-pth", outage}, 2, "", `did you mean "main-path"?`},
		{"pair", "", []string{"-explain", "mlx5_0:1->host-b/mlx5_4", outage}, 2, "", `did you mean "mlx5_0:1->host-b/mlx5_3"?`},
		{"case of a file without", "", []string{"-case", "x", "-explain", "main-path", outage}, 2, "", "has no cases; leave the flag out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, stdout, stderr := call(t, c.stdin, c.args...)
			assert.Equal(t, c.status, status, "%s%s", stdout, stderr)
			assert.Contains(t, stdout, c.stdout)
			assert.Contains(t, stderr, c.stderr)
			if c.stderr == "" {
				assert.Empty(t, stderr)
			}
		})
	}
}

// What people read, as it is.
func TestOutputs(t *testing.T) {
	for name, args := range map[string][]string{
		"trace.golden":    {"-v", outage},
		"whatif.golden":   {"-set", "hard_error_threshold=4", "-n", "4", outage},
		"observe.golden":  {"-mode", "observe", "-explain", "mlx5_0:1->host-b/mlx5_3", outage},
		"explain.golden":  {"-explain", "main-path", outage},
		"ring.golden":     {"-explain", "r1", "testdata/ring.scenario"},
		"law.golden":      {"-law", "epoch", "testdata/ring.scenario"},
		"cases.golden":    {"-explain", "r", "testdata/cases.scenario"},
		"one-case.golden": {"-case", "a port", "-set", "cooldown=10s", "testdata/cases.scenario"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := call(t, "", args...)
			assert.Zero(t, status)
			assert.Empty(t, stderr)
			golden(t, name, stdout)
		})
	}
}

// A time that is told stands in the file, also in one that begins in the middle.
func TestTimesAreThoseOfTheFile(t *testing.T) {
	const ring = "testdata/ring.scenario"
	text, err := os.ReadFile(ring)
	require.NoError(t, err)
	picture := filepath.Join(t.TempDir(), "ring.svg")
	moment := regexp.MustCompile(`(?m)^ *(?:\d+ +)?(\d[\d.]*s)  | at (\d[\d.]*s):`)
	for _, args := range [][]string{{"-explain", "r1"}, {"-v"}, {"-set", "cooldown=4s"}} {
		_, stdout, _ := call(t, "", append(args, ring)...)
		found := moment.FindAllStringSubmatch(stdout, -1)
		assert.Greater(t, len(found), 4, stdout)
		for _, m := range found {
			assert.Contains(t, string(text), "@"+m[1]+m[2]+" ", "%s: %s", args, m[0])
		}
	}
	status, _, stderr := call(t, "", "-plot", picture, ring)
	require.Zero(t, status, stderr)
	drawn, err := os.ReadFile(picture)
	require.NoError(t, err)
	assert.Contains(t, string(drawn), ">18001.0</text>")
	assert.NotContains(t, string(drawn), ">0.5</text>")
}

// A peer that refuses an endpoint confirms a suspicion: no failure in a row, and no probe.
func TestUnreachable(t *testing.T) {
	_, stdout, _ := call(t, "scenario 1\nroute r D1 P n1\nrenew r\ntransfer p r 4KiB RETRY_EXC_ERR\nunreachable r\n", "-explain", "r", "-")
	assert.Contains(t, stdout, "No endpoint could be built, ")
	assert.Contains(t, stdout, ", which counts as a probe that failed: it is QUARANTINED for 30s.")
	assert.NotContains(t, stdout, "in a row")
}

// The same from the standard input, which is read more than once.
func TestStandardInput(t *testing.T) {
	text, err := os.ReadFile(outage)
	require.NoError(t, err)
	_, want, _ := call(t, "", "-explain", "main-path", outage)
	status, got, _ := call(t, string(text), "-explain", "main-path", "-")
	assert.Zero(t, status)
	assert.Equal(t, strings.ReplaceAll(want, outage, "standard input"), got)
}

// Text to binary and back is the same text, and both are run alike.
func TestPrint(t *testing.T) {
	text, err := os.ReadFile(outage)
	require.NoError(t, err)
	_, binary, _ := call(t, "", "-print", "binary", outage)
	assert.True(t, strings.HasPrefix(binary, "RGSCEN"))
	status, back, _ := call(t, binary, "-print", "text", "-")
	assert.Zero(t, status)
	assert.Equal(t, string(text), back)
	status, stdout, _ := call(t, binary, "-")
	assert.Zero(t, status)
	assert.Contains(t, stdout, "ok, 25 statements, 6 answers compared")
}

// A recording is answered as it was; where it is cut off or damaged, what came before is
// used, and the status says that it is not all.
func TestRecordings(t *testing.T) {
	file := recording(t, recorder.Binary, 20_000)
	status, stdout, _ := call(t, "", file)
	assert.Zero(t, status)
	assert.Contains(t, stdout, "answers compared")
	assert.Contains(t, stdout, ": ok, ")

	status, stdout, _ = call(t, "", "-set", "hard_error_threshold=1", "-n", "2", file)
	assert.Zero(t, status)
	assert.Contains(t, stdout, "time QUARANTINED")
	assert.Contains(t, stdout, "of which these are the first 2:")
	assert.Contains(t, stdout, "The original runs as the file says")

	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	damage := bytes.Clone(whole)
	damage[len(damage)*3/4] ^= 0x55
	for name, bad := range map[string][]byte{"cut off": whole[:len(whole)/2], "damaged": damage} {
		at := filepath.Join(t.TempDir(), "bad.rec")
		require.NoError(t, os.WriteFile(at, bad, 0o644))
		for _, args := range [][]string{{at}, {"-explain", "r1", at}, {"-set", "cooldown=1s", at}, {"-print", "text", at}, {"-anonymise", at}, {"-plot", at + ".png", at}} {
			status, stdout, stderr := call(t, "", args...)
			assert.Equal(t, exitMismatch, status, "%s: %s", name, args)
			assert.NotEmpty(t, stdout, "%s: %s", name, args)
			assert.Contains(t, stderr, "damage in the block at byte", "%s: %s", name, args)
		}
	}

	// A changed answer is found, and told with the number of its statement.
	_, text, _ := call(t, "", "-print", "text", file)
	changed := strings.Replace(text, "-> ended+released", "-> ended", 1)
	require.NotEqual(t, text, changed)
	status, stdout, _ = call(t, changed, "-")
	assert.Equal(t, exitMismatch, status)
	assert.Contains(t, stdout, "expected  p")
	assert.Contains(t, stdout, "got       p")
}
