package softroce

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFramesRoundTrip(t *testing.T) {
	var wire bytes.Buffer
	w := &frameWriter{w: &wire}
	require.NoError(t, w.write(frameStarted, nil))
	n, err := w.stream(frameStdout).Write([]byte("text"))
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	require.NoError(t, w.writeJSON(frameExit, outcome{Status: 3}))

	for _, want := range []struct {
		kind    frameKind
		payload string
	}{{frameStarted, ""}, {frameStdout, "text"}, {frameExit, `{"Status":3,"Error":""}`}} {
		kind, payload, err := readFrame(&wire)
		require.NoError(t, err)
		assert.Equal(t, want.kind, kind)
		assert.Equal(t, want.payload, string(payload))
	}
	_, _, err = readFrame(&wire)
	assert.Equal(t, io.EOF, err, "the end between frames is a plain end")
}

func TestReadFrameErrors(t *testing.T) {
	tests := []struct {
		name string
		wire string
		want string
	}{
		{"head cut short", "o\x00", "unexpected EOF"},
		{"payload cut short", "o\x00\x00\x00\x05abc", "cut short"},
		{"too long", "o\xff\xff\xff\xff", "4294967295 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readFrame(bytes.NewReader([]byte(tt.wire)))
			assert.ErrorContains(t, err, tt.want)
			assert.NotEqual(t, io.EOF, err)
		})
	}
}
