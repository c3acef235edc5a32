package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/require"
)

// shared drives several controllers of one table on one clock.
type shared struct {
	testing.TB
	table   *rail.Table
	workers []*healthRig
	now     time.Duration
}

// newShared returns so many workers, each with a controller of its own, that share
// a table.
func newShared(t testing.TB, workers int, change ...func(*Config)) *shared {
	t.Helper()
	s := &shared{TB: t, table: rail.NewTable(), now: time.Hour}
	for range workers {
		s.join(Enforce, change...)
	}
	return s
}

// join adds a worker that comes now.
func (s *shared) join(mode Mode, change ...func(*Config)) *healthRig {
	s.Helper()
	w := newHealthRig(s.TB, mode, change...)
	w.now = s.now
	w.qps = uint64(len(s.workers)+1) * 1_000_000
	ctl, err := New(w.ctl.cfg, WithPauses(s.table),
		WithClock(func() time.Duration { return w.now }),
		WithJitter(func() float64 { return w.jitter }),
		WithTransitions(func(t Transition) { w.seen = append(w.seen, t) }))
	require.NoError(s.TB, err)
	w.ctl = ctl
	s.workers = append(s.workers, w)
	return w
}

func (s *shared) advance(d time.Duration) {
	s.now += d
	for _, w := range s.workers {
		w.now = s.now
	}
}

// routes returns each worker's route of a pair, with an endpoint.
func (s *shared) routes(local, peer, remote string) (routes []*Route) {
	s.Helper()
	for _, w := range s.workers {
		r := w.route(local, peer, remote)
		w.renewed(r)
		routes = append(routes, r)
	}
	return routes
}

// look has the route take in what the table knows, and returns its state.
func look(r *Route) State {
	r.sync()
	return r.State()
}

// pause returns the table's breaker of the route's pair.
func pause(r *Route) *rail.Breaker {
	b := r.path().Breaker
	return &b
}

// cooldown returns the length that the pair's next pause starts from.
func cooldown(r *Route) time.Duration { return pause(r).Cooldown(r.ctl.policy()) }

// untilDue moves to when the pair's next trial is due.
func (s *shared) untilDue(r *Route) {
	if due := pause(r).TrialDue(); due > s.now {
		s.advance(due - s.now)
	}
}
