package main

import "testing"

func TestModules(t *testing.T) {
	runExamples(t, checkModules, []example{
		{name: "loaded", ok: "ib_uverbs and rdma_ucm are there"},
		{
			name: "no ib_uverbs", edit: func(t tree) { t.drop("sys/class/infiniband_verbs") },
			want: []string{"FAULT: ib_uverbs is not loaded"},
		},
		{
			name: "no rdma_ucm", edit: func(t tree) { t.drop("sys/class/misc/rdma_cm") },
			want: []string{"NOTE: rdma_ucm is not loaded"},
		},
		{name: "no device", tree: "empty"},
	})
}
