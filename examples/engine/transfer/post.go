package transfer

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
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
		if len(qp.batch) == 0 {
			w.dirty = append(w.dirty, qp)
		}
		if qp.batch = append(qp.batch, s); len(qp.batch) == w.engine.cfg.PostBatch {
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
	if qp == nil {
		q.usable = true
		return nil
	}
	d := r.route.TryAcquire(&s.Permit, ep.generation, s.length, &s.transfer.Task)
	w.tally.decided(d.Ruling)
	switch {
	case d.Admitted():
		q.usable = true
		s.use, s.qp, s.finished = d.Use, qp, false
		w.slots.take(s)
		qp.take()
		return qp
	case d.Err != nil:
		s.transfer.fail(d.Err)
	case d.Hint == cc.NeedRenew, d.Reason == classify.ReasonNeedsRenew, d.Reason == classify.ReasonStaleGeneration:
		r.retire(ep) // it may look fine: a trial of a quarantined pair needs one that has not failed
	case d.Answer == cc.Defer && d.Domain != cc.NoDomain:
		q.usable = true
	}
	return nil
}

// pick returns the worker's QP of the endpoint with the most room, nil if none has
// any.
func (w *worker) pick(ep *endpoint) *queuePair {
	var best *queuePair
	for _, qp := range ep.qps[w.id] {
		if qp.room(&w.engine.cfg) && (best == nil || qp.taken < best.taken) {
			best = qp
		}
	}
	return best
}

// flush posts a QP's batch. What could not be posted goes back to the queue.
func (w *worker) flush(qp *queuePair) bool {
	now := w.engine.ctl.Now()
	wrs, going := w.wrs[:0], w.going[:0]
	for _, s := range qp.batch {
		if err := s.Posting(qp.ID(), now); err != nil {
			w.tally.unposted.Add(1) // renewed meanwhile: the bytes are back already
			w.putBack(s)
			continue
		}
		wrs, going = append(wrs, s.workRequest()), append(going, s)
	}
	clear(qp.batch)
	qp.batch = qp.batch[:0]
	if len(wrs) == 0 {
		return false
	}
	n, err := qp.PostSend(wrs)
	for _, s := range going[:n] {
		s.attempts++
		s.armed = now
		qp.endpoint.rail.meter.posted(s.length, now)
	}
	for _, s := range going[n:] {
		s.Unposted()
		w.tally.unposted.Add(1)
		w.putBack(s)
	}
	if err != nil {
		w.rejected(qp, going[n:], err)
	}
	return n > 0
}

// rejected deals with a post that the verb refused, in whole or from some work
// request on; those are back in the queue already. A full send queue has room again
// after the next completion; after any other error the QP is not used any more.
func (w *worker) rejected(qp *queuePair, tail []*slice, err error) {
	w.tally.completed(classify.RejectedPost(uint32(errno(err))))
	if errors.Is(err, syscall.ENOMEM) && qp.taken > 0 {
		qp.full = true
		return
	}
	qp.endpoint.rail.retire(qp.endpoint)
	for _, s := range tail {
		if s.attempts++; s.attempts >= w.engine.cfg.MaxAttempts {
			s.transfer.fail(fmt.Errorf("post on %s: %w", qp.endpoint.rail.pair, err))
		}
	}
}

func errno(err error) syscall.Errno {
	var no syscall.Errno
	errors.As(err, &no)
	return no
}

// putBack returns an admitted slice that is not on the wire to its queue.
func (w *worker) putBack(s *slice) {
	w.slots.give(s)
	s.qp.give()
	w.queue(s.transfer.peer).putBack(s)
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
