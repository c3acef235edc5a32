package cc

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hosts with NICs in two routing groups: pairs across the groups are dead, and each
// worker found out by itself, for seconds each time.
// https://github.com/vllm-project/vllm/pull/44919
func TestFieldCrossRailPairs(t *testing.T) {
	s := newShared(t, 2)
	w1, w2 := s.workers[0], s.workers[1]
	type rails struct{ a, b, dead, other *Route }
	var all [2]rails
	for i, w := range s.workers {
		all[i] = rails{w.route("D1", "P", "n1"), w.route("D2", "P", "n2"), w.route("D1", "P", "n2"), w.route("D2", "P", "n1")}
		for _, r := range []*Route{all[i].a, all[i].b, all[i].dead, all[i].other} {
			w.renewed(r)
		}
	}
	fine := func() {
		w1.succeed(all[0].a)
		w1.succeed(all[0].b)
		s.advance(time.Second)
	}
	for round, want := range []State{Suspect, Suspect, Quarantined} {
		fine()
		x := w1.fail(all[0].dead, 1, retryExc)
		fine()
		w1.state(all[0].dead, want)
		w1.count(all[0].dead, round+1) // a success on D1 or to n2 does not clear it
		if want == Suspect {
			w1.reason(x, congested, classify.ReasonRouteTimeout)
		} else {
			w1.reason(x, unavailable, classify.ReasonPathQuarantined)
		}
	}
	t9 := w2.ruling(all[1].dead, avoided)
	w2.reason(t9, unavailable, classify.ReasonPathQuarantined)
	w2.count(all[1].dead, 3)

	w1.renewed(all[0].dead)
	s.untilDue(all[1].dead)
	probe := w2.trial(all[1].dead)
	w1.ruling(all[0].dead, probing)
	w2.settle(probe, retryExc)
	w2.reason(probe, unavailable, classify.ReasonProbeFailed)
	x := &slice{}
	assert.Equal(t, 60*time.Second, w1.ask(x, all[0].dead, kib).RetryAfter, "a new cooldown, for both")
	assert.Equal(t, 60*time.Second, w2.ask(x, all[1].dead, kib).RetryAfter)
	s.advance(59 * time.Second)
	w1.ruling(all[0].dead, avoided)
	s.advance(2 * time.Second)
	w1.settle(w1.trial(all[0].dead), success)
	for i, w := range s.workers {
		for _, r := range []*Route{all[i].a, all[i].b, all[i].other} {
			assert.Equal(t, Healthy, look(r))
			assert.Empty(t, w.path(r))
			assert.Equal(t, mib, r.Snapshot().WindowBytes)
		}
		assert.Equal(t, 4*mib, all[i].a.device.window.Load())
		assert.Equal(t, Healthy, look(all[i].dead))
		w.done(all[i].a, all[i].b, all[i].dead, all[i].other)
	}
}

// A rail stayed paused because only who had paused it could end that, and it was gone.
// https://github.com/kvcache-ai/Mooncake/pull/1984
func TestFieldPublisherGone(t *testing.T) {
	s := newShared(t, 2)
	w1, w2 := s.workers[0], s.workers[1]
	rs := s.routes("D1", "P", "n1")
	w1.fail(rs[0], 3, retryExc)
	w1.ctl.Close()
	w2.ruling(rs[1], avoided)
	s.advance(30 * time.Second)
	w2.settle(w2.trial(rs[1]), success)
	w2.state(rs[1], Healthy)
	w2.done(rs[1])

	// Nobody is left: the next one is told, an hour later it is forgotten.
	w2.fail(rs[1], 3, retryExc)
	w2.ctl.Close()
	w3 := s.join(Enforce)
	w3.ruling(w3.route("D1", "P", "n1"), avoided) // without an endpoint that would not help
	r := w3.route("D1", "P", "n1")
	w3.renewed(r)
	w3.ruling(r, avoided)
	w3.ctl.Close()
	s.table.Sweep(s.now + 2*time.Hour)
	assert.Zero(t, s.table.Stats().Entries)
}

// Two topology snapshots in one process numbered the same NICs differently; matching
// by prefix or number paused the wrong rails, or none.
// https://github.com/kvcache-ai/Mooncake/issues/1845
func TestFieldNamesNotNumbers(t *testing.T) {
	s := newShared(t, 2)
	w1, w2 := s.workers[0], s.workers[1]
	names := []string{"mlx5_1", "mlx5_10", "mlx5_bond_0", "rocep3s0f0", "rxe0", "a@b:1 c"}
	for _, n := range names {
		w1.renewed(w1.route(n, "P", "mlx5_0"))
	}
	for i := range names { // the other way round
		w2.renewed(w2.route(names[len(names)-1-i], "P", "mlx5_0"))
	}
	w1.fail(w1.route("mlx5_1", "P", "mlx5_0"), 3, retryExc)
	for _, n := range names {
		want := Healthy
		if n == "mlx5_1" {
			want = Quarantined
		}
		assert.Equal(t, want, look(w2.route(n, "P", "mlx5_0")), n)
	}
	for _, p := range []rail.Pair{
		{Peer: "P", Local: "mlx5_1", Port: 1, Remote: "mlx5_00"}, {Peer: "Q", Local: "mlx5_1", Port: 1, Remote: "mlx5_0"},
		{Peer: "P", Local: "mlx5_1", Port: 2, Remote: "mlx5_0"}, {Peer: "P", Local: "renamed", Port: 1, Remote: "mlx5_0"},
	} {
		r, err := w2.ctl.Route(p)
		require.NoError(t, err)
		assert.Equal(t, Healthy, look(r), "%v", p)
	}
}

// Every worker paid a retry timeout for every dead pair, also one that a transfer
// found only after all others had given it up.
// https://github.com/kvcache-ai/Mooncake/issues/4662
func TestFieldEveryWorkerLearnsAlone(t *testing.T) {
	const workers = 16
	s := newShared(t, workers)
	rs := s.routes("D1", "P", "n1")
	timeouts := 0
	for round := 0; round < 10; round++ {
		var out [workers]*slice
		for i, w := range s.workers {
			x := &slice{}
			if d := w.ask(x, rs[i], 4*kib); d.Admitted() {
				require.NoError(t, x.permit.Posting(w.qp(rs[i]), w.now))
				out[i] = x
			}
		}
		s.advance(4 * time.Second)
		for i, x := range out {
			if x != nil {
				timeouts++
				s.workers[i].settle(x, retryExc)
				s.workers[i].renewed(rs[i])
			}
		}
	}
	// The first round costs each worker one: they post before anybody knows. Nothing is
	// posted after it, but for trials of which there is one at a time.
	assert.LessOrEqual(t, timeouts, workers+1, "timeouts that %d workers paid in 40 s", workers)
	for i, w := range s.workers {
		w.inFlight(rs[i], 0, 0)
	}
}
