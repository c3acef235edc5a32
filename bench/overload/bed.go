package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
)

var (
	success  = classify.Completion(classify.StatusSuccess, 0)
	retryExc = classify.Completion(classify.StatusRetryExcErr, 0x81)
	flush    = classify.Completion(classify.StatusWRFlushErr, 0xf9)
	deadline = classify.Of(classify.SignalDeadlineProgressing)
	cancel   = classify.Of(classify.SignalCancel)
	teardown = classify.Of(classify.SignalTeardown)
)

// longest is the largest factor that a controller draws for cooldowns and probe
// intervals.
const longest = 1.2

// bed is a controller in mode enforce with a pause table of its own, on a clock that the
// case moves.
type bed struct {
	*check
	ctl   *cc.Controller
	cfg   cc.Config
	table *rail.Table
	clock atomic.Int64
	qps   uint64 // that were built

	poller *cc.Poller // of CQ 1 of mlx5_0; nil if there is none
}

// newBed returns a bed at one hour. change may be nil.
func newBed(c *check, change func(*cc.Config), options ...cc.Option) *bed {
	b := &bed{check: c, table: rail.NewTable(), cfg: cc.DefaultConfig()}
	b.clock.Store(int64(time.Hour))
	b.cfg.Mode = cc.Enforce
	if change != nil {
		change(&b.cfg)
	}
	options = append([]cc.Option{
		cc.WithPauses(b.table), cc.WithClock(b.now), cc.WithJitter(func() float64 { return longest }),
	}, options...)
	var err error
	b.ctl, err = cc.New(b.cfg, options...)
	c.works(err, "New")
	return b
}

func (b *bed) now() time.Duration { return time.Duration(b.clock.Load()) }

func (b *bed) advance(d time.Duration) { b.clock.Add(int64(d)) }

// tick moves the clock, and has the poller and the monitor run.
func (b *bed) tick(d time.Duration) {
	b.advance(d)
	b.beat()
	b.ctl.Tick(b.now())
}

func (b *bed) beat() {
	if b.poller != nil {
		b.poller.Beat(b.now())
	}
}

// route is a route with its current endpoint.
type route struct {
	*cc.Route
	gen cc.Generation
	qp  uint64 // the first of the endpoint
}

// pair returns a path to a peer.
func pair(peer string, local, remote int) rail.Pair {
	return rail.Pair{Peer: peer, Local: fmt.Sprintf("mlx5_%d", local), Port: 1, Remote: fmt.Sprintf("mlx5_%d", remote)}
}

// route returns the pair's route, with a new endpoint.
func (b *bed) route(p rail.Pair) *route {
	r, err := b.ctl.Route(p)
	b.works(err, "Route")
	made := &route{Route: r}
	b.renew(made)
	return made
}

// renew builds the route's next endpoint, of one QP on CQ 1.
func (b *bed) renew(r *route) {
	b.qps++
	gen, err := r.Renew(r.gen, []cc.QP{{ID: b.qps, CQ: 1}})
	b.works(err, "Renew")
	r.gen, r.qp = gen, b.qps
}

// slice is a slice as an engine holds it.
type slice struct {
	permit cc.Permit
	task   taskstate.Task
	use    cc.Use
}

// ask asks for n bytes.
func (r *route) ask(s *slice, n int64) cc.Decision {
	d := r.TryAcquire(&s.permit, r.gen, n, &s.task)
	s.use = d.Use
	return d
}

// post asks for n bytes that have to be admitted, and posts them.
func (b *bed) post(r *route, s *slice, n int64) {
	if d := r.ask(s, n); !d.Admitted() {
		b.must(false, fmt.Sprintf("%d bytes on %s are admitted", n, r.Pair()), "%s, in state %s", d, r.State())
	}
	b.works(s.permit.Posting(r.qp, b.now()), "Posting")
}

// settle tells the slice what became of it.
func (b *bed) settle(s *slice, v classify.Verdict) cc.Edges {
	return s.permit.Settle(s.use, v, b.now())
}

// transfers has some slices of 4 KiB succeed.
func (b *bed) transfers(r *route, s *slice, slices int) {
	for range slices {
		b.post(r, s, 4*kib)
		b.settle(s, success)
	}
}

// fails has a slice fail, and builds the next endpoint.
func (b *bed) fails(r *route, s *slice, v classify.Verdict) {
	b.post(r, s, 4*kib)
	if b.settle(s, v)&cc.Released == 0 {
		b.settle(s, teardown)
	}
	b.renew(r)
}

// quarantined has slices fail until the route is quarantined, and builds an endpoint.
func (b *bed) quarantined(r *route, s *slice) {
	for range b.cfg.HardErrorThreshold {
		b.fails(r, s, retryExc)
	}
	equal(b.check, cc.Quarantined, r.State(), "a route whose failures reach the threshold is QUARANTINED")
}

// inFlight returns the bytes in flight by all devices.
func (b *bed) inFlight() (n int64) {
	for _, d := range b.ctl.Snapshot().Devices {
		n += d.InFlightBytes
	}
	return n
}

// atRest ends the case if bytes are in flight.
func (b *bed) atRest() { equal(b.check, 0, b.inFlight(), "no bytes are in flight in the end") }

// step is how often an engine asks again on a path that is out.
const step = 50 * time.Millisecond

// recovers has an engine use the routes: it asks again and again, builds an endpoint when
// one is wanted, and ticks. It returns how long it takes until all are HEALTHY, and ends the
// case when that is not so within the limit.
func (b *bed) recovers(limit time.Duration, rule string, routes ...*route) time.Duration {
	began := b.now()
	for {
		var ill *route
		for _, r := range routes {
			if b.uses(r); r.State() != cc.Healthy {
				ill = r
			}
		}
		took := b.now() - began
		if ill == nil {
			return took
		}
		if took > limit {
			h := ill.Snapshot().Health
			b.must(false, rule, "%s is %s after %v, with %v of a cooldown left; the bound is %v", ill.Pair(), h.State, took, h.CooldownLeft, limit)
		}
		b.tick(step)
	}
}

// uses asks once for a slice, which succeeds if it is admitted.
func (b *bed) uses(r *route) {
	var s slice
	if d := r.ask(&s, 4*kib); d.Admitted() {
		b.works(s.permit.Posting(r.qp, b.now()), "Posting")
		b.settle(&s, success)
	} else if d.WantsEndpoint() {
		b.renew(r)
	}
}
