package discover

import (
	"fmt"

	"github.com/rdmagate/rdmagate/rail"
)

// Local returns every port of this machine's NICs as package rail wants them, to choose
// paths from.
func Local(found []NIC) []rail.NIC {
	var all []rail.NIC
	for _, n := range found {
		if len(n.Ports) == 0 {
			all = append(all, unusableNIC(n))
		}
		for _, p := range n.Ports {
			all = append(all, portNIC(n, p))
		}
	}
	return all
}

// Remote returns the devices of a peer as package rail wants them. A pair names no
// remote port, so each device stands there with one: the first that can be used. The
// notes tell of others that could be.
func Remote(found []NIC) (all []rail.NIC, notes []string) {
	for _, n := range found {
		var best *rail.NIC
		for _, p := range n.Ports {
			port := portNIC(n, p)
			switch {
			case best == nil || best.Unusable != "" && port.Unusable == "":
				best = &port
			case best.Unusable == "" && port.Unusable == "":
				notes = append(notes, fmt.Sprintf("port %d of remote %q is left out: a path names the remote device alone, and is taken for port %d", p.Number, n.Name, best.Port))
			}
		}
		if best == nil {
			none := unusableNIC(n)
			best = &none
		}
		all = append(all, *best)
	}
	return all, notes
}

// unusableNIC stands for a device without ports.
func unusableNIC(n NIC) rail.NIC {
	why := n.Why
	if n.Usable || why == "" {
		why = "it has no port"
	}
	return rail.NIC{Name: n.Name, NUMA: rail.Node(n.NUMA), Unusable: why}
}

func portNIC(n NIC, p Port) rail.NIC {
	port := rail.NIC{Name: n.Name, Port: p.Number, NUMA: rail.Node(n.NUMA), Rate: p.Rate}
	switch p.LinkLayer {
	case LinkInfiniBand:
		port.Link = rail.LinkInfiniBand
	case LinkEthernet:
		port.Link = rail.LinkEthernet
	}
	for _, g := range p.GIDs {
		port.Addrs = append(port.Addrs, g.Addr)
	}
	switch {
	case !n.Usable && n.Why == "":
		port.Unusable = "it is not usable, and nothing says why"
	case !n.Usable:
		port.Unusable = n.Why
	case p.State != PortActive:
		port.Unusable = fmt.Sprintf("port %d is not active but %v", p.Number, p.State)
	}
	return port
}
