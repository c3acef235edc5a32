package transfer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	uatomic "go.uber.org/atomic"

	"github.com/rdmagate/rdmagate/cc"
	prail "github.com/rdmagate/rdmagate/rail"
)

// rail is one NIC pair to a peer: its route in the controller, and the endpoint
// that is current.
type rail struct {
	peer  *Peer
	pair  prail.Pair
	nic   int // index of the local NIC
	route *cc.Route

	endpoint atomic.Pointer[endpoint] // nil while there is none
	wanted   chan struct{}            // holds a token when an endpoint was retired
	tried    chan struct{}            // closed after the first build, good or bad
	failure  uatomic.Error            // why the last build failed
	builds   atomic.Uint64
	missed   atomic.Int64 // probes that failed in a row
	meter    meter
}

// keepBuilt builds an endpoint whenever there is none, until ctx ends.
func (r *rail) keepBuilt(ctx context.Context) {
	var tried sync.Once
	var current cc.Generation // the route is new
	for {
		ep, err := r.build(ctx, current)
		if errors.Is(err, cc.ErrStaleGeneration) { // somebody else's endpoint: build on top of it
			current = ep.generation
			continue
		}
		r.failure.Store(err)
		switch {
		case err == nil:
			current = ep.generation
			r.install(ep)
		case ctx.Err() == nil:
			r.peer.engine.log.Warn("no endpoint", "rail", r.pair.String(), "error", err)
		}
		tried.Do(func() { close(r.tried) })
		if err == nil && !wait(ctx, r.wanted) || !pause(ctx, r.peer.engine.cfg.BuildPause) {
			return
		}
	}
}

// leftToProber reports whether the controller wants to see a probe succeed before it
// admits slices of transfers.
func (r *rail) leftToProber() bool {
	c := r.peer.engine.ctl.Config()
	if c.Mode != cc.Enforce || !c.Prober {
		return false
	}
	switch r.route.State() {
	case cc.Suspect:
		return !c.KeepLastRoute && r.route.Snapshot().Health.Failures > 0
	case cc.Quarantined, cc.Probing:
		return true
	}
	return false
}

// missedOften is how many probes in a row fail before a pair gets narrow endpoints: what
// comes back earlier is in full use at once.
const missedOften = 8

// wantsNarrow reports whether the next endpoint is for the prober alone: to verify a
// suspicion soon, or since the pair may be dead for long.
func (r *rail) wantsNarrow() bool {
	return r.leftToProber() && (r.route.State() == cc.Suspect || r.missed.Load() >= missedOften)
}

// install makes a new endpoint current and tells its lanes about their QPs.
func (r *rail) install(ep *endpoint) {
	e := r.peer.engine
	r.builds.Add(1)
	r.peer.opened(ep)
	for i, l := range e.lanes {
		if ep.qps[i] != nil {
			l.arrived.put(ep)
		}
	}
	r.endpoint.Store(ep)
	e.log.Info("endpoint is up", "rail", r.pair.String(), "generation", uint64(ep.generation))
	e.wakeAll()
}

// current returns the endpoint to post on, nil if there is none. What is being retired
// is none: its last lane may have left it.
func (r *rail) current() *endpoint {
	if ep := r.endpoint.Load(); ep != nil && !ep.retired.Load() {
		return ep
	}
	return nil
}

// retire takes an endpoint out of use: nothing more is posted on it, what is on
// the wire may finish, and a new one is built. Only the first call for an endpoint
// does anything.
func (r *rail) retire(ep *endpoint) {
	if ep.retired.Swap(true) {
		return
	}
	r.endpoint.CompareAndSwap(ep, nil)
	select {
	case r.wanted <- struct{}{}:
	default:
	}
	r.peer.engine.wakeAll()
}

// wait waits for a token and reports false when ctx ended first.
func wait(ctx context.Context, token <-chan struct{}) bool {
	select {
	case <-token:
		return true
	case <-ctx.Done():
		return false
	}
}

// pause waits for d and reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
