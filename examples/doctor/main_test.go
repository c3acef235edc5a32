package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the reports in testdata anew")

// trees are the made-up machines, and the flags that each is looked at with.
var trees = []struct {
	name string
	args string
	want int
}{
	{"mlx5", "-retry 7 -timeout 14 -rnr 6 -fan-in 64 -buffer 16777216 -peer testdata/mlx5-peer.json", exitWell},
	{"infiniband", "-retry 7 -timeout 18 -rnr 7", exitWrong},
	{"irdma", "-peer testdata/mlx5-peer.json", exitWrong},
	{"efa", "-fan-in 512 -buffer 16777216", exitWrong},
	{"container", "", exitWrong},
	{"empty", "", exitWrong},
	{"bad", "-peer testdata/rails-peer.json", exitWrong},
}

func runFor(t *testing.T, name string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, diag bytes.Buffer
	machine := func() *host { return loadTree(t, name).host() }
	status = run(args, nil, machine, &out, &diag)
	return status, out.String(), diag.String()
}

// The whole report of each machine, as people read it.
func TestReports(t *testing.T) {
	for _, tt := range trees {
		t.Run(tt.name, func(t *testing.T) {
			status, out, diag := runFor(t, tt.name, strings.Fields(tt.args)...)
			assert.Equal(t, tt.want, status)
			assert.Empty(t, diag)
			file := filepath.Join("testdata", tt.name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(out), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), out, "go test -update writes %s", file)
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				assert.LessOrEqual(t, utf8.RuneCountInString(line), width, "%q", line)
				assert.Equal(t, strings.TrimRight(line, " "), line)
			}
		})
	}
}

// What -json writes is the same, and -peer reads it.
func TestJSON(t *testing.T) {
	for _, tt := range trees {
		t.Run(tt.name, func(t *testing.T) {
			args := strings.Fields(tt.args)
			status, out, _ := runFor(t, tt.name, append(args, "-json")...)
			assert.Equal(t, tt.want, status)
			var d document
			require.NoError(t, json.Unmarshal([]byte(out), &d))
			_, text, _ := runFor(t, tt.name, args...)
			var again bytes.Buffer
			require.NoError(t, writeText(&again, d))
			assert.Equal(t, text, again.String(), "nothing is lost in JSON")

			file := filepath.Join(t.TempDir(), "peer.json")
			require.NoError(t, os.WriteFile(file, []byte(out), 0o644))
			ports, err := readPeer(file)
			require.NoError(t, err)
			assert.Equal(t, d.Ports, ports)
		})
	}
}

func TestOrder(t *testing.T) {
	_, out, _ := runFor(t, "irdma")
	last := -1
	for line := range strings.Lines(out) {
		for level, name := range []string{"FAULT ", "WARNING ", "NOTE ", "ok "} {
			if strings.HasPrefix(line, name) {
				assert.GreaterOrEqual(t, level, last, "worst first: %s", line)
				last = level
			}
		}
	}
	assert.Equal(t, int(OK), last)
}

func TestStatus(t *testing.T) {
	note := func(level Level) []Finding { return []Finding{{Level: OK}, {Level: level}} }
	assert.False(t, wrong(note(OK)))
	assert.False(t, wrong(note(Note)), "what is good to know is no problem")
	assert.True(t, wrong(note(Warning)))
	assert.True(t, wrong(note(Fault)))
}

func TestUsage(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, tt := range []struct{ args, want string }{
		{"-retry 8 -timeout 14", "-retry is 8, must be 0 to 7"},
		{"-retry -1 -timeout 14", "-retry is -1, must be 0 to 7"},
		{"-retry 7 -timeout 32", "-timeout is 32, must be 0 to 31"},
		{"-rnr 8", "-rnr is 8, must be 0 to 7"},
		{"-retry 7", "give both"},
		{"-timeout 14", "give both"},
		{"-fan-in 0 -buffer 1", "-fan-in is 0"},
		{"-fan-in 64", "give both"},
		{"-min-window 4096 -buffer 1", "give both"},
		{"-fan-in 1 -buffer 0", "-buffer is 0"},
		{"-fan-in 1 -buffer 1 -min-window 0", "-min-window is 0"},
		{"-register 0", "-register is 0"},
		{"-register many", "invalid value"},
		{"host-b.json", `unexpected argument "host-b.json"`},
		{"-peer=", "-peer names a file"},
		{"-sys=", "-sys a directory"},
		{"-peer " + missing, missing},
		{"-sys " + missing, missing},
		{"-sys testdata", "the directory stands for /sys"},
		{"-nonsense", "not defined"},
	} {
		status, out, diag := runFor(t, "mlx5", strings.Fields(tt.args)...)
		assert.Equal(t, exitUsage, status, tt.args)
		assert.Empty(t, out, tt.args)
		assert.Contains(t, diag, tt.want, tt.args)
	}
	status, _, diag := runFor(t, "mlx5", "-h")
	assert.Equal(t, exitWell, status)
	assert.Contains(t, diag, "retry_cnt of the QPs")
}

// Without flags the checks that need them are left out, and the report says so.
func TestSkipped(t *testing.T) {
	status, out, _ := runFor(t, "mlx5")
	assert.Equal(t, exitWell, status)
	one := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{"(-peer)", "(-retry, -timeout)", "(-rnr)", "(-fan-in, -buffer)"} {
		assert.Contains(t, one, want)
	}
	assert.NotContains(t, one, "(-sys)")
	_, out, _ = runFor(t, "mlx5", strings.Fields(trees[0].args)...)
	assert.NotContains(t, out, "not looked at")
	_, out, _ = runFor(t, "mlx5", strings.Fields("-retry 0 -timeout 14 -rnr 0")...)
	assert.NotContains(t, out, "retry (-", "0 is an answer")
	assert.NotContains(t, out, "time (-")
}

// A sysfs in a directory is looked at, and nothing else.
func TestSys(t *testing.T) {
	sys := t.TempDir()
	for name, text := range loadTree(t, "container") {
		if below, found := strings.CutPrefix(name, "sys/"); found {
			file := filepath.Join(sys, below)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	_, here, _ := runFor(t, "container")
	assert.Contains(t, here, "FAULT    device-node: mlx5_0")
	status, out, diag := runFor(t, "mlx5", "-sys", sys)
	assert.Equal(t, exitWrong, status)
	assert.Empty(t, diag)
	assert.Contains(t, out, "1 RDMA device: mlx5_0", "not the machine's")
	assert.Contains(t, out, "(-sys)")
	for _, name := range []string{"device-node", "libibverbs:", "memlock"} {
		assert.NotContains(t, out, name, "it is not of that machine")
	}
}

// The environment is the engine's.
func TestEnvironment(t *testing.T) {
	machine := func() *host { return loadTree(t, "mlx5").host() }
	for _, tt := range []struct {
		environ, args string
		want          int
		text          string
	}{
		{"MC_ADAPTIVE_CC_MIN_WINDOW_BYTES=4096", "-fan-in 64 -buffer 262144", exitWell, "64 windows of 4 KiB fit into 256 KiB"},
		{"MC_ADAPTIVE_CC_MIN_WINDOW_BYTES=4097", "-fan-in 64 -buffer 262144", exitWrong, "overrun a buffer of 262144 bytes"},
		{"MC_ADAPTIVE_CC_MIN_WINDOW_BYTES=4097", "-fan-in 64 -buffer 262144 -min-window 4096", exitWell, "64 windows of 4 KiB"},
		{"MC_ADAPTIVE_CC_COOLDOWN_MS=-1", "", exitWrong, "FAULT    settings"},
		{"MC_ADAPTIVE_CC_COOLDOWN_MS=1", "", exitWell, "0 faults"},
	} {
		var out, diag bytes.Buffer
		status := run(strings.Fields(tt.args), []string{tt.environ}, machine, &out, &diag)
		assert.Equal(t, tt.want, status, "%s", &out)
		assert.Contains(t, strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(tt.text), " "))
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestOutputFails(t *testing.T) {
	var diag bytes.Buffer
	status := run(nil, nil, func() *host { return loadTree(t, "mlx5").host() }, brokenPipe{}, &diag)
	assert.Equal(t, exitWrong, status, "a report that nobody saw is not well")
	assert.Contains(t, diag.String(), os.ErrClosed.Error())
}
