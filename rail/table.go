package rail

import (
	"sync"
	"sync/atomic"
)

// Table holds what a process knows of its pairs' failures. Routes of one pair
// share an entry, so that one lesson serves them all. It is safe for concurrent
// use.
type Table struct {
	mu      sync.Mutex
	entries map[Pair]*Entry
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{entries: map[Pair]*Entry{}} }

// Entry returns the pair's entry, and makes it at the first call.
func (t *Table) Entry(p Pair) *Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[p]
	if e == nil {
		e = &Entry{}
		t.entries[p] = e
	}
	return e
}

// Entry is the verdict on one pair.
type Entry struct {
	// evidence grows with each failure and verdict.
	evidence atomic.Uint64

	mu      sync.Mutex
	breaker Breaker
}

// Evidence returns the number of the latest failure or verdict. What holds a
// number at least as high was posted after it.
func (e *Entry) Evidence() uint64 { return e.evidence.Load() }

// Update runs f on the pair's breaker. If f reports a new failure or verdict, it
// takes the next evidence number. f must not block or call back.
func (e *Entry) Update(f func(*Breaker) (news bool)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f(&e.breaker) {
		e.evidence.Add(1)
	}
}

// Breaker returns a copy of the pair's breaker.
func (e *Entry) Breaker() Breaker {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.breaker
}
