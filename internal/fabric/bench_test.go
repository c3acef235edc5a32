package fabric

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// How fast the simulator is: an incast of 64 on 128 hosts, lossless.
func BenchmarkIncast(b *testing.B) {
	var events uint64
	for b.Loop() {
		_, _, s := incast(b, htsim(1), 64)
		events += s.Events()
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// The same with DCQCN: 64 pairs with 8 QPs each, 8 pairs to a receiver, for 5 ms.
func BenchmarkDCQCN(b *testing.B) {
	var events uint64
	for b.Loop() {
		s := mustNew(b, Config{
			Seed: 1, Topology: FatTree(8), DCQCN: PaperDCQCN(), Switch: SwitchConfig{ECN: DeploymentECN(100e9)},
		})
		for i := range 64 {
			for range 8 {
				p := connect(b, s, s.NIC(i, 0), s.NIC(64+i%8*8, 0), DefaultQP())
				require.NoError(b, p.q.Post(WR{Bytes: 1 << 30}))
			}
		}
		s.Run(5 * time.Millisecond)
		events += s.Events()
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
