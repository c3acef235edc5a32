package rail

import (
	"testing"
)

// BenchmarkSelect asks for a path between eight NICs and eight. The floor calls both
// of the caller's functions for each pair and keeps the best, with no order and no
// rules: what a caller would write who wants nothing but a path.
func BenchmarkSelect(b *testing.B) {
	m := mustMap(b, eightByEight(MapConfig{}))
	load := make([]int64, len(m.Paths()))
	for i := range load {
		load[i] = int64(i * 7919 % 64)
	}
	busy := Want{
		Local: NodeOf(0), Remote: NodeOf(1), Bytes: 64 << 10,
		Standing: func(*Path) Standing { return Healthy },
		Load:     func(p *Path) int64 { return load[p.Index] },
	}
	for _, bm := range []struct {
		name string
		m    *Map
		w    Want
	}{
		{"idle", m, Want{}},
		{"busy", m, busy},
		{"busy, rails only", mustMap(b, eightByEight(MapConfig{IPv4Bits: 24})), busy},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			var list []Choice
			w := bm.w
			for b.Loop() {
				w.Turn++
				list, _ = bm.m.Select(list, w)
			}
		})
	}
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		var best *Path
		for b.Loop() {
			for _, p := range m.usable {
				if busy.Standing(p) == Healthy && (best == nil || busy.Load(p) < busy.Load(best)) {
					best = p
				}
			}
		}
		sinkPath = best
	})
}

var sinkPath *Path
