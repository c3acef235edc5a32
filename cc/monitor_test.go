package cc

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	ms       = time.Millisecond
	oneEpoch = 100 * ms // the default
)

// load is one route with an engine that always has more to send.
type load struct {
	*rig
	route *Route
	gen   Generation
	qp    uint64
	out   []*slice
}

var nextQP uint64

func (r *rig) load(local, peer, remote string) *load {
	nextQP++
	l := &load{rig: r, route: r.route(local, peer, remote), qp: nextQP}
	l.gen = r.renew(l.route, l.qp)
	return l
}

// fill posts slices of 64 KiB until one is refused.
func (l *load) fill() {
	l.Helper()
	for len(l.out) < 1000 {
		s := new(slice)
		d := l.route.TryAcquire(&s.permit, l.gen, 64*kib, &s.task)
		if !d.Admitted() {
			return
		}
		require.NoError(l.TB, s.permit.Posting(l.qp, l.now))
		s.use = d.Use
		l.out = append(l.out, s)
	}
}

// drain settles all that is out.
func (l *load) drain(v classify.Verdict) {
	for _, s := range l.out {
		l.settle(s, v)
	}
	l.out = l.out[:0]
}

// next moves on to the next control epoch and ticks.
func (r *rig) next() {
	r.now += oneEpoch - r.now%oneEpoch
	r.ctl.Tick(r.now)
}

// epoch is a control epoch in which the window was the limit and slices took so
// long.
func (l *load) epoch(took time.Duration) {
	l.Helper()
	l.fill()
	l.now += took
	l.drain(success)
	l.next()
}

// Drain times of an epoch at the target of 10 ms.
const low, neutral, high = 1 * ms, 8 * ms, 20 * ms

func (l *load) want(state State, window int64, why string) {
	l.Helper()
	assert.Equal(l.TB, state, l.route.State(), why)
	assert.Equal(l.TB, window, l.route.window.Load(), why)
}

func TestEpochLawOnRoute(t *testing.T) {
	type step struct {
		do     func(*load)
		state  State
		window int64
	}
	of := func(took time.Duration) func(*load) { return func(l *load) { l.epoch(took) } }
	idle := func(l *load) { l.next() }
	unlimited := func(l *load) { // low, but the window was not the limit
		var s slice
		l.post(&s, l.route, l.gen, 64*kib, l.qp)
		l.settle(&s, success)
		l.next()
	}
	notReady := func(l *load) {
		l.fill()
		l.drain(rnr())
		l.gen = l.renew(l.route, l.qp)
		l.next()
	}
	nothingDelivered := func(l *load) {
		l.fill()
		l.next()
	}
	failedAndSilent := func(l *load) {
		l.fill()
		l.settle(l.out[0], wc(classify.StatusRemAccessErr, 0))
		l.out = l.out[1:]
		l.next()
	}
	extraTicks := func(l *load) {
		l.fill()
		l.now += high
		l.drain(success)
		for range 50 {
			l.now += ms
			l.ctl.Tick(l.now)
		}
		l.next()
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"one high epoch is none", []step{{of(high), Healthy, mib}, {of(low), Healthy, mib}, {of(high), Healthy, mib}}},
		{"two high epochs congest and halve, each further halves, down to the minimum", []step{
			{of(high), Healthy, mib}, {of(high), Congested, 512 * kib}, {of(high), Congested, 256 * kib}, {of(high), Congested, 128 * kib},
			{of(high), Congested, 64 * kib}, {of(high), Congested, 64 * kib}}},
		{"two low epochs end it and add a step, each further adds, up to the maximum", []step{
			{of(high), Healthy, mib}, {of(high), Congested, 512 * kib}, {of(low), Congested, 512 * kib}, {of(low), Healthy, 512*kib + mib},
			{of(low), Healthy, 512*kib + 2*mib}, {of(low), Healthy, 512*kib + 3*mib}, {of(low), Healthy, 4 * mib}, {of(low), Healthy, 4 * mib}}},
		{"neutral clears a high row", []step{{of(high), Healthy, mib}, {of(neutral), Healthy, mib}, {of(high), Healthy, mib}}},
		{"neutral clears a low row", []step{{of(low), Healthy, mib}, {of(neutral), Healthy, mib}, {of(low), Healthy, mib}}},
		{"idle leaves CONGESTED and does not grow", []step{
			{of(high), Healthy, mib}, {of(high), Congested, 512 * kib}, {idle, Congested, 512 * kib}, {idle, Healthy, 512 * kib}, {idle, Healthy, 512 * kib}}},
		{"no growth unless the window was the limit", []step{{unlimited, Healthy, mib}, {unlimited, Healthy, mib}, {unlimited, Healthy, mib}, {of(low), Healthy, 2 * mib}}},
		{"a receiver that is not ready is pressure", []step{{notReady, Healthy, mib}, {notReady, Congested, 512 * kib}}},
		{"bytes out all the epoch and nothing delivered is pressure", []step{
			{nothingDelivered, Healthy, mib}, {nothingDelivered, Healthy, mib}, {nothingDelivered, Congested, 512 * kib}}},
		{"but not if a failure settled", []step{
			{nothingDelivered, Healthy, mib}, {failedAndSilent, Healthy, mib}, {failedAndSilent, Healthy, mib}, {failedAndSilent, Healthy, mib}}},
		{"more ticks in an epoch do nothing", []step{{extraTicks, Healthy, mib}, {extraTicks, Congested, 512 * kib}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newRig(t, Enforce).load("D1", "P", "n1")
			l.next()
			for i, s := range tt.steps {
				s.do(l)
				l.want(s.state, s.window, fmt.Sprintf("after step %d", i+1))
			}
			l.drain(teardown)
			l.inFlight(l.route, 0, 0)
		})
	}
}

// A node comes back empty and everybody writes to it: slices are slow, none fails.
// https://github.com/kvcache-ai/Mooncake/issues/3688
func TestFieldIncast(t *testing.T) {
	r := newRig(t, Enforce)
	hot, cool := r.load("D1", "P", "n1"), r.load("D1", "Q", "n1")
	var refused slice
	step := func(took time.Duration) {
		cool.fill()
		cool.drain(success)
		hot.fill()
		if !refused.permit.taken() {
			hot.route.TryAcquire(&refused.permit, hot.gen, 64*kib, &refused.task)
		}
		hot.now += took
		hot.drain(success)
		hot.next()
	}
	step(high)
	step(low)
	hot.want(Healthy, mib, "one slow epoch")
	for range 6 {
		step(high)
	}
	hot.want(Congested, 64*kib, "six slow epochs")
	hot.fill()
	d := hot.route.TryAcquire(&refused.permit, hot.gen, 64*kib, &refused.task)
	assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonCongestionFeedback, Domain: RouteDomain}, d.Ruling)
	assert.Equal(t, taskstate.Congested, refused.task.State())
	hot.drain(success)
	d = hot.route.TryAcquire(&refused.permit, hot.gen, 64*kib, &refused.task)
	require.True(t, d.Admitted())
	require.NoError(t, refused.permit.Posting(hot.qp, r.now))
	refused.permit.Settle(d.Use, success, r.now)
	assert.Equal(t, taskstate.Normal, refused.task.State())
	for range 4 {
		step(low)
		step(high)
	}
	hot.want(Congested, 64*kib, "slow and fast in turn")
	for range 2 {
		step(low)
	}
	hot.want(Healthy, 64*kib+mib, "two fast epochs")
	for range 10 {
		step(low)
	}
	hot.want(Healthy, 4*mib, "ten more")
	assert.Equal(t, Healthy, cool.route.State(), "the other receiver")
	assert.GreaterOrEqual(t, cool.route.window.Load(), mib)
	assert.Equal(t, 4*mib, hot.route.device.window.Load(), "one receiver's pressure is not the device's")
	hot.inFlight(hot.route, 0, 0)
}

// The receiver is not ready: five times it errors, its sibling does well.
// https://github.com/ydb-platform/nbs/issues/5790
func TestFieldReceiverPressureWindows(t *testing.T) {
	r := newRig(t, Enforce)
	slow, fine := r.load("D1", "P", "n1"), r.load("D1", "Q", "n1")
	r.next()
	var last slice
	for range 5 {
		r.post(&last, slow.route, slow.gen, 64*kib, slow.qp)
		r.settle(&last, rnr())
		fine.fill()
		fine.drain(success)
		slow.gen = r.renew(slow.route, slow.qp)
		r.next()
	}
	slow.want(Congested, 64*kib, "five epochs with a receiver that was not ready")
	r.reason(&last, taskstate.Congested, classify.ReasonReceiverPressure)
	assert.Equal(t, Healthy, fine.route.State(), "the other receiver")
	assert.Equal(t, 4*mib, fine.route.window.Load(), "the other receiver")
	assert.Equal(t, 4*mib, slow.route.device.window.Load(), "the device")

	slow.epoch(low)
	slow.epoch(low)
	slow.want(Healthy, 64*kib+mib, "it is ready again")

	old := new(slice)
	r.post(old, slow.route, slow.gen, 64*kib, slow.qp)
	slow.gen = r.renew(slow.route, slow.qp)
	r.settle(old, rnr())
	slow.epoch(low)
	slow.want(Healthy, 64*kib+2*mib, "an endpoint that is gone was not answered in time")
}

// With infinite retries nothing ever errors, but everything takes 4 s.
func TestFieldReceiverNeverReady(t *testing.T) {
	r := newRig(t, Enforce)
	slow, fine := r.load("D1", "P", "n1"), r.load("D1", "Q", "n1")
	r.next()
	for range 3 {
		slow.fill()
		for range 40 {
			fine.fill()
			fine.drain(success)
			r.next()
		}
		slow.drain(success)
	}
	r.next()
	slow.want(Congested, 64*kib, "slices that take 4 s")
	d, _ := slow.route.Snapshot().Flow.DrainTime.Get()
	assert.InDelta(t, 4*time.Second, d, float64(oneEpoch), "drain time")
	assert.Equal(t, Healthy, fine.route.State(), "the other receiver")
	assert.Equal(t, 4*mib, slow.route.device.window.Load(), "the device")
}

// Failures give no drain sample, whatever their age: no growth, no congestion.
func TestFailuresAreNoSamples(t *testing.T) {
	for name, v := range map[string]classify.Verdict{"retry exceeded": retryExc, "flush": flush, "remote access": wc(classify.StatusRemAccessErr, 0), "teardown": teardown} {
		l := newRig(t, Enforce).load("D1", "P", "n1")
		for range 4 {
			l.fill()
			l.now += 4 * time.Second
			l.drain(v)
			l.gen = l.renew(l.route, l.qp)
			l.next()
		}
		_, observed := l.route.Snapshot().Flow.DrainTime.Get()
		assert.False(t, observed, name)
		assert.Equal(t, mib, l.route.lawWindow, name)
		assert.NotEqual(t, Congested, l.route.State(), name)
		assert.Zero(t, l.route.Snapshot().Flow.DeliveredBytes, name)
	}
}

// A late success after a deadline gives no sample, and is not delivered; nor is
// what an older endpoint delivers.
func TestLateSuccessIsNoSample(t *testing.T) {
	l := newRig(t, Enforce).load("D1", "P", "n1")
	var late, old slice
	l.post(&late, l.route, l.gen, 64*kib, l.qp)
	l.post(&old, l.route, l.gen, 64*kib, l.qp)
	l.now += 4 * time.Second
	require.Equal(t, Ended, l.settle(&late, deadline))
	require.Equal(t, Released, l.settle(&late, success))
	l.renew(l.route, l.qp)
	require.Equal(t, Ended|Released, l.settle(&old, success))
	l.next()
	flow := l.route.Snapshot().Flow
	_, observed := flow.DrainTime.Get()
	assert.False(t, observed)
	assert.Zero(t, flow.DeliveredBytes)
}

// SUSPECT does not grow, and shrinks all the same.
func TestSuspectDoesNotGrow(t *testing.T) {
	for took, want := range map[time.Duration]int64{low: mib, high: 512 * kib} {
		r := tunedRig(t, Enforce, func(c *Config) { c.SuspectWindowBytes = 0 })
		l := r.load("D1", "P", "n1")
		r.next()
		for range 2 {
			l.fill()
			l.now += took
			l.drain(success)
			require.Equal(t, Healthy, l.route.State())
			var s slice
			l.post(&s, l.route, l.gen, kib, l.qp)
			l.settle(&s, retryExc)
			l.gen = l.renew(l.route, l.qp)
			require.Equal(t, Suspect, l.route.State())
			l.next()
		}
		assert.Equal(t, want, l.route.lawWindow, "epochs of %s", took)
		assert.Equal(t, took == high, l.route.health.congested, "SUSPECT remembers CONGESTED")
	}
}

// After a trial the window ramps up from the minimum, and old rows do not count.
func TestTrialBeginsAnew(t *testing.T) {
	for _, law := range []Law{LawEpoch, LawRound} {
		r := tunedRig(t, Enforce, func(c *Config) { c.Law = law })
		l := r.load("D1", "P", "n1")
		l.epoch(low)
		for range 3 {
			var s slice
			r.post(&s, l.route, l.gen, kib, l.qp)
			r.settle(&s, retryExc)
			l.gen = r.renew(l.route, l.qp)
		}
		require.Equal(t, Quarantined, l.route.State())
		r.next()
		r.now += time.Minute
		r.next()
		var s slice
		r.post(&s, l.route, l.gen, kib, l.qp)
		r.next()
		require.Equal(t, Probing, l.route.State(), "a tick decides no trial")
		r.settle(&s, success)
		l.want(Healthy, 64*kib, "after the trial")
		if law == LawEpoch {
			l.epoch(low)
			l.want(Healthy, 64*kib, "one low epoch")
			l.epoch(low)
			l.want(Healthy, 64*kib+mib, "two")
		} else {
			l.epoch(low)
			l.epoch(low)
			assert.GreaterOrEqual(t, l.route.window.Load(), 256*kib, "doubles in each round")
		}
	}
}

// An earlier time counts as the latest that was seen.
func TestTickBackwards(t *testing.T) {
	l := newRig(t, Enforce).load("D1", "P", "n1")
	l.next()
	l.epoch(high)
	began := l.now
	for range 10 {
		l.now = began
		l.fill()
		l.now = began + high
		l.drain(success)
		l.ctl.Tick(began - time.Hour)
		l.ctl.Tick(began)
	}
	l.want(Healthy, mib, "no epoch has ended")
	l.now = began
	l.next()
	l.want(Congested, 512*kib, "the second has")
	l.fill()
	l.now -= time.Hour
	l.drain(success)
	l.now += time.Hour
	l.next()
	drain, _ := l.route.Snapshot().Flow.DrainTime.Get()
	assert.Zero(t, drain, "a completion before its post took no time")
}

// A tick visits the routes in use and no others, and allocates nothing.
func TestTickLeavesIdleRoutesAlone(t *testing.T) {
	r := newRig(t, Enforce)
	var s slice
	for i := range 10_000 {
		route := r.route("D1", "P", fmt.Sprint(i))
		if i%10 == 0 { // one in ten was used once
			r.post(&s, route, r.renew(route, uint64(i+1)), 4*kib, uint64(i+1))
			r.settle(&s, success)
		}
	}
	dev := r.route("D1", "P", "0").device
	m := &r.ctl.monitor
	r.next()
	assert.Equal(t, 1000, m.looks, "those that were used")
	assert.Positive(t, dev.granted.Load())
	r.next()
	m.looks = 0
	r.next()
	assert.Zero(t, m.looks, "all are idle")
	assert.Zero(t, dev.granted.Load(), "idle leases came back")
	assert.Zero(t, dev.leases.Load())
	assert.Zero(t, testing.AllocsPerRun(100, r.next), "allocations of a tick that closes an epoch")

	busy := r.load("D1", "P", "busy")
	m.looks = 0
	busy.epoch(low)
	busy.epoch(low)
	assert.Equal(t, 2, m.looks, "one route is in use again")
	busy.fill()
	r.next()
	assert.Zero(t, testing.AllocsPerRun(100, r.next), "with a route in use")
	busy.drain(success)

	m.looks = 0
	again := r.route("D1", "P", "0")
	gen := r.renew(again, 1)
	for range 3 { // posts on a lease join once
		r.post(&s, again, gen, 4*kib, 1)
		r.settle(&s, success)
	}
	assert.Len(t, dev.joining, 1)
	r.next()
	assert.Equal(t, 2, m.looks, "an idle route that is used again is visited")
}

// An hour of ticks takes less than a second, with a route in use.
func TestAnHourOfTicks(t *testing.T) {
	l := newRig(t, Enforce).load("D1", "P", "n1")
	end := l.now + time.Hour
	for l.now < end {
		l.fill()
		for range 5 {
			l.now += 20 * ms
			l.ctl.Tick(l.now)
		}
		l.drain(success)
	}
	l.want(Congested, 64*kib, "slices take 100 ms")
	runtime.KeepAlive(l)
}

func TestTickAfterClose(t *testing.T) {
	l := newRig(t, Enforce).load("D1", "P", "n1")
	l.fill()
	l.ctl.Close()
	for range 5 {
		l.next()
	}
	l.want(Healthy, mib, "nothing changes after Close")
	l.drain(success)
	l.inFlight(l.route, 0, 0)
}

func TestTickInModeOff(t *testing.T) {
	r := newRig(t, Off)
	r.next()
	assert.Zero(t, r.ctl.monitor.looks)
}
