package rail

import (
	"fmt"
	"net/netip"
	"strings"
)

// subnetting is how many leading bits of an address name its subnet. 0 is not
// configured: addresses of that family say nothing.
type subnetting struct{ ipv4, ipv6 int }

// subnets is what the addresses of a NIC say of its subnets.
type subnets struct {
	known    bool // there are addresses
	prefixes []netip.Prefix
	set      map[netip.Prefix]bool // the same: a peer may send many
	text     string                // the first few of them
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
	in := subnets{known: len(n.Addrs) > 0, set: map[netip.Prefix]bool{}}
	for _, addr := range n.Addrs {
		addr = addr.Unmap()
		bits := s.ipv6
		if addr.Is4() {
			bits = s.ipv4
		}
		if bits == 0 || !telling(addr, n.Link) {
			continue
		}
		if prefix, err := addr.Prefix(bits); err == nil && !in.set[prefix] {
			in.set[prefix] = true
			in.prefixes = append(in.prefixes, prefix)
		}
	}
	in.text = listed(in.prefixes)
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
		if with.set[prefix] {
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

// listed lists the first few prefixes.
func listed(prefixes []netip.Prefix) string {
	const most = 2
	if len(prefixes) == 0 {
		return "none"
	}
	var texts []string
	for _, p := range prefixes[:min(len(prefixes), most)] {
		texts = append(texts, p.String())
	}
	text := strings.Join(texts, ", ")
	if more := len(prefixes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
