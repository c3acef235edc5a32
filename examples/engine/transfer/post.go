package transfer

import (
	"errors"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	prail "github.com/rdmagate/rdmagate/rail"
)

// peerQueue is what a worker has yet to post to one peer.
type peerQueue struct {
	queue
	candidates
	usable bool // some rail works, even if it is full
	stuck  time.Duration
}

// post offers the queued slices to the rails, and hands over those that were
// admitted, one list for each QP. It reports whether anything went out.
func (w *worker) post() bool {
	posted := false
	for _, q := range w.queues {
		if q.len() > 0 {
			posted = w.offer(q) || posted
		}
	}
	for _, qp := range w.dirty {
		posted = w.flush(qp) || posted
	}
	w.dirty = w.dirty[:0]
	return posted
}

// offer offers slices in their order until no rail takes one.
func (w *worker) offer(q *peerQueue) bool {
	posted := false
	q.begin()
	q.usable = false
	for q.len() > 0 {
		s := q.queue.next()
		if s.transfer.stopped.Load() {
			q.drop()
			s.transfer.rest()
			continue
		}
		qp := w.place(q, s)
		if qp == nil {
			break
		}
		q.drop()
		if len(qp.batch) == 1 {
			w.dirty = append(w.dirty, qp)
		}
		if len(qp.batch) == w.engine.cfg.PostBatch {
			posted = w.flush(qp) || posted
		}
	}
	w.patience(q)
	return posted
}

// place finds a rail that admits the slice, and returns the QP to post it on. A
// deferred slice stays where it is in the queue.
func (w *worker) place(q *peerQueue, s *slice) *queuePair {
	for len(q.list) > 0 {
		k, r := q.candidates.next(s.failedOn)
		if qp := w.admit(q, r, s); qp != nil {
			q.placed++
			return qp
		}
		q.pass(k)
	}
	return nil
}

// admit asks for the slice's bytes on one rail. It returns nil unless they are
// reserved and a QP has room.
func (w *worker) admit(q *peerQueue, r *rail, s *slice) *queuePair {
	ep := r.current()
	if ep == nil {
		return nil
	}
	qp := w.pick(ep)
	if qp == nil && !ep.narrow {
		q.usable = true
		return nil
	}
	d := r.route.TryAcquire(&s.Permit, ep.generation, s.length, &s.transfer.Task)
	w.tally.decided(d.Ruling)
	switch {
	case d.Admitted() && ep.narrow:
		s.Unposted()
		if !r.leftToProber() { // it has just come back
			q.usable = true
			r.retire(ep)
		}
	case d.Admitted():
		q.usable = true
		w.admitted(s, d.Use, qp)
		return qp
	case d.Err != nil:
		s.transfer.fail(d.Err)
	case d.WantsEndpoint():
		r.retire(ep)
	case d.Answer == cc.Defer && d.Domain != cc.NoDomain:
		q.usable = true
	}
	return nil
}

// patience fails the transfers of a queue when no rail has worked for too long.
func (w *worker) patience(q *peerQueue) {
	if q.usable || q.len() == 0 {
		q.stuck = 0
		return
	}
	now := w.engine.ctl.Now()
	if q.stuck == 0 {
		q.stuck = now
	}
	if now-q.stuck < w.engine.cfg.Patience {
		return
	}
	t := q.queue.next().transfer
	t.NoUsablePath(nil)
	why := ErrNoUsablePath
	if q.outcome == prail.AllPaused {
		why = ErrAllPaused
	}
	t.fail(errors.Join(why, q.peer.failures()))
}

// leaveQueues forgets the queues of peers that are gone.
func (w *worker) leaveQueues() {
	w.queues = slices.DeleteFunc(w.queues, func(q *peerQueue) bool { return q.len() == 0 && q.peer.over() })
}
