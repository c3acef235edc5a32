package transfer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	prail "github.com/rdmagate/rdmagate/rail"
)

// Engine posts the slices of transfers to its peers, under the admission of a
// controller. Make one with [New]. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	host    fabric.Host
	nics    []fabric.NIC
	ctl     *cc.Controller
	log     *slog.Logger
	name    string
	serial  string
	pinned  *prail.File // nil: all pairs
	ipv4    int         // bits of a subnet, see rail.MapConfig
	ipv6    int
	workers []*worker
	prober  *prober
	lanes   []*lane       // of the workers, and of the prober
	dealt   atomic.Uint64 // slices dealt to workers so far

	stopping atomic.Bool
	stop     context.CancelFunc
	running  sync.WaitGroup // workers, prober, monitor and event readers

	mu     sync.Mutex
	closed bool
	peers  map[*Peer]struct{}
}

// Option sets what an engine has beside its numbers.
type Option func(*Engine)

// WithName sets the name that peers learn; the default is "engine".
func WithName(name string) Option { return func(e *Engine) { e.name = name } }

// WithLogger sets a logger for endpoints and events; the default is silent.
// Nothing is logged on the data path.
func WithLogger(log *slog.Logger) Option { return func(e *Engine) { e.log = log } }

// WithRails limits the rails to the pairs of a rail file.
func WithRails(file *prail.File) Option { return func(e *Engine) { e.pinned = file } }

// WithPrefix says how many leading bits of an address name its subnet: NICs of
// different subnets are taken to not reach each other. 0 says nothing; see
// rail.MapConfig.
func WithPrefix(ipv4, ipv6 int) Option {
	return func(e *Engine) { e.ipv4, e.ipv6 = ipv4, ipv6 }
}

// New starts an engine on all NICs of a host. The controller is the process's one;
// it and the host stay the caller's, and outlive the engine.
func New(host fabric.Host, ctl *cc.Controller, cfg Config, opts ...Option) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, host: host, nics: host.NICs(), ctl: ctl, log: slog.New(slog.DiscardHandler),
		name: "engine", serial: incarnation(), peers: map[*Peer]struct{}{},
	}
	for _, o := range opts {
		o(e)
	}
	if len(e.nics) == 0 {
		return nil, fmt.Errorf("transfer: %s has no usable NIC; bring a port up, or use another fabric", host.Name())
	}
	if err := e.openLanes(); err != nil {
		return nil, errors.Join(err, e.closeLanes())
	}
	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	for _, w := range e.workers {
		e.running.Go(w.run)
	}
	e.running.Go(e.prober.run)
	for _, nic := range e.nics {
		e.running.Go(func() { e.readEvents(ctx, nic) })
	}
	e.running.Go(func() { e.monitor(ctx) })
	return e, nil
}

// incarnation returns a name that no other start of a program has.
func incarnation() string { return rand.Text()[:8] }

// NewBuffer allocates memory that transfers of this engine can use.
func (e *Engine) NewBuffer(bytes int) (*Buffer, error) { return NewBuffer(e.host, e.nics, bytes) }

// Config returns the numbers that the engine works with.
func (e *Engine) Config() Config { return e.cfg }

// Close closes every peer, and ends when all permits are back and all QPs and CQs
// are closed. Buffers stay the caller's. A second Close does nothing.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	var peers []*Peer
	for p := range e.peers {
		peers = append(peers, p)
	}
	e.mu.Unlock()
	for _, p := range peers {
		p.Close()
	}
	if e.stopping.Swap(true) {
		return nil
	}
	e.stop()
	e.wakeAll()
	e.running.Wait()
	return e.closeLanes()
}

func (e *Engine) openLanes() error {
	for id := range e.cfg.Workers {
		w, err := newWorker(e, id)
		if err != nil {
			return err
		}
		e.workers, e.lanes = append(e.workers, w), append(e.lanes, &w.lane)
	}
	p, err := newProber(e, len(e.lanes))
	if err != nil {
		return err
	}
	e.prober, e.lanes = p, append(e.lanes, &p.lane)
	return nil
}

func (e *Engine) closeLanes() error {
	var faults []error
	for _, w := range e.workers {
		faults = append(faults, w.close())
	}
	if e.prober != nil {
		faults = append(faults, e.prober.shut())
	}
	return errors.Join(faults...)
}

// hello introduces the engine to a peer.
func (e *Engine) hello() hello {
	return hello{Name: e.name, Incarnation: e.serial, NICs: describe(e.nics)}
}

// join takes a peer in and lays its rails, whose routes are the peer's until it parts.
func (e *Engine) join(p *Peer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("transfer: Connect to %q: engine: %w", p.info.Name, ErrClosed)
	}
	for other := range e.peers {
		if other.info.Name == p.info.Name && other.info.Incarnation == p.info.Incarnation {
			return fmt.Errorf("transfer: Connect to %q: there is a connection already, and a route has one endpoint; use that peer, or close it first", p.info.Name)
		}
	}
	if err := p.layRails(); err != nil {
		e.forget(p)
		return err
	}
	e.peers[p] = struct{}{}
	return nil
}

func (e *Engine) part(p *Peer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forget(p)
	delete(e.peers, p)
}

// forget gives the peer's routes back: its next connection, or its next start, has new
// ones.
func (e *Engine) forget(p *Peer) { e.ctl.Forget(p.info.Name, p.info.Incarnation) }

// live appends the endpoints in use to a list.
func (e *Engine) live(list []*endpoint) []*endpoint {
	e.mu.Lock()
	defer e.mu.Unlock()
	for p := range e.peers {
		for _, r := range p.rails {
			if ep := r.current(); ep != nil {
				list = append(list, ep)
			}
		}
	}
	return list
}

// deal spreads the slices of a transfer over the workers, in runs of a post batch.
func (e *Engine) deal(t *Transfer) {
	run := uint64(e.cfg.PostBatch)
	first := e.dealt.Add(uint64(len(t.slices))) - uint64(len(t.slices))
	shares := make([][]*slice, len(e.workers))
	for i := range t.slices {
		w := (first + uint64(i)) / run % uint64(len(e.workers))
		shares[w] = append(shares[w], &t.slices[i])
	}
	for i, share := range shares {
		e.workers[i].inbox.put(share...)
		e.workers[i].rouse()
	}
}

func (e *Engine) wakeAll() {
	for _, l := range e.lanes {
		l.rouse()
	}
}
