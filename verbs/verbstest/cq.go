package verbstest

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/rdmagate/rdmagate/verbs"
	"github.com/rdmagate/rdmagate/verbs/internal/serial"
)

// CQ is a scripted completion queue. It holds what its QPs completed and what
// Push put in, in that order of time.
type CQ struct {
	id    uint64
	depth int

	mu     sync.Mutex
	queue  []completion
	qps    map[uint64]*QP
	err    error
	closed bool
}

// completion is a WC on its way to Poll, and the room in the send queue that
// its poll gives back.
type completion struct {
	wc    verbs.WC
	qp    *QP
	slots int64
}

var _ verbs.Poller = (*CQ)(nil)

// NewCQ returns an empty CQ. With more than depth completions in it, it
// overflows: polls fail from then on. depth below 1 means without limit.
func NewCQ(depth int) *CQ {
	return &CQ{id: serial.Next(), depth: depth, qps: make(map[uint64]*QP)}
}

// ID returns a number that no other object of package verbs or of this package
// has.
func (c *CQ) ID() uint64 { return c.id }

// String names the CQ in errors.
func (c *CQ) String() string { return fmt.Sprintf("scripted CQ #%d", c.id) }

// Push puts completions into the queue as they are: any status, any order, also
// of requests that were never posted.
func (c *CQ) Push(wcs ...verbs.WC) {
	for _, wc := range wcs {
		c.add(completion{wc: wc})
	}
}

// FailPolls makes every poll from now on fail with the error, until it is called
// with nil.
func (c *CQ) FailPolls(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// Len returns how many completions wait to be polled.
func (c *CQ) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// Poll moves completions, in order, into wcs and returns how many came.
func (c *CQ) Poll(wcs []verbs.WC) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return 0, &verbs.Error{Call: "ibv_poll_cq", Object: c.String(), Err: verbs.ErrClosed}
	case c.err != nil:
		return 0, c.err
	}
	n := min(len(wcs), len(c.queue))
	for i := range n {
		done := c.queue[i]
		wcs[i] = done.wc
		if done.qp != nil {
			done.qp.used.Add(-done.slots)
		}
	}
	c.queue = c.queue[n:]
	return n, nil
}

// Close drops the completions in the queue. It is refused, with an error that
// wraps [verbs.ErrInUse], while QPs use the CQ. Closing twice is nil.
func (c *CQ) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.qps) > 0 {
		return &verbs.Error{
			Call:   "ibv_destroy_cq",
			Object: c.String(),
			Reason: fmt.Sprintf("%d open QPs use it", len(c.qps)),
			Remedy: "close those first",
			Err:    verbs.ErrInUse,
		}
	}
	c.closed = true
	c.queue = nil
	return nil
}

func (c *CQ) add(done completion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.queue = append(c.queue, done)
	if c.depth > 0 && len(c.queue) > c.depth {
		c.err = &verbs.Error{Call: "ibv_poll_cq", Object: c.String(),
			Reason: fmt.Sprintf("it overflowed its depth of %d", c.depth), Errno: syscall.EIO}
	}
}

func (c *CQ) attach(qp *QP) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.qps[qp.id] = qp
}

func (c *CQ) detach(qp *QP) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.qps, qp.id)
}
