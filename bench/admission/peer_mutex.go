package main

import (
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/measure"
)

// locked is admission as one would write it first: a lock over both domains.
type locked struct {
	_             [64]byte
	mu            sync.Mutex
	device, route int64
	generation    uint64
	delivered     int64
	delay         time.Duration
	_             [64]byte
}

// Bare counts: no permit, no generation, and callers that never settle twice.

func (l *locked) acquire(n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.route+n > windowBytes || l.device+n > deviceBytes {
		return false
	}
	l.route += n
	l.device += n
	return true
}

func (l *locked) settle(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.route -= n
	l.device -= n
}

func (l *locked) bare(n int) {
	for range n {
		if l.acquire(sliceBytes) {
			l.settle(sliceBytes)
		}
	}
}

// lockedPermit is a reservation that is given back once, by whoever comes first.
type lockedPermit struct {
	generation uint64
	use        uint32
	held       int64
	posted     bool
	postedAt   time.Duration
}

func (l *locked) acquirePermit(p *lockedPermit, generation uint64, n int64) (use uint32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if generation != l.generation || p.held != 0 || l.route+n > windowBytes || l.device+n > deviceBytes {
		return 0, false
	}
	l.route += n
	l.device += n
	p.use++
	p.generation, p.held, p.posted = generation, n, false
	return p.use, true
}

func (l *locked) posting(p *lockedPermit, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.held == 0 || p.generation != l.generation {
		return false
	}
	p.posted, p.postedAt = true, now
	return true
}

func (l *locked) settlePermit(p *lockedPermit, use uint32, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.held == 0 || p.use != use || !p.posted {
		return false
	}
	l.route -= p.held
	l.device -= p.held
	if p.generation == l.generation {
		l.delivered += p.held
		l.delay += now - p.postedAt
	}
	p.held = 0
	return true
}

// permits is the life of a permit with the duties that ours has: posted on a
// current generation, settled once, measured.
func (l *locked) permits() measure.Loop {
	p := new(lockedPermit)
	return func(n int) {
		for range n {
			if use, ok := l.acquirePermit(p, 0, sliceBytes); ok && l.posting(p, batchTime) {
				l.settlePermit(p, use, batchTime)
			}
		}
	}
}

func mutexPeer() []scenario {
	const bare = "a lock over a device's and a route's count; callers are trusted"
	const duties = "the same with permits: posted on the current generation, settled once, measured"
	two := func(name, note string, loops func(*locked) []measure.Loop) scenario {
		return scenario{kind: peer, note: note, Scenario: measure.Scenario{Name: name + ownRoutes, Workers: 2,
			Setup: func() ([]measure.Loop, func(), error) {
				return loops(new(locked)), nil, nil // both routes are under their device's lock
			}}}
	}
	return []scenario{
		alone(peer, peerBareMutex, bare, func() measure.Loop { return new(locked).bare }),
		alone(peer, peerMutex, duties, func() measure.Loop { return new(locked).permits() }),
		two(peerBareMutex, bare, func(l *locked) []measure.Loop { return []measure.Loop{l.bare, l.bare} }),
		two(peerMutex, duties, func(l *locked) []measure.Loop { return []measure.Loop{l.permits(), l.permits()} }),
	}
}
