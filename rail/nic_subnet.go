package rail

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// subnetting is how many leading bits of an address name its subnet. 0 is not
// configured: addresses of that family say nothing.
type subnetting struct{ ipv4, ipv6 int }

// subnets is what the addresses of a NIC say of its subnets.
type subnets struct {
	known    bool // there are addresses
	prefixes []netip.Prefix
}

// ofAll returns the subnets of each NIC.
func (s subnetting) ofAll(nics []NIC) []subnets {
	all := make([]subnets, len(nics))
	for i := range nics {
		all[i] = s.of(&nics[i])
	}
	return all
}

// of returns the subnets that a NIC is in.
func (s subnetting) of(n *NIC) subnets {
	in := subnets{known: len(n.Addrs) > 0}
	for _, addr := range n.Addrs {
		addr = addr.Unmap().WithZone("")
		bits := s.ipv6
		if addr.Is4() {
			bits = s.ipv4
		}
		if bits == 0 || !telling(addr, n.Link) {
			continue
		}
		if prefix, err := addr.Prefix(bits); err == nil && !slices.Contains(in.prefixes, prefix) {
			in.prefixes = append(in.prefixes, prefix)
		}
	}
	return in
}

// telling reports whether an address tells the subnet of a port. Every Ethernet
// port has link-local addresses of the same prefix, wherever it is.
func telling(addr netip.Addr, link Link) bool {
	return addr.IsGlobalUnicast() || link == LinkInfiniBand && addr.Is6() && addr.IsLinkLocalUnicast()
}

// shared returns a subnet that both NICs are in.
func (s subnets) shared(with subnets) (netip.Prefix, bool) {
	for _, prefix := range s.prefixes {
		if slices.Contains(with.prefixes, prefix) {
			return prefix, true
		}
	}
	return netip.Prefix{}, false
}

// apart reports whether the NICs are known to share no subnet. NICs without
// addresses may be anywhere, and two NICs of which neither has an address of a
// configured family are not told apart.
func (s subnets) apart(from subnets) bool {
	if !s.known || !from.known || len(s.prefixes)+len(from.prefixes) == 0 {
		return false
	}
	_, share := s.shared(from)
	return !share
}

// String lists the subnets, the first few of them.
func (s subnets) String() string {
	const most = 2
	switch n := len(s.prefixes); {
	case n == 0:
		return "none"
	case n > most:
		return fmt.Sprintf("%s and %d more", join(s.prefixes[:most]), n-most)
	}
	return join(s.prefixes)
}

func join(prefixes []netip.Prefix) string {
	var texts []string
	for _, p := range prefixes {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, ", ")
}
