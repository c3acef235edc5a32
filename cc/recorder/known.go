package recorder

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// Setting is one number of a configuration.
type Setting struct {
	// Name is that of the field, such as min_window_bytes.
	Name string
	// Value is a string (a word), an int64, a time.Duration or a bool.
	Value any
}

// known is what a recording begins with that does not begin with the controller: the
// configuration, and the routes and pollers that there are. One that was closed is
// forgotten some time after the ring has gone round once more.
type known struct {
	mu       sync.Mutex
	settings []Setting
	attached bool
	began    time.Duration
	routes   map[uint32]*knownRoute
	pollers  map[uint32]*knownPoller
	// Beyond so many it is time to look which were closed: not for each new one.
	mostRoutes, mostPollers int
}

// span says which records speak of a route or poller: from the one of the call that made
// it to that of the one that closed it.
type span struct {
	first, last uint64
	closed      bool
}

func (s *span) end(last uint64) {
	if !s.closed {
		s.closed, s.last = true, last
	}
}

// knownRoute is a route with its state and its latest endpoints.
type knownRoute struct {
	Route
	span
	gen     uint64  // the current generation
	renewed []Renew // the latest endpoints, up to the current one
	state   uint8
}

// mostEndpoints is how many endpoints are known of a route: a ring may hold more than one
// Renew of it, and a recording begins with the endpoint that was current there.
const mostEndpoints = 8

// renew takes in an endpoint.
func (r *knownRoute) renew(c Renew) {
	r.gen = c.New
	r.renewed = append(r.renewed[max(0, len(r.renewed)+1-mostEndpoints):], c)
}

// qps returns those of the current generation; none if they are not known any more.
func (r *knownRoute) qps() []QP {
	for _, c := range r.renewed {
		if c.New == r.gen {
			return c.QPs
		}
	}
	return nil
}

type knownPoller struct {
	Poller
	span
}

// head is what a recording begins with.
type head struct {
	settings         []Setting
	began            time.Duration
	serial, complete bool
	routes           []knownRoute
	pollers          []knownPoller
}

func (k *known) attach(settings []Setting) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.attached {
		return ErrAttached
	}
	k.settings, k.attached = settings, true
	return nil
}

func (k *known) begin(now time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.began = now
}

// route takes in a route that record number first speaks of, and forgets those that were
// closed before the oldest record.
func (k *known) route(c Route, first, oldest uint64) {
	if c.Number == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.routes) > k.mostRoutes {
		maps.DeleteFunc(k.routes, func(_ uint32, r *knownRoute) bool { return r.closed && r.last < oldest })
		k.mostRoutes = 2 * len(k.routes)
	}
	k.routes[c.Number] = &knownRoute{Route: c, span: span{first: first}}
}

func (k *known) poller(c Poller, first, oldest uint64) {
	if c.Number == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.pollers) > k.mostPollers {
		maps.DeleteFunc(k.pollers, func(_ uint32, p *knownPoller) bool { return p.closed && p.last < oldest })
		k.mostPollers = 2 * len(k.pollers)
	}
	k.pollers[c.Number] = &knownPoller{Poller: c, span: span{first: first}}
}

// change changes what is known of a route.
func (k *known) change(number uint32, f func(*knownRoute)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.routes[number]; r != nil {
		f(r)
	}
}

func (k *known) closeRoute(number uint32, last uint64) {
	k.change(number, func(r *knownRoute) { r.end(last) })
}

func (k *known) closePoller(number uint32, last uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.pollers[number]; p != nil {
		p.end(last)
	}
}

// head returns what a recording begins with whose first record is begin; without one if
// there is no controller yet.
func (k *known) head(begin uint64) *head {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.attached {
		return nil
	}
	h := &head{settings: k.settings, began: k.began, complete: begin == 0}
	shows := func(s span) bool { return s.first < begin && (!s.closed || s.last >= begin) }
	for _, r := range k.routes {
		if shows(r.span) {
			h.routes = append(h.routes, *r)
		}
	}
	for _, p := range k.pollers {
		if shows(p.span) {
			h.pollers = append(h.pollers, *p)
		}
	}
	slices.SortFunc(h.routes, func(a, b knownRoute) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortFunc(h.pollers, func(a, b knownPoller) int { return cmp.Compare(a.Number, b.Number) })
	return h
}

// before makes the time and the routes what they were before these records.
func (h *head) before(records []copied) {
	for i := range records {
		if at, timed := records[i].record.time(); timed {
			h.began = at
			break
		}
	}
	at := map[uint32]*knownRoute{}
	for i := range h.routes {
		at[h.routes[i].Number] = &h.routes[i]
	}
	for i := len(records) - 1; i >= 0; i-- {
		rec := &records[i].record
		switch r := at[rec.number()]; {
		case r == nil:
		case rec.kind() == toldKind:
			r.state = rec.told().From
		case rec.kind() == renewKind && Fault(rec.octet(1)) == NoFault:
			r.gen = rec[1]
		}
	}
}
