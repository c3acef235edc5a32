package cc

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rejected = classify.Of(classify.SignalRejectedPost)

// listRig is a list on a route of its own.
type listRig struct {
	*healthRig
	route *Route
	gen   Generation
	qp    uint64
	list  List
	task  taskstate.Task
	use   Use
}

func newListRig(t testing.TB, mode Mode) *listRig {
	l := &listRig{healthRig: newHealthRig(t, mode)}
	l.route = l.healthRig.route("D1", "P", "n1")
	l.gen, l.qp = l.renewed(l.route)
	return l
}

// sizes returns n slices of 4 KiB, 8 KiB and so on, so that no two runs of slices have
// the same bytes.
func sizes(n int) (list []int64) {
	for i := range n {
		list = append(list, int64(i+1)*4*kib)
	}
	return list
}

// sum returns the bytes of the slices in a mask.
func sum(sizes []int64, mask uint32) (n int64) {
	for i, size := range sizes {
		n += size * int64(mask>>i&1)
	}
	return n
}

// post has a list of n slices posted.
func (l *listRig) post(n int) {
	l.Helper()
	d := l.route.TryAcquireList(&l.list, l.gen, sizes(n), &l.task)
	require.True(l.TB, d.Admitted(), "TryAcquireList of %d slices on an open window: %s", n, d)
	require.NotZero(l.TB, d.Use)
	l.use = d.Use
	require.NoError(l.TB, l.list.Posting(l.qp, l.now))
}

func (l *listRig) settle(mask uint32, v classify.Verdict) Settled {
	return l.list.Settle(l.use, mask, v, l.now)
}

// left requires that these slices of n still hold their bytes, and no other.
func (l *listRig) left(n int, mask uint32) {
	l.Helper()
	want := sum(sizes(n), mask)
	l.inFlight(l.route, want, want)
	assert.Equal(l.TB, want, l.list.Held(), "bytes of the list")
}

// Each step says what it takes; the bytes follow the released slices.
func TestListEdges(t *testing.T) {
	type step struct {
		mask            uint32
		v               classify.Verdict
		ended, released uint32
	}
	all := ^uint32(0)
	tests := []struct {
		name  string
		steps []step
		state taskstate.State
	}{
		{"all succeed at once", []step{{all, success, 0xff, 0xff}, {all, success, 0, 0}}, normal},
		{"up to each signaled one", []step{{0xf, success, 0xf, 0xf}, {0x1f, success, 0x10, 0x10}, {0xff, success, 0xe0, 0xe0}}, normal},
		{"gaps", []step{{0x55, success, 0x55, 0x55}, {0xf0, success, 0xa0, 0xa0}, {all, teardown, 0x0a, 0x0a}}, normal},
		{"an empty mask and slices beyond the list", []step{{0, success, 0, 0}, {0xff00, success, 0, 0}, {0xff00, cancel, 0, 0}, {all, success, 0xff, 0xff}}, normal},
		{"a failure, what came before, what was flushed", []step{{7, success, 7, 7}, {8, retryExc, 8, 8}, {0xf0, flush, 0xf0, 0xf0}, {all, teardown, 0, 0}}, congested},
		{"deadline, then late completions", []step{{3, deadline, 3, 0}, {3, deadline, 0, 0}, {3, cancel, 0, 0}, {1, success, 0, 1}, {2, success, 0, 2}, {0xfc, success, 0xfc, 0xfc}}, normal},
		{"one of two deadlines completes late", []step{{3, deadline, 3, 0}, {1, success, 0, 1}, {0xfe, teardown, 0xfc, 0xfe}}, congested},
		{"deadline after a part succeeded", []step{{0xf, success, 0xf, 0xf}, {all, deadline, 0xf0, 0}, {all, success, 0, 0xf0}}, normal},
		{"a deadline with a stalled poller takes nothing", []step{{all, stalled, 0, 0}, {all, success, 0xff, 0xff}}, normal},
		{"cancel, then completions", []step{{0x0f, cancel, 0x0f, 0}, {all, success, 0xf0, 0xff}}, normal},
		{"cancel of all, then teardown", []step{{all, cancel, 0xff, 0}, {all, teardown, 0, 0xff}}, unknown},
		{"cancel of all, then completions", []step{{all, cancel, 0xff, 0}, {all, success, 0, 0xff}}, unknown},
		{"a cancelled one completes, the rest is torn down", []step{{1, cancel, 1, 0}, {1, success, 0, 1}, {all, teardown, 0xfe, 0xfe}}, unknown},
		{"all rejected by the verb", []step{{all, rejected, 0xff, 0xff}}, unknown},
		{"the tail rejected", []step{{1, success, 1, 1}, {all, rejected, 0xfe, 0xfe}}, normal},
		{"teardown of all", []step{{all, teardown, 0xff, 0xff}, {all, success, 0, 0}}, unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newListRig(t, Enforce)
			l.post(8)
			open := uint32(0xff)
			for i, s := range tt.steps {
				got := l.settle(s.mask, s.v)
				assert.Equal(t, Settled{s.ended, s.released}, got, "step %d: %s of %#x", i+1, s.v, s.mask)
				open &^= got.Released
				l.left(8, open)
			}
			require.Zero(t, open, "slices that were never released")
			state := l.task.State()
			assert.Equal(t, tt.state, state, "what the task knows")
			l.done(l.route)
		})
	}
}

func TestListOldUse(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(4)
	old := l.use
	l.settle(0xf, success)
	l.post(5)
	for _, v := range []classify.Verdict{success, retryExc, deadline, cancel, teardown} {
		assert.Equal(t, Settled{}, l.list.Settle(old, 0x1f, v, l.now), "%s of the use before", v)
		assert.Equal(t, Settled{}, l.list.Settle(old|1<<31, 0x1f, v, l.now), "%s of a use that no list has", v)
	}
	assert.Equal(t, Settled{}, l.list.Settle(0, 0x1f, success, l.now))
	l.left(5, 0x1f)
	l.settle(0x1f, success)
	l.count(l.route, 0)

	l.list.p.use = recordedUse - 1
	l.post(1)
	assert.EqualValues(t, 1, l.use, "the number after the last")
	assert.Equal(t, Settled{1, 1}, l.settle(1, success))
}

func TestListUnposted(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(6)
	assert.Zero(t, l.list.Unposted(6), "all were posted")
	assert.Zero(t, l.list.Unposted(-1))
	assert.EqualValues(t, 0b111100, l.list.Unposted(2), "the tail of a partial post")
	assert.Zero(t, l.list.Unposted(2), "a second time")
	l.left(6, 0b11)
	assert.Equal(t, Settled{0b11, 0b11}, l.settle(0x3f, success))
	assert.Zero(t, l.list.Unposted(0))
	l.left(6, 0)
	state := l.task.State()
	assert.Equal(t, normal, state)

	require.True(t, l.route.TryAcquireList(&l.list, l.gen, sizes(6), &l.task).Admitted())
	assert.EqualValues(t, 0b111000, l.list.Unposted(3), "a list is shortened before the post")
	l.left(6, 0b111)
	require.NoError(t, l.list.Posting(l.qp, l.now))
	l.use = l.list.p.use
	assert.Equal(t, Settled{0b111, 0b111}, l.settle(0x3f, success))

	require.True(t, l.route.TryAcquireList(&l.list, l.gen, sizes(6), &l.task).Admitted())
	assert.EqualValues(t, 0x3f, l.list.Unposted(0), "before the post")
	assert.ErrorIs(t, l.list.Posting(l.qp, l.now), ErrNotHeld)

	l.post(6)
	assert.EqualValues(t, 0x3f, l.list.Unposted(0), "the verb took none")
	l.done(l.route)
	l.count(l.route, 0)
}

func TestListPostingFails(t *testing.T) {
	l := newListRig(t, Enforce)
	acquire := func() {
		require.True(t, l.route.TryAcquireList(&l.list, l.gen, sizes(3), nil).Admitted())
	}
	assert.ErrorIs(t, l.list.Posting(l.qp, l.now), ErrNotHeld)
	acquire()
	assert.ErrorIs(t, l.list.Posting(99, l.now), ErrUnknownQP)
	l.left(3, 0)
	acquire()
	old := l.gen
	l.gen, l.qp = l.renewed(l.route)
	assert.ErrorIs(t, l.list.Posting(l.qp, l.now), ErrStaleGeneration)
	l.left(3, 0)
	assert.Equal(t, classify.ReasonStaleGeneration, l.route.TryAcquireList(&l.list, old, sizes(3), nil).Reason)
	l.done(l.route)
}

func TestListBadInput(t *testing.T) {
	l := newListRig(t, Enforce)
	tests := []struct {
		name  string
		sizes []int64
		want  string
	}{
		{"empty", nil, "0 slices: must be 1 to 32"},
		{"too long", sizes(33), "33 slices: must be 1 to 32"},
		{"an empty slice", []int64{1, 0}, "slice 1 of 2 has 0 bytes"},
		{"a negative slice", []int64{-5}, "slice 0 of 1 has -5 bytes"},
		{"an absurd slice", []int64{MaxBytes + 1}, "must be 1 to"},
		{"absurd together", []int64{MaxBytes, MaxBytes, MaxBytes, MaxBytes, MaxBytes, MaxBytes}, "the first 2 of 6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := l.route.TryAcquireList(&l.list, l.gen, tt.sizes, &l.task)
			assert.ErrorContains(t, d.Err, tt.want)
			assert.Equal(t, Refused, d.Answer)
			l.left(1, 0)
		})
	}
	assert.ErrorContains(t, l.route.TryAcquireList(&l.list, l.gen+1, sizes(1), nil).Err, "newest")
	require.True(t, l.route.TryAcquireList(&l.list, l.gen, sizes(2), nil).Admitted())
	assert.ErrorIs(t, l.route.TryAcquireList(&l.list, l.gen, sizes(2), nil).Err, ErrHeld, "acquired")
	l.left(2, 3)
	l.list.Unposted(0)
	l.post(2)
	l.settle(1, success)
	assert.ErrorIs(t, l.route.TryAcquireList(&l.list, l.gen, sizes(2), nil).Err, ErrHeld, "half settled")
	l.left(2, 2)
	l.settle(2, success)
	l.ctl.Close()
	assert.ErrorIs(t, l.route.TryAcquireList(&l.list, l.gen, sizes(2), nil).Err, ErrClosed)
}

// A list of several slices stays within the window; one slice may exceed an empty one.
func TestListWindow(t *testing.T) {
	for _, tt := range []struct {
		name   string
		window *atomic.Int64
		domain Domain
	}{
		{"route", nil, RouteDomain},
		{"device", nil, DeviceDomain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newListRig(t, Enforce)
			if tt.domain == DeviceDomain {
				l.route.device.setWindow(mib / 2)
			}
			window := min(l.route.window.Load(), l.route.device.window.Load())
			half := []int64{window / 2, window / 2, window / 2}
			d := l.route.TryAcquireList(&l.list, l.gen, half, &l.task)
			assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: tt.domain}, d.Ruling, "more than the window, which is empty")
			assert.Equal(t, 2, l.route.Fit(half))
			l.left(1, 0)
			require.True(t, l.route.TryAcquireList(&l.list, l.gen, half[:2], &l.task).Admitted(), "what fits")
			assert.Zero(t, l.route.Fit(half), "nothing fits a full window")
			var other List
			d = l.route.TryAcquireList(&other, l.gen, sizes(2), nil)
			assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: tt.domain}, d.Ruling, "a full window")
			assert.Zero(t, other.Held())
			l.list.Unposted(0)

			large := []int64{window + 1, 1}
			assert.Equal(t, 1, l.route.Fit(large), "one slice may exceed an empty window")
			assert.False(t, l.route.TryAcquireList(&l.list, l.gen, large, nil).Admitted())
			require.True(t, l.route.TryAcquireList(&l.list, l.gen, large[:1], nil).Admitted())
			l.list.Unposted(0)
			assert.Nil(t, l.route.line.Load(), "nobody stands in line for a list")
			assert.Equal(t, MaxList, l.route.Fit(make([]int64, 40)))
			l.done(l.route)
		})
	}
}

// In observe mode a list is admitted whatever its size, and its refusal counted once.
func TestListObserved(t *testing.T) {
	l := newListRig(t, Observe)
	for i, large := range [][]int64{{mib, 1}, {mib, mib, mib}} {
		require.True(t, l.route.TryAcquireList(&l.list, l.gen, large, &l.task).Admitted())
		assert.EqualValues(t, i+1, l.route.refusals.counters().routeWindow.Load(), "refusals for a full window")
		assert.True(t, l.route.active.Load(), "the monitor knows of the route")
		require.NoError(t, l.list.Posting(l.qp, l.now))
		l.list.Settle(l.list.p.use, 7, success, l.now)
		l.inFlight(l.route, 0, 0)
	}
}

// The delay of slices that are settled together stands for all their bytes.
func TestListDelay(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(8)
	l.advance(5 * time.Millisecond)
	l.settle(0xf, success)
	l.advance(5 * time.Millisecond)
	l.settle(0xf0, success)
	m := l.route.meter.Load()
	a, b := uint64(sum(sizes(8), 0xf)), uint64(sum(sizes(8), 0xf0))
	assert.Equal(t, a+b, m.bytes.Load(), "bytes that were measured")
	assert.Equal(t, a*5000+b*10000, m.delay.Load(), "bytes times microseconds")
	assert.EqualValues(t, a+b, l.route.flight.delivered())
}

// What succeeds on an endpoint that is not current gives bytes back and is no news.
func TestListOfOldEndpoint(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(8)
	l.gen, l.qp = l.renewed(l.route)
	l.advance(5 * time.Millisecond)
	assert.Equal(t, Settled{0xff, 0xff}, l.settle(0xff, success))
	assert.Zero(t, l.route.meter.Load().bytes.Load(), "bytes that were measured")
	assert.Zero(t, l.route.flight.delivered())
	assert.Zero(t, l.route.outdated.Load())
	assert.Equal(t, normal, l.task.State())
	l.done(l.route)
}

func TestListDeadlineWhilePollerStalls(t *testing.T) {
	l := newListRig(t, Enforce)
	poller, err := l.ctl.NewPoller("D1", 1)
	require.NoError(t, err)
	l.gen, l.qp = l.renewed(l.route)
	l.post(8)
	poller.Beat(l.now)
	l.advance(3 * l.ctl.cfg.StallGap)
	assert.Equal(t, Settled{}, l.settle(0xff, deadline))
	l.count(l.route, 0)
	assert.Equal(t, Settled{0xff, 0xff}, l.settle(0xff, success))
	l.left(8, 0)
}

// onSuspicion builds the route anew in a controller whose transition hook calls f when
// the route becomes SUSPECT.
func (l *listRig) onSuspicion(f func()) {
	ctl, err := New(l.ctl.cfg, WithClock(func() time.Duration { return l.now }), WithTransitions(func(tr Transition) {
		if tr.To == Suspect {
			f()
		}
	}))
	require.NoError(l.TB, err)
	l.ctl = ctl
	l.route = l.healthRig.route("D1", "P", "n1")
	l.gen, l.qp = l.renewed(l.route)
}

// The transition hook may settle the list whose failure it hears of.
func TestListSettledByHook(t *testing.T) {
	l := newListRig(t, Enforce)
	l.onSuspicion(func() {
		assert.Equal(t, Settled{0xf0, 0xf0}, l.settle(0xff, teardown), "slices whose deadline is being recorded are released by that call")
	})
	l.post(8)
	assert.Equal(t, Settled{Ended: 0x0f, Released: 0x0f}, l.settle(0x0f, deadline))
	l.left(8, 0)
}

// A late success stands, also when the deadline's evidence comes second.
func TestListSucceedsWhileItsDeadlineIsRecorded(t *testing.T) {
	l := newListRig(t, Enforce)
	l.onSuspicion(func() { assert.Equal(t, Settled{}, l.settle(1, success)) })
	l.post(1)
	assert.Equal(t, Settled{1, 1}, l.settle(1, deadline))
	assert.Equal(t, normal, l.task.State())
	l.left(1, 0)
}

func TestListAllocations(t *testing.T) {
	for _, mode := range []Mode{Off, Observe, Enforce} {
		l := newListRig(t, mode)
		if mode == Off {
			l.gen = 1
		}
		list := sizes(16)
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			d := l.route.TryAcquireList(&l.list, l.gen, list, &l.task)
			l.list.Posting(l.qp, l.now)
			l.list.Settle(d.Use, 0xff, success, l.now)
			l.list.Settle(d.Use, 0xffff, success, l.now)
		}), "mode %s", mode)
	}
}

func TestListOff(t *testing.T) {
	r := newRig(t, Off)
	route := r.route("D1", "P", "n1")
	var l List
	assert.True(t, route.TryAcquireList(&l, 7, nil, nil).Admitted())
	assert.NoError(t, l.Posting(1, r.now))
	assert.Equal(t, Settled{}, l.Settle(0, 1, success, r.now))
	assert.Zero(t, l.Unposted(0))
	assert.Equal(t, 3, route.Fit(sizes(3)))
}

func TestListErrorsNameTheList(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(2)
	err := l.route.TryAcquireList(&l.list, l.gen, sizes(1), nil).Err
	assert.True(t, strings.Contains(err.Error(), "12288 bytes"), "%s", err)
	l.settle(3, teardown)
}
