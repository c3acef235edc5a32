package cc

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

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
// same permit, so that what blocked it before is resolved; a slice that is given up
// for good leaves its task as it was, until [taskstate.Task.NextAttempt].
//
// In mode off it admits whatever it is given and checks nothing: develop in observe
// or enforce.
//
// Specification: admission boundary; control-plane matrix, tryAcquire rows.
func (r *Route) TryAcquire(p *Permit, gen Generation, n int64, task *taskstate.Task) Decision {
	if !enabled || r.mode == Off {
		p.calls = off
		return Decision{Ruling: Ruling{Answer: Admit}}
	}
	return r.tryAcquire(p, gen, n, task)
}

func (r *Route) tryAcquire(p *Permit, gen Generation, n int64, task *taskstate.Task) Decision {
	cur := r.current.Load()
	if cur.number != gen || cur.gate.Load() != 0 || r.stale() || uint64(n-1) >= MaxBytes || p.taken() {
		return r.acquireOtherwise(p, cur, gen, n, task)
	}
	// One attempt of takeLeased, written out.
	f := &r.flight
	acquired := f.leasedAcquired.Load()
	after := held(acquired, f.seenSettled.Load()) + n
	if after > f.limit.Load() || acquired&closedBit != 0 ||
		!f.leasedAcquired.CompareAndSwap(acquired, acquired+units(n)) {
		return r.acquireAgain(p, cur, gen, n, task)
	}
	if after > f.limit.Load() {
		r.rollBack(n)
		return r.acquireSlowly(p, cur, gen, n, task, false)
	}
	return p.admit(cur, n, task, false, 0)
}

// acquireAgain is for who raced, or found no room by what was settled when a poster
// last looked.
func (r *Route) acquireAgain(p *Permit, cur *generation, gen Generation, n int64, task *taskstate.Task) Decision {
	if r.fullAgain(p, n, task) {
		return Decision{Ruling: Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}}
	}
	if !r.takeLeased(n) {
		return r.acquireSlowly(p, cur, gen, n, task, false)
	}
	return p.admit(cur, n, task, false, 0)
}

// fullAgain counts the refusal of a slice that met the full window of a healthy
// route before, or has no task to know of it, and reports whether that is so. What
// nobody else has to hear of is done in a few loads and one add.
func (r *Route) fullAgain(p *Permit, n int64, task *taskstate.Task) bool {
	window := r.window.Load()
	if h := r.flight.atMost(); h+n <= window || n > window || r.inLine() ||
		r.mode != Enforce || r.state() != Healthy || task != nil && !p.slice.Waits(task, classify.ReasonByteWindow) {
		return false
	}
	r.full.raise()
	r.refusals.counters().routeWindow.Add(1)
	return true
}

// acquireSlowly sorts out what the fast path met: a wrong call, an endpoint that
// is not current, a window or a lease that n does not fit.
func (r *Route) acquireSlowly(p *Permit, cur *generation, gen Generation, n int64, task *taskstate.Task, probe bool) Decision {
	if err := r.check(p, cur, gen, n); err != nil {
		return Decision{Err: err}
	}
	r.sync()
	if reason := cur.refuses(gen); reason != classify.ReasonNone {
		if reason == classify.ReasonNeedsRenew && !probe && r.mode == Enforce && r.state().barred() {
			if d, early := r.tooEarly(p, task, r.ctl.now()); early {
				return d // nobody builds an endpoint to learn that the pair is paused
			}
		}
		r.refusals.count(reason, NoDomain)
		if r.mode == Enforce {
			return Decision{Ruling: Ruling{Answer: Defer, Reason: reason}}
		}
		cur = &r.none // outcomes give bytes back and change nothing else
	}
	counted := cur.number == 0 // in observe mode a denial is counted once
	switch state := r.state(); {
	case counted:
	case state == Suspect:
		r.lapseSuspicion()
		if !probe && r.leftToProber() {
			if counted = true; r.mode == Enforce {
				return r.refuse(p, task, suspected)
			}
			r.refusals.count(suspected.Reason, NoDomain)
		}
	case state.barred():
		counted = true
		if d, started := r.acquireBarred(p, cur, n, task, probe); started || r.mode == Enforce {
			return d
		}
	}
	leased, refused := r.reserve(p, n)
	r.noteFull(refused)
	switch {
	case refused == NoDomain:
	case r.mode == Enforce:
		r.stake(p, n, refused)
		return r.refuseWindow(p, refused, task)
	case r.InFlight() > MaxBytes-n:
		return Decision{Err: fmt.Errorf("cc: TryAcquire of %d bytes on %s, where %d are in flight: together more than %d; settle some first", n, r.pair, r.InFlight(), int64(MaxBytes))}
	default:
		if !counted {
			why := r.windowRuling(refused)
			r.refusals.count(why.Reason, refused)
		}
		r.takeAnyway(n)
	}
	r.enter()
	if r.inLine() { // then nobody is admitted by the fast path
		r.endClaim(p)
	}
	if cur == &r.none && r.current.Load() != cur {
		r.outdated.Add(n)
	}
	return p.admit(cur, n, task, !leased, 0)
}

// takeAnyway takes n bytes directly, whether they fit or not, as observe mode does.
func (r *Route) takeAnyway(n int64) {
	r.closeLease()
	r.flight.directAcquired.Add(units(n))
	if d := r.device; d.granted.Add(n) > d.window.Load() && d.leases.Load() != 0 {
		d.locked(d.recall) // what is over the window shows as refusals only without leases
	}
}

// noteFull remembers which window was the limit: only such a window may grow.
func (r *Route) noteFull(refused Domain) {
	switch refused {
	case RouteDomain:
		r.full.raise()
	case DeviceDomain:
		r.device.full.raise()
	}
}

// check returns what is wrong with a call.
func (r *Route) check(p *Permit, cur *generation, gen Generation, n int64) error {
	switch {
	case n < 1 || n > MaxBytes:
		return fmt.Errorf("cc: TryAcquire of %d bytes: must be 1 to %d; a slice has the length of its work request", n, int64(MaxBytes))
	case p.taken():
		return fmt.Errorf("cc: TryAcquire: %w: it has %d bytes on %s; settle it first, or use another permit", ErrHeld, p.bytes, p.gen.route.pair)
	}
	return r.checkGeneration("TryAcquire", cur, gen)
}

// checkGeneration returns what is wrong with a call that names a generation.
func (r *Route) checkGeneration(call string, cur *generation, gen Generation) error {
	switch {
	case cur.number == closedGeneration:
		return fmt.Errorf("cc: %s on %s: %w", call, r.pair, ErrClosed)
	case gen > cur.number:
		return fmt.Errorf("cc: %s on generation %d of %s: the newest is %d; use the number that Renew returned", call, gen, r.pair, cur.number)
	}
	return nil
}

// refuses says why generation gen may not post while cur is current.
func (cur *generation) refuses(gen Generation) classify.Reason {
	switch {
	case cur.number != gen:
		return classify.ReasonStaleGeneration
	case gen == 0 || cur.retired():
		return classify.ReasonNeedsRenew
	}
	return classify.ReasonNone
}

// takeLeased takes n bytes on the route's lease.
func (r *Route) takeLeased(n int64) bool {
	taken, rollBack := r.flight.takeLeased(n)
	if rollBack {
		r.rollBack(n)
	}
	return taken
}

// rollBack gives n bytes back that were taken on the lease while its limit fell.
func (r *Route) rollBack(n int64) {
	r.flight.undelivered.Add(n)
	r.settle(n, false)
}

// reserve takes n bytes from both windows, on the lease or directly, or from none,
// and names the window that refused, or in which an earlier claim takes precedence.
func (r *Route) reserve(p *Permit, n int64) (leased bool, refused Domain) {
	f := &r.flight
	if h := f.inFlight(); h != 0 && h+n > r.window.Load() {
		return false, RouteDomain
	}
	if d := r.yields(p); d != NoDomain {
		return false, d
	}
	if r.growLease(n) && r.takeLeased(n) {
		return true, NoDomain
	}
	r.closeLease()
	if !f.takeDirect(n, r.window.Load()) {
		return false, RouteDomain
	}
	refused = r.cover(n)
	if refused != NoDomain {
		f.undelivered.Add(n)
		if f.directSettled.Add(units(n))&waitBit != 0 {
			r.roomMadeBy(p)
		}
	}
	return false, refused
}

// cover gets n bytes of the device for what takeDirect took, and names the domain
// that refuses if there is none. The lease may have opened, and closed again, since
// takeDirect looked at it: look again, now that whoever opens it sees these bytes.
func (r *Route) cover(n int64) Domain {
	full := func() bool { return r.flight.open() || r.flight.inFlight() > max(n, r.window.Load()) }
	switch {
	case full():
		return RouteDomain
	case !r.device.take(n) && !r.device.takeAfterRecall(n):
		return DeviceDomain
	case full(): // the window fell while the device was waited for
		r.device.giveBack(n)
		return RouteDomain
	}
	return NoDomain
}

// refuseWindow answers a slice that does not fit a window now.
func (r *Route) refuseWindow(p *Permit, d Domain, task *taskstate.Task) Decision {
	return r.refuse(p, task, r.windowRuling(d))
}

// windowRuling says why a full window of that domain is full.
func (r *Route) windowRuling(d Domain) Ruling {
	why := Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: d}
	switch r.state() {
	case Congested:
		why.Reason = classify.ReasonCongestionFeedback
	case Suspect:
		if d == RouteDomain && (r.ctl.cfg.SuspectWindowBytes > 0 || r.health.kept.Load()) {
			why.Reason, why.Hint = classify.ReasonRouteSuspect, Divert
		}
	}
	return why
}

// refuse counts a refusal and makes it the task's evidence. In observe mode it is
// only counted.
func (r *Route) refuse(p *Permit, task *taskstate.Task, why Ruling) Decision {
	r.refusals.count(why.Reason, why.Domain)
	if task != nil && r.mode == Enforce && !p.slice.Waits(task, why.Reason) {
		now := r.ctl.now()
		ev := r.evidence(why.Reason, now)
		if why.Answer == Avoid {
			due := time.Duration(r.health.record.userDue.Load())
			ev.Cooldown = taskstate.Seen(max(0, due-now))
		}
		p.slice.Refused(task, ev)
	}
	return Decision{Ruling: why}
}
