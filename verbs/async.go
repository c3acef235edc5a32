package verbs

import (
	"cmp"
	"fmt"
	"syscall"

	"github.com/rdmagate/rdmagate/classify"
)

// AsyncEvent is one asynchronous event of a device: a value that refers to
// nothing in C, already acknowledged when it is handed out.
type AsyncEvent struct {
	Type   classify.EventType
	Device string
	Port   uint8 // for port events, from 1

	// QP and CQ are what the event speaks of; nil if it speaks of something else, of
	// an object that was not made by this package, or of one closed since. They may
	// be closed at any time after.
	QP *QP
	CQ *CQ

	// QPID and CQID are their IDs, which stay right after Close. 0 if the object was
	// not made, or wrapped, by this package.
	QPID, CQID uint64

	// QPNum is the QP number, also of foreign QPs.
	QPNum uint32
	// Address is that of the struct ibv_qp, ibv_cq, ibv_srq or ibv_wq, for comparison
	// only: the memory may be free by now, and the address in use again.
	Address uintptr
}

// Event returns the event in the form that the controller takes. Its numbers are
// the IDs of the QP and CQ. An object that this package has no ID for, such as an
// SRQ, a WQ or another owner's QP, has its Address as its number. No ID is as large
// as an address, so that a foreign object is not taken for one of ours, and whoever
// registers an SRQ with the controller names it by its address too.
func (e AsyncEvent) Event() classify.Event {
	element := classify.Element{Device: e.Device, Port: e.Port}
	address := uint64(e.Address)
	switch e.Type.Object() {
	case classify.ObjectQP:
		element.QP = cmp.Or(e.QPID, address)
	case classify.ObjectCQ:
		element.CQ = cmp.Or(e.CQID, address)
	case classify.ObjectSRQ:
		element.SRQ = address
	case classify.ObjectWQ:
		element.WQ = address
	}
	return classify.Event{Type: e.Type, Element: element}
}

// String returns the event as one would write it in a log.
func (e AsyncEvent) String() string {
	switch {
	case e.Port != 0:
		return fmt.Sprintf("%s on port %d of %s", e.Type, e.Port, e.Device)
	case e.QPID != 0:
		return fmt.Sprintf("%s on QP #%d of %s", e.Type, e.QPID, e.Device)
	case e.QPNum != 0:
		return fmt.Sprintf("%s on QP number %d of %s", e.Type, e.QPNum, e.Device)
	case e.CQID != 0:
		return fmt.Sprintf("%s on CQ #%d of %s", e.Type, e.CQID, e.Device)
	}
	return fmt.Sprintf("%s on %s", e.Type, e.Device)
}

// AsyncReader reads the asynchronous events of a context. There is at most one
// at a time, since two would take each other's events.
//
// It starts no goroutine: the caller's waits in Next, parked without a thread.
// All its methods are safe for concurrent use.
type AsyncReader struct {
	object
	ctx  *Context
	file *eventFile
}

// AsyncEvents returns the event reader of the context. A second one is refused,
// with an error that wraps [ErrInUse], until the first is closed.
//
// On a wrapped context the owner must not read events meanwhile. The descriptor
// is non-blocking while the reader is open.
func (c *Context) AsyncEvents() (*AsyncReader, error) {
	const call = "AsyncEvents"
	if !c.made() {
		return nil, closedBy(call, &c.object, "")
	}
	select {
	case <-c.reader:
	default:
		return nil, &Error{Call: call, Object: c.String(), Reason: "the context has an event reader", Err: ErrInUse,
			Remedy: "close it first, or share it"}
	}
	r := &AsyncReader{object: newObject("event reader", c.device), ctx: c}
	if err := r.adopt(call, &c.object); err != nil {
		c.reader <- struct{}{}
		return nil, err
	}
	var err error
	if r.file, err = newEventFile(c.lib.sysAsyncFD(c.ptr), r.String(), c.foreign); err != nil {
		r.release()
		c.reader <- struct{}{}
		return nil, err
	}
	return r, nil
}

// Next returns the next event, and waits for it. An event is read, copied and
// acknowledged in one step, so that an object can be destroyed at any time,
// whatever the caller does with events.
//
// It returns an error that wraps [ErrClosed] after Close, and one that wraps EIO
// once the device has been removed.
func (r *AsyncReader) Next() (AsyncEvent, error) {
	if !r.made() {
		return AsyncEvent{}, closedBy("ibv_get_async_event", &r.object, "")
	}
	var raw rawEvent
	err := r.file.next("ibv_get_async_event", &r.object, func() (errno syscall.Errno) {
		raw, errno = r.ctx.lib.sysNextAsync(r.ctx.ptr)
		return errno
	})
	if err != nil {
		return AsyncEvent{}, err
	}
	return raw.resolve(r.ctx.device), nil
}

// rawEvent is what C copied out of an event before it acknowledged it.
type rawEvent struct {
	kind    classify.EventType
	element int // elementNone to elementWQ
	port    uint8
	qpNum   uint32
	cookie  uint64
	address uintptr
}

// What an event speaks of, with the values of RGV_ELEMENT_* in shim.h.
const (
	elementNone = iota
	elementPort
	elementQP
	elementCQ
	elementSRQ
	elementWQ
)

func (raw *rawEvent) resolve(device string) AsyncEvent {
	e := AsyncEvent{Type: raw.kind, Device: device, Address: raw.address}
	switch raw.element {
	case elementPort:
		e.Port = raw.port
	case elementQP:
		e.QPNum = raw.qpNum
		e.QP, e.QPID = handles.qp(raw.cookie, raw.address)
	case elementCQ:
		e.CQ, e.CQID = handles.cq(raw.cookie, raw.address)
	}
	return e
}

// Close ends the reader: Next returns at once. Events that wait are dropped with
// the context, or kept for the next reader. Closing twice is nil.
func (r *AsyncReader) Close() error {
	return r.close("Close", func() error {
		r.file.stop()
		r.ctx.reader <- struct{}{}
		return nil
	})
}
