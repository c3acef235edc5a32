package main

import (
	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/rdmagate/rdmagate/bench/internal/measure"
)

// adaptive takes a permit of an adaptive concurrency limiter and records it. It
// counts requests and not bytes, in one domain.
func adaptive() measure.Loop {
	l := adaptivelimiter.NewBuilder[any]().Build()
	return func(n int) {
		for range n {
			if p, ok := l.TryAcquirePermit(); ok {
				p.Record()
			}
		}
	}
}

func failsafePeer() []scenario {
	const note = "failsafe-go: concurrency of one route from measured times, no bytes"
	return []scenario{
		alone(peer, peerFailsafe, note, adaptive),
		{kind: peer, note: note, Scenario: measure.Scenario{Name: peerFailsafe + ownRoutes, Workers: 2,
			Setup: func() ([]measure.Loop, func(), error) {
				return []measure.Loop{adaptive(), adaptive()}, nil, nil
			}}},
	}
}
