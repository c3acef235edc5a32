package cc

import "sync/atomic"

// cacheLine is the unit in which cores pass memory to each other. Words that
// different cores write are kept that far apart; two lines, since the hardware
// fetches lines in pairs.
const cacheLine = 128

// domain is a byte window with the bytes that permits have reserved in it. A
// device is one, a route is one. It is safe for concurrent use.
type domain struct {
	_        [cacheLine]byte
	inFlight atomic.Int64
	window   atomic.Int64
	_        [cacheLine - 16]byte
}

// reserve takes n bytes if they fit the window or if the domain is empty: a slice
// is never split, so an empty domain admits one that is larger than its window.
func (d *domain) reserve(n int64) bool {
	for {
		held := d.inFlight.Load()
		if held != 0 && held+n > d.window.Load() {
			return false
		}
		if d.inFlight.CompareAndSwap(held, held+n) {
			return true
		}
	}
}

// force takes n bytes whatever the window says, and reports whether reserve would
// have.
func (d *domain) force(n int64) bool {
	held := d.inFlight.Add(n) - n
	return held == 0 || held+n <= d.window.Load()
}

// release gives n bytes back.
func (d *domain) release(n int64) { d.inFlight.Add(-n) }
