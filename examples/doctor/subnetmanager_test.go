package main

import "testing"

func TestSubnetManager(t *testing.T) {
	const well = "mlx5_0 port 1: LID 0x5, subnet manager at 0x1"
	const waits = "FAULT mlx5_1 port 1: The link is up and the port stays "
	runExamples(t, checkSubnetManager, []example{
		{name: "Ethernet"},
		{name: "initializing", tree: "infiniband", want: []string{waits + "initializing"}, ok: well},
		{
			name: "armed", tree: "infiniband", edit: func(t tree) { t.set(portFile("mlx5_1", "state"), "3: ARMED") },
			want: []string{waits + "armed"}, ok: well,
		},
		{name: "down", tree: "infiniband", edit: down("2: Polling", "mlx5_1"), ok: well},
		{
			name: "no LID", tree: "infiniband", edit: func(t tree) { t.set(portFile("mlx5_1", "state"), "4: ACTIVE") },
			want: []string{"FAULT mlx5_1 port 1: The port is active and has no LID"}, ok: well,
		},
		{
			name: "nobody is in charge", tree: "infiniband",
			edit: func(t tree) {
				t.set(portFile("mlx5_1", "state"), "4: ACTIVE")
				t.set(portFile("mlx5_1", "lid"), "0x6")
			},
			want: []string{"WARNING mlx5_1 port 1: The port has LID 0x6, but the LID of its subnet manager is not known"}, ok: well,
		},
	})
}
