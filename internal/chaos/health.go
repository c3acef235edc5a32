package chaos

import (
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/rail"
)

// health follows the states of the routes, and holds what becomes of them against the
// faults that were made. It is safe for concurrent use.
type health struct {
	site *Site

	mu      sync.Mutex
	numbers map[rail.Pair]route // cache of Site.number, without incarnations
	routes  []pairHealth
	seen    map[Kind]*Seen
	status  map[classify.Status]int // of what failed on the wire
	states  []States
	slowest time.Duration
	strange int
}

// pairHealth is what is known of one route.
type pairHealth struct {
	fine    time.Duration // when it was last seen to be HEALTHY or CONGESTED
	up      time.Duration // when it was last seen to have an endpoint with QPs for all workers
	barred  bool          // the controller said that it is out of service,
	told    time.Duration // at this time; transitions may come out of order
	touched time.Duration // of the recovery that was measured last
	stuck   bool          // and reported
}

// Seen is what was seen of one kind of fault. Where faults overlap, each kind that
// reaches the route gets the credit.
type Seen struct {
	Kind  Kind
	Count int
	// Failed is how many work requests failed, Suspect and Quarantined how often a route
	// became that.
	Failed, Suspect, Quarantined int
}

// States says how many routes are in which state, from then on.
type States struct {
	At    Duration
	Count [cc.Probing + 1]int
}

func newHealth(s *Site) *health {
	h := &health{site: s, numbers: map[rail.Pair]route{}, routes: make([]pairHealth, s.setup.Peers*s.setup.NICs*s.setup.NICs)}
	h.reset()
	return h
}

// reset forgets what was counted.
func (h *health) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen, h.status, h.states, h.slowest, h.strange = map[Kind]*Seen{}, map[classify.Status]int{}, nil, 0, 0
}

// credit returns the counters of each kind. The lock is held.
func (h *health) credit(list []Kind, f func(*Seen)) {
	for _, k := range list {
		if h.seen[k] == nil {
			h.seen[k] = &Seen{Kind: k}
		}
		f(h.seen[k])
	}
}

// made counts a fault.
func (h *health) made(f Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.credit([]Kind{f.Kind}, func(s *Seen) { s.Count++ })
}

// failed counts a work request that failed.
func (h *health) failed(r route, status classify.Status) {
	kinds, _ := h.causes(r, h.site.now())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status[status]++
	h.credit(kinds, func(s *Seen) { s.Failed++ })
}

// causes returns the faults that what happens on a route may come from, and whether one
// of them blames. What happens on a dead pair has nothing to do with any.
func (h *health) causes(r route, at time.Duration) (kinds []Kind, explained bool) {
	if h.site.setup.dead(r.local, r.remote) {
		return nil, true
	}
	return h.site.ledger.blamed(r, at, h.site.numbers.Evidence(), h.site.bound)
}

func (h *health) number(p rail.Pair) route {
	p.Incarnation = ""
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.numbers[p]
	if !ok {
		r = h.site.number(p)
		h.numbers[p] = r
	}
	return r
}

func fine(s cc.State) bool { return s <= cc.Congested }

func barred(s cc.State) bool { return s >= cc.Quarantined }

// transition is the controller's hook.
func (h *health) transition(t cc.Transition) {
	if t.Notice != cc.NoNotice {
		return
	}
	r := h.number(t.Pair)
	kinds, explained := h.causes(r, t.At)
	if barred(t.To) && !barred(t.From) && !explained {
		h.accuse(t.Pair, t.To, t.Reason, t.Verdict, t.At, kinds)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &h.routes[h.site.setup.index(r)]
	if t.At >= p.told {
		p.barred = barred(t.To) || p.barred && t.At == p.told
		p.told = t.At
	}
	switch {
	case t.To == cc.Suspect && fine(t.From):
		if !explained {
			h.strange++
		}
		h.credit(kinds, func(s *Seen) { s.Suspect++ })
	case barred(t.To) && !barred(t.From):
		h.credit(kinds, func(s *Seen) { s.Quarantined++ })
	case fine(t.To):
		p.fine = max(p.fine, t.At)
	}
}

// accuse reports a verdict that nothing explains.
func (h *health) accuse(pair rail.Pair, to cc.State, reason classify.Reason, v classify.Verdict, at time.Duration, kinds []Kind) {
	h.site.court.broken(Verdict, "%v became %v (%v, %v) at %v, and no fault that blames reaches it; only %v", pair, to, reason, v, at, kinds)
}

// look takes in the rails of a peer at a moment, and reports which routes are stuck. It
// returns how many have not recovered yet.
func (h *health) look(now time.Duration, rails []transfer.RailSample, count *[cc.Probing + 1]int) (ill int) {
	s := h.site
	qps, all := s.watch.full(), s.setup.Workers*s.numbers.Engine.QPsPerWorker+1
	for i := range rails {
		state := rails[i].Route.Health.State
		count[state]++
		r := h.number(rails[i].Route.Pair)
		if s.setup.dead(r.local, r.remote) {
			continue
		}
		touched, ever := s.ledger.touched(r, now)
		kinds, explained := h.causes(r, now)
		h.mu.Lock()
		p := &h.routes[s.setup.index(r)]
		if fine(state) {
			p.fine = now
		}
		if rails[i].Up && qps[s.setup.index(r)] >= all {
			p.up = now
		}
		well := min(p.fine, p.up)
		if ever && well < touched {
			ill++
		} else if ever && touched < now && touched > p.touched {
			p.touched = touched
			h.slowest = max(h.slowest, now-touched)
		}
		stuck := well < now-s.bound && (!ever || touched < now-s.bound) && !p.stuck
		p.stuck = stuck || p.stuck && well < now
		silent := barred(state) && !p.barred
		h.mu.Unlock()
		if silent && !explained { // it was not even told of
			known := rails[i].Route.Health
			h.accuse(rails[i].Route.Pair, state, known.Reason, known.Verdict, now, kinds)
		}
		if stuck {
			s.court.broken(Stuck, "%v is %v (%v), endpoint up: %v (%v) with %d of %d QPs; fine at %v, up at %v; the last fault that reaches it ended at %v, the bound is %v",
				rails[i].Route.Pair, state, rails[i].Route.Health.Reason, rails[i].Up, rails[i].Failure, qps[s.setup.index(r)], all, p.fine, p.up, touched, s.bound)
		}
	}
	return ill
}

// record notes how many routes are in which state.
func (h *health) record(now time.Duration, count [cc.Probing + 1]int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.states); n == 0 || h.states[n-1].Count != count {
		h.states = append(h.states, States{Duration(now), count})
	}
}
