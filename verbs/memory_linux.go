package verbs

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

func mapMemory(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, osError("mmap", fmt.Sprintf("%d bytes", n), err)
	}
	return b, nil
}

func unmapMemory(b []byte) error {
	if b == nil {
		return nil
	}
	if err := unix.Munmap(b); err != nil {
		return osError("munmap", fmt.Sprintf("%d bytes", len(b)), err)
	}
	return nil
}

// lockedLimit returns the limit of locked memory of the process, in words.
func lockedLimit() string {
	var limit unix.Rlimit
	switch err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); {
	case err != nil:
		return "RLIMIT_MEMLOCK"
	case limit.Cur == unix.RLIM_INFINITY:
		return "RLIMIT_MEMLOCK is unlimited"
	}
	return fmt.Sprintf("RLIMIT_MEMLOCK is %d bytes", limit.Cur)
}

// pollable returns a second, non-blocking descriptor of the same open file, for
// the Go poller. The mode belongs to the file and so changes for fd as well;
// restore puts it back if keepMode is set.
func pollable(fd int, keepMode bool) (dup int, restore func(), err error) {
	if dup, err = duplicate(fd); err != nil {
		return -1, nil, err
	}
	flags, err := unix.FcntlInt(uintptr(dup), unix.F_GETFL, 0)
	if err == nil {
		err = unix.SetNonblock(dup, true)
	}
	if err != nil {
		unix.Close(dup)
		return -1, nil, osError("fcntl", fmt.Sprintf("descriptor %d", fd), err)
	}
	if !keepMode || flags&unix.O_NONBLOCK != 0 {
		return dup, func() {}, nil
	}
	// A duplicate of its own, since the owner may have closed fd by then.
	spare, err := duplicate(fd)
	if err != nil {
		unix.Close(dup)
		return -1, nil, err
	}
	return dup, func() {
		unix.SetNonblock(spare, false)
		unix.Close(spare)
	}, nil
}

func duplicate(fd int) (int, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, osError("fcntl(F_DUPFD_CLOEXEC)", fmt.Sprintf("descriptor %d", fd), err)
	}
	return dup, nil
}

func osError(call, reason string, err error) error {
	e := &Error{Call: call, Reason: reason}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		e.Errno = errno
	default:
		e.Err = err
	}
	switch e.Errno {
	case syscall.ENOMEM:
		e.Remedy = "ask for less, or free memory"
	case syscall.EMFILE:
		e.Remedy = "raise the limit of open descriptors (ulimit -n)"
	}
	return e
}
