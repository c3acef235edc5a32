package main

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/rail/discover"
)

// relation is how a local port and one of the peer's stand to each other.
type relation int

const (
	untold    relation = iota // the addresses do not tell
	otherLink                 // InfiniBand and Ethernet
	apart                     // no common subnet
	together                  // a common subnet
)

// relation compares link layers and subnets. The subnets are those of the local port,
// whose prefix lengths are known.
func (h *host) relation(p port, peer portFacts) relation {
	switch {
	case p.LinkLayer == discover.LinkUnspecified || peer.Link == rail.LinkUnknown:
		return untold
	case (p.LinkLayer == discover.LinkInfiniBand) != (peer.Link == rail.LinkInfiniBand):
		return otherLink
	}
	subnets, told := h.subnets(p), false
	for _, addr := range peer.Addrs {
		addr = addr.Unmap()
		if slices.ContainsFunc(subnets, func(s netip.Prefix) bool { return s.Contains(addr) }) {
			return together
		}
		told = told || addr.IsGlobalUnicast() || peer.Link == rail.LinkInfiniBand
	}
	if len(subnets) == 0 || !told {
		return untold
	}
	return apart
}

// subnets returns the subnets of a port's addresses.
func (h *host) subnets(p port) []netip.Prefix {
	var all []netip.Prefix
	for _, g := range p.GIDs {
		if s, known := h.subnet(g); known && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// usablePeers returns the peer's ports that it can use itself.
func (h *host) usablePeers() []portFacts {
	return slices.DeleteFunc(slices.Clone(h.peer), func(p portFacts) bool { return p.Unusable != "" })
}

// checkReach asks which of the peer's ports each active port can reach directly.
func checkReach(h *host) []Finding {
	active, peers := h.activePorts(), h.usablePeers()
	if h.peer == nil || len(active) == 0 {
		return nil // not asked, or told by the ports
	}
	if len(peers) == 0 {
		f := Finding{
			Level: Fault, Seen: fmt.Sprintf("None of %s in the peer's file can be used.", count(len(h.peer), "port")),
			Why: "There is nothing to connect to.", Fix: "Run this on the peer.",
		}
		if len(h.peer) > 0 {
			f.Seen += fmt.Sprintf(" The first: %s.", h.peer[0].Unusable)
		}
		return []Finding{f}
	}
	var all []Finding
	for _, p := range active {
		all = append(all, portReach(h, p, peers))
	}
	return all
}

func portReach(h *host, p port, peers []portFacts) Finding {
	var n [together + 1]int
	for _, peer := range peers {
		n[h.relation(p, peer)]++
	}
	f := Finding{Where: p.String()}
	switch {
	case n[together] > 0:
		return ok(p.String(), fmt.Sprintf("%d of %s of the peer in its subnet", n[together], count(len(peers), "port")))
	case n[untold] > 0:
		f.Level = Note
		f.Seen = "The addresses do not tell whether the peer is in its subnet."
		f.Why = "Pairs that cannot reach each other cost a retry time each before they are known."
		f.Fix = "Ask the kernel: `ip route get PEER from ADDR`; or pin the pairs with a rail file, see examples/rails."
	case n[apart] > 0:
		f.Level = Warning
		f.Seen = fmt.Sprintf("None of the peer's addresses is in its subnets: %s, not in %s.", few(peerAddrs(peers)), prefixText(h.subnets(p)))
		f.Why = "The packets go through a router, if there is a way at all. Without one each QP ends in RETRY_EXC after its retry time; with one the router must have the MTU and the lossless class too."
		f.Fix = h.routeFix(p, peers)
	default:
		f.Level = Warning
		f.Seen = fmt.Sprintf("The port is %v, and no port of the peer is.", p.LinkLayer)
		f.Why = "InfiniBand and Ethernet do not reach each other."
		f.Fix = "Leave the port out for this peer, or change its link type with `mlxconfig -d DEVICE set LINK_TYPE_P1=1`, 2 for Ethernet."
	}
	return f
}

// routeFix tells how to look for a way through a router.
func (h *host) routeFix(p port, peers []portFacts) string {
	if p.LinkLayer == discover.LinkInfiniBand {
		return "Two fabrics, or two subnet managers with different prefixes: connect them, or leave the pair out."
	}
	const none = "Put both into one subnet, or add a route."
	for _, g := range p.GIDs {
		if !g.Addr.Is4() {
			continue
		}
		for _, peer := range peers {
			for _, addr := range peer.Addrs {
				if addr = addr.Unmap(); !addr.Is4() {
					continue
				}
				look := fmt.Sprintf("`ip route get %v from %v` shows the way that is taken.", addr, g.Addr)
				if slices.ContainsFunc(h.routes(), func(r route) bool { return r.netDev == g.NetDev && r.gateway && r.to.Contains(addr) }) {
					return fmt.Sprintf("The main table has a way through a router over %s. %s", printable(g.NetDev), look)
				}
				return none + " " + look
			}
		}
	}
	return none
}

// peerAddrs lists the addresses of ports, without those that are link-local.
func peerAddrs(peers []portFacts) []string {
	var all []string
	for _, peer := range peers {
		for _, addr := range peer.Addrs {
			if addr = addr.Unmap(); addr.IsGlobalUnicast() || peer.Link == rail.LinkInfiniBand {
				all = append(all, addr.String())
			}
		}
	}
	return all
}

func prefixText(prefixes []netip.Prefix) string {
	var all []string
	for _, p := range prefixes {
		all = append(all, p.String())
	}
	return few(all)
}
