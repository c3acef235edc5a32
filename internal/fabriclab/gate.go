package fabriclab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/fabric"
	"github.com/rdmagate/rdmagate/rail"
)

// probeBytes is what a probe reads.
const probeBytes = 8

// gate is the controller of rdmagate on the simulated clock.
type gate struct {
	engine  *Engine
	ctl     *cc.Controller
	pollers map[*device]*cc.Poller
	probes  map[*cc.Route]*slice // those that found no room: their claim is theirs
	ahead   time.Duration        // of its clock, by what went before the run
}

func newGate(e *Engine, cfg cc.Config, random *rand.Rand) (*gate, error) {
	g := &gate{engine: e, pollers: map[*device]*cc.Poller{}, probes: map[*cc.Route]*slice{}}
	var err error
	g.ctl, err = cc.New(cfg, cc.WithClock(g.now),
		cc.WithJitter(func() float64 { return 0.8 + 0.4*random.Float64() }),
		cc.WithTransitions(func(t cc.Transition) { e.bed.transition(e, t) }))
	return g, err
}

// sampling is how many of the controller's samples of fast slices one stands for. Which
// slices are measured goes by numbers that all permits of a process share.
const sampling = 8

// align has the next run see the same slices measured as the last one: it uses up
// numbers to a multiple. Runs of one process must not overlap.
func align() error {
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	ctl, err := cc.New(cfg, cc.WithClock(func() time.Duration { return 0 }))
	if err != nil {
		return err
	}
	defer ctl.Close()
	path, err := ctl.Route(rail.Pair{Peer: "none", Local: "none", Port: 1, Remote: "none"})
	if err != nil {
		return err
	}
	generation, err := path.Renew(0, []cc.QP{{ID: 1}})
	if err != nil {
		return err
	}
	for range sampling {
		p := &cc.Permit{}
		d := path.TryAcquire(p, generation, 1, nil)
		if !d.Admitted() {
			return fmt.Errorf("fabriclab: no number to be had: %v", d)
		}
		p.Unposted()
		if d.Use%sampling == 0 {
			return nil
		}
	}
	return errors.New("fabriclab: the numbers of permits have no order")
}

func (g *gate) now() time.Duration { return g.engine.bed.Sim.Now() + g.ahead }

func (g *gate) admit(r *route, s *slice) answer {
	d := r.path.TryAcquire(&s.permit, r.generation, s.bytes, &s.transfer.task)
	if d.Err != nil {
		g.engine.bed.fail(d.Err)
	}
	s.use = d.Use
	return answer{admitted: d.Admitted(), rebuild: d.WantsEndpoint(), after: d.RetryAfter}
}

func (g *gate) posted(s *slice, now time.Duration) bool {
	return s.permit.Posting(uint64(s.qp.Num), now+g.ahead) == nil
}

func (g *gate) done(s *slice, v classify.Verdict, now time.Duration) {
	if edges := s.permit.Settle(s.use, v, now+g.ahead); edges&cc.Released == 0 {
		g.engine.bed.fail(fmt.Errorf("a completion (%v) did not release its bytes: %v", v, edges))
	}
}

// built names the endpoint's QPs to the route, which is made with the first.
func (g *gate) built(e *endpoint) {
	r := e.route
	if g.pollers[r.device] == nil {
		p, err := g.ctl.NewPoller(r.device.nic.Name, r.device.id)
		if err != nil {
			g.engine.bed.fail(err)
		}
		g.pollers[r.device] = p
	}
	if r.path == nil {
		path, err := g.ctl.Route(rail.Pair{Peer: r.peer.Host.Name, Local: r.device.nic.Name, Port: 1, Remote: r.peer.Name})
		if err != nil {
			g.engine.bed.fail(err)
			return
		}
		r.path = path
	}
	var qps []cc.QP
	for _, q := range e.all() {
		qps = append(qps, cc.QP{ID: uint64(q.Num), CQ: r.device.id})
	}
	generation, err := r.path.Renew(r.generation, qps)
	if err != nil {
		g.engine.bed.fail(err)
		return
	}
	r.generation = generation
}

func (g *gate) beat(d *device, now time.Duration) {
	if p := g.pollers[d]; p != nil {
		p.Beat(now + g.ahead)
	}
}

func (g *gate) tick(now time.Duration) { g.ctl.Tick(now + g.ahead) }

func (g *gate) event(d *device, e fabric.Event, now time.Duration) {
	element := classify.Element{Device: d.nic.Name, Port: e.Port, QP: uint64(e.QPNum)}
	if _, _, err := g.ctl.Event(classify.Event{Type: e.Type, Element: element}, now+g.ahead); err != nil {
		g.engine.bed.fail(err)
	}
}

// probe sends a probe on each route that is due, or has the endpoint built that it
// needs.
func (g *gate) probe(now time.Duration) {
	due := g.ctl.Due(now + g.ahead)
	if len(due) == 0 {
		return
	}
	for _, r := range g.engine.routes {
		for _, path := range due {
			if path == r.path && r.endpoint != nil && r.endpoint.probe.out == 0 {
				g.try(r)
			}
		}
	}
}

func (g *gate) try(r *route) {
	s := g.probes[r.path]
	if s == nil {
		s = &slice{bytes: probeBytes, probe: true}
	}
	delete(g.probes, r.path)
	d := r.path.TryProbe(&s.permit, r.generation, s.bytes)
	switch {
	case d.Err != nil:
		g.engine.bed.fail(d.Err)
	case d.Admitted():
		s.use = d.Use
		g.engine.post(s, r.endpoint, r.endpoint.probe)
	case d.WantsEndpoint():
		g.engine.retire(r.endpoint)
	case d.RetryAfter > 0:
		g.probes[r.path] = s
	}
}

func (g *gate) held() (bytes int64) {
	for _, d := range g.ctl.Snapshot().Devices {
		bytes += d.InFlightBytes
	}
	return bytes
}
