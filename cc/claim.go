package cc

import (
	"container/list"
	"sync/atomic"
	"time"
)

// Claims keep large slices from starving. A slice that exceeds the window fits only
// when nothing else is in flight, and a steady stream of small ones never lets that
// happen. So the first such slice that a domain (a route or a device) defers leaves
// a claim there. For two drain times of the domain others may overtake it; after
// that all are deferred until it is admitted, unless their own claim is older. A
// claim that is not retried for four drain times lapses, and so does one whose slice was
// posted elsewhere meanwhile. A parked waiter is a claim of its own that does not lapse.
const (
	claimPrecedes = 2 // drain times
	claimLapses   = 4
)

// minDrainTime is the shortest drain time that claims reckon with, and what one is taken
// for that is not known yet; maxDrainTime is the longest, so that a claim that was given
// up does not stand for long. None lapses before minClaimLife, between two rounds of a
// caller's loop.
const (
	minDrainTime = 100 * time.Microsecond
	maxDrainTime = time.Second
	minClaimLife = 4 * time.Millisecond
)

// claimLife is how long a claim stands that is not retried: four drain times or more.
func claimLife(drain time.Duration) time.Duration { return max(claimLapses*drain, minClaimLife) }

// line is who stands in line for room in a domain. A domain has one only while
// somebody stands there; until it is gone no bytes are taken on leases, so that
// every slice comes by. The lock of the device's lines guards it; to be the first,
// one holds the device's lock too, so that no lease is just being made.
type line struct {
	claim  claim     // of a slice that comes again by itself
	parked list.List // of place, oldest number first
}

// claims numbers the places in lines: the lower came first.
var claims atomic.Uint64

// claim is one slice's place. A slice that asks on several rails may have one on each.
type claim struct {
	number         uint64  // 0 if there is none
	owner          *Permit // the slice's
	state          uint64  // of the owner then: it changes when it is posted
	since, retried time.Duration
}

// over reports whether the claim was last retried before then, or its slice was posted
// without it.
func (c *claim) over(then time.Duration) bool {
	return c.number != 0 && (c.retried <= then || c.owner.state.Load() != c.state)
}

// place is a waiter's place in one line.
type place struct {
	*waiter
	since time.Duration
}

// first returns the waiter whose turn it is, or nil.
func (l *line) first() *waiter {
	if l == nil || l.parked.Len() == 0 {
		return nil
	}
	return l.parked.Front().Value.(place).waiter
}

// of returns the number under which the permit's slice stands here, as a claim or as
// the first waiter; 0 if it does not.
func (l *line) of(p *Permit) uint64 {
	w := l.first()
	switch {
	case w != nil && w.number == p.claim:
		return w.number
	case l != nil && l.claim.owner == p:
		return l.claim.number
	}
	return 0
}

// number returns the number under which the permit's slice stands in line for the
// route or its device, the lower if it does for both; 0 if for neither.
func (r *Route) number(p *Permit) uint64 {
	mine, shared := r.line.Load().of(p), r.device.line.Load().of(p)
	if mine == 0 || shared == 0 {
		return max(mine, shared)
	}
	return min(mine, shared)
}

// precedes reports whether somebody who came before number, and no later than
// since, stands here. Number 0 came last of all.
func (l *line) precedes(number uint64, since time.Duration) bool {
	if l == nil {
		return false
	}
	before := func(c claim) bool {
		return c.number != 0 && (number == 0 || c.number < number) && c.since <= since
	}
	if before(l.claim) {
		return true
	}
	if l.parked.Len() == 0 {
		return false
	}
	p := l.parked.Front().Value.(place)
	return before(claim{number: p.number, since: p.since})
}

// routeLine and deviceLine return the line, and make it if there is none. The caller
// holds the device's lock and that of its lines.
func (r *Route) routeLine() *line {
	if r.line.Load() == nil {
		r.line.Store(&line{})
		r.flight.leasedAcquired.Or(closedBit)
	}
	return r.line.Load()
}

func (d *device) deviceLine() *line {
	if d.line.Load() == nil {
		d.line.Store(&line{})
		d.recall()
	}
	return d.line.Load()
}

// tidyLines drops empty lines, and wakes those whose turn it may be now. The caller
// holds the lock of the lines.
func (r *Route) tidyLines() {
	if l := r.line.Load(); l != nil && l.claim.number == 0 && l.parked.Len() == 0 {
		r.line.Store(nil)
	}
	r.line.Load().first().wake()
	r.device.tidyLine()
}

func (d *device) tidyLine() {
	if l := d.line.Load(); l != nil && l.claim.number == 0 && l.parked.Len() == 0 {
		d.line.Store(nil)
	}
	d.line.Load().first().wake()
}

// inLine reports whether anybody stands in line for bytes that the route could take.
func (r *Route) inLine() bool { return r.line.Load() != nil || r.device.line.Load() != nil }

// yields names the domain in which the permit's slice has to stand back for an
// earlier claim, or none.
func (r *Route) yields(p *Permit) Domain {
	d := r.device
	if !r.inLine() {
		return NoDomain
	}
	now, mine := r.ctl.now(), r.drainTime()
	shared := d.drainTime()
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	r.lapseClaims(now-claimLife(mine), now-claimLife(shared))
	number := r.number(p)
	switch {
	case r.line.Load().precedes(number, now-claimPrecedes*mine):
		return RouteDomain
	case d.line.Load().precedes(number, now-claimPrecedes*shared):
		return DeviceDomain
	}
	return NoDomain
}

// lapseClaims ends claims that are over by these times, on the route and on its device. The caller holds the lock of the lines.
func (r *Route) lapseClaims(mine, shared time.Duration) {
	lapsed := lapse(r.line.Load(), mine)
	if lapse(r.device.line.Load(), shared) || lapsed {
		r.tidyLines()
	}
}

// lapse ends a claim that is over.
func lapse(l *line, then time.Duration) bool {
	if l == nil || !l.claim.over(then) {
		return false
	}
	l.claim = claim{}
	return true
}

// stake leaves a claim for a slice that was refused and exceeds the window, unless
// the domain has one. The claims that the slice has already are retried with that.
func (r *Route) stake(p *Permit, n int64, refused Domain) {
	d := r.device
	window := r.window.Load()
	if refused == DeviceDomain {
		window = d.window.Load()
	}
	if n <= window && !r.inLine() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.stakeIn(refused, p, n > window)
}

// stakeTrial leaves a claim on the device for a trial that is due and finds no room
// there, however small it is: a device that is always full would keep the route out for
// ever. The caller holds the device's lock.
func (r *Route) stakeTrial(p *Permit) { r.stakeIn(DeviceDomain, p, true) }

// stakeIn retries the slice's claims, and leaves one in the domain that refused if it
// may and nobody has. The caller holds the device's lock.
func (r *Route) stakeIn(refused Domain, p *Permit, may bool) {
	now, d := r.ctl.now(), r.device
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	if w := r.line.Load().first(); w != nil && w.number == p.claim {
		return // parked: its place is its claim
	}
	// A retry that comes too late is a new claim.
	r.lapseClaims(now-claimLife(r.drainTime()), now-claimLife(d.drainTime()))
	for _, l := range []*line{r.line.Load(), d.line.Load()} {
		if l != nil && l.claim.owner == p {
			l.claim.retried = max(l.claim.retried, now)
		}
	}
	if !may {
		return
	}
	var l *line
	if refused == DeviceDomain {
		l = d.deviceLine()
	} else {
		l = r.routeLine()
	}
	if l.claim.number != 0 {
		return
	}
	if p.claim = r.number(p); p.claim == 0 {
		p.claim = claims.Add(1)
	}
	l.claim = claim{p.claim, p, p.state.Load(), now, now}
}

// endClaim ends the claims of a slice that was admitted.
func (r *Route) endClaim(p *Permit) {
	d := r.device
	d.lineMu.Lock()
	defer d.lineMu.Unlock()
	for _, l := range []*line{r.line.Load(), d.line.Load()} {
		if l != nil && l.claim.owner == p {
			l.claim = claim{}
		}
	}
	p.claim = 0
	r.tidyLines()
}

// drainTime is how long the route takes to deliver what is in flight on it, as far
// as claims reckon with it.
func (r *Route) drainTime() time.Duration {
	if m := r.meter.Load(); m != nil {
		return forClaims(m.drain.get())
	}
	return minDrainTime
}

func forClaims(drain time.Duration) time.Duration { return min(max(drain, minDrainTime), maxDrainTime) }

// drainTime is the same of the device.
func (d *device) drainTime() time.Duration {
	return forClaims(d.report.drain.get())
}
