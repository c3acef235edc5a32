package main

import (
	"errors"
	"fmt"
	"io/fs"
)

// checkNodes opens the character devices, as libibverbs does.
func checkNodes(h *host) []Finding {
	if h.openNode == nil || !exists(h.sys, "class/infiniband_verbs") {
		return nil
	}
	var all []Finding
	for _, n := range h.nics {
		where := printable(n.Name)
		if n.Uverbs == "" {
			all = append(all, Finding{
				Level: Fault, Where: where, Seen: "No entry of /sys/class/infiniband_verbs belongs to it.",
				Why: "Programs have no way to the device.",
				Fix: "Look for its name in `dmesg`; reload its driver.",
			})
			continue
		}
		node := "/dev/infiniband/" + n.Uverbs
		if err := h.openNode(node); err != nil {
			all = append(all, closedNode(h, where, node, err))
		}
	}
	if len(h.nics) > 0 && len(all) == 0 {
		all = append(all, ok("", count(len(h.nics), "node")+" under /dev/infiniband can be opened"))
	}
	return all
}

func closedNode(h *host, where, node string, err error) Finding {
	f := Finding{Level: Fault, Where: where, Why: "libibverbs opens this node for all that it does; without it the device cannot be used."}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Seen = node + " does not exist here, though sysfs shows the device."
		f.Fix = "On a host `udevadm trigger --subsystem-match=infiniband_verbs`. In a container: " + passIn(node)
		if h.container() {
			f.Seen += " This is a container."
			f.Fix = passIn(node)
		}
	case errors.Is(err, fs.ErrPermission):
		f.Seen = node + " may not be read and written by this process."
		f.Fix = fmt.Sprintf("`chmod 0666 %s`, which is what it has by default. In a container its rules for devices may forbid it all the same: %s", node, passIn(node))
	default:
		f.Seen = err.Error()
		f.Fix = "Look for the device in `dmesg`; it may be in a reset."
	}
	return f
}

// passIn tells how containers get a device.
func passIn(node string) string {
	return fmt.Sprintf("`docker run --device=%s`, or a device plugin for RDMA under Kubernetes.", node)
}
