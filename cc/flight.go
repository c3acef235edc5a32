package cc

import "sync/atomic"

// cacheLine is the unit in which cores pass memory to each other.
const cacheLine = 64

// flight counts a route's bytes. Bytes are taken in one of two ways: on the
// route's lease of device credit, which touches nothing outside of the route, or
// directly from the device. While one way is open the other only shrinks.
//
// Each way has two words that only grow, one written by posters and one by
// pollers. Their difference is in flight, and what came back is what was
// delivered, but for the few bytes that undelivered counts. Counts are four times
// the bytes; the lowest bits of a word are flags, so that whoever adds sees them in
// the value that the addition itself met.
//
// Words that posters write and words that pollers write are a cache line apart,
// wherever the struct begins, so that the two do not take the line from each other for
// every slice. What fills the space is seldom written.
type flight struct {
	// limit is how many bytes may be in flight on the lease: the lease, or less if
	// the window or bytes taken directly leave less room. It is changed with the
	// device's lock held.
	limit          atomic.Int64
	leasedAcquired atomic.Uint64
	directAcquired atomic.Uint64
	// seenSettled is leasedSettled as a poster last read it, so that posters seldom
	// touch the line that pollers write. What is in flight is never more than it says.
	seenSettled atomic.Uint64

	window atomic.Int64 // bytes
	full   atomicFlag   // the window refused a slice since the law last looked
	active atomic.Bool  // on the monitor's list

	// The device's lock guards these.
	lawWindow int64 // what the law allows; window is less in some states
	lease     int64 // bytes of device credit
	place     int32 // in the device's list of lessees
	lessee    bool  // it is in that list

	// outdated is how many of the bytes in flight are not of the current generation.
	outdated    atomic.Int64
	undelivered atomic.Int64

	leasedSettled atomic.Uint64
	directSettled atomic.Uint64
}

// Flags of the leased words.
const (
	closedBit = 1 << 0 // in acquired: nothing is taken on the lease
	waitBit   = 1 << 0 // in settled: somebody waits for room
	drainBit  = 1 << 1 // in settled: the lease was recalled, what settles is the device's
	flagBits  = 3
	unitShift = 2
)

func units(n int64) uint64 { return uint64(n) << unitShift }

func held(acquired, settled uint64) int64 {
	return int64((acquired&^flagBits - settled&^flagBits) >> unitShift)
}

func (f *flight) leased() int64 { return between(&f.leasedAcquired, &f.leasedSettled) }
func (f *flight) direct() int64 { return between(&f.directAcquired, &f.directSettled) }

// looks is how often a reader tries to see two words at one moment. A reader that
// is interrupted between the two counts what was taken meanwhile as well.
const looks = 8

// between returns the bytes that were taken and not given back. The settled word is
// read first, so that they never look negative, and again, so that they are those
// of one moment.
func between(acquired, settled *atomic.Uint64) (n int64) {
	before := settled.Load()
	for range looks {
		n = held(acquired.Load(), before)
		after := settled.Load()
		if after == before {
			break
		}
		before = after
	}
	return n
}

// open reports whether bytes are taken on the lease rather than directly.
func (f *flight) open() bool { return f.leasedAcquired.Load()&closedBit == 0 }

// inFlight returns the bytes that permits hold.
func (f *flight) inFlight() int64 { return f.leased() + f.direct() }

// atMost is inFlight in one look: it may show more than was ever out, not less.
func (f *flight) atMost() int64 {
	leased, direct := f.leasedSettled.Load(), f.directSettled.Load()
	return held(f.leasedAcquired.Load(), leased) + held(f.directAcquired.Load(), direct)
}

// takeLeased reserves n bytes on the lease, if the limit lets it. If the limit
// fell meanwhile, the bytes are reserved all the same and have to be rolled back.
func (f *flight) takeLeased(n int64) (taken, rollBack bool) {
	for {
		settled := f.leasedSettled.Load()
		if f.seenSettled.Load() != settled {
			f.seenSettled.Store(settled)
		}
		acquired := f.leasedAcquired.Load()
		after := held(acquired, settled) + n
		if after > f.limit.Load() || acquired&closedBit != 0 {
			return false, false
		}
		if !f.leasedAcquired.CompareAndSwap(acquired, acquired+units(n)) {
			continue
		}
		// Whoever lowers the limit looks at the bytes in flight afterwards: of the
		// two, at least one sees the other.
		ok := after <= f.limit.Load()
		return ok, !ok
	}
}

// takeDirect reserves n bytes beside the lease if at most window are then in
// flight, or none are now.
func (f *flight) takeDirect(n, window int64) bool {
	for {
		settled := f.directSettled.Load()
		acquired := f.directAcquired.Load()
		if h := held(acquired, settled) + f.leased(); h != 0 && h+n > window {
			return false
		}
		if f.directAcquired.CompareAndSwap(acquired, acquired+units(n)) {
			return true
		}
	}
}

// delivered returns the bytes that arrived, ever, on endpoints that were current
// then and before a deadline. What is given back undelivered is counted as that before
// it is as given back: between the two there are fewer delivered than there were, or
// less than none.
func (f *flight) delivered() (n int64) {
	lost := f.undelivered.Load()
	for range looks {
		settled := f.leasedSettled.Load()>>unitShift + f.directSettled.Load()>>unitShift
		after := f.undelivered.Load()
		n = int64(settled) - after
		if after == lost {
			break
		}
		lost = after
	}
	return n
}
