package cc

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// MaxList is the most slices that a [List] holds.
const MaxList = 32

// List is the reservation of a post list: up to [MaxList] slices of one route and one
// QP that are acquired, posted and settled together, at the price of few permits.
// Embed one in the caller's post list; the zero value is free. It must not be copied.
//
//	d := route.TryAcquireList(&l.list, gen, l.sizes, &l.task)
//	if d.Domain != cc.NoDomain { // a window is too full
//		n := route.Fit(l.sizes) // try again with l.sizes[:n] if 0 < n < len(l.sizes)
//	}
//	if d.Admitted() && l.list.Posting(qp.ID(), now) == nil {
//		if n := post(l, d.Use); n < len(l.sizes) { // d.Use and the place travel in wr_id
//			l.list.Unposted(n)
//		}
//	}
//
//	// A signaled completion of slice 7 stands for slices 0 to 7.
//	l.list.Settle(use, 1<<8-1, classify.Completion(wc.Status, wc.VendorErr), now)
//
// Slice i is bit i of a mask. Each slice has the two edges of a [Permit], and each
// edge is taken once, whoever races; Settle takes those of many slices at once. A
// completion that failed speaks of its own slice: those before it succeeded, and
// those after it are flushed.
//
// Up to Posting a list belongs to its owner alone, as a permit does. From Posting on,
// Settle may come from any goroutine at any time, also several at once. Acquire again
// only after the calls have returned that together released all slices.
//
// A list is never the trial of a quarantined path. Where a permit would be, the list
// is refused with PROBING and the hint Divert: acquire one slice with a permit, or
// use [Route.TryProbe].
//
// Its task hears of a list as of one slice: the worst that became of any, and a
// success once all slices have a verdict and none failed.
//
// Specification: admission boundary; controller responsibilities, "a terminal path
// releases each reservation exactly once".
type List struct {
	// state is the use number, the flag stateSlow, and the posted slices that hold
	// bytes. It alone is shared without the lock: the rest is written by the owner
	// before Posting publishes it, and read by whoever took an edge.
	state atomic.Uint64
	// p has the reservation of the whole list up to Posting, and what the slices have
	// in common. Its own state is not used.
	p    Permit
	n    int
	ends [MaxList + 1]int64 // bytes up to each slice

	// mu guards what follows, from the first verdict on that is no success. It is not
	// held while routes and tasks hear of it, but for the list's own evidence.
	mu    sync.Mutex
	flags [MaxList]uint8 // the flags of each slice, as a permit's state has them
	open  uint32         // slices without a verdict
	bad   uint32         // slices that failed, and did not succeed late
	good  bool           // a slice succeeded
	late  bool           // one of them after its deadline
}

const (
	// stateSlow says that the list had a verdict that is no success: flags hold.
	stateSlow    = 1 << MaxList
	listUseShift = MaxList + 1
)

// TryAcquireList is [Route.TryAcquire] for a post list: it asks for the bytes of all
// slices and reserves all, or none. sizes has 1 to [MaxList] slices of 1 to
// [MaxBytes] bytes, at most MaxBytes together, and is not kept. The list must be free.
// A breach gives a Decision with Err set, and nothing is changed.
//
// A list of several slices is never admitted above a window, and does not stand in
// line for one: if it does not fit, retry with as many of its first slices as
// [Route.Fit] says. If that is not fewer, somebody else has precedence: ask later.
func (r *Route) TryAcquireList(l *List, gen Generation, sizes []int64, task *taskstate.Task) Decision {
	p := &l.p
	if !enabled || r.calls != usual && p.calls != nested {
		return r.acquireListOtherwise(l, gen, sizes, task)
	}
	if l.taken() {
		return Decision{Err: fmt.Errorf("cc: TryAcquireList: %w: the list has %d bytes on %s; settle it first, or use another list", ErrHeld, l.Held(), p.gen.route.pair)}
	}
	n, err := l.measure(sizes)
	if err != nil {
		return Decision{Err: err}
	}
	d := r.acquireList(l, gen, n, len(sizes), task)
	if d.Answer != Admit {
		return d
	}
	l.n = len(sizes)
	return d
}

// measure adds up the slices of a list that is free.
func (l *List) measure(sizes []int64) (n int64, err error) {
	if len(sizes) < 1 || len(sizes) > MaxList {
		return 0, fmt.Errorf("cc: TryAcquireList of %d slices: must be 1 to %d; split longer lists", len(sizes), MaxList)
	}
	for i, size := range sizes {
		if uint64(size-1) >= MaxBytes {
			return 0, fmt.Errorf("cc: TryAcquireList: slice %d of %d has %d bytes: must be 1 to %d; a slice has the length of its work request", i, len(sizes), size, int64(MaxBytes))
		}
		if n += size; n > MaxBytes {
			return 0, fmt.Errorf("cc: TryAcquireList: the first %d of %d slices have %d bytes: at most %d together; acquire a shorter list", i+1, len(sizes), n, int64(MaxBytes))
		}
		l.ends[i+1] = n
	}
	return n, nil
}

// acquireList reserves n bytes for so many slices, by way of the list's permit.
func (r *Route) acquireList(l *List, gen Generation, n int64, slices int, task *taskstate.Task) Decision {
	p, cur := &l.p, r.current.Load()
	r.sync()
	if cur.refuses(gen) == classify.ReasonNone {
		r.lapseSuspicion()
		d, refused := Decision{}, true
		if over := r.smallerThan(n); r.state().barred() {
			d = r.refuseBarred(p, cur, task)
		} else if r.leftToProber() {
			d = r.refuse(p, task, suspected)
		} else if slices > 1 && over != NoDomain {
			r.noteFull(over)
			d = r.refuseWindow(p, over, task)
		} else {
			refused = false
		}
		switch {
		case refused && r.mode == Enforce:
			return d
		case refused:
			return r.acquireAnyway(p, cur, n, task)
		}
	}
	d := r.tryAcquire(p, gen, n, task)
	if d.Answer == Admit && (p.trial != 0 || p.direct) {
		return r.recheck(p, d, slices, task)
	}
	return d
}

// recheck takes back the admission of a list that met something else than it had
// looked at: it became the route's trial, or a window fell below it.
func (r *Route) recheck(p *Permit, d Decision, slices int, task *taskstate.Task) Decision {
	over := r.smallerThan(p.bytes)
	switch {
	case p.trial != 0 && r.mode == Enforce:
		p.giveUp()
		return r.refuse(p, task, Ruling{Answer: Defer, Reason: classify.ReasonProbing, Hint: Divert})
	case p.trial != 0:
		p.trialReturned(0)
		p.trial = 0
	case slices > 1 && over != NoDomain && r.mode == Enforce:
		p.giveUp()
		return r.refuseWindow(p, over, task)
	}
	return d
}

// smallerThan names the window that is smaller than n bytes, or none.
func (r *Route) smallerThan(n int64) Domain {
	switch {
	case n > r.window.Load():
		return RouteDomain
	case n > r.device.window.Load():
		return DeviceDomain
	}
	return NoDomain
}

// acquireAnyway reserves n bytes in observe mode, where enforce would have refused.
func (r *Route) acquireAnyway(p *Permit, cur *generation, n int64, task *taskstate.Task) Decision {
	if out := r.InFlight(); out > MaxBytes-n {
		return Decision{Err: fmt.Errorf("cc: TryAcquireList of %d bytes on %s, where %d are in flight: together more than %d; settle some first", n, r.pair, out, int64(MaxBytes))}
	}
	r.takeAnyway(n)
	r.enter()
	return p.admit(cur, n, task, true, 0)
}

// Fit returns how many of the first slices of a list the windows of the route and its
// device have room for now, at most [MaxList]. It reserves nothing: others may be
// faster.
func (r *Route) Fit(sizes []int64) (slices int) {
	sizes = sizes[:min(len(sizes), MaxList)]
	if !enabled || r.mode == Off {
		return len(sizes)
	}
	out, shared := r.InFlight(), r.device.taken()
	room := min(r.window.Load()-out, r.device.window.Load()-shared)
	alone := out == 0 && shared == 0
	for i, n := range sizes {
		if n > room && !(i == 0 && alone) {
			break
		}
		room -= n
		slices++
	}
	return slices
}

// taken reports whether the list holds bytes, posted or not.
func (l *List) taken() bool { return l.p.hold != free || uint32(l.state.Load()) != 0 }

// Held returns the bytes that the list has reserved; 0 if it is free. It is for the
// owner.
func (l *List) Held() int64 {
	if l.p.hold != free {
		return l.p.bytes
	}
	return l.bytes(uint32(l.state.Load()))
}

// bytes returns the bytes of some slices, run by run.
func (l *List) bytes(mask uint32) (n int64) {
	for mask != 0 {
		from := bits.TrailingZeros32(mask)
		run := bits.TrailingZeros32(^(mask >> from))
		n += l.ends[from+run]
		if from > 0 { // or the list's first line of ends need not be here
			n -= l.ends[from]
		}
		mask &^= (1<<run - 1) << from
	}
	return n
}

// first returns the mask of the first n slices.
func first(n int) uint32 { return uint32(1)<<n - 1 }

// Posting says that the list is about to be handed to ibv_post_send on a QP of its
// generation, at now. It is [Permit.Posting] for all slices: on any error the list is
// free, its bytes are given back, and nothing must be posted.
func (l *List) Posting(qpID uint64, now time.Duration) error {
	p := &l.p
	if !enabled || p.calls == off {
		return nil
	}
	if p.hold != reserved {
		return l.postingOtherwise(qpID, now)
	}
	g := p.gen
	q := g.qp(qpID)
	if q == nil || g.route.current.Load() != g || g.retired() {
		if err := g.unusable(q, qpID); err != nil {
			p.giveUp()
			return err
		}
	}
	if !g.used.Load() {
		g.used.Store(true)
	}
	p.qp, p.postedAt, p.hold = q, now, free
	l.state.Store(uint64(p.use)<<listUseShift | uint64(first(l.n)))
	return nil
}

// Unposted says that the slices from that place on did not reach the hardware: the
// verb refused them, or the caller changed its mind before the post. Their bytes are
// given back; nothing is counted, and the task's state stays as it is. Before Posting
// it shortens the list. It returns the slices that this call released.
func (l *List) Unposted(from int) (released uint32) {
	p := &l.p
	if !enabled || p.calls == off || from < 0 || from >= l.n {
		return 0
	}
	if p.recorder() != nil && p.calls != nested {
		return l.recordUnposted(from)
	}
	tail := first(l.n) &^ first(from)
	switch {
	case p.hold == free:
		return l.settleSlowly(p.use, tail, classify.Of(classify.SignalRejectedPost), 0).Released
	case from == 0:
		p.giveUp()
	default:
		l.part(l.bytes(tail)).release(false)
		l.n, p.bytes = from, l.ends[from]
	}
	return tail
}
