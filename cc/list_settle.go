package cc

import (
	"math/bits"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
)

// Settled says which edges of which slices a call of [List.Settle] took. The zero
// value is a no-op.
type Settled struct {
	// Ended are the slices whose attempt this call ended.
	Ended uint32
	// Released are the slices whose bytes this call gave back.
	Released uint32
}

// Settle tells the list what became of some of its posted slices, as
// [Permit.Settle] does for one: a completion, a deadline, a cancel or the teardown of
// the QP. u is the use number of the admission, now the time of the poll batch. What
// does not belong to the list, or was taken before, does nothing; the result says
// what was taken.
//
// Slices that succeed together are settled by one atomic operation on the list and
// one on the route, and count as one sample of the delay.
func (l *List) Settle(u Use, mask uint32, v classify.Verdict, now time.Duration) Settled {
	if !enabled || u == 0 {
		return Settled{}
	}
	if v.Succeeded() {
		for {
			state := l.state.Load()
			took := uint32(state) & mask
			if state>>listUseShift != uint64(u) || took == 0 {
				return l.settleOtherwise(u, mask, v, now)
			}
			if state&stateSlow != 0 {
				break
			}
			if l.state.CompareAndSwap(state, state&^uint64(took)) {
				if uint32(state) == took {
					l.p.slice.Succeeded() // all did
				}
				l.succeeded(took, now)
				return Settled{took, took}
			}
		}
	}
	return l.settleSlowly(u, mask, v, now)
}

// succeeded tells the route of slices that succeeded without an earlier verdict, and
// gives their bytes back.
func (l *List) succeeded(mask uint32, now time.Duration) {
	p := &l.p
	r, n := p.gen.route, l.bytes(mask)
	if r.current.Load() != p.gen {
		l.part(n).release(true)
		return
	}
	delay := now - p.postedAt
	if long := delay >= time.Duration(r.longSample.Load()); long || p.use%sampleEvery == 0 {
		r.sample(l.part(n), delay, now, long)
	}
	if r.health.watched.Load() {
		r.succeeded(l.part(n), now)
	}
	if p.direct {
		l.part(n).release(true)
		return
	}
	if met := r.flight.leasedSettled.Add(units(n)); met&flagBits != 0 {
		r.settled(met, n)
	}
}

// part is a permit for n bytes of the list, for what routes are told of permits. It
// has no task.
func (l *List) part(n int64) *Permit {
	p := &l.p
	return &Permit{gen: p.gen, bytes: n, postedAt: p.postedAt, use: p.use, direct: p.direct, qp: p.qp, evidence: p.evidence}
}

// taking is what one call of settleSlowly takes.
type taking struct {
	Settled
	busy   uint32 // slices whose deadline is being recorded
	before [MaxList]uint8
}

// settleSlowly is Settle for everything but successes of a list without trouble.
func (l *List) settleSlowly(u Use, mask uint32, v classify.Verdict, now time.Duration) Settled {
	t, found := l.take(u, mask, v, now)
	if !found {
		return l.settleOtherwise(u, mask, v, now)
	}
	plain := uint32(0)
	for rest := t.Released | t.busy; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest)
		before := uint64(t.before[i])
		if v.Succeeded() && before == statePosted {
			plain |= 1 << i
			continue
		}
		p := l.part(l.ends[i+1] - l.ends[i])
		p.outcome(before, v, now)
		if t.Ended>>i&1 != 0 && fails(v) {
			l.failed(p.evidenceOf(v, now))
		}
		if t.Released>>i&1 != 0 {
			p.release(v.Succeeded() && before&stateDeadline == 0)
		}
	}
	if plain != 0 {
		l.succeeded(plain, now)
	}
	if t.busy != 0 {
		t.Released |= l.unbusy(t.busy)
	}
	return t.Settled
}

// fails reports whether an attempt that ends this way has failed: a permit records
// evidence of it.
func fails(v classify.Verdict) bool {
	return !v.Succeeded() && v != teardown && (v.Source() != classify.SourceSignal || v.Countable())
}

// slowly has all settling of this use go by the lock from now on, and returns the
// slices that hold bytes; 0 if the use is over. The caller holds the lock.
func (l *List) slowly(u Use) (held uint32) {
	for {
		state := l.state.Load()
		held = uint32(state)
		switch {
		case state>>listUseShift != uint64(u):
			return 0
		case held == 0 || state&stateSlow != 0:
			return held
		}
		if l.state.CompareAndSwap(state, state|stateSlow) {
			l.open, l.bad, l.late = held, 0, false
			l.good = held != first(l.n)
			for i := range l.flags {
				l.flags[i] = uint8(held>>i&1) * statePosted
			}
			return held
		}
	}
}

// take takes the edges of slices that the verdict leads to.
func (l *List) take(u Use, mask uint32, v classify.Verdict, now time.Duration) (t taking, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.slowly(u)
	if held&mask == 0 {
		return t, false
	}
	t.before = l.flags
	wasOpen, wasBad := l.open, l.bad
	for rest := held & mask; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest)
		bit := uint32(1) << i
		before := uint64(l.flags[i])
		next, edges := step(before, v)
		starts := next&stateBusy > before&stateBusy
		if next == before || starts && l.voids(now) {
			continue
		}
		l.flags[i] = uint8(next)
		if edges&Ended != 0 {
			t.Ended |= bit
		}
		if edges&Released != 0 {
			t.Released |= bit
		}
		if starts {
			t.busy |= bit
		}
		if v.Succeeded() && before&stateCancelled == 0 {
			l.good = true
			l.late = l.late || before&stateDeadline != 0
			l.bad &^= bit
		}
	}
	l.open &^= t.Ended
	if fails(v) {
		l.bad |= t.Ended
	}
	l.state.Store(l.state.Load() &^ uint64(t.Released))
	if l.open == 0 && l.bad == 0 && l.good && (wasOpen != 0 || wasBad != 0) {
		l.concluded()
	}
	return t, true
}

// voids reports whether a deadline at now says nothing about the network.
func (l *List) voids(now time.Duration) bool {
	return l.p.qp != nil && l.p.qp.poller.voids(now)
}

// concluded tells the task that all slices have a verdict, and that some succeeded
// and none failed for good. The caller holds the lock.
func (l *List) concluded() {
	if l.late {
		l.p.slice.SucceededLate()
	} else {
		l.p.slice.Succeeded()
	}
}

// failed tells the task of a slice that failed.
func (l *List) failed(ev *taskstate.Evidence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p.slice.Failed(ev)
}

// unbusy ends the recording of deadlines, and releases the slices whose completion or
// teardown came meanwhile.
func (l *List) unbusy(busy uint32) (released uint32) {
	l.mu.Lock()
	for rest := busy; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest)
		if l.flags[i]&statePending != 0 {
			l.flags[i] = 0
			released |= 1 << i
		}
		l.flags[i] &^= stateBusy
	}
	l.state.Store(l.state.Load() &^ uint64(released))
	l.mu.Unlock()
	if released != 0 {
		l.part(l.bytes(released)).release(false)
	}
	return released
}
