package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/examples/top/internal/looks"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// engine serves the first look once and the second one ever after.
func engine() http.Handler {
	then, later := looks.Mixed()
	var asked atomic.Int32
	mux := http.NewServeMux()
	mux.Handle("/debug/rdmagate/", http.StripPrefix("/debug/rdmagate", then))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			then.ServeHTTP(w, r)
		} else {
			later.ServeHTTP(w, r)
		}
	})
	return mux
}

// call runs the program with its output in a buffer.
func call(env map[string]string, args ...string) (stdout string, err error) {
	var out, stderr bytes.Buffer
	t := newTerminal(&out, func(name string) string { return env[name] })
	err = run(context.Background(), append([]string{"-every", "10ms"}, args...), t, &stderr)
	return out.String(), err
}

// One frame for a pipe, from wherever an engine may listen.
func TestOnce(t *testing.T) {
	tcp := httptest.NewServer(engine())
	defer tcp.Close()
	addr := strings.TrimPrefix(tcp.URL, "http://")

	out, err := call(nil, "-once", "-addr", addr)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	assert.Len(t, lines, 24, "80 by 24 where nothing says another size")
	assert.True(t, strings.HasPrefix(lines[0], "rdmagate enforce  "+addr), lines[0])
	assert.Contains(t, out, "admit 4,000   defer 12,422", "rates between two looks")
	assert.NotContains(t, out, "\x1b", "no colours in a pipe")
	for _, r := range out {
		require.Less(t, r, rune(0x80), "no signs beyond ASCII without a locale")
	}

	out, err = call(map[string]string{"LINES": "12", "COLUMNS": "120", "LANG": "C", "LC_ALL": "de_DE.utf8"}, "-once", "-addr", tcp.URL+"/debug/rdmagate")
	require.NoError(t, err)
	assert.Equal(t, 12, strings.Count(out, "\n"))
	assert.Contains(t, out, "━")

	socket := filepath.Join(t.TempDir(), "rdmagate.sock")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	server := &http.Server{Handler: engine()}
	go server.Serve(l)
	defer server.Close()
	out, err = call(nil, "-once", "-addr", socket)
	require.NoError(t, err)
	assert.Contains(t, out, "mlx5_0>host-b/mlx5_0")
}

func TestWrongCalls(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }))
	defer page.Close()
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	tests := []struct {
		name  string
		args  []string
		usage bool
		text  string
	}{
		{"argument", []string{"host"}, true, `unexpected argument "host"`},
		{"flag", []string{"-nothing"}, true, "not defined"},
		{"port", []string{"-addr", "host"}, true, "missing port in address"},
		{"scheme", []string{"-addr", "ftp://host"}, true, "only http and https"},
		{"often", []string{"-every", "1ms"}, true, "must be at least 10ms"},
		{"demo on a socket", []string{"-demo", "-addr", "/nowhere/x"}, true, "-addr HOST:PORT"},
		{"nobody", []string{"-once", "-addr", "/nowhere/x.sock"}, false, "/nowhere/x.sock"},
		{"another page", []string{"-once", "-addr", page.URL}, false, "is live.Handler served there"},
		{"no page", []string{"-once", "-addr", nothing.URL}, false, "404 Not Found; is live.Handler served there?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := call(nil, tt.args...)
			require.ErrorContains(t, err, tt.text)
			assert.Equal(t, tt.usage, strings.HasPrefix(err.Error(), errUsage.Error()))
			assert.Empty(t, out)
		})
	}
}

// An engine that is gone for a while leaves its last frame, which says so.
func TestEngineGone(t *testing.T) {
	then, _ := looks.Mixed()
	var gone atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler)
		}
		then.ServeHTTP(w, r)
	}))
	defer server.Close()
	frames := make(writes, 100)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	term := newTerminal(frames, func(string) string { return "" })
	go func() {
		done <- run(ctx, []string{"-every", "10ms", "-addr", server.URL}, term, nil)
	}()
	frames.wait(t, server.URL)
	gone.Store(true)
	last := frames.wait(t, "no answer for 0s")
	assert.Contains(t, last, "mlx5_0>host-b/mlx5_0")
	gone.Store(false)
	frames.wait(t, "rdmagate enforce  "+server.URL)
	stop()
	for {
		select {
		case <-frames:
		case err := <-done:
			require.NoError(t, err)
			return
		}
	}
}

// writes hands on what is written.
type writes chan string

func (w writes) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// wait returns the first of what is written next that has the text.
func (w writes) wait(t *testing.T, text string) string {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case got := <-w:
			if strings.Contains(got, text) {
				return got
			}
		case <-late:
			t.Fatalf("nothing with %q was written in a minute", text)
		}
	}
}

// The demonstration shows something at once.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("the simulated fabric needs real time")
	}
	out, err := call(nil, "-demo", "-once", "-every", "500ms")
	require.NoError(t, err)
	assert.Contains(t, out, "3 devices, 15 routes")
	assert.Regexp(t, `sima0 .* [0-9.]+ MB/s`, out)
	assert.Regexp(t, `admit [0-9,]+ `, out)
}
