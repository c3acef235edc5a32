package transfer

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// sweepInterval is how often a worker looks after deadlines and old endpoints.
const sweepInterval = 5 * time.Millisecond

// sweep ends the attempts that were cancelled or take too long, destroys QPs that
// do not flush, and leaves endpoints that are out of use and empty.
func (w *worker) sweep() {
	now := w.polled
	if now-w.swept < sweepInterval {
		return
	}
	w.swept = now
	for _, s := range w.slots.owners {
		if s != nil {
			w.check(s, now)
		}
	}
	w.endpoints = slices.DeleteFunc(w.endpoints, func(ep *endpoint) bool { return w.drained(ep, now) })
	w.queues = slices.DeleteFunc(w.queues, func(q *peerQueue) bool { return q.len() == 0 && q.peer.over() })
}

// check looks at one slice on the wire.
func (w *worker) check(s *slice, now time.Duration) {
	if s.transfer.stopped.Load() && !s.finished {
		v := classify.Of(classify.SignalCancel)
		s.Settle(s.use, v, now)
		s.end(v)
	}
	if now-s.armed < w.engine.cfg.Deadline {
		return
	}
	if w.gap > s.armed {
		// The completion may have waited in the CQ while nobody polled: this says
		// nothing about the path. The time starts again.
		v := classify.Of(classify.SignalDeadlineStalled)
		w.tally.completed(v)
		s.Settle(s.use, v, now)
		s.armed = now
		return
	}
	if !s.finished {
		v := classify.Of(classify.SignalDeadlineProgressing)
		w.tally.completed(v)
		s.Settle(s.use, v, now)
		s.end(v)
	}
	w.failQP(s.qp, now)
}

// failQP takes a QP out of use and makes what is on it flush.
func (w *worker) failQP(qp *queuePair, now time.Duration) {
	if qp.failed {
		return
	}
	qp.failed = true
	qp.flushBy = now + w.engine.cfg.FlushGrace
	if err := qp.Fail(); err != nil {
		w.engine.log.Warn("failing a QP", "rail", qp.endpoint.rail.pair.String(), "error", err)
	}
	qp.endpoint.rail.retire(qp.endpoint)
}

// drained reports whether the worker is done with an endpoint, and leaves it then.
func (w *worker) drained(ep *endpoint, now time.Duration) bool {
	empty := true
	for _, qp := range ep.qps[w.id] {
		if ep.aborted.Load() && qp.taken > 0 {
			w.failQP(qp, now)
		}
		if qp.failed && qp.taken > 0 && now > qp.flushBy {
			w.destroy(qp, now)
		}
		empty = empty && qp.taken == 0
	}
	if !empty || !ep.retired.Load() {
		return false
	}
	ep.leave()
	return true
}

// destroy closes a QP whose work requests do not flush. The hardware is done with
// them then, and no completion will come: the teardown settles what is left.
func (w *worker) destroy(qp *queuePair, now time.Duration) {
	if !qp.closed {
		if err := qp.Close(); err != nil {
			w.engine.log.Error("destroying a QP; its bytes stay out", "rail", qp.endpoint.rail.pair.String(), "error", err)
			return
		}
		qp.closed = true
	}
	v := classify.Of(classify.SignalTeardown)
	for _, s := range w.slots.owners {
		if s != nil && s.qp == qp {
			w.tally.completed(v)
			s.Settle(s.use, v, now)
			s.end(v)
			w.landed(s, false, now)
		}
	}
}
