package cc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A closed route admits nothing and gives back what comes in; a new one of its pair
// begins anew.
func TestRouteClose(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route)
	var posted, held slice
	h.post(&posted, route, gen, 100*kib, qp)
	require.True(t, h.ask(&held, route, 50*kib).Admitted())

	route.Close()
	route.Close()
	h.inFlight(route, 150*kib, 150*kib)
	assert.ErrorIs(t, h.ask(&slice{}, route, kib).Err, ErrClosed)
	none, err := route.Renew(gen, []QP{{ID: 99}})
	assert.ErrorIs(t, err, ErrClosed)
	assert.Zero(t, none)
	assert.ErrorIs(t, held.permit.Posting(qp, h.now), ErrClosed)
	h.inFlight(route, 100*kib, 100*kib)
	assert.Zero(t, h.event(classify.EventQPFatal, classify.Element{QP: qp}), "its QPs are forgotten")
	assert.Equal(t, Ended|Released, h.settle(&posted, retryExc))
	h.inFlight(route, 0, 0)
	assert.Equal(t, Healthy, route.State(), "nothing is learnt on it any more")

	next := h.route("D1", "P", "n1")
	assert.NotSame(t, route, next)
	assert.Equal(t, mib, next.Snapshot().WindowBytes)
	assert.Len(t, h.ctl.Snapshot().Routes, 1)
	h.done(next)
}

// Nothing is renewed on a closed controller, nor does it tick.
func TestRenewAndTickAfterClose(t *testing.T) {
	l := newRig(t, Enforce).load("D1", "P", "n1")
	l.fill()
	l.next()
	l.ctl.Close()
	none, err := l.route.Renew(l.gen, []QP{{ID: 99}})
	assert.ErrorIs(t, err, ErrClosed)
	assert.Zero(t, none)
	looks := l.ctl.monitor.looks
	l.next()
	assert.Equal(t, looks, l.ctl.monitor.looks)
	l.drain(success)
}

// What the table knows outlives the route.
func TestRouteCloseKeepsVerdict(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.quarantine(route)
	h.advance(30 * time.Second)
	h.trial(route)
	route.Close()
	next := h.route("D1", "P", "n1")
	h.renewed(next)
	assert.True(t, next.path().Paused)
	h.ruling(next, Ruling{Answer: Admit}).permit.Unposted() // the closed route's trial was returned
}

// Waiters on a closed route are let go.
func TestRouteCloseWithWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHealthRig(t, Enforce)
		route := h.route("D1", "P", "n1")
		gen, qp := h.renewed(route)
		var s slice
		h.post(&s, route, gen, mib, qp)
		answers := make(chan Decision, 3)
		for range cap(answers) {
			go func() {
				var p Permit
				answers <- route.Acquire(context.Background(), &p, gen, kib, nil)
			}()
		}
		synctest.Wait()
		route.Close()
		for range cap(answers) {
			assert.ErrorIs(t, (<-answers).Err, ErrClosed)
		}
		h.settle(&s, success)
		h.inFlight(route, 0, 0)
	})
}

// Forget closes the routes of one incarnation of one peer, and bytes that are still
// out keep counting against the device until they are back.
func TestForget(t *testing.T) {
	h := newHealthRig(t, Enforce)
	var open slice
	for _, remote := range []string{"n1", "n2"} {
		route := h.route("D1", "P", remote)
		gen, qp := h.renewed(route)
		h.post(&open, route, gen, kib, qp)
		if remote == "n1" {
			h.settle(&open, success)
		}
	}
	other := h.route("D1", "Q", "n1")
	assert.Zero(t, h.ctl.Forget("P", "another"))
	assert.Equal(t, 2, h.ctl.Forget("P", ""))
	assert.Zero(t, h.ctl.Forget("P", ""))
	require.Len(t, h.ctl.Snapshot().Routes, 1)
	assert.Equal(t, kib, h.ctl.Snapshot().Devices[0].InFlightBytes)
	h.settle(&open, success)
	assert.Zero(t, h.ctl.Snapshot().Devices[0].InFlightBytes)
	assert.Empty(t, other.device.leaving)
	h.done(other)
}

// Peers that come and go leave nothing behind.
func TestForgetLeavesNothing(t *testing.T) {
	h := newHealthRig(t, Enforce)
	for range 1000 {
		route := h.route("D1", "P", "n1")
		h.succeed(renewedRoute(h, route))
		h.ctl.Forget("P", "")
	}
	h.ctl.Tick(h.now)
	h.advance(time.Second)
	h.ctl.Tick(h.now)
	h.advance(time.Second)
	h.ctl.Tick(h.now)
	dev := h.ctl.devices["D1"]
	assert.Empty(t, dev.routes)
	assert.Empty(t, dev.leaving)
	assert.Empty(t, dev.active)
	assert.Empty(t, dev.lessees)
	assert.Empty(t, dev.qps)
	assert.Zero(t, dev.granted.Load())
	assert.Zero(t, h.ctl.table.Stats().Peers)
}

func renewedRoute(h *healthRig, route *Route) *Route {
	h.renewed(route)
	return route
}

// An event that takes a port or device down is met by routes that are made there
// later, also when there was none before.
func TestEventBeforeAnyRoute(t *testing.T) {
	h := newHealthRig(t, Enforce)
	h.portErr()
	h.event(classify.EventDeviceFatal, classify.Element{Device: "D2"})
	h.state(h.route("D1", "P", "n1"), Quarantined)
	h.state(h.route("D2", "P", "n1"), Quarantined)
	h.event(classify.EventCQErr, classify.Element{Device: "D3", CQ: 1})
	assert.Nil(t, h.ctl.devices["D3"], "a CQ that nobody has says nothing")
}

// What a device delivered never becomes less, also when its routes go.
func TestDeliveredOutlivesRoutes(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	h.succeed(renewedRoute(h, route))
	before := h.ctl.Snapshot().Devices[0].Flow.DeliveredBytes
	require.Positive(t, before)
	route.Close()
	assert.Equal(t, before, h.ctl.Snapshot().Devices[0].Flow.DeliveredBytes)
}
