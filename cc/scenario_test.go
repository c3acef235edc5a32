package cc

import (
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Failures that people met in the field, as far as classes, scopes, permits and
// task states go. Each test says what was seen.

func wc(s classify.Status, vendor uint32) classify.Verdict { return classify.Completion(s, vendor) }

// reason requires the task's state with its most recent reason.
func (r *rig) reason(s *slice, state taskstate.State, reason classify.Reason) {
	r.Helper()
	d := s.task.Detail()
	assert.Equal(r.TB, state, d.State)
	got, _ := d.Reason.Get()
	assert.Equal(r.TB, reason, got)
}

// A fleet rebuilt its connections for half an hour: local length errors, from two
// sides with different MTUs, were taken for a broken path.
// https://github.com/kvcache-ai/Mooncake/issues/3299
func TestFieldLocalLengthErrors(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var root slice
	siblings := make([]slice, 15)
	r.post(&root, route, gen, 4*kib, 1)
	for i := range siblings {
		r.post(&siblings[i], route, gen, 4*kib, 1)
	}

	v := wc(classify.StatusLocLenErr, 0x8e)
	assert.Equal(t, classify.ClassLocalConfiguration, v.Class())
	assert.Equal(t, classify.ScopeOperation, v.Scope())
	assert.False(t, v.Countable(), "the path did not fail")
	r.settle(&root, v)
	r.reason(&root, taskstate.Unknown, classify.ReasonLocalConfiguration)

	access := classify.Event{Type: classify.EventQPAccessErr, Element: classify.Element{Device: "D1", QP: 1}}
	v, reached, err := r.ctl.Event(access, r.now)
	require.NoError(t, err)
	assert.Equal(t, 1, reached)
	assert.Equal(t, classify.ScopeQP, v.Scope())
	assert.True(t, v.Countable(), "the event is a hard error of the route")

	for i := range siblings {
		r.settle(&siblings[i], flush)
		r.reason(&siblings[i], taskstate.Unknown, classify.ReasonDerivedFlush)
		cause, _ := siblings[i].task.Detail().RootCause.Get()
		assert.Equal(t, uint32(classify.StatusLocLenErr), cause.Raw(), "flushes inherit the first error of their QP")
	}
	r.inFlight(route, 0, 0)

	r.renew(route, 2)
	_, reached, _ = r.ctl.Event(access, r.now)
	assert.Zero(t, reached, "the event of the old QP comes after the rebuild")

	v = wc(classify.StatusRemInvReqErr, 0x8a)
	assert.Equal(t, classify.ClassRemoteMetadata, v.Class())
	assert.Equal(t, classify.ScopeOperation, v.Scope())
	assert.False(t, v.Countable())
}

// One lost acknowledgement, then 255 flushes: each was counted as a failure and the
// rail was condemned. https://github.com/ROCm/mori/issues/655
func TestFieldFlushBurst(t *testing.T) {
	for _, withRoot := range []bool{true, false} {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		slices := make([]slice, 256)
		for i := range slices {
			r.post(&slices[i], route, gen, 4*kib, 1)
		}
		r.inFlight(route, mib, mib)
		if withRoot {
			r.settle(&slices[0], retryExc)
			r.reason(&slices[0], taskstate.Congested, classify.ReasonRouteTimeout)
		} else {
			r.settle(&slices[0], flush)
		}
		for i := range slices[1:] {
			assert.Equal(t, Ended|Released, r.settle(&slices[1+i], flush))
		}
		r.inFlight(route, 0, 0)
		assert.False(t, flush.Countable())
		r.reason(&slices[199], taskstate.Unknown, classify.ReasonDerivedFlush)
		cause, known := slices[199].task.Detail().RootCause.Get()
		assert.Equal(t, withRoot, known)
		if withRoot {
			assert.Equal(t, classify.ReasonRouteTimeout, cause.Reason())
			assert.Equal(t, uint32(0x81), cause.VendorErr())
		}

		gen = r.renew(route, 2)
		for _, i := range []int{0, 199} {
			r.post(&slices[i], route, gen, 4*kib, 2)
			r.settle(&slices[i], success)
			d := slices[i].task.Detail()
			assert.Equal(t, taskstate.Normal, d.State)
			assert.Equal(t, taskstate.Seen(true), d.Resolved)
		}
	}
}

// Completions that never come after a reset, and ones that come too late after a
// cancel. https://github.com/kvcache-ai/Mooncake/pull/2427
func TestFieldTeardownAndCancel(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	post := func(gen Generation, qp uint64) []slice {
		s := make([]slice, 20)
		for i := range s {
			r.post(&s[i], route, gen, 4*kib, qp)
		}
		return s
	}

	s := post(r.renew(route, 1), 1)
	for i := range s { // the QP went to RESET: no completions
		assert.Equal(t, Ended|Released, r.settle(&s[i], teardown))
		assert.Equal(t, taskstate.Unknown, s[i].task.State(), "no failure is made up")
	}
	gen := r.renew(route, 2)
	var whole slice
	r.post(&whole, route, gen, mib, 2)
	r.settle(&whole, success)

	s = post(gen, 2)
	late := []classify.Verdict{flush, flush, flush, flush, flush, flush, success, success, success, retryExc}
	for i, v := range late {
		assert.Equal(t, Ended, r.settle(&s[i], cancel))
		assert.Equal(t, Released, r.settle(&s[i], v), "bytes come back with the completion")
		assert.Equal(t, taskstate.Unknown, s[i].task.State(), "after a cancel, %s is no evidence", v)
	}
	for i := range s[10:] {
		r.settle(&s[10+i], success)
	}
	r.inFlight(route, 0, 0)

	s = post(gen, 2)
	for i := range s {
		if i < 10 {
			r.settle(&s[i], success)
		}
	}
	released := 0
	for range 2 { // the teardown is reported twice
		for i := range s {
			if r.settle(&s[i], teardown)&Released != 0 {
				released++
			}
		}
	}
	assert.Equal(t, 10, released, "only the open permits are released")
	r.inFlight(route, 0, 0)
}

// Rejected posts left counters up until the queue served nothing.
// https://github.com/spdk/spdk/pull/224
func TestFieldRejectedPosts(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	route.window.Store(4 * mib)
	gen := r.renew(route, 1)
	slices := make([]slice, 4)
	for i := range slices {
		r.post(&slices[i], route, gen, mib, 1)
		assert.True(t, slices[i].permit.Unposted(), "ENOMEM")
		assert.Equal(t, taskstate.Unknown, slices[i].task.State())
	}
	r.inFlight(route, 0, 0)

	for i := range slices { // a list of four, of which two went
		r.post(&slices[i], route, gen, mib, 1)
	}
	for i := range slices[2:] {
		slices[2+i].permit.Unposted()
	}
	r.inFlight(route, 2*mib, 2*mib)
	for i := range slices[:2] {
		r.settle(&slices[i], success)
		r.post(&slices[2+i], route, gen, mib, 1)
	}
	for i := range slices[2:] {
		r.settle(&slices[2+i], success)
		assert.Equal(t, taskstate.Normal, slices[2+i].task.State())
	}
	r.inFlight(route, 0, 0)
}

// A receiver short of buffers took whole connections down.
// https://github.com/ydb-platform/nbs/issues/5790
func TestFieldReceiverNotReady(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	v := wc(classify.StatusRNRRetryExcErr, 0)
	assert.Equal(t, classify.ClassReceiverPressure, v.Class())
	assert.Equal(t, classify.ScopeQP, v.Scope())
	assert.Equal(t, classify.ActionRetireQP, v.Action())
	assert.False(t, v.Countable())
	var s slice
	for i := range 5 {
		r.post(&s, route, r.renew(route, uint64(i+1)), 64*kib, uint64(i+1))
		r.settle(&s, v)
		r.reason(&s, taskstate.Congested, classify.ReasonReceiverPressure)
	}
	old := s.use
	gen := r.renew(route, 9)
	r.post(&s, route, gen, 64*kib, 9)
	assert.Zero(t, s.permit.Settle(old, v, r.now), "the late error of the previous generation")
	r.settle(&s, success)
	assert.Equal(t, taskstate.Normal, s.task.State())
	r.inFlight(route, 0, 0)
}

// Drivers and engines that lose the class on the way: a wrong key was hunted as a
// network fault. https://github.com/openucx/ucx/issues/1956
func TestFieldClassLostInTranslation(t *testing.T) {
	for _, tt := range []struct {
		v      classify.Verdict
		reason classify.Reason
	}{
		{wc(classify.StatusLocQPOpErr, 0x68), classify.ReasonLocalConfiguration},
		{wc(classify.StatusRemAccessErr, 0x88), classify.ReasonRemoteMetadata},
		{wc(classify.StatusGeneralErr, 0), classify.ReasonFatal},
		{wc(classify.StatusFatalErr, 0), classify.ReasonFatal},
		{wc(24, 0), classify.ReasonFatal},
		{wc(1<<32-1, 7), classify.ReasonFatal},
	} {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		var s slice
		r.post(&s, route, r.renew(route, 1), 64*kib, 1)
		assert.Equal(t, Ended|Released, r.settle(&s, tt.v))
		r.reason(&s, taskstate.Unknown, tt.reason)
		kept, _ := s.task.Detail().Verdict.Get()
		assert.Equal(t, tt.v, kept, "the raw status and vendor_err are kept")
		r.inFlight(route, 0, 0)
	}
	assert.True(t, wc(classify.StatusSuccess, 7).Succeeded())
}

// Events that the owner of a QP hands over while it destroys the QP, or too late.
// https://github.com/ofiwg/libfabric/issues/5353
func TestFieldEventsAtShutdown(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	r.renew(route, 1)
	for _, e := range []classify.Event{
		{Type: classify.EventQPLastWQEReached, Element: classify.Element{Device: "D1", QP: 99}},
		{Type: classify.EventQPFatal, Element: classify.Element{Device: "D1", QP: 99}},
	} {
		_, reached, err := r.ctl.Event(e, r.now)
		require.NoError(t, err)
		assert.Zero(t, reached)
	}
	for range 50 {
		v, reached, err := r.ctl.Event(classify.Event{Type: classify.EventCommEst, Element: classify.Element{Device: "D1", QP: 1}}, r.now)
		require.NoError(t, err)
		assert.Zero(t, reached)
		assert.False(t, v.Countable())
	}
}
