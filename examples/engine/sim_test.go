package main

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	prail "github.com/rdmagate/rdmagate/rail"
)

// simRun is an engine and a server on the simulated fabric, in a bubble.
type simRun struct {
	t      *testing.T
	stage  *stage
	ctl    *cc.Controller
	engine *transfer.Engine
	peer   *transfer.Peer
	sample *transfer.Sampler
}

// onSim runs f between the beginning and the end of both sides, at which nothing may be
// in flight.
func onSim(t *testing.T, sim simOptions, f func(*simRun)) {
	synctest.Test(t, func(t *testing.T) {
		s, err := simStage("test", sim)
		require.NoError(t, err)
		numbers := cc.DefaultConfig()
		numbers.Mode, numbers.Prober = cc.Enforce, true
		numbers.Cooldown, numbers.CooldownCap, numbers.ProbeInterval = s.health.cooldown, s.health.limit, s.health.probe
		numbers.TargetDrain = s.health.drain
		began := time.Now()
		ctl, err := cc.New(numbers, cc.WithClock(func() time.Duration { return time.Since(began) }), cc.WithPauses(prail.NewTable()))
		require.NoError(t, err)
		cfg := transfer.DefaultConfig()
		cfg.AckTimeout, cfg.Retry = s.ackTimeout, s.retry
		e, err := transfer.New(s.a, ctl, cfg, transfer.WithName("host-a"))
		require.NoError(t, err)
		serverConfig := transfer.DefaultServerConfig()
		serverConfig.Name = "host-b"
		server, err := transfer.NewServer(s.b, serverConfig)
		require.NoError(t, err)
		near, far := net.Pipe()
		go server.Serve(far)
		peer, err := e.Connect(t.Context(), near)
		require.NoError(t, err)

		f(&simRun{t: t, stage: s, ctl: ctl, engine: e, peer: peer, sample: peer.NewSampler()})

		require.NoError(t, e.Close())
		require.NoError(t, server.Close())
		for _, d := range ctl.Snapshot().Devices {
			assert.Zero(t, d.InFlightBytes, "bytes in flight on %s", d.Device)
		}
		assert.Zero(t, peer.InFlight(), "bytes in flight on routes")
		ctl.Close()
		require.NoError(t, s.close(), "something was left open")
	})
}

// move puts an object, gets it back and compares.
func (r *simRun) move(bytes int) {
	r.t.Helper()
	d := &demonstration{engine: r.engine, peer: r.peer, table: &table{out: r.t.Output()}}
	require.NoError(r.t, d.roundTrip(r.t.Context(), "object", int64(bytes), uint64(bytes)))
	require.EqualValues(r.t, 2*bytes, d.results.checked.Load(), "bytes compared by checksum")
}

// A pair that is blocked is quarantined, is probed and comes back, and meanwhile every
// object arrives.
func TestBlockedPairComesBack(t *testing.T) {
	onSim(t, simOptions{}, func(r *simRun) {
		const object = 4 << 20
		r.move(object)
		require.Equal(t, cc.Healthy, r.sample.Sample()[0].Route.Health.State)
		unblock, err := r.stage.faults.Block(r.stage.a.NICs()[0], r.stage.b.NICs()[0])
		require.NoError(t, err)
		began := time.Now()
		until := func(what string, done func([]transfer.RailSample) bool) []transfer.RailSample {
			for {
				rails := r.sample.Sample()
				if done(rails) {
					return rails
				}
				require.Less(t, time.Since(began), time.Minute, "%s: %v", what, rails[0].Route.Health)
				r.move(object)
			}
		}
		blocked := until("the pair should be quarantined", func(rails []transfer.RailSample) bool {
			return rails[0].Route.Health.State == cc.Quarantined
		})
		for _, other := range blocked[1:] {
			assert.LessOrEqual(t, other.Route.Health.State, cc.Congested, "no other pair has failed: %v", other.Route.Pair)
		}
		for range 10 {
			r.move(object)
		}
		meanwhile := r.sample.Sample()[0]
		assert.Equal(t, blocked[0].Delivered, meanwhile.Delivered, "nothing gets through")
		require.NoError(t, unblock())
		until("the pair should carry something again", func(rails []transfer.RailSample) bool {
			return rails[0].Route.Health.State == cc.Healthy && rails[0].Delivered > meanwhile.Delivered
		})
		assert.NotZero(t, r.engine.Totals().ProbesSucceeded)
	})
}

// While others write to a NIC without asking, the windows towards it are smaller than
// those towards its neighbour, and then grow again.
func TestWindowsShrinkUnderIncast(t *testing.T) {
	onSim(t, simOptions{incast: 8}, func(r *simRun) {
		began := time.Now()
		windows := func(at time.Duration) (to [2]int64) { // simb0, simb1
			for time.Since(began) < at {
				r.move(2 << 20)
			}
			for _, rail := range r.sample.Sample() {
				to[rail.Route.Pair.Remote[len("simb")]-'0'] += rail.Route.WindowBytes
			}
			return to
		}
		calm := windows(incastTime * 3 / 4)
		busy := windows(incastTime * 7 / 4)
		after := windows(incastTime * 11 / 4)
		t.Logf("windows to simb0 and simb1: %v, %v, %v", calm, busy, after)
		assert.Less(t, busy[0], calm[0]*3/4)
		assert.Less(t, busy[0], busy[1])
		assert.Greater(t, after[0], busy[0]*4/3)
	})
}

// A lossy switch with little room loses packets, and no bytes.
func TestShallowLossySwitch(t *testing.T) {
	onSim(t, simOptions{incast: 4, buffer: 64 << 10}, func(r *simRun) {
		began := time.Now()
		for time.Since(began) < 2*incastTime {
			r.move(4 << 20)
		}
	})
}
