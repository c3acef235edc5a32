package cc

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// A persistent fault is a route on which operations fail again and again for local
// configuration or remote metadata, such as two sides with different MTUs. Such
// failures say nothing about the path and change neither window nor health, but
// whoever rebuilds the connection each time should be told that it does not help.

const (
	persistentCount  = 3
	persistentWindow = 10 * time.Minute
)

// faults holds when the latest failures of this kind were. The zero value is none.
type faults struct {
	at     [persistentCount]time.Duration // a ring
	seen   uint
	raised bool
}

// add takes a failure and reports whether it makes the fault persistent, which it
// does once.
func (f *faults) add(now time.Duration) bool {
	oldest := f.at[(f.seen+1)%persistentCount]
	f.at[f.seen%persistentCount] = now
	f.seen++
	if f.raised || f.seen < persistentCount || now-oldest > persistentWindow {
		return false
	}
	f.raised = true
	return true
}

// faulted takes a failure that does not count against the path into the route's
// record of persistent faults.
func (r *Route) faulted(g *generation, v classify.Verdict, now time.Duration) {
	if c := v.Class(); c != classify.ClassLocalConfiguration && c != classify.ClassRemoteMetadata {
		return
	}
	r.device.locked(func() {
		if g != r.current.Load() || g.number == 0 {
			return
		}
		now = r.device.later(now)
		if r.health.openRecord().faults.add(now) {
			r.note(Transition{From: r.state(), To: r.state(), Notice: PersistentFault, Reason: v.Reason(), Verdict: v, At: now})
		}
		r.health.watched.Store(true)
	})
}
