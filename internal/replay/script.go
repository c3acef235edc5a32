package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// send runs send: acquire and post for each permit.
func (w *world) send(s *scenario.Statement) {
	w.sendAll(s)
}

// sendAll returns the permits that were posted.
func (w *world) sendAll(s *scenario.Statement) (sent []*permit) {
	r := w.route(s)
	if r == nil {
		return nil
	}
	n, given := s.Num("bytes")
	if !given {
		n = 4 << 10
	}
	gen := r.generation(s)
	i := 0
	for id := range scenario.IDs(s.Values("permit")) {
		p := w.permit(id)
		d := w.said(r, r.route.TryAcquire(p.one, gen, n, w.taskOf(s, p, i)))
		if !d.Admitted() {
			w.mismatch(s, id.String(), "admit", d.String())
		} else {
			p.admitted(s, r, gen, d.Use)
			if w.postOne(s, p, i) {
				sent = append(sent, p)
			} else {
				w.mismatch(s, id.String(), "to be posted", "the endpoint or its QP is not current")
			}
		}
		i++
	}
	return sent
}

// transfer runs transfer: send, and the completion of each permit.
func (w *world) transfer(s *scenario.Statement) {
	sent := w.sendAll(s)
	if takes, given := s.Num("takes"); given {
		w.advance(s, time.Duration(takes))
	}
	v := verdict(s)
	for _, p := range sent {
		if took := p.one.Settle(p.use, v, w.clockNow()); took != cc.Ended|cc.Released && p.route.worker.cfg.Mode != cc.Off {
			w.mismatch(s, p.name.String(), "to be ended and released", took.String())
		}
	}
}

// reclaim tears down what is posted on an endpoint, in the order of the permits' names.
func (w *world) reclaim(s *scenario.Statement) {
	r := w.route(s)
	if r == nil {
		return
	}
	gen := r.generation(s)
	v := classify.Of(classify.SignalTeardown)
	permits := 0
	for _, p := range w.allPermits() {
		if p.route != r || p.gen != gen {
			continue
		}
		if p.list != nil {
			if p.list.Settle(p.use, 1<<cc.MaxList-1, v, w.at(s)).Released != 0 {
				permits++
			}
		} else if p.one.Settle(p.use, v, w.at(s))&cc.Released != 0 {
			permits++
		}
	}
	w.answered(s, r.name.String(), w.reply(s).Reply("permits", int64(permits)))
}

// allPermits returns the permits by name.
func (w *world) allPermits() (all []*permit) {
	for _, p := range w.permits {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *permit) int {
		return cmp.Or(cmp.Compare(a.name.Text, b.name.Text), cmp.Compare(a.name.Num, b.name.Num))
	})
	return all
}

// The pressures that epoch makes, by how long slices take: parts of the target in tenths.
var pressures = []struct {
	key    string
	tenths time.Duration
}{{"low", 1}, {"neutral", 8}, {"high", 20}}

// epoch runs control epochs: routes that take longer come later.
func (w *world) epoch(s *scenario.Statement) {
	times, ok := w.count(s, "times", 1)
	if !ok {
		return
	}
	k := w.worker(s)
	for range times {
		for _, pressure := range pressures {
			routes := w.routesOf(s, s.Values(pressure.key))
			if len(routes) == 0 {
				continue
			}
			k = routes[0].worker
			var out []*permit
			for _, r := range routes {
				out = append(out, w.fill(s, r)...)
			}
			w.advance(s, k.cfg.TargetDrain*pressure.tenths/10)
			for _, p := range out {
				p.one.Settle(p.use, classify.Completion(classify.StatusSuccess, 0), w.clockNow())
			}
			w.passed()
		}
		if k == nil || w.controller(s, k) == nil || !w.happens(s, 1) {
			return
		}
		w.advance(s, k.cfg.Epoch-w.clockNow()%k.cfg.Epoch)
		w.tickAll()
		w.passed()
	}
}

// fill posts slices of 64 KiB until one is refused.
func (w *world) fill(s *scenario.Statement, r *route) (out []*permit) {
	for len(out) < 1<<16 && len(r.qps) > 0 && w.happens(s, 1) {
		p := &permit{one: new(cc.Permit)}
		d := w.said(r, r.route.TryAcquire(p.one, r.gen, 64<<10, nil))
		if !d.Admitted() || p.one.Posting(r.qps[0], w.clockNow()) != nil {
			return out
		}
		p.use = d.Use
		out = append(out, p)
	}
	return out
}
