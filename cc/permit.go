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
// One goroutine at a time may call TryAcquire, Posting and Unposted: the slice's
// owner. Settle may come from any goroutine at any time, also several at once.
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
	// state is the use number in the upper half and the flags below. Everything
	// else is written by the owner while the permit is free or not yet posted,
	// and read by whoever has claimed an edge.
	state    atomic.Uint64
	gen      *generation
	qp       *qp
	bytes    int64
	postedAt time.Duration
	slice    taskstate.Slice
}

const (
	stateHeld      = 1 << iota // bytes are reserved
	statePosted                // the work request may be with the hardware
	stateDeadline              // the verdict edge was taken by a deadline
	stateCancelled             // the verdict edge was taken by a cancel
	stateBusy                  // a deadline is being recorded
	stateReleasing             // the release edge is taken, the bytes are on their way back
	statePending               // the release edge was taken while busy: the recorder gives the bytes back
	stateSucceeded             // that release was a successful completion
	stateFlags     = 1<<iota - 1
	useShift       = 32
)

// Edges says what a call of [Permit.Settle] took. 0 is a no-op: the edges were
// taken before, the use number is an old one, or the signal takes none.
type Edges uint8

const (
	// Ended: this call ended the attempt; its verdict is the attempt's.
	Ended Edges = 1 << iota
	// Released: this call gave the bytes back.
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

func use(state uint64) Use { return Use(state >> useShift) }

// seed spreads the first use numbers of new permits, so that a slot whose permit
// was zeroed does not start again with the numbers of its former owner.
var seed atomic.Uint32

// nextUse returns the state of a free permit with the next use number, never 0.
func nextUse(state uint64) uint64 {
	u := uint32(state>>useShift) + 1
	if state == 0 {
		u = seed.Add(0x9e3779b9)
	}
	if u == 0 {
		u = 1
	}
	return uint64(u) << useShift
}

// Held returns the bytes that the permit has reserved; 0 if it is free. It is for
// the owner.
func (p *Permit) Held() int64 {
	if p.state.Load()&stateHeld == 0 {
		return 0
	}
	return p.bytes
}

// Posting says that the work request is about to be handed to ibv_post_send on a
// QP of the permit's generation, at now. Call it right before the post, not when
// the slice is queued: delays count from here.
//
// On any error the permit is free, its bytes are given back, and the work request
// must not be posted. The error wraps [ErrStaleGeneration] if the endpoint was
// renewed since the admission, [ErrUnknownQP] if the QP was not named to Renew,
// and [ErrNotHeld] if there is no open, unposted reservation (it was cancelled or
// torn down meanwhile, or never made).
//
// Specification: control-plane matrix, "generation changes after acquisition".
func (p *Permit) Posting(qpID uint64, now time.Duration) error {
	g := p.gen
	if g == nil { // mode off keeps nothing
		return nil
	}
	state := p.state.Load()
	if state&stateFlags != stateHeld {
		return fmt.Errorf("cc: Posting: %w: acquire it first, and post each admission once", ErrNotHeld)
	}
	q := g.qp(qpID)
	if err := g.usable(q, qpID); err != nil {
		p.Unposted()
		return err
	}
	p.qp, p.postedAt = q, now
	if !p.state.CompareAndSwap(state, state|statePosted) {
		return fmt.Errorf("cc: Posting: %w: it was cancelled or torn down; acquire it again", ErrNotHeld)
	}
	return nil
}

// Unposted says that the work request did not reach the hardware: the verb
// refused it, it is in the tail of a partial post, or the caller changed its mind.
// The bytes are given back; nothing is counted and the task's state stays as it
// is. It reports whether this call released them.
//
// Specification: control-plane matrix, synchronous rejection row.
func (p *Permit) Unposted() bool {
	for {
		state := p.state.Load()
		if state&stateHeld == 0 || state&(stateBusy|stateReleasing) != 0 {
			return false
		}
		if p.state.CompareAndSwap(state, state|stateReleasing) {
			p.free(state)
			return true
		}
	}
}

// Settle tells the permit what became of its work request: a completion
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
//   - A cancel takes the verdict of a posted work request, and both edges of one
//     that was not posted.
//   - A teardown takes whatever edges are left.
func (p *Permit) Settle(u Use, v classify.Verdict, now time.Duration) Edges {
	for {
		state := p.state.Load()
		if use(state) != u || state&stateHeld == 0 || state&(stateReleasing|statePending) != 0 {
			return 0
		}
		next, edges := step(state, v)
		if edges == 0 {
			return 0
		}
		if !p.state.CompareAndSwap(state, next) {
			continue
		}
		switch {
		case next&statePending != 0:
		case next&stateReleasing != 0:
			p.outcome(state, v, now)
			p.free(state)
		case next&stateBusy != 0:
			p.outcome(state, v, now)
			p.unbusy()
		}
		return edges
	}
}

// step says which state an observation leads to, and which edges it takes.
func step(state uint64, v classify.Verdict) (uint64, Edges) {
	ended := Ended
	if state&(stateDeadline|stateCancelled) != 0 {
		ended = 0
	}
	switch {
	case v.Releases() && state&stateBusy != 0:
		state |= statePending
		if v.Succeeded() {
			state |= stateSucceeded
		}
		return state, Released
	case v.Releases():
		return state | stateReleasing, ended | Released
	case ended == 0 || !v.EndsAttempt():
		return state, 0
	case state&statePosted == 0: // cancelled before the post
		if v == cancel {
			return state | stateReleasing, Ended | Released
		}
		return state, 0
	case v == cancel:
		return state | stateCancelled, Ended
	}
	return state | stateDeadline | stateBusy, Ended
}

// outcome records what an observation means for the QP, the generation and the
// task. before is the state it was met in.
func (p *Permit) outcome(before uint64, v classify.Verdict, now time.Duration) {
	switch {
	case v.Succeeded():
		switch {
		case before&stateDeadline != 0:
			p.slice.SucceededLate()
		case before&stateCancelled == 0:
			p.slice.Succeeded()
		}
	case v == teardown:
		if p.qp != nil {
			p.qp.cause.Seal()
		}
	case v.Source() == classify.SourceSignal && !v.Countable():
		// cancelled before the post, or never posted: nothing was learnt
	case before&(stateDeadline|stateCancelled) != 0:
		p.qp.note(v)
	default:
		p.qp.note(v)
		if v.Source() == classify.SourceSignal {
			p.gen.retired.Store(true)
		}
		p.slice.Failed(p.evidence(v, now))
	}
}

// evidence describes a failed attempt for its task.
func (p *Permit) evidence(v classify.Verdict, now time.Duration) *taskstate.Evidence {
	ev := p.gen.route.evidence(v.Reason(), now)
	ev.Scope, ev.Verdict, ev.Generation = v.Scope(), v, uint64(p.gen.number)
	if p.qp != nil {
		ev.Root = &p.qp.cause
	}
	return ev
}

// unbusy ends the recording of a deadline, and gives the bytes back if their
// release came meanwhile.
func (p *Permit) unbusy() {
	for {
		state := p.state.Load()
		if state&statePending != 0 {
			if state&stateSucceeded != 0 {
				p.slice.SucceededLate()
			}
			p.free(state)
			return
		}
		if p.state.CompareAndSwap(state, state&^stateBusy) {
			return
		}
	}
}

// free gives the bytes back and then makes the permit free. The caller has taken
// the release edge.
func (p *Permit) free(state uint64) {
	p.gen.route.release(p.bytes)
	p.state.Store(state &^ stateFlags)
}

// noCopy makes vet's copylocks check report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
