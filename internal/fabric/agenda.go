package fabric

// eventKind says what happens, and so what an event's target is.
type eventKind uint8

const (
	eventArrive   eventKind = iota // port: the first packet on its wire is at the other end
	eventTransmit                  // port: it may send its next packet
	eventUnpause                   // port: a pause may have run out
	eventRefresh                   // port: a pause that it asked for must be repeated
	eventDrain                     // NIC: the host has taken a packet out of the receive buffer
	eventTimeout                   // QP: the ACK timeout may have run out
	eventRNR                       // QP: the wait after an RNR NAK is over
	eventCut                       // QP: DCQCN's cut that had to wait
	eventRate                      // QP: DCQCN's rate timer
	eventNotifyCQ                  // CQ: its owner is told
	eventCall                      // function of the software above
)

// event is one thing to happen. Its order is the number of the scheduling, shifted
// to have the kind in the low byte: of two events of one instant the one scheduled
// first is first.
type event struct {
	at     Time
	order  uint64
	target int32
}

func (e *event) kind() eventKind { return eventKind(e.order & 0xff) }

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.order < o.order
}

// agenda holds what is to happen: a heap with four children a node. Most events
// schedule another one, so a popped root stays vacant until the next push or pop
// fills it.
type agenda struct {
	heap   []event
	vacant bool // heap[0] was popped
	pushed uint64
}

func (a *agenda) len() int {
	if a.vacant {
		return len(a.heap) - 1
	}
	return len(a.heap)
}

func (a *agenda) push(at Time, kind eventKind, target int32) {
	a.pushed++
	e := event{at: at, order: a.pushed<<8 | uint64(kind), target: target}
	if a.vacant {
		a.vacant = false
		a.sink(e)
		return
	}
	a.heap = append(a.heap, e)
	h := a.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// sink puts e in the place of the root and lets it find its own.
func (a *agenda) sink(e event) {
	h := a.heap
	n := len(h)
	i := 0
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		first := child
		for j := child + 1; j < min(child+4, n); j++ {
			if h[j].before(&h[first]) {
				first = j
			}
		}
		if !h[first].before(&e) {
			break
		}
		h[i] = h[first]
		i = first
	}
	h[i] = e
}

// settle fills a vacant root.
func (a *agenda) settle() {
	if !a.vacant {
		return
	}
	a.vacant = false
	n := len(a.heap) - 1
	last := a.heap[n]
	a.heap = a.heap[:n]
	if n > 0 {
		a.sink(last)
	}
}

// next returns the time of the first event, or never.
func (a *agenda) next() Time {
	a.settle()
	if len(a.heap) == 0 {
		return never
	}
	return a.heap[0].at
}

// pop takes the first event. There must be one.
func (a *agenda) pop() event {
	a.settle()
	a.vacant = true
	return a.heap[0]
}
