package cc

// Quirks are what the controller does otherwise than the model would explain it. Each
// is left out of the comparison by its constant; with false, TestAgainstModel finds it.
const (
	// With KeepLastRoute a full window of a SUSPECT route is the suspicion's, also where
	// nothing but the law limits it.
	quirkKeepRuling = true

	// A list does not end a suspicion whose time is over: it is refused by the window
	// that goes with it.
	quirkListLapse = true

	// A list that observe lets pass where enforce would not leaves idle credit with other
	// routes, so that what follows is not counted as refused.
	quirkObservedList = true

	// Where a trial is left to the prober, a list is told PROBING, and a permit how long
	// to stay away.
	quirkListProber = true

	// After the lease of an early trial expired, a list is told PROBING for as long as no
	// permit asks.
	quirkListExpired = true

	// In observe mode a permit that is posted on a QP that nobody registered is served by
	// the poller of its use before.
	quirkFormerPoller = true

	// Where trials are left to the prober, a slice is told to come back when one is due,
	// which is too early, but for the first after a lease that expired.
	quirkProberRetry = true

	// A trial that stands back for a claim on its route is told that the device is full,
	// and a waiter for it then stands in the device's line, before all other routes.
	quirkTrialDomain = true
)
