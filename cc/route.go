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
	ctl     *Controller
	pair    rail.Pair
	device  *device
	mode    Mode
	current atomic.Pointer[generation]
	none    *generation // current before the first Renew
	domain  domain
	refusals
}

// Pair returns the pair that the route stands for.
func (r *Route) Pair() rail.Pair { return r.pair }

// Renew says that a new endpoint was built and makes it current. It succeeds only
// while old is the current generation (0 before the first) and returns the next
// number, so of several workers that rebuild at once one wins; the others get an
// error that wraps [ErrStaleGeneration] and the current number.
//
// qps names the endpoint's QPs. Asynchronous events find the generation through
// them; those of the old endpoint are forgotten. Renew releases no bytes: permits
// of the old generation stay open until they are settled. It keeps the window.
func (r *Route) Renew(old Generation, qps []QP) (Generation, error) {
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
		return 0, ErrClosed
	}
	cur := r.current.Load()
	if cur.number != old {
		return cur.number, fmt.Errorf("cc: Renew of generation %d of %s: %d is current: %w; post on that one, or renew it",
			old, r.pair, cur.number, ErrStaleGeneration)
	}
	if err := c.qps.swap(r.pair.Local, cur, next); err != nil {
		return 0, err
	}
	r.current.Store(next)
	return next.number, nil
}

// TryAcquire asks for n bytes on this route, for a work request that is about to
// be posted on an endpoint of generation gen. It reserves all of them in the route
// and in its device, or none, and never blocks.
//
// n is 1 to [MaxBytes]; the permit must be free. A breach of either gives a
// Decision with Err set, and nothing is changed. A slice larger than a window is
// admitted when that window is empty. The answer may be a spurious Defer when
// reservations race.
//
// task receives the evidence; nil if there is none. A retry of a slice uses the
// same permit, so that what blocked it before is resolved.
//
// Specification: admission boundary; control-plane matrix, tryAcquire rows.
func (r *Route) TryAcquire(p *Permit, gen Generation, n int64, task *taskstate.Task) Decision {
	if r.mode == Off {
		return Decision{Ruling: Ruling{Answer: Admit}}
	}
	return r.tryAcquire(p, gen, n, task)
}

func (r *Route) tryAcquire(p *Permit, gen Generation, n int64, task *taskstate.Task) Decision {
	if uint64(n-1) >= MaxBytes {
		return Decision{Err: fmt.Errorf("cc: TryAcquire of %d bytes: must be 1 to %d; a slice has the length of its work request", n, int64(MaxBytes))}
	}
	state := p.state.Load()
	if state&stateFlags != 0 {
		return Decision{Err: fmt.Errorf("cc: TryAcquire: %w: use %d has %d bytes on %s; settle it first, or use another permit", ErrHeld, use(state), p.bytes, p.gen.route.pair)}
	}
	cur := r.current.Load()
	if cur.number != gen || cur.retired.Load() || gen == 0 {
		if r.mode == Enforce || gen > cur.number || cur.number == closedGeneration {
			return r.refuseGeneration(cur, gen)
		}
		r.count(reasonOf(cur, gen), NoDomain)
		cur = r.none // settles bytes and changes nothing else
	}
	if d := r.reserve(n); d != NoDomain {
		return r.refuseWindow(p, d, task)
	}
	state = nextUse(state)
	p.gen, p.bytes, p.qp = cur, n, nil
	p.slice.Admitted(task, uint64(gen), false)
	p.state.Store(state | stateHeld)
	return Decision{Ruling: Ruling{Answer: Admit}, Use: use(state)}
}

// reserve takes n bytes in both domains or in none, and names the one that
// refused. In observe mode it always takes them.
func (r *Route) reserve(n int64) Domain {
	if r.mode == Observe {
		routeFits, deviceFits := r.domain.force(n), r.device.domain.force(n)
		if !routeFits {
			r.count(classify.ReasonByteWindow, RouteDomain)
		} else if !deviceFits {
			r.count(classify.ReasonByteWindow, DeviceDomain)
		}
		return NoDomain
	}
	if !r.domain.reserve(n) {
		return RouteDomain
	}
	if !r.device.domain.reserve(n) {
		r.domain.release(n)
		return DeviceDomain
	}
	return NoDomain
}

func (r *Route) release(n int64) {
	r.device.domain.release(n)
	r.domain.release(n)
}

// refuseGeneration answers an attempt on an endpoint that is not current, or that
// a counted deadline retired. The task's state stays as it is.
func (r *Route) refuseGeneration(cur *generation, gen Generation) Decision {
	switch {
	case cur.number == closedGeneration:
		return Decision{Err: fmt.Errorf("cc: TryAcquire on %s: %w", r.pair, ErrClosed)}
	case gen > cur.number:
		return Decision{Err: fmt.Errorf("cc: TryAcquire on generation %d of %s: the newest is %d; use the number that Renew returned", gen, r.pair, cur.number)}
	}
	reason := reasonOf(cur, gen)
	r.count(reason, NoDomain)
	return Decision{Ruling: Ruling{Answer: Defer, Reason: reason}}
}

// reasonOf says why generation gen may not post while cur is current.
func reasonOf(cur *generation, gen Generation) classify.Reason {
	if cur.number == gen {
		return classify.ReasonNeedsRenew
	}
	return classify.ReasonStaleGeneration
}

// refuseWindow answers a slice that does not fit a window now.
func (r *Route) refuseWindow(p *Permit, d Domain, task *taskstate.Task) Decision {
	r.count(classify.ReasonByteWindow, d)
	if task != nil && !p.slice.Waits(task, classify.ReasonByteWindow) {
		p.slice.Refused(task, r.evidence(classify.ReasonByteWindow, r.ctl.now()))
	}
	return Decision{Ruling: Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: d}}
}

// evidence describes the route to a task.
func (r *Route) evidence(reason classify.Reason, now time.Duration) *taskstate.Evidence {
	return &taskstate.Evidence{
		Reason:   reason,
		Scope:    classify.ScopeRoute,
		Pair:     &r.pair,
		At:       now,
		Window:   taskstate.Seen(r.domain.window.Load()),
		InFlight: taskstate.Seen(r.domain.inFlight.Load()),
	}
}
