package cc

import (
	"slices"
	"time"
)

// Close ends admission: from now on TryAcquire, Renew and Route answer
// [ErrClosed] and events are ignored. It never waits for permits; settles that
// come later give their bytes back. A second Close does nothing.
func (c *Controller) Close() {
	if c.rec != nil {
		c.recordClose()
		return
	}
	c.close()
}

func (c *Controller) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for r := range c.routes.all() {
		r.end(c.now())
	}
}

// Close ends admission on this route and takes it out of its controller: it answers
// [ErrClosed] from now on, and waiters on it are let go. It never waits for permits;
// settles that come later give their bytes back and change nothing else. What the
// pause table knows of the pair stays there for a while, for whoever asks for the
// pair's route again: that is a new one, with a window and generations of its own.
//
// A second Close does nothing.
func (r *Route) Close() {
	if r.ctl.rec != nil {
		r.recordClose()
		return
	}
	r.close()
}

func (r *Route) close() {
	c := r.ctl
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.end(c.now()) {
		c.routes.remove(r)
		r.device.remove(r)
	}
}

// Forget closes every route to a peer machine in one incarnation, which has gone or
// was restarted, and returns how many there were. Other controllers keep theirs, and the
// pause table what it knows of the pairs: give a restarted peer another incarnation.
func (c *Controller) Forget(peer, incarnation string) (routes int) {
	if c.rec != nil {
		return c.recordForget(peer, incarnation)
	}
	return len(c.forget(peer, incarnation))
}

// forget closes the routes and returns them.
func (c *Controller) forget(peer, incarnation string) []*Route {
	c.mu.Lock()
	gone := slices.Collect(c.routes.to(peerName{peer, incarnation}))
	c.mu.Unlock()
	for _, r := range gone {
		r.close()
	}
	return gone
}

// end lets nothing more be admitted on the route, and reports whether that is new.
// The caller holds the controller's lock.
func (r *Route) end(now time.Duration) bool {
	cur := r.current.Load()
	if cur.number == closedGeneration {
		return false
	}
	end := &generation{number: closedGeneration, route: r}
	end.retire() // nothing is admitted on it, whatever number is asked for
	r.device.qps.swap(cur, end)
	r.current.Store(end)
	r.wake()
	r.returnTrial(now)
	r.peer.Leave(r.pair)
	return true
}
