package twohost

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
)

const ms = time.Millisecond

var path = Path{"rxa0", "rxb0"}

// lost is a slice that timed out on a QP.
func lost(qp uint64, posted, ended time.Duration) Slice {
	return Slice{Path: path, QP: qp, Bytes: 1, Posted: posted, Ended: ended, Status: classify.StatusRetryExcErr}
}

func TestRounds(t *testing.T) {
	for _, tc := range []struct {
		name string
		lost []Slice
		want int
	}{
		{"none", nil, 0},
		{"one slice", []Slice{lost(1, 0, 500*ms)}, 1},
		{"side by side", []Slice{lost(1, 0, 500*ms), lost(2, 100*ms, 600*ms), lost(3, 499*ms, 999*ms)}, 1},
		{"one after the other", []Slice{lost(1, 0, 500*ms), lost(2, 501*ms, 1000*ms)}, 2},
		{"posted after the first of a round had failed", []Slice{lost(1, 0, 500*ms), lost(2, 400*ms, 900*ms), lost(3, 600*ms, 1100*ms)}, 2},
		{"in any order", []Slice{lost(3, 1000*ms, 1500*ms), lost(1, 0, 500*ms), lost(2, 501*ms, 999*ms)}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, rounds(tc.lost)) })
	}
}

func TestFailedTakesFlushesBehindATimeout(t *testing.T) {
	flushed := func(qp uint64) Slice {
		return Slice{Path: path, QP: qp, Bytes: 1, Status: classify.StatusWRFlushErr}
	}
	arrived := Slice{Path: path, QP: 1, Bytes: 1, Status: classify.StatusSuccess}
	probe := lost(1, 0, ms)
	probe.Bytes = 8
	run := Run{Numbers: Numbers{SliceBytes: 1}, Slices: []Slice{flushed(1), lost(1, 0, ms), flushed(2), arrived, probe}}
	list := run.failed()
	assert.Len(t, list, 2, "a timeout and the flush on its QP; not the flush of a QP that was taken down: %v", list)
}

func TestLessons(t *testing.T) {
	verdict := func(at time.Duration, controller int, to cc.State, class classify.Class) Verdict {
		return Verdict{Path: path, Controller: controller, To: to, Class: class, At: at}
	}
	run := Run{
		Begin: 1000 * ms, Numbers: Numbers{SliceBytes: 1},
		Slices: []Slice{
			lost(1, 1000*ms, 1500*ms), lost(2, 1100*ms, 1600*ms),
			lost(3, 1501*ms, 2001*ms), // posted before anybody could know: a second round all the same
			lost(4, 1650*ms, 2150*ms),
			{Path: path, QP: 9, Posted: 1700 * ms, Ended: 1710 * ms, Status: classify.StatusSuccess},
		},
		Verdicts: []Verdict{
			verdict(1100*ms, 0, cc.Suspect, classify.ClassNone),
			verdict(1600*ms, 0, cc.Suspect, classify.ClassRouteTimeout),
			verdict(2000*ms, 1, cc.Quarantined, classify.ClassRouteTimeout),
			verdict(2100*ms, 0, cc.Quarantined, classify.ClassNone),
			verdict(2900*ms, 0, cc.Healthy, classify.ClassNone),
		},
	}
	list := lessons(run)
	require.Len(t, list, 1)
	assert.Equal(t, Lesson{
		Path: path, Rounds: 2, Slices: 4, After: 1, First: 500 * ms, Last: 1150 * ms, Paused: 1, PausedAt: 1000 * ms,
	}, list[0])
}

func TestSpread(t *testing.T) {
	assert.Equal(t, Spread{}, spread(nil))
	assert.Equal(t, Spread{3, 1, 2, 9}, spread([]time.Duration{9, 1, 2}))
}

func TestRateCountsWhatArrivedInTime(t *testing.T) {
	at := func(end time.Duration, status classify.Status) Slice {
		return Slice{Bytes: 100, Ended: end, Status: status}
	}
	run := Run{Slices: []Slice{
		at(999*ms, classify.StatusSuccess), at(1000*ms, classify.StatusSuccess), at(1400*ms, classify.StatusSuccess),
		at(1200*ms, classify.StatusRetryExcErr), at(1500*ms, classify.StatusSuccess),
	}}
	assert.InDelta(t, 400, run.Rate(1000*ms, 1500*ms), 1e-9)
}

func TestRepairReadsProbesAndUserSlices(t *testing.T) {
	slice := func(bytes int64, posted time.Duration, status classify.Status) Slice {
		return Slice{Path: path, Bytes: bytes, Posted: posted, Ended: posted + 100*ms, Status: status}
	}
	const user, probe = 4096, 8
	run := Run{Numbers: Numbers{SliceBytes: user}, Slices: []Slice{
		slice(user, 100*ms, classify.StatusRetryExcErr), // before it was learnt
		slice(probe, 2000*ms, classify.StatusRetryExcErr),
		slice(probe, 3000*ms, classify.StatusSuccess),
		slice(user, 3200*ms, classify.StatusSuccess),
		slice(user, 3300*ms, classify.StatusSuccess),
	}}
	p, lostSlices, took := readPair(run, path, 1000*ms, 2500*ms)
	assert.Equal(t, Repaired{Path: path, Failed: -500 * ms, Probe: 500 * ms, User: 700 * ms}, p)
	assert.Zero(t, lostSlices)
	assert.Equal(t, []time.Duration{100 * ms}, took)
}

func TestComparison(t *testing.T) {
	c := Comparison{Rates: [2][]float64{{9, 11, 10}, {10, 10, 10}}}
	assert.InDelta(t, 1, c.Ratio(), 1e-9)
	assert.InDelta(t, 0.1/math.Sqrt(3), c.Error(), 1e-9, "the deviation of one second is 0.1")
}

func TestCycleOf(t *testing.T) {
	starts := []time.Duration{10, 20, 30}
	for at, want := range map[time.Duration]int{0: 0, 10: 0, 19: 0, 20: 1, 35: 2} {
		assert.Equal(t, want, cycleOf(starts, at), "at %d", at)
	}
}

func TestAgainIsWhatWasPostedAfterTheRepair(t *testing.T) {
	arrived := func(posted time.Duration) Slice {
		return Slice{Path: path, Bytes: 4096, Posted: posted, Ended: posted + 50*ms, Status: classify.StatusSuccess}
	}
	probe, late := arrived(1100*ms), lost(1, 1150*ms, 1190*ms)
	probe.Bytes, late.Bytes = 8, 4096
	run := Run{Numbers: Numbers{SliceBytes: 4096}, Slices: []Slice{arrived(990 * ms), probe, late, arrived(1200 * ms), arrived(1300 * ms)}}
	other := Path{"rxa1", "rxb1"}
	assert.Equal(t, []time.Duration{250 * ms, 0}, run.again([]Path{path, other}, 1000*ms))

	last, all := Suffered{Again: []time.Duration{250 * ms, 0}}.LastAgain()
	assert.False(t, all, "one is not back")
	assert.Zero(t, last)
	last, all = Suffered{Again: []time.Duration{250 * ms, 100 * ms}}.LastAgain()
	assert.True(t, all)
	assert.Equal(t, 250*ms, last)
}

func TestWindows(t *testing.T) {
	n := DefaultNumbers()
	c := n.controller(Ours)
	assert.Equal(t, c.StartWindowBytes, c.MaxWindowBytes, "without numbers a window stays where it begins")
	n.Mode = cc.Observe
	n.Windows = Windows{Law: cc.LawRound, MinBytes: 1 << 10, StartBytes: 4 << 10, MaxBytes: 1 << 20, Target: 30 * ms}
	c = n.controller(Ours)
	require.NoError(t, c.Validate())
	assert.Equal(t, cc.Observe, c.Mode)
	assert.Equal(t, "law round, window 1 / 4 / 1024 KiB (least, start, most), target drain 30ms", n.Windows.String())
	assert.Equal(t, []any{cc.LawRound, int64(1 << 10), int64(4 << 10), int64(1 << 20), 30 * ms},
		[]any{c.Law, c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes, c.TargetDrain})
}
