package chaos

import (
	"fmt"
	"sync"
	"time"
)

// Invariant is something that must hold.
type Invariant string

// The invariants.
const (
	// Payload: what a transfer says it has moved is there, byte by byte.
	Payload Invariant = "payload"
	// Reason: a transfer that fails says why, and so does its task; one that does not,
	// leaves a task that is NORMAL; and each ends.
	Reason Invariant = "reason"
	// Once: a work request is posted once for each admission and ends once, and never are
	// fewer bytes on the controller's books than on the wire.
	Once Invariant = "once"
	// Flight: once it is quiet, no byte is in flight on any route or device.
	Flight Invariant = "flight"
	// Stuck: a route is HEALTHY or CONGESTED again, and has an endpoint, within
	// [Numbers.Bound] of the end of the last fault that reaches it.
	Stuck Invariant = "stuck"
	// Verdict: a route is taken out of service only if a fault that blames reaches it.
	Verdict Invariant = "verdict"
	// Flat: memory, goroutines, threads, descriptors and objects of the fabric are at the
	// last quiet moment what they were at the first.
	Flat Invariant = "flat"
	// Crash: the program goes on. A simulated round that panics, deadlocks or never ends
	// breaks it.
	Crash Invariant = "crash"
)

// Broken is a breach of an invariant.
type Broken struct {
	Invariant Invariant
	At        Duration
	Text      string
}

func (b Broken) String() string {
	return fmt.Sprintf("%8.3fs %s: %s", time.Duration(b.At).Seconds(), b.Invariant, b.Text)
}

// maxBroken bounds the breaches of one invariant that are kept.
const maxBroken = 20

// court collects breaches. It is safe for concurrent use.
type court struct {
	now func() time.Duration

	mu    sync.Mutex
	list  []Broken
	count map[Invariant]int
}

// broken notes a breach.
func (c *court) broken(i Invariant, format string, args ...any) {
	at := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[Invariant]int{}
	}
	if c.count[i]++; c.count[i] <= maxBroken {
		c.list = append(c.list, Broken{i, Duration(at), fmt.Sprintf(format, args...)})
	}
}

// take returns the breaches so far and forgets them.
func (c *court) take() []Broken {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list
	c.list, c.count = nil, nil
	return list
}
