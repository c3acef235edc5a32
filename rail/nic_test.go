package rail

import (
	"encoding/json"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNode(t *testing.T) {
	assert.Equal(t, Node{}, NodeOf(-1), "what Linux gives when it does not know")
	assert.Equal(t, Node{ID: 0, Known: true}, NodeOf(0), "0 is a node")
	assert.NotEqual(t, NodeOf(0), NodeOf(-1))
	assert.Equal(t, "unknown", Node{}.String())
	assert.Equal(t, "unknown", Node{ID: 3}.String())
	assert.Equal(t, "3", NodeOf(3).String())
}

func TestNodeIsJSON(t *testing.T) {
	for text, want := range map[string]Node{"null": {}, "-1": {}, "0": NodeOf(0), "1023": NodeOf(1023)} {
		n := NodeOf(7)
		require.NoError(t, json.Unmarshal([]byte(text), &n), text)
		assert.Equal(t, want, n, text)
		data, err := json.Marshal(n)
		require.NoError(t, err)
		var back Node
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, want, back, "%s", data)
	}
	for _, text := range []string{"1.5", `"1"`, "{}", "1e2", "1e30"} {
		n := NodeOf(7)
		require.ErrorContains(t, json.Unmarshal([]byte(text), &n), "neither a number nor null", text)
		assert.Equal(t, NodeOf(7), n, "an error changes nothing")
	}
}

func TestNICIsJSON(t *testing.T) {
	nics := []NIC{
		{Name: "mlx5_0", Port: 1, NUMA: NodeOf(0), Link: LinkEthernet, Rate: 400, Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}},
		{Name: "a\nb", Link: LinkInfiniBand, Unusable: "it has no port"},
	}
	data, err := json.Marshal(nics)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"numa":null`)
	assert.Contains(t, string(data), `"link":"Ethernet"`)
	var back []NIC
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, nics, back)

	for text, fault := range map[string]string{
		`{"numa": "0"}`:        "rail: NUMA node",
		`{"link": "ethernet"}`: `rail: "ethernet" is no Link; use one of: unknown; InfiniBand; Ethernet`,
	} {
		assert.ErrorContains(t, json.Unmarshal([]byte(text), new(NIC)), fault, text)
	}
	var n NIC
	require.NoError(t, json.Unmarshal([]byte(`{"numa": -1}`), &n))
	assert.Equal(t, Node{}, n.NUMA)
}

func TestNICValidate(t *testing.T) {
	good := NIC{Name: "mlx5_0", Port: 1}
	tests := []struct {
		name   string
		change func(*NIC)
		fault  string // empty if there is none
	}{
		{"nothing known", func(*NIC) {}, ""},
		{"any character", func(n *NIC) { n.Name = "a:1->\"b\"/\n\x00" }, ""},
		{"unusable without a port", func(n *NIC) { n.Port, n.Unusable = 0, "it has no port" }, ""},
		{"fastest", func(n *NIC) { n.Rate = MaxRate }, ""},
		{"no name", func(n *NIC) { n.Name = "" }, "local device name is empty"},
		{"long name", func(n *NIC) { n.Name = strings.Repeat("n", MaxName+1) }, "at most 255"},
		{"port 0", func(n *NIC) { n.Port = 0 }, "ports count from 1"},
		{"node below 0", func(n *NIC) { n.NUMA = Node{ID: -1, Known: true} }, "NUMA node -1 is given as known"},
		{"unknown node below 0", func(n *NIC) { n.NUMA = Node{ID: -1} }, ""},
		{"link", func(n *NIC) { n.Link = LinkEthernet + 1 }, "link layer 3 does not exist"},
		{"rate below 0", func(n *NIC) { n.Rate = -1 }, "rate is -1 Gb/s"},
		{"rate above", func(n *NIC) { n.Rate = MaxRate * 2 }, "rate is 2e+06 Gb/s"},
		{"rate NaN", func(n *NIC) { n.Rate = math.NaN() }, "rate is NaN Gb/s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := good
			tt.change(&n)
			err := n.validate("local")
			if tt.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.fault)
			assert.Len(t, strings.Split(err.Error(), "\n"), 1, "one fault, one line")
		})
	}
}

func addrs(list ...string) []netip.Addr {
	var all []netip.Addr
	for _, text := range list {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}

func TestSubnets(t *testing.T) {
	const eth, ib = LinkEthernet, LinkInfiniBand
	tests := []struct {
		name   string
		bits   subnetting
		link   Link
		a, b   []netip.Addr
		shared string // a prefix, empty if none is known
		apart  bool
	}{
		{"same /28", subnetting{28, 0}, eth, addrs("10.0.0.1"), addrs("10.0.0.14"), "10.0.0.0/28", false},
		{"next /28", subnetting{28, 0}, eth, addrs("10.0.0.1"), addrs("10.0.0.17"), "", true},
		{"a /24 covers both", subnetting{24, 0}, eth, addrs("10.0.0.1"), addrs("10.0.0.17"), "10.0.0.0/24", false},
		{"/32", subnetting{32, 0}, eth, addrs("10.0.0.1"), addrs("10.0.0.2"), "", true},
		{"nothing configured", subnetting{}, eth, addrs("10.0.0.1"), addrs("11.0.0.1"), "", false},
		{"mapped IPv4", subnetting{28, 0}, eth, addrs("::ffff:10.0.0.1"), addrs("10.0.0.2"), "10.0.0.0/28", false},
		{"same IPv6 /64", subnetting{0, 64}, eth, addrs("fd00:0:0:1::1"), addrs("fd00:0:0:1::2"), "fd00:0:0:1::/64", false},
		{"other IPv6 /64", subnetting{0, 64}, eth, addrs("fd00:0:0:1::1"), addrs("fd00:0:0:2::1"), "", true},
		{"IPv4 bits say nothing of IPv6", subnetting{28, 0}, eth, addrs("fd00:0:0:1::1"), addrs("fd00:0:0:2::1"), "", false},
		{"either family will do", subnetting{28, 64}, eth, addrs("10.0.0.1", "fd00::1"), addrs("10.1.0.1", "fd00::2"), "fd00::/64", false},
		{"any address will do", subnetting{28, 0}, eth, addrs("10.0.0.1", "10.9.0.1"), addrs("10.8.0.1", "10.9.0.2"), "10.9.0.0/28", false},
		{"families apart", subnetting{28, 64}, eth, addrs("10.0.0.1"), addrs("fd00::1"), "", true},
		{"no address", subnetting{28, 64}, eth, nil, addrs("10.0.0.1"), "", false},
		{"no address at all", subnetting{28, 64}, eth, nil, nil, "", false},
		// Every Ethernet port is in fe80::/64, and many are in 169.254.0.0/16.
		{"link-local is no subnet", subnetting{28, 64}, eth, addrs("10.0.0.1", "fe80::1"), addrs("10.1.0.1", "fe80::2"), "", true},
		{"nor is 169.254", subnetting{16, 0}, eth, addrs("10.0.0.1", "169.254.0.1"), addrs("10.1.0.1", "169.254.0.2"), "", true},
		{"nor is loopback", subnetting{8, 0}, eth, addrs("127.0.0.1"), addrs("127.0.0.1"), "", false},
		{"link-local only, on one side", subnetting{28, 0}, eth, addrs("10.0.0.1"), addrs("fe80::2"), "", true},
		{"on InfiniBand it is", subnetting{28, 64}, ib, addrs("fe80::1"), addrs("fe80::2"), "fe80::/64", false},
		{"multicast is none", subnetting{28, 64}, ib, addrs("ff02::1"), addrs("ff02::2"), "", false},
		{"two InfiniBand subnets", subnetting{28, 64}, ib, addrs("fe80::1"), addrs("fec0:0:0:6::1"), "", true},
		{"a zone is no part of it", subnetting{0, 64}, eth, addrs("fd00::1%eth0"), addrs("fd00::2%eth1"), "fd00::/64", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both := tt.bits.ofAll([]NIC{{Addrs: tt.a, Link: tt.link}, {Addrs: tt.b, Link: tt.link}})
			for _, side := range [][2]subnets{{both[0], both[1]}, {both[1], both[0]}} {
				got, known := side[0].shared(side[1])
				assert.Equal(t, tt.shared != "", known)
				if tt.shared != "" && known {
					assert.Equal(t, netip.MustParsePrefix(tt.shared), got)
				}
				assert.Equal(t, tt.apart, side[0].apart(side[1]), "apart")
			}
		})
	}
}

func TestSubnetsText(t *testing.T) {
	text := func(list ...string) string {
		return subnetting{24, 64}.of(&NIC{Addrs: addrs(list...)}).text
	}
	assert.Equal(t, "none", text("fe80::1"))
	assert.Equal(t, "10.0.0.0/24", text("10.0.0.1", "10.0.0.2"))
	assert.Equal(t, "10.0.0.0/24, fd00::/64", text("10.0.0.1", "fd00::1"))
	assert.Equal(t, "10.0.0.0/24, 10.0.1.0/24 and 1 more", text("10.0.0.1", "10.0.1.1", "10.0.2.1"))
	assert.Equal(t, "10.0.0.0/24, 10.0.1.0/24 and 2 more", text("10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.3.1"))
}
