package transfer

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/verbs"
)

// worker posts and polls. It has one CQ on every NIC for itself, so that posting,
// polling, deadlines and the slices under way need no lock: whoever takes a
// completion from a CQ owns the slice it is for. A CQ shared by the workers would
// save memory, and cost a lock around each poll and a hand-over of each slice.
type worker struct {
	engine *Engine
	id     int
	cqs    []*completionQueue // by index of the NIC
	inbox  inbox
	wake   chan struct{}

	queues    []*peerQueue
	slots     slots
	endpoints []*endpoint // those in which this worker has QPs
	wcs       []verbs.WC
	wrs       []verbs.SendWR
	going     []*slice
	dirty     []*queuePair // with a batch to post

	polled time.Duration // when it last polled
	gap    time.Duration // when the last too long pause between polls ended
	swept  time.Duration

	tally tally
}

// inbox holds what others hand to a worker.
type inbox struct {
	full      atomic.Bool
	mu        sync.Mutex
	slices    []*slice
	endpoints []*endpoint
}

func (in *inbox) deliver(list []*slice) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.slices = append(in.slices, list...)
	in.full.Store(true)
}

func (in *inbox) adopt(ep *endpoint) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.endpoints = append(in.endpoints, ep)
	in.full.Store(true)
}

func newWorker(e *Engine, id int) (*worker, error) {
	w := &worker{
		engine: e, id: id,
		wake:  make(chan struct{}, 1),
		wcs:   make([]verbs.WC, e.cfg.PollBatch),
		wrs:   make([]verbs.SendWR, 0, e.cfg.PostBatch),
		going: make([]*slice, 0, e.cfg.PostBatch),
	}
	for _, nic := range e.nics {
		cq, err := nic.NewCQ(e.cfg.CQDepth)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("transfer: CQ %d of %s: %w", id, nic.Name(), err), w.closeCQs())
		}
		mine := &completionQueue{CQ: cq}
		w.cqs = append(w.cqs, mine)
		if mine.poller, err = e.ctl.NewPoller(nic.Name(), cq.ID()); err != nil {
			return nil, errors.Join(fmt.Errorf("transfer: CQ %d of %s: %w", id, nic.Name(), err), w.closeCQs())
		}
	}
	return w, nil
}

func (w *worker) closeCQs() error {
	var faults []error
	for _, cq := range w.cqs {
		if cq.poller != nil {
			cq.poller.Close()
		}
		faults = append(faults, cq.Close())
	}
	w.cqs = nil
	return errors.Join(faults...)
}

// rouse wakes the worker if it rests.
func (w *worker) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run is the life of the worker: take completions, post what is admitted, look
// after deadlines; rest when there is nothing to do.
func (w *worker) run() {
	w.polled = w.engine.ctl.Now()
	for idle := 0; ; idle++ {
		w.collect()
		if w.poll() {
			idle = 0
		}
		if w.post() {
			idle = 0
		}
		w.sweep()
		if w.engine.stopping.Load() {
			return
		}
		w.rest(idle)
	}
}

// collect takes what the inbox holds.
func (w *worker) collect() {
	in := &w.inbox
	if !in.full.Load() {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.full.Store(false)
	for _, s := range in.slices {
		w.queue(s.transfer.peer).add(s)
	}
	w.endpoints = append(w.endpoints, in.endpoints...)
	in.slices, in.endpoints = in.slices[:0], in.endpoints[:0]
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

// spins is how many idle rounds a worker yields before it begins to nap, and nap
// how long it then waits for completions or for room in a window.
const (
	spins = 64
	nap   = 50 * time.Microsecond
)

// rest waits a little when the round before did nothing, and until somebody wakes
// the worker when there is nothing to wait for.
func (w *worker) rest(idle int) {
	switch {
	case idle < spins:
		runtime.Gosched()
	case w.waiting():
		time.Sleep(nap)
	default:
		// It wakes often enough to be seen to poll: a rest is no stall.
		timer := time.NewTimer(w.engine.cfg.StallGap / 4)
		defer timer.Stop()
		select {
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// waiting reports whether anything is on the wire, queued, or draining.
func (w *worker) waiting() bool {
	if w.slots.used() > 0 || w.inbox.full.Load() {
		return true
	}
	for _, q := range w.queues {
		if q.len() > 0 {
			return true
		}
	}
	for _, ep := range w.endpoints {
		if ep.retired.Load() {
			return true
		}
	}
	return false
}
