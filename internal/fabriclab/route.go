package fabriclab

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/fabric"
)

// route is a pair of NICs as an engine uses it.
type route struct {
	device   *device
	peer     *fabric.NIC
	product  int64         // bandwidth-delay product of the empty path, in bytes
	out      int64         // bytes admitted and not yet back
	endpoint *endpoint     // nil while one is built
	former   []*endpoint   // those before
	lastPost time.Duration // of a slice that is no probe

	// Of a gate.
	path       *cc.Route
	generation cc.Generation
}

// endpoint is a set of QPs, from its building to the failure of one of them.
type endpoint struct {
	route *route
	qps   []*queuePair
	probe *queuePair // the prober's
}

// queuePair is one QP of an endpoint.
type queuePair struct {
	*fabric.QP
	endpoint *endpoint
	out      int // work requests
}

// route returns the engine's route between two NICs and builds it if need be.
func (e *Engine) route(d *device, peer *fabric.NIC) *route {
	for _, r := range e.routes {
		if r.device == d && r.peer == peer {
			return r
		}
	}
	r := &route{device: d, peer: peer, product: e.bed.product(d.nic, peer)}
	e.routes = append(e.routes, r)
	e.build(r)
	return r
}

// build makes the route's next endpoint.
func (e *Engine) build(r *route) {
	p := &endpoint{route: r}
	for i := range e.settings.QPs + 1 {
		cfg := fabric.DefaultQP()
		cfg.Timeout, cfg.Retry = e.settings.Timeout, e.settings.Retry
		cfg.SendDepth, cfg.MaxReads = e.settings.Depth, e.settings.Reads
		if i == e.settings.QPs {
			cfg.SendDepth = 1
		}
		q, _, err := e.bed.Sim.Connect(fabric.Endpoint{NIC: r.device.nic, Send: r.device.cq}, fabric.Endpoint{NIC: r.peer}, cfg)
		if err != nil {
			e.bed.fail(err)
			return
		}
		p.qps = append(p.qps, &queuePair{QP: q, endpoint: p})
	}
	p.probe, p.qps = p.qps[e.settings.QPs], p.qps[:e.settings.QPs]
	r.endpoint = p
	if e.keeper != nil {
		e.keeper.built(p)
	}
	e.unblock()
	e.pump()
}

// retire takes an endpoint out of use and has another one built. What is posted on
// its QPs may finish.
func (e *Engine) retire(p *endpoint) {
	r := p.route
	if r.endpoint != p {
		return
	}
	r.endpoint = nil
	r.former = append(r.former, p)
	e.bed.Sim.After(e.settings.BuildPause, func() { e.build(r) })
}

func (p *endpoint) all() []*queuePair { return append(slices.Clone(p.qps), p.probe) }

// pick returns the QP with the most room, nil if none has any.
func (p *endpoint) pick() *queuePair {
	var best *queuePair
	for _, q := range p.qps {
		if q.out < p.route.device.engine.settings.Depth && (best == nil || q.out < best.out) {
			best = q
		}
	}
	return best
}

func (r *route) take(s *slice) {
	r.out += s.bytes
	r.device.out += s.bytes
}

func (r *route) give(s *slice) {
	r.out -= s.bytes
	r.device.out -= s.bytes
}

// received returns the payload that has arrived over the route, in order, in bytes.
func (r *route) received() (bytes int64) {
	count := func(p *endpoint) {
		for _, q := range p.qps {
			bytes += q.Stats().Received + q.Peer().Stats().Received
		}
	}
	for _, p := range r.former {
		count(p)
	}
	if r.endpoint != nil {
		count(r.endpoint)
	}
	return bytes
}
