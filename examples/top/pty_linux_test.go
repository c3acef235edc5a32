package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openPTY returns both ends of a pseudo-terminal.
func openPTY(t *testing.T) (far, near *os.File) {
	t.Helper()
	far, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { far.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(far.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(far.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	near, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { near.Close() })
	return far, near
}

// On a terminal frames are drawn in place, in its size, in colours, and again at once
// when the size changes; the screen of before is back in the end.
func TestTerminal(t *testing.T) {
	server := httptest.NewServer(engine())
	defer server.Close()
	far, near := openPTY(t)
	resize := func(columns, rows uint16) {
		require.NoError(t, unix.IoctlSetWinsize(int(far.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}))
	}
	resize(100, 30)
	text := make(chan string, 1000)
	go func() {
		defer close(text)
		buffer := make([]byte, 1<<16)
		for {
			n, err := far.Read(buffer)
			if err != nil {
				return
			}
			text <- string(buffer[:n])
		}
	}()
	seen := ""
	wait := func(want string) {
		t.Helper()
		late := time.After(time.Minute)
		for !strings.Contains(seen, want) {
			select {
			case more := <-text:
				seen += more
			case <-late:
				t.Fatalf("no %q within a minute, but %q", want, seen)
			}
		}
		_, seen, _ = strings.Cut(seen, want)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	env := map[string]string{"TERM": "xterm", "LANG": "C.UTF-8"}
	go func() {
		// Only the first look is by the clock; what follows is by the signal.
		done <- run(ctx, []string{"-every", "1h", "-addr", server.URL}, newTerminal(near, func(name string) string { return env[name] }), os.Stderr)
	}()
	wait("\x1b[?1049h")
	wait("\x1b[31m● ") // red
	wait("DRAIN")
	wait("\x1b[J")
	resize(50, 10)
	require.NoError(t, unix.Kill(os.Getpid(), unix.SIGWINCH))
	wait("\x1b[H")
	wait("\x1b[J")
	stop()
	require.NoError(t, <-done)
	wait("\x1b[?1049l")
	assert.NotContains(t, seen, "\x1b[H", "nothing is drawn behind it")

	env["NO_COLOR"] = "1"
	assert.False(t, newTerminal(near, func(name string) string { return env[name] }).style.Colour)
	env["TERM"] = "dumb"
	assert.Nil(t, newTerminal(near, func(name string) string { return env[name] }).file)
}
