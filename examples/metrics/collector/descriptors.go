package collector

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rdmagate/rdmagate/cc"
)

var (
	states    = [...]cc.State{cc.Healthy, cc.Congested, cc.Suspect, cc.Quarantined, cc.Probing}
	pressures = [...]cc.Pressure{cc.PressureNeutral, cc.PressureIdle, cc.PressureLow, cc.PressureHigh, cc.PressureVoid}
)

// descriptors are all that were made.
var descriptors []*prometheus.Desc

func describe(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("rdmagate_"+name, help, labels, nil)
	descriptors = append(descriptors, d)
	return d
}

func describeRoute(name, help string, more ...string) *prometheus.Desc {
	return describe(name, help, append([]string{"device", "port", "peer", "incarnation", "remote"}, more...)...)
}

var (
	controllerInfo = describe("controller_info", "The controller, by mode. In observe mode refusals are those that enforce would have made.", "mode")
	admissions     = describe("admissions_total", "Slices that were admitted, as the engine counts them.")

	deviceWindow         = describe("device_window_bytes", "Byte window that all routes of a local device share.", "device")
	deviceInFlight       = describe("device_in_flight_bytes", "Bytes that permits have reserved on a device.", "device")
	deviceDelivered      = describe("device_delivered_bytes_total", "Bytes that were delivered on a device.", "device")
	deviceDrain          = describe("device_drain_time_seconds", "Time that the bytes in flight on a device take to be delivered, in the latest control epoch with deliveries.", "device")
	devicePressure       = describe("device_pressure", "What the latest control epoch of a device showed: 1 for its pressure, 0 for the others.", "device", "pressure")
	deviceRoutes         = describe("device_routes", "Routes of a device, by state.", "device", "state")
	devicePauseLeft      = describe("device_pause_left_seconds", "Time that the longest pause of the device's routes still runs.", "device")
	deviceExhausted      = describe("device_exhausted", "1 if no route of a device is usable.", "device")
	deviceExhaustedPorts = describe("device_exhausted_ports", "Ports of a device on which no route is usable.", "device")
	refusals             = describe("refusals_total", "Slices that were refused, by answer, reason and the window that refused.", "device", "answer", "reason", "domain")

	transitions = describe("transitions_total", "Changes of routes' states, by new state and reason.", "device", "to", "reason")
	notices     = describe("notices_total", "Notices about routes.", "device", "notice")

	pauses       = describe("pauses", "Pauses of NIC pairs in the process, by phase: cooldown, or trial_due when only a trial is missing.", "phase")
	tableEntries = describe("pause_table_entries", "NIC pairs of which the process remembers failures.")
	tableGivenUp = describe("pause_table_given_up_total", "NIC pairs that were forgotten because the table was full.")

	routeWindow    = describeRoute("route_window_bytes", "Byte window of a route.")
	routeInFlight  = describeRoute("route_in_flight_bytes", "Bytes that permits have reserved on a route.")
	routeDelivered = describeRoute("route_delivered_bytes_total", "Bytes that were delivered on a route.")
	routeDrain     = describeRoute("route_drain_time_seconds", "Time that the bytes in flight on a route take to be delivered, in the latest control epoch with deliveries.")
	routeState     = describeRoute("route_state", "State of a route: 1 for the one that it is in, 0 for the others.", "state")
	routeFailures  = describeRoute("route_failures", "Failures of a route that were counted in a row.")
	routePauseLeft = describeRoute("route_pause_left_seconds", "Time that a route's pause still runs.")
	routeRefusals  = describeRoute("route_refusals_total", "Slices that a route refused, by answer, reason and the window that refused.", "answer", "reason", "domain")
	routesLeftOut  = describe("routes_left_out", "Routes that have no series of their own.")
)
