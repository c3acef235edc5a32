package replay

import (
	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
)

// route is a route of one worker.
type route struct {
	name   scenario.ID
	worker *worker
	route  *cc.Route
	gen    cc.Generation // the current one
	qps    []uint64      // of the current generation
	gens   []genName     // the latest generations by the numbers that a recording has for them
	heard  []cc.Transition
	closed bool

	standIns *standIns // nil unless the QPs of an endpoint are made up
}

// genName is a generation with the number that a recording has for it.
type genName struct{ name, gen cc.Generation }

// maxNames is how many recorded numbers are remembered of a route or permit.
const maxNames = 8

// named returns the generation that a recording has a number for.
func (r *route) named(name cc.Generation) cc.Generation {
	for _, g := range r.gens {
		if g.name == name {
			return g.gen
		}
	}
	return name
}

// generation returns the generation that a statement names; the current one if it names
// none.
func (r *route) generation(s *scenario.Statement) cc.Generation {
	n, given := s.Num("gen")
	if !given {
		return r.gen
	}
	return r.named(cc.Generation(n))
}

// route finds the route that a statement names.
func (w *world) route(s *scenario.Statement) *route {
	list := s.Values("route")
	return w.findRoute(s, list[0].ID())
}

func (w *world) findRoute(s *scenario.Statement, id scenario.ID) *route {
	r := w.routes[id]
	if r == nil {
		w.unknown(s, "route", id, keys(w.routes))
	}
	return r
}

// routesOf finds the routes that a statement names.
func (w *world) routesOf(s *scenario.Statement, list []scenario.Arg) (all []*route) {
	for id := range scenario.IDs(list) {
		if r := w.findRoute(s, id); r != nil {
			all = append(all, r)
		}
	}
	return all
}

func (w *world) makesRoute(s *scenario.Statement) {
	k := w.worker(s)
	if k == nil {
		return
	}
	ctl := w.controller(s, k)
	if ctl == nil {
		return
	}
	pair := rail.Pair{Local: s.Text("device"), Peer: s.Text("peer"), Remote: s.Text("remote"), Port: 1, Incarnation: s.Text("incarnation")}
	if port, given := s.Num("port"); given {
		if uint64(port) > 255 {
			w.wrong(s, "a port is 1 to 255")
			return
		}
		pair.Port = uint8(port)
	}
	id := s.Values("route")[0].ID()
	if old := w.routes[id]; old != nil && !old.closed && !w.recorded {
		w.wrong(s, "there is a route of that name already")
		return
	}
	r := &route{name: id, worker: k}
	w.mu.Lock()
	if old := w.byPair[pairOf{k, pair}]; old == nil || old.closed {
		w.byPair[pairOf{k, pair}] = r
	}
	w.mu.Unlock()
	got, err := ctl.Route(pair)
	w.answered(s, id.String(), w.failed(s, err))
	if err != nil {
		w.mu.Lock()
		if w.byPair[pairOf{k, pair}] == r {
			delete(w.byPair, pairOf{k, pair})
		}
		w.mu.Unlock()
		if !s.Answered {
			w.wrong(s, err.Error())
		}
		return
	}
	if old := w.routes[id]; old != nil && old.route == got {
		return // asked for again
	}
	r.route = got
	w.replace(r)
}

// replace enters a route, in the place of a closed one of the same name.
func (w *world) replace(r *route) {
	old := w.routes[r.name]
	w.routes[r.name] = r
	w.mu.Lock()
	w.byPair[pairOf{r.worker, r.route.Pair()}] = r
	w.mu.Unlock()
	for i := range w.ordered {
		if w.ordered[i] == old {
			w.ordered[i] = r
			return
		}
	}
	w.ordered = append(w.ordered, r)
}

// failed puts the answer of a call in words that answers an error alone.
func (w *world) failed(s *scenario.Statement, err error) *scenario.Statement {
	r := w.reply(s)
	if n := cause(err); n != 0 {
		r.Reply("error", n)
	}
	return r
}

func (w *world) renew(s *scenario.Statement) {
	r := w.route(s)
	if r == nil {
		return
	}
	qps := w.qps(s)
	old := r.gen
	if n, given := s.Num("old"); given {
		old = r.named(cc.Generation(n))
	}
	gen, err := r.route.Renew(old, qps)
	got := w.reply(s)
	if err == nil {
		got.Reply("gen", int64(gen))
		name, said := s.AnswerNum("gen")
		if !said {
			name = int64(gen)
		}
		r.renewed(gen, cc.Generation(name), qps)
	} else {
		got.Reply("error", cause(err))
	}
	w.answered(s, r.name.String(), got)
	if err != nil && !s.Answered {
		w.mismatch(s, r.name.String(), "to be renewed", err.Error())
	}
}

func (w *world) unreachable(s *scenario.Statement) {
	r := w.route(s)
	if r == nil {
		return
	}
	old := r.gen
	if n, given := s.Num("old"); given {
		old = r.named(cc.Generation(n))
	}
	r.route.Unreachable(old, w.at(s))
}

func (r *route) renewed(gen, name cc.Generation, qps []cc.QP) {
	r.gen, r.qps = gen, r.qps[:0]
	for _, q := range qps {
		r.qps = append(r.qps, q.ID)
	}
	if len(r.gens) == maxNames {
		r.gens = append(r.gens[:0], r.gens[1:]...)
	}
	r.gens = append(r.gens, genName{name, gen})
}

// qps returns the QPs that a statement names; one that nobody has if it names none, and
// does not say either that there is none.
func (w *world) qps(s *scenario.Statement) (qps []cc.QP) {
	for _, a := range s.Values("qps") {
		qps = append(qps, cc.QP{ID: uint64(a.Num), CQ: 1})
		w.lastQP = max(w.lastQP, uint64(a.Num))
	}
	if none, _ := s.Num("empty"); len(qps) == 0 && none == 0 {
		w.lastQP++
		qps = []cc.QP{{ID: w.lastQP, CQ: 1}}
	}
	for _, field := range []struct {
		name string
		of   func(*cc.QP) *uint64
	}{
		{"cq", func(q *cc.QP) *uint64 { return &q.CQ }}, {"srq", func(q *cc.QP) *uint64 { return &q.SRQ }},
		{"wq", func(q *cc.QP) *uint64 { return &q.WQ }}, {"incarnation", func(q *cc.QP) *uint64 { return &q.Incarnation }},
	} {
		list := s.Values(field.name)
		for i := range qps {
			if len(list) > 0 {
				*field.of(&qps[i]) = uint64(list[min(i, len(list)-1)].Num)
			}
		}
	}
	return qps
}

func (w *world) fit(s *scenario.Statement) {
	r := w.route(s)
	if r == nil {
		return
	}
	w.answered(s, r.name.String(), w.reply(s).Reply("slices", int64(r.route.Fit(sizes(s)))))
}

func sizes(s *scenario.Statement) (list []int64) {
	for _, a := range s.Values("bytes") {
		list = append(list, a.Num)
	}
	return list
}

func (w *world) closeRoute(s *scenario.Statement) {
	for _, r := range w.routesOf(s, s.Values("route")) {
		r.route.Close()
		r.closed = true
	}
}

// closePeer marks the routes to a peer as closed.
func (w *world) closePeer(k *worker, peer, incarnation string) {
	for _, r := range w.ordered {
		if p := r.route.Pair(); r.worker == k && p.Peer == peer && p.Incarnation == incarnation {
			r.closed = true
		}
	}
}
