package cc

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Short forms of bench/overload: everything is bounded, and everything recovers.

// empty fails if the controller keeps anything of routes.
func (h *healthRig) empty() {
	h.Helper()
	c := h.ctl
	h.advance(time.Hour)
	c.Tick(h.now)
	assert.Zero(h.TB, c.routes.routes, "routes")
	assert.Empty(h.TB, c.routes.peers, "peers with routes")
	assert.Zero(h.TB, c.table.Stats().Peers, "peers that the table knows")
	for _, d := range c.deviceList {
		assert.Zero(h.TB, d.inFlight(), "bytes in flight of %s", d.name)
		for what, n := range map[string]int{
			"routes": len(d.routes), "leaving": len(d.leaving), "lessees": len(d.lessees),
			"active": len(d.active), "joining": len(d.joining), "QPs": len(d.qps),
		} {
			assert.Zero(h.TB, n, "%s of %s", what, d.name)
		}
		assert.Zero(h.TB, d.granted.Load(), "bytes of %s that are given out", d.name)
	}
}

// Peers come and go in all ways. Nothing is kept of those that have gone, but for what the
// pause table knows for an hour.
func TestOverloadPeersComeAndGo(t *testing.T) {
	h := newHealthRig(t, Enforce)
	const peers, live = 3000, 16
	type peer struct {
		*Route
		out slice
	}
	var ring [live]*peer
	var late []*slice
	leaves := func(i int, p *peer) {
		switch i % 4 {
		case 0:
			p.Close()
		case 1:
			require.Equal(t, 1, h.ctl.Forget(p.pair.Peer, ""))
		case 2:
			h.post(&p.out, p.Route, p.current.Load().number, 4*kib, h.qp(p.Route))
			p.Close()
			late = append(late, &p.out)
		case 3: // it is quarantined; a trial may be due
			p.State()
			p.Close()
		}
		require.LessOrEqual(t, len(h.ctl.deviceList[0].leaving), 2*live, "closed routes that are kept")
	}
	for i := range peers {
		h.advance(5 * time.Second)
		h.ctl.Tick(h.now)
		if p := ring[i%live]; p != nil {
			leaves(i-live, p)
		}
		if len(late) > 4 {
			require.Equal(t, Ended|Released, h.settle(late[0], flush))
			late = late[1:]
		}
		p := &peer{Route: h.route("D1", fmt.Sprint("P", i), "n1")}
		h.renewed(p.Route)
		h.succeed(p.Route)
		switch i % 4 {
		case 1:
			h.fail(p.Route, 1, retryExc)
		case 3:
			h.quarantine(p.Route)
		}
		ring[i%live] = p
		require.LessOrEqual(t, h.ctl.table.Stats().Entries, 900, "entries of an hour and a sweep")
	}
	for i, p := range ring {
		leaves(peers-live+i, p)
	}
	for _, s := range late {
		h.settle(s, flush)
	}
	h.advance(2 * time.Hour)
	h.empty()
}

// Waiters of one route are served in the order in which they came, half of them give up,
// and Close ends the rest: each has one answer, and nothing is left.
func TestOverloadWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1600
		r := newRig(t, Enforce)
		route := r.route("D1", "P", "n1")
		gen := r.renew(route, 1)
		var holder slice
		r.post(&holder, route, gen, mib, 1)
		fickle, giveUp := context.WithCancel(t.Context())
		line := make([]*sleeper, n)
		for i := range line {
			ctx := t.Context()
			if i >= n/4 && i%2 == 1 {
				ctx = fickle
			}
			line[i] = r.wait(ctx, route, gen, mib, 1)
		}
		r.settle(&holder, success)
		serve := func(from, to, step int) {
			for i := from; i < to; i += step {
				require.True(t, line[i].over(), "waiter %d is next", i)
				require.False(t, line[i+step].over(), "waiter %d before its turn", i+step)
				require.True(t, line[i].d.Admitted())
				require.Equal(t, Ended|Released, r.settle(&line[i].slice, success))
			}
		}
		serve(0, n/4, 1)
		giveUp()
		synctest.Wait()
		serve(n/4, n/2, 2)
		require.True(t, line[n/2].over())
		route.Close()
		for i, s := range line {
			require.True(t, s.over(), "waiter %d", i)
			switch {
			case i >= n/4 && i%2 == 1:
				require.ErrorIs(t, s.d.Err, context.Canceled, "waiter %d", i)
			case i <= n/2:
				require.True(t, s.d.Admitted(), "waiter %d", i)
			default:
				require.ErrorIs(t, s.d.Err, ErrClosed, "waiter %d", i)
			}
		}
		r.settle(&line[n/2].slice, success)
		assert.Nil(t, route.line.Load(), "nobody waits")
		r.inFlight(route, 0, 0)
	})
}

// Storms of events: what means nothing changes nothing, a fault counts once, and routes
// are back within the rule's time.
func TestOverloadEvents(t *testing.T) {
	const n = 2000
	h := newHealthRig(t, Enforce)
	route, other := h.route("D1", "P", "n1"), h.route("D2", "P", "n1")
	h.renewed(route)
	h.renewed(other)
	before := h.ctl.Snapshot()
	for i := range n {
		h.event(classify.EventCommEst, classify.Element{QP: h.qp(route)})
		h.event(classify.EventWQFatal+1+classify.EventType(i), classify.Element{QP: h.qp(route), CQ: 1, Port: 1})
		h.event(classify.EventQPFatal, classify.Element{QP: 1<<40 + uint64(i)})
		h.event(classify.EventCQErr, classify.Element{CQ: 1<<40 + uint64(i)})
	}
	assert.Equal(t, before, h.ctl.Snapshot(), "after events that mean nothing, or nothing here")
	for i := range n {
		require.Equal(t, 1, h.event(classify.EventQPFatal, classify.Element{QP: h.qp(route)}))
		h.event(classify.EventPortErr, classify.Element{Port: 3 + uint8(i%200)})
	}
	h.count(route, 1)
	h.state(route, Suspect)
	assert.Len(t, route.device.marks, 200, "ports that failed, each once")
	assert.Len(t, h.ctl.devices, 2)
	h.renewed(route)
	h.succeed(route)
	h.state(route, Healthy)

	for range n {
		h.portErr()
		h.advance(time.Millisecond)
		h.portActive()
	}
	h.state(route, Quarantined)
	h.count(route, 0)
	h.state(other, Healthy)
	h.renewed(route)
	h.advance(time.Second) // a probe interval after the port came back
	h.settle(h.trial(route), success)
	h.state(route, Healthy)
	assert.Len(t, h.path(route), 5, "SUSPECT, HEALTHY, QUARANTINED, PROBING, HEALTHY: %v", h.path(route))
	h.done(route, other)
}

// Clocks that leap: an earlier time counts as the last seen, nothing is out for ever, and
// once the clock has come to where it was all goes on.
func TestOverloadClocks(t *testing.T) {
	for name, leap := range map[string]struct{ by, back time.Duration }{
		"an hour back": {-time.Hour, 0}, "two hours back, before zero": {-2 * time.Hour, 0},
		"a day ahead": {24 * time.Hour, 0}, "a day ahead and back": {24 * time.Hour, -24 * time.Hour},
		"a century ahead": {36525 * 24 * time.Hour, 0}, "292 years ahead": {math.MaxInt64 - 3*time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHealthRig(t, Enforce, func(c *Config) { c.HighPressureEpochs, c.TargetDrain = 1, time.Second })
			poller, err := h.ctl.NewPoller("D1", 1)
			require.NoError(t, err)
			busy, route, late := h.route("D1", "O", "n1"), h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
			var patient, failing, s, flying slice
			h.renewed(busy)
			gen, qp := h.renewed(route)
			h.post(&patient, route, gen, kib, qp)
			gen, qp = h.renewed(late)
			h.post(&failing, late, gen, kib, qp)
			window := busy.window.Load()
			turn := func() {
				poller.Beat(h.now)
				if flying.permit.Held() > 0 {
					require.Equal(t, Ended|Released, h.settle(&flying, success))
				}
				h.post(&flying, busy, busy.current.Load().number, kib, h.qp(busy))
				h.ctl.Tick(h.now)
			}
			run := func(d time.Duration) {
				for end := h.now + d; h.now < end; h.advance(50 * time.Millisecond) {
					turn()
				}
			}
			run(time.Second)
			highest := max(h.now, h.now+leap.by)
			h.advance(leap.by)
			turn()
			if leap.by > 0 {
				assert.Zero(t, h.settle(&patient, deadline), "a deadline in a gap of the polling")
			}
			h.settle(&failing, retryExc)
			h.state(late, Suspect)
			run(time.Second)
			assert.Equal(t, window, busy.window.Load(), "an epoch with a gap in the polling moves no window")
			h.advance(leap.back)
			run(time.Second)
			h.now = max(h.now, highest) // it has come to where it was
			run(time.Second)
			h.settle(&patient, success)
			h.renewed(late)
			h.succeed(late)

			h.quarantine(late)
			h.ruling(late, avoided)
			run(30 * time.Second)
			lost := h.trial(late)
			run(maxLease)
			h.post(&s, late, late.current.Load().number, kib, h.qp(late))
			h.settle(&s, success)
			h.settle(lost, teardown)
			h.settle(&flying, success)
			h.state(late, Healthy)
			h.done(busy, route, late)
		})
	}
}

// maxLease is the longest lease of a trial, however long something seemed to take to fail.
const maxLease = 10 * time.Minute

// Numbers and names that nobody expects change nothing, or name what they say.
func TestOverloadSizes(t *testing.T) {
	h := newHealthRig(t, Enforce)
	route := h.route("D1", "P", "n1")
	gen, qp := h.renewed(route)
	before := h.ctl.Snapshot()
	for _, n := range []int64{0, -1, math.MinInt64, math.MaxInt64, MaxBytes + 1} {
		var s slice
		var l List
		assert.Error(t, h.ask(&s, route, n).Err, "%d bytes", n)
		assert.Error(t, route.TryProbe(&s.permit, gen, n).Err, "%d bytes", n)
		assert.Error(t, route.TryAcquireList(&l, gen, []int64{1, n}, nil).Err, "%d bytes", n)
	}
	assert.Equal(t, before, h.ctl.Snapshot())
	var large slice
	h.post(&large, route, gen, MaxBytes, qp)
	assert.Equal(t, Defer, h.ask(&slice{}, route, MaxBytes).Answer)
	h.settle(&large, success)
	h.advance(time.Minute)

	for i, name := range []string{"a", "a\x00", "\x00a", "a\x00b", "a/b", "a#b", "a->b", "a:1->b"} {
		r := h.route("D1", name, name)
		h.quarantine(r)
		_, err := h.ctl.Route(rail.Pair{Peer: name, Incarnation: name, Local: "D1", Port: 1, Remote: name})
		require.NoError(t, err)
		assert.Equal(t, 3+i, h.ctl.routes.routes, "%q is a name of its own", name)
		assert.Equal(t, 1, h.ctl.Forget(name, name))
		h.state(r, Quarantined)
		h.state(route, Healthy)
	}
	h.done(route)
}

// A route is renewed again and again while slices of old generations are out.
func TestOverloadRenews(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		r := newRig(t, Enforce)
		if recorded {
			r, _ = recordedRig(t, Enforce, recorder.Slots(64))
		}
		route := r.route("D1", "P", "n1")
		var out [64]slice
		for i := range 5000 {
			s := &out[i%len(out)]
			if i >= len(out) {
				require.Equal(t, Ended|Released, r.settle(s, flush))
			}
			id := uint64(i + 1)
			r.post(s, route, r.renew(route, id), kib, id)
			require.Len(t, route.device.qps, 1, "QPs that events find")
		}
		assert.Equal(t, 64*kib, route.InFlight())
		assert.Equal(t, 63*kib, route.outdated.Load(), "bytes of old generations")
		for i := range out {
			r.settle(&out[i], flush)
		}
		r.inFlight(route, 0, 0)
		assert.Equal(t, Healthy, route.State())
	}
}
