package rail

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// flapped is a path that was paused again 10 s after it came back, in its second pause
// of 60 s, when a trial of that is due.
func flapped(t *testing.T) *path {
	t.Helper()
	p := newPath(t)
	p.fail(3)
	p.proves(true, "the first time one success is enough")
	p.advance(10 * time.Second)
	p.fail(3)
	p.pausedFor(60*time.Second, "again within a cooldown")
	return p
}

// patient is the policy with a proof of four intervals.
func patient() Policy {
	pol := policy
	pol.Proof = 4 * pol.ProbeInterval
	return pol
}

// proves has a trial succeed as soon as one is due.
func (p *path) proves(want bool, why string) {
	p.T.Helper()
	n := p.try()
	assert.Equal(p.T, want, p.TrialSucceeded(patient(), n, p.now, policy.ProbeInterval), why)
	assert.Equal(p.T, !want, p.Paused, why)
	assert.Zero(p.T, p.Trial, "the trial is over")
}

func TestFlappingPathProvesItself(t *testing.T) {
	p := flapped(t)
	for range 4 {
		p.proves(false, "it may go down again")
		assert.Equal(t, p.now+policy.ProbeInterval, p.TrialDue())
	}
	p.proves(true, "four intervals")
}

// With Proof 0, as without a prober, the first success ends the pause.
func TestFlappingPathWithoutProof(t *testing.T) {
	p := flapped(t)
	assert.True(t, p.TrialSucceeded(policy, p.try(), p.now, 0))
}

// However short the proof: four successes.
func TestShortestProof(t *testing.T) {
	pol := policy
	pol.Proof = 1
	p := flapped(t)
	for range 3 {
		assert.False(t, p.TrialSucceeded(pol, p.try(), p.now, policy.ProbeInterval))
	}
	assert.True(t, p.TrialSucceeded(pol, p.try(), p.now, policy.ProbeInterval))
}

// A path that was down for long, and came back for longer than its cooldown, does not
// flap, though its cooldown is not lived down.
func TestLongOutageIsNoFlap(t *testing.T) {
	p := newPath(t)
	p.fail(3)
	for range 2 {
		p.TrialFailed(patient(), p.try(), p.now, 1)
	}
	p.proves(true, "down once")
	p.advance(120 * time.Second)
	p.fail(3)
	p.pausedFor(120*time.Second, "from 60 s")
	p.proves(true, "it was up for a cooldown")
}

func TestProofStartsAgain(t *testing.T) {
	for name, then := range map[string]func(*path){
		"after a failure": func(p *path) {
			p.TrialFailed(patient(), p.try(), p.now, 1)
		},
		"after the failure of an early trial": func(p *path) {
			p.Resume, p.NextTrial = p.now+time.Hour, p.now+time.Hour
			p.Allow(p.now)
			p.TrialFailed(patient(), p.try(), p.now, 1)
		},
		"after other evidence": func(p *path) { p.Unprove() },
	} {
		t.Run(name, func(t *testing.T) {
			p := flapped(t)
			for range 4 {
				p.proves(false, "not yet")
			}
			then(p)
			for range 4 {
				p.proves(false, "from the start")
			}
			p.proves(true, "four intervals")
		})
	}
}

// However late a prober is, four successes in a row are enough, and fewer are not.
func TestProofOfALateProber(t *testing.T) {
	p := flapped(t)
	for range 3 {
		p.proves(false, "it may be up by chance")
		p.advance(10 * policy.ProbeInterval)
	}
	p.proves(true, "the fourth")
}

// A success of what was posted after the verdict, but is no trial, counts for the proof
// and leaves the trial of somebody else out.
func TestProofByAnother(t *testing.T) {
	p := flapped(t)
	n := p.try()
	assert.False(t, p.TrialSucceeded(patient(), 0, p.now, policy.ProbeInterval))
	assert.Equal(t, n, p.Trial)
	for range 2 {
		p.advance(2 * policy.ProbeInterval)
		assert.False(t, p.TrialSucceeded(patient(), 0, p.now, policy.ProbeInterval))
	}
	assert.True(t, p.TrialSucceeded(patient(), 0, p.now, policy.ProbeInterval))
	assert.False(t, p.Paused)
}

// Who has lived down the longer cooldown flaps no more.
func TestFlapIsLivedDown(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		first bool
	}{{60*time.Second - 1, false}, {60 * time.Second, true}} {
		p := flapped(t)
		for !p.TrialSucceeded(patient(), p.try(), p.now, policy.ProbeInterval) {
			continue
		}
		p.advance(tt.after)
		p.fail(3)
		p.proves(tt.first, "after "+tt.after.String())
	}
}

// Half of the way down is not lived down.
func TestFlapIsHalfLivedDown(t *testing.T) {
	p := flapped(t)
	p.TrialFailed(patient(), p.try(), p.now, 1)
	p.pausedFor(120*time.Second, "a failed trial doubles")
	for !p.TrialSucceeded(patient(), p.try(), p.now, policy.ProbeInterval) {
		continue
	}
	p.advance(120 * time.Second)
	p.fail(3)
	p.pausedFor(120*time.Second, "from 60 s")
	p.proves(false, "it flapped lately")
}
