package main

import "testing"

func TestNUMA(t *testing.T) {
	unknown := func(t tree) { t.set("sys/class/infiniband/mlx5_1/device/numa_node", "-1") }
	online := func(text string) func(tree) {
		return func(t tree) { unknown(t); t.set("sys/devices/system/node/online", text) }
	}
	runExamples(t, checkNUMA, []example{
		{name: "known", ok: "the nodes of all NICs are known"},
		{name: "unknown", edit: unknown, want: []string{"NOTE: The machine has the NUMA nodes 0-1, and does not say on which these NICs are: mlx5_1."}},
		{name: "unknown, nodes with a gap", edit: online("0,2"), want: []string{"NOTE: 0,2"}},
		{name: "one node", edit: online("0"), ok: "the machine has one node"},
		{name: "nobody says how many", edit: func(t tree) { t.drop("sys/devices") }},
		{name: "nonsense", edit: online("0-")},
		{name: "software has no place", edit: func(t tree) { unknown(t); t.drop("sys/class/infiniband/mlx5_1/device") }, ok: "known"},
		{name: "no device", tree: "empty", edit: func(t tree) { t.set("sys/devices/system/node/online", "0") }},
		{name: "no device, two nodes", tree: "empty", edit: func(t tree) { t.set("sys/devices/system/node/online", "0-1") }},
	})
}
