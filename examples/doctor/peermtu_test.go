package main

import (
	"testing"

	"github.com/rdmagate/rdmagate/rail"
)

func TestPeerMTU(t *testing.T) {
	at := func(mtu int, addr string) portFacts { return peerPort("peer", rail.LinkEthernet, mtu, addr) }
	broken := at(1024, "10.0.0.3")
	broken.Unusable = "port 1 is down"
	const same = "both sides have the same RDMA MTU"
	runExamples(t, checkPeerMTU, []example{
		{name: "no peer"},
		{name: "the same", with: peer(at(4096, "10.0.0.2"), at(4096, "10.0.1.2")), ok: same},
		{name: "another", with: peer(at(1024, "10.0.0.2"), at(4096, "10.0.1.2")), want: []string{"WARNING mlx5_0 port 1: The RDMA MTU here is 4096; at the peer peer port 1 has 1024"}},
		{name: "another, out of reach", with: peer(at(1024, "10.9.0.2"), at(4096, "10.0.1.2")), ok: same},
		{name: "another, of another link layer", with: peer(peerPort("i", rail.LinkInfiniBand, 2048, "fe80::1"), at(4096, "10.0.1.2")), ok: same},
		{
			name: "another, perhaps within reach", with: peer(at(1024, "fe80::1")),
			want: []string{"WARNING mlx5_0 port 1: peer port 1 has 1024", "WARNING mlx5_1 port 1: peer port 1 has 1024"},
		},
		{name: "another, unusable", with: peer(broken, at(4096, "10.0.1.2")), ok: same},
		{name: "no MTU", with: peer(at(0, "10.0.0.2")), want: []string{"NOTE: The peer's file holds no MTUs"}},
		{name: "no MTU of one", with: peer(at(0, "10.0.0.2"), at(4096, "10.0.1.2")), ok: same},
		{name: "none here", with: peer(at(4096, "10.0.0.2")), edit: func(t tree) { t.drop("sys/class/net") }},
		{name: "none is usable", with: peer(broken)},
		{name: "no port here", tree: "empty", with: peer(at(4096, "10.0.0.2"))},
	})
}
