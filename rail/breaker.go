package rail

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// Policy holds the numbers of a circuit breaker. All durations are positive.
type Policy struct {
	// Threshold is how many failures in a row pause the path.
	Threshold int
	// ErrorWindow is the longest gap between two failures in a row.
	ErrorWindow time.Duration
	// Cooldown is the base length of a pause, CooldownCap the longest, both before
	// jitter.
	Cooldown, CooldownCap time.Duration
	// ProbeInterval is the time from one undecided trial to the next, and from one early
	// trial to the next while the pause has its base length.
	ProbeInterval time.Duration
	// Proof is for how long the trials of a path that flaps must succeed, four of them
	// or more in a row, before its pause ends. 0: one success ends every pause.
	Proof time.Duration
}

// Limits of what is derived from retry times that were observed on a path.
const (
	// maxErrorWindow bounds an error window that was widened to four retry times.
	maxErrorWindow = 60 * time.Second
	// minTrialLease is the shortest lease of a trial, maxTrialLease the longest: a retry time
	// that was measured over a leap of the clock, or while the process stood still, is none.
	minTrialLease = 10 * time.Second
	maxTrialLease = 10 * time.Minute
	// minProof is the least number of successes in a row that prove a path, however far
	// apart they are.
	minProof = 4
)

// Breaker is what is known of one path's failures: the count that leads to a
// pause, the pause, and the trial that ends it. The zero value is a path of which
// nothing bad is known. It does no locking.
//
// Times are readings of one monotonic clock. jitter arguments are factors around 1
// that spread the ends of pauses; they come from the caller.
type Breaker struct {
	Count       int           // failures in a row
	LastFailure time.Duration // when Count last grew
	Lapsed      bool          // Count ended by time, and not by a success
	Paused      bool
	Resume      time.Duration // when the pause ends, if Paused
	NextTrial   time.Duration // when a trial may start, if Paused; at least Resume
	Early       time.Duration // when an early trial may start, if HasEarly
	HasEarly    bool
	Trial       uint64        // the trial that is out; 0 if none
	TrialEarly  bool          // it began before Resume
	TrialEnds   time.Duration // when its lease expires
	// NextProbe is the earliest time of the next probe that comes ahead of its turn,
	// whoever sends it.
	NextProbe time.Duration
	// Cause is the latest evidence against the path that was counted; zero if none was,
	// or if nobody said.
	Cause classify.Verdict

	// LongestRetry is the longest time that a work request took to fail.
	LongestRetry time.Duration

	remembered   time.Duration // length of the last pause; 0 is the base
	lifted       bool          // a pause ended with a success
	liftedAt     time.Duration
	healthySince time.Duration
	healthy      time.Duration // healthy time that has halved nothing yet
	trials       uint64

	flapping   bool          // paused again soon after it was lifted, and not lived down
	proven     int           // trials that have succeeded in a row
	provenFrom time.Duration // when the first of them did
}

// window returns the longest gap between failures in a row.
func (b *Breaker) window(p Policy) time.Duration {
	return max(p.ErrorWindow, 4*min(b.LongestRetry, maxErrorWindow/4))
}

// Lapse forgets failures that were counted too long ago to count on, and reports
// whether there were any. The path is healthy from the end of the window.
func (b *Breaker) Lapse(p Policy, now time.Duration) bool {
	if b.Paused || b.Count == 0 || now-b.LastFailure <= b.window(p) {
		return false
	}
	b.Clear(b.LastFailure + b.window(p))
	b.Lapsed = true
	return true
}

// Fail counts a failure and reports whether it pauses the path. A path that is
// paused already stays as it is.
func (b *Breaker) Fail(p Policy, now time.Duration, jitter float64) bool {
	if b.Paused {
		return false
	}
	b.Lapse(p, now)
	b.leaveHealthy(p, now)
	b.Count++
	b.LastFailure, b.Lapsed = max(b.LastFailure, now), false
	if b.Count < p.Threshold {
		return false
	}
	b.Pause(p, now, jitter)
	return true
}

// Pause pauses the path, unless it is paused already. The pause is longer than
// the last one when that has not been lived down yet.
func (b *Breaker) Pause(p Policy, now time.Duration, jitter float64) {
	if b.Paused {
		return
	}
	b.leaveHealthy(p, now)
	cooldown := b.remembered
	soon := b.lifted && now-b.liftedAt < cooldown
	if cooldown > p.Cooldown || soon {
		cooldown = max(cooldown, min(2*cooldown, p.CooldownCap))
	}
	b.flapping = b.flapping || soon
	b.pause(cooldown, now, jitter)
}

func (b *Breaker) pause(cooldown, now time.Duration, jitter float64) {
	b.remembered, b.healthy = cooldown, 0
	b.Paused, b.Resume = true, now+scale(cooldown, jitter)
	b.NextTrial = b.Resume
	b.HasEarly, b.Trial, b.proven, b.NextProbe = false, 0, 0, 0
}

// leaveHealthy halves the remembered cooldown for each of its lengths that the path
// has been healthy, down to the base. What is left of the healthy time counts
// towards the next halving. It does nothing when failures were counted already.
func (b *Breaker) leaveHealthy(p Policy, now time.Duration) {
	if b.Count > 0 {
		return
	}
	b.remembered = max(b.remembered, p.Cooldown)
	b.healthy += now - b.healthySince
	b.healthySince = now
	for b.remembered > p.Cooldown && b.healthy >= b.remembered {
		b.healthy -= b.remembered
		b.remembered = max(b.remembered/2, p.Cooldown)
	}
	b.flapping = b.flapping && b.remembered > p.Cooldown
}

// Cooldown returns the length that the next pause starts from, before what the path
// may live down until then.
func (b *Breaker) Cooldown(p Policy) time.Duration { return max(b.remembered, p.Cooldown) }

// EarlyProbes reports whether a probe may come before the pause is over. It may not if the
// path flaps, and has a longer pause than the base for it.
func (b *Breaker) EarlyProbes(p Policy) bool { return !b.flapping || b.remembered <= p.Cooldown }

// ProbeInterval returns the time from one early trial that fails to the next, which is
// as many times the policy's as the pause is longer than the base. interval is the
// policy's with its jitter.
func (b *Breaker) ProbeInterval(p Policy, interval time.Duration) time.Duration {
	if !b.Paused {
		return interval
	}
	return scale(interval, float64(b.Cooldown(p))/float64(p.Cooldown))
}

// Allow makes an early trial possible at the given time. It never moves Resume.
func (b *Breaker) Allow(at time.Duration) {
	if b.Paused {
		b.Early, b.HasEarly = at, true
	}
}

// Withdraw takes back what Allow allowed.
func (b *Breaker) Withdraw() { b.HasEarly = false }

// TrialDue returns when the next trial may start, if the path is paused.
func (b *Breaker) TrialDue() time.Duration {
	if b.HasEarly {
		return min(b.Early, b.NextTrial)
	}
	return b.NextTrial
}

// TrialOut reports whether a trial is on the wire and its lease runs.
func (b *Breaker) TrialOut(now time.Duration) bool { return b.Trial != 0 && now < b.TrialEnds }

// StartTrial leases the one trial and returns its number. The lease lasts twice the longest
// retry time, 10 s at least and 10 min at most. The caller has seen that it is due and that
// none is out.
func (b *Breaker) StartTrial(now time.Duration) uint64 {
	b.trials++
	b.Trial = b.trials
	b.TrialEarly = now < b.Resume
	b.TrialEnds = now + max(minTrialLease, 2*min(b.LongestRetry, maxTrialLease/2))
	b.HasEarly = false
	return b.Trial
}

// TrialFailed ends a trial with a failure: a new, longer pause; or, if it began
// before Resume, the next trial an interval later, while Resume stays. Another
// trial's number is ignored.
func (b *Breaker) TrialFailed(p Policy, trial uint64, now time.Duration, jitter float64) bool {
	if trial == 0 || trial != b.Trial {
		return false
	}
	if b.TrialEarly {
		b.Unprove()
		return b.TrialUndecided(trial, now, b.ProbeInterval(p, scale(p.ProbeInterval, jitter)))
	}
	b.Escalate(p, now, jitter)
	return true
}

// Escalate pauses the path for longer than the last time, also when it is paused
// already: a trial has failed.
func (b *Breaker) Escalate(p Policy, now time.Duration, jitter float64) {
	if !b.Paused {
		b.leaveHealthy(p, now)
	}
	cooldown := max(b.remembered, p.Cooldown)
	b.pause(max(cooldown, min(2*cooldown, p.CooldownCap)), now, jitter)
}

// TrialUndecided ends a trial that proved nothing: the next may start after wait.
// Another trial's number is ignored.
func (b *Breaker) TrialUndecided(trial uint64, now, wait time.Duration) bool {
	if trial == 0 || trial != b.Trial {
		return false
	}
	b.Trial, b.NextProbe = 0, now+wait
	if at := b.NextProbe; at < b.Resume {
		b.Allow(at)
	} else {
		b.NextTrial = at
	}
	return true
}

// TrialSucceeded takes the success of a trial, or with 0 of what else was posted after
// the verdict. It ends the pause and reports true, unless the path flaps and has not
// proved itself for long enough: then the next trial may start after wait.
func (b *Breaker) TrialSucceeded(p Policy, trial uint64, now, wait time.Duration) bool {
	if b.flapping && p.Proof > 0 && !b.proves(p, now) {
		b.TrialUndecided(trial, now, wait)
		return false
	}
	b.lift(now)
	return true
}

// proves notes a success, and reports whether it is the last that the path needs.
func (b *Breaker) proves(p Policy, now time.Duration) bool {
	if b.proven++; b.proven == 1 {
		b.provenFrom = now
	}
	return b.proven >= minProof && now-b.provenFrom >= p.Proof
}

// Unprove says that something spoke against the path, other than the failure of a trial
// in its turn: a path that flaps has to prove itself from the start.
func (b *Breaker) Unprove() { b.proven = 0 }

func (b *Breaker) lift(now time.Duration) {
	b.lifted, b.liftedAt, b.healthySince = true, now, now
	b.Paused, b.Trial, b.HasEarly, b.Count, b.healthy = false, 0, false, 0, 0
}

// Clear forgets the failures that were counted: the path is healthy since now.
func (b *Breaker) Clear(now time.Duration) {
	if b.Count > 0 {
		b.Count, b.healthySince = 0, now
	}
}

// Return says that a quarantine ended which was not the pair's own, such as that of
// its port: a pause that follows too soon is longer.
func (b *Breaker) Return(now time.Duration) {
	b.lifted, b.liftedAt = true, now
	if b.Count == 0 {
		b.healthySince, b.healthy = now, 0
	}
}

// runs reports whether the path is paused, and the pause not over or its trial out.
func (b *Breaker) runs(now time.Duration) bool {
	return b.Paused && (now < b.Resume || b.TrialOut(now))
}

// quietSince returns when the path was last heard of: its pause was over, it was
// lifted, or a failure was counted.
func (b *Breaker) quietSince() time.Duration {
	if b.Paused {
		return max(b.NextTrial, b.Resume)
	}
	return max(b.LastFailure, b.liftedAt)
}

func scale(d time.Duration, factor float64) time.Duration { return time.Duration(float64(d) * factor) }
