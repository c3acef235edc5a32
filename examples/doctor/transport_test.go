package main

import "testing"

func TestTransport(t *testing.T) {
	runExamples(t, checkTransport, []example{
		{name: "RoCE"},
		{name: "EFA", tree: "efa", want: []string{"WARNING rdmap0s6: The device is an EFA", "WARNING rdmap0s7: The device is an EFA"}},
		{
			name: "iWARP", edit: func(t tree) { t.set("sys/class/infiniband/mlx5_1/node_type", "4: RNIC") },
			want: []string{"NOTE mlx5_1: The device speaks iWARP"},
		},
	})
}
