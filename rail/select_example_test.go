package rail_test

import (
	"fmt"
	"log"
	"net/netip"

	"github.com/rdmagate/rdmagate/rail"
)

// port stands for what discovery finds.
func port(name, addr string, node int) rail.NIC {
	return rail.NIC{Name: name, Port: 1, NUMA: rail.NodeOf(node), Link: rail.LinkEthernet, Rate: 400, Addrs: []netip.Addr{netip.MustParseAddr(addr)}}
}

// Each machine has two NICs in routed /28 networks, and one for management that
// reaches only its like.
func machines() (local, remote []rail.NIC) {
	local = []rail.NIC{port("mlx5_0", "10.0.0.1", 0), port("mlx5_1", "10.0.0.17", 1), port("mlx5_mgmt", "192.168.7.1", 0)}
	remote = []rail.NIC{port("mlx5_0", "10.0.0.33", 0), port("mlx5_1", "10.0.0.49", 1), port("mlx5_mgmt", "192.168.7.2", 0)}
	return local, remote
}

// The order in which to try the paths for two buffers, of which both are on NUMA node
// 1. One path is known to be paused.
func ExampleMap_Select() {
	local, remote := machines()
	m, err := rail.NewMap(rail.MapConfig{Peer: "host-b", Local: local, Remote: remote, IPv4Bits: 24})
	if err != nil {
		log.Fatal(err)
	}

	paused := rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_0"}
	want := rail.Want{
		Local: rail.NodeOf(1), Remote: rail.NodeOf(1),
		Standing: func(p *rail.Path) rail.Standing {
			if p.Pair == paused {
				return rail.Paused
			}
			return rail.Healthy
		},
	}
	list, outcome := m.Select(nil, want) // hand the list over again at the next call
	fmt.Println(outcome)
	for _, c := range list {
		fmt.Println(c.Pair, c.Match, c.Standing)
	}
	// Output:
	// found
	// mlx5_1:1->host-b/mlx5_1 same name healthy
	// mlx5_mgmt:1->host-b/mlx5_mgmt same name healthy
	// mlx5_0:1->host-b/mlx5_1 cross-rail healthy
	// mlx5_1:1->host-b/mlx5_0 cross-rail healthy
	// mlx5_0:1->host-b/mlx5_0 same name paused
}

// Why each pair has its place, or none.
func ExampleMap_Explain() {
	local, remote := machines()
	m, err := rail.NewMap(rail.MapConfig{Peer: "host-b", Local: local[1:], Remote: remote[1:], IPv4Bits: 24})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m)
	for _, e := range m.Explain(rail.Want{Local: rail.NodeOf(0)}) {
		fmt.Printf("%d %s to %s: %s\n", e.Rank, e.Local, e.Remote, e.Why)
	}
	// Output:
	// 2 of 4 pairs may be used; other subnet: 2
	// 1 mlx5_mgmt to mlx5_mgmt: same name; local NUMA node 0, buffer on 0
	// 2 mlx5_1 to mlx5_1: same name; local NUMA node 1, buffer on 0
	// 0 mlx5_1 to mlx5_mgmt: other subnet: local in 10.0.0.0/24, remote in 192.168.7.0/24
	// 0 mlx5_mgmt to mlx5_1: other subnet: local in 192.168.7.0/24, remote in 10.0.0.0/24
}

// A task that finds no path is told so, and why is for the log.
func ExampleOutcome() {
	local, remote := machines()
	for i := range remote {
		remote[i].Unusable = "port 1 is down"
	}
	m, err := rail.NewMap(rail.MapConfig{Peer: "host-b", Local: local, Remote: remote})
	if err != nil {
		log.Fatal(err)
	}
	if _, outcome := m.Select(nil, rail.Want{}); outcome != rail.Found {
		fmt.Printf("%v (%v): %v\n", outcome.Reason(), outcome, m)
	}
	// Output:
	// NO_USABLE_PATH (no path): 0 of 9 pairs may be used; unusable NIC: 9
}
