package main

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// squall is a controller that events rain on, with posters beside. Port 1 of mlx5_0 and
// its routes are hit; those of port 2 and of mlx5_1 must not notice.
type squall struct {
	*bed
	hit, spared []*route

	posted atomic.Int64
	stop   atomic.Bool
	over   sync.WaitGroup
	fault  atomic.Pointer[error] // what a poster met
}

const squallRoutes = 16

func newSquall(c *check) *squall {
	q := &squall{bed: newBed(c, nil)}
	for i := range squallRoutes {
		p := pair(fmt.Sprint("host-", i/2), 0, i)
		q.hit = append(q.hit, q.route(p))
		p.Port = 2
		q.spared = append(q.spared, q.route(p))
		p.Local = "mlx5_1"
		q.spared = append(q.spared, q.route(p))
	}
	return q
}

// event tells of an event n times, after each of which the clock moves.
func (q *squall) event(n int, gap time.Duration, reaches int, e classify.Event) {
	if e.Element.Device == "" {
		e.Element.Device = "mlx5_0"
	}
	for range n {
		_, reached, err := q.ctl.Event(e, q.now())
		q.works(err, "Event")
		equal(q.check, reaches, reached, "QPs that %s reaches", e.Type)
		q.advance(gap)
	}
}

// posts has posters go on: one on each of two spared routes.
func (q *squall) posts() {
	q.stop.Store(false)
	for _, r := range q.spared[:2] {
		q.over.Go(func() {
			var s slice
			for !q.stop.Load() {
				d := r.ask(&s, 4*kib)
				err := d.Err
				if err == nil && !d.Admitted() {
					err = fmt.Errorf("%s", d)
				}
				if err == nil {
					err = s.permit.Posting(r.qp, q.now())
				}
				if err != nil {
					q.fault.Store(&err)
					return
				}
				q.settle(&s, success)
				q.posted.Add(1)
			}
		})
	}
}

// calm ends the posters.
func (q *squall) calm() {
	q.stop.Store(true)
	q.over.Wait()
	if err := q.fault.Load(); err != nil {
		q.must(false, "posters on spared routes are admitted during a storm", "%v", *err)
	}
}

// rate returns how much posters do by second while f runs again and again for a while.
func (q *squall) rate(f func()) float64 {
	const span = 20 * time.Millisecond
	began, posted := time.Now(), q.posted.Load()
	for time.Since(began) < span {
		f()
	}
	return float64(q.posted.Load()-posted) / time.Since(began).Seconds()
}

// events has all storms, and then the posters' part of one.
func events(c *check) {
	c.nothings()
	c.at(0.4)
	c.strangers()
	c.at(0.5)
	c.fatal()
	c.at(0.6)
	c.ports()
	c.at(0.8)
	c.beside()
}

// same ends the case if anything is not as it was.
func (q *squall) same(before cc.Snapshot, what string) {
	now := q.ctl.Snapshot()
	q.must(reflect.DeepEqual(before, now), what+" changes nothing", "%d routes and %d devices, %+v", len(now.Routes), len(now.Devices), now.Devices)
	q.must(q.table.Stats().Entries == 0, what+" leaves nothing in the pause table", "%d entries", q.table.Stats().Entries)
}

// nothings are events that mean nothing to a registered QP, and events that nobody knows.
func (c *check) nothings() {
	q := newSquall(c)
	before, live := q.ctl.Snapshot(), heap()
	q.event(c.n(1_000_000, 10_000), 0, 0, classify.Event{Type: classify.EventCommEst, Element: classify.Element{QP: q.hit[0].qp}})
	q.same(before, "COMM_EST")
	for i := range c.n(100_000, 10_000) {
		q.event(1, 0, 0, classify.Event{Type: classify.EventWQFatal + 1 + classify.EventType(i), Element: classify.Element{QP: q.hit[0].qp, CQ: 1, Port: 1}})
	}
	q.same(before, "an unknown event")
	c.flat("heap after a storm of events that mean nothing, by that before", live, heap())
}

// strangers are events of objects that nobody registered.
func (c *check) strangers() {
	q := newSquall(c)
	n := c.n(100_000, 10_000)
	before, live := q.ctl.Snapshot(), heap()
	for i := range n {
		number := uint64(1)<<40 + uint64(i)
		t := []classify.EventType{classify.EventQPFatal, classify.EventCQErr, classify.EventSRQErr, classify.EventWQFatal, classify.EventPathMigErr}[i%5]
		q.event(1, 0, 0, classify.Event{Type: t, Element: classify.Element{QP: number, CQ: number, SRQ: number, WQ: number}})
	}
	q.same(before, "an event of an object that nobody registered")
	// A port that failed stays marked for routes to come, once.
	for i := range n {
		port := uint8(3 + i%250)
		q.event(1, 0, 0, classify.Event{Type: classify.EventPortErr, Element: classify.Element{Port: port}})
		q.event(1, 0, 0, classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: fmt.Sprint("mlx5_", 90+i%4)}})
	}
	c.flat("heap after events of ports and devices without routes, by that before", live, heap())
	equal(c, len(before.Devices)+4, len(q.ctl.Snapshot().Devices), "devices are those that were named")
	const names = 1000
	live = heap()
	for i := range names {
		q.event(1, 0, 0, classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: fmt.Sprint("nic-", i)}})
	}
	// A machine has a few. There is no limit.
	c.shows("bytes that are kept for each name of a device that failed and has no routes", max(0, heap()-live)/names, weight)
	for i, r := range append(q.hit, q.spared...) {
		equal(c, cc.Healthy, r.State(), "route %d, on none of those ports", i)
	}
	late := pair("host", 0, 0)
	late.Port = 77
	r := q.route(late)
	equal(c, cc.Quarantined, r.State(), "a route that is made on a port that failed")
	c.atMost(q.firstCooldown().Seconds(), "time until a route is HEALTHY that is made on a port that failed",
		q.recovers(q.firstCooldown(), "the end of the cooldown alone is enough", r).Seconds(), seconds)
	q.atRest()
}

// firstCooldown is how long a first quarantine lasts, until the route is asked for.
func (b *bed) firstCooldown() time.Duration {
	return time.Duration(longest*float64(b.cfg.Cooldown)) + 2*step
}

// fatal is one QP of which it is told again and again that it failed.
func (c *check) fatal() {
	q := newSquall(c)
	r, n := q.hit[0], c.n(100_000, 10_000)
	live := heap()
	q.event(n, 0, 1, classify.Event{Type: classify.EventQPFatal, Element: classify.Element{QP: r.qp}})
	c.flat("heap after a storm of QP_FATAL, by that before", live, heap())
	h := r.Snapshot().Health
	equal(c, 1, h.Failures, "failures that are counted of one QP's fault")
	equal(c, cc.Suspect, h.State, "a route with one failure")
	for i, other := range append(q.hit[1:], q.spared...) {
		equal(c, cc.Healthy, other.State(), "route %d, whose QPs are well", i)
	}
	// In a storm over seconds and minutes it is one fault still.
	q.event(n, time.Millisecond, 1, classify.Event{Type: classify.EventQPFatal, Element: classify.Element{QP: r.qp}})
	equal(c, 1, r.Snapshot().Health.Failures, "failures that are counted of one QP's fault, later")
	equal(c, rail.Stats{Peers: squallRoutes / 2, Entries: 1}, q.table.Stats(), "the table has one entry")
	bound := q.cfg.ErrorWindow + 2*q.cfg.Epoch
	began := q.now()
	for r.State() != cc.Healthy {
		q.must(q.now()-began < bound, "a suspicion that nothing confirms lapses", "%s after %v; the bound is %v", r.State(), q.now()-began, bound)
		var s slice
		if r.ask(&s, kib).Admitted() { // and then the engine has nothing to send
			s.permit.Unposted()
		}
		q.tick(q.cfg.Epoch)
	}
	c.atMost(bound.Seconds(), "time until a route is HEALTHY after a storm of QP_FATAL, without a success", (q.now() - began).Seconds(), seconds)

	q.event(1, 0, 1, classify.Event{Type: classify.EventQPFatal, Element: classify.Element{QP: r.qp}})
	q.renew(r)
	q.event(1, 0, 1, classify.Event{Type: classify.EventQPFatal, Element: classify.Element{QP: r.qp}})
	q.renew(r)
	equal(c, cc.Suspect, r.State(), "a route with fresh failures")
	c.atMost((2 * step).Seconds(), "the same with a success", q.recovers(2*step, "a success ends a suspicion", r).Seconds(), seconds)
	q.atRest()
}

// ports is a port that goes up and down.
func (c *check) ports() {
	for _, kind := range []struct {
		name   string
		engine bool // goes on meanwhile
		back   bool // the last event says that the port is back
	}{
		{"idle, the port comes back", false, true},
		{"in use, the port comes back", true, true},
		{"in use, and nobody says that the port is back", true, false},
	} {
		q := newSquall(c)
		n := c.n(100_000, 5_000)
		down := classify.Event{Type: classify.EventPortErr, Element: classify.Element{Port: 1}}
		up := classify.Event{Type: classify.EventPortActive, Element: classify.Element{Port: 1}}
		var live float64
		for i := range n {
			q.event(1, 500*time.Microsecond, squallRoutes, down)
			if i == 0 {
				for _, r := range q.hit {
					equal(c, cc.Quarantined, r.State(), "a route of a port that failed, at once")
				}
			}
			q.event(1, 500*time.Microsecond, squallRoutes, up)
			if i%20 == 0 {
				q.tick(0)
			}
			if kind.engine && i%5 == 0 {
				q.uses(q.hit[i/5%squallRoutes])
			}
			if i == n/10 {
				live = heap()
			}
		}
		c.flat("heap after a storm of PORT_ERR and PORT_ACTIVE, by that after a tenth; "+kind.name, live, heap())
		for i, r := range q.spared {
			equal(c, cc.Healthy, r.State(), "route %d, of another port or device", i)
			equal(c, q.cfg.StartWindowBytes, r.Snapshot().WindowBytes, "window of route %d, of another port or device", i)
		}
		for _, r := range q.hit {
			equal(c, 0, r.Snapshot().Health.Failures, "a port's fault is counted against no path")
		}
		bound := time.Duration(longest*float64(q.cfg.ProbeInterval)) + 2*step
		if !kind.back {
			q.event(1, 0, squallRoutes, down)
			bound = q.cooldown()
		}
		took := q.recovers(bound, "routes whose port is well recover", q.hit...)
		for _, r := range q.hit {
			equal(c, q.cfg.MinWindowBytes, r.Snapshot().WindowBytes, "the window begins at its minimum")
		}
		c.atMost(bound.Seconds(), "time until all routes of the port are HEALTHY; "+kind.name, took.Seconds(), seconds)
		q.atRest()
	}
}

// beside measures posters with and without a storm, in turns.
func (c *check) beside() {
	q := newSquall(c)
	q.posts()
	var with, without float64
	for range 25 {
		without += q.rate(func() { time.Sleep(time.Millisecond) })
		with += q.rate(func() {
			for range 10 {
				q.event(1, 0, squallRoutes, classify.Event{Type: classify.EventPortErr, Element: classify.Element{Port: 1}})
				q.event(1, 0, squallRoutes, classify.Event{Type: classify.EventPortActive, Element: classify.Element{Port: 1}})
			}
			q.ctl.Tick(q.now())
		})
	}
	q.calm()
	c.atLeast(0.05, "what two posters on spared routes do during a storm, by what they do without", with/without, ratio)
	q.atRest()
}
