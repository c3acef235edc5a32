package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A failure of a list counts once for its QP, as one of permits does, and a success
// clears it.
func TestListHealth(t *testing.T) {
	l := newListRig(t, Enforce)
	l.post(4)
	l.settle(1, retryExc)
	l.settle(0xe, flush)
	l.count(l.route, 1)
	l.state(l.route, Suspect)
	l.gen, l.qp = l.renewed(l.route)
	l.post(4)
	l.settle(0xf, success)
	l.count(l.route, 0)
	l.state(l.route, Healthy)

	l.post(4)
	l.settle(3, deadline)
	l.count(l.route, 1)
	assert.Equal(t, classify.ReasonNeedsRenew, l.route.TryAcquireList(new(List), l.gen, sizes(1), nil).Reason)
	delivered := l.route.flight.delivered()
	assert.Equal(t, Settled{Released: 3}, l.settle(3, success))
	assert.Equal(t, delivered, l.route.flight.delivered(), "what comes after its deadline is no news of the route")
	l.settle(0xf, teardown)
	l.done(l.route)
}

// A list is never the trial of a quarantined path.
func TestListIsNoTrial(t *testing.T) {
	for _, mode := range []Mode{Enforce, Observe} {
		t.Run(mode.String(), func(t *testing.T) {
			l := newListRig(t, mode)
			ask := func(want Ruling) {
				t.Helper()
				before := len(l.seen)
				d := l.route.TryAcquireList(&l.list, l.route.current.Load().number, sizes(4), &l.task)
				if mode == Observe {
					want = Ruling{Answer: Admit}
					l.list.Unposted(0)
				}
				assert.Equal(t, want, d.Ruling)
				assert.Len(t, l.seen, before, "transitions: no trial begins, not even for a moment")
				l.left(1, 0)
			}
			l.fail(l.route, 3, retryExc)
			l.state(l.route, Quarantined)
			ask(avoided)
			l.advance(31 * time.Second)
			ask(wantsRenew)
			l.renewed(l.route)
			ask(probing)
			l.state(l.route, Quarantined)
			trial := l.trial(l.route)
			d := l.route.TryAcquireList(&l.list, l.route.current.Load().number, sizes(4), nil)
			assert.Equal(t, mode == Observe, d.Admitted(), "while the trial is out")
			l.list.Unposted(0)
			l.healthRig.settle(trial, success)
			l.state(l.route, Healthy)
			l.gen, l.qp = l.renewed(l.route)
			l.post(4)
			l.settle(0xf, success)
			l.done(l.route)
		})
	}
}

// A route that is barred, or a window that falls, while a list is being acquired.
func TestListIsTakenBack(t *testing.T) {
	t.Run("trial", func(t *testing.T) {
		for _, mode := range []Mode{Enforce, Observe} {
			l := newListRig(t, mode)
			l.quarantine(l.route)
			l.advance(31 * time.Second)
			p, cur := &l.list.p, l.route.current.Load()
			d := l.route.TryAcquire(p, cur.number, 4*kib, &l.task)
			require.NotZero(t, p.trial, "the permit is the trial; %s", d)
			got := l.route.recheck(p, d, 2, &l.task)
			l.state(l.route, Quarantined)
			if mode == Enforce {
				assert.Equal(t, probing, got.Ruling)
			} else {
				assert.Equal(t, d, got)
				assert.Zero(t, p.trial)
				assert.EqualValues(t, 1, l.list.p.Held()/(4*kib))
				p.Unposted()
			}
			l.inFlight(l.route, 0, 0)
			l.healthRig.settle(l.trial(l.route), success)
			l.state(l.route, Healthy)
		}
	})
	t.Run("window", func(t *testing.T) {
		l := newListRig(t, Enforce)
		p := &l.list.p
		d := l.route.TryAcquire(p, l.gen, 512*kib, &l.task)
		require.True(t, d.Admitted() && p.direct, "more than a lease is taken directly; %s", d)
		assert.Equal(t, d, l.route.recheck(p, d, 2, &l.task))
		l.route.window.Store(256 * kib)
		assert.Equal(t, d, l.route.recheck(p, d, 1, &l.task), "one slice may exceed the window")
		got := l.route.recheck(p, d, 2, &l.task)
		assert.Equal(t, Ruling{Answer: Defer, Reason: classify.ReasonByteWindow, Domain: RouteDomain}, got.Ruling)
		l.inFlight(l.route, 0, 0)
	})
}
