package recorder

import "time"

// These are for package cc. None blocks, and those of a slice's life take no lock and
// allocate nothing: a record whose slot is busy is dropped.

// Begin says what the clock showed when the controller was made.
func (r *Recorder) Begin(now time.Duration) { r.known.begin(now) }

// Acquire records a call that asked for the bytes of one slice.
func (r *Recorder) Acquire(a *Acquire) { r.ring.put(a.words()) }

// AcquireList records a call that asked for the bytes of a list.
func (r *Recorder) AcquireList(a *Acquire) {
	var room [8]record // 32 sizes and the call take 7
	r.ring.putAll(a.recordsOfList(room[:0]))
}

// Post records a call of Posting.
func (r *Recorder) Post(p *Post) { r.ring.put(p.words()) }

// Unposted records a call of Unposted.
func (r *Recorder) Unposted(u *Unposted) { r.ring.put(u.words()) }

// Settle records a call of Settle.
func (r *Recorder) Settle(s *Settle) { r.ring.put(s.words()) }

// Beat records a call of Beat.
func (r *Recorder) Beat(b *Beat) { r.ring.put(b.words()) }

// Clock records a reading of the clock, which the call that is recorded next has made.
func (r *Recorder) Clock(now time.Duration) {
	c := clock{now}
	r.ring.put(c.words())
}

// Jitter records a factor that was drawn by chance, in the call that is recorded next.
func (r *Recorder) Jitter(factor float64) {
	j := jitter{factor}
	r.ring.put(j.words())
}

// Synced records what a route took in of the pause table.
func (r *Recorder) Synced(s *Synced) { r.ring.put(s.words()) }

// Tell records a transition, and lets it set off a dump.
func (r *Recorder) Tell(t *Told) {
	r.ring.put(t.words())
	r.known.change(t.Route, func(k *knownRoute) { k.state = t.To })
	if r.alarm != nil {
		r.alarm.raise(*t)
	}
}

// Put records a call that is seldom made. A dump knows the routes and pollers that there
// are also when the calls that made them are no longer in the ring.
func (r *Recorder) Put(c Call) {
	first := r.ring.putAll(c.records())
	switch c := c.(type) {
	case Route:
		r.known.route(c, first, r.ring.oldest(first))
	case Renew:
		if c.Fault == NoFault {
			r.known.change(c.Route, func(k *knownRoute) { k.renew(c) })
		}
	case CloseRoute:
		r.known.closeRoute(c.Route, first)
	case Forget:
		for _, n := range c.Routes {
			r.known.closeRoute(n, first)
		}
	case Poller:
		r.known.poller(c, first, r.ring.oldest(first))
	case ClosePoller:
		r.known.closePoller(c.Poller, first)
	}
}
