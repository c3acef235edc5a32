// Package collector makes Prometheus metrics of a controller:
//
//	var seen collector.Transitions
//	ctl, err := cc.New(cfg, cc.WithTransitions(seen.Add))
//	...
//	prometheus.MustRegister(&collector.Collector{Controller: ctl, Transitions: &seen})
//
// That is all that a process needs. Each scrape takes one [cc.Controller.Snapshot], which
// stops nothing. Where a process has several controllers, wrap the registerer:
//
//	r := prometheus.WrapRegistererWith(prometheus.Labels{"controller": "kv"}, prometheus.DefaultRegisterer)
//
// # Metrics
//
// Of each local device, with the label device:
//
//	rdmagate_device_window_bytes, rdmagate_device_in_flight_bytes
//	rdmagate_device_delivered_bytes_total
//	rdmagate_device_drain_time_seconds       of the bytes in flight; absent until observed
//	rdmagate_device_pressure                 by pressure: 1 for what the latest epoch showed
//	rdmagate_device_routes                   by state: how many routes are in it
//	rdmagate_device_pause_left_seconds       of the longest pause among its routes
//	rdmagate_device_exhausted                1 if no route is usable
//	rdmagate_device_exhausted_ports          how many ports have no usable route
//	rdmagate_refusals_total                  by answer, reason and domain
//
// Of the controller:
//
//	rdmagate_controller_info                 by mode; in observe refusals are those that enforce would have made
//	rdmagate_transitions_total               by device, new state and reason; with [Collector.Transitions]
//	rdmagate_notices_total                   by device and notice; with [Collector.Transitions]
//	rdmagate_admissions_total                with [Collector.Admissions]
//	rdmagate_pauses                          by phase, of the process; with [Collector.Pauses]
//	rdmagate_pause_table_entries, rdmagate_pause_table_given_up_total
//
// Of single routes, with the labels device, port, peer, incarnation and remote, for those
// that [Collector.Routes] picks:
//
//	rdmagate_route_window_bytes, rdmagate_route_in_flight_bytes
//	rdmagate_route_delivered_bytes_total
//	rdmagate_route_drain_time_seconds
//	rdmagate_route_state                     by state: 1 for the one that it is in
//	rdmagate_route_failures                  counted in a row
//	rdmagate_route_pause_left_seconds
//	rdmagate_route_refusals_total            by answer, reason and domain
//	rdmagate_routes_left_out                 how many routes were not picked
//
// # How many series
//
// A device has up to 25 series, a route up to 19. A machine may have thousands of routes,
// and each new incarnation of a peer makes new ones: so routes have no series of their
// own unless asked for, and then best a bounded number of them.
//
// A route's counters begin at 0 again when it was closed and made anew, which Prometheus
// takes for a restart, as it is. Those of devices and of the controller never fall.
//
// Names that are no valid UTF-8, which a controller takes and a label does not, are
// quoted as Go does it. So are names that begin with a quotation mark: no two names become
// one label.
package collector
