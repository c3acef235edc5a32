package twohost

import (
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/clock"
)

// Verdict is a change of a route's state, and when it was in force.
type Verdict struct {
	Path       Path
	Controller int
	From, To   cc.State
	Reason     classify.Reason
	Class      classify.Class
	Shared     bool
	At         time.Duration
}

// verdicts notes what the controllers conclude.
type verdicts struct {
	mu   sync.Mutex
	list []Verdict
}

// hook returns the function that a controller tells.
func (v *verdicts) hook(controller int) func(cc.Transition) {
	return func(t cc.Transition) {
		now := clock.Now()
		if t.Notice != cc.NoNotice {
			return
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.list = append(v.list, Verdict{
			Path: Path{t.Pair.Local, t.Pair.Remote}, Controller: controller,
			From: t.From, To: t.To, Reason: t.Reason, Class: t.Verdict.Class(), Shared: t.Shared, At: now,
		})
	}
}

func (v *verdicts) all() []Verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]Verdict(nil), v.list...)
}
