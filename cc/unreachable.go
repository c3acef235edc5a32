package cc

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

var unreachable = classify.CMEvent(classify.CMEventUnreachable)

// Unreachable says that no endpoint could be built in the place of generation old: the
// peer refused or did not answer, or its port has no address. Local lack of resources is
// something else, and not to be reported.
//
// It confirms the suspicion of a SUSPECT route on which something has failed, like a probe
// that fails there: the route is quarantined at once, since there is no way to probe it.
// Otherwise every flap of a port whose peer refuses endpoints meanwhile would be a first
// failure again. The transition says PROBE_FAILED, with the connection manager's
// "unreachable" as its evidence.
//
// A quarantined route that flaps has to prove itself from the start; it stays due while it
// has no endpoint: how often to knock is the caller's choice. On any other route it changes
// nothing, for a peer that is still starting refuses too; nor on the last usable one with
// Config.KeepLastRoute, or if old is not current.
func (r *Route) Unreachable(old Generation, now time.Duration) {
	if !enabled || r.mode == Off {
		return
	}
	if r.ctl.rec != nil {
		r.recordUnreachable(old, now)
		return
	}
	r.unreachable(old, now)
}

func (r *Route) unreachable(old Generation, now time.Duration) {
	c := r.ctl
	c.mu.Lock()
	told := r.device.run(func() {
		now = r.device.later(now)
		r.syncLocked(now)
		if cur := r.current.Load(); cur.number != old || cur.number == closedGeneration {
			return
		}
		r.lapse(now)
		if r.state().barred() {
			r.health.record.local.Unprove()
			r.updatePath(now, func(b *rail.Breaker) bool { b.Unprove(); return false })
		}
		if r.state() != Suspect || r.path().Count == 0 || c.cfg.KeepLastRoute && c.isLastUsable(r) {
			return
		}
		jitter := c.jitter()
		r.updatePath(now, func(b *rail.Breaker) bool {
			b.Cause = unreachable
			b.Pause(c.policy(), now, jitter)
			return true
		})
		r.reconsider(now, cause{reason: classify.ReasonProbeFailed, verdict: unreachable})
		r.device.checkUsable(r, unreachable, now)
	})
	c.mu.Unlock()
	c.tell(told)
}
