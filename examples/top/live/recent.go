package live

import (
	"sync"

	"github.com/rdmagate/rdmagate/cc"
)

// keep is how many transitions a [Recent] keeps.
const keep = 256

// Recent keeps the latest 256 transitions of a controller. The zero value is ready. It is
// safe for concurrent use.
type Recent struct {
	mu   sync.Mutex
	ring [keep]cc.Transition
	told uint64
}

// Add takes a transition in. It is the function for [cc.WithTransitions], and never waits
// for whoever reads.
func (r *Recent) Add(t cc.Transition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ring[r.told%keep] = t
	r.told++
}

// Latest returns up to n transitions, the latest first, and how many there were, ever.
func (r *Recent) Latest(n int) (list []cc.Transition, told uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list = make([]cc.Transition, min(uint64(max(n, 0)), keep, r.told))
	for i := range list {
		list[i] = r.ring[(r.told-1-uint64(i))%keep]
	}
	return list, r.told
}
