package cc

import (
	"context"
	"log/slog"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Transition is a change of a route's state, or a notice about a route. It can be
// written as JSON and read back.
type Transition struct {
	Pair rail.Pair `json:"pair"`
	From State     `json:"from"`
	To   State     `json:"to"`
	// Notice is NoNotice for a change of state. For a notice From and To are equal.
	Notice Notice `json:"notice"`
	// Reason and Verdict are what led to it; both are empty when time alone did.
	Reason     classify.Reason  `json:"reason"`
	Verdict    classify.Verdict `json:"verdict,omitzero"`
	Generation Generation       `json:"generation"` // the current one
	At         time.Duration    `json:"at_ns"`
	// Cooldown is how long a quarantine lasts from now on; 0 in other states. A prober may
	// try earlier.
	Cooldown time.Duration `json:"cooldown_ns,omitempty"`
	// LastRoute: with this transition every route to the peer is quarantined or
	// probing. Nothing else happens to the peer; its owner may want to know.
	LastRoute bool `json:"last_route"`
	// Shared: another controller of the process learnt it; Verdict is what that one saw
	// last.
	Shared bool `json:"shared"`
}

// WithTransitions sets a function that is told of each change of a route's state.
// It is called without a lock held, in the goroutine whose call made the change,
// and may call the controller. Transitions of one route may arrive out of order
// when several goroutines make them; At tells.
func WithTransitions(hook func(Transition)) Option {
	return func(c *Controller) { c.hook = hook }
}

// WithLogger sets a logger for transitions. Nothing else is ever logged.
func WithLogger(log *slog.Logger) Option {
	return func(c *Controller) { c.log = log }
}

// tell delivers transitions. No lock is held.
func (c *Controller) tell(ts []Transition) {
	for _, t := range ts {
		t.LastRoute = t.To == Quarantined && t.Notice == NoNotice && c.peerIsCutOff(t.Pair)
		if c.rec != nil && c.recordTold(t) {
			continue // it is told when the call is over
		}
		c.deliver(t)
	}
}

// deliver hands a transition to log and hook.
func (c *Controller) deliver(t Transition) {
	if c.log != nil {
		level := slog.LevelInfo
		what := "route " + t.To.String()
		if t.Notice != NoNotice {
			what = t.Notice.String()
		}
		if t.To == Quarantined || t.Notice != NoNotice {
			level = slog.LevelWarn
		}
		c.log.Log(context.Background(), level, what, "pair", t.Pair.String(), "from", t.From.String(),
			"reason", t.Reason.String(), "evidence", t.Verdict.String(), "generation", uint64(t.Generation), "cooldown", t.Cooldown, "last_route", t.LastRoute, "shared", t.Shared)
	}
	if c.hook != nil {
		c.hook(t)
	}
}

// peerIsCutOff reports whether every route to the pair's peer is barred.
func (c *Controller) peerIsCutOff(p rail.Pair) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.routes.to(peerOf(p)) {
		if !r.state().barred() && !r.pausedElsewhere() {
			return false
		}
	}
	return true
}
