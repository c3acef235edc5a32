package collector

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/rail"
)

const costRoutes = 2000

// crowd returns a controller with many routes on four devices.
func crowd(t testing.TB) *cc.Controller {
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	ctl, err := cc.New(cfg)
	require.NoError(t, err)
	t.Cleanup(ctl.Close)
	for i := range costRoutes {
		_, err := ctl.Route(rail.Pair{Peer: fmt.Sprintf("host-%d", i/8), Local: fmt.Sprintf("mlx5_%d", i%4), Port: 1, Remote: fmt.Sprintf("mlx5_%d", i%8)})
		require.NoError(t, err)
	}
	return ctl
}

// A scrape costs little beside the snapshot that it takes, unless every route has series.
// The least of many turns counts, since others may use the machine meanwhile.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement")
	}
	ctl := crowd(t)
	metrics := make(chan prometheus.Metric, 1024)
	go func() {
		for range metrics {
		}
	}()
	defer close(metrics)
	scrape := func(pick Pick) func() {
		c := &Collector{Controller: ctl, Routes: pick}
		return func() { c.Collect(metrics) }
	}
	kinds := []struct {
		name string
		do   func()
		most float64 // times a snapshot
	}{
		{"a snapshot", func() { ctl.Snapshot() }, 1},
		{"devices only", scrape(nil), 2},
		{"20 routes", scrape(First(20, ByInFlight)), 4},
		{"all routes", scrape(All), 200},
	}
	least := make([]time.Duration, len(kinds))
	for range 30 {
		for i, k := range kinds {
			began := time.Now()
			for range 5 {
				k.do()
			}
			if took := time.Since(began); least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	for i, k := range kinds {
		ratio := float64(least[i]) / float64(least[0])
		t.Logf("%s: %.2f times a snapshot of %d routes", k.name, ratio, costRoutes)
		assert.LessOrEqual(t, ratio, k.most, k.name)
	}
}
