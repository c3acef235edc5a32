package transfer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	prail "github.com/rdmagate/rdmagate/rail"
)

// Peer is a machine to which an engine is connected, with a rail for each pair of
// a local and a remote NIC that may be used.
type Peer struct {
	engine  *Engine
	control *control
	info    hello
	paths   *prail.Map
	byPath  []*rail         // by index of the path; nil where it is excluded
	rails   []*rail         // the others, in the same order
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
	closing   atomic.Bool
	gone      chan struct{} // closed when closing is done
}

// Connect introduces the engine over a control connection, and returns when the
// first endpoint of every rail was tried. It fails if none could be built. The
// peer owns conn from now on; it is closed on failure too.
func (e *Engine) Connect(ctx context.Context, conn net.Conn) (*Peer, error) {
	living, leave := context.WithCancel(context.Background())
	p := &Peer{
		engine: e, control: newControl(conn), living: living, leave: leave, lost: make(chan struct{}), gone: make(chan struct{}),
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
	p.startBuilding()
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

// greet learns the peer's name and NICs, and maps the paths to it.
func (p *Peer) greet(ctx context.Context) error {
	e := p.engine
	mine := e.hello()
	if err := p.control.call(ctx, opHello, mine, &p.info); err != nil {
		return err
	}
	if len(p.info.NICs) == 0 {
		return fmt.Errorf("transfer: peer %q has no NICs; start it with at least one", p.info.Name)
	}
	var err error
	p.paths, err = prail.NewMap(prail.MapConfig{
		Peer: p.info.Name, Incarnation: p.info.Incarnation, Local: mine.NICs, Remote: p.info.NICs,
		File: e.pinned, IPv4Bits: e.ipv4, IPv6Bits: e.ipv6,
	})
	if err != nil {
		return fmt.Errorf("transfer: paths to %q: %w", p.info.Name, err)
	}
	var misfit error
	if e.pinned != nil {
		misfit = e.pinned.Check(mine.NICs, p.info.NICs)
	}
	if _, outcome := p.paths.Select(nil, prail.Want{}); outcome == prail.NoPath {
		return errors.Join(fmt.Errorf("transfer: %w: %q: %v", ErrNoPath, p.info.Name, reasons(p.paths)), misfit)
	}
	if misfit != nil {
		e.log.Warn("the rail file does not fit", "peer", p.info.Name, "error", misfit)
	}
	return nil
}

// maxReasons is how many pairs an error tells about.
const maxReasons = 8

// reasons says why no pair of a map may be used.
func reasons(m *prail.Map) string {
	text := m.String()
	for i, e := range m.Explain(prail.Want{}) {
		if i == maxReasons {
			return text + "; and so on"
		}
		text += fmt.Sprintf("; %s to %s: %s", e.Local, e.Remote, e.Why)
	}
	return text
}

// layRails makes a rail for each pair of NICs that may be used.
func (p *Peer) layRails() error {
	paths := p.paths.Paths()
	p.byPath = make([]*rail, len(paths))
	for i := range paths {
		path := &paths[i]
		if path.Excluded != prail.Allowed {
			continue
		}
		if _, lent := p.info.Scratch[path.Remote]; !lent {
			return fmt.Errorf("transfer: peer %q lends no memory to probe its NIC %q with", p.info.Name, path.Remote)
		}
		route, err := p.engine.ctl.Route(path.Pair)
		if err != nil {
			return err
		}
		p.byPath[i] = &rail{
			peer: p, pair: path.Pair, nic: path.LocalNIC, route: route,
			wanted: make(chan struct{}, 1), tried: make(chan struct{}),
		}
		p.rails = append(p.rails, p.byPath[i])
	}
	return nil
}

// startBuilding builds endpoints from now on, unless the peer was closed already.
func (p *Peer) startBuilding() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	for _, r := range p.rails {
		p.building.Go(func() { r.keepBuilt(p.living) })
	}
}

// waitForRails waits until every rail was tried, and fails if none came up.
func (p *Peer) waitForRails(ctx context.Context) error {
	var failures []error
	for _, r := range p.rails {
		select {
		case <-r.tried:
		case <-p.lost:
			return fmt.Errorf("transfer: connecting to %q: %w", p.info.Name, p.refusal())
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

// NICs returns what the peer's NICs said of themselves.
func (p *Peer) NICs() []prail.NIC { return slices.Clone(p.info.NICs) }

// Rails returns how many pairs of NICs lead to the peer.
func (p *Peer) Rails() int { return len(p.rails) }

// InFlight returns the bytes that are reserved on the routes to the peer. After Close
// there are none, or a permit was lost.
func (p *Peer) InFlight() (bytes int64) {
	for _, r := range p.rails {
		bytes += r.route.InFlight()
	}
	return bytes
}

// Rebuild takes the endpoints of some pairs out of use, as after a change of what they
// stand on. What is on the wire may finish while the next ones are built.
func (p *Peer) Rebuild(which func(prail.Pair) bool) {
	for _, r := range p.rails {
		if ep := r.current(); ep != nil && which(r.pair) {
			r.retire(ep)
		}
	}
}

// Lost is closed when the peer was closed or its control connection ended.
func (p *Peer) Lost() <-chan struct{} { return p.lost }

// Close fails the peer's transfers, takes everything off the wire, gives all QPs back
// and has the controller forget the routes. It returns when that is done.
func (p *Peer) Close() { p.shut(fmt.Errorf("transfer: peer %q: %w", p.info.Name, ErrClosed)) }

// shut closes the peer for a reason. Whoever else calls it meanwhile waits.
func (p *Peer) shut(err error) {
	if p.closing.Swap(true) {
		<-p.gone
		return
	}
	for _, t := range p.refuse(err) {
		t.fail(err)
	}
	close(p.lost)
	p.leave()
	p.building.Wait()
	p.abort()
	p.resting.Wait()
	p.endpoints.Wait()
	p.control.Close()
	p.engine.part(p)
	close(p.gone)
}

// refuse accepts no transfer any more, and returns those that were accepted.
func (p *Peer) refuse(err error) (accepted []*Transfer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
	for t := range p.transfers {
		accepted = append(accepted, t)
	}
	return accepted
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

// refusal returns why no transfer is accepted any more, nil if they are.
func (p *Peer) refusal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
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
