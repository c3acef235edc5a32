package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Routes are those of a large process: 8 NICs here, 8 on each peer, every one with every
// other.
const (
	nics          = 8
	routesOfAPeer = nics * nics
)

// fewRoutes is what many are compared with.
const fewRoutes = 1000

// growth is how much dearer one of many may be than one of a few. Many do not fit into the
// caches; what looks at all for each one would be a hundred times as dear. What passes all
// routes in no order meets nothing in a cache: scattered is for that.
const growth, scattered = 25, 60

// crowd is a bed with many routes.
type crowd struct {
	*bed
	routes []*route
	slices []slice
}

func pairsOf(n int) []rail.Pair {
	list := make([]rail.Pair, n)
	for i := range list {
		list[i] = pair(fmt.Sprint("host-", i/routesOfAPeer), i/nics%nics, i%nics)
	}
	return list
}

// pairsOfOneNIC are pairs of one NIC here and 8 on each peer.
func pairsOfOneNIC(n int) []rail.Pair {
	list := make([]rail.Pair, n)
	for i := range list {
		list[i] = pair(fmt.Sprint("host-", i/nics), 0, i%nics)
	}
	return list
}

// newCrowd makes n routes, all idle.
func newCrowd(c *check, pairs []rail.Pair) *crowd {
	w := &crowd{bed: newBed(c, nil), routes: make([]*route, len(pairs)), slices: make([]slice, len(pairs))}
	for i, p := range pairs {
		w.routes[i] = w.route(p)
	}
	return w
}

// of returns the routes of one local NIC.
func (w *crowd) of(local int) (list []*route) {
	for i, r := range w.routes {
		if i/nics%nics == local {
			list = append(list, r)
		}
	}
	return list
}

// routes has many routes at once: what each takes, and that none costs more for the
// others.
func routes(c *check) {
	many := c.n(100_000, 2*fewRoutes) / routesOfAPeer * routesOfAPeer
	manyPairs, fewPairs := pairsOf(many), pairsOf(fewRoutes)
	c.weigh(manyPairs)
	c.at(0.1)
	large, small := newCrowd(c, manyPairs), newCrowd(c, fewPairs)
	c.idle(large, small)
	c.at(0.3)
	c.active(large, small)
	c.at(0.5)
	c.storms(manyPairs, fewPairs)
	c.at(0.7)
	c.ends(manyPairs, fewPairs)
}

// weigh measures what routes take. The names and the handles are the caller's.
func (c *check) weigh(pairs []rail.Pair) {
	n := float64(len(pairs))
	b := newBed(c, nil)
	list := make([]*cc.Route, len(pairs))
	before := heap()
	for i, p := range pairs {
		var err error
		list[i], err = b.ctl.Route(p)
		c.works(err, "Route")
	}
	bare := heap() - before
	for i, r := range list {
		_, err := r.Renew(0, []cc.QP{{ID: uint64(i + 1), CQ: 1}})
		c.works(err, "Renew")
	}
	c.atMost(512+noise/n, "bytes of an idle route", bare/n, weight)
	c.atMost(640+noise/n, "bytes of an idle route with an endpoint", (heap()-before)/n, weight)
	runtime.KeepAlive(list)
	runtime.KeepAlive(b)

	b = newBed(c, nil)
	alone := make([]rail.Pair, len(pairs)/8)
	for i := range alone {
		alone[i] = pair(fmt.Sprint("host-", i), i%nics, i%nics)
	}
	before = heap()
	for i, p := range alone {
		r, err := b.ctl.Route(p)
		c.works(err, "Route")
		_, err = r.Renew(0, []cc.QP{{ID: uint64(i + 1), CQ: 1}})
		c.works(err, "Renew")
	}
	c.atMost(2048, "bytes of a peer with one idle route and its endpoint", (heap()-before)/float64(len(alone)), weight)
	runtime.KeepAlive(alone)
	runtime.KeepAlive(b)
}

// idle measures what is done to idle routes.
func (c *check) idle(large, small *crowd) {
	ticks := func(w *crowd) func() {
		return func() {
			for range 50 {
				w.tick(w.cfg.Epoch)
			}
		}
	}
	large.tick(time.Second) // sweeps
	small.tick(time.Second)
	t := fastest(20, ticks(large), ticks(small))
	c.atMost(2, "a tick with many idle routes, by one with few", t[0]/t[1], ratio)

	each := func(name string, rounds int, f func(w *crowd)) {
		t := fastest(rounds, func() { f(large) }, func() { f(small) })
		per := t[0] / float64(len(large.routes)) * float64(len(small.routes)) / t[1]
		c.atMost(growth, name+", for each of many routes, by each of few", per, ratio)
	}
	each("a snapshot", 3, func(w *crowd) {
		equal(c, len(w.routes), len(w.ctl.Snapshot().Routes), "a snapshot has all routes")
	})
	each("Due", 5, func(w *crowd) { equal(c, 0, len(w.ctl.Due(w.now())), "no idle route is due") })
	each("finding a route", 2, func(w *crowd) {
		for _, r := range w.routes {
			found, err := w.ctl.Route(r.Pair())
			c.must(err == nil && found == r.Route, "a pair leads to its route", "%v, %v", found, err)
		}
	})
	sizes := []int64{kib, kib}
	fit := func(w *crowd) func() {
		return func() {
			for _, r := range w.routes[:fewRoutes] {
				equal(c, 2, r.Fit(sizes), "slices that fit")
			}
		}
	}
	t = fastest(3, fit(large), fit(small))
	c.atMost(growth, "Fit with many routes, by one with few", t[0]/t[1], ratio)
	each("Renew", 2, func(w *crowd) {
		for _, r := range w.routes {
			w.renew(r)
		}
	})
}

// active measures routes in use: a tenth of many, and as many in a hundred of few.
func (c *check) active(large, small *crowd) {
	tenth := len(large.routes) / 10
	before := heap()
	for i, r := range large.routes[:tenth] {
		large.post(r, &large.slices[i], kib)
	}
	for i, r := range small.routes[:fewRoutes/10] {
		small.post(r, &small.slices[i], kib)
	}
	c.shows("bytes of a route that was in use, beyond an idle one", (heap()-before)/float64(tenth+fewRoutes/10), weight)
	equal(c, int64(tenth)*kib, large.inFlight(), "what is in flight is what was posted")
	t := fastest(10, func() { large.tick(large.cfg.Epoch) }, func() { small.tick(small.cfg.Epoch) })
	c.atMost(growth, "a tick, for each active route of many, by each of few", t[0]/float64(tenth)*(fewRoutes/10)/t[1], ratio)
	for i := range large.slices[:tenth] {
		large.settle(&large.slices[i], success)
	}
	for i := range small.slices[:fewRoutes/10] {
		small.settle(&small.slices[i], success)
	}
	large.atRest()
	for range 10 {
		large.tick(large.cfg.Epoch)
		small.tick(small.cfg.Epoch)
	}
	t = fastest(20, func() { large.tick(large.cfg.Epoch) }, func() { small.tick(small.cfg.Epoch) })
	c.atMost(2.5, "a tick once all are idle again, by one with few", t[0]/t[1], ratio)
}

// perRoute compares what something takes for each route of many and of few. f gets a new
// crowd, and returns what is timed, which returns how many routes it was for, and what is
// checked then.
func (c *check) perRoute(limit float64, name string, many, few []rail.Pair, f func(w *crowd) (what func() int, then func())) {
	measure := func(pairs []rail.Pair, rounds int) (least float64) {
		for i := range rounds {
			what, then := f(newCrowd(c, pairs))
			runtime.GC()
			n := 0
			percent := debug.SetGCPercent(-1)
			took := once(func() { n = what() })
			debug.SetGCPercent(percent)
			then()
			if per := took / float64(n); i == 0 || per < least {
				least = per
			}
		}
		return least
	}
	dear, cheap := measure(many, 2), measure(few, 8)
	c.atMost(limit, name+", for each of many routes, by each of few", dear/cheap, ratio)
}

// storms measures failures that meet many routes.
func (c *check) storms(many, few []rail.Pair) {
	event := func(w *crowd, t classify.EventType, qps int) {
		_, reached, err := w.ctl.Event(classify.Event{Type: t, Element: classify.Element{Device: "mlx5_0", Port: 1}}, w.now())
		c.works(err, "Event")
		equal(c, qps, reached, "an event of a port reaches its QPs")
	}
	c.perRoute(growth, "PORT_ERR", many, few, func(w *crowd) (func() int, func()) {
		list := w.of(0)
		return func() int { event(w, classify.EventPortErr, len(list)); return len(list) },
			func() { equal(c, cc.Quarantined, list[len(list)-1].State(), "a route of a port that failed") }
	})
	// As many as the pause table holds: a full one takes no first failures.
	failing := pairsOfOneNIC(min(len(many), rail.MaxEntries/4*3))
	c.perRoute(growth, "failures up to the quarantine, of one NIC", failing, pairsOfOneNIC(len(few)), func(w *crowd) (func() int, func()) {
		return func() int {
			var s slice
			for _, r := range w.routes {
				w.quarantined(r, &s)
			}
			return len(w.routes)
		}, w.atRest
	})
	w := newCrowd(c, many)
	hit := w.of(0)
	event(w, classify.EventPortErr, len(hit))
	w.tick(time.Second)
	event(w, classify.EventPortActive, len(hit))
	bound := time.Duration(longest * float64(w.cfg.ProbeInterval))
	began := w.now()
	w.advance(bound)
	for _, r := range hit {
		w.transfers(r, &w.slices[0], 1) // the trial, on an endpoint that nothing was posted on
		equal(c, cc.Healthy, r.State(), "a route whose port is back is HEALTHY after its trial")
	}
	c.atMost(bound.Seconds(), fmt.Sprintf("time until %d routes of a port are HEALTHY after PORT_ACTIVE", len(hit)), (w.now() - began).Seconds(), seconds)
	w.atRest()
}

// ends measures how routes go, with bytes out and without.
func (c *check) ends(many, few []rail.Pair) {
	closing := func(w *crowd) func() int {
		return func() int {
			for _, r := range w.routes {
				r.Close()
			}
			return len(w.routes)
		}
	}
	const size = 64 // all fit into one NIC's window
	out := func(w *crowd) {
		for i, r := range w.routes {
			w.post(r, &w.slices[i], size)
		}
	}
	flushed := func(w *crowd) {
		equal(c, int64(len(w.routes))*size, w.inFlight(), "bytes of closed routes are in flight until they come back")
		for i := range w.slices {
			equal(c, cc.Ended|cc.Released, w.settle(&w.slices[i], flush), "a flush after the end releases the bytes")
		}
		w.atRest()
	}
	manyOfOne, fewOfOne := pairsOfOneNIC(len(many)), pairsOfOneNIC(len(few))
	c.perRoute(growth, "closing routes of one NIC, one by one", manyOfOne, fewOfOne, func(w *crowd) (func() int, func()) {
		return closing(w), w.atRest
	})
	c.perRoute(growth, "closing routes of one NIC with bytes out", manyOfOne, fewOfOne, func(w *crowd) (func() int, func()) {
		out(w)
		return closing(w), func() { flushed(w) }
	})
	c.perRoute(growth, "forgetting peers one by one", many, few, func(w *crowd) (func() int, func()) {
		return func() (n int) {
			for i := 0; i < len(w.routes); i += routesOfAPeer {
				n += w.ctl.Forget(w.routes[i].Pair().Peer, "")
			}
			return n
		}, func() { equal(c, 0, len(w.ctl.Snapshot().Routes), "routes when all peers were forgotten") }
	})
	c.perRoute(scattered, "Close of a controller with bytes out", many, few, func(w *crowd) (func() int, func()) {
		out(w)
		return func() int { w.ctl.Close(); return len(w.routes) }, func() {
			for _, r := range w.routes {
				var s slice
				if d := r.ask(&s, kib); !errors.Is(d.Err, cc.ErrClosed) {
					c.must(false, "a closed controller says so", "%s", d)
				}
			}
			flushed(w)
			equal(c, rail.Stats{}, w.table.Stats(), "nobody refers to the table after Close")
		}
	})
}
