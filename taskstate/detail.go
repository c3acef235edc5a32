package taskstate

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Detail is the detailed answer about a task: a copy, which later evidence does
// not change. Everything that was not observed says so.
//
// Below State and Attempt, the fields describe one piece of evidence: while
// something is unresolved, the most recent of the severity that decides the
// state; else the most recent that was resolved. Which slice reports last decides
// what is recent. A task keeps the last two of each severity: when more slices
// than that are troubled, and those that reported last recover first, the
// evidence shown may be one of theirs.
type Detail struct {
	// State is the minimal answer.
	State State `json:"state"`
	// Attempt is the task's present attempt, from 1; 0 for a nil task.
	Attempt uint32 `json:"attempt"`
	// Unresolved counts the slices whose trouble decides the state, those that have
	// changed over to other tasks and left it unresolved among them, and the task's
	// own NO_USABLE_PATH.
	Unresolved uint32 `json:"unresolved"`
	// Reason is why. It is observed whenever the task has met anything; the fields
	// below can be observed only then.
	Reason Observed[classify.Reason] `json:"reason"`
	// Resolved says that the task got past it.
	Resolved Observed[bool] `json:"resolved"`
	// Scope is how far the failure reaches.
	Scope Observed[classify.Scope] `json:"scope"`
	// Pair is the path.
	Pair Observed[rail.Pair] `json:"pair"`
	// At is the time of the observation on the caller's monotonic clock.
	At Observed[time.Duration] `json:"at_ns"`
	// ObservedAttempt is the task's attempt in which it was observed, from 1.
	ObservedAttempt Observed[uint32] `json:"observed_attempt"`
	// Generation is the endpoint generation of the slice's attempt.
	Generation Observed[uint64] `json:"generation"`
	// Verdict is the completion, event or signal, with its raw status and vendor_err.
	Verdict Observed[classify.Verdict] `json:"verdict"`
	// RootCause is what put the QP of a flushed work request into its error state.
	// It is looked up at the time of the query.
	RootCause Observed[classify.Verdict] `json:"root_cause"`
	// Window is the byte window that applied, InFlight the bytes under way in it.
	Window   Observed[int64] `json:"window_bytes"`
	InFlight Observed[int64] `json:"in_flight_bytes"`
	// Cooldown is how long the path's quarantine was to last from At on.
	Cooldown Observed[time.Duration] `json:"cooldown_ns"`
}

// Guidance is what the caller should do; see [State.Guidance].
func (d Detail) Guidance() Guidance { return d.State.Guidance() }

// Detail is the detailed query. It takes a short lock if the task ever met an
// anomaly, and changes nothing.
func (t *Task) Detail() Detail {
	if t == nil {
		return Detail{}
	}
	w := t.load() // before the record, which exists before the word tells of trouble
	r := t.record.Load()
	if r == nil {
		return detailOf(w)
	}
	d, root := r.detail(t)
	if root != nil {
		if cause, ok := root.Cause(); ok {
			d.RootCause = Seen(cause)
		}
	}
	return d
}

func detailOf(w word) Detail {
	return Detail{State: w.state(), Attempt: w.number()}
}

// detail returns the answer, and the root cause that is to be asked without lock.
func (r *record) detail(t *Task) (Detail, *classify.RootCause) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := t.load()
	d := detailOf(w)
	if w.worst() != severityNone {
		d.Unresolved = r.unresolved[w.worst()]
	}
	e := r.relevant(w.worst())
	if e == nil {
		return d, nil
	}
	d.Reason = Seen(e.ev.Reason)
	d.Resolved = Seen(w.worst() == severityNone)
	d.Scope = seenUnlessZero(e.ev.Scope)
	if e.hasPair {
		d.Pair = Seen(e.pair)
	}
	d.At = Seen(e.ev.At)
	d.ObservedAttempt = Seen(e.attempt + 1)
	d.Generation = seenUnlessZero(e.ev.Generation)
	d.Verdict = seenUnlessZero(e.ev.Verdict)
	d.Window, d.InFlight, d.Cooldown = e.ev.Window, e.ev.InFlight, e.ev.Cooldown
	return d, e.ev.Root
}

func seenUnlessZero[T comparable](v T) Observed[T] {
	var zero T
	return Observed[T]{value: v, seen: v != zero}
}
