package livefabric

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	sim "github.com/rdmagate/rdmagate/internal/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

var _ fabric.CQ = (*CQ)(nil)

// maxCQDepth is the greatest depth of a CQ.
const maxCQDepth = 1 << 22

// CQ is a completion queue.
type CQ struct {
	nic   *NIC
	sim   *sim.CQ
	id    uint64
	depth int
	users int // QPs

	// mu is taken after the lock of Net, so that a poll need not wait for it.
	mu      sync.Mutex
	wcs     []verbs.WC
	failure error // what Poll says when wcs is empty
}

// NewCQ makes a CQ for depth completions, 1 to 4194304. One that has to hold more loses
// them, reports CQ_ERR and fails its QPs.
func (p *NIC) NewCQ(depth int) (fabric.CQ, error) {
	const call = "new CQ"
	if depth < 1 || depth > maxCQDepth {
		return nil, invalid(call, p, "the depth is %d; ask for 1 to %d", depth, maxCQDepth)
	}
	n := p.host.net
	n.lock()
	defer n.unlock()
	if err := p.host.open(call, p); err != nil {
		return nil, err
	}
	c := &CQ{nic: p, sim: n.sim.NewCQ(), id: nextID(), depth: depth}
	c.sim.Notify(c.collect)
	p.cqs[c.id] = c
	return c, nil
}

// ID returns a number that no other CQ or QP of the process ever has.
func (c *CQ) ID() uint64 { return c.id }

// String names the CQ as errors do.
func (c *CQ) String() string { return fmt.Sprintf("CQ #%d of %v", c.id-firstID, c.nic) }

// Poll fills wcs from the front and returns how many there were, possibly 0. It
// never waits. Once the CQ is closed, or has overflowed and been emptied, it is an
// error.
//
// A poll of an empty CQ simulates what is due by the clock, or yields the processor.
func (c *CQ) Poll(wcs []verbs.WC) (int, error) {
	n, err := c.take(wcs)
	if n > 0 || err != nil || len(wcs) == 0 {
		return n, err
	}
	if !c.nic.host.net.look() {
		runtime.Gosched()
	}
	return c.take(wcs)
}

func (c *CQ) take(wcs []verbs.WC) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wcs) == 0 {
		return 0, c.failure
	}
	n := copy(wcs, c.wcs)
	c.wcs = slices.Delete(c.wcs, 0, n)
	return n, nil
}

// Close closes the CQ. It is refused, with an error that wraps verbs.ErrInUse and
// names them, while QPs use it. Closing twice is nil.
func (c *CQ) Close() error {
	n := c.nic.host.net
	n.lock()
	defer n.unlock()
	if c.users > 0 {
		var users []string
		for _, q := range c.qps() {
			users = append(users, q.String())
		}
		return inUse("close", c, users)
	}
	c.destroy()
	return nil
}

func (c *CQ) destroy() {
	delete(c.nic.cqs, c.id)
	c.sim.Notify(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wcs = nil
	c.failure = closed("poll", c)
}

// qps lists the QPs that use the CQ, by number.
func (c *CQ) qps() []*QP {
	var list []*QP
	for _, number := range slices.Sorted(maps.Keys(c.nic.qps)) {
		if q := c.nic.qps[number]; q.cq == c {
			list = append(list, q)
		}
	}
	return list
}

// collect takes over what the simulator completes. Completions of a QP that was closed
// are gone.
func (c *CQ) collect() {
	var batch [16]sim.Completion
	for n := c.sim.Poll(batch[:]); n > 0; n = c.sim.Poll(batch[:]) {
		for _, done := range batch[:n] {
			if q := c.nic.qps[done.QPNum]; q != nil {
				c.push(q.complete(done))
			}
		}
	}
}

// push adds a completion. When there is no room for it, it is lost, the CQ is
// done for, and its QPs fail.
func (c *CQ) push(wc verbs.WC) {
	c.mu.Lock()
	broken := c.failure != nil
	full := len(c.wcs) == c.depth
	switch {
	case broken:
	case full:
		c.failure = invalid("poll", c, "more than %d completions waited, so some were lost; make the CQ as deep as the queues of its QPs together", c.depth)
	default:
		c.wcs = append(c.wcs, wc)
	}
	c.mu.Unlock()
	if broken || !full {
		return
	}
	c.nic.overflow(c)
}

// overflow reports that a CQ is done for, and fails its QPs.
func (p *NIC) overflow(c *CQ) {
	p.emit(classify.Event{Type: classify.EventCQErr, Element: classify.Element{Device: p.name, CQ: c.id}})
	for _, q := range c.qps() {
		q.sim.Fail(classify.StatusWRFlushErr)
	}
}

// purge drops the completions of a QP that is being destroyed.
func (c *CQ) purge(number uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wcs = slices.DeleteFunc(c.wcs, func(wc verbs.WC) bool { return wc.QPNum == number })
}
