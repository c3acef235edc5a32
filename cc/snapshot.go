package cc

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Snapshot is what a controller held at one moment. Its parts are read one after
// the other while traffic goes on: each number is exact, sums of several may be off
// by what moved meanwhile. It can be written as JSON and read back.
type Snapshot struct {
	Mode    Mode             `json:"mode"`
	Devices []DeviceSnapshot `json:"devices"` // by name
	Routes  []RouteSnapshot  `json:"routes"`  // by pair
}

// DeviceSnapshot is one local device.
type DeviceSnapshot struct {
	Device      string `json:"device"`
	WindowBytes int64  `json:"window_bytes"`
	// InFlightBytes is what permits have reserved.
	InFlightBytes int64        `json:"in_flight_bytes"`
	Flow          FlowSnapshot `json:"flow"`
	// ExhaustedPorts lists the ports on which no route is usable, and Exhausted says
	// that none is on the whole device.
	ExhaustedPorts Ports `json:"exhausted_ports,omitempty"`
	Exhausted      bool  `json:"exhausted,omitempty"`
	// Refusals are those of its routes, also of routes that were closed since.
	Refusals []RefusalCount `json:"refusals,omitempty"`
}

// Ports are numbers of ports. In JSON they are an array of numbers, which []uint8 is not.
type Ports []uint8

// MarshalJSON writes an array of numbers.
func (p Ports) MarshalJSON() ([]byte, error) {
	numbers := make([]int, len(p))
	for i, port := range p {
		numbers[i] = int(port)
	}
	return json.Marshal(numbers)
}

// RouteSnapshot is one route.
type RouteSnapshot struct {
	Pair       rail.Pair  `json:"pair"`
	Generation Generation `json:"generation"` // the current one; 0 before the first
	// NeedsRenew: nothing is admitted before the next Renew, or no trial starts. There was
	// no endpoint yet, a counted deadline has retired it, or it was in use before the path
	// was quarantined.
	NeedsRenew    bool           `json:"needs_renew"`
	WindowBytes   int64          `json:"window_bytes"`
	InFlightBytes int64          `json:"in_flight_bytes"`
	Flow          FlowSnapshot   `json:"flow"`
	Health        HealthSnapshot `json:"health"`
	// Refusals counts refused admissions. In observe mode they are those that
	// enforce would have refused.
	Refusals []RefusalCount `json:"refusals,omitempty"`
}

// RefusalCount counts the refusals of one kind; kinds with none are left out. Only
// BYTE_WINDOW is counted by domain.
type RefusalCount struct {
	Reason classify.Reason `json:"reason"`
	Domain Domain          `json:"domain"`
	Count  uint64          `json:"count"`
}

// Answer returns the answer that such a refusal gives, or in observe mode would give.
func (c RefusalCount) Answer() Answer {
	if c.Reason == classify.ReasonPathQuarantined {
		return Avoid
	}
	return Defer
}

// Snapshot reads the controller without stopping anything.
func (c *Controller) Snapshot() Snapshot {
	s := Snapshot{Mode: c.cfg.Mode, Devices: []DeviceSnapshot{}, Routes: []RouteSnapshot{}}
	c.mu.Lock()
	devices, routes := slices.Clone(c.deviceList), slices.Collect(c.routes.all())
	c.mu.Unlock()
	for _, d := range devices {
		s.Devices = append(s.Devices, d.snapshot())
	}
	for _, r := range routes {
		s.Routes = append(s.Routes, r.Snapshot())
	}
	slices.SortFunc(s.Devices, func(a, b DeviceSnapshot) int { return cmp.Compare(a.Device, b.Device) })
	slices.SortFunc(s.Routes, func(a, b RouteSnapshot) int { return a.Pair.Compare(b.Pair) })
	return s
}

// String returns a [Controller.Snapshot] as JSON, which makes a controller an expvar.Var:
//
//	expvar.Publish("rdmagate", ctl)
//
// The names say the units. It reads every route, so it is nothing for a log line.
func (c *Controller) String() string {
	text, _ := json.Marshal(c.Snapshot()) // nothing in it can fail
	return string(text)
}

// Snapshot reads one route without stopping anything.
func (r *Route) Snapshot() RouteSnapshot {
	r.read()
	cur := r.current.Load()
	s := RouteSnapshot{
		Pair:          r.pair,
		Generation:    cur.number,
		NeedsRenew:    r.needsRenew(cur),
		WindowBytes:   r.window.Load(),
		InFlightBytes: r.InFlight(),
		Flow:          r.flowSnapshot(),
		Health:        r.healthSnapshot(),
		Refusals:      r.refusals.list(),
	}
	if s.Generation == closedGeneration {
		s.Generation = 0
	}
	return s
}

func (r *Route) needsRenew(cur *generation) bool {
	if cur.number == closedGeneration || r.mode == Off {
		return false
	}
	r.device.mu.Lock()
	defer r.device.mu.Unlock()
	return cur.retired() || r.state().barred() && cur.number <= r.health.record.barredUpTo
}
