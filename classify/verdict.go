package classify

import "fmt"

// MATRICES.md is written from the tables; a test fails when it differs.
//go:generate go test -run=^TestMatricesPage$ -update .

// Verdict is what one observation means: its class, its scope, what to do with
// the object, and whether it counts against the path. It keeps the raw number
// and, for completions, vendor_err.
//
// A Verdict is a small comparable value; the zero value is no verdict: class
// None, scope none, not countable, source none. All methods are safe on every
// value, the zero value included, and for concurrent use.
type Verdict struct {
	row       uint8 // index into the matrices; 0 is no verdict
	raw       uint32
	vendorErr uint32
}

// Completion classifies a work completion by its status. A status that is not
// among the 24 known ones fails closed: [ClassFatal] at [ScopeQP], countable,
// with the raw value kept. vendorErr is kept for diagnosis and never read, so
// it cannot change the verdict. Specification: completion matrix.
func Completion(status Status, vendorErr uint32) Verdict {
	return Verdict{
		row:       matrices.statuses[min(status, unknownValue)],
		raw:       uint32(status),
		vendorErr: vendorErr,
	}
}

// AsyncEvent classifies an asynchronous event by its type. An event that is not
// among the 20 known ones means nothing: [ClassNone] with the raw value kept.
// [Event.Verdict] also looks whether the event names the element that it is
// about, and is to be preferred. Specification: event matrix.
func AsyncEvent(t EventType) Verdict {
	return Verdict{row: matrices.events[min(t, unknownValue)], raw: uint32(t)}
}

// CMEvent classifies an event of the RDMA connection manager. An event that is
// not among the 20 known ones means nothing: [ClassNone] with the raw value kept.
// Specification: signal matrix, the two RDMA-CM rows.
func CMEvent(t CMEventType) Verdict {
	return Verdict{row: matrices.cmEvents[min(t, unknownValue)], raw: uint32(t)}
}

// Of classifies a signal. A value that is no signal gives the zero Verdict.
// Specification: signal matrix.
func Of(s Signal) Verdict {
	row := matrices.signals[min(s, unknownValue)]
	if row == 0 {
		return Verdict{}
	}
	return Verdict{row: row, raw: uint32(s)}
}

// RejectedPost classifies a post that the verb refused, as [SignalRejectedPost]
// does, and keeps the errno as the raw value. The errno does not change the
// verdict: what it says about the QP is for the QP's owner to find out, and a
// full send queue (ENOMEM) is no failure at all. Specification: signal matrix,
// rejected post row.
func RejectedPost(errno uint32) Verdict {
	v := Of(SignalRejectedPost)
	v.raw = errno
	return v
}

// Class is the kind of thing that was observed.
func (v Verdict) Class() Class { return matrices.facts[v.row].class }

// Scope is how far the handling may reach.
func (v Verdict) Scope() Scope { return matrices.facts[v.row].scope }

// Action is what the owner of the object should do with it.
func (v Verdict) Action() Action { return matrices.facts[v.row].action }

// Reason is the evidence that the verdict is to a task, or [ReasonNone].
func (v Verdict) Reason() Reason { return matrices.facts[v.row].reason }

// Source is the kind of observation that the verdict came from.
func (v Verdict) Source() Source { return matrices.facts[v.row].source }

// Raw is the number that was classified, as [Source] describes it.
func (v Verdict) Raw() uint32 { return v.raw }

// VendorErr is the vendor_err of a completion, 0 for other sources.
func (v Verdict) VendorErr() uint32 { return v.vendorErr }

// Countable reports a hard error: one that counts towards the quarantine of its
// route. Transport and response timeouts, counted deadlines, fatal and unknown
// completions, QP, WQ and SRQ events and failed path migration count. Receiver
// pressure, local configuration, remote metadata and flushes do not. Nor do CQ,
// port and device events, which need no counting: they isolate at once.
func (v Verdict) Countable() bool { return matrices.facts[v.row].flags&countable != 0 }

// Immediate reports a verdict that isolates everything within its scope at once,
// whatever was counted before: a CQ, port or device that failed.
func (v Verdict) Immediate() bool { return matrices.facts[v.row].flags&immediate != 0 }

// Succeeded reports a completion with success. Congestion, which is a signal
// about transfers that succeed, is not one.
func (v Verdict) Succeeded() bool { return matrices.facts[v.row].class == ClassSuccess }

// EndsAttempt reports whether the attempt to move a slice is over, whatever the
// hardware may still do: by any completion, a counted deadline or a cancel.
// A deadline that a stalled poller voided does not end it.
func (v Verdict) EndsAttempt() bool { return matrices.facts[v.row].flags&endsAttempt != 0 }

// Releases reports whether the hardware is done with the work request, or never
// had it, so that its bytes are not in flight: any completion, flushes included,
// a teardown, a rejected post, a generation that changed before the post.
// After a deadline or a cancel the bytes are still on the wire.
func (v Verdict) Releases() bool { return matrices.facts[v.row].flags&releases != 0 }

// Completed reports a verdict on a work completion, whatever its status.
func (v Verdict) Completed() bool { return matrices.facts[v.row].source == SourceCompletion }

// IsRoot reports whether this can be what put a QP into its error state, so that
// later flushes derive from it. See [RootCause].
func (v Verdict) IsRoot() bool { return matrices.facts[v.row].flags&rootCause != 0 }

// Row is the matrix row that the verdict stands on, in words.
func (v Verdict) Row() string { return matrices.rows[v.row].name }

// String is one line for a log: what was observed and what it means.
func (v Verdict) String() string {
	if v.row == 0 {
		return "no verdict"
	}
	return fmt.Sprintf("%s: %s, scope %s, %s", v.observation(), v.Class(), v.Scope(), v.Action())
}

// observation names the number that was classified.
func (v Verdict) observation() string {
	switch v.Source() {
	case SourceCompletion:
		return fmt.Sprintf("completion %d (%s), vendor_err %#x", v.raw, Status(v.raw), v.vendorErr)
	case SourceAsyncEvent:
		return fmt.Sprintf("event %d (%s)", v.raw, EventType(v.raw))
	case SourceCMEvent:
		return fmt.Sprintf("CM event %d (%s)", v.raw, CMEventType(v.raw))
	}
	if v.signal() == SignalRejectedPost {
		return fmt.Sprintf("post rejected, errno %d", v.raw)
	}
	return v.signal().String()
}
