package taskstate

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Evidence is one thing that a task met: an admission that was refused, or an
// attempt that failed. It is copied when it is kept, so the caller may build it on
// the stack and reuse it.
type Evidence struct {
	// Reason decides the state; see [StateOf]. Evidence with a reason that says
	// nothing about a task is not kept.
	Reason classify.Reason
	// Scope is how far the failure reaches. ScopeNone means not observed.
	Scope classify.Scope
	// Verdict holds the raw status and vendor_err. The zero value means that no
	// completion, event or signal was seen.
	Verdict classify.Verdict
	// Root is the root cause of a flush, or nil. It is kept by reference and asked
	// when the task is queried, since the cause may surface after its flushes.
	Root *classify.RootCause
	// Pair is the path, or nil if there is no single one.
	Pair *rail.Pair
	// Generation is the endpoint generation of the attempt, from 1; 0 means not
	// observed, and then nothing is fenced by it.
	Generation uint64
	// At is the time of the observation, a reading of the caller's monotonic clock.
	At time.Duration
	// Window and InFlight are bytes of the domain that refused or failed, if known.
	Window, InFlight Observed[int64]
	// Cooldown is what was left of the path's quarantine, if known.
	Cooldown Observed[time.Duration]
}

// severity orders what a slice can be troubled by, from none to worst. It fits
// into two bits of a task's state word.
type severity uint8

const (
	severityNone severity = iota
	severityFailure
	severityCongested
	severityUnavailable

	severities = int(severityUnavailable) // without severityNone
)

func (s severity) state() State {
	switch s {
	case severityCongested:
		return Congested
	case severityUnavailable:
		return LongUnavailable
	default:
		return Unknown
	}
}

// StateOf returns the state that unresolved evidence with this reason puts a task
// in, and whether the reason is evidence about a task at all. A stale or retired
// generation is not: the attempt was never made.
// Specification: task evidence table.
func StateOf(r classify.Reason) (State, bool) {
	s := severityOf(r)
	return s.state(), s != severityNone
}

func severityOf(r classify.Reason) severity {
	switch r {
	case classify.ReasonByteWindow, classify.ReasonCongestionFeedback,
		classify.ReasonReceiverPressure, classify.ReasonRouteTimeout,
		classify.ReasonRouteSuspect, classify.ReasonProbing:
		return severityCongested
	case classify.ReasonPathQuarantined, classify.ReasonProbeFailed,
		classify.ReasonNoUsablePath:
		return severityUnavailable
	case classify.ReasonLocalConfiguration, classify.ReasonRemoteMetadata,
		classify.ReasonDerivedFlush, classify.ReasonFatal:
		return severityFailure
	default:
		return severityNone
	}
}

// opensPath tells the refusals that only a path in use can give: its window was
// full. They replace the slice's earlier LONG_UNAVAILABLE. A suspect or probing
// path has not recovered yet, so refusals of those kinds leave it standing.
func opensPath(r classify.Reason) bool {
	return r == classify.ReasonByteWindow || r == classify.ReasonCongestionFeedback
}
