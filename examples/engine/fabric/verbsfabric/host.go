package verbsfabric

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

var _ fabric.Host = (*Host)(nil)

// Host is this machine with some of its RDMA devices. Its methods are safe for
// concurrent use.
type Host struct {
	label string
	nics  []fabric.NIC

	mu     sync.Mutex
	memory map[*byte]*verbs.Memory
}

// Devices returns the names of the devices that [Open] takes when none are named:
// those that can be opened and have an active port. The error says why a device
// was left out; it is nil only if none was.
func Devices() ([]string, error) {
	devices, err := verbs.Devices()
	if err != nil {
		return nil, err
	}
	var names []string
	var faults []error
	for _, d := range devices {
		nic, err := openNIC(d.Name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		names = append(names, d.Name)
		faults = append(faults, nic.close())
	}
	return names, errors.Join(faults...)
}

// Open opens the named devices, in that order, or all usable ones if none are
// named. label says for people what they are. A name that does not exist is an
// error that lists those that do.
func Open(label string, names ...string) (*Host, error) {
	if len(names) == 0 {
		all, err := Devices()
		if len(all) == 0 {
			return nil, errors.Join(fmt.Errorf("verbsfabric: no usable RDMA device; bring a port up or use the simulated fabric"), err)
		}
		names = all
	}
	h := &Host{label: label, memory: map[*byte]*verbs.Memory{}}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, errors.Join(fmt.Errorf("verbsfabric: device %q is named twice; name each once", name), h.Close())
		}
		nic, err := openNIC(name)
		if err != nil {
			return nil, errors.Join(err, h.Close())
		}
		h.nics = append(h.nics, nic)
	}
	return h, nil
}

// Name says what the devices are and how they are called.
func (h *Host) Name() string {
	var names []string
	for _, nic := range h.nics {
		names = append(names, nic.Name())
	}
	return fmt.Sprintf("%s, %s", h.label, strings.Join(names, " "))
}

// NICs returns the devices in the order in which they were named.
func (h *Host) NICs() []fabric.NIC { return slices.Clone(h.nics) }

// Alloc maps memory outside the Go heap, since a NIC keeps its address.
func (h *Host) Alloc(bytes int) ([]byte, error) {
	m, err := verbs.AllocMemory(bytes)
	if err != nil {
		return nil, err
	}
	// The kernel maps whole pages, callers get what they asked for.
	mem := m.Bytes()[:bytes:bytes]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.memory[&mem[0]] = m
	return mem, nil
}

// Free unmaps memory of Alloc.
func (h *Host) Free(mem []byte) error {
	if len(mem) == 0 {
		return errors.New("verbsfabric: Free of no memory; pass what Alloc returned")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.memory[&mem[0]]
	if m == nil {
		return fmt.Errorf("verbsfabric: Free of %d bytes at %p, which Alloc did not return; pass what it returned, once", len(mem), &mem[0])
	}
	delete(h.memory, &mem[0])
	return m.Close()
}

// Close closes the devices and frees what Alloc gave out.
func (h *Host) Close() error {
	var faults []error
	for _, n := range h.nics {
		faults = append(faults, n.(*nic).close())
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for first, m := range h.memory {
		faults = append(faults, m.Close())
		delete(h.memory, first)
	}
	return errors.Join(faults...)
}
