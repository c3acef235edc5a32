package classify

//go:generate go tool stringer -type=Source -linecomment

// Source is the kind of observation that a verdict came from. It says how to
// read [Verdict.Raw].
type Source uint8

const (
	// SourceNone is the source of the zero [Verdict].
	SourceNone Source = iota // none
	// SourceCompletion is a work completion; the raw value is its [Status].
	SourceCompletion // completion
	// SourceAsyncEvent is an asynchronous event; the raw value is its [EventType].
	SourceAsyncEvent // event
	// SourceSignal is a signal that has no number of its own; the raw value is the
	// [Signal], or the errno of a rejected post.
	SourceSignal // signal
	// SourceCMEvent is an event of the RDMA connection manager; the raw value is
	// its [CMEventType].
	SourceCMEvent // CM event
)
