package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// State is what a controller held when somebody looked. It can be written as JSON and
// read back.
type State struct {
	// Now is the reading of the controller's clock that the other times belong to.
	Now time.Duration `json:"now_ns"`
	// Snapshot has all devices, and of the routes those that come first by [Compare].
	cc.Snapshot
	// RoutesByState counts all routes; states that no route is in are left out.
	RoutesByState map[cc.State]int `json:"routes_by_state"`
	// Transitions has the latest ones, the latest first, and Told is how many there
	// were, ever.
	Transitions []cc.Transition `json:"transitions"`
	Told        uint64          `json:"transitions_told"`
	// Admissions is how many slices were admitted, ever; nil where nobody counts them.
	Admissions *uint64 `json:"admissions,omitempty"`
}

// RouteCount returns how many routes the controller has, shown or not.
func (s *State) RouteCount() (n int) {
	for _, count := range s.RoutesByState {
		n += count
	}
	return n
}

// attention is the order in which states need it.
var attention = [...]int{cc.Quarantined: 0, cc.Probing: 1, cc.Suspect: 2, cc.Congested: 3, cc.Healthy: 4}

// Compare orders routes by the attention that they need: QUARANTINED, PROBING, SUSPECT,
// CONGESTED, HEALTHY, and within a state those under high pressure first, then those in
// use, then those that are idle. Routes that are equal in all that are in the order of
// their pairs, so that a list of them does not jump about.
func Compare(a, b cc.RouteSnapshot) int {
	return cmp.Or(
		cmp.Compare(attention[a.Health.State], attention[b.Health.State]),
		cmp.Compare(ease(a), ease(b)),
		a.Pair.Compare(b.Pair),
	)
}

// ease is 0 for a route under high pressure, 2 for an idle one, 1 for others.
func ease(r cc.RouteSnapshot) int {
	switch {
	case r.Flow.Pressure == cc.PressureHigh:
		return 0
	case r.InFlightBytes == 0 && (r.Flow.Pressure == cc.PressureIdle || r.Flow.DeliveredBytes == 0):
		return 2
	}
	return 1
}

// State looks at the controller and returns up to so many of its routes and transitions.
func (h *Handler) State(routes, transitions int) State {
	// The clock is read last: nothing in the state is later.
	s := State{Snapshot: h.Controller.Snapshot(), RoutesByState: map[cc.State]int{}, Transitions: []cc.Transition{}}
	for _, r := range s.Routes {
		s.RoutesByState[r.Health.State]++
	}
	slices.SortFunc(s.Routes, Compare)
	s.Routes = s.Routes[:min(max(routes, 0), len(s.Routes))]
	if h.Recent != nil {
		s.Transitions, s.Told = h.Recent.Latest(transitions)
	}
	if h.Admissions != nil {
		n := h.Admissions()
		s.Admissions = &n
	}
	s.Now = h.Controller.Now()
	return s
}
