package chaos

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Pace is what schedules for a fabric are made with.
type Pace struct {
	Fabric string
	Setup  Setup
	// Vary: a seed also decides about the setup, between little and Setup, and around its
	// pause.
	Vary   bool
	Length time.Duration
	// Every is the mean time from one fault to the next; most of the time some overlap.
	Every time.Duration
	// Shortest and two thirds of Length bound how long a fault lasts, uniform in the
	// logarithm.
	Shortest time.Duration
	// Again is how likely a fault is to come where one was before.
	Again float64
	// Slow and Fast bound what a slowed down NIC takes in, in bytes per second.
	Slow, Fast float64
	// Weights says how often a kind comes; a kind without one never does.
	Weights map[Kind]float64
}

// everyKind gives all kinds but some the same weight, and DEVICE_FATAL, which takes many
// routes away, a smaller one.
func everyKind(without ...Kind) map[Kind]float64 {
	weights := map[Kind]float64{}
	for _, k := range Kinds() {
		if !slices.Contains(without, k) {
			weights[k] = 1
		}
	}
	if _, ok := weights[DeviceFatal]; ok {
		weights[DeviceFatal] = 0.4
	}
	return weights
}

// SimPace is for the simulated fabric, where a probe interval is 50 ms: seconds are
// enough for cooldowns to grow and to be lived down. It loses no single packets.
func SimPace() Pace {
	return Pace{
		Fabric: "sim",
		Setup:  Setup{NICs: 5, Peers: 2, Workers: 6, Streams: 6, MaxBytes: 4 << 20, Think: Duration(80 * time.Millisecond)},
		Vary:   true,
		Length: 3 * time.Second, Every: 120 * time.Millisecond, Shortest: 10 * time.Millisecond,
		Again: 0.4, Slow: 2e6, Fast: 5e7,
		Weights: everyKind(Loss),
	}
}

// GuestPace is for real verbs in the guest, where a probe interval is 1 s. DEVICE_FATAL
// cannot be had there.
func GuestPace() Pace {
	return Pace{
		Fabric: "guest",
		Setup:  Setup{NICs: 5, Peers: 2, Workers: 6, Law: "epoch", Streams: 6, MaxBytes: 4 << 20, Think: Duration(300 * time.Millisecond)},
		Length: 60 * time.Second, Every: time.Second, Shortest: 500 * time.Millisecond,
		Again: 0.4, Slow: 2e5, Fast: 1.5e6,
		Weights: everyKind(DeviceFatal),
	}
}

// Generate makes a schedule from a seed. The same seed and pace give the same one.
func Generate(seed uint64, p Pace) Schedule {
	g := generator{rand.New(rand.NewPCG(seed, 0xc4a05)), p}
	s := Schedule{Seed: seed, Fabric: p.Fabric, Setup: g.setup(), Length: Duration(p.Length)}
	for at := g.exponential(p.Every); at < p.Length; at += g.exponential(p.Every) {
		f := g.fault(at, s)
		if !slices.ContainsFunc(s.Faults, func(o Fault) bool { return o.target() == f.target() && f.At <= o.At+o.For }) {
			s.Faults = append(s.Faults, f)
		}
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return s
}

type generator struct {
	*rand.Rand
	Pace
}

func (g generator) setup() Setup {
	n := g.Setup
	if !g.Vary {
		return n
	}
	n.NICs = 2 + g.IntN(n.NICs-1)
	n.Peers = 1 + g.IntN(n.Peers)
	n.Workers = 1 + g.IntN(n.Workers)
	n.Streams = 1 + g.IntN(n.Streams)
	n.MaxBytes = int(g.between(64<<10, float64(n.MaxBytes)))
	n.Think = Duration(g.between(0.4, 2.5) * float64(n.Think)).whole()
	n.Law = [...]string{"epoch", "round"}[g.IntN(2)]
	return n
}

func (g generator) exponential(mean time.Duration) time.Duration {
	return time.Duration(g.ExpFloat64() * float64(mean))
}

// between returns a number of a range, uniform in the logarithm.
func (g generator) between(least, most float64) float64 {
	return least * math.Pow(most/least, g.Float64())
}

func (g generator) kind() Kind {
	sum := 0.0
	for _, k := range Kinds() {
		sum += g.Weights[k]
	}
	left := g.Float64() * sum
	last := Kind(0)
	for _, k := range Kinds() {
		if w := g.Weights[k]; w > 0 {
			if last = k; left < w {
				break
			}
			left -= w
		}
	}
	return last
}

func (g generator) fault(at time.Duration, s Schedule) Fault {
	f := Fault{Kind: g.kind(), At: Duration(at.Truncate(time.Millisecond))}
	t, n := traits[f.Kind], s.Setup
	if !t.instant {
		length := time.Duration(g.between(float64(g.Shortest), float64(g.Length)*2/3)).Truncate(time.Millisecond)
		f.For = min(Duration(length), s.Length-f.At)
	}
	switch {
	case f.Kind == Rate:
		f.Amount = g.between(g.Slow, g.Fast)
	case t.most > 0:
		f.Amount = g.between(t.least, t.most)
	}
	peer, local, remote := g.pair(n)
	if len(s.Faults) > 0 && g.Float64() < g.Again {
		if o := s.Faults[g.IntN(len(s.Faults))]; !n.dead(o.Local, o.Remote) {
			peer, local, remote = o.Peer, o.Local, o.Remote
		}
	}
	switch t.at {
	case onPair, onRoute:
		f.Peer, f.Local, f.Remote = peer, local, remote
		f.Back = t.at == onPair && g.IntN(3) == 0
	case onNIC:
		if f.Far = g.IntN(2) == 0; f.Far {
			f.Peer, f.Remote = peer, remote
		} else {
			f.Local = local
		}
	case onDevice:
		f.Local = local
	case onPeer:
		f.Peer = peer
	case onWorker:
		f.Worker = g.IntN(n.Workers)
	}
	return f
}

// pair returns one that works.
func (g generator) pair(n Setup) (peer, local, remote int) {
	for {
		peer, local, remote = g.IntN(n.Peers), g.IntN(n.NICs), g.IntN(n.NICs)
		if !n.dead(local, remote) {
			return peer, local, remote
		}
	}
}
