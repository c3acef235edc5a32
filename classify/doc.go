// Package classify says what a failed, slow or odd RDMA transfer means: whether
// the network, the receiver, a setting on this side or stale metadata is to
// blame, how far the fault may reach, what to do with the QP or CQ, and whether
// it counts against the path. It is pure: no state but [RootCause], no I/O, no
// verbs library, only the numbers that verbs report.
//
// The life of a verdict in an engine:
//
//	v := classify.Completion(classify.Status(wc.Status), wc.VendorErr)
//	if !v.Succeeded() {
//		qp.root.Note(v)                       // the first failure is the root of the flushes
//		log.Print(v)                          // what was seen and what it means
//	}
//	switch v.Action() {                           // what to do with the object
//	case classify.ActionRetireQP:
//		engine.rebuild(qp)
//	case classify.ActionRefreshMetadata:
//		engine.refresh(qp.peer)
//	}
//	permit.Settle(use, v, now)                    // the controller counts, or does not
//
// # Observations
//
// Four constructors take the four kinds of observation: [Completion] a work
// completion's status, [Event.Verdict] an asynchronous event with the element it
// names, [CMEvent] an event of the RDMA connection manager, and [Of] whatever else
// an engine knows: a deadline, a cancel, a teardown, a post that was refused.
//
// A status that is not known fails closed: it is fatal to its QP. An event that is
// not known means nothing. vendor_err is kept and never read, so that no driver's
// private code widens a fault.
//
// # Tables
//
// Each row of the specification's three matrices is one row of a table here, with
// every column. Verdicts and the page MATRICES.md both come from those tables.
//
// # Flushes
//
// When a QP fails, its other work requests come back flushed. They are no failures
// of their own: none of them counts, however many there are. What they derive from
// is kept in one [RootCause] for each QP and generation.
package classify
