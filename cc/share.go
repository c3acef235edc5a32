package cc

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// WithPauses makes the controller share what it learns of pairs with others of the
// process: usually rail.Shared(). Without it the controller has a table of its own.
// All controllers of a table must have the same clock, as they have without WithClock. A pause from elsewhere holds also
// for a last route that Config.KeepLastRoute would keep. In mode observe the option
// has no effect: who only observes neither publishes nor adopts.
func WithPauses(t *rail.Table) Option {
	return func(c *Controller) { c.table = t }
}

// sharedReason is the reason of a state that another controller's lesson led to.
func sharedReason(to State) classify.Reason {
	switch to {
	case Quarantined:
		return classify.ReasonPathQuarantined
	case Probing:
		return classify.ReasonProbing
	case Suspect:
		return classify.ReasonRouteSuspect
	}
	return classify.ReasonNone
}

// path returns what the table knows of the route's pair.
func (r *Route) path() rail.View { return r.peer.View(r.pair) }

// updatePath changes what the table knows of the pair. The caller reconsiders the
// state afterwards.
func (r *Route) updatePath(now time.Duration, f func(*rail.Breaker) (news bool)) {
	r.peer.Update(r.pair, now, f)
}

// stale reports whether the table may know more of the pair than the route's state
// shows. It is the pause check of the post path: the version of the peer, which
// nobody writes while all is well, against the one that was last looked at.
func (r *Route) stale() bool { return r.peer.Version() != r.seen.Load() }

// pausedElsewhere reports whether the table pauses the pair, seen here or not.
func (r *Route) pausedElsewhere() bool { return r.stale() && r.path().Paused }

// sync takes in what other controllers learnt of the pair: a count, a pause, an end
// of either.
//
// Specification: shared rail pause, sync.
func (r *Route) sync() {
	if r.stale() {
		r.device.locked(func() { r.syncLocked(r.ctl.now()) })
	}
}

// read is sync for who only reads the route.
func (r *Route) read() {
	if r.stale() {
		r.readStale()
	}
}

func (r *Route) readStale() {
	if r.ctl.rec != nil {
		r.recordLook()
		return
	}
	r.sync()
}

// syncLocked is sync with the device's lock held.
func (r *Route) syncLocked(now time.Duration) {
	if !r.stale() || r.current.Load().number == closedGeneration {
		return
	}
	r.ctl.syncs.Add(1)
	now = r.device.later(now)
	before := r.state()
	r.reconsider(now, cause{shared: true})
	if r.state().barred() && !before.barred() {
		r.device.checkUsable(r, classify.Verdict{}, now)
	}
	if r.ctl.rec != nil {
		r.recordSync(now)
	}
}
