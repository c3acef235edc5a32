package classify

//go:generate go tool stringer -type=Signal -linecomment

// Signal is something that an engine or the controller knows without a work
// completion and without an event. The zero value is no signal. Values outside
// the list classify as the zero [Verdict].
type Signal uint8

// The signals. Specification: non-completion matrix, but for the two congestion
// signals, which are the second row of the completion matrix.
const (
	// SignalCongestedRoute: transfers of a route succeed while its drain time or
	// backlog keeps rising.
	SignalCongestedRoute Signal = 1 + iota // route congested
	// SignalCongestedDevice: the same, for a device over all its routes.
	SignalCongestedDevice // device congested
	// SignalDeferred: admission asked the slice to wait.
	SignalDeferred // admission deferred
	// SignalAvoided: admission refused the slice because the path is quarantined.
	SignalAvoided // path avoided
	// SignalGenerationChanged: the endpoint was replaced between admission and post.
	SignalGenerationChanged // generation changed
	// SignalRejectedPost: the post verb returned an error, so the hardware never
	// saw the work request. [RejectedPost] also keeps the errno.
	SignalRejectedPost // post rejected
	// SignalDeadlineProgressing: a software deadline passed while the CQ's poller
	// was making progress.
	SignalDeadlineProgressing // deadline passed
	// SignalDeadlineStalled: a software deadline passed, but so did a gap in the
	// polling; the completion may be waiting in the CQ.
	SignalDeadlineStalled // deadline passed with a stalled poller
	// SignalMetadataReadFailure: a read-only metadata call failed in its service.
	SignalMetadataReadFailure // metadata read failed
	// SignalControlCallFailure: a notification or another call that changes
	// something at the peer failed.
	SignalControlCallFailure // control call failed
	// SignalStaleMetadata: an address, rkey or permission turned out to be out of
	// date before a completion said so.
	SignalStaleMetadata // metadata stale
	// SignalCancel: the application gave the request up. The hardware may still be
	// at work on it.
	SignalCancel // cancelled
	// SignalTeardown: the QP was destroyed or reset, or its endpoint reclaimed. The
	// hardware is done with every work request that was posted there, and no
	// completion needs to come.
	SignalTeardown // QP torn down
	// SignalNoRailQuarantined: no RDMA rail is left, and quarantines are why.
	SignalNoRailQuarantined // all rails quarantined
	// SignalNoRail: no RDMA rail is left, and nothing is known about the paths.
	SignalNoRail // no rail available
)
