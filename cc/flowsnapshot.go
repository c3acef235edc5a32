package cc

import (
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/taskstate"
)

// FlowSnapshot is how bytes flow on a route or a device.
type FlowSnapshot struct {
	// DrainTime is how long it takes to deliver what is in flight, in nanoseconds:
	// that of the latest control epoch with deliveries. Not observed before the first.
	DrainTime taskstate.Observed[time.Duration] `json:"drain_time_ns"`
	// DeliveredBytes have arrived, ever, on endpoints that were current then; on a
	// device also those of routes that were closed since. What completed after a
	// deadline is not in it. It never falls while the route, or the controller, lives.
	DeliveredBytes int64 `json:"delivered_bytes"`
	// Pressure is what the latest control epoch showed. An idle route keeps that of
	// its last one.
	Pressure Pressure `json:"pressure"`
}

// gauge is a time that was observed, or not yet.
type gauge struct{ plusOne atomic.Int64 }

func (g *gauge) set(d time.Duration) { g.plusOne.Store(int64(d) + 1) }

// get returns the time, 0 if it was not observed.
func (g *gauge) get() time.Duration { return time.Duration(max(0, g.plusOne.Load()-1)) }

func (g *gauge) observed() (o taskstate.Observed[time.Duration]) {
	if v := g.plusOne.Load(); v > 0 {
		o = taskstate.Seen(time.Duration(v - 1))
	}
	return o
}

// shownDelivered returns the bytes delivered, and never fewer than it did before: while
// slices are being given back undelivered, [flight.delivered] shows less for a moment.
func (r *Route) shownDelivered() int64 {
	m := r.meter.Load()
	if m == nil {
		return 0
	}
	n := r.flight.delivered()
	for {
		shown := m.shown.Load()
		if n <= shown {
			return shown
		}
		if m.shown.CompareAndSwap(shown, n) {
			return n
		}
	}
}

func (r *Route) flowSnapshot() FlowSnapshot {
	s := FlowSnapshot{DeliveredBytes: r.shownDelivered()}
	if m := r.meter.Load(); m != nil {
		s.DrainTime = m.drain.observed()
		s.Pressure = Pressure(m.pressure.Load())
	}
	return s
}

func (d *device) flowSnapshot() FlowSnapshot {
	s := FlowSnapshot{DrainTime: d.report.drain.observed(), Pressure: Pressure(d.report.pressure.Load())}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.DeliveredBytes = d.left
	for _, r := range d.routes {
		s.DeliveredBytes += r.shownDelivered()
	}
	return s
}
