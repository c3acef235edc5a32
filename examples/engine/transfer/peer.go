package transfer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	prail "github.com/rdmagate/rdmagate/rail"
)

// Peer is a machine to which an engine is connected, with a rail for each pair of
// a local and a remote NIC.
type Peer struct {
	engine  *Engine
	control *control
	info    hello
	rails   []*rail
	living  context.Context // ends when the peer is closed
	leave   context.CancelFunc
	lost    chan struct{} // closed when the peer is closed, for whatever reason

	building  sync.WaitGroup // the rails' builders
	resting   sync.WaitGroup // transfers
	endpoints sync.WaitGroup

	mu        sync.Mutex
	err       error // why no transfer is accepted any more
	transfers map[*Transfer]struct{}
	built     map[*endpoint]struct{} // and not closed yet
	closing   sync.Once
}

// Connect introduces the engine over a control connection, and returns when the
// first endpoint of every rail was tried. It fails if none could be built. The
// peer owns conn from now on; it is closed on failure too.
func (e *Engine) Connect(ctx context.Context, conn net.Conn) (*Peer, error) {
	living, leave := context.WithCancel(context.Background())
	p := &Peer{
		engine: e, control: newControl(conn), living: living, leave: leave, lost: make(chan struct{}),
		transfers: map[*Transfer]struct{}{}, built: map[*endpoint]struct{}{},
	}
	if err := p.greet(ctx); err != nil {
		p.control.Close()
		return nil, err
	}
	if err := e.join(p); err != nil {
		p.control.Close()
		return nil, err
	}
	for _, r := range p.rails {
		p.building.Go(func() { r.keepBuilt(living) })
	}
	go func() {
		<-p.control.ended
		p.shut(fmt.Errorf("transfer: peer %q: %w", p.info.Name, p.control.failure()))
	}()
	if err := p.waitForRails(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// greet learns the peer's name and NICs and lays out the rails: equal positions
// first, since NICs are usually cabled that way, then the others.
func (p *Peer) greet(ctx context.Context) error {
	e := p.engine
	if err := p.control.call(ctx, opHello, e.hello(), &p.info); err != nil {
		return err
	}
	if len(p.info.NICs) == 0 {
		return fmt.Errorf("transfer: peer %q has no NICs; start it with at least one", p.info.Name)
	}
	for i, nic := range p.info.NICs {
		if slices.Contains(p.info.NICs[:i], nic) { // two rails would share a route, and take each other's endpoints away
			return fmt.Errorf("transfer: peer %q lists NIC %q twice (%v); start it with each NIC once", p.info.Name, nic, p.info.NICs)
		}
	}
	for shift := range p.info.NICs {
		for i, nic := range e.nics {
			remote := p.info.NICs[(i+shift)%len(p.info.NICs)]
			pair := prail.Pair{Peer: p.info.Name, Incarnation: p.info.Incarnation, Local: nic.Name(), Port: nic.Port(), Remote: remote}
			if e.pairs != nil && !e.pairs(nic.Name(), remote) {
				continue
			}
			route, err := e.ctl.Route(pair)
			if err != nil {
				return err
			}
			p.rails = append(p.rails, &rail{
				peer: p, pair: pair, index: len(p.rails), nic: i, route: route,
				wanted: make(chan struct{}, 1), tried: make(chan struct{}),
			})
		}
	}
	if len(p.rails) == 0 {
		return fmt.Errorf("transfer: no pair of a local NIC with one of %q (%v) is allowed; allow at least one", p.info.Name, p.info.NICs)
	}
	return nil
}

// waitForRails waits until every rail was tried, and fails if none came up.
func (p *Peer) waitForRails(ctx context.Context) error {
	var failures []error
	for _, r := range p.rails {
		select {
		case <-r.tried:
		case <-p.control.ended:
			return fmt.Errorf("transfer: connecting to %q: %w", p.info.Name, p.control.failure())
		case <-ctx.Done():
			return fmt.Errorf("transfer: connecting to %q: %w", p.info.Name, context.Cause(ctx))
		}
		if err := r.failure.Load(); err != nil {
			failures = append(failures, err)
		}
	}
	if len(failures) == len(p.rails) {
		return fmt.Errorf("transfer: no rail to %q came up: %w", p.info.Name, errors.Join(failures...))
	}
	return nil
}

// Name returns the name that the peer gave itself.
func (p *Peer) Name() string { return p.info.Name }

// NICs returns the names of the peer's NICs.
func (p *Peer) NICs() []string { return slices.Clone(p.info.NICs) }

// Lost is closed when the peer was closed or its control connection ended.
func (p *Peer) Lost() <-chan struct{} { return p.lost }

// Close fails the peer's transfers, takes everything off the wire and gives all
// QPs back. It returns when that is done.
func (p *Peer) Close() { p.shut(fmt.Errorf("transfer: peer %q: %w", p.info.Name, ErrClosed)) }

func (p *Peer) shut(err error) {
	p.closing.Do(func() {
		p.mu.Lock()
		p.err = err
		for t := range p.transfers {
			defer t.fail(err)
		}
		p.mu.Unlock()
		close(p.lost)
	})
	p.leave()
	p.building.Wait()
	p.abort()
	p.resting.Wait()
	p.endpoints.Wait()
	p.control.Close()
	p.engine.part(p)
}

// abort takes every endpoint out of use, the draining ones too, and fails what is
// on the wire.
func (p *Peer) abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ep := range p.built {
		ep.aborted.Store(true)
		ep.rail.retire(ep)
	}
	p.engine.wakeAll()
}

// admit takes a transfer in, unless the peer is gone.
func (p *Peer) admit(t *Transfer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	p.transfers[t] = struct{}{}
	p.resting.Add(1)
	return nil
}

func (p *Peer) forget(t *Transfer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.transfers, t)
	p.resting.Done()
}

func (p *Peer) opened(ep *endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.built[ep] = struct{}{}
	p.endpoints.Add(1)
}

func (p *Peer) closed(ep *endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.built, ep)
	p.endpoints.Done()
}

// failures joins why the rails have no endpoint.
func (p *Peer) failures() error {
	var list []error
	for _, r := range p.rails {
		list = append(list, r.failure.Load())
	}
	return errors.Join(list...)
}

// over reports whether the peer takes no transfer any more.
func (p *Peer) over() bool {
	select {
	case <-p.lost:
		return true
	default:
		return false
	}
}
