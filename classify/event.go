package classify

import (
	"errors"
	"fmt"
)

//go:generate go tool stringer -type=EventType -linecomment

// EventType is the type of an asynchronous event, with the numeric values of
// libibverbs' enum ibv_event_type. Values above [EventWQFatal] are events that
// this package does not know; they change nothing.
type EventType uint32

// The 20 events of enum ibv_event_type.
const (
	EventCQErr            EventType = 0  // CQ error
	EventQPFatal          EventType = 1  // QP fatal
	EventQPReqErr         EventType = 2  // QP request error
	EventQPAccessErr      EventType = 3  // QP access error
	EventCommEst          EventType = 4  // communication established
	EventSQDrained        EventType = 5  // send queue drained
	EventPathMig          EventType = 6  // path migrated
	EventPathMigErr       EventType = 7  // path migration error
	EventDeviceFatal      EventType = 8  // device fatal
	EventPortActive       EventType = 9  // port active
	EventPortErr          EventType = 10 // port error
	EventLIDChange        EventType = 11 // LID change
	EventPKeyChange       EventType = 12 // P_Key change
	EventSMChange         EventType = 13 // subnet manager change
	EventSRQErr           EventType = 14 // SRQ error
	EventSRQLimitReached  EventType = 15 // SRQ limit reached
	EventQPLastWQEReached EventType = 16 // last WQE reached
	EventClientReregister EventType = 17 // client reregister
	EventGIDChange        EventType = 18 // GID change
	EventWQFatal          EventType = 19 // WQ fatal
)

// Object is the kind of object that the event names. It says which fields of
// [Element] are read: a QP event reads QP, an SRQ event SRQ, a WQ event WQ, a CQ
// event CQ, a port event Device and Port, and a device event Device. For an
// event that is not known here it is [ObjectNone].
func (t EventType) Object() Object { return matrices.objects[min(t, unknownValue)] }

// Element is the object that an asynchronous event speaks of. Only the fields
// that fit the event's type are read, see [EventType.Object]; the others are zero.
// Device is the device that reported the event. The verdict on an event of a QP,
// CQ, SRQ or WQ does not need it, but whoever looks the object up does: numbers are
// unique on one device only.
//
// QP, CQ, SRQ and WQ are numbers of the caller's choosing that name an object
// for its whole life. A QP number serves, but the hardware reuses those: a serial
// number that is never given twice (the verbs package has one for every object)
// also tells a late event of an old QP from one of its successor.
type Element struct {
	Device string // local RDMA device, such as mlx5_0
	Port   uint8  // port of the device, from 1; 0 if the event is not a port's
	QP     uint64
	CQ     uint64
	SRQ    uint64
	WQ     uint64
}

// Event is one asynchronous event: what happened, and to what.
type Event struct {
	Type    EventType
	Element Element
}

// ErrNoElement is wrapped by the error of an event that does not name the
// element it is about.
var ErrNoElement = errors.New("event does not name its element")

// Verdict classifies the event at the scope of its element and no wider: a QP
// event speaks of that QP, a port event of that port of that device. An event
// that reaches a scope but leaves its element out gives the zero Verdict and an
// error that wraps [ErrNoElement], rather than a guess. Events that change
// nothing, unknown ones among them, need no element.
func (e Event) Verdict() (Verdict, error) {
	v := AsyncEvent(e.Type)
	object := e.Type.Object()
	if v.Scope() == ScopeNone || e.Element.Names(object) {
		return v, nil
	}
	if name := e.Element.Device; len(name) > 40 {
		e.Element.Device = name[:40] + "..."
	}
	return Verdict{}, fmt.Errorf("event %d (%s) with element %+v: %w: a %s event needs %s",
		e.Type, e.Type, e.Element, ErrNoElement, object, object.fields())
}
