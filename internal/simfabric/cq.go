package simfabric

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

var _ fabric.CQ = (*CQ)(nil)

// maxCQDepth is the greatest depth of a CQ.
const maxCQDepth = 1 << 22

// CQ is a completion queue.
type CQ struct {
	nic   *NIC
	id    uint64
	depth int
	qps   map[*QP]bool // guarded by the lock of Net

	// mu is taken after the lock of Net, so that a poll need not wait for it.
	mu      sync.Mutex
	wcs     []verbs.WC
	failure error // what Poll says when wcs is empty
}

// NewCQ makes a CQ for depth completions, 1 to 4194304.
func (p *NIC) NewCQ(depth int) (fabric.CQ, error) {
	const call = "new CQ"
	if depth < 1 || depth > maxCQDepth {
		return nil, invalid(call, p.String(), fmt.Sprintf("the depth is %d", depth), fmt.Sprintf("ask for 1 to %d", maxCQDepth))
	}
	p.net.lock()
	defer p.net.unlock()
	if err := p.host.open(call, p.String()); err != nil {
		return nil, err
	}
	cq := &CQ{nic: p, id: nextID(), depth: depth, qps: make(map[*QP]bool)}
	p.cqs[cq.id] = cq
	return cq, nil
}

// ID returns a number that no other CQ or QP of the process ever has.
func (c *CQ) ID() uint64 { return c.id }

// String names the CQ as errors do.
func (c *CQ) String() string { return fmt.Sprintf("CQ #%d of %v", c.id-firstID, c.nic) }

// Poll fills wcs from the front and returns how many there were, possibly 0. It
// never waits. Once the CQ is closed, or has overflowed and been emptied, it is an
// error.
//
// An empty CQ yields the processor, so that callers that spin do not keep those
// from running whose completions are due.
func (c *CQ) Poll(wcs []verbs.WC) (int, error) {
	n, err := c.take(wcs)
	if n > 0 || err != nil || len(wcs) == 0 {
		return n, err
	}
	if !c.nic.net.overdue() {
		runtime.Gosched()
		return 0, nil
	}
	c.nic.net.tick()
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
	c.nic.net.lock()
	defer c.nic.net.unlock()
	if len(c.qps) > 0 {
		var users []string
		for _, q := range sorted(c.nic.qps) {
			if c.qps[q] {
				users = append(users, q.String())
			}
		}
		return inUse("close", c.String(), users)
	}
	c.destroy()
	return nil
}

func (c *CQ) destroy() {
	delete(c.nic.cqs, c.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wcs = nil
	c.failure = &problem{call: "poll", object: c.String(), cause: verbs.ErrClosed}
}

// push adds a completion. When there is no room for it, it is lost, the CQ is
// done for, and its QPs fail.
func (c *CQ) push(wc verbs.WC) {
	c.mu.Lock()
	broken := c.failure != nil
	full := len(c.wcs) == c.depth
	if !broken && !full {
		c.wcs = append(c.wcs, wc)
	}
	if !broken && full {
		c.failure = &problem{
			call:   "poll",
			object: c.String(),
			reason: fmt.Sprintf("more than %d completions waited, so some were lost", c.depth),
			remedy: "make the CQ as deep as the queues of its QPs together",
		}
	}
	c.mu.Unlock()
	if broken || !full {
		return
	}
	c.nic.report(classify.EventCQErr, classify.Element{CQ: c.id})
	for _, q := range sorted(c.nic.qps) {
		if c.qps[q] {
			q.fail()
		}
	}
}

// purge drops the completions of a QP that is being destroyed.
func (c *CQ) purge(qpn uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wcs = slices.DeleteFunc(c.wcs, func(wc verbs.WC) bool { return wc.QPNum == qpn })
}
