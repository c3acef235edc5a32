package main

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// checkGIDs looks at the addresses of active RoCE ports. An engine picks one of them
// for its QPs, and both sides must pick the same kind.
func checkGIDs(h *host) []Finding {
	var all []Finding
	well := 0
	for _, p := range h.activePorts() {
		if !p.roce() {
			continue
		}
		found := portGIDs(h, p)
		for i := range found {
			found[i].Where = p.String()
		}
		if len(found) == 0 {
			well++
		}
		all = append(all, found...)
	}
	if well > 0 {
		all = append(all, ok("", count(well, "RoCE port")+" with a RoCE v2 GID of an IPv4 address"))
	}
	return all
}

// portGIDs returns what is wrong with the GIDs of a port.
func portGIDs(h *host, p port) []Finding {
	var v2, ipv4, global []discover.GID
	var bare []string // indexes of those without a network device
	for _, g := range p.GIDs {
		if g.NetDev == "" {
			bare = append(bare, strconv.Itoa(g.Index))
		}
		if g.Type != discover.GIDRoCEv2 {
			continue
		}
		v2 = append(v2, g)
		if g.Addr.Is4() {
			ipv4 = append(ipv4, g)
		}
		if g.Addr.IsGlobalUnicast() {
			global = append(global, g)
		}
	}
	var all []Finding
	switch {
	case len(v2) == 0:
		all = append(all, Finding{
			Level: Fault, Seen: fmt.Sprintf("The port has no RoCE v2 GID (%s of other kinds).", count(len(p.GIDs), "GID")),
			Why: "RoCE v1 does not pass routers, and peers that use v2 are not reached with it. A port without any GID has no address at all.",
			Fix: addAddress(p) + ". If there is one, RoCE v2 is off in the driver.",
		})
	case len(global) == 0:
		all = append(all, Finding{
			Level: Warning, Seen: "All RoCE v2 GIDs of the port are link-local.",
			Why: "They reach no further than the Ethernet segment, tell nothing of the subnet, and most engines look for an IPv4 address.",
			Fix: addAddress(p) + ".",
		})
	case len(ipv4) == 0:
		all = append(all, Finding{
			Level: Note, Seen: fmt.Sprintf("The RoCE v2 GIDs of the port are all IPv6, such as %v at index %d.", global[0].Addr, global[0].Index),
			Why: "It works if the peer is the same. Engines that look for IPv4 first find no GID here.",
			Fix: "Name the GID index to the engine, or add an IPv4 address.",
		})
	}
	if len(bare) > 0 {
		all = append(all, Finding{
			Level: Warning, Seen: fmt.Sprintf("No network device belongs to GID %s.", few(bare)),
			Why: "The kernel resolves addresses of peers over the network device of the GID. QPs with this one cannot be connected.",
			Fix: "Its device may be in another network namespace, or was just removed: look with `rdma link` and `ip address` there.",
		})
	}
	return append(all, twins(h, ipv4)...)
}

// addAddress tells how a port gets a GID.
func addAddress(p port) string {
	netDev := "NETDEV"
	if names := p.netDevs(); len(names) > 0 {
		netDev = printable(names[0])
	}
	return fmt.Sprintf("Give its network device an address: `ip address add ADDR/LEN dev %s`", netDev)
}

// twins reports IPv4 GIDs of one port that are in the same subnet.
func twins(h *host, gids []discover.GID) []Finding {
	first := map[netip.Prefix]discover.GID{}
	var all []Finding
	for _, g := range gids {
		subnet, known := h.subnet(g)
		if !known {
			continue
		}
		other, found := first[subnet]
		if !found {
			first[subnet] = g
			continue
		}
		all = append(all, Finding{
			Level: Note, Seen: fmt.Sprintf("GIDs %d (%v) and %d (%v) are in one subnet, %v.", other.Index, other.Addr, g.Index, g.Addr, subnet),
			Why: "Either may be picked, and the index of an address changes when addresses come and go. A peer that knows the other one sees a stranger.",
			Fix: fmt.Sprintf("Name the address to the engine, not the index; or `ip address del %v/%d dev %s`", g.Addr, subnet.Bits(), printable(g.NetDev)),
		})
	}
	return all
}
