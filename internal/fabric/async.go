package fabric

import "github.com/rdmagate/rdmagate/classify"

// Event is an asynchronous event of a NIC. It names the element that its type is
// about; see [classify.EventType.Object].
type Event struct {
	Type  classify.EventType
	Port  uint8  // of a port event: 1
	QPNum uint32 // of a QP event
}

// Raise adds an asynchronous event to the NIC's queue.
func (n *NIC) Raise(e Event) {
	n.events = append(n.events, e)
	if n.notify != nil {
		n.sim.At(n.sim.Now(), n.notify)
	}
}

// PollEvent takes the oldest asynchronous event.
func (n *NIC) PollEvent() (Event, bool) {
	if len(n.events) == 0 {
		return Event{}, false
	}
	e := n.events[0]
	n.events = n.events[1:]
	return e, true
}

// Notify has f called after each event that is added. Nil is nobody.
func (n *NIC) Notify(f func()) { n.notify = f }
