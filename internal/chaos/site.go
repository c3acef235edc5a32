package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/rail"
)

// Site is an engine that is connected to all peers, and what watches over it.
type Site struct {
	bed     Bed
	setup   Setup
	numbers Numbers
	bound   time.Duration
	began   time.Time

	court  court
	ledger ledger
	health *health
	ends   *ends
	watch  *Watch

	ctl    *cc.Controller
	engine *transfer.Engine
	peers  []*peer
	begun  func(*Site) // for tests
	first  *Footprint  // of the first quiet moment
	stacks stacks      // at that time
}

// Options are what a site has beside its setup.
type Options struct {
	// Seed is that of the jitter of cooldowns and probe intervals.
	Seed uint64

	// Tests break things to see that it is noticed: what stands between the watch and the
	// NICs of host A, and what happens when the faults begin.
	near  func(fabric.Host) fabric.Host
	begun func(*Site)
}

// peer is one of the peers. Its server may be down for a while.
type peer struct {
	site   *Site
	number int
	host   fabric.Host

	restarting chan struct{} // holds a token while nobody restarts it

	mu     sync.Mutex
	server *transfer.Server
	conn   *transfer.Peer // nil while there is none
	back   chan struct{}  // closed when there is one
}

func peerName(n int) string { return fmt.Sprint("peer-", n) }

// Start connects an engine on host A with all peers.
func Start(ctx context.Context, bed Bed, setup Setup, o Options) (s *Site, err error) {
	s = &Site{bed: bed, setup: setup, numbers: bed.Numbers(), began: time.Now(), ends: newEnds(), begun: o.begun}
	s.bound = s.numbers.Bound()
	s.court.now = s.now
	s.ledger.shared, s.ledger.setup, s.ledger.numbers = bed.Shared(), setup, s.numbers
	s.health = newHealth(s)
	s.watch = newWatch(setup, s.now, &s.court, s.ends, s.health.failed)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	s.ctl, err = cc.New(s.numbers.CC, cc.WithClock(s.now), cc.WithJitter(jitters(o.Seed)), cc.WithTransitions(s.health.transition))
	if err != nil {
		return s, err
	}
	near := bed.Near()
	if o.near != nil {
		near = o.near(near)
	}
	if s.engine, err = transfer.New(s.watch.near(near), s.ctl, s.numbers.Engine, transfer.WithName("a")); err != nil {
		return s, err
	}
	for i := range setup.Peers {
		p := &peer{site: s, number: i, host: s.ends.wrap(bed.Far(i), i, &s.watch.objects), restarting: make(chan struct{}, 1), back: make(chan struct{})}
		p.restarting <- struct{}{}
		s.peers = append(s.peers, p)
		if err := p.start(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

// jitters returns factors from 0.8 to 1.2.
func jitters(seed uint64) func() float64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 0x71773))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return 2 - jitter + 2*(jitter-1)*r.Float64()
	}
}

// now is the time since the start.
func (s *Site) now() time.Duration { return time.Since(s.began) }

// Close takes everything down and closes the bed. What is left open is an error.
func (s *Site) Close() error {
	var faults []error
	if s.engine != nil {
		faults = append(faults, s.engine.Close())
	}
	for _, p := range s.peers {
		faults = append(faults, p.close())
	}
	if s.ctl != nil {
		for _, d := range s.ctl.Snapshot().Devices {
			if d.InFlightBytes != 0 {
				faults = append(faults, fmt.Errorf("chaos: %d bytes are in flight on %s after the end", d.InFlightBytes, d.Device))
			}
		}
		s.ctl.Close()
	}
	return errors.Join(append(faults, s.bed.Close())...)
}

// start starts the server and connects to it.
func (p *peer) start(ctx context.Context) error {
	n := p.site.numbers.Engine
	sc := transfer.DefaultServerConfig()
	sc.Name, sc.AckTimeout, sc.Retry = peerName(p.number), n.AckTimeout, n.Retry
	server, err := transfer.NewServer(p.host, sc)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.server = server
	p.mu.Unlock()
	return p.connect(ctx)
}

// connect connects, again and again as long as ctx lasts: while faults last, it may be
// that no rail comes up.
func (p *peer) connect(ctx context.Context) error {
	for {
		near, far := net.Pipe()
		go p.server.Serve(far)
		conn, err := p.site.engine.Connect(ctx, near)
		if err == nil {
			if n, all := conn.Rails(), p.site.setup.NICs*p.site.setup.NICs; n != all {
				p.site.court.broken(Stuck, "%s was connected over %d of %d pairs; the others never come back", conn.Name(), n, all)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.conn = conn
			close(p.back)
			return nil
		}
		if sleep(ctx, p.site.numbers.CC.ProbeInterval) != nil {
			return err
		}
	}
}

// restart ends the server and starts it again after a while.
func (p *peer) restart(ctx context.Context, down time.Duration) error {
	select {
	case <-p.restarting:
		defer func() { p.restarting <- struct{}{} }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.mu.Lock()
	conn := p.conn
	p.conn, p.back = nil, make(chan struct{})
	p.mu.Unlock()
	err := p.server.Close()
	conn.Close() // it is being closed, and ends when all permits are back
	if n := conn.InFlight(); n != 0 {
		p.site.court.broken(Flight, "%d bytes are in flight to %s after it was closed", n, conn.Name())
	}
	if err := errors.Join(err, sleep(ctx, down)); err != nil {
		return err
	}
	return p.start(ctx)
}

func (p *peer) close() error {
	if p.server == nil {
		return nil
	}
	return p.server.Close()
}

// connected returns the connection, nil while there is none, and what is closed when
// there is one.
func (p *peer) connected() (*transfer.Peer, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn, p.back
}

// number tells the route of a pair.
func (s *Site) number(p rail.Pair) (r route) {
	fmt.Sscanf(p.Peer, "peer-%d", &r.peer)
	for i, nic := range s.bed.Near().NICs() {
		if nic.Name() == p.Local {
			r.local = i
		}
	}
	for i, nic := range s.bed.Far(r.peer).NICs() {
		if nic.Name() == p.Remote {
			r.remote = i
		}
	}
	return r
}

// sleep waits, and returns an error if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
