package rail

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Table is what a process knows of its pairs' failures: the failures that were
// counted and the pauses they led to. Controllers that share a table learn each
// lesson once. It is safe for concurrent use.
//
// A pair of which nothing bad is known has no entry. The table calls nothing back,
// and its locks are taken after any other.
//
// Specification: shared rail pause, the process-wide table.
type Table struct {
	limit int // entries beyond which some are given up

	mu    sync.Mutex
	peers map[peerKey]*Peer
	// A look for entries to give up finds none until fullUntil, unless more pauses have
	// ended than fullAt by then; and too few to be worth it before lookAgain, unless there
	// are lookAt entries by then.
	fullUntil, lookAgain time.Duration
	fullAt               uint64
	lookAt               int

	entries atomic.Int64
	givenUp atomic.Uint64
	ended   atomic.Uint64 // pauses that a success ended, ever
	swept   atomic.Int64  // when the table was last swept
}

// peerKey is a peer machine in one incarnation: one that was restarted begins with
// a clean record.
type peerKey struct{ peer, incarnation string }

// MaxEntries is how many pairs' failures a table holds. Beyond that it gives up
// counts first, then pauses that are over; pauses that still run are kept. While most of
// them do, it may hold an eighth more for some seconds, since it does not look for those
// that are over at each failure.
const MaxEntries = 1 << 16

// NewTable returns an empty table.
func NewTable() *Table { return &Table{limit: MaxEntries, peers: map[peerKey]*Peer{}} }

var shared = NewTable()

// Shared returns the table of the process.
func Shared() *Table { return shared }

// Join returns the record of the pair's peer, for a route that refers to it until
// [Peer.Leave].
func (t *Table) Join(pair Pair) *Peer {
	key := peerKey{pair.Peer, pair.Incarnation}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.peers[key]
	if p == nil {
		p = &Peer{table: t, key: key, routes: map[pathKey]int{}}
		t.peers[key] = p
	}
	p.mu.Lock()
	p.routes[keyOf(pair)]++
	p.mu.Unlock()
	return p
}

// Look returns what is known of a pair. It changes nothing.
func (t *Table) Look(pair Pair) View {
	t.mu.Lock()
	p := t.peers[peerKey{pair.Peer, pair.Incarnation}]
	t.mu.Unlock()
	if p == nil {
		return View{}
	}
	return p.View(pair)
}

// Listed is one entry of a table.
type Listed struct {
	Pair Pair
	View
}

// List returns all entries, by pair. It changes nothing.
func (t *Table) List() (all []Listed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.peers {
		p.mu.Lock()
		for k := range p.entries {
			pair := k.pair(p.key)
			all = append(all, Listed{pair, p.view(pair)})
		}
		p.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b Listed) int { return a.Pair.Compare(b.Pair) })
	return all
}

// Stats counts what a table holds.
type Stats struct {
	Peers   int // with a route or an entry
	Entries int
	// GivenUp is how many entries were dropped, ever, because the table was full.
	GivenUp uint64
}

// Stats returns how full the table is.
func (t *Table) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{len(t.peers), int(t.entries.Load()), t.givenUp.Load()}
}

// lookEvery is how long a full table is left alone after a look that found little to give
// up. A look takes as long as some ten thousand failures.
const lookEvery = 5 * time.Second

const (
	// sweepAfter is how long an entry outlives its pause or its last failure.
	sweepAfter = time.Hour
	sweepEvery = sweepAfter / 12
)

// Sweep drops what is too old to matter, once in five minutes; other calls return at
// once. An entry goes an hour after its last failure, or after its pause was over; while
// a route of the pair exists, a count stays, and a pause until a trial has ended it.
func (t *Table) Sweep(now time.Duration) {
	last := t.swept.Load()
	if now-time.Duration(last) < sweepEvery || !t.swept.CompareAndSwap(last, int64(now)) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.peers {
		p.mu.Lock()
		for k, e := range p.entries {
			if b := &e.breaker; now-b.quietSince() >= sweepAfter && (p.routes[k] == 0 || !b.Paused && b.Count == 0) {
				p.drop(k)
			}
		}
		t.tidy(p)
		p.mu.Unlock()
	}
}

// tidy forgets a peer that nobody refers to and of which nothing is known. The
// locks of both are held.
func (t *Table) tidy(p *Peer) {
	if len(p.routes) == 0 && len(p.entries) == 0 && t.peers[p.key] == p {
		delete(t.peers, p.key)
	}
}

// giveUp makes room in a table that is too full, now that a pair was added.
func (t *Table) giveUp(now time.Duration, p *Peer, added pathKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries := int(t.entries.Load())
	excess := entries - t.limit
	if excess <= 0 {
		return
	}
	full := now < t.fullUntil && t.ended.Load() == t.fullAt // all others are pauses that run
	if full || now < t.lookAgain && entries < t.lookAt {
		t.drop(candidate{peer: p, key: added}, now)
		return
	}
	var list []candidate
	next, ended := now+sweepAfter, t.ended.Load()
	for _, p := range t.peers {
		p.mu.Lock()
		for k, e := range p.entries {
			if b := &e.breaker; b.runs(now) {
				next = min(next, b.Resume)
			} else {
				list = append(list, candidate{p, k, b.Paused, p.routes[k] > 0, b.quietSince()})
			}
		}
		p.mu.Unlock()
	}
	// Some more than needed, so that the next failure does not look again.
	excess += t.limit / 8
	slices.SortFunc(list, candidate.compare)
	if len(list) <= excess {
		t.fullUntil, t.fullAt = next, ended
		t.lookAgain, t.lookAt = now+lookEvery, entries-len(list)+t.limit/8
	}
	for _, c := range list[:min(excess, len(list))] {
		t.drop(c, now)
	}
}

// drop gives an entry up, unless it is a pause that runs by now. The lock is held.
func (t *Table) drop(c candidate, now time.Duration) {
	c.peer.mu.Lock()
	defer c.peer.mu.Unlock()
	if e := c.peer.entries[c.key]; e != nil && !e.breaker.runs(now) {
		c.peer.drop(c.key)
		t.givenUp.Add(1)
		t.tidy(c.peer)
	}
}

// candidate is an entry that a full table may give up.
type candidate struct {
	peer         *Peer
	key          pathKey
	paused, used bool
	quietSince   time.Duration
}

// compare orders candidates: counts before pauses that are over, those that no
// route refers to before others, the oldest first.
func (c candidate) compare(d candidate) int {
	return cmp.Or(yes(c.paused)-yes(d.paused), yes(c.used)-yes(d.used), cmp.Compare(c.quietSince, d.quietSince))
}

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}
