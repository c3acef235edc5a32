package classify

//go:generate go tool stringer -type=Reason -linecomment

// Reason is why a transfer was held back or failed, in the words that decisions
// of the controller and the evidence of a task share. The text is the name that
// the specification's task evidence table uses.
type Reason uint8

const (
	// ReasonNone gives no reason: nothing was observed, or what was observed is no
	// evidence about a path.
	ReasonNone Reason = iota // NONE
	// ReasonByteWindow: the byte window of a device or route was full.
	ReasonByteWindow // BYTE_WINDOW
	// ReasonCongestionFeedback: the window was full and the route is congested, or
	// drain time keeps rising.
	ReasonCongestionFeedback // CONGESTION_FEEDBACK
	// ReasonReceiverPressure: the receiver had no buffer ready.
	ReasonReceiverPressure // RECEIVER_PRESSURE
	// ReasonRouteTimeout: the peer did not answer along the route in time.
	ReasonRouteTimeout // ROUTE_TIMEOUT
	// ReasonRouteSuspect: the route has failed lately and carries little until it
	// succeeds again.
	ReasonRouteSuspect // ROUTE_SUSPECT
	// ReasonProbing: the one trial that decides about the route is on the wire.
	ReasonProbing // PROBING
	// ReasonPathQuarantined: the path failed too often, or its port or device did, and is
	// out of use until a trial succeeds.
	ReasonPathQuarantined // PATH_QUARANTINED
	// ReasonProbeFailed: the trial of a quarantined path failed.
	ReasonProbeFailed // PROBE_FAILED
	// ReasonNoUsablePath: no path to the peer is left.
	ReasonNoUsablePath // NO_USABLE_PATH
	// ReasonStaleGeneration: the generation that was named is not current any more.
	ReasonStaleGeneration // STALE_GENERATION
	// ReasonNeedsRenew: the generation was retired and no new one has been built.
	ReasonNeedsRenew // NEEDS_RENEW
	// ReasonLocalConfiguration: a local mistake, see [ClassLocalConfiguration].
	ReasonLocalConfiguration // LOCAL_CONFIGURATION
	// ReasonRemoteMetadata: stale metadata, see [ClassRemoteMetadata].
	ReasonRemoteMetadata // REMOTE_METADATA
	// ReasonDerivedFlush: a flush, see [ClassDerivedFlush] and [RootCause].
	ReasonDerivedFlush // DERIVED_FLUSH
	// ReasonFatal: an object that failed for good, see [ClassFatal].
	ReasonFatal // FATAL
)
