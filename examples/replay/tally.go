package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// tally counts what became of the routes of one case.
type tally struct {
	origin
	sampler
	routes map[scenario.ID]*routeTally
	order  []*routeTally
	events []event // of all routes, in the order in which they were told
	more   int     // events that are not kept
	end    time.Duration
}

// maxEvents is how many changes are kept for one case.
const maxEvents = 10_000

// event is a change of a route.
type event struct {
	at    time.Duration // since the beginning
	route *routeTally
	what  replay.Transition
}

// refusal is a kind of refusals.
type refusal struct {
	reason classify.Reason
	domain cc.Domain
}

// routeTally is one route's.
type routeTally struct {
	label, pair string
	answers     [cc.Avoid + 1]uint64
	refusals    map[refusal]uint64
	delivered   int64
	states      [cc.Probing + 1]time.Duration
	least, most int64
	area        float64 // window times time
	made        time.Duration
	lasted      time.Duration // when it was last looked at
	last        replay.Shown
	before      struct { // of earlier routes of that name
		refusals  map[refusal]uint64
		delivered int64
	}
	state cc.State
	since time.Duration
}

func newTally() *tally { return &tally{routes: map[scenario.ID]*routeTally{}} }

// next begins a case.
func (t *tally) next() {
	clear(t.routes)
	t.order, t.events, t.more, t.sampler = nil, nil, 0, sampler{}
}

func (t *tally) decided(d replay.Decision) {
	if r := t.routes[d.Route]; r != nil {
		r.answers[d.Answer]++
	}
}

func (t *tally) passed(s *replay.Step) {
	if at := t.origin.since(s.At); t.due(at) {
		t.look(s, at)
	}
}

// step takes in a step.
func (t *tally) step(s *replay.Step) {
	t.origin.step(s)
	at := t.origin.since(s.At)
	switch s.Statement.Kind {
	case scenario.Route:
		t.add(s, at)
	case scenario.CloseRoute, scenario.Forget, scenario.Close:
		t.look(s, at) // the last time
	}
	if t.due(at) || s.End {
		t.look(s, at)
	}
	for _, change := range s.Transitions {
		r := t.routes[scenario.NewID(change.Route)]
		if r == nil {
			continue
		}
		when := t.origin.since(change.At)
		if change.Notice == cc.NoNotice {
			r.enter(change.To, when)
		}
		if len(t.events) < maxEvents {
			t.events = append(t.events, event{when, r, change})
		} else {
			t.more++
		}
	}
	if s.End {
		t.end = at
		for _, r := range t.order {
			r.enter(r.state, at)
		}
	}
}

// add takes in a route that was made.
func (t *tally) add(s *replay.Step, at time.Duration) {
	id := s.Statement.Values("route")[0].ID()
	now, known := s.Route(id)
	if !known || t.routes[id] != nil {
		return
	}
	r := &routeTally{
		label: id.String(), pair: now.Pair.String(), refusals: map[refusal]uint64{},
		last: now, state: now.Health.State, since: at, least: now.WindowBytes, most: now.WindowBytes, made: at, lasted: at,
	}
	r.before.refusals = map[refusal]uint64{}
	t.routes[id] = r
	t.order = append(t.order, r)
}

// enter notes that a state begins.
func (r *routeTally) enter(to cc.State, at time.Duration) {
	r.states[r.state] += max(0, at-r.since)
	r.state, r.since = to, max(at, r.since)
}

// look looks at all routes.
func (t *tally) look(s *replay.Step, at time.Duration) {
	for now := range s.Routes() {
		if r := t.routes[now.Route]; r != nil {
			r.look(now, at)
		}
	}
}

func (r *routeTally) look(now replay.Shown, at time.Duration) {
	if now.Flow.DeliveredBytes < r.last.Flow.DeliveredBytes || sum64(now) < sum64(r.last) { // another route of that name
		r.before.delivered += r.last.Flow.DeliveredBytes
		for _, c := range r.last.Refusals {
			r.before.refusals[refusal{c.Reason, c.Domain}] += c.Count
		}
	}
	r.area += float64(r.last.WindowBytes) * float64(at-r.lasted)
	r.lasted = at
	r.last = now
	r.least, r.most = min(r.least, now.WindowBytes), max(r.most, now.WindowBytes)
	r.delivered = r.before.delivered + now.Flow.DeliveredBytes
	for k, n := range r.before.refusals {
		r.refusals[k] = n
	}
	for _, c := range now.Refusals {
		k := refusal{c.Reason, c.Domain}
		r.refusals[k] = r.before.refusals[k] + c.Count
	}
}

func sum64(now replay.Shown) (n uint64) {
	for _, c := range now.Refusals {
		n += c.Count
	}
	return n
}

// mean returns the mean window over time.
func (r *routeTally) mean() int64 {
	if lived := r.lasted - r.made; lived > 0 {
		return int64(r.area / float64(lived))
	}
	return r.last.WindowBytes
}

// onlyObserves reports whether refusals were counted and none was answered.
func (r *routeTally) onlyObserves() bool {
	return len(r.refusals) > 0 && r.answers[cc.Defer]+r.answers[cc.Avoid] == 0
}

// total sums routes up.
func (t *tally) total() *routeTally {
	all := &routeTally{label: "all routes", refusals: map[refusal]uint64{}}
	for _, r := range t.order {
		for i, n := range r.answers {
			all.answers[i] += n
		}
		for k, n := range r.refusals {
			all.refusals[k] += n
		}
		all.delivered += r.delivered
		for i, d := range r.states {
			all.states[i] += d
		}
	}
	return all
}

// kinds returns the kinds of refusals of several, in order.
func kinds(of ...*routeTally) (all []refusal) {
	for _, r := range of {
		for k := range r.refusals {
			if !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	slices.SortFunc(all, func(a, b refusal) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(a.domain, b.domain))
	})
	return all
}

func (k refusal) String() string {
	if k.domain == cc.NoDomain {
		return k.reason.String()
	}
	return k.reason.String() + " of the " + k.domain.String()
}
