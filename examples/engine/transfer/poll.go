package transfer

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// poll takes the completions that wait in the worker's CQs. It reports whether
// there were any.
func (w *worker) poll() bool {
	found := false
	now := w.engine.ctl.Now()
	if now-w.polled > w.engine.cfg.StallGap {
		w.gap = now
	}
	w.polled = now
	for _, cq := range w.cqs {
		n, err := cq.Poll(w.wcs)
		cq.poller.Beat(now)
		if err != nil {
			w.engine.log.Error("polling a CQ", "error", err)
			continue
		}
		for i := range w.wcs[:n] {
			w.complete(&w.wcs[i], now)
		}
		found = found || n > 0
	}
	return found
}

// complete settles the permit that a completion is for.
func (w *worker) complete(wc *verbs.WC, now time.Duration) {
	v := classify.Completion(wc.Status, wc.VendorErr)
	s := w.slots.find(wc.WRID, wc.QPNum)
	if s == nil {
		w.tally.late.Add(1) // its slice was settled by a teardown
		return
	}
	w.tally.completed(v)
	s.Settle(s.use, v, now)
	s.end(v)
	if !v.Succeeded() {
		w.failQP(s.qp, now)
	}
	w.landed(s, v.Succeeded(), now)
}

// landed says that a slice is off the wire and its bytes are back.
func (w *worker) landed(s *slice, delivered bool, now time.Duration) {
	r := s.qp.endpoint.rail
	r.meter.ended(s.length, delivered, now)
	w.slots.give(s)
	s.qp.give()
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

// mayRetry returns nil if another attempt can help, else why not.
func (w *worker) mayRetry(s *slice, r *rail) error {
	v := s.verdict
	switch {
	case v.Action() == classify.ActionFailOperation, v.Class() == classify.ClassLocalConfiguration:
		return fmt.Errorf("slice at %d on %s: %v", s.offset, r.pair, v)
	case v.Action() == classify.ActionRefreshMetadata:
		return &metadataError{fmt.Sprintf("slice at %d on %s: %v", s.offset, r.pair, v)}
	case s.attempts >= w.engine.cfg.MaxAttempts:
		return fmt.Errorf("slice at %d failed %d times, last on %s: %v", s.offset, s.attempts, r.pair, v)
	}
	return nil
}

// metadataError fails a transfer whose keys the peer no longer honours.
type metadataError struct{ text string }

func (e *metadataError) Error() string { return e.text }
