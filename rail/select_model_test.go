package rail

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// model answers the same questions by taking each rule literally, pair by pair, with
// nothing prepared.
type model struct {
	c MapConfig
	w modelWant
}

type modelWant struct {
	local, remote Node
	turn          uint64
	bytes         int64
	standing      map[[2]int]Standing // by places in the lists
	load          map[[2]int]int64
}

func (m *model) sameSubnet(i, j int) bool {
	for _, a := range m.c.Local[i].Addrs {
		for _, b := range m.c.Remote[j].Addrs {
			bits := m.c.IPv6Bits
			if a.Is4() {
				bits = m.c.IPv4Bits
			}
			if a.Is4() == b.Is4() && bits > 0 && m.tells(a, m.c.Local[i]) && m.tells(b, m.c.Remote[j]) && sameBits(a.AsSlice(), b.AsSlice(), bits) {
				return true
			}
		}
	}
	return false
}

func sameBits(a, b []byte, bits int) bool {
	for i := range bits {
		if a[i/8]>>(7-i%8)&1 != b[i/8]>>(7-i%8)&1 {
			return false
		}
	}
	return true
}

func (m *model) tells(a netip.Addr, n NIC) bool {
	return !a.IsLinkLocalUnicast() || !a.Is4() && n.Link == LinkInfiniBand
}

// placed reports whether the prefixes say where a NIC is.
func (m *model) placed(n NIC) bool {
	return slices.ContainsFunc(n.Addrs, func(a netip.Addr) bool {
		return m.tells(a, n) && (a.Is4() && m.c.IPv4Bits > 0 || !a.Is4() && m.c.IPv6Bits > 0)
	})
}

func (m *model) allowed(i, j int) bool {
	l, r := m.c.Local[i], m.c.Remote[j]
	if l.Unusable != "" || r.Unusable != "" {
		return false
	}
	if l.Link == LinkEthernet && r.Link == LinkInfiniBand || l.Link == LinkInfiniBand && r.Link == LinkEthernet {
		return false
	}
	if m.c.File != nil {
		return inList(m.c.File.All, l.Name, r.Name)
	}
	if len(l.Addrs) == 0 || len(r.Addrs) == 0 || !m.placed(l) && !m.placed(r) {
		return true
	}
	return m.sameSubnet(i, j)
}

func inList(list []FilePair, local, remote string) bool {
	return slices.ContainsFunc(list, func(p FilePair) bool { return p.Local == local && p.Remote == remote })
}

// sameRail goes through the rules for one pair that is allowed.
func (m *model) sameRail(i, j int) bool {
	l, r := m.c.Local[i], m.c.Remote[j]
	if m.c.File != nil && len(m.c.File.Direct) > 0 {
		return inList(m.c.File.Direct, l.Name, r.Name)
	}
	hasNamesake, hasSubnet, common := false, false, false
	for k, other := range m.c.Remote {
		hasNamesake = hasNamesake || other.Name == l.Name && m.allowed(i, k)
		hasSubnet = hasSubnet || m.sameSubnet(i, k) && m.allowed(i, k)
		for _, mine := range m.c.Local {
			common = common || mine.Name == other.Name
		}
	}
	switch {
	case hasNamesake:
		return l.Name == r.Name
	case hasSubnet:
		return m.sameSubnet(i, j)
	case common:
		return false
	}
	mine, theirs := deviceList(m.c.Local), deviceList(m.c.Remote)
	return len(mine) == len(theirs) && slices.Index(mine, l.Name) == slices.Index(theirs, r.Name)
}

func deviceList(nics []NIC) []string {
	var list []string
	for _, n := range nics {
		if !slices.Contains(list, n.Name) {
			list = append(list, n.Name)
		}
	}
	return list
}

func (m *model) rate(i, j int) float64 {
	known := func(a, b float64) float64 {
		switch {
		case a == 0:
			return b
		case b == 0 || a < b:
			return a
		}
		return b
	}
	if rate := known(m.c.Local[i].Rate, m.c.Remote[j].Rate); rate > 0 {
		return rate
	}
	slowest := 0.0
	for _, l := range m.c.Local {
		for _, r := range m.c.Remote {
			slowest = known(slowest, known(l.Rate, r.Rate))
		}
	}
	return max(slowest, 1)
}

// better compares two pairs by one rule after the other: negative if the first is
// better, 0 if they are equally good.
func (m *model) better(a, b [2]int) int {
	score := func(p [2]int) [4]float64 {
		rail := 1.0
		if m.sameRail(p[0], p[1]) {
			rail = 0
		}
		far := 0.0
		for _, side := range [][2]Node{{m.c.Local[p[0]].NUMA, m.w.local}, {m.c.Remote[p[1]].NUMA, m.w.remote}} {
			if side[0].Known && side[1].Known && side[0].ID == side[1].ID {
				far--
			}
			if side[0].Known && side[1].Known && side[0].ID != side[1].ID {
				far++
			}
		}
		return [4]float64{float64(m.w.standing[p]), rail, far, float64(m.w.load[p]+m.w.bytes) / m.rate(p[0], p[1])}
	}
	x, y := score(a), score(b)
	return slices.Compare(x[:], y[:])
}

// list returns the pairs best first.
func (m *model) list() [][2]int {
	var all [][2]int
	for shift := range m.c.Remote {
		for i := range m.c.Local {
			if j := (i + shift) % len(m.c.Remote); m.allowed(i, j) {
				all = append(all, [2]int{i, j})
			}
		}
	}
	slices.SortStableFunc(all, m.better)
	var turned [][2]int
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(p [2]int) bool { return m.better(all[0], p) != 0 })
		if n < 0 {
			n = len(all)
		}
		for k := range n {
			turned = append(turned, all[(uint64(k)+m.w.turn)%uint64(n)])
		}
		all = all[n:]
	}
	return turned
}

// On random machines and questions, Select lists what the model lists.
func TestSelectMatchesModel(t *testing.T) {
	seen := map[string]int{} // what the random cases have reached
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := model{c: randomConfig(r)}
		real, err := NewMap(m.c)
		require.NoError(t, err, "seed %d", seed)
		for range 3 {
			m.w = randomWant(r, m.c)
			list, outcome := real.Select(nil, Want{
				Local: m.w.local, Remote: m.w.remote, Turn: m.w.turn, Bytes: m.w.bytes,
				Standing: func(p *Path) Standing { return m.w.standing[[2]int{p.LocalNIC, p.RemoteNIC}] },
				Load:     func(p *Path) int64 { return m.w.load[[2]int{p.LocalNIC, p.RemoteNIC}] },
			})
			got, want := [][2]int(nil), m.list()
			for _, c := range list {
				got = append(got, [2]int{c.LocalNIC, c.RemoteNIC})
				seen[c.Match.String()]++
			}
			require.Equal(t, want, got, "seed %d: %+v, asked %+v", seed, m.c, m.w)
			expected := NoPath
			if len(want) > 0 {
				expected = AllPaused
			}
			for _, p := range want {
				if m.w.standing[p] != Paused {
					expected = Found
				}
			}
			require.Equal(t, expected, outcome, "seed %d", seed)
			seen[outcome.String()]++
		}
		for _, p := range real.Paths() {
			seen[p.Excluded.String()]++
		}
	}
	for _, text := range []fmt.Stringer{NoPath, AllPaused, Found, CrossRail, SameByFile, SameName, SameSubnet, SamePosition, Allowed, UnusableNIC, OtherLink, NotInFile, OtherSubnet} {
		require.NotZero(t, seen[text.String()], "the cases reach %v", text)
	}
}

func randomConfig(r *rand.Rand) MapConfig {
	pick := func(n int) bool { return r.IntN(n) == 0 }
	side := func(prefix string, ports int) []NIC {
		var list []NIC
		for i := range r.IntN(5) {
			for port := range 1 + r.IntN(ports) {
				n := NIC{Name: fmt.Sprint(prefix, i), Port: uint8(port + 1), Rate: []float64{0, 100, 200, 400}[r.IntN(4)]}
				n.NUMA = NodeOf(r.IntN(4) - 1)
				n.Link = []Link{LinkEthernet, LinkEthernet, LinkEthernet, LinkInfiniBand, LinkUnknown}[r.IntN(5)]
				for range r.IntN(3) {
					texts := []string{"10.0.0.%d", "10.0.0.1%d", "10.0.1.%d", "fd00::%d", "fd00:0:0:1::%d", "fe80::%d", "169.254.0.%d"}
					n.Addrs = append(n.Addrs, netip.MustParseAddr(fmt.Sprintf(texts[r.IntN(len(texts))], 1+r.IntN(9))))
				}
				if pick(8) {
					n.Unusable = "down"
				}
				list = append(list, n)
			}
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	}
	c := MapConfig{Peer: "p", Local: side("a", 2), Remote: side([]string{"a", "b"}[r.IntN(2)], 1)}
	if pick(2) {
		c.IPv4Bits = []int{24, 28}[r.IntN(2)]
	}
	if pick(3) {
		c.IPv6Bits = 64
	}
	if !pick(3) || len(c.Local) == 0 || len(c.Remote) == 0 {
		return c
	}
	f := &File{}
	for range 1 + r.IntN(6) {
		p := FilePair{Local: c.Local[r.IntN(len(c.Local))].Name, Remote: c.Remote[r.IntN(len(c.Remote))].Name}
		if slices.Contains(f.All, p) {
			continue
		}
		f.All = append(f.All, p)
		if pick(2) {
			f.Direct = append(f.Direct, p)
		}
	}
	c.File = f
	return c
}

func randomWant(r *rand.Rand, c MapConfig) modelWant {
	w := modelWant{
		local: NodeOf(r.IntN(4) - 1), remote: NodeOf(r.IntN(4) - 1), turn: r.Uint64N(9), bytes: []int64{0, 0, 100}[r.IntN(3)],
		standing: map[[2]int]Standing{}, load: map[[2]int]int64{},
	}
	worst := r.IntN(3)
	for i := range c.Local {
		for j := range c.Remote {
			w.standing[[2]int{i, j}] = Standing(max(r.IntN(3), 2*(worst/2)))
			w.load[[2]int{i, j}] = 100 * r.Int64N(4)
		}
	}
	return w
}
