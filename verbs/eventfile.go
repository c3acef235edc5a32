package verbs

import (
	"os"
	"sync/atomic"
	"syscall"
)

// eventFile waits on an event descriptor of libibverbs without holding a
// thread: a non-blocking duplicate is on the Go poller, and the events are read
// by libibverbs from the original, which shares its open file.
type eventFile struct {
	file    *os.File
	raw     syscall.RawConn
	restore func()
	closing atomic.Bool
}

// newEventFile takes over a duplicate of fd. With keepMode, the blocking mode of
// the open file is put back at the end, for descriptors that others read too.
func newEventFile(fd int, name string, keepMode bool) (*eventFile, error) {
	dup, restore, err := pollable(fd, keepMode)
	if err != nil {
		return nil, err
	}
	e := &eventFile{file: os.NewFile(uintptr(dup), name), restore: restore}
	if e.raw, err = e.file.SyscallConn(); err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

// next calls get until it gives something else than EAGAIN, parked on the poller
// in between. Since it reads before it waits, a wakeup that stands for several
// events loses none.
func (e *eventFile) next(call string, o *object, get func() syscall.Errno) error {
	var errno syscall.Errno
	err := e.raw.Read(func(uintptr) bool {
		errno = get()
		return errno != syscall.EAGAIN
	})
	switch {
	case err != nil && e.closing.Load():
		return closedBy(call, o, "Close ended the wait")
	case err != nil:
		return &Error{Call: call, Object: o.String(), Err: err}
	case errno != 0:
		return &Error{Call: call, Object: o.String(), Errno: errno, Remedy: remedyEvent(errno)}
	}
	return nil
}

func remedyEvent(errno syscall.Errno) string {
	if errno == syscall.EIO {
		return "the device has been removed: close everything on it, and open it again when it is back"
	}
	return ""
}

// stop ends all waits at once and returns when no reader is inside any more.
// Only the first call does something.
func (e *eventFile) stop() {
	if e.closing.Swap(true) {
		return
	}
	e.file.Close() // closing a duplicate that only waited: there is nothing to lose
	e.restore()
}
