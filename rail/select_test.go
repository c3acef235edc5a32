package rail

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
)

// nics makes usable NICs from texts such as "a", or "a@1" for NUMA node 1.
func nics(list ...string) []NIC {
	var all []NIC
	for _, text := range list {
		name, node, found := strings.Cut(text, "@")
		n := NIC{Name: name, Port: 1}
		if found {
			var id int
			if _, err := fmt.Sscan(node, &id); err != nil {
				panic(err)
			}
			n.NUMA = NodeOf(id)
		}
		all = append(all, n)
	}
	return all
}

func mustMap(t testing.TB, c MapConfig) *Map {
	t.Helper()
	if c.Peer == "" {
		c.Peer = "host-b"
	}
	m, err := NewMap(c)
	require.NoError(t, err)
	return m
}

// order returns what Select lists, as "a>b a>c".
func order(m *Map, w Want) string {
	list, _ := m.Select(nil, w)
	var texts []string
	for _, c := range list {
		texts = append(texts, c.Local+">"+c.Remote)
	}
	return strings.Join(texts, " ")
}

// by returns a function that looks a path up, such as "a>b".
func by[T any](of map[string]T) func(*Path) T {
	return func(p *Path) T { return of[p.Local+">"+p.Remote] }
}

// Each rule of the order alone, and each above the next.
func TestOrder(t *testing.T) {
	ab := MapConfig{Local: nics("a", "b"), Remote: nics("a", "b")}
	numa := MapConfig{Local: nics("a@0", "b@1"), Remote: nics("a@0", "b@1")}
	other := MapConfig{Local: nics("a@0", "b@1", "c"), Remote: nics("x@1", "z", "y@0")}
	crossed := func() MapConfig { // a is far from itself
		return MapConfig{Local: nics("a@0", "b@1"), Remote: nics("a@1", "b@0")}
	}()
	tests := []struct {
		name string
		c    MapConfig
		w    Want
		want string
	}{
		{"same rail first", ab, Want{}, "a>a b>b a>b b>a"},
		{"near the local buffer", numa, Want{Local: NodeOf(1)}, "b>b a>a b>a a>b"},
		{"near the remote buffer", numa, Want{Remote: NodeOf(1)}, "b>b a>a a>b b>a"},
		{"node 0 is a node", numa, Want{Local: NodeOf(0)}, "a>a b>b a>b b>a"},
		{"near both", numa, Want{Local: NodeOf(1), Remote: NodeOf(1)}, "b>b a>a a>b b>a"},
		{"near both, across rails", MapConfig{Local: nics("a@0", "b@1", "c@1"), Remote: nics("a@0", "x@1", "y@0")},
			Want{Local: NodeOf(1), Remote: NodeOf(1)}, "a>a b>x c>x c>y a>x b>y c>a b>a a>y"},
		{"an unknown node is between near and far", other, Want{Local: NodeOf(1)}, "b>z c>y a>x b>y b>x c>x c>z a>z a>y"},
		{"an unknown node is not node 0", MapConfig{Local: nics("a", "b@1", "c@0"), Remote: nics("x")}, Want{Local: NodeOf(0)}, "c>x a>x b>x"},
		{"nor is an unknown buffer", MapConfig{Local: nics("a", "b@1", "c@0"), Remote: nics("r", "s", "t")}, Want{}, "a>r b>s c>t a>s b>t c>r a>t b>r c>s"},
		{"same rail above NUMA nodes", crossed, Want{Local: NodeOf(0), Remote: NodeOf(0)}, "a>a b>b a>b b>a"},
		{"less load first", ab, Want{Load: by(map[string]int64{"a>a": 2, "b>b": 1, "a>b": 1})}, "b>b a>a b>a a>b"},
		{"NUMA nodes above load", numa, Want{Local: NodeOf(1), Load: by(map[string]int64{"b>b": 9})}, "b>b a>a b>a a>b"},
		{"same rail above load", ab, Want{Load: by(map[string]int64{"a>a": 9, "b>b": 9})}, "a>a b>b a>b b>a"},
		{"a load below 0 is 0", ab, Want{Load: by(map[string]int64{"b>b": -9})}, "a>a b>b a>b b>a"},
		{"on any path", ab, Want{Load: by(map[string]int64{"a>a": -9})}, "a>a b>b a>b b>a"},
		{"suspect after healthy", ab, Want{Standing: by(map[string]Standing{"a>a": Suspect})}, "b>b a>b b>a a>a"},
		{"paused after suspect", ab, Want{Standing: by(map[string]Standing{"a>a": Paused, "b>a": Suspect})}, "b>b a>b b>a a>a"},
		{"an unknown standing is paused", ab, Want{Standing: by(map[string]Standing{"a>a": 77, "b>b": Paused, "b>a": Suspect})}, "a>b b>a a>a b>b"},
		{"standing above NUMA nodes and load", numa, Want{Local: NodeOf(0), Standing: by(map[string]Standing{"a>a": Suspect, "a>b": Suspect}),
			Load: by(map[string]int64{"b>b": 9, "b>a": 9})}, "b>b b>a a>a a>b"},
		{"turn 1", ab, Want{Turn: 1}, "b>b a>a b>a a>b"},
		{"turn 2 is turn 0", ab, Want{Turn: 2}, "a>a b>b a>b b>a"},
		{"the last turn", ab, Want{Turn: 1<<64 - 1}, "b>b a>a b>a a>b"},
		{"load above turn", ab, Want{Turn: 1, Load: by(map[string]int64{"b>b": 1})}, "a>a b>b b>a a>b"},
		{"a turn spreads the paused too", ab, Want{Turn: 1, Standing: func(*Path) Standing { return Paused }}, "b>b a>a b>a a>b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, order(mustMap(t, tt.c), tt.w))
		})
	}
}

// Load counts by speed; what is to be placed counts too.
func TestSpeed(t *testing.T) {
	rated := func(local, remote float64) MapConfig {
		c := MapConfig{Local: nics("a", "b"), Remote: nics("a", "b")}
		c.Local[0].Rate, c.Remote[0].Rate = local, remote
		c.Local[1].Rate, c.Remote[1].Rate = 100, 100
		return c
	}
	first := func(c MapConfig, w Want) string { return order(mustMap(t, c), w)[:3] }
	load := by(map[string]int64{"a>a": 300, "b>b": 100})
	assert.Equal(t, "a>a", first(rated(400, 400), Want{Load: load}), "300 bytes at 400 Gb/s are done before 100 at 100")
	assert.Equal(t, "b>b", first(rated(400, 100), Want{Load: load}), "the slower end counts")
	assert.Equal(t, "b>b", first(rated(100, 400), Want{Load: load}), "on either side")
	assert.Equal(t, "a>a", first(rated(400, 0), Want{Load: load}), "one end is known")
	assert.Equal(t, "b>b", first(rated(0, 0), Want{Load: load}), "an unknown speed is the slowest known, 100")
	assert.Equal(t, "a>a", first(rated(0, 0), Want{Load: by(map[string]int64{"a>a": 99, "b>b": 100})}), "and no slower")

	slowest := rated(0, 0)
	slowest.Local[1].Rate, slowest.Remote[1].Rate = 0.5, 0.5
	assert.Equal(t, "a>a", first(slowest, Want{Load: by(map[string]int64{"a>a": 99, "b>b": 100})}), "the slowest may be slower than 1 Gb/s")
	assert.Equal(t, "b>b", first(slowest, Want{Load: by(map[string]int64{"a>a": 150, "b>b": 100})}))

	slow := rated(10, 10)
	assert.Equal(t, "a>a", first(slow, Want{}), "without load and bytes speed has no say")
	assert.Equal(t, "b>b", first(slow, Want{Bytes: 1}))
	assert.Equal(t, "b>b", first(slow, Want{Bytes: 100, Load: by(map[string]int64{"b>b": 800})}), "900 at 100 Gb/s before 100 at 10")
	assert.Equal(t, "a>a", first(slow, Want{Bytes: 100, Load: by(map[string]int64{"b>b": 1000})}), "1100 at 100 Gb/s after 100 at 10")
	assert.Equal(t, "b>b", first(slow, Want{Bytes: 1, Load: func(*Path) int64 { return 1<<63 - 1 }}), "the greatest load does not overflow")
	assert.Equal(t, "a>a", first(slow, Want{Bytes: -1}), "fewer bytes than none are none")
}

func TestOutcome(t *testing.T) {
	m := mustMap(t, MapConfig{Local: nics("a", "b"), Remote: nics("a", "b")})
	ask := func(m *Map, standing func(*Path) Standing) (int, Outcome) {
		list, outcome := m.Select(nil, Want{Standing: standing})
		return len(list), outcome
	}
	all := func(s Standing) func(*Path) Standing { return func(*Path) Standing { return s } }
	n, outcome := ask(m, nil)
	assert.Equal(t, 4, n)
	assert.Equal(t, Found, outcome)
	assert.Equal(t, classify.ReasonNone, outcome.Reason())

	n, outcome = ask(m, all(Suspect))
	assert.Equal(t, 4, n)
	assert.Equal(t, Found, outcome, "a suspect path may carry something")

	n, outcome = ask(m, all(Paused))
	assert.Equal(t, 4, n, "paused paths are listed")
	assert.Equal(t, AllPaused, outcome)
	assert.Equal(t, classify.ReasonNoUsablePath, outcome.Reason())

	n, outcome = ask(m, func(p *Path) Standing {
		if p.Index == 3 {
			return Healthy
		}
		return Paused
	})
	assert.Equal(t, 4, n)
	assert.Equal(t, Found, outcome, "one is enough")

	down := nics("a", "b")
	for i := range down {
		down[i].Unusable = "port 1 is down"
	}
	for name, none := range map[string]*Map{
		"excluded":  mustMap(t, MapConfig{Local: down, Remote: nics("a")}),
		"no local":  mustMap(t, MapConfig{Remote: nics("a")}),
		"no remote": mustMap(t, MapConfig{Local: nics("a")}),
		"nothing":   mustMap(t, MapConfig{}),
	} {
		n, outcome = ask(none, all(Paused))
		assert.Zero(t, n, name)
		assert.Equal(t, NoPath, outcome, name)
		assert.Equal(t, classify.ReasonNoUsablePath, outcome.Reason(), name)
	}
}

// Each path of the largest map gets its turn, and the index of a path says nothing
// about its cost.
func TestLargestMap(t *testing.T) {
	var c MapConfig
	for i := range MaxNICs {
		c.Local = append(c.Local, NIC{Name: fmt.Sprint("a", i), Port: 1})
		c.Remote = append(c.Remote, NIC{Name: fmt.Sprint("b", i), Port: 1})
	}
	c.Local, c.Remote = append(c.Local[1:], NIC{Name: "same", Port: 1}), append(c.Remote[1:], NIC{Name: "same", Port: 1})
	m := mustMap(t, c)
	paths := m.Paths()
	require.Len(t, paths, MaxNICs*MaxNICs)
	others := len(paths) - 1 // those of other names
	var list []Choice
	for _, turn := range []uint64{0, 1, 40_000, uint64(others) - 1, uint64(others)} {
		list, _ = m.Select(list, Want{Turn: turn})
		require.True(t, list[0].SameRail())
		want := int(turn) % others
		if want >= list[0].Index {
			want++
		}
		require.Equal(t, want, list[1].Index, "turn %d", turn)
	}
	// The last costs less than the others by the least that can be told.
	last := len(paths) - 1
	list, _ = m.Select(list, Want{Turn: 1, Load: func(p *Path) int64 {
		if p.Index == last {
			return 1 << 23
		}
		return 1<<23 + 1
	}})
	assert.Equal(t, last, list[1].Index)
}

// A question changes nothing: the same one has the same answer, whatever was asked
// between, and the memory of the list is all that is written to.
func TestSelectChangesNothing(t *testing.T) {
	m := mustMap(t, eightByEight(MapConfig{}))
	paths := slices.Clone(m.Paths())
	w := Want{Local: NodeOf(1), Remote: NodeOf(0), Turn: 5}
	first, _ := m.Select(nil, w)
	buffer := slices.Clone(first)
	for turn := range uint64(9) {
		buffer, _ = m.Select(buffer, Want{Turn: turn, Standing: func(p *Path) Standing { return Standing(p.Index % 3) }, Load: func(p *Path) int64 { return int64(p.Index) }})
	}
	again, _ := m.Select(buffer[:0], w)
	assert.Equal(t, first, again)
	assert.Equal(t, paths, m.Paths())

	calls := map[string]int{}
	again, _ = m.Select(again, Want{
		Standing: func(p *Path) Standing { calls["standing"]++; return Healthy },
		Load:     func(p *Path) int64 { calls["load"]++; return 0 },
	})
	assert.Equal(t, map[string]int{"standing": len(again), "load": len(again)}, calls, "each function once for each path")
}

func TestSelectDoesNotAllocate(t *testing.T) {
	m := mustMap(t, eightByEight(MapConfig{}))
	list, _ := m.Select(nil, Want{})
	w := Want{Local: NodeOf(0), Remote: NodeOf(1), Bytes: 1 << 20,
		Standing: func(p *Path) Standing { return Standing(p.Index % 3) }, Load: func(p *Path) int64 { return int64(p.Index % 7) }}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		w.Turn++
		list, _ = m.Select(list, w)
	}))
}

// eightByEight adds eight NICs of two NUMA nodes on either side.
func eightByEight(c MapConfig) MapConfig {
	c.Local, c.Remote = nil, nil
	for i := range 8 {
		n := NIC{Name: fmt.Sprintf("mlx5_%d", i), Port: 1, NUMA: NodeOf(i / 4), Link: LinkEthernet, Rate: 400}
		n.Addrs = addrs(fmt.Sprintf("10.0.%d.1", i))
		c.Local = append(c.Local, n)
		n.Addrs = addrs(fmt.Sprintf("10.0.%d.2", i))
		c.Remote = append(c.Remote, n)
	}
	return c
}
