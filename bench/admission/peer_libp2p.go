package main

import (
	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/rdmagate/rdmagate/bench/internal/measure"
)

// libp2p reserves memory for a peer, which its resource manager counts against
// the peer and against the system.
type libp2p struct {
	manager network.ResourceManager
	release chan struct{}
}

func newLibp2p() (*libp2p, error) {
	limiter := rcmgr.NewFixedLimiter(rcmgr.InfiniteLimits)
	manager, err := rcmgr.NewResourceManager(limiter, rcmgr.WithMetricsDisabled())
	return &libp2p{manager, make(chan struct{})}, err
}

// loop returns the loop of one peer, whose scope stays in use until the end.
func (l *libp2p) loop(name string) measure.Loop {
	scopes := make(chan network.PeerScope)
	go func() {
		_ = l.manager.ViewPeer(corepeer.ID(name), func(s network.PeerScope) error {
			scopes <- s
			<-l.release
			return nil
		})
	}()
	scope := <-scopes
	return func(n int) {
		for range n {
			if scope.ReserveMemory(sliceBytes, network.ReservationPriorityAlways) == nil {
				scope.ReleaseMemory(sliceBytes)
			}
		}
	}
}

func (l *libp2p) end() {
	close(l.release)
	_ = l.manager.Close()
}

func libp2pPeer() []scenario {
	const note = "go-libp2p: memory of a peer within the system's"
	setup := func(names ...string) func() ([]measure.Loop, func(), error) {
		return func() ([]measure.Loop, func(), error) {
			l, err := newLibp2p()
			if err != nil {
				return nil, nil, err
			}
			var loops []measure.Loop
			for _, name := range names {
				loops = append(loops, l.loop(name))
			}
			return loops, l.end, nil
		}
	}
	return []scenario{
		{kind: peer, note: note, Scenario: measure.Scenario{Name: peerLibp2p, Workers: 1, Setup: setup("a")}},
		{kind: peer, note: note, Scenario: measure.Scenario{Name: peerLibp2p + ownRoutes, Workers: 2, Setup: setup("a", "b")}},
	}
}
