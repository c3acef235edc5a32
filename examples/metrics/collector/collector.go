package collector

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/rail"
)

// Controller is what is exported; a [cc.Controller] is one.
type Controller interface {
	Snapshot() cc.Snapshot
	Now() time.Duration
}

// Collector is a prometheus.Collector of one controller. Set the fields before it is
// registered. It is safe for concurrent scrapes.
type Collector struct {
	Controller Controller
	// Routes picks the routes that have series of their own; nil picks none.
	Routes Pick
	// Transitions counts transitions; nil exports none.
	Transitions *Transitions
	// Admissions returns how many slices were admitted, ever; nil exports none. The
	// controller counts what it refuses, not what it admits, which would cost every slice
	// something: an engine that counts them may say.
	Admissions func() uint64
	// Pauses is the table of [cc.WithPauses], with the pauses of the whole process; nil
	// exports none.
	Pauses *rail.Table
}

// Describe sends all descriptors, also those of what is not asked for.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range descriptors {
		to <- d
	}
}

// Collect takes one snapshot and sends what is in it.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	m, s := sink(to), c.Controller.Snapshot()
	m.gauge(controllerInfo, 1, s.Mode.String())
	m.devices(s)
	if c.Routes != nil {
		picked := c.Routes(s.Routes)
		for _, r := range picked {
			m.route(r)
		}
		m.gauge(routesLeftOut, float64(len(s.Routes)-len(picked)))
	}
	if c.Transitions != nil {
		m.transitions(c.Transitions)
	}
	if c.Admissions != nil {
		m.counter(admissions, float64(c.Admissions()))
	}
	if c.Pauses != nil {
		m.pauses(c.Pauses, c.Controller.Now())
	}
}

// sink is where metrics go.
type sink chan<- prometheus.Metric

func (m sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	m <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (m sink) counter(d *prometheus.Desc, v float64, labels ...string) {
	m <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

// perDevice is what is added up of a device's routes.
type perDevice struct {
	states    [len(states)]int
	pauseLeft time.Duration
}

func (m sink) devices(s cc.Snapshot) {
	sums := make(map[string]*perDevice, len(s.Devices))
	for _, d := range s.Devices {
		sums[d.Device] = &perDevice{}
	}
	for i := range s.Routes {
		if sum := sums[s.Routes[i].Pair.Local]; sum != nil {
			h := &s.Routes[i].Health
			sum.states[h.State]++
			sum.pauseLeft = max(sum.pauseLeft, h.CooldownLeft)
		}
	}
	for _, d := range s.Devices {
		name, sum := label(d.Device), sums[d.Device]
		m.gauge(deviceWindow, float64(d.WindowBytes), name)
		m.gauge(deviceInFlight, float64(d.InFlightBytes), name)
		m.counter(deviceDelivered, float64(d.Flow.DeliveredBytes), name)
		if t, observed := d.Flow.DrainTime.Get(); observed {
			m.gauge(deviceDrain, t.Seconds(), name)
		}
		for _, p := range pressures {
			m.gauge(devicePressure, is(p == d.Flow.Pressure), name, p.String())
		}
		for _, state := range states {
			m.gauge(deviceRoutes, float64(sum.states[state]), name, state.String())
		}
		m.gauge(devicePauseLeft, sum.pauseLeft.Seconds(), name)
		m.gauge(deviceExhausted, is(d.Exhausted), name)
		m.gauge(deviceExhaustedPorts, float64(len(d.ExhaustedPorts)), name)
		for _, r := range d.Refusals {
			m.counter(refusals, float64(r.Count), name, r.Answer().String(), r.Reason.String(), r.Domain.String())
		}
	}
}

func (m sink) route(r cc.RouteSnapshot) {
	name := routeLabels(r.Pair)
	with := func(more ...string) []string { return append(name[:len(name):len(name)], more...) }
	m.gauge(routeWindow, float64(r.WindowBytes), name...)
	m.gauge(routeInFlight, float64(r.InFlightBytes), name...)
	m.counter(routeDelivered, float64(r.Flow.DeliveredBytes), name...)
	if t, observed := r.Flow.DrainTime.Get(); observed {
		m.gauge(routeDrain, t.Seconds(), name...)
	}
	for _, s := range states {
		m.gauge(routeState, is(s == r.Health.State), with(s.String())...)
	}
	m.gauge(routeFailures, float64(r.Health.Failures), name...)
	m.gauge(routePauseLeft, r.Health.CooldownLeft.Seconds(), name...)
	for _, k := range r.Refusals {
		m.counter(routeRefusals, float64(k.Count), with(k.Answer().String(), k.Reason.String(), k.Domain.String())...)
	}
}

// pauses counts the table's pauses: those that run, and those that are over but for a
// trial.
func (m sink) pauses(t *rail.Table, now time.Duration) {
	var running, due int
	for _, e := range t.List() {
		switch {
		case e.Paused && now < e.Resume:
			running++
		case e.Paused:
			due++
		}
	}
	m.gauge(pauses, float64(running), "cooldown")
	m.gauge(pauses, float64(due), "trial_due")
	stats := t.Stats()
	m.gauge(tableEntries, float64(stats.Entries))
	m.counter(tableGivenUp, float64(stats.GivenUp))
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
