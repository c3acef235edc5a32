package cc

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// Route is the controller's object for a pair. All workers of a process share it.
// It is safe for concurrent use. Get one from [Controller.Route].
type Route struct {
	// Routes are many and most are idle: what only a busy or troubled one needs is
	// behind pointers. What posters write, what pollers write, and what both read for
	// each slice lie on different cache lines, also of two routes that are neighbours in
	// memory. The order of the fields sees to that: seldom written ones lie between.
	flight

	line atomic.Pointer[line] // who stands in line for the route's room; nil if nobody does
	none generation           // current before the first Renew

	// What both read for each slice.
	current    atomic.Pointer[generation]
	mode       Mode
	calls      calls
	longSample atomic.Uint32 // nanoseconds; from this delay on every completion is measured
	peer       *rail.Peer    // what the table knows of the pair's peer
	seen       atomic.Uint64 // the peer's version that the state takes into account
	health     health

	meter      atomic.Pointer[meter] // nil until the first slice
	refusals   refusals
	ctl        *Controller
	device     *device
	next       *Route // of those in one bucket of the index
	nextOfPeer *Route // of those to one peer
	id         uint32 // in recordings
	inDevice   int32  // place in the device's list of routes; the device's lock guards it
	pair       rail.Pair
}

// Pair returns the pair that the route stands for.
func (r *Route) Pair() rail.Pair { return r.pair }

// InFlight returns the bytes that permits have reserved on the route.
func (r *Route) InFlight() int64 { return r.flight.inFlight() }

// Renew says that a new endpoint was built and makes it current. It succeeds only
// while old is the current generation (0 before the first) and returns the next
// number, so of several workers that rebuild at once one wins; the others get an
// error that wraps [ErrStaleGeneration] and the current number.
//
// qps names the endpoint's QPs. Asynchronous events find the generation through
// them; those of the old endpoint are forgotten. Renew releases no bytes: permits
// of the old generation stay open until they are settled. It keeps the window.
func (r *Route) Renew(old Generation, qps []QP) (Generation, error) {
	if r.ctl.rec != nil {
		return r.recordRenew(old, qps)
	}
	return r.renew(old, qps)
}

func (r *Route) renew(old Generation, qps []QP) (Generation, error) {
	next, err := newGeneration(r, old+1, qps)
	if err != nil {
		return 0, err
	}
	if r.mode == Off {
		return next.number, nil
	}
	c := r.ctl
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, fmt.Errorf("cc: Renew of %s: %w", r.pair, ErrClosed)
	}
	cur := r.current.Load()
	if cur.number == closedGeneration {
		return 0, fmt.Errorf("cc: Renew of %s: %w; ask the controller for the pair's route again", r.pair, ErrClosed)
	}
	if cur.number != old {
		return cur.number, fmt.Errorf("cc: Renew of generation %d of %s: %d is current: %w; post on that one, or renew it",
			old, r.pair, cur.number, ErrStaleGeneration)
	}
	if c.rec != nil {
		next.gate.Store(gateRecorded)
	}
	r.device.qps.swap(cur, next)
	c.meetPollers(next)
	r.current.Store(next)
	r.outdated.Store(r.flight.inFlight())
	r.wake()
	return next.number, nil
}

// evidence describes the route to a task.
func (r *Route) evidence(reason classify.Reason, now time.Duration) *taskstate.Evidence {
	return &taskstate.Evidence{
		Reason:   reason,
		Scope:    classify.ScopeRoute,
		Pair:     &r.pair,
		At:       now,
		Window:   taskstate.Seen(r.window.Load()),
		InFlight: taskstate.Seen(r.InFlight()),
	}
}
