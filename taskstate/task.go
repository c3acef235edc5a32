package taskstate

import (
	"sync/atomic"

	"github.com/rdmagate/rdmagate/classify"
)

// Task is the evidence of one logical transfer, which may have many slices. It is
// embedded in the caller's own task and must not be copied. The zero value is
// ready to use, and [Unknown]. A pool may zero a Task in place while no call of it
// runs: it is a new task then, also to slices that are still bound to it.
//
// A Task is 16 bytes. The first anomaly allocates a record of fixed size, about
// 1 KiB; nothing that happens afterwards allocates again.
//
// The worst unresolved slice decides the state: LONG_UNAVAILABLE before CONGESTED,
// before UNKNOWN by a failure, before NORMAL. NORMAL also needs a success in the
// present attempt. Queries read memory only: they change nothing, and touch no
// device. Ask before the batch is given back; a Task that is asked later is safe
// memory, and answers with the last it knew.
//
// A nil *Task is allowed everywhere: it is Unknown and records nothing. All
// methods are safe for concurrent use.
type Task struct {
	_ noCopy

	word   atomic.Uint64
	record atomic.Pointer[record] // nil until the first anomaly
}

// The task's word: everything that the path without trouble needs, in one load.
// The attempt counts from 0 here, so that a zero word is a new task.
//
// The success bit may be set, and the attempt of a task without unresolved
// evidence may be ended, by compare-and-swap alone. All else is changed with the
// record's lock held, again by compare-and-swap.
type word uint64

const (
	worstMask    word = 3      // severity of the worst unresolved evidence
	successBit   word = 1 << 2 // a slice succeeded in this attempt
	noPathBit    word = 1 << 3 // NoUsablePath is unresolved
	attemptShift      = 32
)

func (w word) attempt() uint32   { return uint32(w >> attemptShift) }
func (w word) number() uint32    { return w.attempt() + 1 } // as callers know it
func (w word) nextAttempt() word { return word(w.attempt()+1) << attemptShift }
func (w word) worst() severity   { return severity(w & worstMask) }
func (w word) succeeded() bool   { return w&successBit != 0 }
func (w word) noPath() bool      { return w&noPathBit != 0 }

func (t *Task) load() word              { return word(t.word.Load()) }
func (t *Task) swap(old, new word) bool { return t.word.CompareAndSwap(uint64(old), uint64(new)) }

func (w word) state() State {
	switch {
	case w.worst() != severityNone:
		return w.worst().state()
	case w.succeeded():
		return Normal
	default:
		return Unknown
	}
}

// State is the minimal query: one atomic load, no allocation.
func (t *Task) State() State {
	if t == nil {
		return Unknown
	}
	return t.load().state()
}

// Attempt returns the number of the present attempt, from 1; 0 for a nil task. It is one
// atomic load, as State is.
func (t *Task) Attempt() uint32 {
	if t == nil {
		return 0
	}
	return t.load().number()
}

// Untouched reports whether nothing at all has happened to the task: it is in its first
// attempt, and nothing succeeded or was recorded. A recorder tells by it that memory
// holds another task now.
func (t *Task) Untouched() bool { return t == nil || t.load() == 0 }

// NextAttempt begins a new attempt of the whole task and returns its number; the
// first attempt is 1. Open evidence is resolved and the success is forgotten, so
// the state is [Unknown] until something happens. Whatever slices of older
// attempts still report is ignored. It returns 0 for a nil task.
func (t *Task) NextAttempt() uint32 {
	if t == nil {
		return 0
	}
	for {
		w := t.load()
		if w.worst() == severityNone {
			if next := w.nextAttempt(); t.swap(w, next) {
				return next.number()
			}
		} else if next, ended := t.record.Load().endAttempt(t); ended {
			return next.number()
		}
	}
}

// NoUsablePath records that selection found no path at all, so that no slice has
// an answer from an admission. The reason is always NO_USABLE_PATH, whatever ev
// says; ev may be nil. The next admission that is no trial, the next success or a
// new attempt resolves it.
func (t *Task) NoUsablePath(ev *Evidence) Effect {
	if t == nil {
		return Nothing
	}
	var kept Evidence
	if ev != nil {
		kept = *ev
	}
	kept.Reason = classify.ReasonNoUsablePath
	t.needRecord().recordNoPath(t, &kept)
	return Recorded
}

// needRecord returns the record and allocates it if this is the first anomaly.
func (t *Task) needRecord() *record {
	if r := t.record.Load(); r != nil {
		return r
	}
	r := newRecord()
	if t.record.CompareAndSwap(nil, r) {
		return r
	}
	return t.record.Load()
}

// noCopy makes go vet report copies of the struct that embeds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
