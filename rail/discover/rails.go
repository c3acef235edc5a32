package discover

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/rdmagate/rdmagate/rail"
)

// Local returns every port of this machine's NICs as package rail wants them, to choose
// paths from, here and on peers: send it to them as JSON. A device without ports is
// there once. One whose name is not UTF-8 is left out, as JSON cannot carry it.
func Local(found []NIC) []rail.NIC {
	all := []rail.NIC{}
	for _, n := range found {
		if !utf8.ValidString(n.Name) {
			continue // JSON cannot carry the name
		}
		if len(n.Ports) == 0 {
			all = append(all, unusableNIC(n))
		}
		for _, p := range n.Ports {
			all = append(all, portNIC(n, p))
		}
	}
	return all
}

// unusableNIC stands for a device without ports.
func unusableNIC(n NIC) rail.NIC {
	why := n.Why
	if n.Usable || why == "" {
		why = "it has no port"
	}
	return rail.NIC{Name: n.Name, NUMA: n.NUMA, Unusable: why}
}

func portNIC(n NIC, p Port) rail.NIC {
	port := rail.NIC{Name: n.Name, Port: p.Number, NUMA: n.NUMA, Rate: p.Rate}
	switch p.LinkLayer {
	case LinkInfiniBand:
		port.Link = rail.LinkInfiniBand
	case LinkEthernet:
		port.Link = rail.LinkEthernet
	}
	for _, g := range p.GIDs {
		if !slices.Contains(port.Addrs, g.Addr) { // RoCE v1 and v2 have a GID each
			port.Addrs = append(port.Addrs, g.Addr)
		}
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
