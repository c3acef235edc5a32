package fabric

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/require"
)

// Every pair of NICs reaches each other in the shortest number of hops.
func TestTopologies(t *testing.T) {
	cases := []struct {
		name  string
		topo  Topology
		nics  int
		links int
		hops  func(a, b int) int // links on the way
	}{
		{"star", Star(5), 5, 5, func(int, int) int { return 2 }},
		{"leaf-spine", LeafSpine(3, 2, 4), 12, 12 + 6, func(a, b int) int {
			if a/4 == b/4 {
				return 2
			}
			return 4
		}},
		{"fat tree", FatTree(4), 16, 48, func(a, b int) int {
			switch {
			case a/2 == b/2:
				return 2
			case a/4 == b/4:
				return 4
			}
			return 6
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := mustNew(t, Config{Seed: 3, Topology: c.topo})
			require.Equal(t, c.nics, s.Hosts())
			require.Len(t, s.Links(), c.links)
			for a := range c.nics {
				for b := range c.nics {
					if a == b {
						continue
					}
					p := connect(t, s, s.NIC(a, 0), s.NIC(b, 0), DefaultQP())
					start, at := s.Clock(), when(s, p.done, 1)
					require.NoError(t, p.q.Post(WR{Bytes: 4096}))
					s.Drain()
					hops := Time(c.hops(a, b))
					oneWay := hops * (Microsecond + transmission(4096+dataOverhead, 100e9))
					require.Equal(t, start+oneWay+hops*(Microsecond+transmission(ackWire, 100e9)), *at, "%d to %d", a, b)
				}
			}
		})
	}
	require.Len(t, mustNew(t, Config{Topology: FatTree(8)}).nics, 128)
}

// NICs are dealt out rail by rail.
func TestRails(t *testing.T) {
	s := mustNew(t, Config{Topology: LeafSpine(4, 2, 4), NICs: 2})
	require.Equal(t, 8, s.Hosts())
	n := s.NIC(3, 1)
	require.Equal(t, "h3n1", n.Name)
	require.Equal(t, s.Host(3), n.Host)
	require.Equal(t, "h3n1>leaf2", n.Link().A.Name())
	require.Equal(t, "leaf2>h3n1", n.Link().B.Name())
}

// QPs spread over equal paths by their hash, so unevenly, and keep theirs.
func TestPaths(t *testing.T) {
	s := mustNew(t, Config{Seed: 1, Topology: LeafSpine(2, 4, 8)})
	leaf := s.switches[0]
	used := map[*Port]int{}
	for i := range 800 {
		p := connect(t, s, s.NIC(i%8, 0), s.NIC(8+i/8%8, 0), DefaultQP())
		k := p.q.packet(packetWrite, 1)
		out := leaf.route(k)
		require.Equal(t, out, leaf.route(k))
		used[out]++
	}
	require.Len(t, used, 4)
	var counts []int
	for _, n := range used {
		require.InDelta(t, 200, n, 50)
		counts = append(counts, n)
	}
	require.NotEqual(t, []int{200, 200, 200, 200}, counts)

	// Switches choose independently: all cores are used, not one for each aggregation
	// switch.
	s = mustNew(t, Config{Seed: 1, Topology: FatTree(8)})
	for i := range 400 {
		p := connect(t, s, s.NIC(i%16, 0), s.NIC(16+i%112, 0), DefaultQP())
		require.NoError(t, p.q.Post(WR{Bytes: 1}))
	}
	s.Drain()
	for _, w := range s.Switches() {
		if strings.HasPrefix(w.Name(), "core") {
			require.NotZero(t, w.Ports()[0].peer.Stats().Sent, w.Name())
		}
	}
}

func TestConfigFaults(t *testing.T) {
	_, err := New(Config{})
	require.ErrorContains(t, err, "no topology")
	cases := map[string]Config{
		"3 NICs":         {NICs: 2, Topology: Star(3)},
		"MTU 100":        {MTU: 100},
		"rate -1":        {Link: LinkConfig{Rate: -1}},
		"delay -1ns":     {Trunk: LinkConfig{Delay: -1}},
		"drain -1":       {Receiver: ReceiveConfig{Drain: -1}},
		"receive buffer": {Receiver: ReceiveConfig{Buffer: 1}},
		"no room beside": {Switch: SwitchConfig{Buffer: 1 << 10}},
		"alpha -1":       {Switch: SwitchConfig{Alpha: -1}},
		"XON 9 and":      {Switch: SwitchConfig{XOFF: 8, XON: 9}},
		"ECN":            {Switch: SwitchConfig{ECN: &ECN{KMin: 2, KMax: 1}}},
		"DCQCN":          {DCQCN: &DCQCN{}},
		"no topology":    {Topology: FatTree(3)},
	}
	for want, cfg := range cases {
		if cfg.Topology.nics == 0 && want != "no topology" {
			cfg.Topology = Star(2)
		}
		_, err := New(cfg)
		require.ErrorContains(t, err, want)
	}
	s := mustNew(t, Config{Topology: Star(2)})
	_, _, err = s.Connect(Endpoint{}, Endpoint{NIC: s.NIC(0, 0)}, DefaultQP())
	require.Error(t, err)
	_, _, err = s.Connect(Endpoint{NIC: s.NIC(0, 0)}, Endpoint{NIC: s.NIC(0, 0)}, DefaultQP())
	require.Error(t, err)
	_, _, err = s.Connect(Endpoint{NIC: s.NIC(0, 0)}, Endpoint{NIC: s.NIC(1, 0)}, QPConfig{})
	for _, want := range []string{"SendDepth", "MaxReads", "AckEvery", "RNRDelay"} {
		require.ErrorContains(t, err, want)
	}
}

// Bytes at the usual rates take whole picoseconds.
func TestTransmission(t *testing.T) {
	for gigabits, ps := range map[int64]Time{10: 800, 25: 320, 40: 200, 100: 80, 200: 40, 400: 20, 800: 10} {
		require.Equal(t, 4178*ps, transmission(4178, gigabits*1e9))
	}
	require.Equal(t, Time(335_539_200), quanta(100e9))
}

// Functions run in the order of time, then of scheduling; what is past runs now.
func TestCalls(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(1)})
	var got []string
	note := func(what string) func() {
		return func() { got = append(got, fmt.Sprint(what, " ", s.Now())) }
	}
	s.At(2*time.Microsecond, note("a"))
	s.At(time.Microsecond, func() {
		note("b")()
		s.At(0, note("c"))
		s.After(time.Microsecond, note("d"))
	})
	s.Every(1500*time.Nanosecond, func() bool { note("e")(); return s.Now() < 3*time.Microsecond })
	s.Run(2 * time.Microsecond)
	require.Equal(t, []string{"b 1µs", "c 1µs", "e 1.5µs", "a 2µs", "d 2µs"}, got)
	s.At(2500*time.Nanosecond, s.Stop)
	s.Drain()
	require.Equal(t, 2500*time.Nanosecond, s.Now())
	s.Run(time.Millisecond)
	require.Equal(t, "e 3µs", got[len(got)-1])
	require.Equal(t, time.Millisecond, s.Now())
}

// A NIC whose link is cut learns it as the notice says, and what is posted meanwhile
// goes on when the link is back.
func TestLinkFlap(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	a, b := s.NIC(0, 0), s.NIC(1, 0)
	cfg := DefaultQP()
	cfg.Timeout = 8 // 1.05 ms
	p := connect(t, s, a, b, cfg)
	type told struct {
		at    time.Duration
		nic   string
		event Event
	}
	var got []told
	for _, n := range []*NIC{a, b} {
		n.Notify(func() {
			e, ok := n.PollEvent()
			require.True(t, ok)
			got = append(got, told{s.Now(), n.Name, e})
		})
	}
	require.NoError(t, p.q.Post(WR{Bytes: 10 << 20}))
	audit(t, s, 7*time.Microsecond, 5*time.Millisecond)
	s.At(100*time.Microsecond, func() { a.Link().Down(Notice{}); a.Link().Down(Notice{}) })
	s.At(2*time.Millisecond, func() { a.Link().Up(Notice{Late: time.Millisecond}); a.Link().Up(Notice{}) })
	s.At(3500*time.Microsecond, func() { b.Link().Down(Notice{Lost: true}) })
	s.At(3600*time.Microsecond, func() { b.Link().Up(Notice{Lost: true}) })
	s.Drain()
	require.Equal(t, []told{
		{100 * time.Microsecond, "h0n0", Event{Type: classify.EventPortErr, Port: 1}},
		{3 * time.Millisecond, "h0n0", Event{Type: classify.EventPortActive, Port: 1}},
	}, got)
	require.Equal(t, []classify.Status{0}, statuses(poll(p.done)))
	require.NotZero(t, p.q.Stats().Timeouts)
	require.Equal(t, int64(10<<20), p.peer.Stats().Received)
	require.Zero(t, s.Totals().InFabric())
}

// What was on the wire when a link was cut is gone, and what is sent afterwards takes its
// full time.
func TestCutWire(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(3)})
	a := s.NIC(0, 0)
	lost := connect(t, s, a, s.NIC(1, 0), DefaultQP())
	p := connect(t, s, a, s.NIC(2, 0), DefaultQP())
	at := when(s, p.done, 1)
	require.NoError(t, lost.q.Post(WR{Bytes: 1}))
	s.At(500*time.Nanosecond, func() {
		a.Link().Down(Notice{})
		a.Link().Up(Notice{})
		require.NoError(t, p.q.Post(WR{Bytes: 1}))
	})
	s.Run(10 * time.Microsecond)
	require.Zero(t, lost.peer.Stats().Received)
	wires := 2*transmission(1+dataOverhead, 100e9) + 2*transmission(ackWire, 100e9)
	require.Equal(t, 500*Nanosecond+4*Microsecond+wires, *at)
}

// Nothing queues for a port that is down, and nobody is paused for it.
func TestNoQueueForDeadPort(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(3), Switch: SwitchConfig{XOFF: 20e3}})
	dead := s.NIC(2, 0).Link()
	dead.Down(Notice{})
	for i := range 2 {
		p := connect(t, s, s.NIC(i, 0), s.NIC(2, 0), DefaultQP())
		require.NoError(t, p.q.Post(WR{Bytes: 1 << 20}))
	}
	s.Run(200 * time.Microsecond)
	require.Zero(t, dead.B.Stats().Peak)
	require.Zero(t, s.NIC(0, 0).Link().A.Stats().Pauses)
	require.Equal(t, s.Totals().Injected, s.Totals().Dropped)
	require.Equal(t, s.Totals().Dropped, dead.B.Stats().Lost)
}

// A cut loses what queues for the link and gives its room back.
func TestCutQueue(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(3)})
	for i := range 2 {
		p := connect(t, s, s.NIC(i, 0), s.NIC(2, 0), DefaultQP())
		require.NoError(t, p.q.Post(WR{Bytes: 1 << 20}))
	}
	audit(t, s, time.Microsecond, 300*time.Microsecond)
	link := s.NIC(2, 0).Link()
	s.Run(50 * time.Microsecond)
	queue := link.B.Queue()
	require.NotZero(t, queue)
	link.Down(Notice{})
	require.Zero(t, s.Switches()[0].Used())
	require.GreaterOrEqual(t, s.Totals().Dropped, queue)
	require.Equal(t, s.Totals().Dropped, link.A.Stats().Lost+link.B.Stats().Lost)
	s.Run(300 * time.Microsecond)
	require.Equal(t, s.Totals().Injected, s.Totals().Delivered+s.Totals().Dropped)
}

// A pause ends with its link, and begins again if it still is wanted when the link is back.
func TestPauseAndCut(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	link := s.NIC(0, 0).Link()
	link.B.want(true)
	s.Run(10 * time.Microsecond)
	require.True(t, link.A.Paused())
	link.Down(Notice{})
	require.False(t, link.A.Paused())
	s.Run(20 * time.Microsecond)
	link.Up(Notice{})
	s.Run(22 * time.Microsecond)
	require.True(t, link.A.Paused())
}

// A black hole of one direction lets the other pass.
func TestOneWayBlackhole(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	s.NIC(1, 0).Link().A.Blackhole(true) // ACKs
	require.NoError(t, p.q.Post(WR{Bytes: 4096}))
	s.Run(10 * time.Millisecond)
	require.Equal(t, int64(4096), p.peer.Stats().Received)
	require.Equal(t, 1, p.q.Outstanding())
	s.NIC(1, 0).Link().A.Blackhole(false)
	s.Drain()
	require.Equal(t, []classify.Status{0}, statuses(poll(p.done)))
	require.Equal(t, int64(4096), p.peer.Stats().Received, "a duplicate is not delivered again")
}

// A shaped link carries what its rate says.
func TestShape(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	at := when(s, p.done, 1)
	s.NIC(1, 0).Link().Shape(10e9)
	require.NoError(t, p.q.Post(WR{Bytes: 10 << 20}))
	s.Drain()
	require.InEpsilon(t, float64(10<<20/4096*(4096+dataOverhead))*8/10e9, at.Seconds(), 0.01)
	require.Zero(t, dropped(s), "the switch pauses the sender")
}

// QPs of one NIC share it evenly, whatever the size of their messages.
func TestNICTurns(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(4)})
	var qps []pair
	for i := range 3 {
		p := connect(t, s, s.NIC(0, 0), s.NIC(1+i, 0), DefaultQP())
		for range 100 {
			require.NoError(t, p.q.Post(WR{Bytes: int64(64<<10) << (2 * i)}))
		}
		qps = append(qps, p)
	}
	s.Run(500 * time.Microsecond)
	for _, p := range qps {
		require.InEpsilon(t, 100e9/8*500e-6/3, float64(p.peer.Stats().Received), 0.03)
	}
}
