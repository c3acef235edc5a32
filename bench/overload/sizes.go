package main

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// sizes gives numbers, names and endpoints that nobody expects, without and with a
// recorder.
func sizes(c *check) {
	for i, with := range []string{"", ", recorded"} {
		options := func() []cc.Option {
			if with == "" {
				return nil
			}
			return []cc.Option{cc.WithRecorder(recorder.New(recorder.Slots(1 << 12)))}
		}
		c.numbers(newBed(c, nil, options()...))
		c.names(newBed(c, nil, options()...))
		c.wide(with, options)
		c.twice(newBed(c, nil, options()...))
		c.renews(newBed(c, nil, options()...), with)
		c.at(float64(1+i) / 3)
	}
	c.makes()
}

// numbers asks for sizes that are none, and for the largest one.
func (c *check) numbers(b *bed) {
	r := b.route(pair("host", 0, 0))
	before := b.ctl.Snapshot()
	for _, n := range []int64{0, -1, math.MinInt64, math.MaxInt64, cc.MaxBytes + 1} {
		var s slice
		var l cc.List
		for call, d := range map[string]cc.Decision{
			"TryAcquire": r.ask(&s, n), "TryProbe": r.TryProbe(&s.permit, r.gen, n),
			"TryAcquireList": r.TryAcquireList(&l, r.gen, []int64{n}, nil),
			"of two":         r.TryAcquireList(&l, r.gen, []int64{1, n}, nil),
		} {
			c.must(d.Err != nil && d.Answer == cc.Refused, "a size that is none is an error", "%s of %d bytes: %s", call, n, d)
		}
	}
	var long cc.List
	for _, sizes := range [][]int64{nil, make([]int64, cc.MaxList+1), {cc.MaxBytes, cc.MaxBytes, cc.MaxBytes}} {
		d := r.TryAcquireList(&long, r.gen, sizes, nil)
		c.must(d.Err != nil, "a list that is too short, too long or too large is an error", "of %d slices: %s", len(sizes), d)
	}
	for _, gen := range []cc.Generation{r.gen + 1, math.MaxUint64 - 1, math.MaxUint64} {
		var s slice
		d := r.TryAcquire(&s.permit, gen, kib, nil)
		c.must(d.Err != nil, "a generation that is to come is an error", "%d: %s", gen, d)
	}
	c.must(reflect.DeepEqual(before, b.ctl.Snapshot()), "a wrong call changes nothing", "%+v", b.ctl.Snapshot())

	var large, next slice
	b.post(r, &large, cc.MaxBytes)
	equal(c, int64(cc.MaxBytes), b.inFlight(), "bytes in flight of the largest slice")
	d := r.ask(&next, 1)
	c.must(d.Answer == cc.Defer && d.Reason == classify.ReasonByteWindow, "beside the largest slice there is no room", "%s", d)
	d = r.ask(&next, cc.MaxBytes)
	c.must(d.Answer == cc.Defer, "beside the largest slice there is no room for another", "%s", d)
	equal(c, cc.Edges(0), large.permit.Settle(large.use+1, success, b.now()), "a number that was never given settles nothing")
	equal(c, cc.Ended|cc.Released, b.settle(&large, success), "a success takes both edges")
	equal(c, cc.Edges(0), b.settle(&large, success), "a second success takes none")
	b.advance(time.Minute) // claims lapse
	b.transfers(r, &next, 1)
	b.atRest()
}

// names uses names of all kinds. Only whole names count.
func (c *check) names(b *bed) {
	long := strings.Repeat("x", rail.MaxName)
	for _, change := range []func(*rail.Pair, string){
		func(p *rail.Pair, name string) { p.Peer = name }, func(p *rail.Pair, name string) { p.Incarnation = name },
		func(p *rail.Pair, name string) { p.Local = name }, func(p *rail.Pair, name string) { p.Remote = name },
	} {
		p := pair("host", 0, 0)
		change(&p, long)
		b.route(p)
		change(&p, long+"x")
		_, err := b.ctl.Route(p)
		c.must(err != nil, "a name of 256 bytes is an error", "%d routes", len(b.ctl.Snapshot().Routes))
	}
	_, _, err := b.ctl.Event(classify.Event{Type: classify.EventDeviceFatal, Element: classify.Element{Device: long + "x"}}, b.now())
	c.must(err != nil, "a device's name of 256 bytes is an error", "none")
	_, err = b.ctl.NewPoller(long+"x", 1)
	c.must(err != nil, "a poller's device's name of 256 bytes is an error", "none")

	before := len(b.ctl.Snapshot().Routes)
	odd := []string{"a", "a\x00", "\x00a", "a\x00b", "a/b", "a#b", "a->b", "a:1->b", "a\n", "\xff\xfe", "ä", " a", "a "}
	var routes []*route
	for _, peer := range odd {
		for _, remote := range odd {
			p := pair(peer, 0, 0)
			p.Remote = remote
			routes = append(routes, b.route(p))
			p.Peer, p.Incarnation = "a", peer
			routes = append(routes, b.route(p))
		}
	}
	equal(c, before+len(routes), len(b.ctl.Snapshot().Routes), "odd names are as many routes")
	var s slice
	b.quarantined(routes[0], &s)
	for _, r := range routes[1:] {
		c.must(r.State() == cc.Healthy, "what one pair did hits no other", "%q is %s", r.Pair(), r.State())
	}
	for i, peer := range odd {
		equal(c, len(odd), b.ctl.Forget(peer, ""), "routes to the peer with name %d", i)
		equal(c, len(odd), b.ctl.Forget("a", peer), "routes to the incarnation with name %d", i)
	}
	b.atRest()
}

// wideGrowth is how much dearer one of many QPs may be than one of a tenth: what looks at all
// of them for each would be ten times as dear.
const wideGrowth = 6

// wide names many QPs for one endpoint.
func (c *check) wide(with string, options func() []cc.Option) {
	many, few := c.n(10_000, 3000), 1000
	list := make([]cc.QP, many)
	for i := range list {
		list[i] = cc.QP{ID: uint64(i + 1), CQ: 7, SRQ: 8, Incarnation: uint64(i + 1)}
	}
	beds := []*bed{newBed(c, nil, options()...), newBed(c, nil, options()...)}
	var routes []*route
	for _, b := range beds {
		routes = append(routes, b.route(pair("host", 0, 0)))
	}
	renew := func(i, n int) func() {
		return func() {
			r := routes[i]
			gen, err := r.Renew(r.gen, list[:n])
			c.works(err, "Renew")
			r.gen = gen
		}
	}
	per := float64(many) / float64(few)
	t := fastest(10, renew(0, many), renew(1, few))
	c.atMost(wideGrowth, fmt.Sprintf("Renew with %d QPs, for each, by one with %d%s", many, few, with), t[0]/t[1]/per, ratio)
	event := func(i, reaches int, of classify.Event) func() {
		return func() {
			of.Element.Device, of.Element.CQ, of.Element.SRQ = "mlx5_0", 7, 8
			_, reached, err := beds[i].ctl.Event(of, beds[i].now())
			c.works(err, "Event")
			equal(c, reaches, reached, "QPs that %s reaches", of.Type)
		}
	}
	for _, e := range []classify.EventType{classify.EventSRQErr, classify.EventCQErr} {
		of, took := classify.Event{Type: e}, [2]float64{math.Inf(1), math.Inf(1)}
		for range 10 {
			renew(0, many)()
			renew(1, few)()
			took[0] = min(took[0], once(event(0, many, of)))
			took[1] = min(took[1], once(event(1, few, of)))
		}
		c.atMost(wideGrowth, fmt.Sprintf("%s with %d QPs, for each, by one with %d%s", e, many, few, with), took[0]/took[1]/per, ratio)
	}
	equal(c, 1, routes[0].Snapshot().Health.Failures, "a fault of many QPs at once is one fault")
	b, r := beds[0], routes[0]
	b.renew(r)
	b.recovers(b.firstCooldown(), "the route of a CQ that failed recovers", r)
	b.atRest()
}

// twice names one QP for two routes: it is the later one's.
func (c *check) twice(b *bed) {
	first, second := b.route(pair("host-1", 0, 0)), b.route(pair("host-2", 0, 0))
	same := []cc.QP{{ID: 4711}}
	var err error
	first.gen, err = first.Renew(first.gen, same)
	c.works(err, "Renew")
	second.gen, err = second.Renew(second.gen, same)
	c.works(err, "Renew with a QP that another route has")
	first.qp, second.qp = 4711, 4711
	fatal := classify.Event{Type: classify.EventQPFatal, Element: classify.Element{Device: "mlx5_0", QP: 4711}}
	event := func(reaches int, states ...cc.State) {
		_, reached, err := b.ctl.Event(fatal, b.now())
		c.works(err, "Event")
		equal(c, reaches, reached, "routes that the event of a shared QP reaches")
		equal(c, states[0], first.State(), "the first route")
		equal(c, states[1], second.State(), "the second route")
	}
	event(1, cc.Healthy, cc.Suspect)
	b.renew(first) // takes nothing from the second
	event(1, cc.Healthy, cc.Suspect)
	b.renew(second)
	event(0, cc.Healthy, cc.Suspect)
	b.recovers(2*step, "a success ends a suspicion", first, second)
	_, err = first.Renew(first.gen, []cc.QP{{ID: 5}, {ID: 5}})
	c.must(err != nil, "a QP that is named twice is an error", "none")
	_, err = first.Renew(first.gen, []cc.QP{{ID: 0}})
	c.must(err != nil, "a QP with number 0 is an error", "none")
	_, err = first.Renew(first.gen-1, []cc.QP{{ID: 6}})
	c.must(errors.Is(err, cc.ErrStaleGeneration), "Renew of an old generation says so", "%v", err)
	b.atRest()
}

// renews renews a route again and again while slices of old generations are out.
func (c *check) renews(b *bed, with string) {
	const open = 64
	r := b.route(pair("host", 0, 0))
	var out [open]slice
	n := c.n(100_000, 2000)
	marks := map[int]float64{}
	for i := range n {
		s := &out[i%open]
		if i >= open {
			equal(c, cc.Ended|cc.Released, b.settle(s, flush), "a flush of an old generation releases its bytes")
		}
		b.post(r, s, kib)
		b.renew(r)
		if (i+1)%(n/10) == 0 {
			equal(c, int64(min(i+1, open))*kib, b.inFlight(), "bytes in flight of old generations")
			marks[10*(i+1)/n] = heap()
		}
	}
	c.flat("heap after half of a storm of Renew, by that after a tenth"+with, marks[1], marks[5])
	c.flat("heap after a storm of Renew, by that after a tenth"+with, marks[1], marks[10])
	for i := range out {
		b.settle(&out[i], flush)
	}
	equal(c, cc.Healthy, r.State(), "what old generations did says nothing about the route")
	b.atRest()
}

// makes makes routes with a recorder.
func (c *check) makes() {
	build := func(n int) float64 {
		b := newBed(c, nil, cc.WithRecorder(recorder.New(recorder.Slots(1<<12))))
		pairs := pairsOf(n)
		return once(func() {
			for _, p := range pairs {
				b.route(p)
			}
		}) / float64(n)
	}
	many := c.n(100_000, 5000)
	c.atMost(growth, "making a route, of many by of few, recorded", build(many)/min(build(fewRoutes), build(fewRoutes), build(fewRoutes)), ratio)
}
