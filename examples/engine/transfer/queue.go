package transfer

// queue holds the slices of one peer that a worker has yet to post. Slices that
// come back, deferred or failed, go before those that were never tried.
type queue struct {
	again []*slice // a stack
	fresh []*slice // from head on
	head  int
}

func (q *queue) len() int { return len(q.again) + len(q.fresh) - q.head }

func (q *queue) add(s *slice) { q.fresh = append(q.fresh, s) }

func (q *queue) putBack(s *slice) { q.again = append(q.again, s) }

// next returns the slice whose turn it is and leaves it in the queue.
func (q *queue) next() *slice {
	if n := len(q.again); n > 0 {
		return q.again[n-1]
	}
	return q.fresh[q.head]
}

// drop takes the slice that next returns out of the queue.
func (q *queue) drop() {
	if n := len(q.again); n > 0 {
		q.again = q.again[:n-1]
		return
	}
	q.fresh[q.head] = nil
	q.head++
	if q.head == len(q.fresh) {
		q.fresh, q.head = q.fresh[:0], 0
	}
}
