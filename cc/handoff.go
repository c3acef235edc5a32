package cc

import (
	"fmt"

	"github.com/rdmagate/rdmagate/taskstate"
)

// Handoff moves a reservation that was not posted yet to this route: it gives the
// bytes back to where they are and acquires as many here, on generation gen. The
// answer is that of [Route.TryAcquire]; a refusal leaves the permit free.
//
//	d := spare.Handoff(&s.permit, gen, &s.task) // the endpoint of the first rail is gone
//
// The permit must be held and not posted, by a route of the same controller (a posted
// work request stays where it is until it is settled). A breach gives a Decision with
// Err set, and so does a generation that is not there yet; then nothing is changed.
func (r *Route) Handoff(p *Permit, gen Generation, task *taskstate.Task) Decision {
	if !enabled || r.mode == Off {
		p.calls = off
		return Decision{Ruling: Ruling{Answer: Admit}}
	}
	if r.ctl.rec != nil && p.calls != nested {
		return r.recordHandoff(p, gen, task)
	}
	cur := r.current.Load()
	switch {
	case p.hold == free:
		return Decision{Err: fmt.Errorf("cc: Handoff to %s: %w or is posted already; acquire it here", r.pair, ErrNotHeld)}
	case p.gen.route.ctl != r.ctl:
		return Decision{Err: fmt.Errorf("cc: Handoff from %s to %s: %w; give it back with Unposted and acquire it here", p.gen.route.pair, r.pair, ErrForeign)}
	}
	if err := r.checkGeneration("Handoff", cur, gen); err != nil {
		return Decision{Err: err}
	}
	n := p.bytes
	p.Unposted()
	return r.tryAcquire(p, gen, n, task)
}
