package verbs

import (
	"syscall"
	"unsafe"
)

// CompChannel is a completion channel: it wakes one goroutine when CQs that were
// armed with [CQ.RequestNotify] get completions. It cannot be closed before its
// CQs.
//
// All its methods are safe for concurrent use; each event goes to one waiter.
type CompChannel struct {
	object
	ctx  *Context
	ptr  unsafe.Pointer
	file *eventFile
}

// CreateCompChannel creates a completion channel.
func (c *Context) CreateCompChannel() (*CompChannel, error) {
	const call = "ibv_create_comp_channel"
	ch := &CompChannel{object: newObject("completion channel", c.device), ctx: c}
	if err := ch.adopt(call, &c.object); err != nil {
		return nil, err
	}
	ptr, fd, errno := c.lib.sysCreateChannel(c.ptr)
	if errno != 0 {
		ch.release()
		return nil, &Error{Call: call, Object: c.String(), Errno: errno, Remedy: remedyMemory(errno)}
	}
	ch.ptr = ptr
	var err error
	if ch.file, err = newEventFile(fd, ch.String(), false); err != nil {
		c.lib.sysDestroyChannel(ptr)
		ch.release()
		return nil, err
	}
	return ch, nil
}

// Wait returns the CQ of the next event, parked without holding a thread until
// there is one. The event is already acknowledged. The CQ is nil if it has been
// closed since. Stop ends the wait with an error that wraps [ErrClosed].
func (ch *CompChannel) Wait() (*CQ, error) {
	if !ch.made() {
		return nil, closedBy("ibv_get_cq_event", &ch.object, "")
	}
	var cookie, address uint64
	err := ch.file.next("ibv_get_cq_event", &ch.object, func() (errno syscall.Errno) {
		cookie, address, errno = ch.ctx.lib.sysNextCQEvent(ch.ptr)
		return errno
	})
	if err != nil {
		return nil, err
	}
	cq, _ := handles.cq(cookie, uintptr(address))
	return cq, nil
}

// Stop ends all waits, now and later. CQs of the channel can still be polled.
// Close does the same, but needs the CQs to be closed first.
func (ch *CompChannel) Stop() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if !ch.closed && ch.made() {
		ch.file.stop()
	}
}

// Close destroys the channel. It is refused, with an error that wraps
// [ErrInUse] and names them, while it has open CQs. Closing twice is nil.
func (ch *CompChannel) Close() error {
	const call = "ibv_destroy_comp_channel"
	return ch.close(call, func() error {
		ch.file.stop()
		if errno := ch.ctx.lib.sysDestroyChannel(ch.ptr); errno != 0 {
			return &Error{Call: call, Object: ch.String(), Errno: errno}
		}
		return nil
	})
}
