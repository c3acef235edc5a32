package verbstest

import (
	"sync"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// Events is a scripted source of the asynchronous events of one device.
type Events struct {
	device string

	mu     sync.Mutex
	wake   sync.Cond
	queue  []verbs.AsyncEvent
	err    error
	closed bool
}

var _ verbs.EventSource = (*Events)(nil)

// NewEvents returns a source without events.
func NewEvents(device string) *Events {
	e := &Events{device: device}
	e.wake.L = &e.mu
	return e
}

// Next returns the next event, and waits for it. After Close it returns an error
// that wraps [verbs.ErrClosed], also when events are left.
func (e *Events) Next() (verbs.AsyncEvent, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.closed && e.err == nil && len(e.queue) == 0 {
		e.wake.Wait()
	}
	switch {
	case e.closed:
		return verbs.AsyncEvent{}, &verbs.Error{Call: "ibv_get_async_event", Object: e.device, Err: verbs.ErrClosed}
	case len(e.queue) > 0:
		next := e.queue[0]
		e.queue = e.queue[1:]
		return next, nil
	}
	return verbs.AsyncEvent{}, e.err
}

// Close ends all waits. Closing twice is nil.
func (e *Events) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.wake.Broadcast()
	return nil
}

// Push queues events as they are.
func (e *Events) Push(events ...verbs.AsyncEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = append(e.queue, events...)
	e.wake.Broadcast()
}

// End makes Next fail with the error once the events before it are read, as EIO
// does when a device is removed.
func (e *Events) End(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
	e.wake.Broadcast()
}

// PushQP queues an event about a QP.
func (e *Events) PushQP(event classify.EventType, qp *QP) {
	e.Push(verbs.AsyncEvent{Type: event, Device: e.device, QPID: qp.ID(), QPNum: qp.Num()})
}

// PushCQ queues an event about a CQ.
func (e *Events) PushCQ(event classify.EventType, cq *CQ) {
	e.Push(verbs.AsyncEvent{Type: event, Device: e.device, CQID: cq.ID()})
}

// PushPort queues an event about a port, counted from 1.
func (e *Events) PushPort(event classify.EventType, port uint8) {
	e.Push(verbs.AsyncEvent{Type: event, Device: e.device, Port: port})
}

// PushDevice queues an event about the device as a whole.
func (e *Events) PushDevice(event classify.EventType) {
	e.Push(verbs.AsyncEvent{Type: event, Device: e.device})
}
