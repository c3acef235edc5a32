package classify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// transcribed is one row of the specification, written down a second time from
// the specification and not from the tables under test. Enumerations are given
// by their text and numbers by their value, so that a slip in a constant shows.
type transcribed struct {
	spec string // the row of the specification
	seen []observation

	class, scope, action, reason, source string

	// marks are the yes-or-no columns that are yes: hard (error), at once, over
	// (the attempt), done (the hardware), root.
	marks string

	// words that the three texts must contain.
	name, handling, controller string
}

// observation is one value that a row is about.
type observation struct {
	name    string
	verdict func() Verdict
	raw     uint32
	element func() Object // of events
	object  string
}

func wc(numbers ...uint32) []observation {
	var seen []observation
	for _, n := range numbers {
		for _, vendor := range []uint32{0, 0x0a, 0x51, 0x81, 0x88, 0xf9} {
			seen = append(seen, observation{
				name: fmt.Sprintf("status %d, vendor_err %#x", n, vendor), raw: n,
				verdict: func() Verdict { return Completion(Status(n), vendor) },
			})
		}
	}
	return seen
}

func ev(object string, numbers ...uint32) []observation {
	var seen []observation
	for _, n := range numbers {
		seen = append(seen, observation{
			name: fmt.Sprintf("event %d", n), raw: n, object: object,
			verdict: func() Verdict { return AsyncEvent(EventType(n)) },
			element: func() Object { return EventType(n).Object() },
		})
	}
	return seen
}

func sig(signals ...Signal) []observation {
	var seen []observation
	for _, s := range signals {
		seen = append(seen, observation{
			name: "signal " + s.String(), raw: uint32(s),
			verdict: func() Verdict { return Of(s) },
		})
	}
	return seen
}

func cm(numbers ...uint32) []observation {
	var seen []observation
	for _, n := range numbers {
		seen = append(seen, observation{
			name: fmt.Sprintf("CM event %d", n), raw: n,
			verdict: func() Verdict { return CMEvent(CMEventType(n)) },
		})
	}
	return seen
}

// specification is all three matrices.
var specification = slices.Concat(specCompletions, specEvents, specSignals)

var specCompletions = []transcribed{
	{
		spec: "IBV_WC_SUCCESS", seen: wc(0),
		class: "Success", scope: "operation", action: "keep using", reason: "NONE", source: "completion",
		marks: "over done",
		name:  "succeeded", handling: "permit", controller: "grow the window",
	},
	{
		spec: "success while drain time or backlog keeps rising, route", seen: sig(SignalCongestedRoute),
		class: "Congestion", scope: "route", action: "keep using", reason: "CONGESTION_FEEDBACK", source: "signal",
		name: "route's drain time", handling: "stays in use", controller: "CONGESTED",
	},
	{
		spec: "success while drain time or backlog keeps rising, device", seen: sig(SignalCongestedDevice),
		class: "Congestion", scope: "device", action: "keep using", reason: "CONGESTION_FEEDBACK", source: "signal",
		name: "device's drain time", handling: "stay in use", controller: "shrinks",
	},
	{
		spec: "RNR_RETRY_EXC_ERR", seen: wc(13),
		class: "ReceiverPressure", scope: "QP", action: "retire the QP", reason: "RECEIVER_PRESSURE", source: "completion",
		marks: "over done root",
		name:  "not ready", handling: "reconnected or rebuilt", controller: "Other receivers",
	},
	{
		spec: "RETRY_EXC_ERR, RESP_TIMEOUT_ERR", seen: wc(12, 20),
		class: "RouteTimeout", scope: "QP", action: "retire the QP", reason: "ROUTE_TIMEOUT", source: "completion",
		marks: "hard over done root",
		name:  "no answer", handling: "not safe to reuse", controller: "SUSPECT",
	},
	{
		spec: "LOC_LEN_ERR, LOC_PROT_ERR, MW_BIND_ERR, LOC_ACCESS_ERR", seen: wc(1, 4, 6, 8),
		class: "LocalConfiguration", scope: "operation", action: "fail the operation", reason: "LOCAL_CONFIGURATION", source: "completion",
		marks: "over done root",
		name:  "local length", handling: "operation fails", controller: "UNKNOWN",
	},
	{
		spec: "LOC_QP_OP_ERR, LOC_EEC_OP_ERR, LOC_RDD_VIOL_ERR, INV_EECN_ERR, INV_EEC_STATE_ERR", seen: wc(2, 3, 14, 17, 18),
		class: "LocalConfiguration", scope: "QP", action: "retire the QP", reason: "LOCAL_CONFIGURATION", source: "completion",
		marks: "over done root",
		name:  "local QP", handling: "not used again", controller: "neither congestion nor",
	},
	{
		spec: "BAD_RESP_ERR, REM_INV_REQ_ERR, REM_ACCESS_ERR, REM_OP_ERR, REM_INV_RD_REQ_ERR, REM_ABORT_ERR", seen: wc(7, 9, 10, 11, 15, 16),
		class: "RemoteMetadata", scope: "operation", action: "refresh the metadata", reason: "REMOTE_METADATA", source: "completion",
		marks: "over done root",
		name:  "peer refused", handling: "rkey", controller: "replaces no rail",
	},
	{
		spec: "WR_FLUSH_ERR", seen: wc(5),
		class: "DerivedFlush", scope: "QP", action: "finish the clean-up", reason: "DERIVED_FLUSH", source: "completion",
		marks: "over done",
		name:  "flushed", handling: "permit comes back once", controller: "inherits",
	},
	{
		spec: "FATAL_ERR, GENERAL_ERR, TM_ERR, TM_RNDV_INCOMPLETE", seen: wc(19, 21, 22, 23),
		class: "Fatal", scope: "QP", action: "retire the QP", reason: "FATAL", source: "completion",
		marks: "hard over done root",
		name:  "tag-matching", handling: "vendor_err", controller: "threshold",
	},
	{
		spec: "unknown WC status", seen: wc(24, 25, 30, 31, 32, 99, 255, 256, 1<<16, 1<<31, 1<<32-1),
		class: "Fatal", scope: "QP", action: "retire the QP", reason: "FATAL", source: "completion",
		marks: "hard over done root",
		name:  "not known", handling: "Fail closed", controller: "narrowest scope",
	},
}

var specEvents = []transcribed{
	{
		spec: "QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR", seen: ev("QP", 1, 2, 3),
		class: "Fatal", scope: "QP", action: "retire the QP", reason: "FATAL", source: "event",
		marks: "hard root",
		name:  "QP failed", handling: "isolated and rebuilt", controller: "same GID",
	},
	{
		spec: "WQ_FATAL, SRQ_ERR", seen: slices.Concat(ev("WQ", 19), ev("SRQ", 14)),
		class: "Fatal", scope: "QP", action: "stop the dependent QPs", reason: "FATAL", source: "event",
		marks: "hard root",
		name:  "shared receive queue", handling: "depend on it", controller: "QP scope",
	},
	{
		spec: "CQ_ERR", seen: ev("CQ", 0),
		class: "Fatal", scope: "CQ", action: "stop the CQ", reason: "FATAL", source: "event",
		marks: "once root",
		name:  "CQ failed", handling: "unusable", controller: "Immediately fatal",
	},
	{
		spec: "PATH_MIG_ERR", seen: ev("QP", 7),
		class: "Fatal", scope: "route", action: "leave the path", reason: "FATAL", source: "event",
		marks: "hard",
		name:  "migration failed", handling: "not used", controller: "SUSPECT below the threshold",
	},
	{
		spec: "PORT_ERR", seen: ev("port", 10),
		class: "Fatal", scope: "port", action: "isolate the port", reason: "FATAL", source: "event",
		marks: "once",
		name:  "port went down", handling: "isolated", controller: "data-plane probe",
	},
	{
		spec: "DEVICE_FATAL", seen: ev("device", 8),
		class: "Fatal", scope: "device", action: "isolate the device", reason: "FATAL", source: "event",
		marks: "once root",
		name:  "device failed", handling: "whole local device", controller: "nothing about the peers",
	},
	{
		spec: "non-failure events: PORT_ACTIVE", seen: ev("port", 9),
		class: "Recovery", scope: "port", action: "refresh the affected objects", reason: "NONE", source: "event",
		name: "active", handling: "refresh", controller: "new generation",
	},
	{
		spec: "non-failure events: GID_CHANGE, LID_CHANGE, PKEY_CHANGE, PATH_MIG", seen: slices.Concat(ev("port", 18, 11, 12), ev("QP", 6)),
		class: "NonFailure", scope: "none", action: "refresh the affected objects", reason: "NONE", source: "event",
		name: "changed", handling: "refresh", controller: "new generation",
	},
	{
		spec: "other non-failure events", seen: slices.Concat(ev("QP", 4, 5, 16), ev("SRQ", 15), ev("port", 13, 17)),
		class: "NonFailure", scope: "none", action: "keep using", reason: "NONE", source: "event",
		name: "notice", handling: "stay in use", controller: "Nothing changes",
	},
	{
		spec: "other unknown async event", seen: ev("nothing", 20, 30, 31, 32, 99, 255, 256, 1<<31, 1<<32-1),
		class: "None", scope: "none", action: "nothing to do", reason: "NONE", source: "event",
		name: "not known", handling: "owns the events", controller: "Nothing changes",
	},
}

var specSignals = []transcribed{
	{
		spec: "admission defers", seen: sig(SignalDeferred),
		class: "NotPosted", scope: "operation", action: "leave it queued", reason: "BYTE_WINDOW", source: "signal",
		name: "wait", handling: "rolled back", controller: "task CONGESTED",
	},
	{
		spec: "admission avoids a quarantined path", seen: sig(SignalAvoided),
		class: "NotPosted", scope: "route", action: "take another rail", reason: "PATH_QUARANTINED", source: "signal",
		name: "quarantined", handling: "another rail or transport", controller: "LONG_UNAVAILABLE",
	},
	{
		spec: "generation changes after acquisition", seen: sig(SignalGenerationChanged),
		class: "NotPosted", scope: "operation", action: "resolve the path again", reason: "STALE_GENERATION", source: "signal",
		marks: "done",
		name:  "generation changed", handling: "Both reservations", controller: "cannot touch",
	},
	{
		spec: "synchronous rejection of a post", seen: sig(SignalRejectedPost),
		class: "NotPosted", scope: "operation", action: "return the error", reason: "NONE", source: "signal",
		marks: "done",
		name:  "refused", handling: "at once", controller: "No completion is made up",
	},
	{
		spec: "deadline while the poller makes progress", seen: sig(SignalDeadlineProgressing),
		class: "RouteTimeout", scope: "QP", action: "retire the QP", reason: "ROUTE_TIMEOUT", source: "signal",
		marks: "hard over root",
		name:  "made progress", handling: "rebuilt", controller: "SUSPECT",
	},
	{
		spec: "deadline together with a poller stall", seen: sig(SignalDeadlineStalled),
		class: "NonFailure", scope: "operation", action: "keep using", reason: "NONE", source: "signal",
		name: "stood still", handling: "diagnosis", controller: "Not counted",
	},
	{
		spec: "read-only metadata RPC fails", seen: sig(SignalMetadataReadFailure),
		class: "ControlPlane", scope: "operation", action: "retry once", reason: "NONE", source: "signal",
		name: "read-only", handling: "once at most", controller: "window stays",
	},
	{
		spec: "mutating control RPC fails", seen: sig(SignalControlCallFailure),
		class: "ControlPlane", scope: "operation", action: "return the error", reason: "NONE", source: "signal",
		name: "control call", handling: "no replay", controller: "Nothing changes",
	},
	{
		spec: "stale metadata, rkey, address or permission", seen: sig(SignalStaleMetadata),
		class: "RemoteMetadata", scope: "operation", action: "refresh the metadata", reason: "REMOTE_METADATA", source: "signal",
		name: "out of date", handling: "refreshed", controller: "task UNKNOWN",
	},
	{
		spec: "explicit cancellation", seen: sig(SignalCancel),
		class: "Cancelled", scope: "operation", action: "finish the clean-up", reason: "NONE", source: "signal",
		marks: "over",
		name:  "cancelled", handling: "come back once", controller: "No root failure",
	},
	{
		spec: "QP teardown or old-endpoint reclamation", seen: sig(SignalTeardown),
		class: "Cancelled", scope: "QP", action: "finish the clean-up", reason: "NONE", source: "signal",
		marks: "done",
		name:  "torn down", handling: "comes back once", controller: "No root failure",
	},
	{
		spec: "all rails unavailable, with evidence", seen: sig(SignalNoRailQuarantined),
		class: "NotPosted", scope: "route", action: "fail over", reason: "NO_USABLE_PATH", source: "signal",
		name: "with quarantine", handling: "failover", controller: "LONG_UNAVAILABLE",
	},
	{
		spec: "all rails unavailable, without evidence", seen: sig(SignalNoRail),
		class: "NotPosted", scope: "operation", action: "fail over", reason: "NONE", source: "signal",
		name: "without evidence", handling: "failover", controller: "UNKNOWN",
	},
	{
		spec: "RDMA_CM_EVENT_DISCONNECTED, UNREACHABLE", seen: cm(10, 7),
		class: "Connection", scope: "route", action: "reconnect", reason: "NONE", source: "CM event",
		marks: "root",
		name:  "unreachable", handling: "reconnects", controller: "this route",
	},
	{
		spec: "RDMA_CM_EVENT_DEVICE_REMOVAL", seen: cm(11),
		class: "Fatal", scope: "device", action: "isolate the device", reason: "FATAL", source: "CM event",
		marks: "once root",
		name:  "device removed", handling: "identifiers", controller: "peer has not failed",
	},
	{
		spec: "not in the specification: attempts that fail", seen: cm(1, 3, 6, 8, 13, 17),
		class: "ControlPlane", scope: "operation", action: "return the error", reason: "NONE", source: "CM event",
		name: "attempt", handling: "error goes", controller: "Nothing was posted",
	},
	{
		spec: "not in the specification: address change", seen: cm(14),
		class: "NonFailure", scope: "none", action: "refresh the affected objects", reason: "NONE", source: "CM event",
		name: "address", handling: "refreshes", controller: "Nothing changes",
	},
	{
		spec: "not in the specification: notices", seen: cm(0, 2, 4, 5, 9, 12, 15, 16, 18, 19),
		class: "NonFailure", scope: "none", action: "keep using", reason: "NONE", source: "CM event",
		name: "notice", handling: "stay in use", controller: "Nothing changes",
	},
	{
		spec: "not in the specification: unknown CM events", seen: cm(20, 30, 31, 32, 255, 1<<32-1),
		class: "None", scope: "none", action: "nothing to do", reason: "NONE", source: "CM event",
		name: "not known", handling: "owner", controller: "Nothing changes",
	},
}

// mismatches asks the package about everything in the transcription and yields
// every column that answers otherwise.
func mismatches(yield func(string) bool) {
	for _, want := range specification {
		for _, o := range want.seen {
			for _, c := range want.columns(o) {
				wrong := c.got != c.want
				if c.part {
					wrong = !strings.Contains(c.got, c.want)
				}
				if wrong && !yield(fmt.Sprintf("row %q, %s: %s is %q, the specification says %q",
					want.spec, o.name, c.name, c.got, c.want)) {
					return
				}
			}
		}
	}
}

// column is one answer of the package, beside the one expected; with part, the
// answer is a text that must contain it.
type column struct {
	name, got, want string
	part            bool
}

// columns asks for every column about one observation.
func (want transcribed) columns(o observation) []column {
	v := o.verdict()
	list := []column{
		{"class", v.Class().String(), want.class, false},
		{"scope", v.Scope().String(), want.scope, false},
		{"action", v.Action().String(), want.action, false},
		{"reason", v.Reason().String(), want.reason, false},
		{"source", v.Source().String(), want.source, false},
		{"marks", marks(v), want.marks, false},
		{"raw value", strconv.Itoa(int(v.Raw())), strconv.Itoa(int(o.raw)), false},
		{"row", v.Row(), want.name, true},
		{"handling", matrices.rows[v.row].handling, want.handling, true},
		{"controller", matrices.rows[v.row].controller, want.controller, true},
	}
	if o.element != nil {
		list = append(list, column{"element", o.element().String(), o.object, false})
	}
	return list
}

// marks spells the yes-or-no columns of a verdict.
func marks(v Verdict) string {
	var yes []string
	for _, m := range []struct {
		name string
		yes  bool
	}{
		{"hard", v.Countable()}, {"once", v.Immediate()}, {"over", v.EndsAttempt()},
		{"done", v.Releases()}, {"root", v.IsRoot()},
	} {
		if m.yes {
			yes = append(yes, m.name)
		}
	}
	return strings.Join(yes, " ")
}
