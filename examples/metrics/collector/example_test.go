package collector_test

import (
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/metrics/collector"
	"github.com/rdmagate/rdmagate/rail"
)

// An engine registers a collector of its controller, here with series of the ten busiest
// routes.
func Example() {
	var seen collector.Transitions
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	ctl, err := cc.New(cfg, cc.WithTransitions(seen.Add))
	if err != nil {
		log.Fatal(err)
	}
	defer ctl.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector.Collector{
		Controller:  ctl,
		Transitions: &seen,
		Routes:      collector.First(10, collector.ByInFlight),
	})

	if _, err := ctl.Route(rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}); err != nil {
		log.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "rdmagate_route_window_bytes" {
			fmt.Println(f.GetHelp(), f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	// Output: Byte window of a route. 65536
}
