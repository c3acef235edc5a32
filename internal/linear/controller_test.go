package linear

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/linear/turns"
	"github.com/rdmagate/rdmagate/rail"
)

const (
	epoch = 100 * time.Millisecond
	quick = 200 * time.Microsecond // less than half the target drain, and always measured
	late  = time.Second
)

// controller is the gate that is checked.
type controller struct {
	ctl    *cc.Controller
	routes [][]*cc.Route     // of each device
	gens   [][]atomic.Uint64 // the latest that Renew returned
	now    atomic.Int64
}

func newController(cfg cc.Config, devices, routes int) (*controller, error) {
	g := &controller{}
	g.now.Store(int64(time.Hour))
	ctl, err := cc.New(cfg, cc.WithClock(g.clock), cc.WithJitter(func() float64 { return 1 }))
	if err != nil {
		return nil, err
	}
	g.ctl = ctl
	for d := range devices {
		g.routes = append(g.routes, make([]*cc.Route, routes))
		g.gens = append(g.gens, make([]atomic.Uint64, routes))
		for i := range routes {
			pair := rail.Pair{Peer: fmt.Sprint("peer", i), Local: deviceName(d), Port: 1, Remote: "nic0"}
			if g.routes[d][i], err = ctl.Route(pair); err != nil {
				return nil, err
			}
			g.renew(d, i)
		}
	}
	return g, nil
}

func deviceName(device int) string { return fmt.Sprint("nic", device) }

// clock is read in the midst of calls, which is a good place to stop.
func (g *controller) clock() time.Duration {
	runtime.Gosched()
	return g.read()
}

func (g *controller) read() time.Duration { return time.Duration(g.now.Load()) }

func (g *controller) try(s *slot) (bool, int) {
	r, gen := g.routes[s.device][s.route], cc.Generation(g.gens[s.device][s.route].Load())
	var d cc.Decision
	if s.list {
		d = r.TryAcquireList(&s.post, gen, s.sizes, s.task)
	} else {
		d = r.TryAcquire(&s.permit, gen, s.sizes[0], s.task)
	}
	switch {
	case d.Admitted():
		s.got = d.Use
		return true, -1
	case d.Answer == cc.Defer && d.Domain == cc.DeviceDomain:
		return false, deviceDomain
	case d.Answer == cc.Defer && d.Domain == cc.RouteDomain:
		return false, routeDomain(s.route)
	case d.Answer == cc.Defer && d.Reason == classify.ReasonStaleGeneration:
		return false, -1
	}
	panic(fmt.Sprintf("TryAcquire of %d bytes says %s: histories have nothing in them that leads to that", s.sizes, d))
}

func (g *controller) giveUp(s *slot, from int) {
	if s.list {
		s.post.Unposted(from)
	} else {
		s.permit.Unposted()
	}
}

// qp is the number of a route's only QP.
func qp(route int) uint64 { return uint64(1 + route) }

func (g *controller) post(s *slot, lost bool) bool {
	id, posting := qp(s.route), s.permit.Posting
	if lost {
		id = qp(maxRoutes)
	}
	if s.list {
		posting = s.post.Posting
	}
	if posting(id, g.read()) != nil {
		return false
	}
	s.use.Store(uint32(s.got))
	return true
}

var verdicts = [endings]classify.Verdict{
	success:     classify.Completion(classify.StatusSuccess, 0),
	lateSuccess: classify.Completion(classify.StatusSuccess, 0),
	flush:       classify.Completion(classify.StatusWRFlushErr, 0),
	notReady:    classify.Completion(classify.StatusRNRRetryExcErr, 0),
	teardown:    classify.Of(classify.SignalTeardown),
	cancel:      classify.Of(classify.SignalCancel),
}

func (g *controller) settle(s *slot, use, mask uint32, e ending) uint32 {
	now := g.read() + quick
	if e == lateSuccess {
		now += late
	}
	switch {
	case s.list:
		return s.post.Settle(cc.Use(use), mask, verdicts[e], now).Released
	case s.permit.Settle(cc.Use(use), verdicts[e], now)&cc.Released != 0:
		return 1
	}
	return 0
}

func (g *controller) inFlight(device, domain int) int64 {
	if domain == deviceDomain {
		return g.snapshot(device).InFlightBytes
	}
	return g.routes[device][domain-1].InFlight()
}

func (g *controller) snapshot(device int) (d cc.DeviceSnapshot) {
	turns.Still(func() { d = g.ctl.Snapshot().Devices[device] }) // by name
	return d
}

func (g *controller) renew(device, route int) {
	gen := &g.gens[device][route]
	next, err := g.routes[device][route].Renew(cc.Generation(gen.Load()), []cc.QP{{ID: qp(route)}})
	if err == nil {
		gen.Store(uint64(next))
	}
}

func (g *controller) tick() { g.ctl.Tick(time.Duration(g.now.Add(int64(epoch)))) }

func (g *controller) windows(device int) []int64 {
	sizes := []int64{g.snapshot(device).WindowBytes}
	for _, r := range g.routes[device] {
		sizes = append(sizes, r.Snapshot().WindowBytes)
	}
	return sizes
}
