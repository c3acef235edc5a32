package transfer

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// sweepInterval is how often a lane looks after deadlines and old endpoints.
const sweepInterval = 5 * time.Millisecond

// sweep ends the attempts that were cancelled or take too long, destroys QPs that
// do not flush, and leaves endpoints that are out of use and empty. It does so once in sweepInterval, and reports whether it did.
func (l *lane) sweep() bool {
	now := l.polled
	if now-l.swept < sweepInterval {
		return false
	}
	l.swept = now
	for _, s := range l.slots.owners {
		if s != nil {
			l.check(s, now)
		}
	}
	l.endpoints = slices.DeleteFunc(l.endpoints, func(ep *endpoint) bool { return l.drained(ep, now) })
	return true
}

// check looks at one slice on the wire.
func (l *lane) check(s *slice, now time.Duration) {
	if s.transfer.stopped.Load() && !s.finished {
		v := classify.Of(classify.SignalCancel)
		s.Settle(s.use, v, now)
		s.end(v)
	}
	if now-s.armed < l.engine.cfg.Deadline {
		return
	}
	if l.gap > s.armed {
		// The completion may have waited in the CQ while nobody polled: this says
		// nothing about the path. The time starts again.
		v := classify.Of(classify.SignalDeadlineStalled)
		l.tally.completed(v)
		s.Settle(s.use, v, now)
		s.armed = now
		return
	}
	if !s.finished {
		v := classify.Of(classify.SignalDeadlineProgressing)
		l.tally.completed(v)
		s.Settle(s.use, v, now)
		s.end(v)
	}
	l.failQP(s.qp, now)
}

// failQP takes a QP out of use and makes what is on it flush.
func (l *lane) failQP(qp *queuePair, now time.Duration) {
	if qp.failed {
		return
	}
	qp.failed = true
	qp.flushBy = now + l.engine.cfg.FlushGrace
	if err := qp.Fail(); err != nil {
		l.engine.log.Warn("failing a QP", "rail", qp.endpoint.rail.pair.String(), "error", err)
	}
	qp.endpoint.rail.retire(qp.endpoint)
}

// drained reports whether the lane is done with an endpoint, and leaves it then.
func (l *lane) drained(ep *endpoint, now time.Duration) bool {
	empty := true
	for _, qp := range ep.qps[l.id] {
		if ep.aborted.Load() && qp.taken > 0 {
			l.failQP(qp, now)
		}
		if qp.failed && qp.taken > 0 && now > qp.flushBy {
			l.destroy(qp, now)
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
func (l *lane) destroy(qp *queuePair, now time.Duration) {
	if !qp.closed {
		if err := qp.Close(); err != nil {
			l.engine.log.Error("destroying a QP; its bytes stay out", "rail", qp.endpoint.rail.pair.String(), "error", err)
			return
		}
		qp.closed = true
	}
	v := classify.Of(classify.SignalTeardown)
	for _, s := range l.slots.owners {
		if s != nil && s.qp == qp {
			l.tally.completed(v)
			s.Settle(s.use, v, now)
			s.end(v)
			l.land(s, false, now)
		}
	}
}
