package cc

import (
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// record is what is kept only of a route that has been in trouble. Most routes never
// are, and have none. It is opened before the route leaves HEALTHY for the first
// time, or by the first fault that does not count, and kept from then on: trials that
// are still on their way need its numbers.
//
// The device's lock guards the pointer to it and all in it but userDue. Who has seen
// another state than HEALTHY may follow the pointer without the lock.
type record struct {
	// userDue is when a user's slice may be the trial, for barred routes: whoever comes
	// earlier is turned away without a lock.
	userDue atomic.Int64
	due     time.Duration // when a trial may start

	local  rail.Breaker // the verdict on the port, device or CQ
	faults faults

	// barredUpTo is the newest generation in which something may have been posted
	// before the latest verdict: a trial needs a later one. voided is the newest
	// trial that began before it: neither that one nor an older one proves anything.
	barredUpTo Generation
	voided     uint64
	trials     uint64 // how many there were
	trial      trial
	probes     probes
	counted    bool // failures were counted when the state was last derived
	// evidence is the number of the latest verdict on the pair that the state takes
	// into account.
	evidence uint64

	since   time.Duration
	reason  classify.Reason
	verdict classify.Verdict
}

// openRecord returns the route's record, and opens it if there is none. The caller
// holds the device's lock.
func (h *health) openRecord() *record {
	if h.record == nil {
		h.record = &record{}
	}
	return h.record
}

// local returns a copy of the verdict on the port, device or CQ. The caller holds the
// device's lock.
func (h *health) local() rail.Breaker {
	if h.record == nil {
		return rail.Breaker{}
	}
	return h.record.local
}

// faulty reports whether there were faults that did not count since the last success.
// The caller holds the device's lock.
func (h *health) faulty() bool { return h.record != nil && h.record.faults.seen > 0 }
