package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"path"
	"slices"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// checkSharedSubnets looks for network devices of several RoCE ports in one IPv4
// subnet, and at the settings that this takes.
func checkSharedSubnets(h *host) []Finding {
	members := map[netip.Prefix][]string{}
	for _, p := range h.activePorts() {
		if !p.roce() {
			continue
		}
		for _, g := range p.GIDs {
			subnet, known := h.subnet(g)
			if known && g.Type == discover.GIDRoCEv2 && g.Addr.Is4() && !slices.Contains(members[subnet], g.NetDev) {
				members[subnet] = append(members[subnet], g.NetDev)
			}
		}
	}
	var all []Finding
	shared := 0
	for _, subnet := range sortedPrefixes(members) {
		netDevs := members[subnet]
		if len(netDevs) < 2 {
			continue
		}
		shared++
		var flux []string
		for _, name := range netDevs {
			if arpSetting(h, name, "arp_ignore") < 1 || arpSetting(h, name, "arp_announce") < 2 {
				flux = append(flux, printable(name))
			}
		}
		if len(flux) == 0 {
			continue
		}
		all = append(all, Finding{
			Level: Warning,
			Seen:  fmt.Sprintf("%s are in one subnet, %v, and %s may answer ARP for each other's addresses (arp_ignore, arp_announce).", printable(few(netDevs)), subnet, few(flux)),
			Why:   "Peers then send to the wrong NIC, which does not have the QP and drops the packets: QPs end in RETRY_EXC, though ping works.",
			Fix:   "`sysctl -w net.ipv4.conf.all.arp_ignore=1` and `sysctl -w net.ipv4.conf.all.arp_announce=2`, with a routing rule for each address (`ip rule add from ADDR table N`); or a subnet for each rail.",
		})
	}
	if shared > 0 && len(all) == 0 {
		all = append(all, ok("", "ports in one subnet answer ARP for themselves only"))
	}
	return all
}

func sortedPrefixes(set map[netip.Prefix][]string) []netip.Prefix {
	var all []netip.Prefix
	for p := range set {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), a.Bits()-b.Bits())
	})
	return all
}

// arpSetting returns a setting as it works: the larger of that for all devices and the
// device's own.
func arpSetting(h *host, netDev, name string) int {
	const dir = "proc/sys/net/ipv4/conf"
	return max(readNumber(h.root, path.Join(dir, "all", name)), readNumber(h.root, path.Join(dir, netDev, name)))
}
