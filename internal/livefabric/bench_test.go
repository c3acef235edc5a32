package livefabric

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/verbs"
)

// How many packets a second this machine simulates, with the bytes that they carry: four
// pairs of NICs, slices of 64 KiB.
func BenchmarkPackets(b *testing.B) {
	for _, op := range []verbs.Opcode{verbs.OpWrite, verbs.OpRead} {
		b.Run(op.String(), func(b *testing.B) {
			const slice, each = 64 * kib, 16
			n, err := New(testConfig())
			require.NoError(b, err)
			defer n.Close()
			cfg := testQP()
			cfg.Timeout = 20
			var ends [4][2]*end
			for i := range ends {
				ends[i][0], ends[i][1] = connect(b, n, i, i, each*slice, cfg)
			}
			packets := 0
			for b.Loop() {
				for _, pair := range ends {
					for k := range each {
						pair[0].post(pair[0].wr(0, op, pair[1], k*slice, slice))
						packets += slice / mtu
					}
				}
				n.mu.Lock()
				n.sim.Drain() // far ahead of the clock, which never catches up
				n.mu.Unlock()
				for _, pair := range ends {
					require.Len(b, pair[0].results(), each)
				}
			}
			b.ReportMetric(float64(packets)/b.Elapsed().Seconds(), "packets/s")
		})
	}
}
