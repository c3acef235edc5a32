package main

import "github.com/rdmagate/rdmagate/rail/discover"

// checkTransport looks for devices that do not take the QPs that most engines make:
// reliable connected ones, which the engine connects by itself.
func checkTransport(h *host) []Finding {
	var all []Finding
	for _, n := range h.nics {
		switch {
		case providerOf(h, n) == "efa":
			all = append(all, Finding{
				Level: Warning, Where: printable(n.Name), Seen: "The device is an EFA.",
				Why: "EFA has SRD and UD QPs and no reliable connected ones: an engine over RC, such as the example here, finds the device and fails to make a QP.",
				Fix: "Use an engine over libfabric or efadv_create_qp_ex. Admission by rdmagate is the same.",
			})
		case n.NodeType == discover.NodeRNIC:
			all = append(all, Finding{
				Level: Note, Where: printable(n.Name), Seen: "The device speaks iWARP.",
				Why: "Its QPs are connected by librdmacm over TCP. Engines that exchange QP numbers by themselves cannot connect them.",
				Fix: "Use an engine with librdmacm on both sides; some NICs can be set to RoCE v2 instead.",
			})
		}
	}
	return all
}
