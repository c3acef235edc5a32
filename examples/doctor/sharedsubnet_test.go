package main

import "testing"

func TestSharedSubnets(t *testing.T) {
	const both = "WARNING: ens1f0np0, ens1f1np1 are in one subnet, 10.0.0.0/23, and ens1f0np0, ens1f1np1 may answer ARP"
	share := func(t tree) {
		t["proc/net/route"] = "ens1f0np0 0000000A 00000000 0001 0 0 100 00FEFFFF 0 0 0\nens1f1np1 0000000A 00000000 0001 0 0 101 00FEFFFF 0 0 0\n"
	}
	arp := func(dev, ignore, announce string) func(tree) {
		return func(t tree) {
			share(t)
			t.set("proc/sys/net/ipv4/conf/"+dev+"/arp_ignore", ignore)
			t.set("proc/sys/net/ipv4/conf/"+dev+"/arp_announce", announce)
		}
	}
	runExamples(t, checkSharedSubnets, []example{
		{name: "a subnet each"},
		{name: "one subnet", edit: share, want: []string{both}},
		{name: "set for all", edit: arp("all", "1", "2"), ok: "ports in one subnet answer ARP for themselves only"},
		{name: "set by half for all", edit: arp("all", "1", "1"), want: []string{both}},
		{name: "set by the other half for all", edit: arp("all", "0", "2"), want: []string{both}},
		{name: "set for one", edit: arp("ens1f0np0", "1", "2"), want: []string{"WARNING: ens1f0np0, ens1f1np1 are in one subnet, 10.0.0.0/23, and ens1f1np1 may answer"}},
		{name: "one is down", edit: func(t tree) { share(t); down("3: Disabled", "mlx5_1")(t) }},
		{name: "one speaks RoCE v1", edit: func(t tree) { share(t); t.set(portFile("mlx5_1", "gid_attrs/types/3"), "IB/RoCE v1") }},
		{name: "one is iWARP", edit: func(t tree) { share(t); t.set("sys/class/infiniband/mlx5_1/node_type", "4: RNIC") }},
		{
			name: "both on one bond",
			edit: func(t tree) {
				share(t)
				t.set(portFile("mlx5_1", "gid_attrs/ndevs/3"), "ens1f0np0")
			},
		},
	})
}
