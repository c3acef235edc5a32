package fabric

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// many has every host write to a few, with everything switched on.
func many(t testing.TB, cfg Config, until time.Duration) *Sim {
	s := mustNew(t, cfg)
	qp := DefaultQP()
	qp.Timeout = 8
	for i := range s.Hosts() {
		for j := range 2 {
			to := (i*7 + j*13) % 5
			if to == i {
				continue
			}
			p := connect(t, s, s.NIC(i, 0), s.NIC(to, 0), qp)
			for k := range 20 {
				require.NoError(t, p.q.Post(WR{Op: Op(k % 2), Bytes: int64(k) << 13}))
			}
		}
	}
	audit(t, s, 3*time.Microsecond, until)
	s.Run(until)
	return s
}

// A lossless fabric never drops, whatever its buffers are.
func TestLossless(t *testing.T) {
	for _, topo := range []Topology{Star(20), LeafSpine(4, 2, 5), FatTree(4)} {
		for _, w := range []SwitchConfig{
			{}, {Alpha: 1.0 / 64}, {Alpha: 8, Buffer: 2 << 20}, {XOFF: 1, XON: 1}, {XOFF: 60e3, XON: 40e3}, {XOFF: 1 << 40},
		} {
			for _, delay := range []time.Duration{time.Nanosecond, 3 * time.Microsecond} {
				s := many(t, Config{
					Seed: 5, Topology: topo, Switch: w, Trunk: LinkConfig{Rate: 40e9, Delay: delay},
					Link: LinkConfig{Delay: delay, Rate: 100e9}, Receiver: ReceiveConfig{Drain: 60e9},
				}, 300*time.Microsecond)
				require.Zero(t, dropped(s), "switch %+v, delay %v", w, delay)
				require.Zero(t, s.Totals().Dropped)
				require.NotZero(t, s.Totals().Delivered)
				for _, q := range s.qps {
					require.Zero(t, q.Stats().Resent)
				}
			}
		}
	}
}

// A lossy fabric drops, and every byte is still in the books.
func TestLossy(t *testing.T) {
	s := many(t, Config{Seed: 5, Topology: FatTree(4), Switch: SwitchConfig{Lossy: true, Buffer: 1 << 20}}, 2*time.Millisecond)
	require.NotZero(t, dropped(s))
	require.Equal(t, dropped(s), s.Totals().Dropped)
	for _, p := range s.ports {
		require.Zero(t, p.stats.Pauses)
	}
}

// The same seed does the same, another one something else.
func TestSameSeedSameTrace(t *testing.T) {
	trace := func(seed uint64) (uint64, uint64) {
		s := many(t, Config{
			Seed: seed, Topology: FatTree(4), DCQCN: PaperDCQCN(),
			Switch: SwitchConfig{Lossy: true, Buffer: 1 << 20, ECN: PaperECN()},
		}, 500*time.Microsecond)
		return s.Trace(), s.Events()
	}
	a, n := trace(1)
	b, m := trace(1)
	require.Equal(t, a, b)
	require.Equal(t, n, m)
	c, _ := trace(2)
	require.NotEqual(t, a, c)
}

// A pause holds data, lets control pass, and is counted.
func TestPauseAndControl(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(3), Switch: SwitchConfig{XOFF: 20e3, XON: 10e3}})
	slow := s.NIC(2, 0)
	p := connect(t, s, s.NIC(0, 0), slow, DefaultQP())
	back := connect(t, s, s.NIC(1, 0), s.NIC(0, 0), DefaultQP())
	slow.Link().Shape(1e9)
	require.NoError(t, p.q.Post(WR{Bytes: 1 << 20}))
	s.Run(100 * time.Microsecond)
	out := s.NIC(0, 0).Link().A
	require.True(t, out.Paused())
	before := out.Stats()
	require.NotZero(t, before.PauseTime)

	at := when(s, back.done, 1) // its ACK leaves by the port that is paused
	require.NoError(t, back.q.Post(WR{Bytes: 4096}))
	s.Run(106 * time.Microsecond)
	require.NotZero(t, *at, "an ACK was held by a pause")
	require.Less(t, us(*at), 105.0)
	s.Drain()
	require.Zero(t, dropped(s))
	require.Greater(t, out.Stats().Pauses, before.Pauses)
}

// An ACK overtakes the data that waits in a switch.
func TestControlGoesFirst(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(3)})
	for i := range 2 {
		p := connect(t, s, s.NIC(i, 0), s.NIC(2, 0), DefaultQP())
		require.NoError(t, p.q.Post(WR{Bytes: 1 << 20}))
	}
	s.Run(80 * time.Microsecond)
	require.Greater(t, s.NIC(2, 0).Link().B.Queue(), int64(900e3))
	p := connect(t, s, s.NIC(2, 0), s.NIC(0, 0), DefaultQP())
	at := when(s, p.done, 1)
	require.NoError(t, p.q.Post(WR{Bytes: 1}))
	s.Drain()
	require.Less(t, us(*at), 80+4+1.0)
}

// A lossless port drops when its neighbour does not hear the pause, and only then.
func TestPausesLost(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(3), Switch: SwitchConfig{XOFF: 100e3}})
	for i := range 2 {
		p := connect(t, s, s.NIC(i, 0), s.NIC(2, 0), DefaultQP())
		require.NoError(t, p.q.Post(WR{Bytes: 1 << 20}))
	}
	s.NIC(0, 0).Link().B.Blackhole(true)
	audit(t, s, time.Microsecond, 200*time.Microsecond)
	s.Run(200 * time.Microsecond)
	require.NotZero(t, s.NIC(2, 0).Link().B.Stats().Dropped)
	require.Zero(t, s.qps[2].Stats().Resent, "the other sender heard it")
}

// When a port goes on: below XON, or below the limit by the hysteresis, or empty.
func TestResume(t *testing.T) {
	w := mustNew(t, Config{Topology: Star(2), Switch: SwitchConfig{XOFF: 60e3, XON: 40e3}}).Switches()[0]
	require.True(t, w.resumes(40e3-1))
	require.False(t, w.resumes(40e3))
	w = mustNew(t, Config{Topology: Star(2)}).Switches()[0]
	limit := w.limit()
	require.True(t, w.resumes(limit-3<<10))
	require.False(t, w.resumes(limit-3<<10+1))
	w.used = w.shared
	require.False(t, w.resumes(1))
	require.True(t, w.resumes(0))
}

// A pause whose end is lost ends by itself after 65535 quanta; one that goes on is
// refreshed.
func TestPauseExpires(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	a := s.NIC(0, 0)
	down, out := a.Link().B, a.Link().A
	down.want(true)
	s.Run(time.Millisecond)
	require.True(t, out.Paused(), "a pause that is wanted ended")
	frames := down.Stats().Sent / pauseWire
	require.InDelta(t, 1e-3/(quanta(100e9)/2).Seconds(), float64(frames), 1)
	down.Blackhole(true)
	down.want(false)
	s.Run(1300 * time.Microsecond)
	require.False(t, out.Paused())
	require.Greater(t, out.Stats().PauseTime, Millisecond)
	require.Less(t, out.Stats().PauseTime, Millisecond+quanta(100e9))

	before := out.Stats().PauseTime
	out.setPaused(true)
	s.Run(1310 * time.Microsecond)
	require.Equal(t, before+10*Microsecond, out.Stats().PauseTime, "while it lasts")
	out.setPaused(false)
	require.Equal(t, before+10*Microsecond, out.Stats().PauseTime)
}

// A host that is slower than its line pauses the switch and loses nothing; without
// pauses its NIC drops.
func TestSlowReceiver(t *testing.T) {
	for _, lossy := range []bool{false, true} {
		s := mustNew(t, Config{Topology: Star(3), Switch: SwitchConfig{Lossy: lossy}})
		slow := s.NIC(2, 0)
		slow.Drain(20e9)
		p := connect(t, s, s.NIC(0, 0), slow, DefaultQP())
		require.NoError(t, p.q.Post(WR{Bytes: 32 << 20}))
		audit(t, s, 11*time.Microsecond, 5*time.Millisecond)
		s.Run(time.Millisecond)
		start := p.peer.Stats().Received
		s.Run(3 * time.Millisecond)
		rate := float64(p.peer.Stats().Received-start) * 8 / 2e-3
		toNIC := slow.Link().B.Stats()
		if lossy {
			require.NotZero(t, toNIC.Dropped)
			require.Zero(t, toNIC.Pauses)
			continue
		}
		require.InEpsilon(t, 20e9*4096/4178, rate, 0.01, "goodput")
		require.Zero(t, dropped(s))
		require.NotZero(t, toNIC.Pauses)
		require.NotZero(t, toNIC.Peak, "the switch holds what the NIC does not take")
	}
}

// Marking: never up to KMin, always above KMax, in between in proportion.
func TestMarking(t *testing.T) {
	s := mustNew(t, Config{Seed: 1, Topology: Star(2), Switch: SwitchConfig{ECN: &ECN{KMin: 100, KMax: 200, PMax: 0.5}}})
	share := func(queue int64) float64 {
		n := 0
		for range 10000 {
			var k packet
			s.switches[0].mark(&k, queue)
			n += int(btoi(k.marked))
		}
		return float64(n) / 10000
	}
	require.Zero(t, share(100))
	require.InDelta(t, 0.25, share(150), 0.02)
	require.InDelta(t, 0.5, share(200), 0.02)
	require.Equal(t, 1.0, share(201))
}

// The series of a queue and its peak agree, and a peak can be counted anew.
func TestTaps(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(3)})
	for i := range 2 {
		p := connect(t, s, s.NIC(i, 0), s.NIC(2, 0), DefaultQP())
		require.NoError(t, p.q.Post(WR{Bytes: 1 << 20}))
	}
	out := s.NIC(2, 0).Link().B
	series := out.Watch(100*time.Nanosecond, 200*time.Microsecond)
	s.Run(200 * time.Microsecond)
	require.Len(t, series.Values, 2000)
	most := int64(0)
	for _, v := range series.Values {
		most = max(most, v)
	}
	require.Equal(t, most, out.Stats().Peak)
	require.InEpsilon(t, 1<<20, float64(most), 0.03, "half of two messages waits")
	out.ResetPeak()
	require.Zero(t, out.Stats().Peak)
}
