package rail

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// one is a pair of a table, on a clock that the test moves by hand.
type one struct {
	*testing.T
	table *Table
	*Peer
	pair Pair
	now  time.Duration
}

var pairOfTests = Pair{Peer: "P", Local: "D1", Port: 1, Remote: "n1"}

func newOne(t *testing.T) *one {
	table := NewTable()
	return &one{T: t, table: table, Peer: table.Join(pairOfTests), pair: pairOfTests, now: start}
}

// fail counts a failure of something that was posted just now.
func (o *one) fail(qps ...QP) bool {
	if len(qps) == 0 {
		qps = []QP{fresh()}
	}
	return o.report(o.Version(), qps...)
}

func (o *one) report(evidence uint64, qps ...QP) bool {
	return o.Report(o.pair, o.now, evidence, qps, func(b *Breaker) bool { b.Fail(policy, o.now, 1); return true })
}

// try starts the trial that is due, and returns its number.
func (o *one) try() (trial uint64) {
	b := o.view().Breaker
	o.now = max(o.now, b.TrialDue())
	o.Update(o.pair, o.now, func(b *Breaker) bool { trial = b.StartTrial(o.now); return false })
	return trial
}

func (o *one) view() View { return o.View(o.pair) }

var freshQPs atomic.Uint64

// fresh returns a QP that nobody reported.
func fresh() QP { return QP{freshQPs.Add(1), 1} }

// A version counts changes, whatever pair of the peer they concern; an evidence
// number is the version that a failure or verdict made.
func TestVersionAndEvidence(t *testing.T) {
	o := newOne(t)
	assert.Zero(t, o.Version())
	assert.Equal(t, View{}, o.view(), "nothing is known")

	o.Update(o.pair, o.now, func(b *Breaker) bool { b.Clear(o.now); b.Lapse(policy, o.now); return false })
	assert.Zero(t, o.Version(), "nothing changed")
	assert.Zero(t, o.table.Stats().Entries, "and there is nothing to keep")

	o.fail()
	assert.Equal(t, uint64(1), o.Version())
	assert.Equal(t, uint64(1), o.view().Evidence)

	o.Update(o.pair, o.now, func(b *Breaker) bool { b.LongestRetry = 1; return false })
	assert.Equal(t, uint64(2), o.Version(), "a change")
	assert.Equal(t, uint64(1), o.view().Evidence, "but no news")

	o.Update(o.pair, o.now, func(*Breaker) bool { return true })
	assert.Equal(t, uint64(3), o.view().Evidence, "news without a change")

	other := o.pair
	other.Port = 2
	o.Update(other, o.now, func(*Breaker) bool { return true })
	assert.Equal(t, uint64(4), o.Version())
	assert.Equal(t, uint64(4), o.View(other).Evidence)
	assert.Equal(t, uint64(3), o.view().Evidence, "another pair's")
	assert.Equal(t, uint64(4), o.view().Version, "but the version is that of the peer")
}

// Each QP is counted once, whoever reports it.
func TestReportCountsEachQPOnce(t *testing.T) {
	o := newOne(t)
	a, b, c := fresh(), fresh(), fresh()
	assert.True(t, o.fail(a))
	version := o.Version()
	assert.False(t, o.fail(a), "again")
	assert.Equal(t, version, o.Version(), "no change, so nobody looks")
	assert.True(t, o.fail(a, b), "b is new")
	assert.Equal(t, 2, o.view().Count)
	assert.False(t, o.fail(b, a))
	assert.True(t, o.fail(QP{a.Number, a.Incarnation + 1}), "another QP that has its number")
	assert.True(t, o.view().Paused)

	other := o.pair
	other.Remote = "n2"
	o.pair = other
	assert.True(t, o.fail(c))
	assert.False(t, o.report(o.Version()), "a report of no QP")
	assert.Equal(t, 1, o.view().Count)
}

// The last 64 QPs are remembered, also across the end of a pause.
func TestReportRemembersQPs(t *testing.T) {
	o := newOne(t)
	first, second := fresh(), fresh()
	o.fail(first)
	o.fail(second)
	for range 62 {
		o.fail()
	}
	o.Succeeded(o.pair, policy, o.now, 0, o.Version(), 0)
	assert.False(t, o.view().Paused)
	assert.False(t, o.fail(first), "64 are remembered")
	o.fail()
	assert.False(t, o.fail(second))
	assert.True(t, o.fail(first), "the oldest of 65 is not")
	assert.LessOrEqual(t, len(o.entries[keyOf(o.pair)].reported), maxReported)
}

// A failure of something that was posted before a verdict which a success has ended
// since belongs to the outage that is over.
func TestReportOfOutageThatIsOver(t *testing.T) {
	o := newOne(t)
	before := o.Version()
	for range 3 {
		o.fail()
	}
	verdict := o.view().Evidence
	o.Succeeded(o.pair, policy, o.now, 0, verdict, 0)
	assert.False(t, o.report(before, fresh()))
	assert.False(t, o.report(verdict-1, fresh()))
	assert.Zero(t, o.view().Count)
	assert.True(t, o.report(verdict, fresh()), "posted after the verdict")
	assert.Equal(t, 1, o.view().Count)
	assert.True(t, o.report(verdict, fresh()), "posted before the first failure of the next: it counts")
	assert.Equal(t, 2, o.view().Count)

	// A count that was cleared is no verdict.
	o = newOne(t)
	o.fail()
	o.Succeeded(o.pair, policy, o.now, 0, o.Version(), 0)
	assert.True(t, o.report(0, fresh()))
}

// What a success changes, by when it was posted.
func TestSucceeded(t *testing.T) {
	for _, tt := range []struct {
		name     string
		paused   bool
		late     uint64 // how much older than the latest evidence
		trial    func(out uint64) uint64
		withdraw bool
	}{
		{"count, posted after", false, 0, nil, true},
		{"count, posted before the latest failure", false, 1, nil, false},
		{"pause, posted after", true, 0, nil, true},
		{"pause, posted before", true, 1, nil, false},
		{"pause, the trial", true, 1, func(out uint64) uint64 { return out }, true},
		{"pause, another trial", true, 1, func(out uint64) uint64 { return out + 1 }, false},
		{"pause, another trial, posted after", true, 0, func(out uint64) uint64 { return out + 1 }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newOne(t)
			o.fail()
			o.fail()
			trial := uint64(0)
			if tt.paused {
				o.fail()
				trial = o.try()
			}
			if tt.trial != nil {
				trial = tt.trial(trial)
			} else {
				trial = 0
			}
			version, was := o.Version(), o.view()
			o.Succeeded(o.pair, policy, o.now, 0, was.Evidence-tt.late, trial)
			if !tt.withdraw {
				assert.Equal(t, was, o.view())
				return
			}
			v := o.view()
			assert.False(t, v.Paused)
			assert.Zero(t, v.Count)
			assert.Greater(t, v.Version, version, "others have to hear of it")
			assert.Equal(t, was.Evidence, v.Evidence, "a success takes no number")
		})
	}
	o := newOne(t)
	o.Succeeded(o.pair, policy, o.now, 0, 0, 0)
	assert.Zero(t, o.table.Stats().Entries, "nothing was known")
	o.fail()
	o.fail()
	o.Succeeded(o.pair, policy, o.now, 0, o.Version(), 0)
	version := o.Version()
	o.Succeeded(o.pair, policy, o.now, 0, o.Version(), 0)
	assert.Equal(t, version, o.Version(), "nothing was left to clear")
	o.Succeeded(o.pair, policy, o.now, 0, 0, 0)
	assert.Equal(t, version, o.Version())
}

// The end of a count is no end of a pause: the next pause is not too soon after it.
func TestSuccessOfACountLiftsNothing(t *testing.T) {
	o := newOne(t)
	o.fail()
	o.Succeeded(o.pair, policy, o.now, 0, o.Version(), 0)
	for range 3 {
		o.fail()
	}
	assert.Equal(t, 30*time.Second, o.view().Resume-o.now)
}

// While a pause lasts, what was posted before it is of the same outage, and is heard.
func TestReportWhileTheTrialIsOut(t *testing.T) {
	o := newOne(t)
	before := o.Version()
	for range 3 {
		o.fail()
	}
	o.try()
	assert.True(t, o.report(before, fresh()))
}

func TestViewAsStanding(t *testing.T) {
	o := newOne(t)
	assert.Equal(t, Healthy, o.view().Standing())
	o.fail()
	assert.Equal(t, Suspect, o.view().Standing())
	o.fail()
	o.fail()
	assert.Equal(t, Paused, o.view().Standing())
	o.now += time.Hour
	assert.Equal(t, Paused, o.view().Standing(), "a trial is due, no transfer")
}

// A trial's number 0 is no trial, also while none is out.
func TestSucceededWithoutTrial(t *testing.T) {
	o := newOne(t)
	for range 3 {
		o.fail()
	}
	o.Succeeded(o.pair, policy, o.now, 0, 0, 0)
	assert.True(t, o.view().Paused)
}

// A path that failed again right after its pause is paused for longer: the success
// leaves the entry for that.
func TestLiftedEntryStays(t *testing.T) {
	o := newOne(t)
	for range 3 {
		o.fail()
	}
	o.Succeeded(o.pair, policy, o.now, 0, o.Version(), o.try())
	for range 3 {
		o.fail()
	}
	assert.Equal(t, 60*time.Second, o.view().Resume-o.now)
}

// The end of a quarantine that was not the pair's own: the next pause is longer if it
// follows too soon, and the healthy time begins anew. A count stays.
func TestReturn(t *testing.T) {
	p := newPath(t)
	p.Return(p.now)
	assert.Equal(t, Breaker{lifted: true, liftedAt: start, healthySince: start}, p.Breaker)
	p.advance(10 * time.Second)
	p.fail(3)
	p.pausedFor(60*time.Second, "10 s after a return")

	p.try()
	p.TrialSucceeded(policy, p.Trial, p.now, 0)
	p.advance(40 * time.Second)
	p.Return(p.now)
	p.advance(59 * time.Second)
	p.fail(1)
	assert.Equal(t, 60*time.Second, p.Cooldown(policy), "59 s of health since")
	p.Return(p.now)
	assert.Equal(t, 1, p.Count)
	p.Clear(p.now)
	p.advance(time.Second)
	p.fail(1)
	assert.Equal(t, 30*time.Second, p.Cooldown(policy), "and one more")
}
