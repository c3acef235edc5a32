package cc

import "github.com/rdmagate/rdmagate/rail"

//go:generate go tool stringer -type=State -linecomment

// State is a route's health. Specification: path state machine.
type State uint32

const (
	// Healthy: admission by the window alone.
	Healthy State = iota // HEALTHY
	// Congested: transfers succeed, but take too long; the window shrinks.
	Congested // CONGESTED
	// Suspect: there were failures, fewer than the threshold; little is admitted,
	// so that a lesson costs a slice and not a batch.
	Suspect // SUSPECT
	// Quarantined: do not use; after the cooldown one trial may end it.
	Quarantined // QUARANTINED
	// Probing: the trial is on the wire.
	Probing // PROBING
)

// usable reports whether the window alone decides.
func (s State) usable() bool { return s <= Congested }

// barred reports whether nothing but a trial may be posted.
func (s State) barred() bool { return s >= Quarantined }

// Standing returns the state as rail.Map.Select wants it: QUARANTINED and PROBING are
// paused, CONGESTED is healthy.
func (s State) Standing() rail.Standing {
	switch {
	case s.barred():
		return rail.Paused
	case s == Suspect:
		return rail.Suspect
	}
	return rail.Healthy
}
