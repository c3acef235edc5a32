package recorder

import (
	"cmp"
	"slices"
	"sync"
)

// Setting is one number of a configuration.
type Setting struct {
	// Name is that of the field, such as min_window_bytes.
	Name string
	// Value is a string (a word), an int64, a time.Duration or a bool.
	Value any
}

// known is what a recording begins with that does not begin with the controller: the
// configuration, and the routes that there are. A route that was closed is forgotten when
// the ring has gone round once more.
type known struct {
	mu       sync.Mutex
	settings []Setting
	attached bool
	routes   map[uint32]*knownRoute
}

// knownRoute is a route with its latest endpoint.
type knownRoute struct {
	Route
	renewed Renew
	closed  bool
	last    uint64 // the next record when it was closed
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

func (k *known) route(c Route, g *ring) {
	if c.Number == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	oldest := g.oldest(g.cursor.Load())
	for n, r := range k.routes {
		if r.closed && r.last < oldest {
			delete(k.routes, n)
		}
	}
	k.routes[c.Number] = &knownRoute{Route: c}
}

func (k *known) renew(c Renew) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.routes[c.Route]; r != nil && c.Fault == NoFault {
		r.renewed = c
	}
}

func (k *known) close(number uint32, g *ring) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.routes[number]; r != nil && !r.closed {
		r.closed, r.last = true, g.cursor.Load()
	}
}

// all returns the configuration and the routes, oldest first.
func (k *known) all() (attached bool, settings []Setting, routes []knownRoute) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.routes {
		routes = append(routes, *r)
	}
	slices.SortFunc(routes, func(a, b knownRoute) int { return cmp.Compare(a.Number, b.Number) })
	return k.attached, k.settings, routes
}
