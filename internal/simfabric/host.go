package simfabric

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

var _ fabric.Host = (*Host)(nil)

// Host is one machine of the fabric.
type Host struct {
	net    *Net
	name   string
	reason string
	nics   []*NIC
	memory map[uintptr][]byte // given out by Alloc, by address
	// claimed is the length of all memory, with what is being allocated.
	claimed int64
	closed  bool
}

func newHost(n *Net, name, reason string) *Host {
	return &Host{net: n, name: name, reason: reason, memory: make(map[uintptr][]byte)}
}

// Name says that the fabric is simulated, which host this is, and why.
func (h *Host) Name() string {
	name := fmt.Sprintf("in-process simulated fabric, host %s", h.name)
	if h.reason != "" {
		name += " (" + h.reason + ")"
	}
	return name
}

// NICs returns the NICs in the order of the configuration.
func (h *Host) NICs() []fabric.NIC {
	nics := make([]fabric.NIC, len(h.nics))
	for i, nic := range h.nics {
		nics[i] = nic
	}
	return nics
}

// maxMemory is what the memory of one host may add up to, in bytes: it is that of
// this process.
const maxMemory = 8 << 30

// Alloc returns zeroed memory, which the host's NICs can register. bytes must be
// above 0, and all memory of a host together is 8 GiB at most.
func (h *Host) Alloc(bytes int) ([]byte, error) {
	const call = "alloc"
	if bytes <= 0 {
		return nil, invalid(call, h.String(), fmt.Sprintf("the length is %d", bytes), "ask for at least one byte")
	}
	if err := h.claim(call, int64(bytes)); err != nil {
		return nil, err
	}
	mem := make([]byte, bytes) // may take a while, so without the fabric's lock
	h.net.lock()
	defer h.net.unlock()
	if err := h.open(call, h.String()); err != nil {
		return nil, err
	}
	h.memory[address(mem)] = mem
	return mem, nil
}

// claim counts bytes that are about to be allocated.
func (h *Host) claim(call string, bytes int64) error {
	h.net.lock()
	defer h.net.unlock()
	if err := h.open(call, h.String()); err != nil {
		return err
	}
	if bytes > maxMemory-h.claimed {
		return invalid(call, h.String(), fmt.Sprintf("the length is %d, and %d of %d bytes are taken", bytes, h.claimed, int64(maxMemory)),
			"ask for less, or free memory first")
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
		return invalid(call, h.String(), fmt.Sprintf("%d bytes at %#x are no memory of Alloc", len(mem), address(mem)),
			"pass exactly what Alloc returned, once")
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
		return inUse(call, h.String(), users)
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
	if h.closed {
		return nil
	}
	var users []string
	for _, nic := range h.nics {
		users = append(users, nic.children()...)
	}
	if len(users) > 0 {
		return inUse("close", h.String(), users)
	}
	h.shut()
	return nil
}

// String names the host as errors do.
func (h *Host) String() string { return "host " + h.name }

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

// open reports an error if the host or its fabric is closed.
func (h *Host) open(call, object string) error {
	if err := h.net.open(call, object); err != nil {
		return err
	}
	if h.closed {
		return &problem{call: call, object: object, reason: h.String(), remedy: "build a new fabric", cause: verbs.ErrClosed}
	}
	return nil
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

// inUse returns the error of closing something that others depend on.
func inUse(call, object string, users []string) error {
	const most = 8
	n := len(users)
	if n > most {
		users = append(users[:most:most], fmt.Sprintf("%d more", n-most))
	}
	return &problem{
		call:   call,
		object: object,
		reason: fmt.Sprintf("%d open objects depend on it (%s)", n, strings.Join(users, ", ")),
		remedy: "close those first",
		cause:  verbs.ErrInUse,
	}
}
