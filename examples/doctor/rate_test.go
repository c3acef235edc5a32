package main

import "testing"

func TestRates(t *testing.T) {
	const same = "ports of the same type of card run at the same speed"
	slow := func(t tree) { t.set(portFile("mlx5_1", "rate"), "25 Gb/sec (1X EDR)") }
	runExamples(t, checkRates, []example{
		{name: "the same", ok: same},
		{name: "one is slow", edit: slow, want: []string{"WARNING mlx5_1 port 1: 25 Gb/s; mlx5_0 port 1 is of the same type of card and runs at 200 Gb/s"}},
		{
			name: "the first is slow", edit: func(t tree) { t.set(portFile("mlx5_0", "rate"), "100 Gb/sec (4X EDR)") },
			want: []string{"WARNING mlx5_0 port 1: 100 Gb/s; mlx5_1 port 1 is of the same type"},
		},
		{name: "one is another card", edit: func(t tree) { slow(t); t.set("sys/class/infiniband/mlx5_1/device/device", "0x1015") }},
		{name: "one is of another vendor", edit: func(t tree) { slow(t); t.set("sys/class/infiniband/mlx5_1/device/vendor", "0x8086") }},
		{name: "one has another link layer", edit: func(t tree) { slow(t); t.set(portFile("mlx5_1", "link_layer"), "InfiniBand") }},
		{name: "one is of no card", edit: func(t tree) { slow(t); t.drop("sys/class/infiniband/mlx5_1/device/vendor") }},
		{
			name: "both are of an unknown vendor",
			edit: func(t tree) {
				slow(t)
				t.drop("sys/class/infiniband/mlx5_0/device/vendor")
				t.drop("sys/class/infiniband/mlx5_1/device/vendor")
			},
		},
		{name: "one is down, where the rate means nothing", edit: func(t tree) { slow(t); down("3: Disabled", "mlx5_1")(t) }},
		{name: "one is of unknown speed", edit: func(t tree) { t.drop(portFile("mlx5_1", "rate")) }},
		{name: "alone", tree: "container"},
	})
}
