package collector

import (
	"maps"
	"sync"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
)

// Transitions counts transitions and notices: between two scrapes a route may have been
// in any state. The zero value is ready. It is safe for concurrent use.
type Transitions struct {
	mu     sync.Mutex
	counts map[kind]uint64
}

// kind is what is counted apart. There are as many as devices times some dozens.
type kind struct {
	device string
	notice cc.Notice
	to     cc.State // of a transition
	reason classify.Reason
}

// Add counts one. It is the function for [cc.WithTransitions], or is called by it.
func (s *Transitions) Add(t cc.Transition) {
	k := kind{device: t.Pair.Local, notice: t.Notice}
	if t.Notice == cc.NoNotice {
		k.to, k.reason = t.To, t.Reason
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[kind]uint64{}
	}
	s.counts[k]++
}

// all returns the counts. The lock is not held while they are sent: who makes a
// transition must not wait for a scrape.
func (s *Transitions) all() map[kind]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

func (m sink) transitions(s *Transitions) {
	for k, n := range s.all() {
		if k.notice != cc.NoNotice {
			m.counter(notices, float64(n), label(k.device), k.notice.String())
		} else {
			m.counter(transitions, float64(n), label(k.device), k.to.String(), k.reason.String())
		}
	}
}
