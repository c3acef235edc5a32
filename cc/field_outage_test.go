package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// One lost acknowledgement, then 255 flushes: each was counted as a failure and the
// rail was condemned. https://github.com/ROCm/mori/issues/655
func TestFieldFlushBurst(t *testing.T) {
	for _, withRoot := range []bool{true, false} {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		gen, qp := h.renewed(route)
		slices := make([]slice, 256)
		for i := range slices {
			h.post(&slices[i], route, gen, 4*kib, qp)
		}
		h.inFlight(route, mib, mib)
		if withRoot {
			h.settle(&slices[0], retryExc)
			h.reason(&slices[0], congested, classify.ReasonRouteTimeout)
		} else {
			h.settle(&slices[0], flush)
		}
		for i := range slices[1:] {
			assert.Equal(t, Ended|Released, h.settle(&slices[1+i], flush))
		}
		h.inFlight(route, 0, 0)
		h.reason(&slices[199], unknown, classify.ReasonDerivedFlush)
		cause, known := slices[199].task.Detail().RootCause.Get()
		assert.Equal(t, withRoot, known)
		if withRoot {
			h.state(route, Suspect)
			h.count(route, 1)
			assert.Equal(t, uint32(0x81), cause.VendorErr())
		} else {
			h.state(route, Healthy)
			h.count(route, 0)
		}
		gen, qp = h.renewed(route)
		for _, i := range []int{0, 199} {
			h.post(&slices[i], route, gen, 4*kib, qp)
			h.settle(&slices[i], success)
			d := slices[i].task.Detail()
			assert.Equal(t, normal, d.State)
			assert.Equal(t, taskstate.Seen(true), d.Resolved)
		}
		h.state(route, Healthy)
		h.count(route, 0)
		h.done(route)
	}
}

// A link flap resumed the device but kept its dead QPs: transfers were slower after
// the recovery than during the outage.
// https://github.com/kvcache-ai/Mooncake/issues/3596
func TestFieldPortBackQPsDead(t *testing.T) {
	for name, outcome := range map[string]classify.Verdict{"success": success, "failure": retryExc} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route, fine := h.route("D4", "P", "n4"), h.route("D1", "P", "n1")
			port := func(e classify.EventType) { h.event(e, classify.Element{Device: "D4", Port: 1}) }
			gen, qp := h.renewed(route, 16)
			h.renewed(fine)
			slices := make([]slice, 16)
			for i := range slices {
				h.post(&slices[i], route, gen, 64*kib, qp+uint64(i))
			}
			port(classify.EventPortErr)
			h.ruling(route, avoided)
			h.succeed(fine)
			for i := range slices[:12] {
				v := flush
				if i < 4 {
					v = retryExc
				}
				assert.Equal(t, Ended|Released, h.settle(&slices[i], v))
			}
			h.count(route, 0)
			h.advance(10 * time.Second)
			port(classify.EventPortActive)
			h.ruling(route, avoided)
			h.advance(2 * time.Second)
			h.ruling(route, wantsRenew)
			for i := range slices[12:] {
				assert.Equal(t, Ended|Released, h.settle(&slices[12+i], teardown))
			}
			h.renewed(route)
			h.advance(18 * time.Second)
			probe := h.trial(route)
			h.ruling(route, probing)
			h.settle(probe, outcome)
			want := Healthy
			if outcome == retryExc {
				want = Quarantined
			}
			h.state(route, want)
			window := route.Snapshot().WindowBytes
			if want == Healthy {
				assert.Equal(t, 64*kib, window, "the minimum window")
			}
			assert.Zero(t, h.settle(&slices[12], success), "it was settled by the teardown")
			assert.Zero(t, h.settle(&slices[13], retryExc), "it was settled by the teardown")
			h.state(route, want)
			assert.Equal(t, window, route.Snapshot().WindowBytes)
			h.done(route, fine)
		})
	}
}

// Eight failures in one instant made a pause ten times as long.
// https://github.com/kvcache-ai/Mooncake/pull/3946
func TestFieldOneOutageOneCooldown(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route, 9)
	slices := make([]slice, 9)
	for i := range slices {
		h.post(&slices[i], route, gen, 4*kib, qp+uint64(i))
	}
	for i := range slices[:8] {
		h.settle(&slices[i], retryExc)
	}
	for range 100 {
		route.Snapshot()
	}
	h.renewed(route)
	h.advance(29 * time.Second)
	h.ruling(route, avoided)
	h.advance(time.Second)
	x := h.ruling(route, Ruling{Answer: Admit})
	h.ruling(route, probing)
	h.settle(&slices[8], retryExc)
	h.state(route, Probing)
	x.permit.Unposted()
	h.state(route, Quarantined)
	x = h.trial(route)
	h.settle(x, retryExc)
	h.state(route, Quarantined)
	assert.Equal(t, 60*time.Second, route.Snapshot().Health.CooldownLeft, "doubled once")
	h.renewed(route)
	h.advance(60 * time.Second)
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
	assert.Equal(t, 64*kib, route.Snapshot().WindowBytes)
	h.done(route)
}

// Endless retries to a dead receiver took the bandwidth of a healthy one.
// https://github.com/kvcache-ai/Mooncake/issues/828
func TestFieldOneDeadReceiver(t *testing.T) {
	h := newHealthRig(t, Enforce)
	dead, fine := h.route("D1", "B", "n1"), h.route("D1", "C", "n1")
	h.renewed(fine)
	for round, want := range []State{Suspect, Suspect, Quarantined} {
		gen, qp := h.renewed(dead)
		var posted []*slice
		for range 64 {
			s := &slice{}
			d := h.ask(s, dead, 256*kib)
			if !d.Admitted() {
				break
			}
			require.NoError(t, s.permit.Posting(qp, h.now))
			posted = append(posted, s)
			require.Equal(t, gen, dead.current.Load().number)
		}
		assert.LessOrEqual(t, dead.InFlight(), mib, "B has its route's window of the device, no more")
		if round > 0 {
			assert.Len(t, posted, 1, "a lesson costs one slice, not a batch")
		}
		for range 4 {
			h.succeed(fine)
			h.advance(time.Second)
		}
		for i, s := range posted {
			v := flush
			if i == 0 {
				v = retryExc
			}
			h.settle(s, v)
		}
		h.state(dead, want)
	}
	for range 100 {
		h.ruling(dead, avoided)
		h.succeed(fine)
	}
	assert.Equal(t, 3, dead.Snapshot().Health.Failures, "an avoided attempt is no failure")
	assert.Equal(t, 30*time.Second, dead.Snapshot().Health.CooldownLeft)
	assert.Empty(t, h.path(fine))
	assert.Equal(t, 4*mib, fine.device.window.Load())
	h.done(dead, fine)
}

// Nodes and rails stayed quarantined because no event could end it.
// https://github.com/NVIDIA/NVSentinel/pull/1462
func TestFieldEndlessQuarantine(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(10 * time.Minute)
	for range 10 {
		h.settle(h.trial(route), retryExc)
		assert.LessOrEqual(t, route.Snapshot().Health.CooldownLeft, 300*time.Second)
		h.renewed(route)
		h.advance(300 * time.Second)
	}
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
	assert.Equal(t, 64*kib, route.Snapshot().WindowBytes)

	fatal := h.route("D2", "P", "n1")
	h.renewed(fatal)
	h.succeed(fatal)
	h.event(classify.EventDeviceFatal, classify.Element{Device: "D2"})
	h.advance(30 * time.Second)
	h.ruling(fatal, wantsRenew)
	h.renewed(fatal)
	probe := h.trial(fatal)
	h.ruling(fatal, probing)
	h.settle(probe, success)
	h.state(fatal, Healthy)
	h.done(route, fatal)
}

// Editing a bond makes its device vanish and others appear.
// https://github.com/spdk/spdk/issues/2786
func TestFieldBondChanges(t *testing.T) {
	h := newHealthRig(t, Enforce)
	toP, toQ, d2 := h.route("mlx5_bond_0", "P", "n1"), h.route("mlx5_bond_0", "Q", "n1"), h.route("D2", "P", "n1")
	h.renewed(d2)
	gen, qp := h.renewed(toP)
	slices := make([]slice, 6)
	for i := range slices {
		h.post(&slices[i], toP, gen, 64*kib, qp)
	}
	h.renewed(toQ)
	h.event(classify.EventDeviceFatal, classify.Element{Device: "mlx5_bond_0"})
	for i := range slices {
		v := teardown
		if i < 3 {
			v = flush
		}
		assert.Equal(t, Ended|Released, h.settle(&slices[i], v))
	}
	h.inFlight(toP, 0, 0)
	for _, name := range []string{"mlx5_0", "mlx5_1"} {
		successor := h.route(name, "P", "n1")
		h.renewed(successor)
		h.succeed(successor)
		h.state(successor, Healthy)
		assert.Equal(t, mib, successor.Snapshot().WindowBytes, "it inherits nothing")
	}
	h.succeed(d2)
	for _, r := range []*Route{toP, toQ} {
		h.reason(h.ruling(r, avoided), unavailable, classify.ReasonPathQuarantined)
	}
	h.advance(30 * time.Second)
	h.renewed(toP)
	h.settle(h.trial(toP), success)
	assert.Equal(t, 64*kib, toP.Snapshot().WindowBytes)
	h.done(toP, toQ, d2)
}

// A burst of harmless events hid the one that said the port was back.
// https://github.com/kvcache-ai/Mooncake/issues/3523
func TestFieldPortUpEventLost(t *testing.T) {
	for name, outcome := range map[string]classify.Verdict{"back": success, "still down": retryExc} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce)
			route := h.route("D1", "P", "n1")
			h.renewed(route)
			for range 50 {
				assert.Zero(t, h.event(classify.EventCommEst, classify.Element{QP: h.qp(route)}))
			}
			h.state(route, Healthy)
			h.fail(route, 2, retryExc)
			h.state(route, Suspect)
			h.portErr()
			h.state(route, Quarantined)
			h.event(classify.EventClientReregister, classify.Element{Port: 1})
			h.state(route, Quarantined)
			h.advance(30 * time.Second)
			h.renewed(route)
			h.settle(h.trial(route), outcome)
			if outcome == success {
				h.state(route, Healthy)
				h.count(route, 0)
				assert.Equal(t, 64*kib, route.Snapshot().WindowBytes)
			} else {
				h.state(route, Quarantined)
			}
			h.done(route)
		})
	}
}

// Work requests that never complete, with or without an error.
// https://github.com/ai-dynamo/nixl/pull/2047
func TestFieldHung(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	tasks := make([]slice, 3)
	hang := func(n int) {
		gen, qp := h.renewed(route)
		for i := range tasks[:n] {
			h.post(&tasks[i], route, gen, 4*kib, qp)
		}
		held := route.InFlight()
		for i := range tasks[:n] {
			assert.Equal(t, Ended, h.settle(&tasks[i], deadline))
		}
		assert.Equal(t, held, route.InFlight(), "the hardware may still be at work on them")
		for i := range tasks[:n] {
			assert.Equal(t, Released, h.settle(&tasks[i], flush))
		}
	}
	hang(3)
	h.state(route, Suspect)
	h.count(route, 1)
	h.reason(&tasks[0], congested, classify.ReasonRouteTimeout)
	gen, qp := h.renewed(route)
	for i := range tasks {
		h.post(&tasks[i], route, gen, 4*kib, qp)
		h.settle(&tasks[i], success)
		assert.Equal(t, normal, tasks[i].task.State())
	}
	h.state(route, Healthy)

	hang(3)
	hang(3)
	h.state(route, Suspect)
	hang(3)
	h.state(route, Quarantined)
	for i := range tasks {
		h.reason(&tasks[i], unavailable, classify.ReasonPathQuarantined)
	}
	h.done(route)
}
