package cc

import (
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recordedRig is a rig with a recorder.
func recordedRig(t testing.TB, mode Mode, options ...recorder.Option) (*rig, *recorder.Recorder) {
	t.Helper()
	r := newRig(t, mode)
	rec := recorder.New(options...)
	ctl, err := New(r.ctl.cfg, WithClock(func() time.Duration { return r.now }), WithJitter(func() float64 { return 1 }), WithRecorder(rec))
	require.NoError(t, err)
	r.ctl = ctl
	return r, rec
}

// recordedLines returns the latest n lines of a recording.
func recordedLines(t testing.TB, rec *recorder.Recorder, n int) []string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, rec.Dump(&b, recorder.Text))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	return lines[len(lines)-n:]
}

// What is recorded allocates no more than what is not.
func TestRecordedCallsAllocateNothing(t *testing.T) {
	for _, serial := range []bool{false, true} {
		options := []recorder.Option{recorder.Slots(64)}
		if serial {
			options = append(options, recorder.Serial())
		}
		r, rec := recordedRig(t, Enforce, options...)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var s, full slice
		var l List
		sizes := []int64{kib, kib, 2 * kib}
		before := rec.Counters().Records
		const runs = 1000
		assert.Zero(t, testing.AllocsPerRun(runs, func() {
			d := route.TryAcquire(&s.permit, gen, 64*kib, &s.task)
			s.permit.Posting(1, r.now)
			s.permit.Settle(d.Use, success, r.now)
			d = route.TryAcquireList(&l, gen, sizes, &s.task)
			l.Posting(1, r.now)
			l.Settle(d.Use, 7, success, r.now)
		}), "acquire, post, settle, and the same with a list; serial: %t", serial)
		assert.Equal(t, uint64(7*(runs+1)), rec.Counters().Records-before, "each call has one record, and the sizes of the list")

		r.post(&full, route, gen, mib, 1)
		assert.Zero(t, testing.AllocsPerRun(runs, func() {
			route.TryAcquire(&s.permit, gen, kib, &s.task)
		}), "a refusal that is repeated")
	}
}

// A number of a recorded admission is told from all others, also when it is late.
func TestRecordedUseNumbers(t *testing.T) {
	r, rec := recordedRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	s := slice{permit: Permit{use: 41}}
	r.post(&s, route, gen, kib, 1)
	assert.Equal(t, recordedUse|42, s.use)
	old := s.use
	assert.Equal(t, Ended|Released, r.settle(&s, success))
	r.post(&s, route, gen, kib, 1)
	assert.Equal(t, Edges(0), s.permit.Settle(old, flush, r.now), "of the admission before")
	assert.Equal(t, Ended|Released, r.settle(&s, success))
	assert.Equal(t, []string{
		"@3600s complete p1 SUCCESS use=42 -> ended+released",
		"acquire p1 r1 1KiB gen=1 task=t1 -> admit use=43",
		"@3600s post p1 qp=1",
		"@3600s complete p1 WR_FLUSH_ERR vendor=0xf9 use=42 -> none",
		"@3600s complete p1 SUCCESS use=43 -> ended+released",
	}, recordedLines(t, rec, 5))
	r.inFlight(route, 0, 0)
}

// Permits that move between controllers with and without a recorder are what they are to
// the one that they are held by.
func TestPermitsMoveToAndFromARecorder(t *testing.T) {
	r, rec := recordedRig(t, Enforce)
	plain := newRig(t, Enforce)
	routes := []*Route{plain.route("D1", "P", "n1"), r.route("D1", "P", "n1")}
	gens := []Generation{plain.renew(routes[0], 1), r.renew(routes[1], 1)}
	var s slice
	for i := range 6 {
		route, gen, other := routes[i%2], gens[i%2], routes[1-i%2]
		d := route.TryAcquire(&s.permit, gen, kib, &s.task)
		require.True(t, d.Admitted())
		assert.Equal(t, i%2 == 1, d.Use >= recordedUse)
		assert.ErrorIs(t, other.Handoff(&s.permit, gens[1-i%2], nil).Err, ErrForeign)
		require.Equal(t, kib, s.permit.Held(), "nothing was changed")
		require.NoError(t, s.permit.Posting(1, r.now))
		assert.ErrorIs(t, s.permit.Posting(1, r.now), ErrNotHeld)
		assert.Equal(t, Ended|Released, s.permit.Settle(d.Use, success, r.now))
		assert.False(t, s.permit.Unposted())
	}
	before := rec.Counters().Records
	d := routes[0].TryAcquire(&s.permit, gens[0], kib, &s.task)
	require.NoError(t, s.permit.Posting(1, r.now))
	s.permit.Settle(d.Use, success, r.now)
	assert.Equal(t, before, rec.Counters().Records, "calls of the controller without")
}

// What observe mode lets pass on a QP that it does not know is recorded too.
func TestRecordedOnUnknownQP(t *testing.T) {
	r, rec := recordedRig(t, Observe)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	s := slice{permit: Permit{use: 1}}
	r.post(&s, route, gen, kib, 77)
	assert.Equal(t, Ended|Released, r.settle(&s, success))
	assert.Equal(t, []string{"@3600s post p1 qp=77", "@3600s complete p1 SUCCESS use=2 -> ended+released"}, recordedLines(t, rec, 2))
}

// The clock is never read for a record, and what only reads is not recorded.
func TestRecorderReadsNoClock(t *testing.T) {
	reads, rec := 0, recorder.New()
	cfg := DefaultConfig()
	cfg.Mode = Enforce
	ctl, err := New(cfg, WithRecorder(rec), WithClock(func() time.Duration { reads++; return 0 }))
	require.NoError(t, err)
	route, err := ctl.Route(rail.Pair{Peer: "P", Local: "D1", Port: 1, Remote: "n1"})
	require.NoError(t, err)
	gen, err := route.Renew(0, []QP{{ID: 1}})
	require.NoError(t, err)
	before := rec.Counters().Records
	ctl.Now()
	ctl.Snapshot()
	assert.Equal(t, before, rec.Counters().Records, "what only reads is not recorded")
	reads = 0
	var s slice
	route.TryAcquire(&s.permit, gen, kib, &s.task)
	s.permit.Posting(1, 0)
	s.permit.Unposted()
	assert.Zero(t, reads)
}

// A handoff that is refused as wrong leaves a reservation whose calls are recorded.
func TestRecordedHandoffThatIsWrong(t *testing.T) {
	r, rec := recordedRig(t, Enforce)
	route, other := r.route("D1", "P", "n1"), r.route("D1", "P", "n2")
	gen := r.renew(route, 1)
	s := slice{permit: Permit{use: 1}}
	require.True(t, route.TryAcquire(&s.permit, gen, kib, &s.task).Admitted())
	require.Error(t, other.Handoff(&s.permit, 9, &s.task).Err)
	require.NoError(t, s.permit.Posting(1, r.now))
	assert.Equal(t, []string{"handoff p1 r2 gen=9 task=t1 -> refused error=invalid", "@3600s post p1 qp=1"}, recordedLines(t, rec, 2))
}

// What one event does to several routes happens in the order of their QPs' numbers: a
// replay goes the same way.
func TestEventReachesRoutesInOrder(t *testing.T) {
	r := newRig(t, Enforce)
	var told, want []string
	ctl, err := New(r.ctl.cfg, WithClock(func() time.Duration { return r.now }), WithTransitions(func(tr Transition) { told = append(told, tr.Pair.Remote) }))
	require.NoError(t, err)
	r.ctl = ctl
	for i := range uint64(20) {
		remote := string(rune('a' + i))
		route := r.route("D1", "P", remote)
		_, err := route.Renew(0, []QP{{ID: 20 - i, SRQ: 7}})
		require.NoError(t, err)
		want = append([]string{remote}, want...)
	}
	_, reached, err := ctl.Event(classify.Event{Type: classify.EventSRQErr, Element: classify.Element{Device: "D1", SRQ: 7}}, r.now)
	require.NoError(t, err)
	require.Equal(t, 20, reached)
	assert.Equal(t, want, told)
}

// Without a recorder a use number of a recorded admission settles nothing.
func TestRecordedUseElsewhere(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	r.post(&s, route, gen, 4*kib, 1)
	assert.Zero(t, s.permit.Settle(s.use^recordedUse, success, r.now))
	var l List
	d := route.TryAcquireList(&l, gen, sizes(2), nil)
	require.True(t, d.Admitted())
	require.NoError(t, l.Posting(1, r.now))
	assert.Zero(t, l.Settle(d.Use^recordedUse, 3, success, r.now))
	polled, _ := r.polled("D2", "P", 2)
	polled.fill()
	assert.Zero(t, polled.out[0].permit.Settle(polled.out[0].use^recordedUse, success, r.now), "nor where a poller looks")
	polled.drain(success)
	assert.Equal(t, Ended|Released, r.settle(&s, success))
	assert.EqualValues(t, 3, l.Settle(d.Use, 3, success, r.now).Released)
	r.inFlight(route, 0, 0)
}
