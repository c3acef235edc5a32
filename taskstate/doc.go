// Package taskstate answers, for one task, whether its transfers are slow, its
// path is gone, or something else is wrong.
//
// A [Task] sits in the caller's own task, a [Slice] in the permit of each slice.
// The controller in package cc makes all calls of a Slice; an engine that has no
// controller makes them itself. The whole life of a Task:
//
//	var task taskstate.Task                       // zero: UNKNOWN
//	var slice taskstate.Slice                     // one for each slice, reused by retries
//	slice.Refused(&task, &taskstate.Evidence{...}) // not admitted now: CONGESTED or LONG_UNAVAILABLE
//	slice.Admitted(&task, generation, false)      // admitted: what blocked it is resolved
//	slice.Failed(&taskstate.Evidence{...})        // the attempt failed, for a reason
//	slice.Admitted(&task, generation+1, false)    // its retry
//	slice.Succeeded()                             // NORMAL, if no other slice is in trouble
//	task.State()                                  // the minimal query, at any time
//	task.Detail()                                 // the detailed one; before the batch is given back
//	task.NextAttempt()                            // everything once more: old feedback is fenced off
//
// # What decides the state
//
// The worst unresolved slice: [LongUnavailable], then [Congested], then [Unknown]
// by a failure that says nothing about a path, then [Normal]. Normal needs a
// success. A slice's trouble is resolved by its own next admission or success, or
// by a new attempt of the task. The trial of a quarantined path resolves nothing
// by being admitted, only by its success.
//
// Only what the task itself meets counts. A route that is suspected or probed in
// the background changes no task. A task is Unknown, with nothing observed, when
// the controller is off or observes only, when the transport gives no evidence,
// and when a batch was rejected before it had tasks: a nil *Task stands for those.
//
// # Old news
//
// Feedback of an older attempt of the task, of another generation than the slice
// was admitted on, or of a slice without an attempt is left out, and the call says
// so with an [Effect].
//
// # Cost
//
// A success of a task without trouble is one atomic load and at most one store. A
// lock is taken, and once per task a record of fixed size allocated, only when
// something is wrong.
//
// The package is pure Go and imports no cgo and no network.
//
// Specification: caller observability.
package taskstate
