package simfabric

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/verbs"
)

var _ fabric.NIC = (*NIC)(nil)

// maxEvents bounds the asynchronous events that wait to be read; further ones are
// lost.
const maxEvents = 1024

// port is the number of the one port that every NIC has.
const port = 1

// NIC is one simulated device with one port.
type NIC struct {
	net     *Net
	host    *Host
	name    string
	gid     string
	rate    int64
	latency time.Duration
	mtu     int
	numa    rail.Node
	addr    netip.Addr

	regions map[uint32]*Region // by lkey
	cqs     map[uint64]*CQ     // by ID
	qps     map[uint32]*QP     // by QP number

	down   bool          // the link is down
	delay  time.Duration // added on the way to this NIC
	limit  int64         // bytes/s on the way to this NIC, 0 if the rate alone counts
	egress egress
	// ingressFree is when the last chunk that has arrived in front of the NIC will
	// be in.
	ingressFree time.Duration

	events chan classify.Event
	closed chan struct{}
}

func newNIC(h *Host, cfg NICConfig, gid string) *NIC {
	return &NIC{
		net: h.net, host: h, name: cfg.Name, gid: gid,
		rate: cfg.Rate, latency: cfg.Latency, mtu: cfg.MTU, numa: cfg.NUMA, addr: cfg.Addr,
		regions: make(map[uint32]*Region),
		cqs:     make(map[uint64]*CQ),
		qps:     make(map[uint32]*QP),
		events:  make(chan classify.Event, maxEvents),
		closed:  make(chan struct{}),
	}
}

// Name returns the name of the configuration.
func (p *NIC) Name() string { return p.name }

// Port returns 1.
func (p *NIC) Port() uint8 { return port }

// Info describes an Ethernet NIC of the configured rate, node and address.
func (p *NIC) Info() rail.NIC {
	return rail.NIC{
		Name: p.name, Port: port, NUMA: p.numa, Link: rail.LinkEthernet,
		Addrs: []netip.Addr{p.addr}, Rate: float64(p.rate) * 8 / 1e9,
	}
}

// String names the NIC as errors do.
func (p *NIC) String() string { return p.host.name + "/" + p.name }

// NextEvent waits for an asynchronous event of the device. It returns ctx's error
// once ctx ends, and one that wraps verbs.ErrClosed once the NIC is closed.
func (p *NIC) NextEvent(ctx context.Context) (classify.Event, error) {
	select {
	case <-p.closed:
		return classify.Event{}, &problem{call: "next event", object: p.String(), reason: "the NIC", cause: verbs.ErrClosed}
	default:
	}
	select {
	case e := <-p.events:
		return e, nil
	case <-p.closed:
		return classify.Event{}, &problem{call: "next event", object: p.String(), reason: "the NIC", cause: verbs.ErrClosed}
	case <-ctx.Done():
		return classify.Event{}, &problem{call: "next event", object: p.String(), cause: ctx.Err()}
	}
}

// report queues an asynchronous event of this device.
func (p *NIC) report(t classify.EventType, element classify.Element) {
	element.Device = p.name
	select {
	case p.events <- classify.Event{Type: t, Element: element}:
	default:
	}
}

// children names the open objects of the NIC, QPs first.
func (p *NIC) children() []string {
	var names []string
	for _, q := range sorted(p.qps) {
		names = append(names, q.String())
	}
	for _, cq := range sorted(p.cqs) {
		names = append(names, cq.String())
	}
	for _, r := range sorted(p.regions) {
		names = append(names, r.String())
	}
	return names
}

// shut closes the NIC with all that it has.
func (p *NIC) shut() {
	for _, q := range p.qps {
		q.destroy()
	}
	for _, cq := range p.cqs {
		cq.destroy()
	}
	for _, r := range p.regions {
		r.deregister()
	}
	close(p.closed)
}

// sorted returns the values in the order of their keys.
func sorted[K cmp.Ordered, V any](m map[K]V) []V {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	values := make([]V, len(keys))
	for i, k := range keys {
		values[i] = m[k]
	}
	return values
}

// checkCQ returns the CQ behind the interface, if it is an open one of this NIC.
func (p *NIC) checkCQ(call string, c fabric.CQ) (*CQ, error) {
	cq, ok := c.(*CQ)
	switch {
	case !ok || cq == nil:
		return nil, invalid(call, p.String(), fmt.Sprintf("the CQ is %v of type %T", c, c), "pass a CQ of this NIC")
	case cq.nic != p:
		return nil, invalid(call, p.String(), fmt.Sprintf("%v belongs to another NIC", cq), "pass a CQ of this NIC")
	case p.cqs[cq.id] == nil:
		return nil, &problem{call: call, object: p.String(), reason: cq.String(), remedy: "make a new CQ", cause: verbs.ErrClosed}
	}
	return cq, nil
}
