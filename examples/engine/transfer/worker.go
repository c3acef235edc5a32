package transfer

import (
	"errors"
	"math"
	"time"
)

// worker posts the slices of transfers on a lane of its own.
type worker struct {
	lane
	inbox  mailbox[*slice]
	got    []*slice // from the inbox
	queues []*peerQueue
	dirty  []*queuePair // with a batch to post
}

func newWorker(e *Engine, id int) (*worker, error) {
	w := &worker{lane: lane{engine: e, id: id, qps: e.cfg.QPsPerWorker, config: e.cfg.qp()}}
	w.owner = w
	if err := w.open(e.cfg.CQDepth); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// run is the life of the worker: take completions, post what is admitted, look
// after deadlines; rest when there is nothing to do.
func (w *worker) run() {
	for idle := 0; ; idle++ {
		w.collect()
		if w.poll() {
			idle = 0
		}
		if w.post() {
			idle = 0
		}
		if w.sweep() {
			w.leaveQueues()
		}
		if w.engine.stopping.Load() {
			return
		}
		w.rest(idle, w.queued(), math.MaxInt64)
	}
}

// collect takes what others handed over.
func (w *worker) collect() {
	w.endpoints = w.arrived.take(w.endpoints)
	w.got = w.inbox.take(w.got[:0])
	for _, s := range w.got {
		w.queue(s.transfer.peer).add(s)
	}
	clear(w.got)
}

// queue returns the worker's queue for a peer.
func (w *worker) queue(p *Peer) *peerQueue {
	for _, q := range w.queues {
		if q.peer == p {
			return q
		}
	}
	q := &peerQueue{candidates: newCandidates(p, w.id)}
	w.queues = append(w.queues, q)
	return q
}

// queued reports whether anything is to be posted.
func (w *worker) queued() bool {
	if w.inbox.full.Load() || w.arrived.full.Load() {
		return true
	}
	for _, q := range w.queues {
		if q.len() > 0 {
			return true
		}
	}
	return false
}

// posted counts an attempt.
func (w *worker) posted(s *slice, now time.Duration) {
	s.attempts++
	s.qp.endpoint.rail.meter.posted(s.length, now)
}

// unposted puts a slice back that was admitted in vain.
func (w *worker) unposted(s *slice, refused error) {
	w.queue(s.transfer.peer).putBack(s)
	if refused == nil {
		return
	}
	if s.attempts++; s.attempts >= w.engine.cfg.MaxAttempts {
		s.transfer.fail(refused)
	}
}

// landed ends a slice that was delivered or whose transfer has failed, and puts any
// other back.
func (w *worker) landed(s *slice, delivered bool, now time.Duration) {
	r := s.qp.endpoint.rail
	r.meter.ended(s.length, delivered, now)
	t := s.transfer
	switch {
	case delivered: // also after a deadline: the bytes are where they belong
		t.moved.Add(s.length)
		t.rest()
		return
	case !t.stopped.Load():
		if err := w.mayRetry(s, r); err != nil {
			t.fail(err)
		}
	}
	if t.stopped.Load() {
		t.rest()
		return
	}
	t.retries.Add(1)
	s.failedOn = r
	w.queue(t.peer).putBack(s)
}
