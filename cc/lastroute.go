package cc

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// isLastUsable reports whether no other route to the route's peer is usable. The
// caller holds the controller's lock.
func (c *Controller) isLastUsable(r *Route) bool {
	for other := range c.routes.to(peerOf(r.pair)) {
		if other != r && !other.state().barred() && !other.pausedElsewhere() {
			return false
		}
	}
	return true
}

// keepAsLast limits a route to the probe window that timeouts would have
// quarantined if it were not the last one to its peer. A success ends that, and so
// does the next failure when another route is usable by then. The caller holds the
// device's lock.
func (r *Route) keepAsLast(v classify.Verdict, now time.Duration) {
	h := &r.health
	if h.kept.Load() || r.state() != Suspect {
		return
	}
	h.kept.Store(true)
	r.applyWindow()
	r.note(Transition{From: Suspect, To: Suspect, Notice: LastRouteKept, Reason: v.Reason(), Verdict: v, At: now})
}
