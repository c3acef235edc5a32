package main

import (
	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"golang.org/x/sync/semaphore"
)

// semaphores admits in two domains with a weighted semaphore for each.
func semaphores(device, route *semaphore.Weighted) measure.Loop {
	return func(n int) {
		for range n {
			if !route.TryAcquire(sliceBytes) {
				continue
			}
			if device.TryAcquire(sliceBytes) {
				device.Release(sliceBytes)
			}
			route.Release(sliceBytes)
		}
	}
}

func semaphorePeer() []scenario {
	const note = "golang.org/x/sync/semaphore for the device and for the route"
	device := func() *semaphore.Weighted { return semaphore.NewWeighted(deviceBytes) }
	route := func() *semaphore.Weighted { return semaphore.NewWeighted(windowBytes) }
	return []scenario{
		alone(peer, peerSemaphore, note, func() measure.Loop { return semaphores(device(), route()) }),
		{kind: peer, note: note, Scenario: measure.Scenario{Name: peerSemaphore + ownRoutes, Workers: 2,
			Setup: func() ([]measure.Loop, func(), error) {
				d := device()
				return []measure.Loop{semaphores(d, route()), semaphores(d, route())}, nil, nil
			}}},
	}
}
