package rail

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Peer is a table's record of one peer machine: the verdicts on the pairs that lead
// to it, and the version by which routes see that one of them changed.
//
// The version also numbers the evidence: a failure or verdict takes the version
// that it makes, and what was posted after it bears a number at least as high. The
// version has a cache line of its own, so that a healthy post costs one load of a
// line that nobody writes. It changes after the data did: who sees a new version
// finds the new data.
type Peer struct {
	version atomic.Uint64
	_       [cacheLine - 8]byte

	table *Table
	key   peerKey

	mu      sync.Mutex
	routes  map[pathKey]int    // that refer to a pair
	entries map[pathKey]*entry // nil until the first failure
}

const cacheLine = 64

// pathKey is a pair without its peer.
type pathKey struct {
	local  string
	port   uint8
	remote string
}

func keyOf(p Pair) pathKey { return pathKey{p.Local, p.Port, p.Remote} }

func (k pathKey) pair(p peerKey) Pair {
	return Pair{Peer: p.peer, Incarnation: p.incarnation, Local: k.local, Port: k.port, Remote: k.remote}
}

// entry is the verdict on one pair. The peer's lock guards it.
type entry struct {
	breaker  Breaker
	evidence uint64 // of the latest failure or verdict
	ended    uint64 // of the latest verdict that a success ended
	// reported lists the QPs whose failure was counted lately.
	reported []QP
}

// maxReported is how many QPs an entry remembers, or those of the latest report if they
// are more.
const maxReported = 64

// QP names a queue pair of a pair's local device, so that its failure is counted
// once, whoever reports it. Incarnation tells it from others that had its number.
type QP struct{ Number, Incarnation uint64 }

// View is what a table knows of one pair at one moment.
type View struct {
	Breaker
	// Evidence is the number of the latest failure or verdict; 0 if there is none.
	Evidence uint64
	// Version is the peer's version that this view belongs to.
	Version uint64
}

// Standing returns the view as [Map.Select] wants it. Paused includes a pause that is
// over: a trial is due then.
func (v View) Standing() Standing {
	switch {
	case v.Paused:
		return Paused
	case v.Count > 0:
		return Suspect
	}
	return Healthy
}

// Version returns a number that grows whenever something about one of the peer's
// pairs changes. It takes no lock.
func (p *Peer) Version() uint64 { return p.version.Load() }

// View returns what is known of a pair of this peer.
func (p *Peer) View(pair Pair) View {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view(pair)
}

func (p *Peer) view(pair Pair) View {
	v := View{Version: p.version.Load()}
	if e := p.entries[keyOf(pair)]; e != nil {
		v.Breaker, v.Evidence = e.breaker, e.evidence
	}
	return v
}

// Update runs f on the pair's breaker. If f reports a new failure or verdict, that
// takes the next evidence number. f must not block or call back.
func (p *Peer) Update(pair Pair, now time.Duration, f func(*Breaker) (news bool)) {
	p.mu.Lock()
	full := p.update(pair, nil, f)
	p.mu.Unlock()
	if full {
		p.table.giveUp(now, p, keyOf(pair))
	}
}

// Report is [Peer.Update] for the failure of some QPs of what was posted with an
// evidence number. It does nothing when the failure of each QP was reported before,
// or when it was posted before a verdict that a success has ended since: it is of the
// same outage. It reports whether f was run.
func (p *Peer) Report(pair Pair, now time.Duration, evidence uint64, qps []QP, f func(*Breaker) (news bool)) bool {
	p.mu.Lock()
	if e := p.entries[keyOf(pair)]; e != nil {
		qps = slices.DeleteFunc(slices.Clone(qps), func(q QP) bool { return slices.Contains(e.reported, q) })
		if len(qps) == 0 || evidence < e.ended {
			p.mu.Unlock()
			return false
		}
	}
	full := p.update(pair, qps, f)
	p.mu.Unlock()
	if full {
		p.table.giveUp(now, p, keyOf(pair))
	}
	return true
}

// Succeeded takes a success of what was posted with an evidence number. It counts as
// the success of a trial ([Breaker.TrialSucceeded]) if it is the one that is out (0 is
// none) or was posted after the verdict, and ends the count of failures if it was posted
// after the latest of them. It changes nothing else, so a late success does not hide a
// fresh verdict.
func (p *Peer) Succeeded(pair Pair, pol Policy, now, wait time.Duration, evidence, trial uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[keyOf(pair)]
	if e == nil || evidence < e.evidence && (trial == 0 || trial != e.breaker.Trial) {
		return
	}
	p.update(pair, nil, func(b *Breaker) bool {
		if b.Paused {
			b.TrialSucceeded(pol, trial, now, wait)
		} else {
			b.Clear(now)
		}
		return false
	})
}

// update is Update with the lock held. It reports whether the table is too full.
func (p *Peer) update(pair Pair, failed []QP, f func(*Breaker) (news bool)) (full bool) {
	k := keyOf(pair)
	e, had := p.entries[k]
	if !had {
		// Numbers of trials begin above those of an entry that was dropped.
		e = &entry{breaker: Breaker{trials: p.version.Load()}}
	}
	was := e.breaker
	news := f(&e.breaker)
	if !news && e.breaker == was {
		return false
	}
	if !had {
		if p.entries == nil {
			p.entries = map[pathKey]*entry{}
		}
		p.entries[k] = e
		full = p.table.entries.Add(1) > int64(p.table.limit)
	}
	e.reported = append(e.reported, failed...)
	e.reported = e.reported[max(0, len(e.reported)-max(maxReported, len(failed))):]
	next := p.version.Load() + 1
	if news {
		e.evidence = next
	}
	if was.Paused && !e.breaker.Paused {
		e.ended = e.evidence
		p.table.ended.Add(1)
	}
	p.version.Store(next)
	return full
}

// drop forgets a pair. The lock is held.
func (p *Peer) drop(k pathKey) {
	delete(p.entries, k)
	p.table.entries.Add(-1)
	p.version.Add(1)
}

// Leave ends what [Table.Join] began for a route of that pair.
func (p *Peer) Leave(pair Pair) {
	t, k := p.table, keyOf(pair)
	t.mu.Lock()
	defer t.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.routes[k]--; p.routes[k] == 0 {
		delete(p.routes, k)
	}
	t.tidy(p)
}
