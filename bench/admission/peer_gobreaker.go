package main

import (
	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/sony/gobreaker/v2"
)

// breaker asks a two-step breaker and reports success. It counts no bytes.
func breaker() measure.Loop {
	b := gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{Name: "route"})
	return func(n int) {
		for range n {
			if done, err := b.Allow(); err == nil {
				done(nil)
			}
		}
	}
}

func gobreakerPeer() []scenario {
	const note = "sony/gobreaker, two steps: health of one route, no bytes"
	return []scenario{
		alone(peer, peerGobreaker, note, breaker),
		{kind: peer, note: note, Scenario: measure.Scenario{Name: peerGobreaker + ownRoutes, Workers: 2,
			Setup: func() ([]measure.Loop, func(), error) {
				return []measure.Loop{breaker(), breaker()}, nil, nil
			}}},
	}
}
