package cc

import "time"

// modelClaim is the place of a slice that exceeds a window, in line for it; number 0
// is none.
type modelClaim struct {
	number         int
	owner          *modelPermit
	posts          int // of the owner's slices until then
	since, retried time.Duration
}

// domains are the two lines that a slice may stand in, with what they take for their
// drain time.
func (r *modelRoute) domains() [2]struct {
	claim *modelClaim
	drain time.Duration
	name  Domain
} {
	return [2]struct {
		claim *modelClaim
		drain time.Duration
		name  Domain
	}{
		{&r.claim, min(max(100*time.Microsecond, r.drain), time.Second), RouteDomain},
		{&r.device.claim, min(max(100*time.Microsecond, r.device.drain), time.Second), DeviceDomain},
	}
}

// inLine reports whether anybody has a place in line.
func (r *modelRoute) inLine() bool {
	return r.claim.number != 0 || r.device.claim.number != 0 || len(r.parked) > 0
}

// lapseClaims ends claims that were not retried for four drain times, and 4 ms, and those
// of slices that were posted.
func (r *modelRoute) lapseClaims() {
	for _, d := range r.domains() {
		if c := d.claim; c.number != 0 && (r.m.now-c.retried >= max(4*d.drain, 4*time.Millisecond) || c.owner.posts != c.posts) {
			*d.claim = modelClaim{}
		}
	}
}

// yields names the domain in which an earlier claim has precedence, which it has
// after two drain times.
func (r *modelRoute) yields(p *modelPermit) Domain {
	if !r.inLine() {
		return NoDomain
	}
	r.lapseClaims()
	number := r.number(p)
	if len(r.parked) > 0 && r.parked[0].precedes(number, r.m.now-2*r.domains()[0].drain) {
		return RouteDomain
	}
	for _, d := range r.domains() {
		earlier := d.claim.number != 0 && (number == 0 || d.claim.number < number)
		if earlier && r.m.now-d.claim.since >= 2*d.drain {
			return d.name
		}
	}
	return NoDomain
}

// stake gives a slice that was refused by a window smaller than it a place in line,
// if nobody has it; a slice that has a place has come again.
func (r *modelRoute) stake(p *modelPermit, n int64, refused Domain) {
	window := r.window()
	switch {
	case refused == NoDomain:
		return
	case refused == DeviceDomain:
		window = r.device.window
	}
	if n <= window && !r.inLine() {
		return
	}
	r.stakeIn(p, refused, n > window)
}

// stakeIn is stake for a slice that may have a place in the line of that domain.
func (r *modelRoute) stakeIn(p *modelPermit, refused Domain, may bool) {
	if r.isFirst(p) {
		return
	}
	r.lapseClaims()
	number := r.number(p)
	for _, d := range r.domains() {
		if d.claim.owner == p {
			d.claim.retried = r.m.now
		}
	}
	line := &r.claim
	if refused == DeviceDomain {
		line = &r.device.claim
	}
	switch {
	case !may, line.number != 0:
		return
	case number == 0:
		r.m.claims++
		number = r.m.claims
	}
	p.claim = number
	*line = modelClaim{number, p, p.posts, r.m.now, r.m.now}
}

// number is that of the slice's place, the lower one if it stands in both lines.
func (r *modelRoute) number(p *modelPermit) (lowest int) {
	for _, d := range r.domains() {
		if d.claim.owner == p && (lowest == 0 || d.claim.number < lowest) {
			lowest = d.claim.number
		}
	}
	if r.isFirst(p) && (lowest == 0 || p.claim < lowest) {
		lowest = p.claim
	}
	return lowest
}

// isFirst reports whether the slice is that of the route's first waiter.
func (r *modelRoute) isFirst(p *modelPermit) bool {
	return len(r.parked) > 0 && r.parked[0].permit == p
}

// precedes reports whether the waiter came before the slice, and no later than then.
func (w *modelPlace) precedes(number int, then time.Duration) bool {
	return (number == 0 || w.number < number) && w.since <= then
}

// endClaim ends the claims of a slice that is admitted.
func (r *modelRoute) endClaim(p *modelPermit) {
	for _, d := range r.domains() {
		if d.claim.owner == p {
			*d.claim = modelClaim{}
		}
	}
	p.claim = 0
}
