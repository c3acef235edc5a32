package livefabric

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	sim "github.com/rdmagate/rdmagate/internal/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

// serial numbers the CQs and QPs of all fabrics of the process. It starts where neither
// package verbs, which counts from 1, nor package simfabric, from 2^63, ever gets.
var serial atomic.Uint64

const firstID = 3 << 62

func nextID() uint64 { return firstID + serial.Add(1) }

// Net is a fabric.
type Net struct {
	mu sync.Mutex // guards everything below, and all objects of the fabric
	pace
	sim    *sim.Sim
	closed bool
	hosts  []*Host
	nics   map[string]*NIC // by GID
	crowd  []*sim.NIC
	keys   uint32 // last key given to a region
}

// New builds a fabric and starts its clock. Close it.
func New(cfg Config) (*Net, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s, err := sim.New(cfg.fabric())
	if err != nil {
		return nil, errors.Join(invalid("configuration", nil, "the fabric cannot be"), err)
	}
	n := &Net{sim: s, nics: make(map[string]*NIC), keys: 0x1000}
	place := 0
	for i, hc := range cfg.Hosts {
		h := &Host{net: n, name: hc.Name, reason: cfg.Reason, memory: make(map[uintptr][]byte)}
		for j, name := range hc.NICs {
			nic := newNIC(h, s.NIC(place, 0), name, cfg.Rate)
			nic.gid = fmt.Sprintf("fe80::%x:%x", i+1, j+1)
			nic.addr = netip.AddrFrom4([4]byte{10, 0, byte(i + 1), byte(j + 1)})
			h.nics = append(h.nics, nic)
			n.nics[nic.gid] = nic
			place++
		}
		n.hosts = append(n.hosts, h)
	}
	for ; place < s.Hosts(); place++ {
		n.crowd = append(n.crowd, s.NIC(place, 0))
	}
	n.begin(n.tick)
	return n, nil
}

// Host returns the host of that name.
func (n *Net) Host(name string) (*Host, error) {
	for _, h := range n.hosts {
		if h.name == name {
			return h, nil
		}
	}
	return nil, invalid("host", nil, "there is no host %q", name)
}

// Close switches the fabric off. What is under way never completes, waits for events
// end, and every later call but Close is an error that wraps verbs.ErrClosed. It waits
// for nothing, and closing twice is nil.
//
// Unlike the hosts, a fabric can be closed while objects are open.
func (n *Net) Close() error {
	n.lock()
	defer n.unlock()
	if n.closed {
		return nil
	}
	for _, h := range n.hosts {
		h.shut()
	}
	n.closed = true
	n.timer.Stop()
	return nil
}

// own returns the NIC behind the interface, if it is one of this fabric.
func (n *Net) own(call string, nic fabric.NIC) (*NIC, error) {
	p, ok := nic.(*NIC)
	if !ok || p == nil || p.host.net != n {
		return nil, invalid(call, nil, "the NIC is %v of type %T, which is none of this fabric", nic, nic)
	}
	return p, nil
}

// open reports an error if the host or its fabric is closed.
func (h *Host) open(call string, on fmt.Stringer) error {
	if h.closed || h.net.closed {
		return problem(verbs.ErrClosed, call, on, "%v is closed", h)
	}
	return nil
}
