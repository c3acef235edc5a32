package classify

//go:generate go tool stringer -type=Class -linecomment

// Class says what kind of thing an observation is. The first eight after
// [ClassNone] are the classes of the specification's completion matrix; the
// others are needed by the events and signals that are not completions.
type Class uint8

const (
	// ClassNone is the class of the zero [Verdict] and of events that this
	// package does not know. It says nothing about anything.
	ClassNone Class = iota // None
	// ClassSuccess is a transfer that arrived.
	// Specification: completion matrix, SUCCESS row.
	ClassSuccess // Success
	// ClassCongestion is a transfer that arrived while drain time or backlog
	// keeps rising. Specification: completion matrix, rising drain time row.
	ClassCongestion // Congestion
	// ClassReceiverPressure is a receiver that had no buffer posted for longer
	// than the sender retries. Specification: completion matrix, RNR_RETRY_EXC row.
	ClassReceiverPressure // ReceiverPressure
	// ClassRouteTimeout is a peer that did not answer along this route in time.
	// Specification: completion matrix, RETRY_EXC row; signal matrix, deadline row.
	ClassRouteTimeout // RouteTimeout
	// ClassLocalConfiguration is a mistake on this side: a length, a memory
	// region, a protection domain, a QP setting. Specification: completion
	// matrix, the two LocalConfiguration rows.
	ClassLocalConfiguration // LocalConfiguration
	// ClassRemoteMetadata is an address, rkey or permission that the peer no
	// longer honours. Specification: completion matrix, RemoteMetadata row.
	ClassRemoteMetadata // RemoteMetadata
	// ClassDerivedFlush is a work request that was thrown out because its QP had
	// already failed or was torn down. It is never a failure of its own.
	// Specification: completion matrix, WR_FLUSH row.
	ClassDerivedFlush // DerivedFlush
	// ClassFatal is an object that cannot be used any more, at the verdict's
	// scope. Specification: completion matrix, fatal and unknown rows; event matrix.
	ClassFatal // Fatal

	// ClassNonFailure is news that is no failure and changes no health: a
	// communication-established event, or a deadline that a stalled poller voided.
	// Specification: event matrix, non-failure row; signal matrix, poller stall row.
	ClassNonFailure // NonFailure
	// ClassRecovery is a hint that something may work again. Only a transfer that
	// succeeds on a new generation proves it. Specification: event matrix,
	// non-failure row.
	ClassRecovery // Recovery
	// ClassNotPosted is an attempt of which the hardware never heard.
	// Specification: signal matrix, admission, generation, rejected post and
	// all-rails rows.
	ClassNotPosted // NotPosted
	// ClassCancelled is an attempt, or a whole QP, that the application gave up.
	// Specification: signal matrix, cancellation and teardown row.
	ClassCancelled // Cancelled
	// ClassControlPlane is a failed call beside the data path: a metadata read, a
	// notification, a connection that did not come up. Specification: signal
	// matrix, the two RPC rows.
	ClassControlPlane // ControlPlane
	// ClassConnection is a connection that its manager reports as lost.
	// Specification: signal matrix, RDMA-CM disconnect row.
	ClassConnection // Connection
)
