package cc

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/clock"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What reviews found, and what is right instead.

// In mode off (the default) what Acquire, TryProbe and Handoff admit on a permit of its
// own must be postable.
func TestOffWaitThenPosting(t *testing.T) {
	r := newRig(t, Off)
	a := r.route("D1", "P", "n1")
	gen := Generation(1)
	t.Run("Acquire", func(t *testing.T) {
		var s slice
		require.True(t, a.Acquire(t.Context(), &s.permit, gen, kib, &s.task).Admitted())
		require.NoError(t, s.permit.Posting(1, r.now))
	})
	t.Run("TryProbe", func(t *testing.T) {
		var s slice
		require.True(t, a.TryProbe(&s.permit, gen, kib).Admitted())
		require.NoError(t, s.permit.Posting(1, r.now))
	})
	t.Run("Handoff", func(t *testing.T) {
		var s slice
		require.True(t, a.Handoff(&s.permit, gen, &s.task).Admitted())
		require.NoError(t, s.permit.Posting(1, r.now))
	})
}

// A closed route is gone: no transitions of it, and the monitor lets it go.
func TestClosedSuspectLeavesMonitor(t *testing.T) {
	h := newHealthRig(t, Enforce)
	dev := "D1"
	for range 100 {
		r := h.route(dev, "P", "n1")
		h.fail(r, 1, retryExc)
		h.state(r, Suspect)
		h.ctl.Tick(h.now)
		r.Close()
		n := h.route(dev, "P", "n1") // the rebuilt route
		h.renewed(n)
		h.succeed(n)
		h.state(n, Healthy)
		n.Close()
	}
	for range 1000 {
		h.advance(time.Second)
		h.ctl.Tick(h.now)
	}
	d := h.ctl.devices[dev]
	assert.Empty(t, d.active, "closed routes that the monitor still visits, after 1000 s")
}

func TestClosedRouteTransitions(t *testing.T) {
	h := newHealthRig(t, Enforce)
	r := h.route("D1", "P", "n1")
	h.fail(r, 1, retryExc)
	h.ctl.Tick(h.now)
	r.Close()
	seen := len(h.seen)
	for range 100 {
		h.advance(time.Second)
		h.ctl.Tick(h.now)
	}
	for _, tr := range h.seen[seen:] {
		t.Errorf("transition of a closed route: %s -> %s, generation %d", tr.From, tr.To, tr.Generation)
	}
}

// Worker 1 learns that the pair of one route is dead. Worker 0 has not asked for that
// route since, so its last usable route to the peer is the other one.
func TestKeepLastRouteSeesSharedPause(t *testing.T) {
	s := newShared(t, 2, keepLast)
	w := s.workers[0]
	a, b := w.route("D1", "P", "n1"), w.route("D2", "P", "n2")
	w.renewed(a)
	w.renewed(b)
	other := s.workers[1].route("D1", "P", "n1")
	s.workers[1].route("D2", "P", "n2")
	s.workers[1].fail(other, 3, retryExc)
	s.workers[1].state(other, Quarantined)
	w.fail(b, 3, retryExc)
	assert.Equal(t, Quarantined, look(a), "a is paused for everybody")
	assert.Equal(t, Suspect, look(b), "so b was the last usable route")
}

// A trial of a pair's pause and of the port's. Another worker's earlier trial, whose
// lease had expired, succeeds late and ends the pause. Then this worker's fails.
func TestLocalTrialIsLost(t *testing.T) {
	s := newShared(t, 2)
	w, v := s.workers[0], s.workers[1]
	a, b := w.route("D1", "P", "n1"), v.route("D1", "P", "n1")
	v.renewed(b)
	w.fail(a, 3, retryExc)
	w.portErr()
	w.renewed(a)
	require.Equal(t, Quarantined, look(b))
	v.renewed(b)
	s.advance(30 * time.Second)
	late := v.trial(b)
	s.advance(11 * time.Second) // its lease is over
	mine := w.trial(a)
	v.settle(late, success)
	require.Equal(t, Healthy, look(b))
	w.settle(mine, retryExc) // the port is still dead
	w.renewed(a)
	require.Zero(t, mine.permit.Held())
	look(a)
	assert.False(t, a.Snapshot().Health.TrialOut, "a trial is out that nobody has")
	s.advance(2 * time.Second)
	d := w.ask(&slice{}, a, 4*kib)
	assert.NotEqual(t, probing, d.Ruling)
}

// A device is renamed while quarantined; the old entry is swept
// in time. Traffic to the peer goes on under the new name.
func TestRenamedDeviceIsSwept(t *testing.T) {
	h := newHealthRig(t, Enforce)
	old := h.route("D1", "P", "n1")
	h.fail(old, 3, retryExc)
	h.state(old, Quarantined)
	old.Close()
	renamed := h.route("rocep1", "P", "n1")
	h.renewed(renamed)
	for range 48 {
		h.advance(30 * time.Minute)
		h.succeed(renamed)
		h.ctl.Tick(h.now)
	}
	assert.Empty(t, h.ctl.table.List(), "entries a day after the only route of the pair was closed")
}

// A new endpoint that has waited for 1 ms is not silent for 50 ms.
func TestEarlySuspicionAfterRenew(t *testing.T) {
	h := newHealthRig(t, Enforce, func(c *Config) { c.SuspectAfter = 50 * time.Millisecond })
	a, b := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
	h.renewed(b)
	_, qp := h.renewed(a)
	var s slice
	h.post(&s, a, a.current.Load().number, 4*kib, qp)
	h.ctl.Tick(h.now)
	for range 4 {
		h.advance(10 * time.Millisecond)
		h.succeed(b)
		h.ctl.Tick(h.now)
	}
	h.advance(9 * time.Millisecond)
	h.state(a, Healthy)
	gen, qp := h.renewed(a) // the engine rebuilt it for reasons of its own
	var n slice
	h.post(&n, a, gen, 4*kib, qp)
	h.settle(&s, flush)
	h.advance(time.Millisecond)
	h.succeed(b)
	h.ctl.Tick(h.now)
	h.state(a, Healthy)
}

// The table counts each QP once, also if a device has many.
func TestManyQPsCountOnce(t *testing.T) {
	s := newShared(t, 2)
	var qps []QP
	for i := range 65 {
		qps = append(qps, QP{ID: uint64(i + 1), CQ: 1, SRQ: 7, Incarnation: uint64(i + 1)})
	}
	var routes []*Route
	for _, w := range s.workers {
		r := w.route("D1", "P", "n1")
		_, err := r.Renew(0, qps)
		require.NoError(t, err)
		routes = append(routes, r)
	}
	for _, w := range s.workers {
		w.event(classify.EventSRQErr, classify.Element{SRQ: 7})
	}
	assert.Equal(t, 1, pause(routes[0]).Count, "one event, told by both of who share the QPs")
}

// Options that were given nil are an error, not a panic at three in the morning.
func TestNilOptions(t *testing.T) {
	for name, o := range map[string]Option{"pauses": WithPauses(nil), "clock": WithClock(nil), "jitter": WithJitter(nil)} {
		_, err := New(DefaultConfig(), o)
		assert.Error(t, err, name)
	}
}

// LastRoute: with this transition every route to the peer is quarantined.
func TestLastRouteFlag(t *testing.T) {
	s := newShared(t, 2)
	w := s.workers[0]
	a, b := w.route("D1", "P", "n1"), w.route("D2", "P", "n2")
	w.renewed(a)
	w.renewed(b)
	s.workers[1].fail(s.workers[1].route("D1", "P", "n1"), 3, retryExc)
	w.fail(b, 3, retryExc)
	last := w.seen[len(w.seen)-1]
	require.Equal(t, Quarantined, last.To)
	assert.True(t, last.LastRoute, "a is paused for everybody, b now too")
}

// Who waits for the device hears of a pause from elsewhere within a probe interval.
func TestDeviceWaiterHearsOfPause(t *testing.T) {
	table := rail.NewTable()
	mk := func() *Controller {
		cfg := DefaultConfig()
		cfg.Mode, cfg.HardErrorThreshold, cfg.ProbeInterval = Enforce, 1, 20*time.Millisecond
		cfg.DeviceWindowBytes = cfg.StartWindowBytes
		ctl, err := New(cfg, WithPauses(table))
		require.NoError(t, err)
		return ctl
	}
	c1, c2 := mk(), mk()
	p1 := rail.Pair{Peer: "P", Local: "D", Port: 1, Remote: "n"}
	full, _ := c1.Route(rail.Pair{Peer: "Q", Local: "D", Port: 1, Remote: "n"})
	full.Renew(0, []QP{{ID: 9}})
	var f Permit
	require.True(t, full.TryAcquire(&f, 1, DefaultConfig().StartWindowBytes, nil).Admitted())
	require.NoError(t, f.Posting(9, clock.Now()))
	r, _ := c1.Route(p1)
	r.Renew(0, []QP{{ID: 1}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := make(chan Decision, 1)
	go func() {
		var p Permit
		got <- r.Acquire(ctx, &p, 1, 4096, nil)
	}()
	for r.line.Load() == nil { // until it waits
		time.Sleep(time.Millisecond)
	}
	o, _ := c2.Route(p1)
	o.Renew(0, []QP{{ID: 2}})
	var p Permit
	d := o.TryAcquire(&p, 1, 4096, nil)
	require.NoError(t, p.Posting(2, clock.Now()))
	p.Settle(d.Use, retryExc, clock.Now())
	require.Equal(t, Quarantined, o.State())
	d = <-got
	require.NoError(t, d.Err)
	require.Equal(t, Avoid, d.Answer, d.String())
}

func TestEventErrorIsShort(t *testing.T) {
	h := newHealthRig(t, Enforce)
	_, _, err := h.ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: strings.Repeat("x", 1<<20)}}, 0)
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 4096)
}

func TestDuplicateCQ(t *testing.T) {
	h := newHealthRig(t, Enforce)
	_, err := h.ctl.NewPoller("D1", 1, 1)
	assert.Error(t, err)
}

// A paused pair answers Avoid to a worker that has not built an endpoint yet.
func TestNoEndpointOnPausedPair(t *testing.T) {
	s := newShared(t, 2)
	s.workers[1].fail(s.workers[1].route("D1", "P", "n1"), 3, retryExc)
	r := s.workers[0].route("D1", "P", "n1")
	var p Permit
	d := r.TryAcquire(&p, 0, 4096, nil)
	assert.Equal(t, avoided, d.Ruling, d.String())
}

// A quarantine ends by a trial, also on a device that is always full: a trial that finds
// no room leaves a claim, however small it is, and is told when to ask again.
func TestTrialOnSaturatedDevice(t *testing.T) {
	for _, via := range []string{"probe", "user"} {
		t.Run(via, func(t *testing.T) {
			h := newHealthRig(t, Enforce, func(c *Config) {
				c.Prober, c.StartWindowBytes, c.TargetDrain = via == "probe", 4*mib, 10*time.Second
			})
			bad, busy := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
			h.quarantine(bad)
			gen, qp := h.renewed(busy)
			var slices [4]slice
			var p slice
			again := h.now
			for i := range 10 * 60 { // a minute, ten completions a second
				h.advance(100 * time.Millisecond)
				h.ctl.Tick(h.now)
				s := &slices[i%len(slices)]
				if s.permit.Held() > 0 {
					h.settle(s, success)
				}
				if h.ask(s, busy, mib).Admitted() { // the engine refills at once
					require.NoError(t, s.permit.Posting(qp, h.now))
				}
				if h.now < again {
					continue
				}
				d := Decision{}
				if via == "probe" {
					d = bad.TryProbe(&p.permit, bad.current.Load().number, 64)
				} else {
					d = h.ask(&p, bad, 64)
				}
				if d.Admitted() {
					return
				}
				again = h.now + d.RetryAfter
			}
			assert.Fail(t, "no trial in a minute after a cooldown of 30 s", "generation %d of %s", gen, busy.pair)
		})
	}
}

func TestClosedNeedsRenew(t *testing.T) {
	h := newHealthRig(t, Enforce)
	r := h.route("D1", "P", "n1")
	h.renewed(r)
	h.ctl.Close()
	assert.False(t, r.Snapshot().NeedsRenew, "no deadline retired it, and Renew answers ErrClosed")
}

// A device whose routes were all forgotten is not without a usable one.
func TestExhaustedAfterForget(t *testing.T) {
	h := newHealthRig(t, Enforce)
	a, b := h.route("D1", "P", "n1"), h.route("D1", "Q", "n1")
	h.quarantine(a)
	h.quarantine(b)
	require.True(t, h.ctl.Snapshot().Devices[0].Exhausted)
	h.ctl.Forget("P", "")
	h.ctl.Forget("Q", "")
	assert.False(t, h.ctl.Snapshot().Devices[0].Exhausted, "there is no route that failed")
}

// A claim whose owner went away holds small slices up for a few seconds at most, however
// long a slice once took.
func TestStaleDrainClaim(t *testing.T) {
	h := newHealthRig(t, Enforce, func(c *Config) { c.HardErrorThreshold = 100 })
	r := h.route("D1", "P", "n1")
	gen, qp := h.renewed(r)
	var s slice
	h.post(&s, r, gen, 4*kib, qp)
	h.ctl.Tick(h.now)
	h.advance(20 * time.Second) // one slow completion
	h.settle(&s, success)
	h.advance(100 * time.Millisecond)
	h.ctl.Tick(h.now)
	for range 3600 {
		h.advance(time.Second)
		h.ctl.Tick(h.now)
	}
	var keep, big slice
	h.post(&keep, r, gen, 4*kib, qp)
	d := h.ask(&big, r, 8*mib)
	require.False(t, d.Admitted())
	// Its owner gives up on it. keep stays out for a while, small ones come.
	blocked := time.Duration(0)
	for range 1000 {
		h.advance(100 * time.Millisecond)
		var x slice
		if d := h.ask(&x, r, kib); d.Admitted() {
			x.permit.Unposted()
		} else {
			blocked += 100 * time.Millisecond
		}
	}
	assert.LessOrEqual(t, blocked, claimLapses*maxDrainTime)
}
