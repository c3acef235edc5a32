//go:build guest

package labverbs_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/labverbs"
	"github.com/rdmagate/rdmagate/internal/softroce"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/rdmagate/rdmagate/verbs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// admitted is a pair of real QPs behind a controller.
type admitted struct {
	*testing.T
	lab   *softroce.Lab
	pair  *labverbs.Pair
	ctl   *cc.Controller
	route *cc.Route
	gen   cc.Generation
}

type slice struct {
	permit cc.Permit
	task   taskstate.Task
	use    cc.Use
}

func newAdmitted(t *testing.T, config labverbs.Config) *admitted {
	lab, err := softroce.Current()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, lab.Heal()) })
	pair, err := labverbs.Connect(lab.A[0], lab.B[1], config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pair.Close()) })

	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	ctl, err := cc.New(cfg)
	require.NoError(t, err)
	route, err := ctl.Route(rail.Pair{Peer: "host-b", Local: lab.A[0].Device, Port: 1, Remote: lab.B[1].Device})
	require.NoError(t, err)
	a := &admitted{T: t, lab: lab, pair: pair, ctl: ctl, route: route}
	a.renew()
	return a
}

func (a *admitted) renew() {
	a.Helper()
	gen, err := a.route.Renew(a.gen, []cc.QP{{ID: a.pair.From.QP.ID(), CQ: a.pair.From.CQ.ID()}})
	require.NoError(a, err)
	a.gen = gen
}

// acquire gets a permit for each request and stamps it. The WRID becomes the index
// above the use number.
func (a *admitted) acquire(list []verbs.SendWR) []slice {
	a.Helper()
	slices := make([]slice, len(list))
	for i := range list {
		s := &slices[i]
		d := a.route.TryAcquire(&s.permit, a.gen, labverbs.SliceBytes, &s.task)
		require.True(a, d.Admitted(), "%s", d)
		require.NoError(a, s.permit.Posting(a.pair.From.QP.ID(), a.ctl.Now()))
		s.use = d.Use
		list[i].WRID = uint64(i)<<32 | uint64(d.Use)
	}
	return slices
}

// settle settles a completion on the slice that its WRID names.
func (a *admitted) settle(slices []slice, wc verbs.WC) (*slice, classify.Verdict) {
	a.Helper()
	s := &slices[wc.WRID>>32]
	v := classify.Completion(wc.Status, wc.VendorErr)
	assert.Equal(a, cc.Ended|cc.Released, s.permit.Settle(cc.Use(wc.WRID), v, a.ctl.Now()), "the first word on this work request: %s", v)
	assert.Zero(a, s.permit.Settle(cc.Use(wc.WRID), v, a.ctl.Now()), "the second")
	return s, v
}

// quiet requires that nothing is in flight any more.
func (a *admitted) quiet() {
	a.Helper()
	snap := a.ctl.Snapshot()
	assert.Zero(a, snap.Devices[0].InFlightBytes, "bytes in flight on the device")
	assert.Zero(a, snap.Routes[0].InFlightBytes, "bytes in flight on the route")
}

func TestGuestAdmittedSuccess(t *testing.T) {
	a := newAdmitted(t, labverbs.Config{})
	for _, op := range []verbs.Opcode{verbs.OpRead, verbs.OpWrite, verbs.OpWriteWithImm, verbs.OpSend} {
		if op == verbs.OpSend || op == verbs.OpWriteWithImm {
			require.NoError(t, a.pair.PostReceives(4, labverbs.SliceBytes))
		}
		list := a.pair.Requests(op, 4)
		slices := a.acquire(list)
		assert.Equal(t, int64(4*labverbs.SliceBytes), a.route.InFlight())
		require.NoError(t, a.pair.Post(list))
		wcs, err := labverbs.Collect(a.pair.From.CQ, 4)
		require.NoError(t, err)
		for _, wc := range wcs {
			s, v := a.settle(slices, wc)
			assert.True(t, v.Succeeded(), "%s of %s", v, op)
			assert.Equal(t, taskstate.Normal, s.task.State())
		}
		a.quiet()
	}
}

// Each fault that real verbs can show: the first completion has the class, scope
// and task state of the specification, what is behind it flushes with that root
// cause, and every byte comes back.
func TestGuestAdmittedFaults(t *testing.T) {
	type meaning struct {
		class  classify.Class
		scope  classify.Scope
		counts bool
		task   taskstate.State
		reason classify.Reason
	}
	meanings := map[classify.Status]meaning{
		classify.StatusRemAccessErr:   {classify.ClassRemoteMetadata, classify.ScopeOperation, false, taskstate.Unknown, classify.ReasonRemoteMetadata},
		classify.StatusLocQPOpErr:     {classify.ClassLocalConfiguration, classify.ScopeQP, false, taskstate.Unknown, classify.ReasonLocalConfiguration},
		classify.StatusRNRRetryExcErr: {classify.ClassReceiverPressure, classify.ScopeQP, false, taskstate.Congested, classify.ReasonReceiverPressure},
		classify.StatusRemOpErr:       {classify.ClassRemoteMetadata, classify.ScopeOperation, false, taskstate.Unknown, classify.ReasonRemoteMetadata},
		classify.StatusRetryExcErr:    {classify.ClassRouteTimeout, classify.ScopeQP, true, taskstate.Congested, classify.ReasonRouteTimeout},
	}
	for _, fault := range labverbs.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			a := newAdmitted(t, labverbs.Config{})
			undo, err := fault.Prepare(a.lab, a.pair)
			require.NoError(t, err)
			list := fault.Requests(a.pair, 4)
			slices := a.acquire(list)
			require.NoError(t, a.pair.Post(list))
			wcs, err := labverbs.Collect(a.pair.From.CQ, 4)
			require.NoError(t, err)
			require.Equal(t, fault.Root, wcs[0].Status)

			want, known := meanings[wcs[0].Status]
			require.True(t, known, "status %s", wcs[0].Status)
			s, root := a.settle(slices, wcs[0])
			assert.Equal(t, want, meaning{root.Class(), root.Scope(), root.Countable(), s.task.State(), reason(s)})
			for _, wc := range wcs[1:] {
				require.Equal(t, classify.StatusWRFlushErr, wc.Status)
				s, v := a.settle(slices, wc)
				assert.Equal(t, classify.ClassDerivedFlush, v.Class())
				assert.False(t, v.Countable())
				assert.Equal(t, taskstate.Unknown, s.task.State())
				cause, _ := s.task.Detail().RootCause.Get()
				assert.Equal(t, root, cause, "the flush knows its root")
			}
			a.quiet()
			require.NoError(t, undo())
		})
	}
}

func reason(s *slice) classify.Reason {
	r, _ := s.task.Detail().Reason.Get()
	return r
}

// A list longer than the send queue: the verb takes a part, the tail is given back,
// the part completes.
func TestGuestAdmittedPartialPost(t *testing.T) {
	a := newAdmitted(t, labverbs.Config{Timeout: 17}) // half a second a try: the block ends first
	undo, err := a.lab.Block(a.pair.From.NIC, a.pair.To.NIC)
	require.NoError(t, err)
	room := a.pair.From.QP.Cap().MaxSendWR
	list := a.pair.Requests(verbs.OpWrite, room+3)
	slices := a.acquire(list)
	n, err := a.pair.From.QP.PostSend(list)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Equal(t, room, n)
	for i := n; i < len(list); i++ {
		assert.True(t, slices[i].permit.Unposted())
		assert.Equal(t, taskstate.Unknown, slices[i].task.State(), "a rejected post is no evidence")
	}
	assert.Equal(t, int64(n*labverbs.SliceBytes), a.route.InFlight(), "what was posted is still out")
	require.NoError(t, undo())
	wcs, err := labverbs.Collect(a.pair.From.CQ, n)
	require.NoError(t, err)
	for _, wc := range wcs {
		_, v := a.settle(slices, wc)
		assert.True(t, v.Succeeded())
	}
	a.quiet()
}

// The application moves the QP to ERR itself: posts still succeed, everything
// flushes, and no root cause is made up.
func TestGuestAdmittedErrByApplication(t *testing.T) {
	a := newAdmitted(t, labverbs.Config{})
	require.NoError(t, a.pair.From.QP.ToErr())
	list := a.pair.Requests(verbs.OpWrite, 4)
	slices := a.acquire(list)
	require.NoError(t, a.pair.Post(list))
	wcs, err := labverbs.Collect(a.pair.From.CQ, 4)
	require.NoError(t, err)
	for _, wc := range wcs {
		s, v := a.settle(slices, wc)
		assert.Equal(t, classify.ClassDerivedFlush, v.Class())
		assert.Equal(t, classify.ReasonDerivedFlush, reason(s))
		_, known := s.task.Detail().RootCause.Get()
		assert.False(t, known)
	}
	a.quiet()
}

// RESET loses the work requests without a completion: the teardown settles them,
// once.
func TestGuestAdmittedReset(t *testing.T) {
	a := newAdmitted(t, labverbs.Config{})
	undo, err := a.lab.Block(a.pair.From.NIC, a.pair.To.NIC)
	require.NoError(t, err)
	list := a.pair.Requests(verbs.OpWrite, 4)
	slices := a.acquire(list)
	require.NoError(t, a.pair.Post(list))
	require.NoError(t, a.pair.From.QP.ToReset())
	wcs, err := labverbs.Watch(a.pair.From.CQ, 500*time.Millisecond)
	require.NoError(t, err)
	require.Empty(t, wcs, "a reset QP has no completions")
	assert.Equal(t, int64(4*labverbs.SliceBytes), a.route.InFlight())
	torn := classify.Of(classify.SignalTeardown)
	for i := range slices {
		assert.Equal(t, cc.Ended|cc.Released, slices[i].permit.Settle(slices[i].use, torn, a.ctl.Now()))
		assert.Zero(t, slices[i].permit.Settle(slices[i].use, torn, a.ctl.Now()))
		assert.Equal(t, taskstate.Unknown, slices[i].task.State())
	}
	a.quiet()
	require.NoError(t, undo())
}

// A black hole: the deadline ends the attempt and keeps the bytes, the flushes of
// the QP that is then moved to ERR give them back.
func TestGuestAdmittedBlackHole(t *testing.T) {
	a := newAdmitted(t, labverbs.Config{})
	undo, err := a.lab.BlackHole(a.pair.From.NIC, a.pair.To.NIC)
	require.NoError(t, err)
	list := a.pair.Requests(verbs.OpWrite, 4)
	slices := a.acquire(list)
	require.NoError(t, a.pair.Post(list))
	wcs, err := labverbs.Watch(a.pair.From.CQ, time.Second)
	require.NoError(t, err)
	require.Empty(t, wcs, "nothing ever completes")

	late := classify.Of(classify.SignalDeadlineProgressing)
	for i := range slices {
		assert.Equal(t, cc.Ended, slices[i].permit.Settle(slices[i].use, late, a.ctl.Now()))
		assert.Equal(t, taskstate.Congested, slices[i].task.State())
		assert.Equal(t, classify.ReasonRouteTimeout, reason(&slices[i]))
	}
	assert.Equal(t, int64(4*labverbs.SliceBytes), a.route.InFlight(), "the hardware may still be at work")
	var next cc.Permit
	d := a.route.TryAcquire(&next, a.gen, labverbs.SliceBytes, nil)
	assert.Equal(t, classify.ReasonNeedsRenew, d.Reason)

	require.NoError(t, a.pair.From.QP.ToErr())
	require.NoError(t, undo())
	wcs, err = labverbs.Collect(a.pair.From.CQ, 4)
	require.NoError(t, err)
	for _, wc := range wcs {
		s := &slices[wc.WRID>>32]
		v := classify.Completion(wc.Status, wc.VendorErr)
		assert.Equal(t, cc.Released, s.permit.Settle(cc.Use(wc.WRID), v, a.ctl.Now()), "%s", v)
	}
	a.quiet()
}

// Port events reach the QPs on that device's port and no other; GID_CHANGE means
// nothing to admission.
func TestGuestAdmittedPortEvents(t *testing.T) {
	a := newAdmitted(t, labverbs.Config{})
	other, err := a.ctl.Route(rail.Pair{Peer: "host-b", Local: a.lab.A[1].Device, Port: 1, Remote: a.lab.B[1].Device})
	require.NoError(t, err)
	_, err = other.Renew(0, []cc.QP{{ID: 1 << 40}})
	require.NoError(t, err)
	rec, err := labverbs.Record(a.pair.From.Ctx)
	require.NoError(t, err)
	defer func() { assert.NoError(t, rec.Close()) }()

	undo, err := a.lab.LinkDown(a.pair.From.NIC)
	require.NoError(t, err)
	e, _, err := rec.Await(classify.EventPortErr)
	require.NoError(t, err)
	v, reached, err := a.ctl.Event(e.Event(), a.ctl.Now())
	require.NoError(t, err)
	assert.Equal(t, classify.ScopePort, v.Scope())
	assert.Equal(t, 1, reached, "the QP of this device, not that of the other")

	require.NoError(t, undo())
	e, _, err = rec.Await(classify.EventPortActive)
	require.NoError(t, err)
	v, _, err = a.ctl.Event(e.Event(), a.ctl.Now())
	require.NoError(t, err)
	assert.Equal(t, classify.ClassRecovery, v.Class())

	_, undo, err = a.lab.AddAddress(a.pair.From.NIC)
	require.NoError(t, err)
	e, _, err = rec.Await(classify.EventGIDChange)
	require.NoError(t, err)
	v, reached, err = a.ctl.Event(e.Event(), a.ctl.Now())
	require.NoError(t, err)
	assert.Equal(t, classify.ScopeNone, v.Scope())
	assert.Zero(t, reached)
	require.NoError(t, undo())
}
