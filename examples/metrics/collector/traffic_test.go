package collector

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// While slices are admitted, refused, lost and given back, and routes are closed and made
// anew, several scrapers look at once: no counter of a device ever falls, and at rest all
// is what was moved.
func TestCountersNeverFall(t *testing.T) {
	var seen Transitions
	cfg := cc.DefaultConfig()
	cfg.Mode, cfg.HardErrorThreshold, cfg.Cooldown = cc.Enforce, 3, time.Millisecond
	ctl, err := cc.New(cfg, cc.WithTransitions(seen.Add))
	require.NoError(t, err)
	defer ctl.Close()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&Collector{Controller: ctl, Transitions: &seen, Routes: All})

	const workers, lives, scrapers = 3, 40, 2
	delivered := make([]atomic.Int64, workers) // by device
	var posting, scraping sync.WaitGroup
	for w := range workers {
		posting.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 7))
			for life := range lives {
				lead(t, ctl, w, life, random, &delivered[w])
			}
		})
	}
	over := make(chan struct{})
	var scrapes atomic.Int64
	for range scrapers {
		scraping.Go(func() {
			before := map[string]float64{}
			for last := false; !last; scrapes.Add(1) {
				select {
				case <-over:
					last = true
				default:
				}
				for series, v := range counters(t, registry) {
					if v < before[series] {
						t.Errorf("%s fell from %v to %v", series, before[series], v)
					}
					before[series] = v
				}
			}
		})
	}
	posting.Wait()
	close(over)
	scraping.Wait()
	now := counters(t, registry)
	for w := range workers {
		series := fmt.Sprintf("rdmagate_device_delivered_bytes_total device=mlx5_%d", w)
		assert.Equal(t, float64(delivered[w].Load()), now[series], series)
	}
	for _, d := range ctl.Snapshot().Devices {
		for _, r := range d.Refusals {
			series := fmt.Sprintf("rdmagate_refusals_total answer=%s device=%s domain=%s reason=%s", r.Answer(), d.Device, r.Domain, r.Reason)
			assert.Equal(t, float64(r.Count), now[series], series)
		}
	}
	t.Log(scrapes.Load(), "scrapes")
}

// lead leads one life of a route: slices of all fates, and its end.
func lead(t *testing.T, ctl *cc.Controller, device, life int, random *rand.Rand, delivered *atomic.Int64) {
	const slice = 16 << 10
	route, err := ctl.Route(rail.Pair{Peer: "host-b", Local: fmt.Sprintf("mlx5_%d", device), Port: 1, Remote: "mlx5_0"})
	if !assert.NoError(t, err) {
		return
	}
	defer route.Close()
	var gen cc.Generation
	qp := uint64(device)<<32 | uint64(life)<<16
	renew := func() {
		qp++
		gen, err = route.Renew(gen, []cc.QP{{ID: qp}})
		assert.NoError(t, err)
	}
	renew()
	var permits [24]cc.Permit
	for range 40 {
		var uses [len(permits)]cc.Use
		failed := false
		for i := range permits {
			d := route.TryAcquire(&permits[i], gen, slice, nil)
			if !d.Admitted() {
				continue
			}
			if random.IntN(8) == 0 || permits[i].Posting(qp, ctl.Now()) != nil {
				permits[i].Unposted()
				continue
			}
			uses[i] = d.Use
		}
		for i, use := range uses {
			switch {
			case use == 0:
			case random.IntN(100) == 0:
				failed = true
				permits[i].Settle(use, classify.Completion(classify.StatusRetryExcErr, 0), ctl.Now())
			default:
				permits[i].Settle(use, classify.Completion(classify.StatusSuccess, 0), ctl.Now())
				delivered.Add(slice)
			}
		}
		ctl.Tick(ctl.Now())
		if failed || route.Snapshot().NeedsRenew {
			renew()
		}
	}
}

// counters gathers all counters that must not fall: those of single routes do when the
// route is made anew.
func counters(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	families, err := g.Gather()
	if !assert.NoError(t, err) {
		return nil
	}
	all := map[string]float64{}
	for _, f := range families {
		name := f.GetName()
		if f.GetType() != dto.MetricType_COUNTER || name == "rdmagate_route_delivered_bytes_total" || name == "rdmagate_route_refusals_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			series := name
			for _, l := range m.GetLabel() {
				series += fmt.Sprintf(" %s=%s", l.GetName(), l.GetValue())
			}
			all[series] = m.GetCounter().GetValue()
		}
	}
	return all
}
