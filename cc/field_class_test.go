package cc

import (
	"fmt"
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fleet rebuilt its connections for half an hour: local length errors, from two
// sides with different MTUs, were taken for a broken path.
// https://github.com/kvcache-ai/Mooncake/issues/3299
func TestFieldLocalLengthErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events bool // an access error event comes with each completion
		late   bool // but only after the rebuild
	}{{"with events", true, false}, {"completions only", false, false}, {"late events", true, true}} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route, other := h.route("D1", "P", "n1"), h.route("D2", "P", "n1")
			var root slice
			for round := range 3 {
				gen, qp := h.renewed(route)
				h.post(&root, route, gen, 4*kib, qp)
				siblings := make([]slice, 15)
				for i := range siblings {
					h.post(&siblings[i], route, gen, 4*kib, qp)
				}
				h.settle(&root, locLen())
				h.reason(&root, unknown, classify.ReasonLocalConfiguration)
				if tt.events && !tt.late {
					h.count(route, round)
					assert.Equal(t, 1, h.event(classify.EventQPAccessErr, classify.Element{QP: qp}))
				}
				for i := range siblings {
					h.settle(&siblings[i], flush)
				}
				h.reason(&siblings[0], unknown, classify.ReasonDerivedFlush)
				cause, _ := siblings[0].task.Detail().RootCause.Get()
				assert.Equal(t, uint32(classify.StatusLocLenErr), cause.Raw(), "flushes inherit the first error of their QP")
				if tt.late {
					h.renewed(route)
					assert.Zero(t, h.event(classify.EventQPAccessErr, classify.Element{QP: qp}), "the event of the old QP")
				}
				if round == 0 && tt.events && !tt.late {
					h.state(route, Suspect)
				}
			}
			gen, qp := h.renewed(other)
			if tt.events && !tt.late {
				h.state(route, Quarantined)
				s := h.ruling(route, avoided)
				h.reason(s, unavailable, classify.ReasonPathQuarantined)
			} else {
				h.state(route, Healthy)
				h.count(route, 0)
				assert.Equal(t, mib, route.Snapshot().WindowBytes)
			}
			assert.True(t, route.Snapshot().Health.PersistentFault, "a rebuild does not help")
			var reverse slice
			h.post(&reverse, other, gen, 4*kib, qp)
			h.settle(&reverse, wc(classify.StatusRemInvReqErr, 0x8a))
			h.reason(&reverse, unknown, classify.ReasonRemoteMetadata)
			h.state(other, Healthy)
			h.done(route, other)
		})
	}
}

// A receiver short of buffers took whole connections down.
// https://github.com/ydb-platform/nbs/issues/5790
func TestFieldReceiverNotReady(t *testing.T) {
	h := newHealthRig(t, Enforce)
	slow, fine := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
	h.renewed(fine)
	var s slice
	for range 5 {
		gen, qp := h.renewed(slow)
		h.post(&s, slow, gen, 64*kib, qp)
		h.settle(&s, rnr())
		h.reason(&s, congested, classify.ReasonReceiverPressure)
		h.succeed(fine)
	}
	assert.NotContains(t, h.path(slow), Suspect, "five, above the threshold")
	h.count(slow, 0)
	assert.Empty(t, h.path(fine))
	assert.Equal(t, 4*mib, slow.device.window.Load(), "the shared window does not shrink")
	old := s.use
	gen, qp := h.renewed(slow)
	h.post(&s, slow, gen, 64*kib, qp)
	assert.Zero(t, s.permit.Settle(old, rnr(), h.now), "the late error of the previous generation")
	h.settle(&s, success)
	assert.Equal(t, normal, s.task.State())
	h.done(slow, fine)
}

// Drivers and engines that lose the class on the way: a wrong key was hunted as a
// network fault. https://github.com/openucx/ucx/issues/1956
func TestFieldClassLostInTranslation(t *testing.T) {
	for _, vendor := range []uint32{0, 0x0a, 0x51, 0x81, 0x88, 0xf9} {
		for status := range classify.Status(24) {
			v, plain := wc(status, vendor), wc(status, 0)
			assert.Equal(t, [2]any{plain.Class(), plain.Scope()}, [2]any{v.Class(), v.Scope()}, "vendor_err widens nothing: %s", v)
			assert.Equal(t, vendor, v.VendorErr())
		}
	}
	for _, tt := range []struct {
		v      classify.Verdict
		times  int
		counts bool
		reason classify.Reason
	}{
		{wc(classify.StatusLocQPOpErr, 0x68), 5, false, classify.ReasonLocalConfiguration},
		{wc(classify.StatusRemAccessErr, 0x88), 5, false, classify.ReasonRemoteMetadata},
		{wc(classify.StatusGeneralErr, 0), 2, true, classify.ReasonFatal},
		{wc(classify.StatusFatalErr, 0), 3, true, classify.ReasonFatal},
		{wc(24, 0), 1, true, classify.ReasonFatal},
		{wc(99, 0), 1, true, classify.ReasonFatal},
		{wc(255, 0), 1, true, classify.ReasonFatal},
		{wc(1<<32-1, 7), 3, true, classify.ReasonFatal},
	} {
		t.Run(fmt.Sprint(tt.v), func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			for i := range tt.times {
				s := h.fail(route, 1, tt.v)
				h.reason(s, unknown, tt.reason)
				kept, _ := s.task.Detail().Verdict.Get()
				assert.Equal(t, tt.v, kept, "the raw status and vendor_err are kept")
				if tt.counts {
					h.count(route, i+1)
				} else {
					h.state(route, Healthy)
				}
			}
			if tt.counts && tt.times >= 3 {
				h.state(route, Quarantined)
				h.reason(h.ruling(route, avoided), unavailable, classify.ReasonPathQuarantined)
			}
			h.done(route)
		})
	}
	// A general error and a fatal event for one QP.
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	s := h.fail(route, 1, wc(classify.StatusGeneralErr, 0))
	h.event(classify.EventQPFatal, classify.Element{QP: h.qp(route)})
	h.state(route, Suspect)
	h.count(route, 1)
	h.reason(s, unknown, classify.ReasonFatal)
	assert.True(t, wc(classify.StatusSuccess, 7).Succeeded())
	h.done(route)
}

// Code that matched prefixes of names failed when devices were renamed.
// https://github.com/linux-rdma/rdma-core/pull/487
func TestFieldDeviceNames(t *testing.T) {
	h := newHealthRig(t, Enforce)
	names := []string{"mlx5_1", "mlx5_10", "mlx5_bond_0", "rocep3s0f0", "ibp0s12f4", "rxe0", "siw0", "erdma_0", "irdma0", "bnxt_re0", "hns_0", "rdma5", "a@b:c d"}
	routes := map[string]*Route{}
	for _, name := range names {
		routes[name] = h.route(name, "P", "mlx5_0")
	}
	longer, peer := h.route("mlx5_1", "P", "mlx5_00"), h.route("mlx5_1", "Q", "mlx5_0")
	h.quarantine(routes["mlx5_1"])
	for _, name := range names {
		want := Healthy
		if name == "mlx5_1" {
			want = Quarantined
		}
		h.state(routes[name], want)
		require.Same(t, routes[name], h.route(name, "P", "mlx5_0"))
	}
	h.state(longer, Healthy)
	h.state(peer, Healthy)
	h.state(h.route("mlx5_renamed", "P", "mlx5_0"), Healthy)
	h.done(routes["mlx5_1"], routes["mlx5_10"], longer, peer)
}
