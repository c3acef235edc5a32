package verbs

import (
	"fmt"
	"syscall"
	"unsafe"
)

// MR is a memory region: memory that the NIC may access, with the key for local
// use and the key that a peer needs.
//
// All its methods are safe for concurrent use.
type MR struct {
	object
	pd         *PD
	ptr        unsafe.Pointer
	addr       uint64
	length     int
	lkey, rkey uint32
}

// RegisterMR registers memory with a protection domain.
//
// The memory must come from mmap, as [AllocMemory] gives it, or from C, and must
// stay mapped until the MR is closed. Go memory is refused: the NIC keeps the
// address, and neither the collector nor cgo's rules allow for that. (The check
// is cgo's own, so GODEBUG=cgocheck=0 turns it off.)
//
// Memory of length 0 or with unknown access bits is refused, and so is remote
// write without local write. ENOMEM usually means the limit of locked memory,
// EFAULT memory that cannot be pinned.
func (p *PD) RegisterMR(memory []byte, access Access) (*MR, error) {
	const call = "ibv_reg_mr"
	if err := checkMemory(call, p, memory, access); err != nil {
		return nil, err
	}
	start := unsafe.Pointer(unsafe.SliceData(memory))
	mr := &MR{
		object: newObject("MR", p.device),
		pd:     p,
		addr:   uint64(uintptr(start)),
		length: len(memory),
	}
	if err := mr.adopt(call, &p.object); err != nil {
		return nil, err
	}
	var errno syscall.Errno
	mr.ptr, mr.lkey, mr.rkey, errno = p.ctx.lib.sysRegMR(p.ptr, start, len(memory), uint32(access))
	if errno != 0 {
		mr.release()
		return nil, &Error{
			Call:   call,
			Object: p.String(),
			Reason: fmt.Sprintf("%d bytes at %#x", len(memory), mr.addr),
			Errno:  errno,
			Remedy: remedyMR(errno, len(memory)),
		}
	}
	return mr, nil
}

func checkMemory(call string, p *PD, memory []byte, access Access) error {
	switch {
	case len(memory) == 0:
		return invalid(call, p.String(), "the memory has length 0", "register at least one byte")
	case access&^accessAll != 0:
		return invalid(call, p.String(), fmt.Sprintf("unknown access bits %#x", uint32(access&^accessAll)),
			"combine the Access constants")
	case access&AccessRemoteWrite != 0 && access&AccessLocalWrite == 0:
		return invalid(call, p.String(), "remote write without local write", "add AccessLocalWrite")
	case isGoMemory(unsafe.Pointer(unsafe.SliceData(memory))):
		return invalid(call, p.String(), fmt.Sprintf("%d bytes at %p are Go memory", len(memory), unsafe.SliceData(memory)),
			"take memory from AllocMemory, mmap or C")
	}
	return nil
}

// PD returns the protection domain of the region.
func (m *MR) PD() *PD { return m.pd }

// Addr returns the address of the first byte, local and for peers.
func (m *MR) Addr() uint64 { return m.addr }

// Len returns the length in bytes.
func (m *MR) Len() int { return m.length }

// LKey returns the key for the SGEs of local work requests.
func (m *MR) LKey() uint32 { return m.lkey }

// RKey returns the key for the READs and WRITEs of a peer.
func (m *MR) RKey() uint32 { return m.rkey }

// SGE returns the scatter/gather element of n bytes from an offset of the region. A
// range that is not inside the region, or that is longer than [MaxMessage], is
// refused.
func (m *MR) SGE(offset, n int) (SGE, error) {
	if offset < 0 || n < 0 || offset > m.length || n > m.length-offset || int64(n) > MaxMessage {
		return SGE{}, invalid("SGE", m.String(), fmt.Sprintf("%d bytes from %d on, the region has %d and one SGE up to %d",
			n, offset, m.length, int64(MaxMessage)), "stay inside the region, and split what is longer")
	}
	return SGE{Addr: m.addr + uint64(offset), Length: uint32(n), LKey: m.lkey}, nil
}

// Close deregisters the memory. Work requests that still use it fail. Closing
// twice is nil.
func (m *MR) Close() error {
	const call = "ibv_dereg_mr"
	return m.close(call, func() error {
		if errno := m.pd.ctx.lib.sysDeregMR(m.ptr); errno != 0 {
			return &Error{Call: call, Object: m.String(), Errno: errno}
		}
		return nil
	})
}
