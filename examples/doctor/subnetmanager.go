package main

import (
	"fmt"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// waitsForSM reports whether an InfiniBand port has a link and nobody who makes it
// active.
func waitsForSM(p port) bool {
	return p.LinkLayer == discover.LinkInfiniBand && (p.State == discover.PortInit || p.State == discover.PortArmed)
}

// checkSubnetManager looks at what the subnet manager gave to InfiniBand ports.
func checkSubnetManager(h *host) []Finding {
	const fix = "Run one subnet manager in the fabric: on a managed switch, or `systemctl start opensm` on one host. `sminfo` shows the one in charge."
	var all []Finding
	for _, p := range h.ports() {
		if p.LinkLayer != discover.LinkInfiniBand {
			continue
		}
		lid, sm := read(h.sys, p.file("lid")), read(h.sys, p.file("sm_lid"))
		switch {
		case waitsForSM(p):
			all = append(all, Finding{
				Level: Fault, Where: p.String(), Seen: fmt.Sprintf("The link is %s and the port stays %s.", physText(p.PhysState), p.State),
				Why: "A subnet manager gives the port its LID and makes it active. None has done so.",
				Fix: fix,
			})
		case p.State != discover.PortActive:
		case noLID(lid):
			all = append(all, Finding{
				Level: Fault, Where: p.String(), Seen: "The port is active and has no LID.",
				Why: "The LID is the port's address in its subnet. QPs cannot be connected without.",
				Fix: fix,
			})
		case noLID(sm):
			all = append(all, Finding{
				Level: Warning, Where: p.String(), Seen: fmt.Sprintf("The port has LID %s, but the LID of its subnet manager is not known.", lid),
				Why: "What is connected goes on. A link that comes back, or a new host, is not configured any more.",
				Fix: fix,
			})
		default:
			all = append(all, ok(p.String(), fmt.Sprintf("LID %s, subnet manager at %s", lid, sm)))
		}
	}
	return all
}

// noLID reports an address that was not assigned.
func noLID(text string) bool { return text == "" || text == "0x0" || text == "0" }
