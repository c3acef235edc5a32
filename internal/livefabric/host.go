package livefabric

import (
	"unsafe"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

var _ fabric.Host = (*Host)(nil)

// maxMemory is what the memory of one host may add up to, in bytes: it is that of
// this process.
const maxMemory = 8 << 30

// Host is one machine of the fabric.
type Host struct {
	net     *Net
	name    string
	reason  string
	nics    []*NIC
	memory  map[uintptr][]byte // given out by Alloc, by address
	claimed int64              // length of all memory, with what is being allocated
	closed  bool
}

// Name says that the fabric is simulated, which host this is, and why.
func (h *Host) Name() string {
	name := "simulated fabric in this process, host " + h.name
	if h.reason != "" {
		name += " (" + h.reason + ")"
	}
	return name
}

// String names the host as errors do.
func (h *Host) String() string { return "host " + h.name }

// NICs returns the NICs in the order of the configuration.
func (h *Host) NICs() []fabric.NIC {
	nics := make([]fabric.NIC, len(h.nics))
	for i, nic := range h.nics {
		nics[i] = nic
	}
	return nics
}

// Alloc returns zeroed memory, which the host's NICs can register. bytes must be
// above 0, and all memory of a host together is 8 GiB at most.
func (h *Host) Alloc(bytes int) ([]byte, error) {
	const call = "alloc"
	if err := h.claim(call, int64(bytes)); err != nil {
		return nil, err
	}
	mem := make([]byte, bytes) // may take a while, so without the fabric's lock
	h.net.lock()
	defer h.net.unlock()
	if err := h.open(call, h); err != nil {
		return nil, err
	}
	h.memory[address(mem)] = mem
	return mem, nil
}

// claim counts bytes that are about to be allocated.
func (h *Host) claim(call string, bytes int64) error {
	h.net.lock()
	defer h.net.unlock()
	if err := h.open(call, h); err != nil {
		return err
	}
	if bytes < 1 || bytes > maxMemory-h.claimed {
		return invalid(call, h, "%d bytes; ask for 1 to %d, which is what is left", bytes, maxMemory-h.claimed)
	}
	h.claimed += bytes
	return nil
}

// Free forgets memory of Alloc. While part of it is registered the error wraps
// verbs.ErrInUse.
func (h *Host) Free(mem []byte) error {
	const call = "free"
	h.net.lock()
	defer h.net.unlock()
	if len(mem) == 0 || len(h.memory[address(mem)]) != len(mem) {
		return invalid(call, h, "%d bytes at %#x are no memory of Alloc; pass exactly what it returned, once", len(mem), address(mem))
	}
	var users []string
	for _, nic := range h.nics {
		for _, r := range nic.regions {
			if r.overlaps(mem) {
				users = append(users, r.String())
			}
		}
	}
	if len(users) > 0 {
		return inUse(call, h, users)
	}
	delete(h.memory, address(mem))
	h.claimed -= int64(len(mem))
	return nil
}

// Close closes the NICs. It is refused, with an error that wraps verbs.ErrInUse
// and names them, while QPs, CQs or regions of a NIC are open. Closing twice is nil.
func (h *Host) Close() error {
	h.net.lock()
	defer h.net.unlock()
	var users []string
	for _, nic := range h.nics {
		users = append(users, nic.children()...)
	}
	if len(users) > 0 {
		return inUse("close", h, users)
	}
	h.shut()
	return nil
}

// shut closes the host with all that it has.
func (h *Host) shut() {
	if h.closed {
		return
	}
	h.closed = true
	for _, nic := range h.nics {
		nic.shut()
	}
	clear(h.memory)
}

// gave reports whether all of mem is memory of one Alloc.
func (h *Host) gave(mem []byte) bool {
	start := address(mem)
	for at, given := range h.memory {
		if at <= start && start+uintptr(len(mem)) <= at+uintptr(len(given)) {
			return true
		}
	}
	return false
}

// address returns the address of the first byte, as a number.
func address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }

func (r *Region) overlaps(mem []byte) bool {
	a, b := address(r.mem), address(mem)
	return a < b+uintptr(len(mem)) && b < a+uintptr(len(r.mem))
}
