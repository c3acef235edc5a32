package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// rdmaModules are the modules that make RDMA devices of a network adapter, by the
// driver of its PCI function. Some adapters of such a driver do not offer RDMA.
var rdmaModules = map[string]string{
	"be2net":    "ocrdma",
	"bnxt_en":   "bnxt_re",
	"cxgb4":     "iw_cxgb4",
	"hns3":      "hns_roce_hw_v2",
	"i40e":      "irdma",
	"ice":       "irdma",
	"idpf":      "irdma",
	"mana":      "mana_ib",
	"mlx4_core": "mlx4_ib",
	"mlx5_core": "mlx5_ib",
	"qede":      "qedr",
}

// checkDevices looks for RDMA devices, and for adapters that could be some.
func checkDevices(h *host) []Finding {
	if h.nicsErr != nil && len(h.nics) == 0 {
		return []Finding{{
			Level: Fault, Seen: h.nicsErr.Error(),
			Why: "RDMA devices are found in sysfs, which Linux has.",
			Fix: "Run this on Linux, with /sys mounted, or name a directory with -sys.",
		}}
	}
	idle := idleAdapters(h)
	if len(h.nics) == 0 {
		return []Finding{noDevices(h, idle)}
	}
	var names []string
	for _, n := range h.nics {
		names = append(names, printable(n.Name))
	}
	all := []Finding{ok("", count(len(names), "RDMA device")+": "+few(names))}
	if h.nicsErr != nil {
		all = append(all, Finding{
			Level: Warning, Seen: h.nicsErr.Error(),
			Why: "Devices that come after the fault are not in this report.",
			Fix: "Run it again; if the fault stays, look at the kernel's log with `dmesg`.",
		})
	}
	for _, a := range idle {
		all = append(all, Finding{
			Level: Note, Where: a.where(), Seen: a.seen(),
			Why: "It could be one more path, if the adapter offers RDMA.",
			Fix: a.fix(),
		})
	}
	return all
}

// noDevices says why there may be no device, as far as the files tell.
func noDevices(h *host, idle []adapter) Finding {
	f := Finding{
		Level: Fault,
		Seen:  "There is no RDMA device: /sys/class/infiniband is empty.",
		Why:   "Without one there are no verbs, and an engine is left with TCP.",
	}
	if !exists(h.sys, "class/infiniband") {
		f.Seen = "There is no RDMA device, and no RDMA in this kernel at the moment: /sys/class/infiniband does not exist."
	}
	if len(idle) > 0 {
		var seen, fix []string
		for _, a := range idle {
			seen = append(seen, a.where()+": "+a.seen())
			fix = append(fix, a.fix())
		}
		f.Seen += " " + strings.Join(seen, " ")
		f.Fix = strings.Join(slices.Compact(fix), " ")
		return f
	}
	f.Seen += " No PCI function is known to offer one."
	switch modules := "lib/modules/" + read(h.root, "proc/sys/kernel/osrelease"); {
	case exists(h.sys, "class/infiniband"):
		f.Fix = "If the machine has an adapter, load its driver. Without one: " + softRoCE(h)
	case h.root != nil && !exists(h.root, "proc/modules"):
		f.Fix = "This kernel loads no modules (there is no /proc/modules), so RDMA cannot be added to it: use a kernel that has it. " +
			"`go run ./examples/engine demo` boots a small guest with Soft-RoCE devices."
	case exists(h.root, modules) && !exists(h.root, modules+"/kernel/drivers/infiniband"):
		f.Fix = "The modules for RDMA are not installed. Debian has them in linux-image-amd64, not in the -cloud kernel, Ubuntu in linux-modules-extra. Then: " + softRoCE(h)
	default:
		f.Fix = "If the machine has an adapter, load its driver; a container or virtual machine must be given one. Without one: " + softRoCE(h)
	}
	return f
}

// softRoCE tells how to make a device of a network interface.
func softRoCE(h *host) string {
	netDev := "eth0"
	for _, name := range list(h.sys, "class/net") {
		if read(h.sys, path.Join("class/net", name, "type")) == "1" && exists(h.sys, path.Join("class/net", name, "device")) {
			netDev = name
			break
		}
	}
	return fmt.Sprintf("`modprobe rdma_rxe` and `rdma link add rxe0 type rxe netdev %s`.", netDev)
}

// adapter is a PCI function that may offer RDMA and has no RDMA device.
type adapter struct {
	pci, driver, module string
	loaded              bool // the module
}

func (a adapter) where() string { return "PCI " + a.pci }

func (a adapter) seen() string {
	switch {
	case a.driver == "":
		return "an adapter without a driver."
	case a.loaded:
		return fmt.Sprintf("driver %s and module %s are there, but no RDMA device.", a.driver, a.module)
	}
	return fmt.Sprintf("driver %s, and its module for RDMA, %s, is not loaded.", a.driver, a.module)
}

func (a adapter) fix() string {
	if a.loaded {
		return fmt.Sprintf("RDMA may be off on the adapter: look with `devlink dev param show pci/%s`, and at `dmesg`.", a.pci)
	}
	return fmt.Sprintf("`modprobe %s`", a.module)
}

// idleAdapters finds them by their drivers; those that have none, by their vendors.
func idleAdapters(h *host) []adapter {
	const bus = "bus/pci/devices"
	var all []adapter
	for _, pci := range list(h.sys, bus) {
		dir := path.Join(bus, pci)
		if exists(h.sys, path.Join(dir, "infiniband")) || !strings.HasPrefix(read(h.sys, path.Join(dir, "class")), "0x02") {
			continue // has a device, or is no network controller
		}
		a := adapter{pci: printable(pci), driver: uevent(h.sys, dir, "DRIVER")}
		a.module = rdmaModules[a.driver]
		if a.driver == "" {
			a.module = driverOf(read(h.sys, path.Join(dir, "vendor")), read(h.sys, path.Join(dir, "device")))
		}
		if a.module == "" {
			continue
		}
		a.loaded = exists(h.sys, path.Join("module", a.module))
		all = append(all, a)
	}
	return all
}

// driverOf returns the driver of adapters that all offer RDMA.
func driverOf(vendor, device string) string {
	switch {
	case vendor == "0x15b3": // NVIDIA, once Mellanox
		return "mlx5_core"
	case vendor == "0x1d0f" && strings.HasPrefix(device, "0xefa"): // Amazon
		return "efa"
	}
	return ""
}
