package main

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/rail"
)

// peerPort is a port of a peer with an RDMA MTU and addresses.
func peerPort(name string, link rail.Link, mtu int, addrs ...string) portFacts {
	p := portFacts{NIC: rail.NIC{Name: name, Port: 1, Link: link}, MTU: mtu}
	for _, a := range addrs {
		p.Addrs = append(p.Addrs, netip.MustParseAddr(a))
	}
	return p
}

// peer names the peer's ports.
func peer(ports ...portFacts) func(*host) {
	return func(h *host) { h.peer = append([]portFacts{}, ports...) }
}

func TestReach(t *testing.T) {
	near := peerPort("n", rail.LinkEthernet, 0, "10.0.0.2")
	far := peerPort("f", rail.LinkEthernet, 0, "10.9.0.2")
	silent := peerPort("s", rail.LinkEthernet, 0, "fe80::1")
	broken := peerPort("b", rail.LinkEthernet, 0, "10.0.0.3")
	broken.Unusable = "port 1 is down"
	const mlx5_1 = "WARNING mlx5_1 port 1: None of the peer's addresses is in its subnets: "
	// Of InfiniBand here, mlx5_0 alone is active.
	runExamples(t, checkReach, []example{
		{name: "no peer"},
		{name: "one each", with: peer(near, peerPort("o", rail.LinkEthernet, 0, "10.0.1.2")), ok: "mlx5_0 port 1: 1 of 2 ports of the peer in its subnet"},
		{name: "an address in IPv6", with: peer(peerPort("m", rail.LinkEthernet, 0, "::ffff:10.0.0.2"), peerPort("o", rail.LinkEthernet, 0, "10.0.1.2")), ok: "mlx5_0 port 1: 1 of 2"},
		{name: "one of them", with: peer(near), want: []string{mlx5_1 + "10.0.0.2, not in 10.0.1.0/24"}, ok: "mlx5_0 port 1: 1 of 1 port"},
		{
			name: "none", with: peer(far),
			want: []string{"WARNING mlx5_0 port 1: None of the peer's addresses is in its subnets: 10.9.0.2, not in 10.0.0.0/24", mlx5_1 + "10.9.0.2"},
		},
		{name: "one may be", with: peer(near, silent), want: []string{"NOTE mlx5_1 port 1: The addresses do not tell"}, ok: "mlx5_0 port 1: 1 of 2 ports"},
		{
			name: "unknown here", with: peer(near), edit: func(t tree) { t.drop("proc/net/route") },
			want: []string{"NOTE mlx5_0 port 1: do not tell", "NOTE mlx5_1 port 1: do not tell"},
		},
		{name: "an unusable one does not count", with: peer(far, broken), want: []string{"WARNING mlx5_0 port 1: None", mlx5_1}},
		{name: "none is usable", with: peer(broken), want: []string{"FAULT: None of 1 port in the peer's file can be used. The first: port 1 is down."}},
		{name: "no port", with: peer(), want: []string{"FAULT: None of 0 ports"}},
		{name: "no port here", tree: "empty", with: peer(near)},
		{name: "ports that are down here", edit: down("3: Disabled", "mlx5_0", "mlx5_1"), with: peer(near)},
		{
			name: "another link layer", with: peer(peerPort("i", rail.LinkInfiniBand, 0, "fe80::9")),
			want: []string{"WARNING mlx5_0 port 1: The port is Ethernet, and no port of the peer is", "WARNING mlx5_1 port 1: The port is Ethernet"},
		},
		{name: "an unknown link layer", with: peer(peerPort("u", rail.LinkUnknown, 0, "10.0.0.2")), want: []string{"NOTE mlx5_0 port 1: do not tell", "NOTE mlx5_1 port 1: do not tell"}},
		{name: "InfiniBand", tree: "infiniband", with: peer(peerPort("i", rail.LinkInfiniBand, 0, "fe80::9")), ok: "mlx5_0 port 1: 1 of 1 port"},
		{name: "another fabric", tree: "infiniband", with: peer(peerPort("i", rail.LinkInfiniBand, 0, "fe80:0:0:1::9")), want: []string{"WARNING mlx5_0 port 1: fe80:0:0:1::9, not in fe80::/64"}},
		{name: "InfiniBand to Ethernet", tree: "infiniband", with: peer(near), want: []string{"WARNING mlx5_0 port 1: The port is InfiniBand"}},
		{name: "EFA", tree: "efa", with: peer(near), want: []string{"NOTE rdmap0s6 port 1: do not tell", "NOTE rdmap0s7 port 1: do not tell"}},
	})
}

// The remedy says whether there is a router, as far as the main table tells.
func TestReachFix(t *testing.T) {
	machine := loadTree(t, "mlx5")
	machine.drop("sys/class/infiniband/mlx5_1")
	look := func(link rail.Link, addr string) string {
		h := machine.host()
		peer(peerPort("f", link, 0, addr))(h)
		return fix(t, h, checkReach)
	}
	got := look(rail.LinkEthernet, "10.9.0.2")
	assert.Contains(t, got, "Put both into one subnet")
	assert.Contains(t, got, "`ip route get 10.9.0.2 from 10.0.0.1`")
	machine["proc/net/route"] += "ens1f1np1 0000000A 0A0A0A0A 0003 0 0 0 000000FF 0 0 0\n"
	assert.Contains(t, look(rail.LinkEthernet, "10.9.0.2"), "Put both", "the way is another NIC's")
	machine["proc/net/route"] += "ens1f0np0 0000000A 0A0A0A0A 0003 0 0 0 000000FF 0 0 0\n"
	assert.Contains(t, look(rail.LinkEthernet, "10.9.0.2"), "through a router over ens1f0np0")
	assert.Contains(t, look(rail.LinkEthernet, "11.9.0.2"), "Put both", "the way leads elsewhere")
	assert.Equal(t, "Put both into one subnet, or add a route.", look(rail.LinkEthernet, "fd00::1"))

	machine = loadTree(t, "infiniband")
	assert.Contains(t, look(rail.LinkInfiniBand, "fe80:0:0:1::9"), "Two fabrics")
}
