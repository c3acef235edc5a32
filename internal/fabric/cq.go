package fabric

import "github.com/rdmagate/rdmagate/classify"

// Completion is what a CQ tells of a work request.
type Completion struct {
	WRID      uint64
	Status    classify.Status
	QPNum     uint32
	VendorErr uint32 // 0 on success, else made up
}

// vendorErr is the base of the made-up vendor errors.
const vendorErr = 0x5300

// CQ is a completion queue without a limit.
type CQ struct {
	sim     *Sim
	id      int32
	queue   []Completion
	head    int
	notify  func()
	telling bool // a notify event is scheduled
}

// NewCQ returns an empty CQ.
func (s *Sim) NewCQ() *CQ {
	c := &CQ{sim: s, id: int32(len(s.cqs))}
	s.cqs = append(s.cqs, c)
	return c
}

// Poll takes completions, oldest first, up to the length of dst, and returns how many.
func (c *CQ) Poll(dst []Completion) int {
	n := copy(dst, c.queue[c.head:])
	c.head += n
	if c.head == len(c.queue) {
		c.queue, c.head = c.queue[:0], 0
	}
	return n
}

// Notify has f called in each instant in which completions were added, once, after
// what made them. Nil is nobody.
func (c *CQ) Notify(f func()) { c.notify = f }

func (c *CQ) tell() {
	c.telling = false
	if c.notify != nil {
		c.notify()
	}
}

// add adds a completion. To add to no CQ is to lose it.
func (c *CQ) add(id uint64, status classify.Status, qpn uint32) {
	if c == nil {
		return
	}
	w := Completion{WRID: id, Status: status, QPNum: qpn}
	if status != classify.StatusSuccess {
		w.VendorErr = vendorErr + uint32(status)
	}
	c.queue = append(c.queue, w)
	if c.notify != nil && !c.telling {
		c.telling = true
		c.sim.agenda.push(c.sim.now, eventNotifyCQ, c.id)
	}
}
