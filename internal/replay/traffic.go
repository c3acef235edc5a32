package replay

import (
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// stream is what traffic says: slices that come one after the other.
type stream struct {
	w            *world
	r            *route
	bytes        int64
	every, takes time.Duration
	v            classify.Verdict
	waiting      int64 // slices that came and were not admitted
	coming       int64 // slices that are yet to come
	free         []*cc.Permit
}

func (w *world) traffic(s *scenario.Statement) {
	r := w.route(s)
	if r == nil {
		return
	}
	count, ok := w.count(s, "count", 0)
	if !ok {
		return
	}
	length := func(name string) time.Duration {
		if n, given := s.Num(name); given {
			return time.Duration(n)
		}
		return time.Millisecond
	}
	t := &stream{w: w, r: r, coming: count, v: verdict(s), every: length("every"), takes: length("takes")}
	if t.every < shortest {
		w.wrong(s, "slices come every "+shortest.String()+" at most; make them larger")
		return
	}
	t.bytes, _ = s.Num("bytes")
	t.arrive()
}

// arrive is the arrival of a slice, or a time to ask again.
func (t *stream) arrive() {
	if t.coming > 0 {
		t.coming--
		t.waiting++
	}
	t.pump()
	if t.coming+t.waiting > 0 {
		t.w.after(t.every, t.arrive)
	}
}

// pump posts what waits, as far as it is admitted. What has to take another way is gone.
func (t *stream) pump() {
	for t.waiting > 0 && len(t.r.qps) > 0 {
		p := new(cc.Permit)
		if n := len(t.free); n > 0 {
			p, t.free = t.free[n-1], t.free[:n-1]
		}
		d := t.w.said(t.r, t.r.route.TryAcquire(p, t.r.gen, t.bytes, nil))
		switch {
		case d.Answer == cc.Avoid || d.Err != nil:
			t.free = append(t.free, p)
		case !d.Admitted():
			t.free = append(t.free, p)
			return
		case p.Posting(t.r.qps[0], t.w.clockNow()) == nil:
			t.w.after(t.takes, func() {
				p.Settle(d.Use, t.v, t.w.clockNow())
				t.free = append(t.free, p)
				t.pump()
			})
		}
		t.waiting--
	}
}

// random runs steps by chance.
func (w *world) random(s *scenario.Statement) {
	routes := w.routesOf(s, s.Values("route"))
	if len(routes) == 0 {
		return
	}
	seed, given := s.Num("seed")
	if !given {
		seed = 1
	}
	steps, ok := w.count(s, "steps", 0)
	if !ok {
		return
	}
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	type slice struct {
		cc.Permit
		use cc.Use
	}
	permits := make([]slice, 32)
	done := classify.Completion(classify.StatusSuccess, 0)
	outcomes := []classify.Verdict{done, done, done, classify.Completion(classify.StatusWRFlushErr, 0xf9),
		classify.Completion(classify.StatusRetryExcErr, 0x81), classify.Of(classify.SignalTeardown)}
	for range steps {
		if !w.happens(s, len(w.ordered)) { // each step adds up what all have
			return
		}
		p, r := &permits[rnd.IntN(len(permits))], routes[rnd.IntN(len(routes))]
		if p.Held() > 0 {
			p.Settle(p.use, outcomes[rnd.IntN(len(outcomes))], w.clockNow())
		} else if d := w.said(r, r.route.TryAcquire(&p.Permit, r.gen, 1+rnd.Int64N(300<<10), nil)); d.Admitted() {
			p.use = d.Use
			if err := p.Posting(r.qps[0], w.clockNow()); err != nil {
				w.mismatch(s, r.name.String(), "to be posted", err.Error())
				return
			}
		}
		if rnd.IntN(50) == 0 {
			w.advance(s, 40*time.Second)
			w.lastQP++
			qps := []cc.QP{{ID: w.lastQP, CQ: 1}}
			gen, err := r.route.Renew(r.gen, qps)
			if err != nil {
				w.mismatch(s, r.name.String(), "to be renewed", err.Error())
				return
			}
			r.renewed(gen, gen, qps)
		}
		if !w.sums(s, routes[0].worker) {
			return
		}
	}
	for i := range permits {
		permits[i].Settle(permits[i].use, classify.Of(classify.SignalTeardown), w.clockNow())
	}
	w.sums(s, routes[0].worker)
}

// sums checks that each device has in flight what its routes have.
func (w *world) sums(s *scenario.Statement, k *worker) bool {
	now := k.ctl.Snapshot()
	sum := map[string]int64{}
	for _, r := range now.Routes {
		sum[r.Pair.Local] += r.InFlightBytes
		if r.InFlightBytes < 0 {
			w.mismatch(s, r.Pair.String(), "0 bytes in flight or more", bytesText(r.InFlightBytes))
			return false
		}
	}
	for _, d := range now.Devices {
		if d.InFlightBytes != sum[d.Device] {
			w.mismatch(s, "device "+d.Device, bytesText(sum[d.Device])+" in flight, as its routes have", bytesText(d.InFlightBytes))
			return false
		}
	}
	return true
}
