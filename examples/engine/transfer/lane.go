package transfer

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

// lane is what one goroutine posts and polls with. It has one CQ on every NIC and QPs
// in every endpoint for itself, so that posting, polling, deadlines and the slices
// under way need no lock: whoever takes a completion from a CQ owns the slice it is
// for. A CQ shared by the lanes would save memory, and cost a lock around each poll and
// a hand-over of each slice.
type lane struct {
	engine *Engine
	owner  owner
	id     int             // place of its QPs in an endpoint
	qps    int             // in each endpoint
	config fabric.QPConfig // of each

	cqs  []*completionQueue // by index of the NIC
	wake chan struct{}

	arrived   mailbox[*endpoint]
	endpoints []*endpoint // those in which this lane has QPs
	slots     slots
	wcs       []verbs.WC
	wrs       []verbs.SendWR
	going     []*slice

	polled time.Duration // when it last polled
	gap    time.Duration // when the last too long pause between polls ended
	swept  time.Duration

	tally tally
}

// owner is told what becomes of the slices on a lane.
type owner interface {
	// posted: the slice is on the wire.
	posted(s *slice, now time.Duration)
	// unposted: the slice was admitted, did not reach the wire, and its bytes are back.
	// refused is set if the QP takes nothing at all any more.
	unposted(s *slice, refused error)
	// landed: the slice is off the wire, and its bytes are back.
	landed(s *slice, delivered bool, now time.Duration)
}

// open makes the lane's CQs. close takes them back, also those of a lane that could not
// be opened.
func (l *lane) open(cqDepth int) error {
	e := l.engine
	l.wake = make(chan struct{}, 1)
	l.wcs = make([]verbs.WC, min(e.cfg.PollBatch, cqDepth))
	l.wrs, l.going = make([]verbs.SendWR, 0, e.cfg.PostBatch), make([]*slice, 0, e.cfg.PostBatch)
	for _, nic := range e.nics {
		cq, err := nic.NewCQ(cqDepth)
		if err != nil {
			return fmt.Errorf("transfer: CQ %d of %s: %w", l.id, nic.Name(), err)
		}
		mine := &completionQueue{CQ: cq, depth: cqDepth}
		l.cqs = append(l.cqs, mine)
		if mine.poller, err = e.ctl.NewPoller(nic.Name(), cq.ID()); err != nil {
			return fmt.Errorf("transfer: CQ %d of %s: %w", l.id, nic.Name(), err)
		}
	}
	l.polled = e.ctl.Now()
	return nil
}

func (l *lane) close() error {
	var faults []error
	for _, cq := range l.cqs {
		if cq.poller != nil {
			cq.poller.Close()
		}
		faults = append(faults, cq.Close())
	}
	l.cqs = nil
	return errors.Join(faults...)
}

// rouse wakes the goroutine if it rests.
func (l *lane) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// admitted notes a slice that is to be posted on a QP.
func (l *lane) admitted(s *slice, use cc.Use, qp *queuePair) {
	s.use, s.qp, s.finished = use, qp, false
	l.slots.take(s)
	qp.take()
	qp.batch = append(qp.batch, s)
}

// release forgets a slice that is not on the wire, or not any more.
func (l *lane) release(s *slice) {
	l.slots.give(s)
	s.qp.give()
}

// pick returns the lane's QP of the endpoint with the most room, nil if none has any.
func (l *lane) pick(ep *endpoint) *queuePair {
	var best *queuePair
	for _, qp := range ep.qps[l.id] {
		if qp.room() && (best == nil || qp.taken < best.taken) {
			best = qp
		}
	}
	return best
}

// spins is how many idle rounds a goroutine yields before it begins to nap, and nap how
// long it then waits for completions or for room in a window.
const (
	spins = 64
	nap   = 50 * time.Microsecond
)

// rest waits a little when the round before did nothing, and while there is nothing to
// wait for until somebody wakes the goroutine, but no longer than limit.
func (l *lane) rest(idle int, waiting bool, limit time.Duration) {
	switch {
	case idle < spins:
		runtime.Gosched()
	case waiting || l.waiting():
		time.Sleep(nap)
	default:
		// It wakes often enough to be seen to poll: a rest is no stall.
		timer := time.NewTimer(min(limit, l.engine.cfg.StallGap/4))
		defer timer.Stop()
		select {
		case <-l.wake:
		case <-timer.C:
		}
	}
}

// waiting reports whether anything is on the wire or draining.
func (l *lane) waiting() bool {
	if l.slots.used() > 0 {
		return true
	}
	for _, ep := range l.endpoints {
		if ep.retired.Load() {
			return true
		}
	}
	return false
}
