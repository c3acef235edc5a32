package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What TestAgainstModel once found, each by itself. One is left as it was printed.

func TestReplay(t *testing.T) {
	replay(t, Enforce, "", // a trial on a QP that is dead already
		modelOp{"renew", 40104, 37492, 19042},
		modelOp{"qp-event", 47813, 4982, 56178},
		modelOp{"device-fatal", 24189, 53654, 21249},
		modelOp{"advance", 21542, 64908, 34928},
		modelOp{"acquire", 10257, 56252, 21858},
		modelOp{"post", 36009, 30334, 32342},
		modelOp{"fail", 38937, 24636, 1})
}

// A trial on a QP that an event killed before is over when it completes: the QP's
// fault was counted, so it is no verdict, and no lease to wait for.
func TestTrialOnDeadQP(t *testing.T) {
	h := newHealthRig(t, Enforce)
	r := h.route("D1", "P", "n1")
	h.quarantine(r)
	h.event(classify.EventQPFatal, classify.Element{QP: h.qp(r)})
	h.advance(30 * time.Second)
	s := h.trial(r)
	h.settle(s, retryExc)
	h.state(r, Quarantined)
	h.advance(time.Second)
	h.trial(r)
}

// A failure renews the time after which a suspicion lapses, also one that began
// before any error.
func TestEarlySuspicionLapsesAfterLastFailure(t *testing.T) {
	h := newHealthRig(t, Enforce)
	r := h.route("D1", "P", "n1")
	gen, qp := h.renewed(r)
	r.device.locked(func() {
		r.health.early = true
		r.reconsider(h.now, cause{})
	})
	h.advance(9 * time.Second)
	var s slice
	h.post(&s, r, gen, 4*kib, qp)
	h.settle(&s, retryExc)
	h.advance(2 * time.Second)
	h.ask(&slice{}, r, 4*kib)
	assert.Equal(t, mib, r.lawWindow, "the window while the latest failure is 2 s old")
	h.advance(9 * time.Second)
	h.ask(&slice{}, r, 4*kib)
	h.state(r, Healthy)
	assert.Equal(t, 64*kib, r.lawWindow, "the minimum window after the suspicion lapsed")
}

// A device event leaves each port without a usable route that had two peers.
func TestDeviceFatalExhaustsEachPort(t *testing.T) {
	h := newHealthRig(t, Enforce)
	for port := uint8(1); port <= 2; port++ {
		for _, peer := range []string{"P", "Q"} {
			_, err := h.ctl.Route(rail.Pair{Peer: peer, Local: "D1", Port: port, Remote: "n"})
			require.NoError(t, err)
		}
	}
	h.event(classify.EventDeviceFatal, classify.Element{})
	d := h.ctl.Snapshot().Devices[0]
	assert.True(t, d.Exhausted, "no route of the device is usable")
	assert.Equal(t, Ports{1, 2}, d.ExhaustedPorts, "ports without a usable route")
}

// A claim that is retried too late is a new one: it does not precede at once.
func TestLateRetryIsNewClaim(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var busy, large, small slice
	r.post(&busy, route, gen, 900*kib, 1)
	require.False(t, route.TryAcquire(&large.permit, gen, 2*mib, nil).Admitted())
	r.now += minClaimLife
	require.False(t, route.TryAcquire(&large.permit, gen, 2*mib, nil).Admitted())
	d := route.TryAcquire(&small.permit, gen, 4*kib, nil)
	assert.True(t, d.Admitted(), "the claim lapsed and is new, so smaller slices may overtake it: %s", d)
}

// In observe mode every slice counts that enforce would have refused: also on a
// route without an endpoint, and while other routes have idle credit.
func TestObserveCountsEachRefusal(t *testing.T) {
	r := newRig(t, Observe)
	route := r.route("D1", "P", "n1")
	for range 3 {
		var s slice
		require.True(t, route.TryAcquire(&s.permit, 0, 4*kib, nil).Admitted())
	}
	require.Equal(t, []RefusalCount{{Reason: classify.ReasonNeedsRenew, Count: 3}}, route.Snapshot().Refusals)

	r = newRig(t, Observe)
	route = r.route("D1", "P", "n1")
	other := r.route("D1", "Q", "n2")
	gen, otherGen := r.renew(route, 1), r.renew(other, 2)
	var small, large, huge, last slice
	r.post(&small, route, gen, 4*kib, 1) // has a lease with room to spare
	r.post(&large, other, otherGen, 4*kib, 2)
	r.post(&huge, other, otherGen, 5*mib, 2) // over the route's window, and the device's
	r.post(&last, route, gen, 4*kib, 1)
	assert.Equal(t, []RefusalCount{{Reason: classify.ReasonByteWindow, Domain: DeviceDomain, Count: 1}}, route.Snapshot().Refusals)
}
