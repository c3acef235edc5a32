package main

import "testing"

// netFile is a file of the network device of mlx5_1.
func netFile(name string) string { return "sys/class/net/ens1f1np1/" + name }

func TestNetDevs(t *testing.T) {
	const well = "2 network devices below the active ports, all up"
	runExamples(t, checkNetDevs, []example{
		{name: "up", ok: well},
		{name: "not here", edit: func(t tree) { t.drop("sys/class/net/ens1f1np1") }, want: []string{"WARNING mlx5_1 port 1: ens1f1np1 is not in this network namespace"}},
		{name: "switched off", edit: func(t tree) { t.set(netFile("flags"), "0x1002") }, want: []string{"WARNING mlx5_1 port 1: ens1f1np1 is switched off"}},
		{name: "no link", edit: func(t tree) { t.set(netFile("operstate"), "down") }, want: []string{`WARNING mlx5_1 port 1: ens1f1np1 is on, but its state is "down"`}},
		{name: "no link below", edit: func(t tree) { t.set(netFile("operstate"), "lowerlayerdown") }, want: []string{`WARNING mlx5_1 port 1: its state is "lowerlayerdown"`}},
		{name: "of unknown state", edit: func(t tree) { t.set(netFile("operstate"), "unknown"); t.drop(netFile("flags")) }, ok: well},
		{
			name: "a VLAN is off",
			edit: func(t tree) {
				t.set(portFile("mlx5_1", "gids/4"), "0000:0000:0000:0000:0000:ffff:0a00:0201")
				t.set(portFile("mlx5_1", "gid_attrs/ndevs/4"), "ens1f1np1.7")
				t.set("sys/class/net/ens1f1np1.7/flags", "0x1002")
			},
			want: []string{"WARNING mlx5_1 port 1: ens1f1np1.7 is switched off"},
		},
		{name: "no network device", edit: func(t tree) { t.drop(portFile("mlx5_1", "gid_attrs/ndevs")) }, want: []string{"WARNING mlx5_1 port 1: No network device belongs to the port"}},
		{
			name: "no GID, and the network device of the PCI function",
			edit: func(t tree) {
				t.drop(portFile("mlx5_1", "gids"))
				t.set("sys/class/infiniband/mlx5_1/device/net/ens1f1np1/mtu", "9000")
			},
			ok: well,
		},
		{name: "the port is down", edit: func(t tree) { down("3: Disabled", "mlx5_1")(t); t.set(netFile("flags"), "0x1002") }, ok: "1 network device below"},
		{name: "InfiniBand", tree: "infiniband"},
		{name: "EFA", tree: "efa"},
		{name: "a copy without network devices", edit: func(t tree) { t.drop("sys/class/net") }},
	})
}
