package cc

// growLease makes room for n bytes on the route's lease, with some to spare, while
// the window of the device is at most three quarters given out. It reports whether
// taking n on the lease is worth another try.
func (r *Route) growLease(n int64) bool {
	d, f := r.device, &r.flight
	part := min(r.window.Load(), d.window.Load()/leasePart)
	if n > part || !r.state().usable() || r.inLine() || d.granted.Load()+part > d.window.Load()/4*3 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	need := f.leased() + n
	if need > r.window.Load()-f.direct() || !r.state().usable() || r.inLine() {
		return false
	}
	r.enterLocked()
	if !r.lessee {
		r.lessee = true
		r.lease = r.resumeLease()
		r.place = int32(len(d.lessees))
		d.lessees = append(d.lessees, r)
		d.leases.Add(1)
	}
	if need > r.lease {
		if d.granted.Add(part) > d.window.Load()/4*3 {
			d.granted.Add(-part)
		} else {
			r.lease += part
		}
	}
	r.openLimit()
	return need <= f.limit.Load()
}

// openLimit lets bytes be taken on the lease. Bytes that were taken directly count
// against the window too, and from here on only become fewer: who takes directly
// after the lease is open sees that, and gives back. The caller holds the device's
// lock.
func (r *Route) openLimit() {
	f := &r.flight
	f.limit.Store(0)
	f.leasedAcquired.And(^uint64(closedBit))
	f.limit.Store(min(r.lease, r.window.Load()-f.direct()))
}

// closeLease ends taking on the lease, so that bytes may be taken directly.
func (r *Route) closeLease() {
	if !r.flight.open() {
		return
	}
	r.device.mu.Lock()
	r.flight.leasedAcquired.Or(closedBit)
	r.device.mu.Unlock()
}

// drainLease closes the lease, marks what is in flight on it as the device's, and
// returns how many bytes that is. The caller holds the device's lock.
func (r *Route) drainLease() int64 {
	f := &r.flight
	acquired := f.leasedAcquired.Or(closedBit)
	return held(acquired, f.leasedSettled.Or(drainBit))
}

// resumeLease takes what a recall left with the permits into a new lease and
// returns how many bytes that is. The lease is closed. The caller holds the
// device's lock.
func (r *Route) resumeLease() int64 {
	f := &r.flight
	settled := f.leasedSettled.And(^uint64(drainBit))
	if settled&drainBit == 0 {
		return 0
	}
	return held(f.leasedAcquired.Load(), settled)
}

// settle gives n bytes back to where they came from: those of a lease to the lease,
// and to the device when the lease was recalled or there was none.
func (r *Route) settle(n int64, direct bool) {
	if direct {
		met := r.flight.directSettled.Add(units(n))
		r.device.giveBack(n)
		if met&waitBit != 0 {
			r.roomMade()
		}
		return
	}
	r.settled(r.flight.leasedSettled.Add(units(n)), n)
}

// settled does what the flags ask for that giving back n bytes of a lease met.
func (r *Route) settled(met uint64, n int64) {
	if met&drainBit != 0 {
		r.device.giveBack(n)
	}
	if met&waitBit != 0 {
		r.roomMade()
	}
}
