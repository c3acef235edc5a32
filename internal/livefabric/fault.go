package livefabric

import (
	"maps"
	"slices"
	"sync"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	sim "github.com/rdmagate/rdmagate/internal/fabric"
)

// Undo ends a fault. Calling it again does nothing.
type Undo func() error

// change does something to a NIC while time stands still.
func (n *Net) change(call string, nic fabric.NIC, do func(*NIC)) error {
	p, err := n.own(call, nic)
	if err != nil {
		return err
	}
	n.lock()
	defer n.unlock()
	if n.closed {
		return closed(call, p)
	}
	do(p)
	return nil
}

// Block has all vanish that from sends to to. Work requests of from on that pair end in
// RETRY_EXC_ERR; those that to posts take effect at from and end so too, because their
// acknowledgements are lost. Other pairs are not touched. For both ways block both.
//
// Like every fault it is a state: to make it again changes nothing, and one undo ends it.
func (n *Net) Block(from, to fabric.NIC) (Undo, error) {
	const call = "block"
	peer, err := n.own(call, to)
	if err != nil {
		return nil, err
	}
	set := func(on bool) error {
		return n.change(call, from, func(p *NIC) { p.sim.Block(peer.sim, on) })
	}
	if err := set(true); err != nil {
		return nil, err
	}
	return sync.OnceValue(func() error { return set(false) }), nil
}

// LinkDown takes the link of a NIC down, with all that is on it. The device reports
// PORT_ERR, and PORT_ACTIVE when it is up again; work requests of and to the NIC end in
// RETRY_EXC_ERR.
func (n *Net) LinkDown(nic fabric.NIC) (Undo, error) {
	const call = "link down"
	if err := n.change(call, nic, func(p *NIC) { p.sim.Link().Down(sim.Notice{}) }); err != nil {
		return nil, err
	}
	return sync.OnceValue(func() error {
		return n.change(call, nic, func(p *NIC) { p.sim.Link().Up(sim.Notice{}) })
	}), nil
}

// KillQPs fails every QP of a NIC as a fault of the device does: each reports QP_FATAL,
// and what it had outstanding flushes.
func (n *Net) KillQPs(nic fabric.NIC) error {
	return n.change("kill QPs", nic, func(p *NIC) {
		for _, number := range slices.Sorted(maps.Keys(p.qps)) {
			if q := p.qps[number]; !q.sim.Failed() {
				p.sim.Raise(sim.Event{Type: classify.EventQPFatal, QPNum: number})
				q.sim.Fail(classify.StatusWRFlushErr)
			}
		}
	})
}
