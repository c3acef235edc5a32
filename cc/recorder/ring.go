package recorder

import (
	"sync/atomic"
	"time"
)

// ring is where records lie: as many slots as it was made with, taken in turn. Memory
// does not grow.
type ring struct {
	slots []slot
	mask  uint64

	// cursor is how many slots were ever taken. Every writer adds to it, so it has a
	// cache line of its own.
	_      [cacheLine]byte
	cursor atomic.Uint64
	_      [cacheLine - 8]byte
	// dropped is how many of them stayed empty, since they were busy.
	dropped atomic.Uint64
}

const cacheLine = 64

// slot holds one record, and fills a cache line. turn is 2n+2 when the record number n
// lies there, and odd while one goroutine writes or reads it: who meets an odd one has to
// go away. So the words between are plain memory.
type slot struct {
	turn   atomic.Uint64
	record record
}

// newRing returns a ring of a power of two of slots.
func newRing(slots int) *ring {
	return &ring{slots: make([]slot, slots), mask: uint64(slots - 1)}
}

// put writes a record into the next slot. Its words come one by one, since they stay in
// registers so, up to the slot.
func (g *ring) put(w0, w1, w2, w3, w4, w5, w6 uint64) {
	n := g.cursor.Add(1) - 1
	s := &g.slots[n&g.mask]
	if !s.open(n) {
		g.dropped.Add(1)
		return
	}
	s.record = record{w0, w1, w2, w3, w4, w5, w6}
	s.turn.Store(2*n + 2)
}

// putAll writes records into slots that follow each other, and returns the number of the
// first.
func (g *ring) putAll(recs []record) (first uint64) {
	first = g.cursor.Add(uint64(len(recs))) - uint64(len(recs))
	for i := range recs {
		n := first + uint64(i)
		s := &g.slots[n&g.mask]
		if !s.open(n) {
			g.dropped.Add(1)
			continue
		}
		s.record = recs[i]
		s.turn.Store(2*n + 2)
	}
	return first
}

// open lets record number n be written, unless somebody is at the slot, or a later record
// lies there.
func (s *slot) open(n uint64) bool {
	turn := s.turn.Load()
	return turn&1 == 0 && turn < 2*n+2 && s.turn.CompareAndSwap(turn, 2*n+1)
}

// found is what a reader finds in a slot.
type found uint8

const (
	have   found = iota
	absent       // it is being written, or was dropped
	gone         // a later one lies there
)

// read copies record number n.
func (g *ring) read(n uint64, to *record) found {
	s := &g.slots[n&g.mask]
	done := 2*n + 2
	for {
		switch turn := s.turn.Load(); {
		case turn < done:
			return absent
		case turn > done:
			return gone
		}
		if s.turn.CompareAndSwap(done, done+1) {
			*to = s.record
			s.turn.Store(done)
			return have
		}
	}
}

// patience is how often a reader sleeps for writers that are at work, all in all.
type patience int

// moment is how long it sleeps.
const moment = time.Millisecond

// readSoon is read, and gives a writer that is at work a moment to end.
func (g *ring) readSoon(n uint64, to *record, p *patience) found {
	for {
		f := g.read(n, to)
		if f != absent || *p == 0 {
			return f
		}
		*p--
		time.Sleep(moment)
	}
}

// oldest returns the number of the oldest record that may still lie in the ring, when
// the next one to be taken has number next.
func (g *ring) oldest(next uint64) uint64 { return next - min(next, uint64(len(g.slots))) }
