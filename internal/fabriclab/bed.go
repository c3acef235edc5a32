package fabriclab

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/internal/fabric"
)

// Bed is a fabric with an engine on each host that sends. All engines have controls
// of one arm.
type Bed struct {
	Sim *fabric.Sim

	cfg      fabric.Config
	arm      Arm
	settings Settings
	seed     uint64
	random   *rand.Rand
	empty    *fabric.Sim // the same fabric, without traffic
	engines  []*Engine
	onHost   map[*fabric.Host]*Engine

	open     int // transfers that have not ended
	failures int // slices that failed
	moves    []Move
	ending   bool // nothing is sampled any more
	closing  bool // and nothing ticks
	err      error
}

// Move is a change of a route's state.
type Move struct {
	cc.Transition
	Host string
}

// settleTime is how long posted slices may take to finish at the end of a run.
const settleTime = 5 * time.Second

// newBed builds a fabric and no engines yet.
func newBed(seed uint64, arm Arm, cfg fabric.Config, s Settings) (*Bed, error) {
	cfg.Seed = seed
	if arm.Config != nil {
		s.Tick = min(s.Tick, arm.Config.Epoch)
		if err := align(); err != nil {
			return nil, err
		}
	}
	sim, err := fabric.New(cfg)
	if err != nil {
		return nil, err
	}
	empty, err := fabric.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Bed{
		Sim: sim, cfg: cfg, arm: arm, settings: s, seed: seed, empty: empty,
		random: rand.New(rand.NewPCG(seed, 0x62656473)), onHost: map[*fabric.Host]*Engine{},
	}, nil
}

// Engine returns the engine of a host and starts it if need be.
func (b *Bed) Engine(host int) *Engine {
	h := b.Sim.Host(host)
	if e := b.onHost[h]; e != nil {
		return e
	}
	e, err := newEngine(b, h, uint64(host))
	if err != nil {
		b.fail(err)
	}
	b.onHost[h] = e
	b.engines = append(b.engines, e)
	return e
}

// Flow returns a new queue of one host's engine for another host. It may use all
// pairs of NICs with the same number.
func (b *Bed) Flow(from, to int, op fabric.Op) *Flow {
	e := b.Engine(from)
	f := &Flow{engine: e, op: op}
	if b.err == nil {
		for i, d := range e.devices {
			f.routes = append(f.routes, e.route(d, b.Sim.NIC(to, i)))
		}
	}
	e.flows = append(e.flows, f)
	return f
}

// fail ends the run. The first fault counts.
func (b *Bed) fail(err error) {
	if b.err == nil {
		b.err = err
	}
	b.Sim.Stop()
}

func (b *Bed) transition(e *Engine, t cc.Transition) {
	b.moves = append(b.moves, Move{t, e.host.Name})
}

// line is the rate of a NIC in bytes of payload a second.
func (b *Bed) line() float64 {
	cfg := b.complete()
	return float64(cfg.Link.Rate) / 8 * float64(cfg.MTU) / float64(cfg.MTU+headerBytes)
}

// lineGb is the same in Gb/s.
func (b *Bed) lineGb() float64 { return b.line() * 8 / 1e9 }

// complete is the configuration with those defaults that experiments need.
func (b *Bed) complete() fabric.Config {
	cfg := b.cfg
	if cfg.Link.Rate == 0 {
		cfg.Link.Rate = 100e9
	}
	if cfg.MTU == 0 {
		cfg.MTU = 4096
	}
	return cfg
}

// headerBytes is what a packet has on the wire beside its payload.
const headerBytes = 82

// roundTrip returns how long one full packet and its ACK take on the empty path.
func (b *Bed) roundTrip(from, to *fabric.NIC) time.Duration {
	s := b.empty
	find := func(n *fabric.NIC) *fabric.NIC {
		for i := range s.Hosts() {
			for _, m := range s.Host(i).NICs {
				if m.Name == n.Name {
					return m
				}
			}
		}
		return nil
	}
	cq := s.NewCQ()
	cfg := fabric.DefaultQP()
	cfg.Timeout = 0
	q, _, err := s.Connect(fabric.Endpoint{NIC: find(from), Send: cq}, fabric.Endpoint{NIC: find(to)}, cfg)
	if err != nil {
		b.fail(err)
		return 0
	}
	began := s.Now()
	if err := q.Post(fabric.WR{Bytes: int64(b.complete().MTU)}); err != nil {
		b.fail(err)
	}
	s.Drain()
	return s.Now() - began
}

// product returns the bandwidth-delay product of the empty path, in bytes.
func (b *Bed) product(from, to *fabric.NIC) int64 {
	return int64(b.roundTrip(from, to).Seconds() * float64(b.complete().Link.Rate) / 8)
}

// posted returns the bytes that all engines have posted and that are not yet back.
func (b *Bed) posted() (bytes int64) {
	for _, e := range b.engines {
		for _, d := range e.devices {
			bytes += d.out
		}
	}
	return bytes
}

// Finish ends the run: streams stop, what is posted may complete, and the books are
// checked.
func (b *Bed) Finish() error {
	b.ending = true
	for _, e := range b.engines {
		for _, f := range e.flows {
			f.Stop()
			f.queue, f.head = nil, 0
		}
	}
	for end := b.Sim.Now() + settleTime; b.err == nil && b.posted() > 0 && b.Sim.Now() < end; {
		b.Sim.Run(b.Sim.Now() + time.Millisecond)
	}
	b.closing = true
	for _, e := range b.engines {
		for _, d := range e.devices {
			if d.out != 0 {
				b.fail(fmt.Errorf("%s: %d bytes are out at the end", d.nic.Name, d.out))
			}
		}
		if e.keeper != nil {
			if n := e.keeper.held(); n != 0 {
				b.fail(fmt.Errorf("%s: its controller holds %d bytes at the end", e.host.Name, n))
			}
		}
	}
	if b.err != nil {
		return fmt.Errorf("arm %s, seed %d, at %v: %w", b.arm.Name, b.seed, b.Sim.Now(), b.err)
	}
	return nil
}

// FinishTransfers runs until all transfers have ended, for at most so long, and then
// is Finish.
func (b *Bed) FinishTransfers(limit time.Duration) error {
	for end := b.Sim.Now() + limit; b.err == nil && b.open > 0 && b.Sim.Now() < end; {
		b.Sim.Run(b.Sim.Now() + 100*time.Microsecond)
	}
	if b.open > 0 {
		b.fail(fmt.Errorf("%d transfers did not end in %v", b.open, limit))
	}
	return b.Finish()
}
