// Package sync has the types of the standard package sync that package cc uses, for
// goroutines that take turns.
package sync

import (
	"sync"

	"github.com/rdmagate/rdmagate/internal/linear/turns"
)

// Mutex is a [sync.Mutex]. A goroutine that finds it locked passes its turn on.
type Mutex struct{ m sync.Mutex }

// Lock locks the mutex.
func (m *Mutex) Lock() {
	turns.Step()
	for !m.m.TryLock() {
		if !turns.Blocked() {
			m.m.Lock()
			return
		}
	}
}

// TryLock locks the mutex if it is free, and reports whether it did.
func (m *Mutex) TryLock() bool {
	turns.Step()
	return m.m.TryLock()
}

// Unlock unlocks the mutex.
func (m *Mutex) Unlock() { m.m.Unlock() }
