package transfer

import (
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	prail "github.com/rdmagate/rdmagate/rail"
)

// RailSample is what a rail looked like at one moment.
type RailSample struct {
	Route cc.RouteSnapshot
	// First says that the rail is one of those that are asked first.
	First bool
	// Up says that the rail has an endpoint to post on.
	Up bool
	// Builds counts the endpoints that the rail has had.
	Builds uint64
	// Failure is why there is no endpoint, if a build failed.
	Failure error
	// Delivered is the bytes delivered since the engine was started.
	Delivered int64
	// Rate is the bytes a second delivered since the sample before, counted over
	// the time in which the rail had something under way; 0 if it was idle.
	Rate float64
	// Drain is how long the bytes in flight take: what the controller observed in the
	// latest control epoch with deliveries, or what Rate says before the first and
	// with admission off. 0 if unknown.
	Drain time.Duration
}

// Sampler reads the rails of a peer from time to time. It is safe for concurrent
// use; each call of Sample measures from the one before.
type Sampler struct {
	peer *Peer
	mu   sync.Mutex
	last []reading
}

// NewSampler returns a sampler of the peer's rails.
func (p *Peer) NewSampler() *Sampler {
	return &Sampler{peer: p, last: make([]reading, len(p.rails))}
}

// Sample reads every rail, in the peer's order.
func (s *Sampler) Sample() []RailSample {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.peer.engine.ctl.Now()
	first := s.peer.first()
	list := make([]RailSample, len(s.peer.rails))
	for i, r := range s.peer.rails {
		got := r.meter.read(now)
		list[i] = RailSample{
			Route: r.route.Snapshot(), First: first[r], Up: r.endpoint.Load() != nil,
			Builds: r.builds.Load(), Failure: r.failure.Load(),
			Delivered: got.delivered, Rate: got.rate(s.last[i]),
		}
		if observed, ok := list[i].Route.Flow.DrainTime.Get(); ok {
			list[i].Drain = observed
		} else if list[i].Rate > 0 { // with admission off only the engine knows what is in flight
			inFlight := max(list[i].Route.InFlightBytes, got.inFlight)
			list[i].Drain = time.Duration(float64(inFlight) / list[i].Rate * float64(time.Second))
		}
		s.last[i] = got
	}
	return list
}

// first returns the rails that slices are offered to first at the moment.
func (p *Peer) first() map[*rail]bool {
	first := map[*rail]bool{}
	list, outcome := p.paths.Select(nil, p.want(0))
	if outcome == prail.Found {
		for _, c := range list[:leading(list)] {
			first[p.byPath[c.Index]] = true
		}
	}
	return first
}
