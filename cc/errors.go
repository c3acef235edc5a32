package cc

import "errors"

// Errors that callers tell apart with errors.Is. Each is returned wrapped in one
// that names the values and the remedy.
var (
	// ErrClosed: the controller or the route was closed.
	ErrClosed = errors.New("closed")
	// ErrHeld: the permit has an open reservation.
	ErrHeld = errors.New("permit is held")
	// ErrNotHeld: the permit has no open reservation that could be posted.
	ErrNotHeld = errors.New("permit is not held")
	// ErrStaleGeneration: the endpoint's generation is no longer current.
	ErrStaleGeneration = errors.New("generation is stale")
	// ErrTrialOver: the permit was the trial of a quarantined path, and ceased to be
	// it before it was posted.
	ErrTrialOver = errors.New("trial is over")
	// ErrForeign: the permit is held by a route of another controller.
	ErrForeign = errors.New("route is of another controller")
	// ErrUnknownQP: the QP does not belong to the generation.
	ErrUnknownQP = errors.New("QP is not of this generation")
)
