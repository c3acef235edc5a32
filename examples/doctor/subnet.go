package main

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// route is a line of the main routing table.
type route struct {
	netDev  string
	to      netip.Prefix
	gateway bool // through a router
}

// routes returns the IPv4 routes of the main table. Other tables, to which rules may
// lead, are in no file.
func (h *host) routes() []route {
	var all []route
	for line := range strings.Lines(read(h.root, "proc/net/route")) {
		f := strings.Fields(line)
		if len(f) < 8 {
			continue
		}
		to, okTo := kernelIPv4(f[1])
		gateway, okGateway := kernelIPv4(f[2])
		mask, okMask := kernelIPv4(f[7])
		if !okTo || !okGateway || !okMask {
			continue // the header
		}
		m := mask.As4()
		ones := bits.OnesCount32(binary.BigEndian.Uint32(m[:]))
		if prefix, err := to.Prefix(ones); err == nil {
			all = append(all, route{f[0], prefix, !gateway.IsUnspecified()})
		}
	}
	return all
}

// kernelIPv4 reads an address that the kernel wrote as a number of the machine's byte
// order.
func kernelIPv4(text string) (netip.Addr, bool) {
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil || len(text) != 8 {
		return netip.Addr{}, false
	}
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], uint32(n))
	return netip.AddrFrom4(b), true
}

// subnet returns the subnet that a GID's address is in, as far as the files tell. On
// InfiniBand the first half of the GID is the subnet.
func (h *host) subnet(g discover.GID) (netip.Prefix, bool) {
	switch {
	case g.Type == discover.GIDIB:
		prefix, err := g.Addr.Prefix(64)
		return prefix, err == nil
	case g.NetDev == "" || !g.Addr.IsGlobalUnicast():
		return netip.Prefix{}, false
	case g.Addr.Is6():
		return h.subnet6(g)
	}
	var best netip.Prefix
	for _, r := range h.routes() {
		if r.netDev == g.NetDev && !r.gateway && r.to.Contains(g.Addr) && r.to.Bits() > max(best.Bits(), 0) {
			best = r.to
		}
	}
	return best, best.IsValid()
}

// subnet6 returns the subnet of an IPv6 address from the list of them.
func (h *host) subnet6(g discover.GID) (netip.Prefix, bool) {
	for line := range strings.Lines(read(h.root, "proc/net/if_inet6")) {
		f := strings.Fields(line) // address, interface number, prefix length, scope, flags, name
		if len(f) != 6 || f[5] != g.NetDev || f[0] != strings.ReplaceAll(g.Addr.StringExpanded(), ":", "") {
			continue
		}
		n, err := strconv.ParseUint(f[2], 16, 8)
		if err != nil {
			continue
		}
		prefix, err := g.Addr.Prefix(int(n))
		return prefix, err == nil
	}
	return netip.Prefix{}, false
}
