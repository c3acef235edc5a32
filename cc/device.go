package cc

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
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

	ctl *Controller
	qps registry // the controller's lock guards it
	activity

	// line is who stands in line for the device's room; nil if nobody does.
	// roomWanted says that the first of them waits to be woken.
	line       atomic.Pointer[line]
	roomWanted atomic.Bool
	lineMu     sync.Mutex // guards the lines of the device and its routes; taken last

	mu          sync.Mutex
	lessees     []*Route
	routes      []*Route
	leaving     []*Route     // closed, and not all of their bytes were back
	mostLeaving int          // beyond that it is time to look whose bytes are back
	left        int64        // bytes that closed routes delivered
	refused     refusals     // of closed routes
	pending     []Transition // noted under the lock, told after it
	// marks holds the ports that failed, and 0 for the device itself. Routes there
	// are isolated, also those that are made later.
	marks map[uint8]classify.Verdict
	// exhausted holds the ports without a usable route, and 0 for the device.
	exhausted map[uint8]bool
	// usableAt is where in routes the latest usable route of each port, and of any for 0,
	// was found. The next look begins there: routes that fail one after the other are not
	// all looked at for each of them.
	usableAt map[uint8]int
	latest   time.Duration
}

// locked runs f with the device's lock held and then tells of the transitions that
// f noted.
func (d *device) locked(f func()) { d.ctl.tell(d.run(f)) }

// run runs f with the device's lock held and returns the transitions that f noted.
func (d *device) run(f func()) (told []Transition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	told, d.pending = d.pending, nil
	return told
}

// later returns now, or the latest time that health was told of on this device if
// that is later: time does not go back. The caller holds the lock.
func (d *device) later(now time.Duration) time.Duration {
	d.latest = max(d.latest, now)
	return d.latest
}

// note keeps a transition until the lock is released.
func (d *device) note(t Transition) { d.pending = append(d.pending, t) }

// mark isolates the routes of a port, or of the whole device for port 0, now and
// until a trial there succeeds. The caller holds the lock.
func (d *device) mark(port uint8, v classify.Verdict, now time.Duration) {
	if d.marks == nil {
		d.marks = map[uint8]classify.Verdict{}
	}
	d.marks[port] = v
	now = d.later(now)
	var hit [256]*Route // one of each port
	for _, r := range d.routes {
		if port == 0 || port == r.pair.Port {
			r.isolate(v, now)
			hit[r.pair.Port] = r
		}
	}
	for _, r := range hit {
		if r != nil {
			d.checkUsable(r, v, now)
		}
	}
}

// add takes in a new route: what the port and the device suffer from, it suffers
// too. The caller holds the lock.
func (d *device) add(r *Route, now time.Duration) {
	r.inDevice = int32(len(d.routes))
	d.routes = append(d.routes, r)
	if r.health.limited = d.limits(r.pair.Port); r.health.limited {
		r.health.watched.Store(true)
		r.applyWindow()
	}
	for _, port := range [...]uint8{0, r.pair.Port} {
		if v, marked := d.marks[port]; marked {
			r.isolate(v, d.later(now))
			d.checkUsable(r, v, now)
		}
	}
}

// remove takes out a route that was closed. Its bytes still count until they are
// back.
func (d *device) remove(r *Route) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.returnLease(r)
	last := len(d.routes) - 1
	d.routes[last].inDevice = r.inDevice
	d.routes[r.inDevice] = d.routes[last]
	d.routes[last] = nil
	d.routes = d.routes[:last]
	if r.flight.inFlight() != 0 {
		d.leaving = append(d.leaving, r)
	}
	d.left += r.shownDelivered()
	d.refused.add(&r.refusals)
	d.forgetExhausted()
	if len(d.leaving) > d.mostLeaving { // not each time: there may be many
		d.tidy()
		d.mostLeaving = 2 * len(d.leaving)
	}
}

// tidy forgets closed routes whose bytes are back. The caller holds the lock.
func (d *device) tidy() {
	d.leaving = slices.DeleteFunc(d.leaving, func(r *Route) bool { return r.flight.inFlight() == 0 })
}

// liftMarks ends the marks that a trial on this port disproved. The other routes
// keep their quarantine until a trial of their own.
func (d *device) liftMarks(port uint8) {
	delete(d.marks, port)
	delete(d.marks, 0)
}

// portActive lets the barred routes of a port have an early trial, one probe
// interval from now.
func (d *device) portActive(port uint8, now time.Duration) {
	now = d.later(now)
	for _, r := range d.routes {
		if r.pair.Port != port {
			continue
		}
		if r.syncLocked(now); r.state().barred() {
			at := now + d.ctl.probeInterval()
			r.health.record.local.Allow(at)
			r.updatePath(now, func(b *rail.Breaker) bool { b.Allow(at); return false })
			r.reconsider(now, cause{})
		}
	}
}

// leasePart is the largest lease, as a part of the device's window.
const leasePart = 16

// inFlight returns the bytes that permits hold on the device.
func (d *device) inFlight() (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	for _, list := range [][]*Route{d.routes, d.leaving} {
		for _, r := range list {
			n += r.flight.inFlight()
		}
	}
	return n
}

// taken is inFlight by what was given out: it does not look at every route.
func (d *device) taken() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.granted.Load()
	for _, r := range d.lessees {
		n -= r.lease - r.flight.leased()
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
			d.giveBack(n)
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
	defer d.mu.Unlock()
	return d.recallAndTake(n)
}

// recallAndTake is takeAfterRecall with the lock held.
func (d *device) recallAndTake(n int64) bool {
	d.recall()
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

// returnLease ends the lease of one route, if it has one. The caller holds the lock.
func (d *device) returnLease(r *Route) {
	if !r.lessee {
		return
	}
	d.granted.Add(r.drainLease() - r.lease)
	last := len(d.lessees) - 1
	d.lessees[last].place = r.place
	d.lessees[r.place] = d.lessees[last]
	d.lessees[last] = nil
	d.lessees = d.lessees[:last]
	r.lease, r.lessee = 0, false
	d.leases.Add(-1)
}

// setWindow changes the window. A smaller one ends the leases.
func (d *device) setWindow(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.window.Swap(bytes) > bytes {
		d.recall()
	}
	d.wake()
}
