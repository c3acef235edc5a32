package transfer

import (
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// A probe reads probeBytes of the peer's scratch memory. proberDepth is how many the
// prober has on the wire on one NIC.
const (
	probeBytes  = 8
	proberDepth = 256
)

// prober tries the routes that are due, on a lane with one small QP in every endpoint,
// so that no transfer has to be the one that finds out. A probe is a slice of a transfer
// of its own, which nobody waits for and which is not tried again.
type prober struct {
	lane
	scratch *Buffer          // where probes read to
	live    []*endpoint      // those in use, while it looks at them
	next    time.Duration    // when to ask what is due
	out     map[*rail]bool   // those with a probe on the wire
	refused map[*rail]*slice // probes that found no room: their claim is theirs alone

	sent, succeeded atomic.Uint64
}

func newProber(e *Engine, id int) (*prober, error) {
	p := &prober{lane: lane{engine: e, id: id, qps: 1, config: e.cfg.probeQP()}, out: map[*rail]bool{}, refused: map[*rail]*slice{}}
	p.owner = p
	err := p.open(proberDepth)
	if err == nil {
		p.scratch, err = e.NewBuffer(probeBytes)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// run is the life of the prober. It asks again what is due as soon as an endpoint was
// built: that may be what a probe waited for.
func (p *prober) run() {
	for !p.engine.stopping.Load() {
		had := len(p.endpoints)
		if p.endpoints = p.arrived.take(p.endpoints); len(p.endpoints) > had {
			p.next = 0
		}
		p.poll()
		p.probe()
		p.sweep()
		p.rest(spins, false, max(time.Millisecond, min(p.engine.cfg.ProbePause, p.next-p.engine.ctl.Now())))
	}
}

// probe sends what is due, and has full endpoints built for what has come back.
func (p *prober) probe() {
	now := p.engine.ctl.Now()
	if now < p.next {
		return
	}
	p.next = now + p.engine.cfg.ProbePause
	due := p.engine.ctl.Due(now)
	maps.DeleteFunc(p.refused, func(r *rail, _ *slice) bool { return !slices.Contains(due, r.route) })
	p.live = p.engine.live(p.live[:0])
	for _, ep := range p.live {
		r := ep.rail
		left := r.leftToProber()
		if !left {
			r.missed.Store(0)
		}
		switch {
		case ep.narrow && !left:
			r.retire(ep)
		case len(due) > 0 && !p.out[r] && slices.Contains(due, r.route):
			p.try(r, ep)
		}
	}
	clear(p.live)
}

// try sends one probe, or has the endpoint built again that it needs.
func (p *prober) try(r *rail, ep *endpoint) {
	qp := p.pick(ep)
	if qp == nil {
		return
	}
	s := p.refused[r]
	if s == nil {
		s = p.newProbe(r)
	}
	delete(p.refused, r)
	d := r.route.TryProbe(&s.Permit, ep.generation, s.length)
	p.tally.decided(d.Ruling)
	switch {
	case d.Admitted():
		p.out[r] = true
		p.admitted(s, d.Use, qp)
		p.flush(qp)
	case d.WantsEndpoint(): // also if the one at hand looks fine
		r.retire(ep)
	case d.Answer == cc.Defer && d.RetryAfter > 0:
		p.refused[r] = s
		p.next = min(p.next, p.engine.ctl.Now()+d.RetryAfter)
	}
}

func (p *prober) newProbe(r *rail) *slice {
	t := &Transfer{
		op: Read, peer: r.peer, buffer: p.scratch, object: Object{Name: "probe", Bytes: probeBytes, Keys: r.peer.info.Scratch},
		slices: make([]slice, 1),
	}
	t.slices[0] = slice{transfer: t, length: probeBytes}
	return &t.slices[0]
}

func (p *prober) posted(*slice, time.Duration) { p.sent.Add(1) }

func (p *prober) unposted(s *slice, _ error) { delete(p.out, s.qp.endpoint.rail) }

func (p *prober) landed(s *slice, delivered bool, _ time.Duration) {
	r := s.qp.endpoint.rail
	delete(p.out, r)
	if r.missed.Add(1); delivered {
		r.missed.Store(0)
		p.succeeded.Add(1)
		p.next = 0 // what has come back wants a full endpoint
	}
}

// shut gives back what the prober has, after its last probe.
func (p *prober) shut() error { return errors.Join(p.scratch.Close(), p.close()) }
