package cc

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Drain time is how long it takes to deliver what is in flight: bytes in flight
// over the delivery rate, while there is something to deliver. By Little's law
// that is the mean time from Posting to completion over the bytes delivered: each
// byte is in flight for as long as its slice, so the sum of bytes times delay is the
// integral of the bytes in flight, and both over the same busy time cancel it out.
// So it needs no look at a clock or a counter between posts: the sum over the
// completions of an epoch, divided by their bytes, is the drain time.
//
// Most completions are not measured. One use number in sampleEvery is, and stands
// for all; but a delay that could matter to a law (a quarter of the target, or
// longSample) is always measured, and stands for itself. So slow and sparse traffic
// is seen whole, and if nothing was measured of what was delivered, it was fast.
// LawRound also measures all while the window has room for fewer slices than stand for
// one: otherwise rounds would pass unseen.
//
// Failures give no sample, nor do late completions after a deadline, inferred
// completions, and those of an endpoint that is not current.
const (
	sampleEvery = 8 // a power of two
	longSample  = 100 * time.Microsecond
	// What is larger counts as this, so that the sums cannot overflow in an epoch.
	maxSampleBytes = 1 << 31
	maxSampleDelay = time.Minute
)

// meter is what is measured of a route that is in use. Completions add to the
// sums, which only grow; everything else is the monitor's.
type meter struct {
	bytes atomic.Uint64 // of what was measured
	delay atomic.Uint64 // bytes times microseconds
	base  atomic.Uint64 // the part of delay that an empty path would have; LawRound only

	failed   atomic.Bool // an attempt failed in this epoch
	notReady atomic.Bool // the receiver was not ready in this epoch

	rounds *rounds // LawRound only

	began    sums       // at the start of the epoch
	seen     int64      // bytes delivered, at the last tick
	endpoint Generation // what was current at the last tick
	waiting  bool       // bytes are out, and none came since then:
	since    time.Duration
	drain    gauge // of the latest epoch that delivered

	pressure atomic.Uint32 // a Pressure, of the latest epoch
	shown    atomic.Int64  // bytes delivered, the most that a snapshot has shown

	streak streak // the device's lock guards it
}

// sums is one reading of what a meter adds up.
type sums struct {
	bytes, delay, base uint64
	delivered          int64
}

func (m *meter) read(delivered int64) sums {
	// Bytes first: a sample that comes between has its delay without its bytes, and
	// its bytes in the next epoch.
	return sums{m.bytes.Load(), m.delay.Load(), m.base.Load(), delivered}
}

// since returns what was added after an earlier reading.
func (s sums) since(then sums) sums {
	return sums{s.bytes - then.bytes, s.delay - then.delay, s.base - then.base, s.delivered - then.delivered}
}

// weight is the bytes that the delays stand for. What was delivered and not
// measured was fast.
func (s sums) weight() uint64 { return max(s.bytes, uint64(max(s.delivered, 0))) }

// drain returns the mean delay, 0 if there is none.
func (s sums) drain() time.Duration { return mean(s.delay, s.weight()) }

// queueing returns the mean delay above what an empty path would have. The epoch
// law knows of no such thing: there it is the drain time.
func (s sums) queueing() time.Duration { return mean(s.delay-min(s.base, s.delay), s.weight()) }

func (s sums) plus(t sums) sums {
	return sums{s.bytes + t.bytes, s.delay + t.delay, s.base + t.base, s.delivered + t.delivered}
}

// mean divides a sum of bytes times microseconds by bytes.
func mean(sum, bytes uint64) time.Duration {
	if bytes == 0 {
		return 0
	}
	return time.Duration(float64(sum) / float64(bytes) * float64(time.Microsecond))
}

// measure takes a success of the current generation into the route's drain time.
func (p *Permit) measure(r *Route, now time.Duration) {
	delay := now - p.postedAt
	if long := delay >= time.Duration(r.longSample.Load()); long || p.use%sampleEvery == 0 {
		r.sample(p, delay, now, long)
	}
}

// measureAll has each completion measured, or only those that stand for others and the
// long ones.
func (r *Route) measureAll(all bool) {
	from := min(longSample, r.ctl.cfg.TargetDrain/4)
	if all {
		from = 0
	}
	if r.longSample.Load() != uint32(from) {
		r.longSample.Store(uint32(from))
	}
}

func (r *Route) sample(p *Permit, delay, now time.Duration, long bool) {
	m := r.meter.Load()
	if m == nil {
		return
	}
	n := uint64(min(p.bytes, maxSampleBytes))
	if !long {
		n *= sampleEvery
	}
	us := uint64(min(max(delay, 0), maxSampleDelay) / time.Microsecond)
	if m.rounds != nil {
		base := m.rounds.bases.learn(p.bytes, us)
		m.base.Add(n * base)
		m.delay.Add(n * us)
		m.bytes.Add(n)
		r.roundSample(m, p, n, us, base, now)
		return
	}
	m.delay.Add(n * us)
	m.bytes.Add(n)
}

// rounds is what LawRound keeps of a route.
type rounds struct {
	// Sums over the round, of what was posted after the last cut: what was posted
	// before shows the window as it was.
	bytes, delay, base atomic.Uint64
	ends               atomic.Int64 // the round ends when so much was delivered
	from               atomic.Int64 // so much was delivered when it began
	began              atomic.Int64 // when that was
	cutAt              atomic.Int64
	dipping            atomic.Bool

	// The device's lock guards these.
	ramping bool // no delay was above the low mark or the target yet
	dip     dip

	bases baseDelays
}

// roundSample adds a sample to the delivery round, and ends the round if it is
// complete or overdue.
//
// A round of one sample that shows nothing to do needs no law, and no lock: nobody was
// refused, so the window does not grow, and the delay is below every mark.
func (r *Route) roundSample(m *meter, p *Permit, n, us, base uint64, now time.Duration) {
	s, marks := m.rounds, r.ctl.cfg.marks(time.Duration(base)*time.Microsecond)
	delivered := r.flight.delivered()
	complete := delivered >= s.ends.Load()
	if complete && s.bytes.Load() == 0 && !r.full.up.Load() && !s.dipping.Load() && time.Duration(us)*time.Microsecond <= min(marks.low, r.ctl.cfg.TargetDrain) {
		s.began.Store(int64(now))
		s.begin(delivered, r.flight.inFlight())
		r.measureAll(r.window.Load()/sampleEvery < p.bytes)
		return
	}
	if int64(p.postedAt) >= s.cutAt.Load() {
		s.base.Add(n * base)
		s.delay.Add(n * us)
		s.bytes.Add(n)
	}
	// Whoever finds the lock taken leaves the round to the next sample: a poller
	// never waits.
	if (complete || s.overdue(p, now, marks.high)) && r.device.mu.TryLock() {
		r.endRound(m, p, now, marks.high)
		r.device.mu.Unlock()
	}
}

// begin begins the round of what is out now.
func (s *rounds) begin(delivered, out int64) {
	s.from.Store(delivered)
	s.ends.Store(delivered + out)
}

// overdue reports whether the round lasts for longer than the high mark. The slice was
// out all the time, so there was no pause in it.
func (s *rounds) overdue(p *Permit, now, high time.Duration) bool {
	began := time.Duration(s.began.Load())
	return p.postedAt <= began && now-began > high
}

// remaining returns how long all that is out will take at the rate of the round.
func (r *Route) remaining(s *rounds, now time.Duration) time.Duration {
	took := float64(now) - float64(s.began.Load())
	return time.Duration(min(took*float64(r.flight.inFlight())/float64(max(1, r.flight.delivered()-s.from.Load())), float64(maxSampleDelay)))
}

// endRound lets the law act on a delivery round and begins the next: on one that is
// complete by the delays that it showed, on one that is overdue by those to come, if they
// are far above the mark. So a window that is many times too large is not waited for. The
// caller holds the device's lock.
func (r *Route) endRound(m *meter, p *Permit, now, high time.Duration) {
	s, window := m.rounds, r.lawWindow
	delivered, predicted := r.flight.delivered(), time.Duration(0)
	if delivered < s.ends.Load() {
		if s.dip.rounds > 0 || !s.overdue(p, now, high) {
			return
		}
		if predicted = r.remaining(s, now); predicted <= 2*high {
			return
		}
		window = min(window, r.flight.inFlight())
	}
	bytes, delay, base := s.bytes.Swap(0), s.delay.Swap(0), s.base.Swap(0)
	began := time.Duration(s.began.Swap(int64(now)))
	s.begin(delivered, r.flight.inFlight())
	r.measureAll(r.lawWindow/sampleEvery < p.bytes)
	if s.dip.rounds > 0 {
		r.endDip(s)
		return
	}
	if bytes == 0 || r.state().barred() || r.current.Load().stalledSince(began, now) {
		return
	}
	signs := roundSigns{
		delay:   max(mean(delay, bytes), predicted),
		marks:   r.ctl.cfg.marks(mean(base, bytes)),
		mayGrow: r.full.take() && r.state() != Suspect,
	}
	s.ramping = s.ramping && signs.delay <= min(signs.low, r.ctl.cfg.TargetDrain)
	signs.ramping = s.ramping
	if signs.delay > signs.high {
		s.cutAt.Store(int64(now))
	}
	r.setLawWindow(r.ctl.law.afterRound(window, signs))
	if s.dip.due {
		r.beginDip(s)
	}
}

// dip empties the path for a moment. A law that keeps some queue never sees the
// path without, and would take the queue for the path once the last minimum is
// forgotten, and then keep more. So at each turn of the base delays the window goes
// to its minimum for two rounds: in one the queue drains, in the other slices show
// the path. A third is left out, in which the window that is open again is posted
// in one go. Routes of one process dip together.
type dip struct {
	due    bool
	rounds int   // that are left of it
	window int64 // to return to
}

// beginDip begins a dip. The caller holds the device's lock.
func (r *Route) beginDip(s *rounds) {
	least := r.ctl.cfg.MinWindowBytes
	s.dip = dip{}
	if s.ramping || !r.state().usable() || r.lawWindow <= least {
		return
	}
	s.dip = dip{rounds: 3, window: r.lawWindow}
	s.dipping.Store(true)
	r.setLawWindow(least)
}

// endDip counts a round of the dip, and opens the window after the second. In a state with
// rules of its own the window stays where it is. The caller holds the device's lock.
func (r *Route) endDip(s *rounds) {
	if !r.state().usable() {
		s.dip = dip{}
	} else if s.dip.rounds--; s.dip.rounds == 1 {
		r.setLawWindow(s.dip.window)
	}
	s.dipping.Store(s.dip.rounds > 0)
}

// baseDelays learns how long slices of a size take on an empty path: the least
// that was seen in the last 10 to 15 s, for each power of two.
type baseDelays struct {
	recent  [sizeClasses]atomic.Uint32 // microseconds plus one; 0 is unknown
	earlier [sizeClasses]atomic.Uint32 // the least of the two periods before
	past    [sizeClasses]uint32        // the period before, the monitor's
	period  time.Duration              // its number; 0 before the first turn
}

const (
	sizeClasses  = 16
	smallestSize = 12 // bits; up to 4 KiB is one class
	basePeriod   = 5 * time.Second
)

// learn takes a delay of n bytes and returns the base delay of that size.
func (b *baseDelays) learn(n int64, us uint64) uint64 {
	class := min(max(bits.Len64(uint64(n-1))-smallestSize, 0), sizeClasses-1)
	mine := uint32(us) + 1
	for recent := &b.recent[class]; ; {
		seen := recent.Load()
		if seen != 0 && seen <= mine {
			mine = seen
			break
		}
		if recent.CompareAndSwap(seen, mine) {
			break
		}
	}
	if e := b.earlier[class].Load(); e != 0 {
		mine = min(mine, e)
	}
	return uint64(mine - 1)
}

// turn begins a new period if it is time, and reports whether one has ended.
func (b *baseDelays) turn(now time.Duration) bool {
	period := now / basePeriod
	if period == b.period {
		return false
	}
	first := b.period == 0
	if b.period = period; first {
		return false
	}
	for i := range b.recent {
		last := b.recent[i].Swap(0)
		least := last
		if past := b.past[i]; past != 0 && (least == 0 || past < least) {
			least = past
		}
		b.earlier[i].Store(least)
		b.past[i] = last
	}
	return true
}
