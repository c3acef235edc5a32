package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// engine runs the program and returns its status and output.
func engine(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestDemoOnTheSimulatedFabric(t *testing.T) {
	status, out, errs := engine(t, "demo", "-fabric", "sim", "-bytes", "64M", "-object", "8M",
		"-cooldown", "100ms", "-cooldown-cap", "200ms", "-probe-interval", "50ms")
	require.Zero(t, status, "stderr: %s\nstdout: %s", errs, out)
	first, _, _ := strings.Cut(out, "\n")
	assert.Equal(t, "Fabric: simulated fabric in this process (asked for): no RDMA is used", first, "the first line must say which fabric it is")
	for _, want := range []string{
		"Admission: enforce, cooldown 100ms to 200ms, probe 50ms, target drain 20ms\n",
		"ROUTE", "STATE", "WINDOW", "IN FLIGHT", "RATE", "DRAIN",
		"--- sima0 -> simb0 is blocked now", "--- sima0 -> simb0 is unblocked again",
		"128.0 MiB compared by checksum", "transfers  16, of them 0 failed",
		"2048 Success", "RouteTimeout", "sima0 -> simb0 was blocked for",
		"  states  ", "-> QUARANTINED  ", "  probes     ",
		"0 bytes on 2 devices and 4 routes: every permit came back",
	} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, "\x1b", "what is no terminal must get plain lines")
	for line := range strings.SplitSeq(out, "\n") {
		if !strings.HasPrefix(line, "  ") { // the summary wraps by itself
			assert.LessOrEqual(t, len(line), 80, "line %q", line)
		}
	}
}

// Each simulated host has an IPv4 /24 network of its own.
func TestSubnetsLeaveNoPath(t *testing.T) {
	status, _, errs := engine(t, "demo", "-fabric", "sim", "-prefix", "24")
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, errs, `no pair of NICs may be used: "host-b": 0 of 4 pairs may be used; other subnet: 4; sima0 to simb0: other subnet: local in 10.0.1.0/24, remote in 10.0.2.0/24`)
}

func TestRailFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rails.json")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write(`{"all": [{"local": "sima1", "remote": "simb0"}]}`)
	status, out, errs := engine(t, "demo", "-fabric", "sim", "-bytes", "8M", "-object", "4M", "-fault=false", "-rails", file, "-prefix", "24")
	require.Zero(t, status, errs)
	assert.Contains(t, out, "0 bytes on 1 devices and 1 routes", "the file pins the one rail, and overrules the prefix")

	write(`{"all": [{"local": "sima7", "remote": "simb0"}]}`)
	status, _, errs = engine(t, "demo", "-fabric", "sim", "-rails", file)
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, errs, "not in the rail file: 4")
	assert.Contains(t, errs, `no local NIC is named "sima7"`)

	write(`{"all": []}`)
	status, _, errs = engine(t, "demo", "-fabric", "sim", "-rails", file)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, errs, `"all" has no pair`)
}

func TestDemoIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &cancelAt{text: "ROUTE", cancel: cancel}
	var errs bytes.Buffer
	status := run(ctx, []string{"demo", "-fabric", "sim", "-bytes", "1G"}, out, &errs)
	assert.Equal(t, exitFailed, status, "an interrupted run has not moved everything")
	assert.Contains(t, out.String(), "every permit came back", "also after an interrupt")
	assert.Contains(t, errs.String(), "context canceled")
}

// cancelAt cancels a context when a text was written.
type cancelAt struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (c *cancelAt) Write(p []byte) (int, error) {
	n, err := c.Buffer.Write(p)
	if strings.Contains(string(p), c.text) {
		c.cancel()
	}
	return n, err
}

func TestBadCommandLines(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"no command", nil, "usage: engine command"},
		{"unknown command", []string{"fly"}, `command "fly" is unknown`},
		{"unknown flag", []string{"demo", "-speed", "9"}, "flag provided but not defined: -speed"},
		{"an argument", []string{"demo", "sim"}, `unexpected argument "sim"`},
		{"unknown fabric", []string{"demo", "-fabric", "tcp"}, `-fabric "tcp" is unknown; use auto, verbs or sim`},
		{"unknown mode, before a fabric is set up", []string{"demo", "-mode", "on"}, `mode "on" is unknown; use off, observe or enforce`},
		{"no window", []string{"demo", "-window", "0"}, "-window 0 -max-window"},
		{"redraw or not", []string{"demo", "-fabric", "sim", "-live", "maybe"}, `-live "maybe" is unknown`},
		{"an incast on another fabric", []string{"demo", "-incast", "2"}, "-incast and -buffer are for -fabric sim"},
		{"an incast of too many", []string{"demo", "-fabric", "sim", "-incast", "65"}, "-incast 65: must be 0 to 64"},
		{"a buffer of no packet", []string{"demo", "-fabric", "sim", "-buffer", "1K"}, "-buffer 1024: must be 0, or 16K to 1G"},
		{"NICs of the simulated fabric", []string{"demo", "-fabric", "sim", "-nics", "mlx5_0"}, "-nics mlx5_0: the simulated fabric has NICs of its own"},
		{"unknown mode", []string{"demo", "-fabric", "sim", "-mode", "on"}, `mode "on" is unknown; use off, observe or enforce`},
		{"no size", []string{"demo", "-bytes", "-5M"}, `"-5M" is no number of bytes`},
		{"size that overflows", []string{"demo", "-bytes", "9999999999G"}, `"9999999999G" is no number of bytes`},
		{"more bytes than a demonstration moves", []string{"demo", "-fabric", "sim", "-bytes", "4096G"}, "-bytes 4398046511104: must be at most 1099511627776"},
		{"bytes and objects that overflow", []string{"demo", "-fabric", "sim", "-bytes", "4611686018427387904", "-object", "4611686018427387904"}, "must be at most 1099511627776"},
		{"objects beyond memory", []string{"demo", "-fabric", "sim", "-object", "4096G"}, "may have 1073741824 bytes (1.0 GiB) together"},
		{"a cooldown above its cap", []string{"demo", "-fabric", "sim", "-cooldown", "3s", "-cooldown-cap", "1s"}, "Cooldown is 3s, must not be above CooldownCap"},
		{"objects of no bytes", []string{"demo", "-fabric", "sim", "-object", "0"}, "-object 0"},
		{"slices of no bytes", []string{"demo", "-fabric", "sim", "-slice", "0"}, "SliceBytes is 0"},
		{"window above the maximum", []string{"demo", "-fabric", "sim", "-window", "1G"}, "-window 1073741824 -max-window 67108864"},
		{"a prefix of too many bits", []string{"demo", "-prefix", "33"}, "-prefix 33 -prefix6 0"},
		{"a rail file that is not there", []string{"put", "-rails", "/nowhere"}, "-rails: open /nowhere"},
		{"timeout code", []string{"demo", "-ack-timeout", "32"}, "-ack-timeout 32"},
		{"two processes on the simulated fabric", []string{"put", "-fabric", "sim"}, "the simulated fabric lives inside one process"},
	} {
		status, _, errs := engine(t, tc.args...)
		assert.Equal(t, exitUsage, status, tc.name)
		assert.Contains(t, errs, tc.want, tc.name)
	}
}

func TestHelp(t *testing.T) {
	for _, ask := range []string{"help", "-h", "-help", "--help"} {
		status, out, errs := engine(t, ask)
		assert.Zero(t, status, ask)
		assert.Equal(t, usage, out, ask)
		assert.Empty(t, errs, "who asks for help made no mistake: %s", ask)
	}
	for _, command := range []string{"demo", "serve", "put", "get"} {
		status, _, errs := engine(t, command, "-h")
		assert.Zero(t, status, command)
		assert.Contains(t, errs, "-fabric kind", command)
	}
}
