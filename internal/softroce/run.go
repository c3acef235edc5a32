package softroce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Run boots the image, runs the command in the guest and returns the command's
// exit status. What the command writes goes to stdout and stderr as it comes.
//
// An error means that there is no exit status: the guest did not start, the
// command could not be started, a time limit passed, or parent ended. The error
// then tells which, with the end of the guest's console where that may help. A guest
// that is lost, see [ErrGuestLost], is replaced as often as Config.Tries allows; what
// was written until then has been passed on. No emulator is left behind in any case.
// Runs may be concurrent.
func Run(parent context.Context, c Config, image Image, command Command, stdout, stderr io.Writer) (int, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return 0, err
	}
	if len(command.Args) == 0 {
		return 0, errors.New("softroce: no command to run in the guest")
	}
	if info, err := os.Stat(c.Share); c.Share != "" && (err != nil || !info.IsDir()) {
		return 0, fmt.Errorf("softroce: shared directory %q is not there: create it first", c.Share)
	}
	for try := 1; ; try++ {
		status, err := runOnce(parent, c, image, command, stdout, stderr)
		if !errors.Is(err, ErrGuestLost) || try == c.Tries {
			return status, err
		}
		c.progress("%v\ntry %d of %d, in a new guest", err, try+1, c.Tries)
	}
}

// runOnce is Run in one guest.
func runOnce(parent context.Context, c Config, image Image, command Command, stdout, stderr io.Writer) (int, error) {
	dir, err := os.MkdirTemp("", "softroce-")
	if err != nil {
		return 0, fmt.Errorf("softroce: directory of the run: %w", err)
	}
	defer os.RemoveAll(dir)

	listener, err := net.Listen("unix", filepath.Join(dir, socketFile))
	if err != nil {
		return 0, fmt.Errorf("softroce: socket for the guest: %w", err)
	}
	defer listener.Close()

	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	emulator := startEmulator(ctx, c.QEMU, qemuArgs(c, image, dir))
	defer emulator.stop()
	go func() {
		<-emulator.done
		listener.Close() // an emulator that never connected will not do so now
	}()

	s := session{config: c, cancel: cancel, stdout: stdout, stderr: stderr, started: time.Now()}
	status, err := s.serve(ctx, listener, job{Command: command, Share: c.Share})
	if err == nil {
		emulator.waitFor(c.powerOffGrace)
		return status, nil
	}
	emulator.stop()
	if parent.Err() != nil {
		return 0, fmt.Errorf("softroce: interrupted, and the guest was killed: %w", context.Cause(parent))
	}
	return 0, explain(err, emulator.failure(), filepath.Join(dir, consoleFile))
}

// ErrGuestLost: the guest's kernel died or stood still, the emulator ended, or a time
// limit passed, before there was an exit status. The command may have run in part.
var ErrGuestLost = errors.New("softroce: the guest was lost")

// errGuestEnded tells that the emulator ended by itself, or that the guest closed
// its port, before the outcome came.
var errGuestEnded = fmt.Errorf("%w: it ended without an exit status of the command", ErrGuestLost)

// session is the host's side of the talk with the agent.
type session struct {
	config         Config
	cancel         context.CancelCauseFunc
	stdout, stderr io.Writer
	started        time.Time
	limit          *time.Timer
}

// serve sends the job and follows it to its outcome.
func (s *session) serve(ctx context.Context, listener net.Listener, j job) (int, error) {
	s.setLimit(s.config.BootLimit, "the guest did not start the command")
	defer func() { s.limit.Stop() }()

	// Closing ends every blocked call below.
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	conn, err := listener.Accept()
	if err != nil {
		return 0, firstCause(ctx, errGuestEnded)
	}
	defer conn.Close()
	stopConn := context.AfterFunc(ctx, func() { conn.Close() })
	defer stopConn()

	frames := &frameWriter{w: conn}
	if err := frames.writeJSON(frameJob, j); err != nil {
		return 0, firstCause(ctx, fmt.Errorf("%w: %w", errGuestEnded, err))
	}
	result, err := s.follow(conn)
	if err != nil {
		return 0, firstCause(ctx, err)
	}
	// The outcome stands even if the guest is gone before it hears of this.
	_ = frames.write(frameAck, nil)
	if result.Error != "" {
		return 0, errors.New(result.Error)
	}
	return result.Status, nil
}

// follow passes the output on until the outcome arrives.
func (s *session) follow(r io.Reader) (outcome, error) {
	for {
		kind, payload, err := readFrame(r)
		if err != nil {
			return outcome{}, fmt.Errorf("%w: %w", errGuestEnded, err)
		}
		switch kind {
		case frameStarted:
			s.config.progress("guest ready after %.1f s", time.Since(s.started).Seconds())
			s.setLimit(s.config.TimeLimit, "the command did not end")
		case frameStdout:
			_, err = s.stdout.Write(payload)
		case frameStderr:
			_, err = s.stderr.Write(payload)
		case frameExit:
			var result outcome
			err = json.Unmarshal(payload, &result)
			return result, err
		default:
			err = fmt.Errorf("softroce: frame %q from the guest", kind)
		}
		if err != nil {
			return outcome{}, err
		}
	}
}

// setLimit replaces the limit in force.
func (s *session) setLimit(d time.Duration, what string) {
	if s.limit != nil {
		s.limit.Stop()
	}
	s.limit = time.AfterFunc(d, func() {
		s.cancel(fmt.Errorf("%w: time limit: %s within %v, and the guest was killed", ErrGuestLost, what, d))
	})
}

// firstCause prefers the reason why ctx ended to the error that followed from it.
func firstCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// explain adds what the emulator and the guest's console said to an error.
func explain(err, emulator error, console string) error {
	if emulator != nil {
		err = fmt.Errorf("%w\nemulator: %w", err, emulator)
	}
	if tail := consoleTail(console); tail != "" {
		err = fmt.Errorf("%w\nend of the guest's console:\n%s", err, tail)
	}
	return err
}

// consoleTail returns the last lines of the console's log.
func consoleTail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	const lines = 30
	all := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r", "")), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// emulator is a running QEMU.
type emulator struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // how it ended; read after done
}

// startEmulator starts QEMU, to be killed when ctx ends. A failed start shows as
// an emulator that has ended.
func startEmulator(ctx context.Context, path string, args []string) *emulator {
	ctx, cancel := context.WithCancel(ctx)
	e := &emulator{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.err = runBound(exec.CommandContext(ctx, path, args...))
	}()
	return e
}

// stop kills the emulator if it still runs, and waits for its end.
func (e *emulator) stop() {
	e.cancel()
	<-e.done
}

// waitFor gives the emulator some time to end by itself.
func (e *emulator) waitFor(d time.Duration) {
	select {
	case <-e.done:
	case <-time.After(d):
	}
}

// failure says why a stopped emulator failed; nil if it ended well or was killed.
func (e *emulator) failure() error {
	var exit *exec.ExitError
	if errors.As(e.err, &exit) && exit.ExitCode() < 0 {
		return nil
	}
	return e.err
}
