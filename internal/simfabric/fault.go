package simfabric

import (
	"fmt"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// Undo ends a fault. Calling it again does nothing.
type Undo func() error

// path is the way from one NIC to another.
type path struct{ from, to *NIC }

// faults are the faults of paths; those of links are in the NICs.
type faults struct {
	blocked map[path]bool
	holes   map[path]bool
}

func noFaults() faults {
	return faults{blocked: make(map[path]bool), holes: make(map[path]bool)}
}

// hole reports whether what from sends to to makes from try again for ever.
func (f *faults) hole(from, to *NIC) bool { return f.holes[path{from, to}] }

// lost reports whether what from sends to to gets lost without notice.
func (f *faults) lost(from, to *NIC) bool {
	return from.down || to.down || f.blocked[path{from, to}]
}

// lostOrHole is for answers: a responder does not try again.
func (f *faults) lostOrHole(from, to *NIC) bool { return f.hole(from, to) || f.lost(from, to) }

// Block drops everything that from sends to to. Work requests of from on that pair
// end in RETRY_EXC_ERR; those that to posts take effect at from and end so too,
// because their acknowledgements are lost. Other pairs are not touched.
//
// Like every fault it is a state: to make it again changes nothing, and one undo
// ends it.
func (n *Net) Block(from, to fabric.NIC) (Undo, error) {
	return n.setPath("block", from, to, func(p path) { n.faults.blocked[p] = true },
		func() error { return n.Unblock(from, to) })
}

// Unblock ends a Block of the pair. It is not an error if there is none.
func (n *Net) Unblock(from, to fabric.NIC) error {
	_, err := n.setPath("unblock", from, to, func(p path) { delete(n.faults.blocked, p) }, nil)
	return err
}

// BlackHole makes work requests of from towards to hang, without completion or
// error, until it ends. What to posts towards from loses its acknowledgements.
func (n *Net) BlackHole(from, to fabric.NIC) (Undo, error) {
	return n.setPath("black hole", from, to, func(p path) { n.faults.holes[p] = true },
		func() error { return n.ClearBlackHole(from, to) })
}

// ClearBlackHole ends a BlackHole of the pair; what hung goes on. It is not an
// error if there is none.
func (n *Net) ClearBlackHole(from, to fabric.NIC) error {
	_, err := n.setPath("clear black hole", from, to, func(p path) {
		delete(n.faults.holes, p)
		n.resume()
	}, nil)
	return err
}

// LinkDown takes the link of a NIC down. The device reports PORT_ERR; work requests
// of and to the NIC end in RETRY_EXC_ERR.
func (n *Net) LinkDown(nic fabric.NIC) (Undo, error) {
	return n.setNIC("link down", nic, func(p *NIC) { p.setDown(true) },
		func() error { return n.LinkUp(nic) })
}

// LinkUp ends a LinkDown; the device reports PORT_ACTIVE. It does nothing if the
// link is up.
func (n *Net) LinkUp(nic fabric.NIC) error {
	_, err := n.setNIC("link up", nic, func(p *NIC) { p.setDown(false) }, nil)
	return err
}

// Delay adds d, above 0 and up to 1 minute, to the time of everything on its way to
// nic.
func (n *Net) Delay(nic fabric.NIC, d time.Duration) (Undo, error) {
	const call = "delay"
	if d <= 0 || d > maxLatency {
		return nil, invalid(call, "", fmt.Sprintf("the delay is %v", d), fmt.Sprintf("give one above 0, up to %v", maxLatency))
	}
	return n.setNIC(call, nic, func(p *NIC) { p.delay = d }, func() error {
		_, err := n.setNIC(call, nic, func(p *NIC) { p.delay = 0 }, nil)
		return err
	})
}

// Rate limits what nic takes in to bytesPerSecond, 1 to 1e12. A limit above the
// NIC's own rate has no effect.
func (n *Net) Rate(nic fabric.NIC, bytesPerSecond int64) (Undo, error) {
	const call = "rate"
	if bytesPerSecond < 1 || bytesPerSecond > maxRate {
		return nil, invalid(call, "", fmt.Sprintf("the rate is %d bytes/s", bytesPerSecond), fmt.Sprintf("give 1 to %d", int64(maxRate)))
	}
	return n.setNIC(call, nic, func(p *NIC) { p.limit = bytesPerSecond }, func() error {
		_, err := n.setNIC(call, nic, func(p *NIC) { p.limit = 0 }, nil)
		return err
	})
}

// Inject makes the device of a NIC report an asynchronous event that no fault
// causes here, such as DEVICE_FATAL. Only the report happens. The element names the
// NIC's device whatever the caller gives.
func (n *Net) Inject(nic fabric.NIC, e classify.Event) error {
	_, err := n.setNIC("inject", nic, func(p *NIC) { p.report(e.Type, e.Element) }, nil)
	return err
}

// Heal ends every fault.
func (n *Net) Heal() error {
	n.lock()
	defer n.unlock()
	if err := n.open("heal", ""); err != nil {
		return err
	}
	n.faults = noFaults()
	for _, h := range n.hosts {
		for _, p := range h.nics {
			p.setDown(false)
			p.delay, p.limit = 0, 0
		}
	}
	n.resume()
	return nil
}

// setPath changes a fault of a pair. undo is what the Undo does, once.
func (n *Net) setPath(call string, from, to fabric.NIC, change func(path), undo func() error) (Undo, error) {
	a, err := n.own(call, from)
	if err != nil {
		return nil, err
	}
	b, err := n.own(call, to)
	if err != nil {
		return nil, err
	}
	if a == b {
		return nil, invalid(call, a.String(), "the pair is of the NIC with itself", "give two NICs")
	}
	n.lock()
	defer n.unlock()
	if err := n.open(call, a.String()); err != nil {
		return nil, err
	}
	change(path{a, b})
	return once(undo), nil
}

// setNIC changes a fault of a NIC. undo is what the Undo does, once.
func (n *Net) setNIC(call string, nic fabric.NIC, change func(*NIC), undo func() error) (Undo, error) {
	p, err := n.own(call, nic)
	if err != nil {
		return nil, err
	}
	n.lock()
	defer n.unlock()
	if err := n.open(call, p.String()); err != nil {
		return nil, err
	}
	change(p)
	return once(undo), nil
}

func once(undo func() error) Undo {
	if undo == nil {
		return nil
	}
	return Undo(sync.OnceValue(undo))
}

// setDown changes the state of the link and reports the change.
func (p *NIC) setDown(down bool) {
	if p.down == down {
		return
	}
	p.down = down
	event := classify.EventPortActive
	if down {
		event = classify.EventPortErr
	}
	p.report(event, classify.Element{Port: port})
}

// resume lets the QPs go on that hung in a black hole. Those still in one hang
// again.
func (n *Net) resume() {
	for _, h := range n.hosts {
		for _, p := range h.nics {
			for _, q := range sorted(p.qps) {
				if q.hung {
					q.hung = false
					q.launch()
				}
			}
		}
	}
}
