package fabriclab

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/fabric"
	"github.com/rdmagate/rdmagate/taskstate"
)

// Flow is a queue of slices of one engine for one peer. The engine's flows take turns,
// a slice each; a slice that is refused keeps those behind it waiting.
type Flow struct {
	engine  *Engine
	routes  []*route // alternatives
	op      fabric.Op
	turn    int // in routes
	blocked bool

	queue   []*slice
	head    int
	pool    []*slice
	endless *transfer // gives a slice whenever one is wanted
	size    int64     // of the endless transfer's slices
	largest int64     // slice so far

	// Observed, if asked for.
	times []time.Duration // of each slice, from handing over to completion
	waits []wait          // of each slice that was refused
	watch func(s *slice, now time.Duration)
}

// wait is what a slice went through that was at the head of its queue and had to stay.
type wait struct {
	from, until time.Duration // the first refusal, the admission
	overtaken   time.Duration // the last admission of a smaller slice in between; 0 if there was none
}

// transfer is a number of bytes that are handed over at once.
type transfer struct {
	task taskstate.Task
	left int // slices
	done func(now time.Duration)
}

// slice is one work request's worth of a transfer.
type slice struct {
	permit   cc.Permit
	use      cc.Use
	bytes    int64
	flow     *Flow
	transfer *transfer
	probe    bool

	endpoint *endpoint
	qp       *queuePair
	failedOn *route

	handed    time.Duration // to the engine
	refused   time.Duration // first, since it is at the head of its queue; 0 is never
	overtaken time.Duration // see wait
	postedAt  time.Duration
}

// Transfer hands over bytes, cut into slices, and has done called when all have
// arrived.
func (f *Flow) Transfer(bytes, size int64, done func(now time.Duration)) {
	t := &transfer{done: done, left: int((bytes + size - 1) / size)}
	f.largest = max(f.largest, min(bytes, size))
	f.engine.bed.open++
	for ; bytes > 0; bytes -= size {
		f.queue = append(f.queue, f.newSlice(t, min(bytes, size)))
	}
	f.engine.pump()
}

// Stream has the flow always have a slice of that size to send, until Stop.
func (f *Flow) Stream(size int64) {
	f.endless, f.size = &transfer{left: -1}, size
	f.largest = max(f.largest, size)
	f.engine.pump()
}

// Stop ends a stream. What is posted finishes.
func (f *Flow) Stop() { f.endless = nil }

func (f *Flow) newSlice(t *transfer, bytes int64) *slice {
	s := &slice{}
	if n := len(f.pool); n > 0 {
		s, f.pool = f.pool[n-1], f.pool[:n-1]
	}
	s.flow, s.transfer, s.bytes = f, t, bytes
	s.handed, s.refused, s.overtaken, s.failedOn = f.engine.bed.Sim.Now(), 0, 0, nil
	return s
}

// first returns the slice whose turn it is, or nil.
func (f *Flow) first(now time.Duration) *slice {
	if f.head == len(f.queue) {
		f.queue, f.head = f.queue[:0], 0
		if f.endless == nil {
			return nil
		}
		f.queue = append(f.queue, f.newSlice(f.endless, f.size))
	}
	return f.queue[f.head]
}

// take takes the first slice out of the queue.
func (f *Flow) take(s *slice, now time.Duration) {
	f.head++
	if s.refused > 0 && f.waits != nil {
		f.waits = append(f.waits, wait{s.refused, now, s.overtaken})
	}
	s.refused, s.overtaken = 0, 0
}

// overtake notes that a slice was admitted while a larger one waits here.
func (f *Flow) overtake(by *slice, now time.Duration) {
	if f.waits == nil || f.head == len(f.queue) {
		return
	}
	if s := f.queue[f.head]; s.refused > 0 && by.bytes < s.bytes {
		s.overtaken = now
	}
}

// waited returns the waits so far, with that of the slice that waits now.
func (f *Flow) waited(now time.Duration) []wait {
	if f.head == len(f.queue) || f.queue[f.head].refused == 0 {
		return f.waits
	}
	s := f.queue[f.head]
	return append(slices.Clip(f.waits), wait{s.refused, now, s.overtaken})
}

// putBack makes a slice the first again.
func (f *Flow) putBack(s *slice) {
	if f.head > 0 {
		f.head--
		f.queue[f.head] = s
		return
	}
	f.queue = append([]*slice{s}, f.queue...)
}

// delivered ends a slice.
func (f *Flow) delivered(s *slice, now time.Duration) {
	if f.times != nil {
		f.times = append(f.times, now-s.handed)
	}
	if f.watch != nil {
		f.watch(s, now)
	}
	t := s.transfer
	f.pool = append(f.pool, s)
	if t.left < 0 {
		return
	}
	if t.left--; t.left == 0 {
		f.engine.bed.open--
		if t.done != nil {
			t.done(now)
		}
	}
}

// Received returns the payload that has arrived, in bytes. Flows that share a route
// are told together.
func (f *Flow) Received() (bytes int64) {
	for _, r := range f.routes {
		bytes += r.received()
	}
	return bytes
}

// window returns what a controller's window of the first route is, 0 without one.
func (f *Flow) window() float64 {
	if p := f.routes[0].path; p != nil {
		return float64(p.Snapshot().WindowBytes)
	}
	return 0
}
