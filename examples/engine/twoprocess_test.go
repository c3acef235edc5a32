package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// keepOpen lends a host to commands that close theirs.
type keepOpen struct{ fabric.Host }

func (keepOpen) Close() error { return nil }

// The serve, put and get commands over a TCP control connection. The two sides
// share a simulated fabric, and nothing else.
func TestServePutGet(t *testing.T) {
	s, err := simStage("test", simOptions{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.close(), "a command left something open") }()
	parsed := func(command string) *options {
		f, o := newFlags(command, io.Discard)
		require.NoError(t, o.parse(f, nil))
		return o
	}

	ctx, interrupt := context.WithCancel(t.Context())
	served := make(chan error, 1)
	reader, writer := io.Pipe()
	go func() {
		served <- serveOn(ctx, parsed("serve"), s.b, "127.0.0.1:0", "server", 1<<30, writer, io.Discard)
	}()
	lines := bufio.NewScanner(reader)
	var address string
	for address == "" && lines.Scan() {
		address, _ = strings.CutPrefix(lines.Text(), "serving at ")
		if address == lines.Text() {
			address = ""
		}
	}
	require.NotEmpty(t, address, "the server must say where it listens")

	dir := t.TempDir()
	from, to, empty := filepath.Join(dir, "from"), filepath.Join(dir, "to"), filepath.Join(dir, "empty")
	content := make([]byte, 5<<20+3)
	fill(content, 1)
	require.NoError(t, os.WriteFile(from, content, 0o600))
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	var out bytes.Buffer
	put := func(object, file string, count int64) error {
		return putFrom(t.Context(), parsed("put"), keepOpen{s.a}, address, object, file, count, &out, io.Discard)
	}
	get := func(object, file string) error {
		return getTo(t.Context(), parsed("get"), keepOpen{s.a}, address, object, file, &out, io.Discard)
	}

	require.NoError(t, put("weights", from, 0), "%s", &out)
	require.NoError(t, get("weights", to), "%s", &out)
	read, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(content, read), "the file must come back as it was put")
	assert.Contains(t, out.String(), `write of "weights": 5.0 MiB moved and compared`)
	assert.Contains(t, out.String(), "every permit came back")

	assert.ErrorContains(t, put("weights", from, 0), `object "weights" exists`)
	assert.ErrorContains(t, get("nowhere", ""), `there is no object "nowhere"`)
	assert.ErrorContains(t, put("none", empty, 0), "is empty; there is nothing to move")
	assert.ErrorIs(t, put("none", "", 0), errUsage)
	assert.ErrorContains(t, put("none", "", 4<<40), "-bytes 4398046511104: must be 1 to 17179869184")
	assert.ErrorIs(t, put("none", filepath.Join(dir, "missing"), 0), os.ErrNotExist)
	require.NoError(t, put("random", "", 1000))

	assert.ErrorContains(t, get("nowhere", to), `there is no object "nowhere"`)
	read, err = os.ReadFile(to)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(content, read), "a transfer that fails leaves the file as it was")
	out.Reset()
	assert.ErrorIs(t, get("weights", filepath.Join(dir, "no", "folder")), os.ErrNotExist)
	assert.Empty(t, out.String(), "what cannot be written is told before anything moves")
	assert.ErrorContains(t, get("weights", dir), "is a directory")
	require.NoError(t, get("weights", os.DevNull))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.False(t, info.Mode().IsRegular(), "a device is written in place")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 3, "nothing half written is left: %v", left)

	interrupt()
	require.NoError(t, <-served)
	err = putFrom(t.Context(), parsed("put"), keepOpen{s.a}, address, "late", "", 1000, &out, io.Discard)
	require.ErrorContains(t, err, "start one with engine serve")
	assert.False(t, errors.Is(err, errUsage), "a server that is not there is no mistake of the command line")
}
