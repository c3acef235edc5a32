package softroce

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Host and agent talk over one serial port of the guest. The host sends the
// job as one frame; the agent answers with frames of output and, last, the exit
// status; the host confirms the status, after which the guest powers off.

// frameKind says what a frame carries.
type frameKind byte

const (
	frameJob     frameKind = 'j' // host to agent: the job as JSON
	frameStarted frameKind = 's' // agent to host: the command runs
	frameStdout  frameKind = 'o' // agent to host: output
	frameStderr  frameKind = 'e' // agent to host: error output
	frameExit    frameKind = 'x' // agent to host: the outcome as JSON
	frameAck     frameKind = 'a' // host to agent: outcome received
)

// maxFrame bounds the payload of a frame in bytes.
const maxFrame = 16 << 20

// Command is what runs in the guest.
type Command struct {
	// Args is the program, by absolute path, relative to Dir or to be found
	// in PATH, and its arguments.
	Args []string

	// Dir is the working directory, an absolute path of the host.
	Dir string

	// Env is the whole environment, in the form of os.Environ.
	Env []string
}

// job is everything that the agent needs to know.
type job struct {
	Command Command
	Share   string // directory to mount writable, or empty
}

// outcome of a job: an exit status, or the reason why there is none.
type outcome struct {
	Status int
	Error  string
}

// frameWriter writes whole frames; it is safe for concurrent use.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frameWriter) write(kind frameKind, payload []byte) error {
	buf := make([]byte, 5, 5+len(payload))
	buf[0] = byte(kind)
	binary.BigEndian.PutUint32(buf[1:], uint32(len(payload)))
	buf = append(buf, payload...)
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.w.Write(buf)
	return err
}

func (f *frameWriter) writeJSON(kind frameKind, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(kind, payload)
}

// stream returns a writer whose every Write becomes a frame of the kind.
func (f *frameWriter) stream(kind frameKind) io.Writer {
	return streamWriter{f, kind}
}

type streamWriter struct {
	frames *frameWriter
	kind   frameKind
}

func (s streamWriter) Write(p []byte) (int, error) {
	if err := s.frames.write(s.kind, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// readFrame reads one frame. It returns io.EOF only at a frame boundary.
func readFrame(r io.Reader) (frameKind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return 0, nil, fmt.Errorf("softroce: frame of %d bytes from the other side, at most %d expected", size, maxFrame)
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, fmt.Errorf("softroce: frame cut short: %w", err)
	}
	return frameKind(head[0]), payload, nil
}
