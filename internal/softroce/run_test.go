//go:build linux

package softroce

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rig runs commands in a guest that the test binary plays.
type rig struct {
	config         Config
	stdout, stderr bytes.Buffer
	progress       bytes.Buffer
	pidFile        string
}

func newRig(t *testing.T, behaviour string) *rig {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	r := &rig{pidFile: filepath.Join(t.TempDir(), "pid")}
	r.config = Config{Agent: "/bin/agent", QEMU: self, Progress: &r.progress}
	t.Setenv(fakeEmulator, behaviour)
	t.Setenv("SOFTROCE_FAKE_PID", r.pidFile)
	return r
}

func (r *rig) run(ctx context.Context, t *testing.T, args ...string) (int, error) {
	t.Helper()
	// The commands of the tests are no emulators.
	env := append(os.Environ(), fakeEmulator+"=", "WORD=from the environment")
	command := Command{Args: args, Dir: t.TempDir(), Env: env}
	status, err := Run(ctx, r.config, Image{Kernel: "k", Initramfs: "i"}, command, &r.stdout, &r.stderr)
	r.expectGone(t)
	return status, err
}

// expectGone checks that Run left no emulator behind.
func (r *rig) expectGone(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(r.pidFile)
	if errors.Is(err, os.ErrNotExist) {
		return // it never started
	}
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(text))
	require.NoError(t, err)
	assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the emulator must be gone when Run returns")
}

func TestRunStatus(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		status int
		stdout string
		stderr string
	}{
		{"success", []string{"sh", "-c", "echo out; echo err >&2"}, 0, "out\n", "err\n"},
		{"failure", []string{"sh", "-c", "echo out; exit 7"}, 7, "out\n", ""},
		{"fatal signal", []string{"sh", "-c", "kill -9 $$"}, 128 + 9, "", ""},
		{"environment", []string{"sh", "-c", `echo "$WORD"`}, 0, "from the environment\n", ""},
		{"arguments as they are", []string{"printf", "%s|", "a b", `"c"`, ""}, 0, `a b|"c"||`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "serve")
			status, err := r.run(t.Context(), t, tt.args...)
			require.NoError(t, err)
			assert.Equal(t, tt.status, status)
			assert.Equal(t, tt.stdout, r.stdout.String())
			assert.Equal(t, tt.stderr, r.stderr.String())
			assert.Contains(t, r.progress.String(), "guest ready", "progress tells the end of the boot")
		})
	}
}

func TestRunPassesMuchOutput(t *testing.T) {
	r := newRig(t, "serve")
	status, err := r.run(t.Context(), t, "sh", "-c", "yes 0123456789 | head -n 100000")
	require.NoError(t, err)
	assert.Zero(t, status)
	assert.Equal(t, strings.Repeat("0123456789\n", 100000), r.stdout.String(), "no byte of output may be lost")
}

func TestRunWithoutStatus(t *testing.T) {
	tests := []struct {
		name      string
		behaviour string
		args      []string
		boot      time.Duration
		limit     time.Duration
		lost      bool
		want      []string
	}{
		{"emulator fails", "fail", []string{"true"}, 0, 0, true, []string{"without an exit status", "no such machine", "kernel says hello"}},
		{"no boot", "hang before boot", []string{"true"}, 300 * time.Millisecond, 0, true, []string{"time limit", "did not start", "300ms", "kernel says hello"}},
		{"no start of the command", "hang before command", []string{"true"}, 300 * time.Millisecond, 0, true, []string{"time limit", "did not start", "300ms"}},
		{"command hangs", "hang in command", []string{"true"}, 0, 300 * time.Millisecond, true, []string{"time limit", "did not end", "300ms"}},
		{"no status", "no status", []string{"true"}, 0, 0, true, []string{"without an exit status"}},
		{"unknown frame", "garbage", []string{"true"}, 0, 0, false, []string{`'?'`}},
		{"guest refuses", "refuse", []string{"true"}, 0, 0, false, []string{"no device could be made"}},
		{"no such command", "serve", []string{"/no/such/command"}, 0, 0, false, []string{"/no/such/command", "no such file"}},
		{"no command", "serve", nil, 0, 0, false, []string{"no command"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.behaviour)
			r.config.BootLimit, r.config.TimeLimit = tt.boot, tt.limit
			status, err := r.run(t.Context(), t, tt.args...)
			require.Error(t, err, "a run without an exit status must not look like success")
			assert.Zero(t, status)
			assert.Equal(t, tt.lost, errors.Is(err, ErrGuestLost), "only a lost guest is worth another: %v", err)
			for _, part := range tt.want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
}

func TestLostGuestIsReplaced(t *testing.T) {
	r := newRig(t, "lost at first")
	_, err := r.run(t.Context(), t, "true")
	require.ErrorIs(t, err, ErrGuestLost, "there is no second try unless asked for")

	r = newRig(t, "lost at first")
	r.config.Tries = 2
	status, err := r.run(t.Context(), t, "sh", "-c", "echo out; exit 7")
	require.NoError(t, err)
	assert.Equal(t, 7, status, "a status is final, whatever it is")
	assert.Equal(t, "half a line\nout\n", r.stdout.String(), "what the first guest wrote has been passed on")
	assert.Contains(t, r.progress.String(), "try 2 of 2")
	assert.Contains(t, r.progress.String(), "without an exit status", "it says why")

	for _, behaviour := range []string{"no status", "refuse"} {
		r = newRig(t, behaviour)
		r.config.Tries = 2
		_, err = r.run(t.Context(), t, "true")
		require.Error(t, err)
		assert.Equal(t, behaviour == "no status", strings.Contains(r.progress.String(), "try 2 of 2"), "only a lost guest is worth another")
		assert.NotContains(t, r.progress.String(), "try 3")
	}
}

func TestRunRefusesAbsentShare(t *testing.T) {
	r := newRig(t, "serve")
	r.config.Share = filepath.Join(t.TempDir(), "absent")
	_, err := r.run(t.Context(), t, "true")
	assert.ErrorContains(t, err, "absent")
	assert.ErrorContains(t, err, "create it first")
}

func TestRunWithoutEmulator(t *testing.T) {
	r := newRig(t, "serve")
	r.config.QEMU = "/no/such/qemu"
	_, err := r.run(t.Context(), t, "true")
	assert.ErrorContains(t, err, "/no/such/qemu")
}

func TestRunIsInterrupted(t *testing.T) {
	r := newRig(t, "hang in command")
	ctx, cancel := context.WithCancelCause(t.Context())
	started, progress := io.Pipe()
	r.config.Progress = progress
	go func() {
		_, _ = started.Read(make([]byte, 1)) // the command runs
		cancel(errors.New("user had enough"))
		_, _ = io.Copy(io.Discard, started)
	}()
	_, err := r.run(ctx, t, "true")
	assert.ErrorContains(t, err, "user had enough")
}

// TestRunKillsGuestThatStays needs no more than the status: a guest that does
// not power off after it is killed.
func TestRunKillsGuestThatStays(t *testing.T) {
	r := newRig(t, "never power off")
	r.config.powerOffGrace = 50 * time.Millisecond
	status, err := r.run(t.Context(), t, "sh", "-c", "exit 3")
	require.NoError(t, err)
	assert.Equal(t, 3, status)
}

func TestRunStopsWhenOutputCannotBeWritten(t *testing.T) {
	r := newRig(t, "serve")
	reader, writer := io.Pipe()
	require.NoError(t, reader.CloseWithError(errors.New("nobody reads")))
	command := Command{Args: []string{"yes"}, Dir: t.TempDir(), Env: append(os.Environ(), fakeEmulator+"=")}
	_, err := Run(t.Context(), r.config, Image{}, command, writer, &r.stderr)
	assert.ErrorContains(t, err, "nobody reads")
	r.expectGone(t)
}

func TestQEMUArgs(t *testing.T) {
	c := Config{Agent: "/tmp/go build/guestexec", NICs: 5, MemoryMiB: 1024, CPUs: 3}
	image := Image{Kernel: "/cache/kernel", Initramfs: "/cache/initramfs"}
	line := strings.Join(qemuArgs(c, image, "/run/dir"), " ")
	for _, part := range []string{
		"-accel tcg,thread=multi", "-m 1024", "-smp 3", "-no-reboot",
		"-kernel /cache/kernel", "-initrd /cache/initramfs",
		`softroce.nics=5 -- "/tmp/go build/guestexec" -agent`,
		"path=/run/dir/console.log", "path=/run/dir/agent.sock",
		"path=/,mount_tag=host,security_model=none,readonly=on",
	} {
		assert.Contains(t, line, part)
	}
	assert.NotContains(t, line, "kvm", "a KVM that does not work hangs without a word")
	assert.NotContains(t, line, "mount_tag=share", "nothing on the host is writable unless asked for")

	c.Share = "/data/out"
	line = strings.Join(qemuArgs(c, image, "/run/dir"), " ")
	assert.Contains(t, line, "path=/data/out,mount_tag=share")
}
