package verbs

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// ErrClosed is wrapped by the errors of calls on an object that was closed, and
// by those of a wait that Close ended. It also matches [os.ErrClosed].
var ErrClosed error = closedError{}

type closedError struct{}

func (closedError) Error() string        { return "already closed" }
func (closedError) Is(target error) bool { return target == os.ErrClosed }

// ErrInUse is wrapped by the error of closing an object on which others still
// depend, and of asking for the one event reader of a context twice.
var ErrInUse = errors.New("still in use")

// ErrNoLibrary is wrapped by the errors of a machine on which libibverbs cannot
// be loaded. Such errors also match [errors.ErrUnsupported].
var ErrNoLibrary error = noLibraryError{}

type noLibraryError struct{}

func (noLibraryError) Error() string        { return "libibverbs cannot be loaded" }
func (noLibraryError) Is(target error) bool { return target == errors.ErrUnsupported }

// Error is the error of every call of this package. It works with errors.Is and
// errors.As: it wraps the errno, and one of [ErrClosed], [ErrInUse] and
// [ErrNoLibrary] where that is the cause.
//
// Values that are refused before libibverbs is asked match syscall.EINVAL.
type Error struct {
	// Call is the function that failed, such as ibv_open_device, or the method of
	// this package that refused.
	Call string
	// Object is what it was called on, such as "QP #5 of mlx5_0". May be empty.
	Object string
	// Reason names the value at fault and the rule. May be empty.
	Reason string
	// Remedy says what to do about it. May be empty.
	Remedy string
	// Errno is the errno of the call, 0 if there is none.
	Errno syscall.Errno
	// Err is the cause if that is not an errno. May be nil.
	Err error
}

// Error returns call, object, reason, cause and remedy in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("verbs: ")
	b.WriteString(e.Call)
	if e.Object != "" {
		b.WriteString(" on ")
		b.WriteString(e.Object)
	}
	if e.Reason != "" {
		b.WriteString(": ")
		b.WriteString(e.Reason)
	}
	for _, cause := range e.Unwrap() {
		b.WriteString(": ")
		b.WriteString(cause.Error())
	}
	if e.Remedy != "" {
		b.WriteString("; ")
		b.WriteString(e.Remedy)
	}
	return b.String()
}

// Unwrap returns the errno and the cause, those that there are.
func (e *Error) Unwrap() []error {
	causes := make([]error, 0, 2)
	if e.Errno != 0 {
		causes = append(causes, e.Errno)
	}
	if e.Err != nil {
		causes = append(causes, e.Err)
	}
	return causes
}

// invalid returns the error of a value that was refused before any call.
func invalid(call, object, reason, remedy string) *Error {
	return &Error{Call: call, Object: object, Reason: reason, Remedy: remedy, Errno: syscall.EINVAL}
}

// closedBy returns the error of a call on a closed object.
func closedBy(call string, o *object, remedy string) *Error {
	if !o.made() {
		remedy = "call it on what the package created; a zero value is of no use"
	}
	return &Error{Call: call, Object: o.String(), Remedy: remedy, Err: ErrClosed}
}
