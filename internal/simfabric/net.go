package simfabric

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

// serial numbers the CQs and QPs of all fabrics of the process. It starts so high
// that no object of package verbs, which counts from 1, ever has the same number.
var serial atomic.Uint64

const firstID = 1 << 63

func nextID() uint64 { return firstID + serial.Add(1) }

// Net is a fabric: hosts whose NICs all reach each other through one switch.
type Net struct {
	mu sync.Mutex // guards everything below, and all objects of the fabric
	timeline
	closed bool
	hosts  []*Host
	nics   map[string]*NIC // by GID
	faults faults
	keys   uint32 // last key given to a region
	qpns   uint32 // last QP number given
}

// New builds a fabric and starts its clock. Close it.
func New(cfg Config) (*Net, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := &Net{nics: make(map[string]*NIC), faults: noFaults(), keys: 0x1000, qpns: 0x100}
	for i, hc := range cfg.Hosts {
		h := newHost(n, hc.Name, cfg.Reason)
		for j, nc := range hc.NICs {
			nic := newNIC(h, cfg.fill(nc), fmt.Sprintf("fe80::%x:%x", i+1, j+1))
			if !nic.addr.IsValid() {
				nic.addr = netip.AddrFrom4([4]byte{10, 0, byte(i + 1), byte(j + 1)})
			}
			h.nics = append(h.nics, nic)
			n.nics[nic.gid] = nic
		}
		n.hosts = append(n.hosts, h)
	}
	n.begin(n.tick)
	return n, nil
}

// Host returns the host of that name.
func (n *Net) Host(name string) (*Host, error) {
	names := make([]string, len(n.hosts))
	for i, h := range n.hosts {
		if h.name == name {
			return h, nil
		}
		names[i] = h.name
	}
	return nil, invalid("host", "", fmt.Sprintf("there is no host %q", name), "hosts here: "+strings.Join(names, ", "))
}

// NIC returns the NIC of that name on the host of that name.
func (n *Net) NIC(host, name string) (*NIC, error) {
	h, err := n.Host(host)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(h.nics))
	for i, nic := range h.nics {
		if nic.name == name {
			return nic, nil
		}
		names[i] = nic.name
	}
	return nil, invalid("NIC", "host "+host, fmt.Sprintf("there is no NIC %q", name), "NICs here: "+strings.Join(names, ", "))
}

// Close switches the fabric off. What is under way never completes, waits for
// events end, and every later call but Close is an error that wraps
// verbs.ErrClosed. It never waits for anything, and closing twice is nil.
//
// Unlike the hosts, a fabric can be closed while objects are open.
func (n *Net) Close() error {
	n.lock()
	defer n.unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	for _, h := range n.hosts {
		h.shut()
	}
	n.end()
	return nil
}

// lock locks the fabric and brings it up to the clock.
func (n *Net) lock() {
	n.mu.Lock()
	n.catchUp()
}

// unlock plans the timer for what was added, and unlocks.
func (n *Net) unlock() {
	n.arm()
	n.mu.Unlock()
}

// tick carries out what is due.
func (n *Net) tick() {
	n.lock()
	n.armed = fired
	n.unlock()
}

// open reports an error if the fabric is closed. The caller holds the lock.
func (n *Net) open(call, object string) error {
	if n.closed {
		return &problem{call: call, object: object, reason: "the fabric", remedy: "build a new one", cause: verbs.ErrClosed}
	}
	return nil
}

// own returns the NIC behind the interface, if it is one of this fabric.
func (n *Net) own(call string, nic fabric.NIC) (*NIC, error) {
	p, ok := nic.(*NIC)
	switch {
	case !ok:
		return nil, invalid(call, "", fmt.Sprintf("the NIC is of type %T", nic), "pass a NIC of this fabric")
	case p == nil:
		return nil, invalid(call, "", "the NIC is nil", "pass a NIC of this fabric")
	case p.net != n:
		return nil, invalid(call, "", fmt.Sprintf("NIC %v is of another fabric", p), "pass a NIC of this fabric")
	}
	return p, nil
}
