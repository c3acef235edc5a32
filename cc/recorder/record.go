package recorder

import (
	"fmt"
	"time"
)

// record is what lies in a slot of the ring: seven words, of which the first says what the
// others are.
type record [7]uint64

// kind is what a record says.
type kind uint8

const (
	noKind kind = iota
	acquireKind
	postKind
	unpostedKind
	settleKind
	beatKind
	clockKind
	jitterKind
	toldKind
	syncedKind
	tickKind
	closeRouteKind
	closeKind
	closePollerKind
	unreachableKind
	lookKind
	// These have parts.
	renewKind
	routeKind
	forgetKind
	eventKind
	pollerKind
	dueKind
	// Parts of the record that follows them.
	textKind
	numbersKind
)

// lead makes the first word: what it is, three bytes and a number.
func lead(k kind, a, b, c uint8, n uint32) uint64 {
	return uint64(k) | uint64(a)<<8 | uint64(b)<<16 | uint64(c)<<24 | uint64(n)<<32
}

// pack makes a record of its words.
func pack(w0, w1, w2, w3, w4, w5, w6 uint64) record {
	return record{w0, w1, w2, w3, w4, w5, w6}
}

func (r *record) kind() kind { return kind(r[0]) }

// octet returns byte i of the first word, from 1.
func (r *record) octet(i int) uint8 { return uint8(r[0] >> (8 * i)) }

// number returns the number in the first word.
func (r *record) number() uint32 { return high(r[0]) }

// both makes one word of two.
func both(low, high uint32) uint64 { return uint64(low) | uint64(high)<<32 }

func low(w uint64) uint32  { return uint32(w) }
func high(w uint64) uint32 { return uint32(w >> 32) }

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// time returns when what is recorded was, if it says so.
func (r *record) time() (at time.Duration, timed bool) {
	switch r.kind() {
	case clockKind, beatKind, tickKind, dueKind, unreachableKind:
		return time.Duration(r[1]), true
	case settleKind:
		return time.Duration(r[2]), true
	case postKind:
		return time.Duration(r[3]), true
	}
	return 0, false
}

// group adds a record to its parts.
func group(parts []record, r record) []record {
	r[0] |= uint64(uint8(len(parts))) << 24
	return append(parts, r)
}

// follows reports whether all of a record's parts are there.
func (r *record) follows(p *parts) bool {
	if r.kind() == acquireKind {
		return uint64(p.records) == r.acquireParts()
	}
	return !r.kind().grouped() || uint8(p.records) == r.octet(3)
}

// grouped reports whether a record has parts.
func (k kind) grouped() bool { return k >= renewKind }

// Fault is what was wrong with a call that returned an error.
type Fault uint8

// The faults, by the errors of package cc.
const (
	NoFault Fault = iota
	Closed
	Held
	NotHeld
	StaleGeneration
	TrialOver
	Foreign
	UnknownQP
	NoElement // an event that names no element
	Ended     // the context of an Acquire ended
	Invalid   // anything else
)

var faults = [...]string{"none", "closed", "held", "not held", "stale generation", "trial over", "foreign", "unknown QP", "no element", "ended", "invalid"}

// String returns the fault in words, such as "stale generation".
func (f Fault) String() string {
	if int(f) < len(faults) {
		return faults[f]
	}
	return fmt.Sprintf("Fault(%d)", uint8(f))
}
