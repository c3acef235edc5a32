package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// setGID puts an entry into the GID table of mlx5_1.
func setGID(index int, value, kind, netDev string) func(tree) {
	return func(t tree) {
		at := func(table string) string { return portFile("mlx5_1", fmt.Sprintf("%s/%d", table, index)) }
		t.set(at("gids"), value)
		t.set(at("gid_attrs/types"), kind)
		if netDev != "" {
			t.set(at("gid_attrs/ndevs"), netDev)
		}
	}
}

const (
	ipv4GID   = "0000:0000:0000:0000:0000:ffff:0a00:0102" // 10.0.1.2, beside 10.0.1.1
	otherGID  = "0000:0000:0000:0000:0000:ffff:0a00:0201" // 10.0.2.1
	globalGID = "fd00:0000:0000:0000:0000:0000:0000:0001"
)

func TestGIDs(t *testing.T) {
	const well = "1 RoCE port with a RoCE v2 GID of an IPv4 address"
	v1 := func(index string) func(tree) {
		return func(t tree) { t.set(portFile("mlx5_1", "gid_attrs/types/"+index), "IB/RoCE v1") }
	}
	both := func(edits ...func(tree)) func(tree) {
		return func(t tree) {
			for _, edit := range edits {
				edit(t)
			}
		}
	}
	runExamples(t, checkGIDs, []example{
		{name: "IPv4 on both", ok: "2 RoCE ports with a RoCE v2 GID of an IPv4 address"},
		{name: "RoCE v1 alone", edit: both(v1("1"), v1("3")), want: []string{"FAULT mlx5_1 port 1: no RoCE v2 GID (4 GIDs of other kinds)"}, ok: well},
		{name: "no GID", edit: func(t tree) { t.drop(portFile("mlx5_1", "gids")) }, want: []string{"FAULT mlx5_1 port 1: no RoCE v2 GID (0 GIDs of other kinds)"}, ok: well},
		{name: "IPv4 of v1 alone", edit: v1("3"), want: []string{"WARNING mlx5_1 port 1: All RoCE v2 GIDs of the port are link-local"}, ok: well},
		{name: "IPv6 alone", edit: both(v1("3"), setGID(5, globalGID, "RoCE v2", "ens1f1np1")), want: []string{"NOTE mlx5_1 port 1: all IPv6, such as fd00::1 at index 5"}, ok: well},
		{name: "IPv6 too", edit: setGID(5, globalGID, "RoCE v2", "ens1f1np1"), ok: "2 RoCE ports"},
		{name: "one without a network device", edit: setGID(5, otherGID, "RoCE v2", ""), want: []string{"WARNING mlx5_1 port 1: No network device belongs to GID 5"}, ok: well},
		{name: "two in a subnet", edit: setGID(5, ipv4GID, "RoCE v2", "ens1f1np1"), want: []string{"NOTE mlx5_1 port 1: GIDs 3 (10.0.1.1) and 5 (10.0.1.2) are in one subnet, 10.0.1.0/24"}, ok: well},
		{name: "two in a subnet, one of v1", edit: setGID(5, ipv4GID, "IB/RoCE v1", "ens1f1np1"), ok: "2 RoCE ports"},
		{name: "two on network devices of which no subnet is known", edit: setGID(5, ipv4GID, "RoCE v2", "ens1f1np1.7"), ok: "2 RoCE ports"},
		{name: "two, and no routes", edit: both(setGID(5, ipv4GID, "RoCE v2", "ens1f1np1"), func(t tree) { t.drop("proc/net/route") }), ok: "2 RoCE ports"},
		{name: "two, one in no subnet that is known", edit: setGID(5, otherGID, "RoCE v2", "ens1f1np1"), ok: "2 RoCE ports"},
		{name: "the port is down", edit: both(v1("1"), v1("3"), down("3: Disabled", "mlx5_1")), ok: well},
		{name: "iWARP", edit: both(v1("1"), v1("3"), func(t tree) { t.set("sys/class/infiniband/mlx5_1/node_type", "4: RNIC") }), ok: well},
		{name: "InfiniBand", tree: "infiniband"},
		{name: "EFA", tree: "efa"},
	})
}

func TestAddressFix(t *testing.T) {
	machine := loadTree(t, "mlx5")
	machine.drop(portFile("mlx5_1", "gids"))
	assert.Contains(t, fix(t, machine.host(), checkGIDs), "dev NETDEV`")
	machine.set("sys/class/infiniband/mlx5_1/device/net/ens1f1np1/mtu", "9000")
	assert.Contains(t, fix(t, machine.host(), checkGIDs), "dev ens1f1np1`", "the PCI function names it")
}
