package livefabric

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	sim "github.com/rdmagate/rdmagate/internal/fabric"
	"github.com/rdmagate/rdmagate/rail"
)

var _ fabric.NIC = (*NIC)(nil)

// maxEvents bounds the asynchronous events that wait to be read; further ones are
// lost.
const maxEvents = 1024

// port is the number of the one port that every NIC has.
const port = 1

// NIC is one simulated device with one port.
type NIC struct {
	host *Host
	sim  *sim.NIC
	name string
	gid  string
	rate int64 // bit/s
	addr netip.Addr

	regions map[uint32]*Region // by lkey
	cqs     map[uint64]*CQ     // by ID
	qps     map[uint32]*QP     // by QP number

	events chan classify.Event
	closed chan struct{}
}

func newNIC(h *Host, s *sim.NIC, name string, rate int64) *NIC {
	p := &NIC{
		host: h, sim: s, name: name, rate: rate,
		regions: make(map[uint32]*Region), cqs: make(map[uint64]*CQ), qps: make(map[uint32]*QP),
		events: make(chan classify.Event, maxEvents), closed: make(chan struct{}),
	}
	s.Notify(p.report)
	return p
}

// Name returns the name of the configuration.
func (p *NIC) Name() string { return p.name }

// Port returns 1.
func (p *NIC) Port() uint8 { return port }

// Info describes an Ethernet NIC of the configured rate. Its address is 10.0.h.n, for the
// NIC number n of host number h, both from 1.
func (p *NIC) Info() rail.NIC {
	return rail.NIC{
		Name: p.name, Port: port, Link: rail.LinkEthernet,
		Addrs: []netip.Addr{p.addr}, Rate: float64(p.rate) / 1e9,
	}
}

// String names the NIC as errors do.
func (p *NIC) String() string { return p.host.name + "/" + p.name }

// NextEvent waits for an asynchronous event of the device. It returns ctx's error
// once ctx ends, and one that wraps verbs.ErrClosed once the NIC is closed.
func (p *NIC) NextEvent(ctx context.Context) (classify.Event, error) {
	const call = "next event"
	select {
	case <-p.closed:
		return classify.Event{}, closed(call, p)
	default:
	}
	select {
	case e := <-p.events:
		return e, nil
	case <-p.closed:
		return classify.Event{}, closed(call, p)
	case <-ctx.Done():
		return classify.Event{}, problem(ctx.Err(), call, p, "nothing happened")
	}
}

// report passes on what the simulated device tells. Events of a QP that is closed are
// nobody's.
func (p *NIC) report() {
	for e, ok := p.sim.PollEvent(); ok; e, ok = p.sim.PollEvent() {
		element := classify.Element{Device: p.name, Port: e.Port}
		if e.QPNum != 0 {
			q := p.qps[e.QPNum]
			if q == nil {
				continue
			}
			element.QP = q.id
		}
		p.emit(classify.Event{Type: e.Type, Element: element})
	}
}

func (p *NIC) emit(e classify.Event) {
	select {
	case p.events <- e:
	default:
	}
}

// children names the open objects of the NIC, QPs first.
func (p *NIC) children() []string {
	return slices.Concat(texts(p.qps), texts(p.cqs), texts(p.regions))
}

// texts names the values in the order of their keys.
func texts[K cmp.Ordered, V fmt.Stringer](m map[K]V) []string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[k].String())
	}
	return list
}

// shut closes the NIC with all that it has.
func (p *NIC) shut() {
	for _, q := range p.qps {
		q.destroy()
	}
	for _, cq := range p.cqs {
		cq.destroy()
	}
	clear(p.regions)
	close(p.closed)
}
