package cc

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// Permit is the reservation of one slice's bytes in a device and a route. Embed
// one in the caller's slice; the zero value is free. It must not be copied, and a
// retry of the slice uses the same one.
//
// Up to Posting a permit belongs to its owner alone: one goroutine at a time calls
// TryAcquire, Posting and Unposted, and nobody else can settle it. From Posting on,
// Settle may come from any goroutine at any time, also several at once. The call
// that returns [Released] hands the permit on: acquire again only after it has
// returned.
//
// A permit has two edges, and each is taken once, whoever races. The verdict edge
// ends the attempt: the first of completion, counted deadline and cancel. The
// release edge gives the bytes back: the first of completion, teardown and
// unposted. What comes later does nothing and says so.
//
// Specification: controller responsibilities, "a terminal path releases each
// reservation exactly once".
type Permit struct {
	_ noCopy
	// state is the use number above the flags. It alone is shared: the rest is
	// written by the owner before Posting publishes it, and read by whoever took
	// an edge.
	state    atomic.Uint64
	gen      *generation
	bytes    int64
	postedAt time.Duration
	trial    uint64 // the route's trial that this is; 0 if it is none
	use      Use
	hold     hold
	calls    calls
	direct   bool // the device's bytes are the permit's own, not from a lease
	probe    bool // it verifies a SUSPECT route
	// What a success reads ends within slice, a cache line from the start.
	slice  taskstate.Slice
	qp     *qp
	poller atomic.Pointer[Poller] // written only when it changes
	// evidence is the pair's evidence number at the admission: what failed by then
	// failed before this was posted.
	evidence uint64
	claim    uint64 // the number of the slice's latest place in line
}

const (
	statePosted    = 1 << iota // the work request may be with the hardware
	stateDeadline              // the verdict edge was taken by a deadline
	stateCancelled             // the verdict edge was taken by a cancel
	stateBusy                  // a deadline is being recorded
	statePending               // a completion or teardown came while busy
	stateSucceeded             // and it was a success
	stateFlags     = 1<<iota - 1
	useShift       = 8
)

// Edges says what a call of [Permit.Settle] took. 0 is a no-op: the edges were
// taken before, the use number is an old one, or the signal takes none.
type Edges uint8

const (
	// Ended: this call ended the attempt; its verdict is the attempt's.
	Ended Edges = 1 << iota
	// Released: this call gave the bytes back, and the permit is free.
	Released
)

// String returns the names of the edges, such as "ended+released".
func (e Edges) String() string {
	return [...]string{"none", "ended", "released", "ended+released"}[e&(Ended|Released)]
}

var (
	cancel   = classify.Of(classify.SignalCancel)
	teardown = classify.Of(classify.SignalTeardown)
)

// seed spreads the first use numbers of new permits, so that a slot whose permit
// was zeroed does not start again with the numbers of its former owner.
var seed atomic.Uint32

// Held returns the bytes that the permit has reserved; 0 if it is free. It is for
// the owner.
func (p *Permit) Held() int64 {
	if !p.taken() {
		return 0
	}
	return p.bytes
}

// taken reports whether the permit holds bytes, posted or not.
func (p *Permit) taken() bool { return p.hold != free || p.state.Load()&stateFlags != 0 }

// admit makes the permit hold n bytes that were just reserved.
func (p *Permit) admit(g *generation, n int64, task *taskstate.Task, direct bool, trial uint64) Decision {
	if p.use == 0 {
		p.use = Use(seed.Add(0x9e3779b9)) &^ recordedUse
	}
	if p.use++; p.use >= recordedUse {
		p.use = 1
	}
	p.gen, p.bytes, p.direct, p.probe, p.hold, p.calls = g, n, direct, false, reserved, usual
	p.evidence, p.trial = g.route.seen.Load(), trial
	p.slice.Admitted(task, uint64(g.number), trial != 0)
	return Decision{Ruling: Ruling{Answer: Admit}, Use: p.use}
}

// Posting says that the work request is about to be handed to ibv_post_send on a
// QP of the permit's generation, at now. Call it right before the post, not when
// the slice is queued: delays count from here.
//
// On any error the permit is free, its bytes are given back, and the work request
// must not be posted. The error wraps [ErrStaleGeneration] if the endpoint was
// renewed since the admission, [ErrUnknownQP] if the QP was not named to Renew,
// and [ErrNotHeld] if there is no unposted reservation.
//
// Specification: control-plane matrix, "generation changes after acquisition".
func (p *Permit) Posting(qpID uint64, now time.Duration) error {
	if !enabled || p.calls == off {
		return nil
	}
	return p.posting(qpID, now)
}

func (p *Permit) posting(qpID uint64, now time.Duration) error {
	g := p.gen
	if p.hold != reserved {
		return p.postingOtherwise(qpID, now)
	}
	q := g.qp(qpID)
	if q == nil || g.route.current.Load() != g || g.retired() {
		if err := g.unusable(q, qpID); err != nil {
			p.Unposted()
			return err
		}
	}
	if !g.used.Load() {
		g.used.Store(true)
	}
	if p.trial != 0 {
		if err := p.postingTrial(q); err != nil {
			return err
		}
	}
	var poller *Poller // nil for a QP that only observe mode lets pass
	if q != nil {
		poller = q.poller
	} else {
		poller = p.gen.route.ctl.nobody
	}
	if p.poller.Load() != poller {
		p.poller.Store(poller)
	}
	p.qp, p.postedAt, p.hold = q, now, free
	p.state.Store(uint64(p.use)<<useShift | statePosted)
	return nil
}

// postingTrial is Posting for a permit that is a trial.
func (p *Permit) postingTrial(q *qp) error {
	r := p.gen.route
	if r.trialPosted(p.trial, q) {
		return nil
	}
	if r.mode == Enforce {
		p.Unposted()
		return fmt.Errorf("cc: Posting on %s: %w: its lease expired or the path failed again; acquire again", r.pair, ErrTrialOver)
	}
	p.trial = 0
	return nil
}

// Unposted says that the work request did not reach the hardware: the verb
// refused it, it is in the tail of a partial post, or the caller changed its mind
// before the post. The bytes are given back; nothing is counted and the task's
// state stays as it is. It reports whether this call released them.
//
// Specification: control-plane matrix, synchronous rejection row.
func (p *Permit) Unposted() bool {
	if !enabled || p.calls == off {
		return false
	}
	return p.giveUp()
}

func (p *Permit) giveUp() bool {
	if p.hold == reserved {
		p.hold = free
		p.trialReturned(0)
		p.release(false)
		return true
	}
	if p.recorder() != nil {
		return p.recordUnposted()
	}
	return p.rejected()
}

// Settle tells the permit what became of its posted work request: a completion
// ([classify.Completion]), a deadline, a cancel or the teardown of its QP
// ([classify.Of]), in any order and from any goroutine. u is the use number of the
// admission that it speaks of, now the time of the poll batch. The result says
// which edges this call took.
//
//   - A completion takes both edges, or the release alone after a deadline or
//     cancel.
//   - A counted deadline takes the verdict: the bytes stay out until the
//     completion or teardown. It retires the generation.
//   - A deadline with a stalled poller takes neither.
//   - A cancel takes the verdict; an admission that is not posted yet is given
//     back with Unposted.
//   - A teardown takes whatever edges are left.
//
// In mode off it returns 0 for everything: an engine keeps its own books of what is
// finished.
//
// When a completion or teardown meets a deadline that another goroutine is just
// recording, that call of Settle takes the release too: one of the two returns
// Released.
func (p *Permit) Settle(u Use, v classify.Verdict, now time.Duration) Edges {
	if !enabled || u == 0 { // mode off numbers nothing
		return 0
	}
	return p.settle(u, v, now)
}

// settle takes the usual way first: the success of what is posted and has no
// verdict yet. It does not look at the state before it changes it, so that the
// permit moves from the poster's core to the poller's at once.
func (p *Permit) settle(u Use, v classify.Verdict, now time.Duration) Edges {
	posted := uint64(u)<<useShift | statePosted
	if !v.Succeeded() || !p.state.CompareAndSwap(posted, posted&^stateFlags) {
		return p.settleSlowly(u, v, now)
	}
	r, n := p.gen.route, p.bytes
	if r.current.Load() != p.gen || p.trial != 0 || r.health.watched.Load() || p.direct {
		p.outcome(posted, v, now)
		p.release(true)
		return Ended | Released
	}
	p.slice.Succeeded()
	delay := now - p.postedAt
	if long := delay >= time.Duration(r.longSample.Load()); long || p.use%sampleEvery == 0 {
		r.sample(p, delay, now, long)
	}
	if met := r.flight.leasedSettled.Add(units(n)); met&flagBits != 0 {
		r.settled(met, n)
	}
	return Ended | Released
}

// settleSlowly is settle for everything else.
func (p *Permit) settleSlowly(u Use, v classify.Verdict, now time.Duration) Edges {
	for {
		state := p.state.Load()
		if Use(state>>useShift) != u || state&statePosted == 0 {
			return p.settleOtherwise(u, v, now)
		}
		next, edges := step(state, v)
		if next == state {
			return 0
		}
		if next&stateBusy > state&stateBusy && p.poller.Load().voids(now) {
			return 0 // nobody looked whether it had completed
		}
		if !p.state.CompareAndSwap(state, next) {
			continue
		}
		switch {
		case edges&Released != 0:
			p.outcome(state, v, now)
			p.release(v.Succeeded() && state&stateDeadline == 0)
		case next&stateBusy != 0 && state&stateBusy == 0:
			p.outcome(state, v, now)
			edges |= p.unbusy()
		}
		return edges
	}
}

// step says which state an observation leads to, and which edges it takes; the
// same state if none.
func step(state uint64, v classify.Verdict) (uint64, Edges) {
	ended := Ended
	if state&(stateDeadline|stateCancelled) != 0 {
		ended = 0
	}
	switch {
	case state&statePending != 0:
		return state, 0
	case v.Releases() && state&stateBusy == 0:
		return state &^ stateFlags, ended | Released
	case v.Succeeded():
		return state | statePending | stateSucceeded, 0
	case v.Releases():
		return state | statePending, 0
	case ended == 0 || !v.EndsAttempt():
		return state, 0
	case v == cancel:
		return state | stateCancelled, Ended
	}
	return state | stateDeadline | stateBusy, Ended
}

// outcome records what an observation means for the QP, the route and the task.
// before is the state it was met in.
func (p *Permit) outcome(before uint64, v classify.Verdict, now time.Duration) {
	r := p.gen.route
	switch {
	case v.Succeeded():
		switch {
		case before&stateDeadline != 0:
			p.slice.SucceededLate()
			return
		case before&stateCancelled != 0:
			if r.current.Load() == p.gen {
				p.measure(r, now)
			}
		default:
			p.slice.Succeeded()
			if r.current.Load() == p.gen {
				p.measure(r, now)
				if p.trial != 0 || r.health.watched.Load() {
					r.succeeded(p, now)
				}
				return
			}
			if p.trial == 0 {
				return
			}
		}
	case v == teardown:
		if p.qp != nil {
			p.qp.cause.Seal()
		}
	case v.Source() == classify.SourceSignal && !v.Countable():
		p.trialReturned(now) // never posted: nothing was learnt
		return
	case before&(stateDeadline|stateCancelled) != 0:
		p.qp.note(v)
	default:
		p.fail(v, now)
		return
	}
	if p.trial != 0 && before&stateDeadline == 0 {
		wait := r.ctl.probeInterval()
		if before&stateCancelled != 0 {
			wait = 0
		}
		r.trialUndecided(p.trial, v, now, wait)
	}
}

// fail records a failed attempt.
func (p *Permit) fail(v classify.Verdict, now time.Duration) {
	r := p.gen.route
	r.troubled(p.gen, v)
	p.qp.note(v)
	if v.Source() == classify.SourceSignal {
		p.gen.retire()
		r.wake()
	}
	if v.Countable() {
		r.failed(p.gen, failure{v, p.trial, p.evidence, now - p.postedAt, p.probe}, now, p.qp)
	} else {
		r.faulted(p.gen, v, now)
	}
	if p.trial != 0 { // a fault that is not news of this QP has not ended it
		r.trialUndecided(p.trial, v, now, r.ctl.probeInterval())
	}
	p.slice.Failed(p.evidenceOf(v, now))
}

// trialReturned frees the trial that this permit was, before it reached the wire.
func (p *Permit) trialReturned(now time.Duration) {
	if p.trial != 0 {
		r := p.gen.route
		r.trialUndecided(p.trial, classify.Verdict{}, max(now, r.ctl.now()), 0)
	}
}

// evidenceOf describes a failed attempt for its task: how it failed, or that the
// path is quarantined or its trial failed.
func (p *Permit) evidenceOf(v classify.Verdict, now time.Duration) *taskstate.Evidence {
	r := p.gen.route
	reason := v.Reason()
	if v.Countable() && r.state().barred() && reason == classify.ReasonRouteTimeout {
		reason = classify.ReasonPathQuarantined
	}
	if p.trial != 0 && (v.Countable() || v.Class() == classify.ClassDerivedFlush && p.qp.countable()) {
		reason = classify.ReasonProbeFailed
	}
	ev := r.evidence(reason, now)
	ev.Scope, ev.Verdict, ev.Generation = v.Scope(), v, uint64(p.gen.number)
	if p.qp != nil {
		ev.Root = &p.qp.cause
	}
	return ev
}

// unbusy ends the recording of a deadline, and takes the release if its turn came
// meanwhile.
func (p *Permit) unbusy() Edges {
	for {
		state := p.state.Load()
		if state&statePending == 0 {
			if p.state.CompareAndSwap(state, state&^stateBusy) {
				return 0
			}
			continue
		}
		if state&stateSucceeded != 0 {
			p.slice.SucceededLate()
		}
		p.state.Store(state &^ stateFlags)
		p.release(false)
		return Released
	}
}

// release gives the bytes back to where they came from. What an endpoint delivered
// that is not current any more, or after a deadline, is no news of the route.
func (p *Permit) release(delivered bool) {
	r, n := p.gen.route, p.bytes
	if r.current.Load() != p.gen {
		r.outdated.Add(-n)
		delivered = false
	}
	if !delivered {
		r.flight.undelivered.Add(n)
	}
	r.settle(n, p.direct)
}

// noCopy makes vet's copylocks check report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
