package verbs

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"
)

// CQ is a completion queue. It cannot be closed before the QPs that use it.
//
// All its methods are safe for concurrent use, Close during Poll included; each
// completion goes to one of the callers.
type CQ struct {
	object
	ctx     *Context
	ptr     unsafe.Pointer
	depth   int
	foreign bool

	gate gate // passed by every call into the CQ that may meet Close
}

// gateShut is what a call that passes the gate returns when that is closed.
const gateShut = math.MinInt32

// CQInit says what a new CQ is like.
type CQInit struct {
	// Depth is the least number of completions that the CQ holds, 1 to 2^31-1. A CQ
	// that overflows fails with all its QPs, so it should hold the sum of their
	// queues.
	Depth int
	// Channel is where the CQ sends its events. nil means that it is only polled.
	Channel *CompChannel
	// Vector is the completion vector, that is the interrupt, of the events. 0 to
	// 2^31-1, and below the device's number of them.
	Vector int
}

// CreateCQ creates a completion queue.
func (c *Context) CreateCQ(init CQInit) (*CQ, error) {
	const call = "ibv_create_cq"
	switch {
	case init.Depth < 1 || init.Depth > math.MaxInt32:
		return nil, invalid(call, c.String(), fmt.Sprintf("the depth is %d, must be 1 to %d", init.Depth, math.MaxInt32),
			"ask for at least 1 completion, and at most MaxCQE of the device")
	case init.Vector < 0 || init.Vector > math.MaxInt32:
		return nil, invalid(call, c.String(), fmt.Sprintf("the vector is %d, must be 0 to %d", init.Vector, math.MaxInt32),
			"keep it below the device's number of interrupts")
	}
	cq := &CQ{object: newObject("CQ", c.device), ctx: c}
	parents := []*object{&c.object}
	var channel unsafe.Pointer
	if ch := init.Channel; ch != nil {
		if ch.ctx != c {
			return nil, invalid(call, c.String(), fmt.Sprintf("%s is of another context", ch), "create both on one context")
		}
		parents = append(parents, &ch.object)
		channel = ch.ptr
	}
	if err := cq.adopt(call, parents...); err != nil {
		return nil, err
	}
	var errno syscall.Errno
	cq.ptr, cq.depth, errno = c.lib.sysCreateCQ(c.ptr, init.Depth, cq.id, channel, init.Vector)
	if errno != 0 {
		cq.release()
		return nil, &Error{
			Call:   call,
			Object: c.String(),
			Reason: fmt.Sprintf("depth %d, vector %d", init.Depth, init.Vector),
			Errno:  errno,
			Remedy: remedyCQ(errno),
		}
	}
	handles.addCQ(cq)
	return cq, nil
}

func remedyCQ(errno syscall.Errno) string {
	if errno == syscall.EINVAL {
		return "keep the depth up to MaxCQE of the device, and the vector below its number of interrupts"
	}
	return remedyMemory(errno)
}

// WrapCQ makes a CQ of a struct ibv_cq that someone else created on this context.
// Close never destroys it; the owner must keep it until then. Events that speak
// of it are found by its address.
func (c *Context) WrapCQ(ibvCQ unsafe.Pointer) (*CQ, error) {
	const call = "WrapCQ"
	if ibvCQ == nil {
		return nil, invalid(call, c.String(), "the struct ibv_cq pointer is nil", "pass what ibv_create_cq returned, after checking it")
	}
	owner, depth := sysDescribeCQ(ibvCQ)
	if owner != c.ptr {
		return nil, invalid(call, c.String(), "the CQ was created on another struct ibv_context", "wrap the CQ with the context that it belongs to")
	}
	cq := &CQ{object: newObject("CQ", c.device), ctx: c, ptr: ibvCQ, depth: depth, foreign: true}
	if err := cq.adopt(call, &c.object); err != nil {
		return nil, err
	}
	handles.addCQ(cq)
	return cq, nil
}

// Context returns the context that the CQ belongs to.
func (c *CQ) Context() *Context { return c.ctx }

// Depth returns how many completions the CQ holds.
func (c *CQ) Depth() int { return c.depth }

// Foreign reports whether the CQ was wrapped, not created, here.
func (c *CQ) Foreign() bool { return c.foreign }

// Poll moves completions, in order, into wcs and returns how many came: 0 when
// there are none. It is one call into C whatever the number, allocates nothing,
// and never waits. A batch of 32 or 64 makes the call cheap.
func (c *CQ) Poll(wcs []WC) (int, error) {
	if len(wcs) == 0 {
		return 0, nil
	}
	if !c.made() {
		return 0, c.failed("ibv_poll_cq", gateShut)
	}
	n := sysPoll(&c.gate, c.ptr, wcs)
	if n >= 0 {
		return n, nil
	}
	return 0, c.failed("ibv_poll_cq", n)
}

// failed returns the error of a call that went through the gate.
func (c *CQ) failed(call string, n int) error {
	if n == gateShut {
		return closedBy(call, &c.object, "stop polling and waiting before closing a CQ")
	}
	return &Error{
		Call:   call,
		Object: c.String(),
		Errno:  syscall.Errno(-n),
		Remedy: "the CQ has failed: close its QPs and create both anew",
	}
}

// RequestNotify asks for one event on the completion channel, for the next
// completion or, with solicitedOnly, for the next that is solicited or failed.
// Poll until empty after it: a completion that was there before makes no event.
func (c *CQ) RequestNotify(solicitedOnly bool) error {
	if !c.made() {
		return c.failed("ibv_req_notify_cq", gateShut)
	}
	if n := sysReqNotify(&c.gate, c.ptr, solicitedOnly); n != 0 {
		return c.failed("ibv_req_notify_cq", n)
	}
	return nil
}

// Close destroys the CQ and drops the completions in it. It is refused, with an
// error that wraps [ErrInUse] and names them, while QPs use the CQ. Closing twice
// is nil.
func (c *CQ) Close() error {
	const call = "ibv_destroy_cq"
	return c.close(call, func() error {
		sysShut(&c.gate, true)
		if !c.foreign {
			if errno := c.ctx.lib.sysDestroyCQ(c.ptr); errno != 0 {
				sysShut(&c.gate, false)
				return &Error{Call: call, Object: c.String(), Errno: errno, Remedy: "destroy the QPs of other owners that use it"}
			}
		}
		handles.removeCQ(c)
		return nil
	})
}
