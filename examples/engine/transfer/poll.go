package transfer

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// poll takes the completions that wait in the lane's CQs. It reports whether there
// were any.
func (l *lane) poll() bool {
	found := false
	now := l.engine.ctl.Now()
	if now-l.polled > l.engine.cfg.StallGap {
		l.gap = now
	}
	l.polled = now
	for _, cq := range l.cqs {
		n, err := cq.Poll(l.wcs)
		cq.poller.Beat(now)
		if err != nil {
			l.engine.log.Error("polling a CQ", "error", err)
			continue
		}
		for i := range l.wcs[:n] {
			l.complete(&l.wcs[i], now)
		}
		found = found || n > 0
	}
	return found
}

// complete settles the permit that a completion is for.
func (l *lane) complete(wc *verbs.WC, now time.Duration) {
	v := classify.Completion(wc.Status, wc.VendorErr)
	s := l.slots.find(wc.WRID, wc.QPNum)
	if s == nil {
		l.tally.late.Add(1) // its slice was settled by a teardown
		return
	}
	l.tally.completed(v)
	s.Settle(s.use, v, now)
	s.end(v)
	if !v.Succeeded() {
		l.failQP(s.qp, now)
	}
	l.land(s, v.Succeeded(), now)
}

// land says that a slice is off the wire and its bytes are back.
func (l *lane) land(s *slice, delivered bool, now time.Duration) {
	l.release(s)
	l.owner.landed(s, delivered, now)
}
