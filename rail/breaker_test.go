package rail

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// policy is that of the specification's scenarios.
var policy = Policy{
	Threshold:     3,
	ErrorWindow:   10 * time.Second,
	Cooldown:      30 * time.Second,
	CooldownCap:   300 * time.Second,
	ProbeInterval: time.Second,
}

const start = time.Hour

// path drives a breaker on a clock that the test moves by hand.
type path struct {
	*testing.T
	Breaker
	now    time.Duration
	jitter float64
}

func newPath(t *testing.T) *path { return &path{T: t, now: start, jitter: 1} }

func (p *path) advance(d time.Duration) { p.now += d }

// fail counts n failures at once and reports whether the last paused the path.
func (p *path) fail(n int) (paused bool) {
	for range n {
		paused = p.Fail(policy, p.now, p.jitter)
	}
	return paused
}

// try moves to when the next trial is due and starts it.
func (p *path) try() uint64 {
	p.now = max(p.now, p.TrialDue())
	return p.StartTrial(p.now)
}

// pausedFor asserts how long the path is still paused.
func (p *path) pausedFor(want time.Duration, why string) {
	p.Helper()
	assert.True(p, p.Paused, "paused: %s", why)
	assert.Equal(p, want, p.Resume-p.now, "left of the pause: %s", why)
}

func TestFailuresInARow(t *testing.T) {
	tests := []struct {
		name   string
		retry  time.Duration // the longest that was seen
		gaps   []time.Duration
		count  int
		paused bool
	}{
		{"one", 0, []time.Duration{0}, 1, false},
		{"two", 0, []time.Duration{0, 0}, 2, false},
		{"the threshold", 0, []time.Duration{0, 0, 0}, 3, true},
		{"gaps of the whole window", 0, []time.Duration{0, 10 * time.Second, 10 * time.Second}, 3, true},
		{"a gap beyond the window", 0, []time.Duration{0, 0, 10*time.Second + 1}, 1, false},
		{"a gap, then two more", 0, []time.Duration{0, 11 * time.Second, 0, 0}, 3, true},
		{"short retries leave the window", 2 * time.Second, []time.Duration{0, 10*time.Second + 1}, 1, false},
		{"four retry times", 4 * time.Second, []time.Duration{0, 16 * time.Second, 16 * time.Second}, 3, true},
		{"beyond four retry times", 4 * time.Second, []time.Duration{0, 16*time.Second + 1}, 1, false},
		{"the widest window", time.Hour, []time.Duration{0, 60 * time.Second}, 2, false},
		{"beyond the widest", time.Hour, []time.Duration{0, 60*time.Second + 1}, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPath(t)
			p.LongestRetry = tt.retry
			for _, gap := range tt.gaps {
				p.advance(gap)
				p.fail(1)
			}
			assert.Equal(t, tt.count, p.Count, "failures in a row")
			assert.Equal(t, tt.paused, p.Paused, "paused")
		})
	}
}

func TestLapse(t *testing.T) {
	p := newPath(t)
	assert.False(t, p.Lapse(policy, p.now), "nothing was counted")
	p.fail(2)
	p.advance(10 * time.Second)
	assert.False(t, p.Lapse(policy, p.now), "the window includes its end")
	p.advance(1)
	assert.True(t, p.Lapse(policy, p.now))
	assert.Zero(t, p.Count)
	assert.True(t, p.Lapsed, "by time, and not by a success")
	assert.False(t, p.fail(2), "too few to pause the path")
	assert.False(t, p.Lapsed, "they count")
	p.fail(1)
	p.advance(time.Hour)
	assert.False(t, p.Lapse(policy, p.now), "a pause does not lapse")
	assert.True(t, p.Paused)
}

func TestSuccessClearsCount(t *testing.T) {
	p := newPath(t)
	for range 20 {
		p.fail(2)
		p.Clear(p.now)
	}
	assert.False(t, p.Paused, "two failures and a success, for ever")
	assert.True(t, p.fail(3), "the count started again")
}

// All that a pause leaves, and a pause at once, without a count.
func TestPausedBreaker(t *testing.T) {
	const cooldown = 30 * time.Second
	p := newPath(t)
	p.fail(3)
	assert.Equal(t, Breaker{
		Count: 3, LastFailure: start, Paused: true, Resume: start + cooldown, NextTrial: start + cooldown,
		remembered: cooldown, healthySince: start,
	}, p.Breaker)

	p = newPath(t)
	p.Pause(policy, p.now, 1)
	assert.Equal(t, Breaker{
		Paused: true, Resume: start + cooldown, NextTrial: start + cooldown, remembered: cooldown, healthySince: start,
	}, p.Breaker)
}

// A clock may begin at 0: a path that never came back did not come back then.
func TestFirstPauseOfAYoungClock(t *testing.T) {
	p := newPath(t)
	p.now = time.Second
	p.fail(3)
	p.pausedFor(30*time.Second, "it is the first")
}

func TestNewEvidenceDoesNotLengthen(t *testing.T) {
	p := newPath(t)
	assert.True(t, p.fail(3))
	resume := p.Resume
	p.advance(20 * time.Second)
	assert.False(t, p.fail(5), "a paused path is not paused again")
	p.Pause(policy, p.now, 1)
	assert.Equal(t, resume, p.Resume, "the pause ends when it would have")
	assert.Equal(t, 3, p.Count)
	assert.Equal(t, policy.Cooldown, p.Cooldown(policy))
}

// What becomes of the remembered cooldown. Each step ends with a pause, whose
// length is looked at.
func TestRememberedCooldown(t *testing.T) {
	const s = time.Second
	succeed := func(p *path) { p.try(); p.TrialSucceeded(policy, p.Trial, p.now, 0) }
	failTrial := func(p *path) { p.TrialFailed(policy, p.try(), p.now, p.jitter) }
	again := func(after time.Duration) func(*path) {
		return func(p *path) { succeed(p); p.advance(after); p.fail(3) }
	}
	tests := []struct {
		name  string
		steps []func(*path)
		want  []time.Duration
	}{
		{"a failed trial doubles", []func(*path){failTrial, failTrial}, []time.Duration{60 * s, 120 * s}},
		{"up to the cap", []func(*path){failTrial, failTrial, failTrial, failTrial, failTrial}, []time.Duration{60 * s, 120 * s, 240 * s, 300 * s, 300 * s}},
		{"again within one cooldown", []func(*path){again(30*s - 1)}, []time.Duration{60 * s}},
		{"again after one cooldown", []func(*path){again(30 * s)}, []time.Duration{30 * s}},
		{"above base, after less than its length", []func(*path){failTrial, failTrial, again(120*s - 1)}, []time.Duration{60 * s, 120 * s, 240 * s}},
		{"above base still, after its length", []func(*path){failTrial, failTrial, again(120 * s)}, []time.Duration{60 * s, 120 * s, 120 * s}},
		{"down to base, after two lengths", []func(*path){failTrial, failTrial, again(180 * s)}, []time.Duration{60 * s, 120 * s, 30 * s}},
		{"not below base", []func(*path){failTrial, again(time.Hour)}, []time.Duration{60 * s, 30 * s}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPath(t)
			p.fail(3)
			p.pausedFor(30*s, "the first")
			for i, step := range tt.steps {
				step(p)
				p.pausedFor(tt.want[i], "after the step")
				assert.Equal(t, tt.want[i], p.Cooldown(policy))
				assert.Equal(t, time.Duration(float64(2*s)*tt.want[i].Seconds()/30), p.ProbeInterval(policy, 2*s), "as much longer as the pause is")
			}
		})
	}
}

// Only time without counted failures halves, all of it, and remainders add up.
func TestHealthyTime(t *testing.T) {
	p := newPath(t)
	p.fail(3)
	p.TrialFailed(policy, p.try(), p.now, 1) // 60 s
	p.try()
	p.TrialSucceeded(policy, p.Trial, p.now, 0)
	p.advance(40 * time.Second)
	p.fail(1)
	p.advance(9 * time.Second) // suspected, not healthy
	p.fail(1)
	p.Clear(p.now)
	assert.Equal(t, 60*time.Second, p.Cooldown(policy), "40 s are less than one length")
	p.advance(19 * time.Second)
	p.fail(1)
	assert.Equal(t, 60*time.Second, p.Cooldown(policy), "40 s and 19 s too")
	p.Clear(p.now)
	p.advance(time.Second)
	p.fail(1)
	assert.Equal(t, 30*time.Second, p.Cooldown(policy), "one more makes it up")
	p.fail(2)
	p.pausedFor(30*time.Second, "lifted more than one cooldown ago")
}

// A suspicion that lapsed makes the path healthy from the end of the window, not
// from when somebody looked.
func TestHealthySinceLapse(t *testing.T) {
	p := newPath(t)
	p.fail(3)
	p.TrialFailed(policy, p.try(), p.now, 1) // 60 s
	p.try()
	p.TrialSucceeded(policy, p.Trial, p.now, 0)
	p.fail(1)
	p.advance(10*time.Second + 59*time.Second)
	p.fail(1)
	assert.Equal(t, 60*time.Second, p.Cooldown(policy), "59 s of health")
	p.advance(10*time.Second + 1*time.Second)
	p.fail(1)
	assert.Equal(t, 30*time.Second, p.Cooldown(policy), "and one more")
}

func TestJitter(t *testing.T) {
	p := newPath(t)
	p.jitter = 1.2
	p.fail(3)
	p.pausedFor(36*time.Second, "cooldown times 1.2")
	p.jitter = 0.8
	p.TrialFailed(policy, p.try(), p.now, p.jitter)
	p.pausedFor(48*time.Second, "the double of the base, not of what jitter made of it, times 0.8")
	p.Allow(p.now)
	p.TrialFailed(policy, p.try(), p.now, p.jitter)
	assert.Equal(t, 1600*time.Millisecond, p.TrialDue()-p.now, "the probe interval times 0.8, and times 2 as the pause")
}

func TestTrialLease(t *testing.T) {
	for retry, lease := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 4 * time.Second: 10 * time.Second, 7 * time.Second: 14 * time.Second, 40 * time.Second: 80 * time.Second,
	} {
		p := newPath(t)
		p.LongestRetry = retry
		p.fail(3)
		assert.False(t, p.TrialOut(p.now), "none began")
		first := p.try()
		p.advance(lease - 1)
		assert.True(t, p.TrialOut(p.now), "retry time %s", retry)
		p.advance(1)
		assert.False(t, p.TrialOut(p.now), "retry time %s", retry)
		assert.LessOrEqual(t, p.TrialDue(), p.now, "another may start")

		second := p.try()
		assert.NotEqual(t, first, second)
		resume := p.Resume
		assert.False(t, p.TrialFailed(policy, first, p.now, 1), "the first is not the trial any more")
		assert.False(t, p.TrialUndecided(first, p.now, 0))
		assert.Equal(t, resume, p.Resume)
		assert.True(t, p.TrialOut(p.now))
		assert.True(t, p.TrialFailed(policy, second, p.now, 1))
	}
}

// A trial before the end of the pause decides by its success alone.
func TestEarlyTrial(t *testing.T) {
	p := newPath(t)
	p.Allow(p.now)
	assert.False(t, p.HasEarly, "nothing to be early for")
	p.fail(3)
	resume := p.Resume
	p.advance(5 * time.Second)
	p.Allow(p.now + time.Second)
	assert.Equal(t, time.Second, p.TrialDue()-p.now)
	p.Withdraw()
	assert.Equal(t, resume, p.TrialDue(), "taken back")

	p.Allow(p.now + time.Second)
	n := p.try()
	assert.True(t, p.TrialFailed(policy, n, p.now, 1))
	assert.Equal(t, time.Second, p.TrialDue()-p.now, "the next, a probe interval later")
	assert.False(t, p.TrialOut(p.now))
	early := p.Breaker
	early.Withdraw()
	assert.Equal(t, resume, early.TrialDue(), "it is an early one, which can be taken back")
	assert.True(t, p.TrialUndecided(p.try(), p.now, resume-p.now))
	assert.Equal(t, resume, p.TrialDue())
	assert.False(t, p.HasEarly, "a trial at the end of the pause is no early one")
	p.Allow(p.now)
	for p.TrialDue() < resume {
		p.TrialFailed(policy, p.try(), p.now, 1)
	}
	assert.Equal(t, resume, p.Resume, "the end of the pause never moved")
	assert.Equal(t, resume, p.TrialDue(), "a trial is due at the end at the latest")
	assert.Equal(t, policy.Cooldown, p.Cooldown(policy), "and the cooldown is the same")

	p.TrialFailed(policy, p.try(), p.now, 1)
	p.pausedFor(60*time.Second, "a trial after the end is no early one")
}

// An early trial that fails after the end of the pause is an early trial still.
func TestEarlyTrialFailsLate(t *testing.T) {
	p := newPath(t)
	p.fail(3)
	resume := p.Resume
	p.Allow(resume - 1)
	n := p.try()
	p.advance(4 * time.Second)
	p.TrialFailed(policy, n, p.now, 1)
	assert.Equal(t, resume, p.Resume)
	assert.Equal(t, policy.Cooldown, p.Cooldown(policy))
	assert.Equal(t, time.Second, p.TrialDue()-p.now)
}

func TestUndecidedTrial(t *testing.T) {
	for _, early := range []bool{false, true} {
		for _, wait := range []time.Duration{0, time.Second} {
			p := newPath(t)
			p.fail(3)
			resume := p.Resume
			if early {
				p.Allow(p.now)
			}
			n := p.try()
			p.advance(time.Millisecond)
			assert.False(t, p.TrialUndecided(n+1, p.now, wait), "another trial's number")
			assert.False(t, p.TrialUndecided(0, p.now, wait), "no trial's number")
			assert.True(t, p.TrialOut(p.now))
			assert.True(t, p.TrialUndecided(n, p.now, wait))
			assert.False(t, p.TrialOut(p.now))
			assert.Equal(t, wait, p.TrialDue()-p.now, "early %v", early)
			assert.Equal(t, resume, p.Resume, "no verdict, no new pause")
			assert.Equal(t, policy.Cooldown, p.Cooldown(policy))
			assert.False(t, p.TrialUndecided(n, p.now, wait), "it ended")
			assert.False(t, p.TrialUndecided(0, p.now, wait), "no trial's number, and none is out")
			assert.False(t, p.TrialFailed(policy, 0, p.now, 1))
			assert.Equal(t, policy.Cooldown, p.Cooldown(policy))
		}
	}
}

func TestNoAttemptLimit(t *testing.T) {
	p := newPath(t)
	p.fail(3)
	for range 10 {
		assert.True(t, p.TrialFailed(policy, p.try(), p.now, 1))
		assert.LessOrEqual(t, p.Resume-p.now, policy.CooldownCap)
	}
	p.try()
	p.TrialSucceeded(policy, p.Trial, p.now, 0)
	assert.False(t, p.Paused, "the eleventh trial succeeded")
	assert.Zero(t, p.Count)
	assert.False(t, p.TrialOut(p.now))
}

// A pause for which another verdict's trial failed is longer too, though this path
// was not paused.
func TestEscalate(t *testing.T) {
	p := newPath(t)
	p.Escalate(policy, p.now, 1)
	p.pausedFor(60*time.Second, "twice the base")
	p.advance(60 * time.Second)
	p.Escalate(policy, p.now, 1)
	p.pausedFor(120*time.Second, "a pause is no healthy time")
	p.try()
	p.TrialSucceeded(policy, p.Trial, p.now, 0)
	p.advance(time.Hour)
	p.Escalate(policy, p.now, 1)
	p.pausedFor(60*time.Second, "the earlier one was lived down")
}
