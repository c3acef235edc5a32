package rail

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// filed makes a rail file from texts such as "a>b".
func filed(all, direct string) *File {
	list := func(text string) []FilePair {
		var pairs []FilePair
		for pair := range strings.FieldsSeq(text) {
			local, remote, _ := strings.Cut(pair, ">")
			pairs = append(pairs, FilePair{Local: local, Remote: remote})
		}
		return pairs
	}
	return &File{All: list(all), Direct: list(direct)}
}

// at gives the first NIC addresses, and so on.
func at(nics []NIC, list ...string) []NIC {
	for i, text := range list {
		nics[i].Addrs = addrs(strings.Fields(text)...)
	}
	return nics
}

func unusable(nics []NIC, i int, why string) []NIC {
	nics[i].Unusable = why
	return nics
}

func linked(nics []NIC, list ...Link) []NIC {
	for i, link := range list {
		nics[i].Link = link
	}
	return nics
}

func TestExclusions(t *testing.T) {
	const eth, ib, none = LinkEthernet, LinkInfiniBand, LinkUnknown
	type want struct {
		excluded Exclusion
		why      string
	}
	tests := []struct {
		name string
		c    MapConfig
		want map[string]want // of the pairs that are excluded
	}{
		{"nothing is known", MapConfig{Local: nics("a", "b"), Remote: nics("a")}, nil},
		{"unusable local", MapConfig{Local: unusable(nics("a", "b"), 0, "port 1 is down"), Remote: nics("a")},
			map[string]want{"a>a": {UnusableNIC, "local NIC: port 1 is down"}}},
		{"unusable remote", MapConfig{Local: nics("a"), Remote: unusable(nics("a", "b"), 1, "it was gone")},
			map[string]want{"a>b": {UnusableNIC, "remote NIC: it was gone"}}},
		{"link layers", MapConfig{Local: linked(nics("a", "b", "c"), eth, ib, none), Remote: linked(nics("r", "s", "u"), eth, ib, none)},
			map[string]want{"a>s": {OtherLink, "other link layer: local Ethernet, remote InfiniBand"}, "b>r": {OtherLink, "other link layer: local InfiniBand, remote Ethernet"}}},
		{"not in the file", MapConfig{Local: nics("a", "b"), Remote: nics("a", "b"), File: filed("a>b b>b", "")},
			map[string]want{"a>a": {NotInFile, "not in the rail file"}, "b>a": {NotInFile, "not in the rail file"}}},
		{"other subnet", MapConfig{IPv4Bits: 28, Local: at(nics("a", "b"), "10.0.0.1", "10.0.0.17"), Remote: at(nics("a", "b"), "10.0.0.2", "10.0.0.18")},
			map[string]want{"a>b": {OtherSubnet, "other subnet: local in 10.0.0.0/28, remote in 10.0.0.16/28"}, "b>a": {OtherSubnet, "other subnet: local in 10.0.0.16/28, remote in 10.0.0.0/28"}}},
		{"a wider prefix", MapConfig{IPv4Bits: 24, Local: at(nics("a", "b"), "10.0.0.1", "10.0.0.17"), Remote: at(nics("a", "b"), "10.0.0.2", "10.0.0.18")}, nil},
		{"no prefix", MapConfig{Local: at(nics("a", "b"), "10.0.0.1", "10.0.0.17"), Remote: at(nics("a", "b"), "10.0.0.2", "10.0.0.18")}, nil},
		{"IPv6", MapConfig{IPv6Bits: 64, Local: at(nics("a"), "fd00:0:0:1::1"), Remote: at(nics("a", "b"), "fd00:0:0:1::2", "fd00:0:0:2::2")},
			map[string]want{"a>b": {OtherSubnet, "other subnet: local in fd00:0:0:1::/64, remote in fd00:0:0:2::/64"}}},
		{"addresses are not known", MapConfig{IPv4Bits: 28, Local: at(nics("a", "b"), "10.0.0.1"), Remote: at(nics("a"), "10.0.0.2")}, nil},
		// The management NIC of either host reaches its like, and no rail NIC.
		{"a management NIC", MapConfig{IPv4Bits: 24, Local: at(nics("m", "a", "b"), "192.168.0.1", "10.0.0.1", "10.0.0.17"), Remote: at(nics("m", "a", "b"), "192.168.0.2", "10.0.0.33", "10.0.0.49")},
			map[string]want{
				"m>a": {OtherSubnet, "other subnet: local in 192.168.0.0/24, remote in 10.0.0.0/24"}, "m>b": {OtherSubnet, "other subnet: local in 192.168.0.0/24, remote in 10.0.0.0/24"},
				"a>m": {OtherSubnet, "other subnet: local in 10.0.0.0/24, remote in 192.168.0.0/24"}, "b>m": {OtherSubnet, "other subnet: local in 10.0.0.0/24, remote in 192.168.0.0/24"}}},
		{"a file is above a prefix", MapConfig{IPv4Bits: 28, File: filed("a>b", ""), Local: at(nics("a", "b"), "10.0.0.1", "10.0.0.17"), Remote: at(nics("a", "b"), "10.0.0.2", "10.0.0.18")},
			map[string]want{"a>a": {NotInFile, "not in the rail file"}, "b>a": {NotInFile, "not in the rail file"}, "b>b": {NotInFile, "not in the rail file"}}},
		{"but not above what cannot be", MapConfig{File: filed("a>a b>a", ""), Local: linked(unusable(nics("a", "b"), 0, "gone"), none, ib), Remote: linked(nics("a"), eth)},
			map[string]want{"a>a": {UnusableNIC, "local NIC: gone"}, "b>a": {OtherLink, "other link layer: local InfiniBand, remote Ethernet"}}},
		{"every reason is told", MapConfig{File: filed("x>x", ""), Local: linked(unusable(nics("a"), 0, "gone"), ib), Remote: linked(unusable(nics("a"), 0, "down"), eth)},
			map[string]want{"a>a": {UnusableNIC, "local NIC: gone; remote NIC: down; other link layer: local InfiniBand, remote Ethernet; not in the rail file"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustMap(t, tt.c)
			got := map[string]want{}
			var allowed []string
			for _, p := range m.Paths() {
				if p.Excluded != Allowed {
					got[p.Local+">"+p.Remote] = want{p.Excluded, p.Why}
					assert.False(t, p.SameRail(), "an excluded pair is on no rail")
					continue
				}
				assert.Empty(t, p.Why)
				allowed = append(allowed, p.Local+">"+p.Remote)
			}
			if tt.want == nil {
				tt.want = map[string]want{}
			}
			assert.Equal(t, tt.want, got)
			assert.Len(t, m.Paths(), len(tt.c.Local)*len(tt.c.Remote), "every pair is there")
			assert.ElementsMatch(t, allowed, strings.Fields(order(m, Want{})), "what is allowed is listed, and nothing else")
		})
	}
}

func TestMatch(t *testing.T) {
	twoRails := func(local, remote []NIC) MapConfig {
		return MapConfig{IPv4Bits: 24, Local: at(local, "10.0.0.1", "10.0.1.1"), Remote: at(remote, "10.0.0.2", "10.0.1.2")}
	}
	tests := []struct {
		name string
		c    MapConfig
		want map[string]Match
	}{
		{"by name", MapConfig{Local: nics("a", "b"), Remote: nics("b", "a")}, map[string]Match{"a>a": SameName, "b>b": SameName}},
		{"whole names", MapConfig{Local: nics("mlx5_1", "mlx5_10"), Remote: nics("mlx5_10", "mlx5_1")}, map[string]Match{"mlx5_1>mlx5_1": SameName, "mlx5_10>mlx5_10": SameName}},
		{"no partner", MapConfig{Local: nics("a", "b"), Remote: nics("a", "c")}, map[string]Match{"a>a": SameName}},
		{"by position", MapConfig{Local: nics("a", "b"), Remote: nics("x", "y")}, map[string]Match{"a>x": SamePosition, "b>y": SamePosition}},
		{"not by position if a name tells", MapConfig{Local: nics("a", "b"), Remote: nics("b", "y")}, map[string]Match{"b>b": SameName}},
		{"even the name of a NIC that is down", MapConfig{Local: nics("a", "b"), Remote: unusable(nics("b", "y"), 0, "down")}, map[string]Match{}},
		{"nor if one side has more", MapConfig{Local: nics("a", "b"), Remote: nics("x")}, map[string]Match{}},
		{"nor in spite of an exclusion", MapConfig{Local: nics("a", "b"), Remote: unusable(nics("x", "y"), 0, "down")}, map[string]Match{"b>y": SamePosition}},
		{"both ports of a device", MapConfig{Local: []NIC{{Name: "a", Port: 1}, {Name: "a", Port: 2}, {Name: "b", Port: 1}}, Remote: nics("x", "y")}, map[string]Match{"a>x": SamePosition, "b>y": SamePosition}},
		{"by subnet", twoRails(nics("a", "b"), nics("x", "y")), map[string]Match{"a>x": SameSubnet, "b>y": SameSubnet}},
		// mlx5_0 of one host is cabled to what the other calls mlx5_1.
		{"equal names on different rails", twoRails(nics("a", "b"), nics("b", "a")), map[string]Match{"a>b": SameSubnet, "b>a": SameSubnet}},
		{"names within a subnet", MapConfig{IPv4Bits: 16, Local: at(nics("a", "b"), "10.0.0.1", "10.0.1.1"), Remote: at(nics("a", "b"), "10.0.0.2", "10.0.1.2")}, map[string]Match{"a>a": SameName, "b>b": SameName}},
		{"one without a namesake", MapConfig{IPv4Bits: 16, Local: at(nics("a", "c"), "10.0.0.1", "10.0.1.1"), Remote: at(nics("a", "b"), "10.0.0.2", "10.0.1.2")},
			map[string]Match{"a>a": SameName, "c>a": SameSubnet, "c>b": SameSubnet}},
		{"by file", MapConfig{File: filed("a>a a>b b>b b>a", "a>b b>a"), Local: nics("a", "b"), Remote: nics("a", "b")}, map[string]Match{"a>b": SameByFile, "b>a": SameByFile}},
		{"a file that is silent about b", MapConfig{File: filed("a>a a>b b>b", "a>b"), Local: nics("a", "b"), Remote: nics("a", "b")}, map[string]Match{"a>b": SameByFile}},
		{"a file without direct pairs", MapConfig{File: filed("a>a a>b", ""), Local: nics("a", "b"), Remote: nics("a", "b")}, map[string]Match{"a>a": SameName}},
		{"a direct pair that is down", MapConfig{File: filed("a>a a>b", "a>b"), Local: nics("a"), Remote: unusable(nics("a", "b"), 1, "down")}, map[string]Match{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := map[string]Match{}
			for _, p := range mustMap(t, tt.c).Paths() {
				if p.SameRail() {
					got[p.Local+">"+p.Remote] = p.Match
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestMapConfig(t *testing.T) {
	many := make([]NIC, MaxNICs+1)
	for i := range many {
		many[i] = NIC{Name: fmt.Sprint(i), Port: 1}
	}
	long := strings.Repeat("n", MaxName+1)
	tests := []struct {
		name  string
		c     MapConfig
		fault string // empty if there is none
	}{
		{"two ports", MapConfig{Peer: "p", Local: []NIC{{Name: "a", Port: 1}, {Name: "a", Port: 2}}, Remote: nics("a")}, ""},
		{"the most NICs", MapConfig{Peer: "p", Local: many[1:], Remote: nics("a")}, ""},
		{"whole addresses", MapConfig{Peer: "p", IPv4Bits: 32, IPv6Bits: 128}, ""},
		{"no peer", MapConfig{}, "peer name is empty"},
		{"long incarnation", MapConfig{Peer: "p", Incarnation: long}, "incarnation name"},
		{"local listed twice", MapConfig{Peer: "p", Local: nics("a", "b", "a")}, `local NIC "a", port 1, is listed after another`},
		{"remote listed twice", MapConfig{Peer: "p", Remote: nics("a", "b", "a")}, `remote NIC "a", port 1, is listed after another`},
		{"two ports of a remote device", MapConfig{Peer: "p", Remote: []NIC{{Name: "a", Port: 1}, {Name: "a", Port: 2}}}, `remote NIC "a", port 2, is listed after another`},
		{"local fault", MapConfig{Peer: "p", Local: nics("a", "")}, "local device name is empty"},
		{"remote fault", MapConfig{Peer: "p", Remote: []NIC{{Name: "a"}}}, `remote NIC "a": port is 0`},
		{"too many", MapConfig{Peer: "p", Remote: many}, "there are 257 remote NICs, at most 256"},
		{"IPv4 bits", MapConfig{Peer: "p", IPv4Bits: 33}, "IPv4Bits is 33, must be 1 to 32"},
		{"IPv6 bits", MapConfig{Peer: "p", IPv6Bits: 129}, "IPv6Bits is 129, must be 1 to 128"},
		{"bits below 0", MapConfig{Peer: "p", IPv4Bits: -1}, "IPv4Bits is -1"},
		{"file", MapConfig{Peer: "p", File: &File{}}, `rail file: "all" has no pair`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := NewMap(tt.c)
			if tt.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.fault)
			assert.Len(t, strings.Split(err.Error(), "\n"), 1, "one fault, one line")
			assert.Nil(t, m)
		})
	}
	_, err := NewMap(MapConfig{Local: nics("", "a", "a"), IPv4Bits: -1, IPv6Bits: 999, File: &File{}})
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), 6, "every fault is named: %v", err)
	_, err = NewMap(MapConfig{Peer: "p", Local: many, Remote: many})
	assert.ErrorContains(t, err, "there are 257 local NICs")
	assert.ErrorContains(t, err, "there are 257 remote NICs")
}

// Names may hold whatever separates names elsewhere.
func TestNamesAreOpaque(t *testing.T) {
	devices := []string{"a", "a>a", "a:1", "a/a", "a->b", "b->a", "a b", " a", "a ", "a\n", "a\na", `"a"`, `a"`, "a,b", "A", "ä", "\x00", "\xff", "mlx5_1", "mlx5_10"}
	var c MapConfig
	for _, name := range devices {
		c.Local = append(c.Local, NIC{Name: name, Port: 1})
		c.Remote = append(c.Remote, NIC{Name: name, Port: 1})
	}
	m := mustMap(t, c)
	seen := map[Pair]bool{}
	for _, p := range m.Paths() {
		assert.False(t, seen[p.Pair], "%#v is there once", p.Pair)
		seen[p.Pair] = true
		assert.Equal(t, p.Local == p.Remote, p.SameRail(), "%q and %q", p.Local, p.Remote)
	}
	assert.Len(t, seen, len(devices)*len(devices))

	// A file that allows one pair allows no other.
	for _, pinned := range []FilePair{{Local: "a->b", Remote: "a"}, {Local: "a", Remote: "b->a"}, {Local: "a\n", Remote: "a"}} {
		c.File = &File{All: []FilePair{pinned}}
		list, _ := mustMap(t, c).Select(nil, Want{})
		require.Len(t, list, 1)
		assert.Equal(t, pinned, FilePair{Local: list[0].Local, Remote: list[0].Remote})
	}
}

// The lists may be used again after the Map was made.
func TestMapKeepsNothing(t *testing.T) {
	c := MapConfig{Peer: "p", IPv4Bits: 24, Local: at(nics("a@1", "b"), "10.0.0.1"), Remote: nics("a", "b"), File: filed("a>a b>b", "a>a")}
	m := mustMap(t, c)
	before := m.Explain(Want{Local: NodeOf(1)})
	c.Local[0], c.Remote[0], c.File.All[0], c.File.Direct[0] = NIC{}, NIC{}, FilePair{}, FilePair{}
	assert.Equal(t, before, m.Explain(Want{Local: NodeOf(1)}))
}

func TestMapCounts(t *testing.T) {
	c := MapConfig{IPv4Bits: 24, Local: at(unusable(nics("a", "b", "c"), 2, "down"), "10.0.0.1", "10.0.1.1"), Remote: at(nics("a", "b"), "10.0.0.2", "10.0.1.2")}
	assert.Equal(t, "2 of 6 pairs may be used; unusable NIC: 2; other subnet: 2", mustMap(t, c).String())
	assert.Equal(t, "1 of 2 pairs may be used; unusable NIC: 1", mustMap(t, MapConfig{Local: unusable(nics("a", "b"), 0, "down"), Remote: nics("a")}).String())
	assert.Equal(t, "4 of 4 pairs may be used", mustMap(t, MapConfig{Local: nics("a", "b"), Remote: nics("a", "b")}).String())
}

func TestExplain(t *testing.T) {
	c := MapConfig{IPv4Bits: 24, Local: at(nics("a@0", "b@1", "c"), "10.0.0.1", "10.0.1.1", "10.0.0.9"), Remote: at(nics("a@0", "y@1"), "10.0.0.2", "10.0.1.2")}
	m := mustMap(t, c)
	w := Want{Local: NodeOf(0), Remote: NodeOf(1), Standing: by(map[string]Standing{"b>y": Suspect}), Load: by(map[string]int64{"a>a": 4096, "b>y": 1})}
	var lines []string
	for _, e := range m.Explain(w) {
		lines = append(lines, fmt.Sprintf("%d %s>%s: %s", e.Rank, e.Local, e.Remote, e.Why))
		assert.Equal(t, e.Rank == 0, e.Excluded != Allowed)
	}
	assert.Equal(t, []string{
		"1 a>a: same name; local NUMA node 0, buffer on 0; remote NUMA node 0, buffer on 1; 4096 bytes under way",
		"2 c>a: same subnet 10.0.0.0/24; local NUMA node unknown, buffer on 0; remote NUMA node 0, buffer on 1",
		"3 b>y: same subnet 10.0.1.0/24; suspect; local NUMA node 1, buffer on 0; remote NUMA node 1, buffer on 1; 1 bytes under way",
		"0 a>y: other subnet: local in 10.0.0.0/24, remote in 10.0.1.0/24",
		"0 b>a: other subnet: local in 10.0.1.0/24, remote in 10.0.0.0/24",
		"0 c>y: other subnet: local in 10.0.0.0/24, remote in 10.0.1.0/24",
	}, sorted(lines, 3))
	assert.Equal(t, "same name", m.Explain(Want{})[0].Why, "of what nobody knows nothing is said")

	listed, _ := m.Select(nil, w)
	for i, e := range m.Explain(w)[:len(listed)] {
		assert.Equal(t, listed[i].Path, e.Path, "the order is that of Select")
		assert.Equal(t, listed[i].Standing, e.Standing)
	}
}

// sorted sorts what comes from place n on.
func sorted(lines []string, n int) []string {
	slices.Sort(lines[n:])
	return lines
}

func TestPathNamesItsNICs(t *testing.T) {
	c := MapConfig{Peer: "p", Incarnation: "7", Local: nics("a", "b"), Remote: nics("x", "y", "z")}
	for i := range c.Remote {
		c.Remote[i].Port = uint8(i + 2)
	}
	for _, p := range mustMap(t, c).Paths() {
		l, r := c.Local[p.LocalNIC], c.Remote[p.RemoteNIC]
		assert.Equal(t, Pair{Peer: "p", Incarnation: "7", Local: l.Name, Port: l.Port, Remote: r.Name}, p.Pair)
		assert.Equal(t, r.Port, p.RemotePort)
		assert.NoError(t, p.Validate())
	}
}

// The order holds each pair once, and neighbours have no NIC in common while that
// can be.
func TestPathsAreSpread(t *testing.T) {
	m := mustMap(t, eightByEight(MapConfig{}))
	for start := 0; start < 64; start += 8 {
		local, remote := map[string]bool{}, map[string]bool{}
		for _, p := range m.Paths()[start : start+8] {
			local[p.Local], remote[p.Remote] = true, true
		}
		assert.Len(t, local, 8)
		assert.Len(t, remote, 8)
	}
	seen := maps.Collect(func(yield func(Pair, int) bool) {
		for i, p := range m.Paths() {
			if assert.Equal(t, i, p.Index); !yield(p.Pair, i) {
				return
			}
		}
	})
	assert.Len(t, seen, 64)
}
