package verbs

import (
	"syscall"
	"unsafe"
)

// PD is a protection domain: QPs and memory regions work together only inside
// one. It is the parent of both and cannot be closed before them.
//
// All its methods are safe for concurrent use.
type PD struct {
	object
	ctx *Context
	ptr unsafe.Pointer
}

// AllocPD allocates a protection domain.
func (c *Context) AllocPD() (*PD, error) {
	const call = "ibv_alloc_pd"
	pd := &PD{object: newObject("PD", c.device), ctx: c}
	if err := pd.adopt(call, &c.object); err != nil {
		return nil, err
	}
	var errno syscall.Errno
	if pd.ptr, errno = c.lib.sysAllocPD(c.ptr); errno != 0 {
		pd.release()
		return nil, &Error{Call: call, Object: c.String(), Errno: errno, Remedy: remedyMemory(errno)}
	}
	return pd, nil
}

// Context returns the context that the PD belongs to.
func (p *PD) Context() *Context { return p.ctx }

// Close frees the PD. It is refused, with an error that wraps [ErrInUse] and
// names them, while it has open QPs or memory regions. Closing twice is nil.
func (p *PD) Close() error {
	const call = "ibv_dealloc_pd"
	return p.close(call, func() error {
		if errno := p.ctx.lib.sysDeallocPD(p.ptr); errno != 0 {
			return &Error{Call: call, Object: p.String(), Errno: errno}
		}
		return nil
	})
}
