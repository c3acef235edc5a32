package cc

import (
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/classify"
)

// HealthSnapshot is a route's health. Times are readings of the controller's clock. As
// with [Route.State], it has what other controllers learnt.
type HealthSnapshot struct {
	State State `json:"state"`
	// Since is when the state began. Reason and Verdict are what led to it; both
	// are empty when time alone did, and for a route that was healthy all along.
	Since    time.Duration    `json:"since_ns"`
	Reason   classify.Reason  `json:"reason"`
	Verdict  classify.Verdict `json:"verdict,omitzero"`
	Evidence string           `json:"evidence,omitempty"` // Verdict as text
	// Failures is how many were counted in a row.
	Failures int `json:"failures"`
	// CooldownLeft is how long a quarantine still runs; 0 when it is over or there
	// is none. Cooldown is the length that the pair's next pause starts from.
	CooldownLeft time.Duration `json:"cooldown_left_ns"`
	Cooldown     time.Duration `json:"cooldown_ns"`
	// TrialOut: a trial is out and its lease runs.
	TrialOut bool `json:"trial_out"`
	// PersistentFault, KeptAsLast and Limited: see [PersistentFault],
	// [LastRouteKept] and [PortExhausted].
	PersistentFault bool `json:"persistent_fault,omitempty"`
	KeptAsLast      bool `json:"kept_as_last,omitempty"`
	Limited         bool `json:"limited,omitempty"`
}

func (r *Route) healthSnapshot() HealthSnapshot {
	now := r.ctl.clock()
	r.device.mu.Lock()
	defer r.device.mu.Unlock()
	h := &r.health
	path, local := r.path(), h.local()
	s := HealthSnapshot{
		State:      r.state(),
		Failures:   path.Count,
		Cooldown:   path.Cooldown(r.ctl.policy()),
		TrialOut:   path.TrialOut(now) || local.TrialOut(now),
		KeptAsLast: h.kept.Load(),
		Limited:    h.limited,
	}
	if rec := h.record; rec != nil {
		s.Since, s.Reason, s.Verdict = rec.since, rec.reason, rec.verdict
		s.PersistentFault = rec.faults.raised
	}
	if s.Verdict != (classify.Verdict{}) {
		s.Evidence = s.Verdict.String()
	}
	s.CooldownLeft = max(0, cooldownEnds(&path.Breaker, &local)-now)
	return s
}

func (d *device) snapshot() DeviceSnapshot {
	s := DeviceSnapshot{Device: d.name, WindowBytes: d.window.Load(), InFlightBytes: d.inFlight(), Flow: d.flowSnapshot()}
	d.mu.Lock()
	defer d.mu.Unlock()
	for port := range d.exhausted {
		if port == 0 {
			s.Exhausted = true
		} else {
			s.ExhaustedPorts = append(s.ExhaustedPorts, port)
		}
	}
	slices.Sort(s.ExhaustedPorts)
	var sum refusals
	sum.add(&d.refused)
	for _, r := range d.routes {
		sum.add(&r.refusals)
	}
	s.Refusals = sum.list()
	return s
}
