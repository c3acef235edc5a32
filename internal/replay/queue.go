package replay

// queue hands out what was put in, first in first out. It keeps its memory.
type queue[T any] struct {
	items []T
	next  int
}

func (q *queue[T]) put(item T) { q.items = append(q.items, item) }

func (q *queue[T]) take() (item T, ok bool) {
	if q.next == len(q.items) {
		return item, false
	}
	q.next++
	return q.items[q.next-1], true
}

func (q *queue[T]) clear() { q.items, q.next = q.items[:0], 0 }
