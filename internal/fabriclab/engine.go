package fabriclab

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/fabric"
)

// Engine is the transfer engine of one host: one thread that posts, and one that
// polls.
type Engine struct {
	bed      *Bed
	host     *fabric.Host
	settings *Settings
	random   *rand.Rand
	control  control
	keeper   keeper // the same control, if it is one

	devices []*device
	routes  []*route
	flows   []*Flow
	turn    int // in flows

	slots []*slice // posted, by the low half of wr_id
	free  []uint32

	phase   time.Duration // of the polls
	busy    time.Duration // the posting thread is, until then
	pumping bool          // a pump is scheduled
	stalls  []stall
	posts   func()        // pump, as a value
	waking  time.Duration // the earliest wake that is to come; 0 is none
}

// stall is a time in which the polling thread does not run.
type stall struct{ from, until time.Duration }

// device is one NIC as its engine sees it.
type device struct {
	engine *Engine
	nic    *fabric.NIC
	id     uint64 // of the CQ, for controllers
	cq     *fabric.CQ
	batch  []fabric.Completion
	asked  bool  // a poll is scheduled
	out    int64 // bytes admitted and not yet back
	poll   func()
}

func newEngine(b *Bed, host *fabric.Host, seed uint64) (*Engine, error) {
	e := &Engine{bed: b, host: host, settings: &b.settings, random: rand.New(rand.NewPCG(seed, b.seed))}
	e.phase = time.Duration(e.random.Int64N(int64(b.settings.PollEvery)))
	e.posts = func() { e.pumping = false; e.pump() }
	for i, nic := range host.NICs {
		d := &device{engine: e, nic: nic, id: uint64(i + 1), cq: b.Sim.NewCQ(), batch: make([]fabric.Completion, b.settings.PollBatch)}
		d.poll = d.collect
		d.cq.Notify(d.ask)
		e.devices = append(e.devices, d)
	}
	var err error
	if e.control, err = b.arm.build(e); err != nil {
		return nil, err
	}
	if e.keeper, _ = e.control.(keeper); e.keeper != nil {
		phase := time.Duration(e.random.Int64N(int64(e.settings.Tick)))
		b.Sim.After(phase, func() {
			b.Sim.Every(e.settings.Tick, e.tick)
			b.Sim.Every(e.settings.ProbeEvery, e.probe)
		})
		for _, d := range e.devices {
			d.nic.Notify(d.events)
		}
	}
	return e, nil
}

// tick looks after time. A thread that polls beats also when there is nothing to
// poll.
func (e *Engine) tick() bool {
	now := e.bed.Sim.Now()
	if e.stalled(now) == 0 {
		for _, d := range e.devices {
			e.keeper.beat(d, now)
		}
	}
	e.keeper.tick(now)
	e.unblock()
	e.pump()
	return !e.bed.closing
}

func (e *Engine) probe() bool {
	e.keeper.probe(e.bed.Sim.Now())
	return !e.bed.closing
}

// StallPolling has the polling thread stand still for a time.
func (e *Engine) StallPolling(from, until time.Duration) {
	e.stalls = append(e.stalls, stall{from, until})
}

// stalled returns when the stall ends that there is at a time, or 0.
func (e *Engine) stalled(now time.Duration) time.Duration {
	for _, s := range e.stalls {
		if s.from <= now && now < s.until {
			return s.until
		}
	}
	return 0
}

// ask schedules the poll that will see a completion that has just come.
func (d *device) ask() {
	if d.asked {
		return
	}
	d.asked = true
	e := d.engine
	every := e.settings.PollEvery
	at := (e.bed.Sim.Now()+every-e.phase)/every*every + e.phase
	if until := e.stalled(at); until > 0 {
		at = until
	}
	e.bed.Sim.At(at, d.poll)
}

// collect is one poll.
func (d *device) collect() {
	e := d.engine
	d.asked = false
	now := e.bed.Sim.Now()
	n := d.cq.Poll(d.batch)
	if e.keeper != nil {
		e.keeper.beat(d, now)
	}
	for _, c := range d.batch[:n] {
		e.complete(c, now)
	}
	if n == len(d.batch) {
		d.ask()
	}
	e.unblock()
	e.pump()
}

// complete ends an attempt.
func (e *Engine) complete(c fabric.Completion, now time.Duration) {
	slot := uint32(c.WRID)
	s := e.slots[slot]
	if s == nil || uint32(s.use) != uint32(c.WRID>>32) {
		e.bed.fail(fmt.Errorf("%s: completion of an unknown work request %#x", e.host.Name, c.WRID))
		return
	}
	e.slots[slot] = nil
	e.free = append(e.free, slot)
	r := s.endpoint.route
	r.give(s)
	s.qp.out--
	v := classify.Completion(c.Status, c.VendorErr)
	e.control.done(s, v, now)
	if !v.Succeeded() {
		e.retire(s.endpoint)
	}
	if s.probe {
		return
	}
	if v.Succeeded() {
		s.flow.delivered(s, now)
		return
	}
	e.bed.failures++
	s.failedOn = r
	s.flow.putBack(s)
}

// events hands the NIC's asynchronous events to the controller.
func (d *device) events() {
	e := d.engine
	for {
		event, ok := d.nic.PollEvent()
		if !ok {
			break
		}
		e.keeper.event(d, event, e.bed.Sim.Now())
	}
	e.unblock()
	e.pump()
}

// unblock has all queues asked again.
func (e *Engine) unblock() {
	for _, f := range e.flows {
		f.blocked = false
	}
}

// wake has all queues asked again after a time, or before.
func (e *Engine) wake(after time.Duration) {
	at := e.bed.Sim.Now() + after
	if e.waking > 0 && e.waking <= at {
		return
	}
	e.waking = at
	e.bed.Sim.At(at, func() {
		if e.waking == at {
			e.waking = 0
		}
		e.unblock()
		e.pump()
	})
}

// pump posts what is admitted, one work request after the other.
func (e *Engine) pump() {
	for !e.pumping {
		now := e.bed.Sim.Now()
		if now < e.busy {
			e.pumping = true
			e.bed.Sim.At(e.busy, e.posts)
			return
		}
		if !e.postNext(now) {
			return
		}
	}
}

// postNext posts one slice, of the first queue in turn that has one that is admitted.
func (e *Engine) postNext(now time.Duration) bool {
	for range e.flows {
		if e.turn >= len(e.flows) {
			e.turn = 0
		}
		f := e.flows[e.turn]
		e.turn++
		if f.blocked {
			continue
		}
		s := f.first(now)
		if s == nil {
			continue
		}
		q := e.place(f, s)
		if q == nil {
			if f.blocked = true; s.refused == 0 {
				s.refused = now
			}
			continue
		}
		f.take(s, now)
		for _, other := range e.flows {
			other.overtake(s, now)
		}
		if !e.post(s, q.endpoint, q) {
			f.putBack(s)
			return true
		}
		e.busy = now + e.settings.PostCost
		if j := e.settings.PostJitter; j > 0 {
			e.busy += time.Duration(e.random.Int64N(int64(j)))
		}
		return true
	}
	return false
}

// place finds a route that admits the slice. Routes take turns; the one where the
// slice failed comes last.
func (e *Engine) place(f *Flow, s *slice) *queuePair {
	n := len(f.routes)
	f.turn++
	for i := range n {
		r := f.routes[(f.turn+i)%n]
		if r == s.failedOn && i < n-1 {
			continue
		}
		if q := e.admit(r, s); q != nil {
			return q
		}
	}
	if r := s.failedOn; r != nil && n > 1 {
		return e.admit(r, s)
	}
	return nil
}

// admit asks for the slice's bytes on one route, and returns the QP to post it on.
func (e *Engine) admit(r *route, s *slice) *queuePair {
	p := r.endpoint
	if p == nil {
		return nil
	}
	q := p.pick()
	if q == nil {
		return nil
	}
	a := e.control.admit(r, s)
	switch {
	case a.admitted:
		return q
	case a.rebuild:
		e.retire(p)
	case a.after > 0:
		e.wake(a.after)
	}
	return nil
}

// post hands an admitted slice to a QP. It returns false if it may not be posted after
// all.
func (e *Engine) post(s *slice, p *endpoint, q *queuePair) bool {
	now := e.bed.Sim.Now()
	s.endpoint, s.qp, s.postedAt = p, q, now
	if !e.control.posted(s, now) {
		return false
	}
	var slot uint32
	if n := len(e.free); n > 0 {
		slot = e.free[n-1]
		e.free = e.free[:n-1]
	} else {
		slot = uint32(len(e.slots))
		e.slots = append(e.slots, nil)
	}
	e.slots[slot] = s
	op := fabric.Read
	if !s.probe {
		op = s.flow.op
	}
	p.route.take(s)
	q.out++
	if err := q.Post(fabric.WR{ID: uint64(s.use)<<32 | uint64(slot), Op: op, Bytes: s.bytes}); err != nil {
		e.bed.fail(fmt.Errorf("%s: %w", e.host.Name, err))
	}
	if !s.probe {
		p.route.lastPost = now
	}
	return true
}
