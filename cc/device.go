package cc

import (
	"sync"
	"sync/atomic"
)

// device is one local RDMA device: the window that its routes share, and the lock
// of everything about them that is not on the post path.
//
// Routes hold leases of the window, so that a post touches only its own route.
// Where no lease is to be had, bytes are taken from the device directly, slice by
// slice. granted is the sum of both: no more is given out than the window, so no
// more can be in flight. Leases are given while the window is far from full, and
// all end before anybody is refused.
type device struct {
	name string

	window  atomic.Int64
	granted atomic.Int64
	leases  atomic.Int64 // how many routes have one

	mu      sync.Mutex
	lessees []*Route
	routes  []*Route
}

// leasePart is the largest lease, as a part of the device's window.
const leasePart = 16

// inFlight returns the bytes that permits hold on the device.
func (d *device) inFlight() (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.routes {
		n += r.flight.inFlight()
	}
	return n
}

// take gives out n bytes of the window, if they fit or if nothing is given out.
func (d *device) take(n int64) bool {
	for {
		granted := d.granted.Load()
		if granted != 0 && granted+n > d.window.Load() {
			return false
		}
		if d.granted.CompareAndSwap(granted, granted+n) {
			if granted == 0 || granted+n <= d.window.Load() {
				return true
			}
			d.granted.Add(-n)
			return false
		}
	}
}

// takeAfterRecall ends the leases, if there are any, and tries again: nobody is
// refused for the sake of idle credit.
func (d *device) takeAfterRecall(n int64) bool {
	if d.leases.Load() == 0 {
		return false
	}
	d.mu.Lock()
	d.recall()
	d.mu.Unlock()
	return d.take(n)
}

// recall ends all leases: idle credit comes back now, the rest as its permits
// settle. The caller holds the lock.
func (d *device) recall() {
	for _, r := range d.lessees {
		d.granted.Add(r.drainLease() - r.lease)
		r.lease, r.lessee = 0, false
	}
	clear(d.lessees)
	d.lessees = d.lessees[:0]
	d.leases.Store(0)
}

// setWindow changes the window. A smaller one ends the leases.
func (d *device) setWindow(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.window.Swap(bytes) > bytes {
		d.recall()
	}
}
