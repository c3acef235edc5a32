package main

import (
	"fmt"
	"slices"
)

// checkPeerMTU compares the packet sizes of ports that may be connected.
func checkPeerMTU(h *host) []Finding {
	active, peers := h.activePorts(), h.usablePeers()
	if len(active) == 0 || len(peers) == 0 {
		return nil
	}
	if !slices.ContainsFunc(peers, func(p portFacts) bool { return p.MTU > 0 }) {
		return []Finding{{
			Level: Note, Seen: "The peer's file holds no MTUs.",
			Why: "Different MTUs look like a broken host, so they are worth a comparison.",
			Fix: "Write the file with `doctor -json` on that host.",
		}}
	}
	var all []Finding
	compared := 0
	for _, p := range active {
		own := h.mtu(p).rdma()
		var others []string
		for _, peer := range peers {
			if r := h.relation(p, peer); own == 0 || peer.MTU == 0 || r == apart || r == otherLink {
				continue
			}
			compared++
			if peer.MTU != own {
				others = append(others, fmt.Sprintf("%s has %d", portName(peer.Name, peer.Port), peer.MTU))
			}
		}
		if len(others) > 0 {
			all = append(all, Finding{
				Level: Warning, Where: p.String(),
				Seen: fmt.Sprintf("The RDMA MTU here is %d; at the peer %s.", own, few(others)),
				Why: "An engine that gives each QP the MTU of its own port connects QPs that do not fit: work requests longer than a packet fail with length errors or invalid requests on either side, " +
					"and so do those of the next QP. The controller reports a persistent fault; an engine that does not listen rebuilds for ever.",
				Fix: "Give both sides, and the switches, one MTU; or give both QPs the smaller of the two as path_mtu.",
			})
		}
	}
	if len(all) == 0 && compared > 0 {
		all = append(all, ok("", "both sides have the same RDMA MTU"))
	}
	return all
}
