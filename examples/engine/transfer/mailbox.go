package transfer

import (
	"sync"
	"sync/atomic"
)

// mailbox holds what others hand to a goroutine. To look into an empty one costs a
// load.
type mailbox[T any] struct {
	full  atomic.Bool
	mu    sync.Mutex
	items []T
}

func (m *mailbox[T]) put(items ...T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.items = append(m.items, items...)
	m.full.Store(len(m.items) > 0)
}

// take appends what is in the mailbox to a list.
func (m *mailbox[T]) take(list []T) []T {
	if !m.full.Load() {
		return list
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full.Store(false)
	list = append(list, m.items...)
	clear(m.items)
	m.items = m.items[:0]
	return list
}
