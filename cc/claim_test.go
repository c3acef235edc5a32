package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crowd keeps a route busy with small slices, as callers of TryAcquire do: each
// time one comes back, another asks at once.
type crowd struct {
	*rig
	route  *Route
	gen    Generation
	qp     uint64
	slices []*slice
}

// newCrowd builds the route's next endpoint and fills the route up to its window with slices of 64 KiB.
func (r *rig) newCrowd(route *Route, qp uint64) *crowd {
	r.Helper()
	c := &crowd{rig: r, route: route, gen: r.renew(route, qp), qp: qp}
	for range route.window.Load() / (64 * kib) {
		s := &slice{}
		r.post(s, route, c.gen, 64*kib, qp)
		c.slices = append(c.slices, s)
	}
	return c
}

// turn lets the oldest slice complete and ask again; it reports whether it was
// admitted again.
func (c *crowd) turn() bool {
	c.Helper()
	s := c.slices[0]
	c.slices = c.slices[1:]
	require.Equal(c.TB, Ended|Released, c.settle(s, success))
	d := c.route.TryAcquire(&s.permit, c.gen, 64*kib, nil)
	if !d.Admitted() {
		assert.Equal(c.TB, Defer, d.Answer, "a slice that stands back is deferred")
		assert.Equal(c.TB, classify.ReasonByteWindow, d.Reason)
		return false
	}
	require.NoError(c.TB, s.permit.Posting(c.qp, c.now))
	s.use = d.Use
	c.slices = append(c.slices, s)
	return true
}

// settleAll lets everything complete.
func (c *crowd) settleAll() {
	for _, s := range c.slices {
		c.settle(s, success)
	}
	c.slices = nil
}

// claimAt is how long after the claim small slices are held back.
func claimAt(route *Route) time.Duration {
	return claimPrecedes * max(route.drainTime(), route.device.drainTime())
}

// A slice that exceeds the route's window leaves a claim; for two drain times small
// ones overtake it, then they stand back until it is admitted.
func TestClaimOnRoute(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	c := r.newCrowd(route, 1)
	var big slice
	ask := func() Decision { return route.TryAcquire(&big.permit, c.gen, 3*mib, &big.task) }

	d := ask()
	require.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, d.Ruling)
	assert.Equal(t, "CONGESTED", big.task.State().String())
	require.True(t, c.turn(), "at once, a small slice overtakes")
	r.now += claimAt(route) - 1
	require.Equal(t, Defer, ask().Answer)
	require.True(t, c.turn(), "just before two drain times, a small slice overtakes")
	r.now++
	for len(c.slices) > 0 {
		require.Equal(t, Defer, ask().Answer, "the route is not empty yet")
		require.False(t, c.turn(), "after two drain times, small slices stand back")
	}
	r.inFlight(route, 0, 0)
	var small slice
	require.Equal(t, RouteDomain, route.TryAcquire(&small.permit, c.gen, 1, nil).Domain, "also when the route is empty")
	require.Equal(t, RouteDomain, route.TryAcquire(&small.permit, c.gen, 4*mib, nil).Domain, "and when they are large")
	d = ask()
	require.True(t, d.Admitted(), "the claimant, now that the route is empty: %s", d)
	require.NoError(t, big.permit.Posting(1, r.now))
	big.use = d.Use
	require.Equal(t, Defer, route.TryAcquire(&small.permit, c.gen, 1, nil).Answer, "the large slice fills the window")
	r.settle(&big, success)
	require.Nil(t, route.line.Load(), "the claim has ended")
	r.post(&small, route, c.gen, 64*kib, 1)
	assert.True(t, route.flight.open(), "leases are back")
	r.settle(&small, success)
	r.inFlight(route, 0, 0)
}

// A claim on the device holds back small slices of every route.
func TestClaimOnDevice(t *testing.T) {
	r := newRig(t, Enforce)
	other, route := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	elsewhere := r.route("D2", "P", "n1")
	c := r.newCrowd(other, 1)
	gen := r.renew(route, 2)
	var big slice
	ask := func() Decision { return route.TryAcquire(&big.permit, gen, 5*mib, nil) }

	require.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: DeviceDomain}, ask().Ruling)
	require.True(t, c.turn(), "at once, a small slice overtakes")
	r.now += claimAt(route)
	for len(c.slices) > 0 {
		require.Equal(t, DeviceDomain, ask().Domain)
		require.False(t, c.turn(), "small slices of another route stand back")
	}
	var small, free slice
	assert.Equal(t, DeviceDomain, route.TryAcquire(&small.permit, gen, 1, nil).Domain, "and those of its own")
	r.post(&free, elsewhere, r.renew(elsewhere, 3), kib, 3)
	r.settle(&free, success)
	d := ask()
	require.True(t, d.Admitted(), "%s", d)
	big.permit.Unposted()
	require.Nil(t, other.device.line.Load(), "the claim has ended")
	r.post(&small, other, c.gen, kib, 1)
	r.settle(&small, success)
	r.inFlight(route, 0, 0)
}

// A slice that the route refuses first and the device then keeps both claims, so
// that its route does not fill up again while the device drains.
func TestClaimMovesOnToDevice(t *testing.T) {
	r := newRig(t, Enforce)
	route, other := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	c, o := r.newCrowd(route, 1), r.newCrowd(other, 2)
	var big slice
	ask := func() Decision { return route.TryAcquire(&big.permit, c.gen, 5*mib, nil) }
	require.Equal(t, RouteDomain, ask().Domain)
	r.now += claimAt(route)
	for len(c.slices) > 0 {
		require.Equal(t, RouteDomain, ask().Domain)
		require.False(t, c.turn())
		require.True(t, o.turn(), "the other route is not concerned yet")
	}
	require.Equal(t, DeviceDomain, ask().Domain)
	require.True(t, o.turn())
	r.now += claimAt(route)
	for len(o.slices) > 0 {
		require.Equal(t, DeviceDomain, ask().Domain)
		require.False(t, o.turn())
	}
	require.True(t, ask().Admitted())
	big.permit.Unposted()
	r.inFlight(route, 0, 0)
	assert.False(t, route.inLine(), "both claims have ended")
}

// Only slices that exceed the window that refused them leave a claim.
func TestNoClaimWithinTheWindow(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	c := r.newCrowd(route, 1)
	var fits, over slice
	require.Equal(t, Defer, route.TryAcquire(&fits.permit, c.gen, mib, nil).Answer)
	assert.Nil(t, route.line.Load(), "a slice as large as the window leaves no claim")
	require.Equal(t, Defer, route.TryAcquire(&over.permit, c.gen, mib+1, nil).Answer)
	assert.NotNil(t, route.line.Load(), "a slice one byte larger does")
	c.settleAll()
}

// A claim that is not retried for four drain times lapses; each retry counts.
func TestClaimLapses(t *testing.T) {
	for _, retried := range []bool{false, true} {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		c := r.newCrowd(route, 1)
		var big slice
		ask := func() Decision { return route.TryAcquire(&big.permit, c.gen, 2*mib, nil) }
		require.Equal(t, Defer, ask().Answer)
		lapses := claimLife(route.drainTime())
		r.now += lapses - 1
		require.False(t, c.turn(), "before its life is over the claim stands")
		if retried {
			require.Equal(t, Defer, ask().Answer)
		}
		r.now++
		s := slice{}
		assert.Equal(t, !retried, route.TryAcquire(&s.permit, c.gen, 64*kib, nil).Admitted(),
			"a claim's life after it, retried meanwhile: %t", retried)
		assert.Equal(t, retried, route.line.Load() != nil)
		s.permit.Unposted()
		c.settleAll()
	}
}

// A claim that has lapsed is gone for all, also when who finds it so is refused.
func TestLapsedClaimLeavesNoLine(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var out, big, small slice
	r.post(&out, route, gen, mib, 1)
	require.Equal(t, Defer, route.TryAcquire(&big.permit, gen, 2*mib, nil).Answer)
	r.now += claimLife(route.drainTime())
	require.Equal(t, Defer, route.TryAcquire(&small.permit, gen, kib, nil).Answer)
	assert.Nil(t, route.line.Load())
	r.settle(&out, success)
}

// The claim of a device precedes and lapses by the device's drain time.
func TestClaimOnDeviceTakesTime(t *testing.T) {
	const slow = 10 * time.Millisecond // drains
	begin := func() (r *rig, route *Route, gen Generation, big, out *slice) {
		r = newRig(t, Enforce)
		route = r.route("D1", "P", "n1")
		other := r.route("D1", "Q", "n1")
		gen, big, out = r.renew(route, 1), &slice{}, &slice{}
		r.post(out, other, r.renew(other, 2), 64*kib, 2)
		other.device.report.drain.set(slow)
		require.Equal(t, DeviceDomain, route.TryAcquire(&big.permit, gen, 5*mib, nil).Domain)
		return r, route, gen, big, out
	}
	for _, tt := range []struct {
		after    time.Duration
		admitted bool
	}{{0, true}, {2*slow - 1, true}, {2 * slow, false}, {4*slow - 1, false}, {4 * slow, true}} {
		r, route, gen, _, out := begin()
		r.now += tt.after
		var small slice
		assert.Equal(t, tt.admitted, route.TryAcquire(&small.permit, gen, kib, nil).Admitted(), "%s after the claim", tt.after)
		small.permit.Unposted()
		r.settle(out, success)
	}
	// Who is refused by its own route finds lapsed claims too.
	for _, tt := range []struct {
		after time.Duration
		stays bool
	}{{4*slow - 1, true}, {4 * slow, false}} {
		r, route, gen, _, out := begin()
		var full, large slice
		r.post(&full, route, gen, mib, 1)
		r.now += tt.after
		require.Equal(t, RouteDomain, route.TryAcquire(&large.permit, gen, 2*mib, nil).Domain)
		assert.Equal(t, tt.stays, route.device.line.Load() != nil, "%s after the claim", tt.after)
		r.settle(&full, success)
		r.settle(out, success)
	}
}

// A retry that comes too late is a new claim, of that time.
func TestLateRetryIsANewClaim(t *testing.T) {
	for _, late := range []bool{false, true} {
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var out, big slice
		r.post(&out, route, gen, mib, 1)
		require.Equal(t, Defer, route.TryAcquire(&big.permit, gen, 2*mib, nil).Answer)
		want := r.now
		r.now += claimLife(route.drainTime()) - 1
		if late {
			r.now++
			want = r.now
		}
		require.Equal(t, Defer, route.TryAcquire(&big.permit, gen, 2*mib, nil).Answer)
		assert.Equal(t, want, route.line.Load().claim.since, "retried too late: %t", late)
		r.settle(&out, success)
	}
}

// A retry counts for the claim also when the window has grown so that the slice exceeds
// it no more.
func TestRetryCountsWhenTheWindowHasGrown(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var out, big slice
	r.post(&out, route, gen, mib, 1)
	require.Equal(t, Defer, route.TryAcquire(&big.permit, gen, 2*mib, nil).Answer)
	route.window.Store(5 * mib / 2)
	for range 3 {
		r.now += claimLife(route.drainTime()) - 1
		require.Equal(t, Defer, route.TryAcquire(&big.permit, gen, 2*mib, nil).Answer)
		require.NotNil(t, route.line.Load())
		assert.Equal(t, r.now, route.line.Load().claim.retried)
	}
	r.settle(&out, success)
}

// Who is refused by the device leaves a claim only if it exceeds the device's window.
func TestNoClaimWithinTheDeviceWindow(t *testing.T) {
	r := newRig(t, Enforce)
	route, other := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	gen, ogen := r.renew(route, 1), r.renew(other, 2)
	var out, s slice
	r.post(&out, other, ogen, mib, 2)
	for _, n := range []int64{4*mib - 1, 4 * mib} { // above the route's window of 1 MiB
		require.Equal(t, DeviceDomain, route.TryAcquire(&s.permit, gen, n, nil).Domain)
		assert.False(t, route.inLine(), "%d bytes", n)
	}
	r.settle(&out, success)
}

// A small slice that is refused by its full route while the device has a claim leaves
// none.
func TestNoClaimOfASmallSliceInLine(t *testing.T) {
	r := newRig(t, Enforce)
	route, other := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	gen, ogen := r.renew(route, 1), r.renew(other, 2)
	var out, big, small slice
	r.post(&out, route, gen, mib, 1)
	require.Equal(t, DeviceDomain, other.TryAcquire(&big.permit, ogen, 5*mib, nil).Domain)
	require.Equal(t, RouteDomain, route.TryAcquire(&small.permit, gen, kib, nil).Domain)
	assert.Nil(t, route.line.Load())
	r.settle(&out, success)
}

// Claims reckon with the drain time that was seen, from 100 us to a second.
func TestDrainTimeOfClaims(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	const us = time.Microsecond
	assert.Equal(t, 100*us, route.drainTime(), "nothing was seen")
	assert.Equal(t, 100*us, route.device.drainTime())
	var s slice
	r.post(&s, route, r.renew(route, 1), kib, 1)
	r.settle(&s, success)
	for drain, want := range map[time.Duration]time.Duration{
		0: 100 * us, 100 * us: 100 * us, 101 * us: 101 * us,
		time.Second - 1: time.Second - 1, time.Second: time.Second, time.Hour: time.Second,
	} {
		route.meter.Load().drain.set(drain)
		assert.Equal(t, want, route.drainTime())
		route.device.report.drain.set(drain)
		assert.Equal(t, want, route.device.drainTime())
	}
}

// A claim stands for four drain times, but not less than 4 ms.
func TestClaimLife(t *testing.T) {
	for drain, want := range map[time.Duration]time.Duration{
		minDrainTime: 4 * time.Millisecond, time.Millisecond: 4 * time.Millisecond, 1001 * time.Microsecond: 4004 * time.Microsecond, time.Second: 4 * time.Second,
	} {
		assert.Equal(t, want, claimLife(drain))
	}
}

// A claim on a second domain is as old as the first: who came between stands back there.
func TestSecondClaimIsAsOldAsTheFirst(t *testing.T) {
	r := newRig(t, Enforce)
	a, b := r.route("D1", "P", "n1"), r.route("D1", "Q", "n1")
	agen, bgen := r.renew(a, 1), r.renew(b, 2)
	var aOut, bOut, first, second slice
	r.post(&aOut, a, agen, kib, 1)
	r.post(&bOut, b, bgen, kib, 2)
	require.Equal(t, RouteDomain, a.TryAcquire(&first.permit, agen, 5*mib, nil).Domain)
	require.Equal(t, RouteDomain, b.TryAcquire(&second.permit, bgen, 2*mib, nil).Domain)
	r.settle(&aOut, success)
	require.Equal(t, DeviceDomain, a.TryAcquire(&first.permit, agen, 5*mib, nil).Domain)
	r.now += claimAt(a)
	r.settle(&bOut, success)
	assert.Equal(t, DeviceDomain, b.TryAcquire(&second.permit, bgen, 2*mib, nil).Domain)
	assert.True(t, a.TryAcquire(&first.permit, agen, 5*mib, nil).Admitted())
	first.permit.Unposted()
}

// A domain has one claim. Who comes later gets it when it is free, and cannot take
// precedence over an older one.
func TestOneClaimPerDomain(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	c := r.newCrowd(route, 1)
	var first, second slice
	ask := func(s *slice) Decision { return route.TryAcquire(&s.permit, c.gen, 2*mib, nil) }
	require.Equal(t, Defer, ask(&first).Answer)
	require.Equal(t, Defer, ask(&second).Answer)
	r.now += claimAt(route)
	require.Equal(t, Defer, ask(&first).Answer)
	c.settleAll()
	require.Equal(t, Defer, ask(&second).Answer, "the claim is the first one's")
	d := ask(&first)
	require.True(t, d.Admitted())
	require.NoError(t, first.permit.Posting(1, r.now))
	first.use = d.Use
	require.Equal(t, Defer, ask(&second).Answer)
	require.NotNil(t, route.line.Load(), "now the second has the claim")
	r.now += claimAt(route)
	require.Equal(t, Defer, ask(&second).Answer)
	r.settle(&first, success)
	require.Equal(t, Defer, ask(&first).Answer, "the first has to stand back now")
	require.True(t, ask(&second).Admitted())
	second.permit.Unposted()
	r.inFlight(route, 0, 0)
}

// A steady stream of small slices overtakes a large one a bounded number of times.
func TestLargeSliceIsNeverStarved(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	c := r.newCrowd(route, 1)
	var big slice
	overtaken := 0
	for !route.TryAcquire(&big.permit, c.gen, 3*mib, nil).Admitted() {
		r.now += 100 * time.Microsecond
		if len(c.slices) > 0 && c.turn() {
			overtaken++
		}
		require.Less(t, overtaken, 100, "small slices that overtook the large one")
	}
	assert.InDelta(t, int(claimAt(route)/(100*time.Microsecond)), overtaken, 1, "those of two drain times")
	big.permit.Unposted()
	r.inFlight(route, 0, 0)
}

// Claims hold back nobody in observe mode, and none is left.
func TestObserveLeavesNoClaim(t *testing.T) {
	r := newRig(t, Observe)
	route := r.route("D1", "P", "n1")
	c := r.newCrowd(route, 1)
	var big slice
	r.post(&big, route, c.gen, 5*mib, 1)
	assert.False(t, route.inLine())
	r.settle(&big, success)
	c.settleAll()
	r.inFlight(route, 0, 0)
}

// A slice that asks on two rails in turn leaves a claim on each, and is not held up by
// its own.
func TestClaimOnTwoRails(t *testing.T) {
	h := newHealthRig(t, Enforce)
	a, b := h.route("D1", "P", "n1"), h.route("D2", "P", "n2")
	var out [2]slice
	for i, r := range []*Route{a, b} {
		gen, qp := h.renewed(r)
		h.post(&out[i], r, gen, 512*kib, qp)
	}
	var large slice
	for range 6 {
		for _, r := range []*Route{a, b} {
			require.False(t, h.ask(&large, r, 2*mib).Admitted())
			h.advance(500 * time.Microsecond)
		}
	}
	h.settle(&out[0], success)
	require.False(t, h.ask(&slice{}, a, kib).Admitted(), "it has precedence on both")
	require.False(t, h.ask(&slice{}, b, kib).Admitted())
	require.True(t, h.ask(&large, a, 2*mib).Admitted())
	large.permit.Unposted()
	require.True(t, h.ask(&slice{}, a, kib).Admitted(), "its claim here is over")
	h.advance(5 * time.Millisecond)
	require.True(t, h.ask(&slice{}, b, kib).Admitted(), "and the other has lapsed")
}
