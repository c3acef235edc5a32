package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// portFile is a file of the port of mlx5_0 or mlx5_1.
func portFile(device, name string) string {
	return "sys/class/infiniband/" + device + "/ports/1/" + name
}

// down takes ports down.
func down(phys string, devices ...string) func(tree) {
	return func(t tree) {
		for _, d := range devices {
			t.set(portFile(d, "state"), "1: DOWN")
			t.set(portFile(d, "phys_state"), phys)
		}
	}
}

func TestPorts(t *testing.T) {
	const downText = "The port is down; its link is "
	runExamples(t, checkPorts, []example{
		{name: "active", ok: "mlx5_1 port 1: active, 200 Gb/s, Ethernet"},
		{name: "one is down", edit: down("3: Disabled", "mlx5_1"), want: []string{"WARNING mlx5_1 port 1: " + downText + "disabled."}, ok: "mlx5_0 port 1: active"},
		{name: "all are down", edit: down("2: Polling", "mlx5_0", "mlx5_1"), want: []string{"FAULT mlx5_0 port 1: " + downText + "polling.", "FAULT mlx5_1 port 1: "}},
		{
			name: "unknown",
			edit: func(t tree) {
				t.set(portFile("mlx5_1", "state"), "0: NOP")
				t.drop(portFile("mlx5_1", "phys_state"))
			},
			want: []string{"WARNING mlx5_1 port 1: The port is in an unknown state; its link is in an unknown state."}, ok: "mlx5_0",
		},
		{
			name: "deferred", edit: func(t tree) { t.set(portFile("mlx5_1", "state"), "5: ACTIVE_DEFER") },
			want: []string{"WARNING mlx5_1 port 1: The port is active, deferred; its link is up."}, ok: "mlx5_0",
		},
		{
			name: "an Ethernet port waits", edit: func(t tree) { t.set(portFile("mlx5_1", "state"), "2: INIT") },
			want: []string{"WARNING mlx5_1 port 1: The port is initializing"}, ok: "mlx5_0",
		},
		{name: "an InfiniBand port waits", tree: "infiniband", ok: "mlx5_0 port 1: active, 200 Gb/s, InfiniBand"},
		{name: "no port", edit: func(t tree) { t.drop("sys/class/infiniband/mlx5_1/ports") }, want: []string{"WARNING mlx5_1: shows no port"}, ok: "mlx5_0"},
		{name: "bad values", edit: func(t tree) { t.drop(portFile("mlx5_1", "rate")) }, ok: "mlx5_1 port 1: active, of unknown speed, Ethernet"},
		{name: "no device", tree: "empty"},
	})
}

func TestPortFix(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(tree)
		want string
	}{
		{"switched off", func(t tree) { t.set("sys/class/net/ens1f1np1/flags", "0x1002") }, "`ip link set ens1f1np1 up`"},
		{"switched on", func(tree) {}, "`ethtool -m`"},
		{"flags unknown", func(t tree) { t.drop("sys/class/net/ens1f1np1/flags") }, "`ethtool -m`"},
		{"InfiniBand, no signal", func(t tree) {
			t.set(portFile("mlx5_1", "link_layer"), "InfiniBand")
			t.set(portFile("mlx5_1", "phys_state"), "2: Polling")
		}, "No signal comes"},
		{"InfiniBand, disabled", func(t tree) { t.set(portFile("mlx5_1", "link_layer"), "InfiniBand") }, "`ibportstate -D 0 1 enable`"},
		{"InfiniBand, training", func(t tree) {
			t.set(portFile("mlx5_1", "link_layer"), "InfiniBand")
			t.set(portFile("mlx5_1", "phys_state"), "4: PortConfigurationTraining")
		}, "`iblinkinfo`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			machine := loadTree(t, "mlx5")
			down("3: Disabled", "mlx5_1")(machine)
			tt.edit(machine)
			assert.Contains(t, fix(t, machine.host(), checkPorts), tt.want)
		})
	}
}
