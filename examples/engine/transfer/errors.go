package transfer

import (
	"errors"
	"fmt"
)

// Errors that callers tell apart with errors.Is. Each is returned wrapped in one
// that names the values.
var (
	// ErrClosed: the engine, the server or the peer was closed.
	ErrClosed = errors.New("closed")
	// ErrCancelled: the caller gave the transfer up.
	ErrCancelled = errors.New("transfer cancelled")
	// ErrPeerGone: the control connection to the peer ended.
	ErrPeerGone = errors.New("peer is gone")
	// ErrNoUsablePath: no rail to the peer admitted anything for too long. The two
	// below are special cases of it.
	ErrNoUsablePath = errors.New("no usable path to the peer")
	// ErrAllPaused: there are rails, and each is paused. A trial may bring one back.
	ErrAllPaused = fmt.Errorf("%w: all are paused", ErrNoUsablePath)
	// ErrNoPath: no pair of NICs may be used at all. Waiting does not help.
	ErrNoPath = fmt.Errorf("%w: no pair of NICs may be used", ErrNoUsablePath)
)

// errUnreachable: the peer says that its NIC cannot be reached.
var errUnreachable = errors.New("unreachable")

// MismatchError reports bytes that did not arrive as they were sent.
type MismatchError struct {
	Object string
	// Offset and Length say which slice of the object it is, in bytes.
	Offset, Length int64
	// Local and Remote are the CRC-32C of the two sides.
	Local, Remote uint32
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("transfer: object %q differs at bytes %d to %d: checksum %08x here, %08x at the peer; do not use it",
		e.Object, e.Offset, e.Offset+e.Length-1, e.Local, e.Remote)
}
