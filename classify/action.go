package classify

//go:generate go tool stringer -type=Action -linecomment

// Action is what the owner of the object should do with it. This package only
// says so: QPs, CQs and connections are stopped and rebuilt by whoever made them.
//
// A reliable connection enters its error state with any failed completion. So
// where the action speaks of the operation alone, the operation is what has to be
// put right, and the QP still needs the rebuild that the engine gives to every QP
// in error.
type Action uint8

const (
	// ActionNone asks for nothing; whoever handled such news before still does.
	ActionNone Action = iota // nothing to do
	// ActionKeep goes on using the object.
	ActionKeep // keep using
	// ActionFailOperation fails the operation; its local length, memory region,
	// protection domain, access flags or binding have to be put right.
	ActionFailOperation // fail the operation
	// ActionRefreshMetadata reads address, rkey, permissions and endpoint again
	// before the usual retry runs, on a new generation.
	ActionRefreshMetadata // refresh the metadata
	// ActionRetireQP posts nothing more on the QP and builds another one.
	ActionRetireQP // retire the QP
	// ActionCleanUp finishes a teardown or cancellation that is already on its way.
	ActionCleanUp // finish the clean-up
	// ActionStopDependents stops the WQ or SRQ and the QPs that depend on it.
	ActionStopDependents // stop the dependent QPs
	// ActionStopCQ stops the CQ and isolates every QP that completes on it.
	ActionStopCQ // stop the CQ
	// ActionLeavePath stops using the path to which migration failed.
	ActionLeavePath // leave the path
	// ActionIsolatePort stops every use of one port of the device.
	ActionIsolatePort // isolate the port
	// ActionIsolateDevice stops every use of one local device.
	ActionIsolateDevice // isolate the device
	// ActionRefreshObjects lets the owner look again at GIDs, routes and endpoints
	// that the change affects.
	ActionRefreshObjects // refresh the affected objects
	// ActionKeepQueued leaves the slice in the queue where it is.
	ActionKeepQueued // leave it queued
	// ActionAlternateRail sends the slice over another rail or transport.
	ActionAlternateRail // take another rail
	// ActionResolveAgain gives both reservations back and looks up the current
	// endpoint and path again.
	ActionResolveAgain // resolve the path again
	// ActionReturnError hands the error to the owner of the call that failed, and
	// does not repeat the call.
	ActionReturnError // return the error
	// ActionRetryOnce drops the connection and repeats a read-only call once; the
	// second error is returned.
	ActionRetryOnce // retry once
	// ActionFailover leaves the transfer to the engine's failover between transports.
	ActionFailover // fail over
	// ActionReconnect lets the connection manager isolate the connection and make
	// another one.
	ActionReconnect // reconnect
)
