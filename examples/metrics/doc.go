// Metrics runs the example engine on a simulated fabric, with faults, and serves what
// operators of a real one want to have:
//
//	go -C examples/metrics run .            # then open what it prints
//
//	/metrics     for Prometheus, by package collector
//	/debug/vars  the same snapshot as JSON, by expvar
//	/            the page of examples/top
//
// dashboard.json is a dashboard for Grafana: import it and choose the Prometheus that
// scrapes /metrics. Nothing in it asks for more than package collector exports. Its last
// row needs series of single routes; -routes says of how many:
//
//	none   no routes (the default of package collector)
//	N      the N that need attention most
//	all    every route
//
// alerts.yml is a file of rules for Prometheus: what to be woken by, and where to look then.
//
// To see it all on one machine, with the Debian package prometheus:
//
//	prometheus --config.file examples/metrics/prometheus.yml --storage.tsdb.path /tmp/rdmagate-tsdb
package main
