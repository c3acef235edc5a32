package rail

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Workers that take the first path of their turn are spread evenly: no path of the
// best class has more than one worker above any other.
func TestTurnsSpread(t *testing.T) {
	tests := []struct {
		name    string
		c       MapConfig
		w       Want
		classes int // paths in the best class
	}{
		{"same rails", eightByEight(MapConfig{}), Want{}, 8},
		{"near ones", eightByEight(MapConfig{}), Want{Local: NodeOf(1), Remote: NodeOf(1)}, 4},
		{"no rails", MapConfig{Local: nics("a", "b", "c"), Remote: nics("v", "w", "x", "y", "z")}, Want{}, 15},
		{"some suspect", eightByEight(MapConfig{}), Want{Standing: func(p *Path) Standing {
			if p.LocalNIC < 3 {
				return Suspect
			}
			return Healthy
		}}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustMap(t, tt.c)
			for workers := 1; workers <= 40; workers++ {
				onPath, onLocal, onRemote := map[int]int{}, map[string]int{}, map[string]int{}
				var list []Choice
				for worker := range workers {
					tt.w.Turn = uint64(worker)
					list, _ = m.Select(list, tt.w)
					onPath[list[0].Index]++
					onLocal[list[0].Local]++
					onRemote[list[0].Remote]++
				}
				assert.Len(t, onPath, min(workers, tt.classes), "%d workers", workers)
				assert.LessOrEqual(t, most(onPath)-(workers/tt.classes), 1, "%d workers", workers)
				if tt.classes <= 8 { // one path for each NIC
					assert.Equal(t, most(onPath), most(onLocal))
					assert.Equal(t, most(onPath), most(onRemote))
				}
			}
		})
	}
}

func most[K comparable](counts map[K]int) int {
	n := 0
	for _, count := range counts {
		n = max(n, count)
	}
	return n
}

// Slices that are placed one after the other by the load that the earlier ones left
// fill the paths by their speed.
func TestLoadSpreadsBySpeed(t *testing.T) {
	c := eightByEight(MapConfig{})
	for i := range c.Local {
		if i >= 4 {
			c.Local[i].Rate = 100 // and 400 for the rest
		}
	}
	m := mustMap(t, c)
	load := make([]int64, len(m.Paths()))
	w := Want{Bytes: 1, Load: func(p *Path) int64 { return load[p.Index] }}
	var list []Choice
	for turn := range uint64(8 * 250) {
		w.Turn = turn
		list, _ = m.Select(list, w)
		load[list[0].Index]++
	}
	for _, p := range m.Paths() {
		want := 0.0
		if p.SameRail() {
			want = map[bool]float64{true: 400, false: 100}[p.LocalNIC < 4]
		}
		assert.InDelta(t, want, float64(load[p.Index]), 2, "%v", p.Pair)
	}
}
