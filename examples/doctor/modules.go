package main

// checkModules looks for what the kernel offers to programs: ib_uverbs for verbs, and
// rdma_ucm for connections. The traces of the modules are the same when they are
// built into the kernel.
func checkModules(h *host) []Finding {
	if len(h.nics) == 0 {
		return nil // there is more to load, see the devices
	}
	var all []Finding
	if !exists(h.sys, "class/infiniband_verbs") {
		all = append(all, Finding{
			Level: Fault, Seen: "There are RDMA devices, but /sys/class/infiniband_verbs does not exist: ib_uverbs is not loaded.",
			Why: "ib_uverbs makes the nodes under /dev/infiniband through which programs reach the devices.",
			Fix: "`modprobe ib_uverbs`",
		})
	}
	if !exists(h.sys, "class/misc/rdma_cm") {
		all = append(all, Finding{
			Level: Note, Seen: "rdma_ucm is not loaded: /sys/class/misc/rdma_cm does not exist.",
			Why: "Engines that connect with librdmacm need it. Those that exchange QP numbers by other means do not.",
			Fix: "`modprobe rdma_ucm`",
		})
	}
	if len(all) == 0 {
		all = append(all, ok("", "ib_uverbs and rdma_ucm are there"))
	}
	return all
}
