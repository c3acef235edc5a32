package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRDMAMTU(t *testing.T) {
	for net, want := range map[int]int{
		9000: 4096, 4200: 4096, 4192: 4096, 4191: 2048, 2144: 2048, 2143: 1024, 1500: 1024, 1120: 1024, 1119: 512, 608: 512, 607: 256, 352: 256, 351: 0, 0: 0,
	} {
		assert.Equal(t, want, rdmaMTU(net), "network device with %d", net)
	}
}

// active says what libibverbs knows of the port of mlx5_1.
func active(mtu int) func(*host) {
	return listed(map[string]opened{"mlx5_1": {mtu: map[uint8]int{1: mtu}}}, nil)
}

func TestMTU(t *testing.T) {
	const well = "the RDMA MTU of Ethernet ports is 4096"
	const differ = "WARNING: mlx5_0 port 1 has 4096, mlx5_1 port 1 has 1024."
	net := func(mtu string) func(tree) {
		return func(t tree) { t.set(netFile("mtu"), mtu) }
	}
	bothNet := func(mtu string) func(tree) {
		return func(t tree) { net(mtu)(t); t.set("sys/class/net/ens1f0np0/mtu", mtu) }
	}
	runExamples(t, checkMTU, []example{
		{name: "jumbo frames", ok: well},
		{name: "just enough", edit: bothNet("4192"), ok: well},
		{
			name: "not quite enough", edit: bothNet("4191"), ok: "Ethernet ports is 2048",
			want: []string{"NOTE mlx5_0 port 1: The RDMA MTU is 2048, since that of ens1f0np0 is 4191.", "NOTE mlx5_1 port 1: "},
		},
		{name: "one differs", edit: net("1500"), want: []string{"NOTE mlx5_1 port 1: The RDMA MTU is 1024, since that of ens1f1np1 is 1500.", differ}},
		{name: "one differs, by libibverbs", with: active(1024), want: []string{"WARNING mlx5_1 port 1: The active RDMA MTU is 1024, though the MTU of ens1f1np1, 9000, allows 4096", differ}},
		{name: "as libibverbs says", with: active(4096), ok: well},
		{
			name: "libibverbs alone knows", with: active(2048),
			edit: func(t tree) { t.drop("sys/class/net") }, ok: "Ethernet ports is 2048",
			want: []string{"NOTE mlx5_1 port 1: The RDMA MTU is 2048."},
		},
		{name: "Soft-RoCE needs less", with: active(4096), edit: func(t tree) { net("4180")(t) }, ok: well},
		{name: "no network device", edit: func(t tree) { t.drop(portFile("mlx5_1", "gid_attrs/ndevs")) }, ok: well},
		{name: "too small", edit: net("300"), want: []string{"FAULT mlx5_1 port 1: The MTU of ens1f1np1 is 300"}, ok: well},
		{name: "one differs and is down", edit: func(t tree) { net("1500")(t); down("3: Disabled", "mlx5_1")(t) }, ok: well},
		{name: "one differs and is iWARP", edit: func(t tree) { net("1500")(t); t.set("sys/class/infiniband/mlx5_1/node_type", "4: RNIC") }, ok: well},
		{
			name: "a VLAN's does not count",
			edit: func(t tree) {
				setGID(5, otherGID, "RoCE v2", "ens1f1np1.7")(t)
				t.set("sys/class/net/ens1f1np1.7/mtu", "1500")
			},
			ok: well,
		},
		{name: "InfiniBand, which no file tells", tree: "infiniband"},
		{name: "InfiniBand", tree: "infiniband", with: listed(map[string]opened{"mlx5_0": {mtu: map[uint8]int{1: 2048}}}, nil), ok: "InfiniBand ports is 2048"},
	})
}

// Two link layers are not compared.
func TestMTUOfLinks(t *testing.T) {
	runExamples(t, checkMTU, []example{{
		name: "two link layers", edit: func(t tree) { t.set(portFile("mlx5_1", "link_layer"), "InfiniBand") }, with: active(2048), ok: "InfiniBand ports is 2048",
	}})
}
