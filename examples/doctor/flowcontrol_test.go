package main

import (
	"strings"
	"testing"
)

func TestFlowControl(t *testing.T) {
	const well = "ens1f0np0: RoCE packets are classed by DSCP, and ECN is on"
	off := func(side string) func(tree) {
		return func(t tree) { t.set(netFile("ecn/"+side+"/enable/3"), "0") }
	}
	hide := func(t tree) {
		for name := range t {
			if strings.HasPrefix(name, netFile("qos")) || strings.HasPrefix(name, netFile("ecn")) {
				delete(t, name)
			}
		}
	}
	runExamples(t, checkFlowControl, []example{
		{name: "well", ok: well},
		{name: "no notification", edit: off("roce_np"), want: []string{"WARNING ens1f1np1: ECN is off on all priorities: roce_np"}, ok: well},
		{name: "no reaction", edit: off("roce_rp"), want: []string{"WARNING ens1f1np1: ECN is off on all priorities: roce_rp"}, ok: well},
		{name: "on another priority", edit: func(t tree) { off("roce_rp")(t); t.set(netFile("ecn/roce_rp/enable/7"), "1") }, ok: well},
		{name: "no such files", edit: func(t tree) { t.drop(netFile("ecn/roce_np")) }, ok: well},
		{name: "by the VLAN tag", edit: func(t tree) { t.set(netFile("qos/trust"), "pcp") }, want: []string{"WARNING ens1f1np1: The NIC trusts the priority of the VLAN tag"}, ok: well},
		{name: "trust is hidden", edit: func(t tree) { t.drop(netFile("qos")) }, ok: "ens1f1np1: RoCE"},
		{name: "ECN is hidden", edit: func(t tree) { t.drop(netFile("ecn")) }, ok: "ens1f1np1: RoCE"},
		{name: "all is hidden", edit: hide, want: []string{"NOTE: PFC and ECN are not visible here for ens1f1np1"}, ok: well},
		{name: "down", edit: func(t tree) { off("roce_np")(t); down("3: Disabled", "mlx5_1")(t) }, ok: well},
		{name: "iWARP", edit: func(t tree) { off("roce_np")(t); t.set("sys/class/infiniband/mlx5_1/node_type", "4: RNIC") }, ok: well},
		{name: "no network device", edit: func(t tree) { t.drop(portFile("mlx5_1", "gid_attrs/ndevs")) }, ok: well},
		{name: "InfiniBand", tree: "infiniband"},
	})
}
