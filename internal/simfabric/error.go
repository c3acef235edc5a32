package simfabric

import (
	"fmt"
	"strings"
	"syscall"
)

// problem is the error of every call of the package. It wraps an errno, or
// verbs.ErrClosed or verbs.ErrInUse, so that callers treat it like an error of
// package verbs.
type problem struct {
	call   string // what was asked for, such as "post send"
	object string // on what; may be empty
	reason string // the value at fault and the rule; may be empty
	remedy string // may be empty
	cause  error
}

// Error returns call, object, reason, cause and remedy in one line.
func (p *problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "simfabric: %s", p.call)
	if p.object != "" {
		fmt.Fprintf(&b, " on %s", p.object)
	}
	if p.reason != "" {
		fmt.Fprintf(&b, ": %s", p.reason)
	}
	if p.cause != nil {
		fmt.Fprintf(&b, ": %v", p.cause)
	}
	if p.remedy != "" {
		fmt.Fprintf(&b, "; %s", p.remedy)
	}
	return b.String()
}

// Unwrap returns the cause.
func (p *problem) Unwrap() error { return p.cause }

// invalid returns the error of a value that breaks a rule.
func invalid(call, object, reason, remedy string) error {
	return &problem{call: call, object: object, reason: reason, remedy: remedy, cause: syscall.EINVAL}
}
