package main

import (
	"github.com/rdmagate/rdmagate/bench/internal/measure"
)

// Names of scenarios that ratios are made of.
const (
	floorLoop     = "empty loop"
	floorEmpty    = "empty call"
	floorLoad     = "atomic load"
	floorAdds     = "two atomic adds"
	floorCAS      = "two CAS-loop pairs"
	floorCgo      = "no-op cgo call"
	floorHandover = "bare hand-over"

	peerBareMutex = "mutex over both counts"
	peerMutex     = "mutex over both domains"
	peerSemaphore = "x/sync semaphore, twice"
	peerLibp2p    = "libp2p resource manager"
	peerGobreaker = "gobreaker"
	peerFailsafe  = "failsafe-go adaptive limiter"

	oursOffAsk   = "TryAcquire, off"
	oursOff      = "permit, off"
	oursObserve  = "permit, observe"
	oursEnforce  = "permit, enforce"
	oursTask     = "permit, enforce, with a task"
	oursGroup    = "permit, enforce, 32 at once"
	oursRefusal  = "refusal, window full"
	oursHandover = "poster and poller"
	oursPaused   = "permit, enforce, 10000 pairs paused"
	oursSync     = "TryAcquire after a change at the peer"
	oursTick     = "tick over 10000 idle routes"
)

// Suffixes of scenarios with two workers.
const (
	ownRoutes = ", 2 cores, own routes"
	sameRoute = ", 2 cores, same route"
)

// withRecorder is the suffix of a scenario whose calls are recorded.
const withRecorder = ", recorded"

// othersPaused is the suffix of a scenario beside many paused pairs.
const othersPaused = ", 10000 pairs of others paused"

// tickRoutes is how many routes a tick passes over.
const tickRoutes = 10_000

// kind says what a scenario is to be compared with.
type kind string

const (
	floor kind = "floor"
	peer  kind = "peer"
	ours  kind = "rdmagate"
)

// scenario is a line of the report.
type scenario struct {
	measure.Scenario
	kind kind
	note string // what it does, for the report
}

// scenarios returns all lines of the report, in its order.
func scenarios() []scenario {
	var all []scenario
	for _, list := range [][]scenario{
		floors(), cgoFloor(), handoverFloor(),
		mutexPeer(), semaphorePeer(), libp2pPeer(), gobreakerPeer(), failsafePeer(),
		permits(), recorded(), lists(), refusals(), handovers(), ticks(), rails(),
	} {
		all = append(all, list...)
	}
	return all
}

// named returns the scenarios of these names.
func named(names ...string) []measure.Scenario {
	var list []measure.Scenario
	for _, n := range names {
		for _, s := range scenarios() {
			if s.Name == n {
				list = append(list, s.Scenario)
			}
		}
	}
	return list
}

// alone is a scenario with one worker.
func alone(k kind, name, note string, loop func() measure.Loop) scenario {
	return scenario{kind: k, note: note, Scenario: measure.Scenario{Name: name, Workers: 1,
		Setup: func() ([]measure.Loop, func(), error) { return []measure.Loop{loop()}, nil, nil }}}
}

// sliceBytes is the size of a slice in all scenarios, windowBytes of a route's
// window and deviceBytes of a device's.
const (
	sliceBytes  = 16 << 10
	windowBytes = 8 << 20
	deviceBytes = 64 << 20
)
