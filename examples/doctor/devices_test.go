package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// idlePCI adds a network adapter without an RDMA device.
func idlePCI(t tree, uevent string) {
	dir := "sys/bus/pci/devices/0000:41:00.0/"
	t.set(dir+"class", "0x020000")
	t.set(dir+"vendor", "0x8086")
	t.set(dir+"uevent", uevent)
}

func TestDevices(t *testing.T) {
	const none = "FAULT: There is no RDMA device, and no RDMA in this kernel"
	runExamples(t, checkDevices, []example{
		{name: "two", ok: "2 RDMA devices: mlx5_0, mlx5_1"},
		{name: "none", tree: "empty", want: []string{none}},
		{
			name: "none, but the kernel's core", tree: "empty",
			edit: func(t tree) { t["sys/class/infiniband/"] = "" },
			want: []string{"FAULT: There is no RDMA device: /sys/class/infiniband is empty"},
		},
		{
			name: "no sysfs", tree: "empty",
			edit: func(t tree) { t.drop("sys/class") },
			want: []string{"FAULT: this is no sysfs"},
		},
		{
			name: "an adapter whose module is not loaded", tree: "empty",
			edit: func(t tree) { idlePCI(t, "DRIVER=mlx5_core") },
			want: []string{none},
		},
		{
			name: "one more adapter",
			edit: func(t tree) { idlePCI(t, "DRIVER=ice") },
			want: []string{"NOTE PCI 0000:41:00.0: driver ice, and its module for RDMA, irdma, is not loaded"},
			ok:   "2 RDMA devices",
		},
		{
			name: "one more adapter with its module",
			edit: func(t tree) {
				idlePCI(t, "DRIVER=ice")
				t["sys/module/irdma/"] = ""
			},
			want: []string{"NOTE PCI 0000:41:00.0: driver ice and module irdma are there, but no RDMA device"},
			ok:   "2 RDMA devices",
		},
		{
			name: "an adapter of another kind",
			edit: func(t tree) { idlePCI(t, "DRIVER=e1000e") },
			ok:   "2 RDMA devices",
		},
		{
			name: "something else than a network adapter",
			edit: func(t tree) {
				idlePCI(t, "DRIVER=mlx5_core")
				t.set("sys/bus/pci/devices/0000:41:00.0/class", "0x010802")
			},
			ok: "2 RDMA devices",
		},
		{
			name: "an adapter of NVIDIA without a driver",
			edit: func(t tree) {
				idlePCI(t, "PCI_ID=15B3:1021")
				t.set("sys/bus/pci/devices/0000:41:00.0/vendor", "0x15b3")
			},
			want: []string{"NOTE PCI 0000:41:00.0: an adapter without a driver"},
			ok:   "2 RDMA devices",
		},
		{
			name: "an adapter of Intel without a driver",
			edit: func(t tree) { idlePCI(t, "PCI_ID=8086:1592") },
			ok:   "2 RDMA devices",
		},
		{
			name: "an adapter of NVIDIA that a virtual machine has",
			edit: func(t tree) {
				idlePCI(t, "DRIVER=vfio-pci")
				t.set("sys/bus/pci/devices/0000:41:00.0/vendor", "0x15b3")
			},
			ok: "2 RDMA devices",
		},
	})
}

// A list of devices that could not be read to its end is told beside what it held.
func TestDevicesCutOff(t *testing.T) {
	h := loadTree(t, "mlx5").host()
	h.look()
	h.nicsErr = errors.New("list of RDMA devices: input/output error")
	findings := checkDevices(h)
	require.Len(t, findings, 2)
	assert.Equal(t, OK, findings[0].Level)
	assert.Equal(t, Warning, findings[1].Level)
	assert.Equal(t, h.nicsErr.Error(), findings[1].Seen)
}

// What to do where there is no device depends on what the kernel has.
func TestNoDevicesFix(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(tree)
		want string
		not  string
	}{
		{"modules are there", func(tree) {}, "`modprobe rdma_rxe` and `rdma link add rxe0 type rxe netdev enp0s3`", "not installed"},
		{"no modules", func(t tree) { t.drop("proc/modules") }, "This kernel loads no modules", "modprobe"},
		{"modules not installed", func(t tree) {
			t.drop("lib/modules/6.1.0-18-amd64/kernel/drivers")
			t["lib/modules/6.1.0-18-amd64/kernel/net/"] = ""
		}, "The modules for RDMA are not installed", "no modules"},
		{"modules not to be seen", func(t tree) { t.drop("lib") }, "load its driver", "not installed"},
		{"core without devices", func(t tree) { t["sys/class/infiniband/"] = ""; t.drop("proc/modules") }, "load its driver", "no modules"},
		{"adapter", func(t tree) { idlePCI(t, "DRIVER=mlx5_core") }, "`modprobe mlx5_ib`", "rxe"},
		{"adapter and module", func(t tree) { idlePCI(t, "DRIVER=mlx5_core"); t["sys/module/mlx5_ib/"] = "" }, "`devlink dev param show pci/0000:41:00.0`", "modprobe"},
		{"EFA", func(t tree) {
			idlePCI(t, "")
			t.set("sys/bus/pci/devices/0000:41:00.0/vendor", "0x1d0f")
			t.set("sys/bus/pci/devices/0000:41:00.0/device", "0xefa1")
		}, "`modprobe efa`", "rxe"},
		{"another device of that vendor", func(t tree) {
			idlePCI(t, "")
			t.set("sys/bus/pci/devices/0000:41:00.0/vendor", "0x1d0f")
			t.set("sys/bus/pci/devices/0000:41:00.0/device", "0xec20")
		}, "rxe", "efa"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			machine := loadTree(t, "empty")
			tt.edit(machine)
			got := fix(t, machine.host(), checkDevices)
			assert.Contains(t, got, tt.want)
			assert.NotContains(t, got, tt.not)
		})
	}
	h := loadTree(t, "empty").host()
	h.root = nil
	assert.Contains(t, fix(t, h, checkDevices), "rxe", "a sysfs alone does not tell what the kernel can load")
}

// Two ports of one card have one remedy.
func TestIdleTwice(t *testing.T) {
	machine := loadTree(t, "empty")
	idlePCI(machine, "DRIVER=ice")
	machine.set("sys/bus/pci/devices/0000:41:00.1/class", "0x020000")
	machine.set("sys/bus/pci/devices/0000:41:00.1/uevent", "DRIVER=ice")
	h := machine.host()
	assert.Equal(t, "`modprobe irdma`", fix(t, h, checkDevices))
	findings := checkDevices(h)
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].Seen, "0000:41:00.0")
	assert.Contains(t, findings[0].Seen, "0000:41:00.1")
}
