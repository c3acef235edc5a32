package cc

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

//go:generate go tool stringer -type=Answer,Domain,Hint -linecomment

// Answer is what admission says to a slice.
type Answer uint8

const (
	// Refused is the zero value: the call was wrong, see [Decision.Err]. Nothing
	// was reserved or changed.
	Refused Answer = iota // refused
	// Admit: the bytes are reserved; post the work request.
	Admit // admit
	// Defer: do not post now; leave the slice in its queue and ask again.
	Defer // defer
	// Avoid: do not use this path; take another rail or transport.
	Avoid // avoid
)

// Domain is the byte window that refused a slice.
type Domain uint8

const (
	// NoDomain: no window refused.
	NoDomain Domain = iota // none
	// RouteDomain: the route's window is full.
	RouteDomain // route
	// DeviceDomain: the local device's window is full.
	DeviceDomain // device
)

// Use numbers one admission of a permit. The caller carries it with wr_id and
// hands it back to [Permit.Settle], so that a late completion of an earlier
// admission in the same memory is told from the present one.
type Use uint32

// Decision is the answer of [Route.TryAcquire].
type Decision struct {
	Ruling
	// Use goes with wr_id when the slice is admitted.
	Use Use
	// RetryAfter is how long the refusal is known to last. 0 is unknown: ask again
	// after the next Released on this route or its device, or in the next poll round.
	RetryAfter time.Duration
	// Err is set when the call itself was wrong; Answer is then Refused. From
	// [Route.Acquire] it may also be why waiting ended, with the latest answer.
	Err error
}

// Ruling is the answer with its reason. It stands apart from Decision because Go
// keeps a struct in registers only up to four fields.
type Ruling struct {
	// Answer is Admit, Defer, Avoid, or Refused for a wrong call.
	Answer Answer
	// Reason says why the answer is not Admit.
	Reason classify.Reason
	// Domain names the window that refused, when one did.
	Domain Domain
	// Hint says what would help, beside waiting.
	Hint Hint
}

// Hint is what a caller had best do about a refusal.
type Hint uint8

const (
	// NoHint: wait.
	NoHint Hint = iota // none
	// Divert: take another rail now, and wait for this one only if there is none.
	Divert // divert
	// NeedRenew: build a new endpoint; a trial is due, but not on this one.
	NeedRenew // renew
)

// Admitted reports whether the bytes are reserved and the slice may be posted.
func (d Decision) Admitted() bool { return d.Answer == Admit }

// WantsEndpoint reports whether waiting does not help, but an endpoint does: the
// generation that was named is not current, is retired or never was, or a trial is due
// that needs a new one. Call Renew, or take the current generation if somebody else has.
func (d Decision) WantsEndpoint() bool {
	return d.Hint == NeedRenew || d.Reason == classify.ReasonNeedsRenew || d.Reason == classify.ReasonStaleGeneration
}

// String returns the answer as a person would write it in a log.
func (d Decision) String() string {
	switch {
	case d.Err != nil:
		return d.Err.Error()
	case d.Answer == Admit:
		return fmt.Sprintf("admit, use %d", d.Use)
	}
	s := fmt.Sprintf("%s, %s", d.Answer, d.Reason)
	if d.Domain != NoDomain {
		s += fmt.Sprintf(" of the %s", d.Domain)
	}
	if d.Hint != NoHint {
		s += fmt.Sprintf(", %s", d.Hint)
	}
	if d.RetryAfter > 0 {
		s += fmt.Sprintf(", ask again in %v", d.RetryAfter)
	}
	return s
}
