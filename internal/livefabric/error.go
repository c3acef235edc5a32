package livefabric

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/rdmagate/rdmagate/verbs"
)

// problem returns the error of a call on an object, if there is one. It wraps an errno,
// or verbs.ErrClosed or verbs.ErrInUse, so that callers treat it like one of package
// verbs.
func problem(cause error, call string, on fmt.Stringer, format string, args ...any) error {
	if on != nil {
		call += " on " + on.String()
	}
	return fmt.Errorf("livefabric: %s: %s: %w", call, fmt.Sprintf(format, args...), cause)
}

// invalid returns the error of a value that breaks a rule.
func invalid(call string, on fmt.Stringer, format string, args ...any) error {
	return problem(syscall.EINVAL, call, on, format, args...)
}

// closed returns the error of a call on what is closed.
func closed(call string, on fmt.Stringer) error {
	return problem(verbs.ErrClosed, call, on, "it is closed")
}

// inUse returns the error of closing something that others depend on.
func inUse(call string, on fmt.Stringer, users []string) error {
	const most = 8
	n := len(users)
	if n > most {
		users = append(users[:most:most], fmt.Sprintf("%d more", n-most))
	}
	return problem(verbs.ErrInUse, call, on, "%d open objects depend on it (%s); close those first", n, strings.Join(users, ", "))
}
