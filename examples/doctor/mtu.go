package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// roceHeaders is what the kernel sets aside of a network device's MTU before it looks
// for the RDMA MTU: the largest headers that a RoCE packet may have.
const roceHeaders = 40 + 8 + 12 + 4 + 28 + 4 // GRH or IP, UDP, BTH, XRC, atomic, ICRC

// rdmaMTUs are those that InfiniBand and RoCE know.
var rdmaMTUs = []int{4096, 2048, 1024, 512, 256}

// largestMTU is the best of them, and wantedNetMTU the least that gives it, rounded.
const (
	largestMTU   = 4096
	wantedNetMTU = 4200
)

// rdmaMTU returns the RDMA MTU that fits into that of a network device, 0 if none does.
func rdmaMTU(net int) int {
	for _, mtu := range rdmaMTUs {
		if net-roceHeaders >= mtu {
			return mtu
		}
	}
	return 0
}

// mtus are the packet sizes of a port. 0 is unknown.
type mtus struct {
	net    int    // of the network device below a RoCE port
	netDev string // its name
	active int    // what libibverbs says
}

// rdma returns the RDMA MTU: that of libibverbs, or what the network device gives.
func (m mtus) rdma() int {
	if m.active > 0 {
		return m.active
	}
	return rdmaMTU(m.net)
}

func (h *host) mtu(p port) mtus {
	m := mtus{active: h.devices[p.nic.Name].mtu[p.Number]}
	if names := p.netDevs(); p.roce() && len(names) > 0 {
		m.netDev = names[0]
		m.net = readNumber(h.sys, path.Join("class/net", m.netDev, "mtu"))
	}
	return m
}

// checkMTU looks at the packet sizes of active ports.
func checkMTU(h *host) []Finding {
	var all []Finding
	sizes := map[discover.LinkLayer][]string{} // as text, of each port
	values := map[discover.LinkLayer][]int{}
	for _, p := range h.activePorts() {
		m := h.mtu(p)
		if f, bad := portMTU(p, m); bad {
			all = append(all, f)
		}
		if mtu := m.rdma(); mtu > 0 {
			sizes[p.LinkLayer] = append(sizes[p.LinkLayer], fmt.Sprintf("%s has %d", p, mtu))
			if !slices.Contains(values[p.LinkLayer], mtu) {
				values[p.LinkLayer] = append(values[p.LinkLayer], mtu)
			}
		}
	}
	for _, link := range []discover.LinkLayer{discover.LinkInfiniBand, discover.LinkEthernet} {
		if len(values[link]) > 1 {
			all = append(all, Finding{
				Level: Warning, Seen: "The ports of this host have different RDMA MTUs: " + few(sizes[link]) + ".",
				Why: "Pairs of ports with different MTUs meet when a transfer changes rails; QPs with different path MTUs fail at once.",
				Fix: "Give all network devices, and the switches, one MTU; or let the engine use the smaller one of each pair for both QPs.",
			})
		}
		if len(values[link]) == 1 {
			all = append(all, ok("", fmt.Sprintf("the RDMA MTU of %v ports is %d", link, values[link][0])))
		}
	}
	return all
}

// portMTU returns what is wrong with the packet size of a port.
func portMTU(p port, m mtus) (Finding, bool) {
	f := Finding{Where: p.String()}
	raise := fmt.Sprintf("`ip link set %s mtu %d`, and as much on the switches and the peers.", printable(m.netDev), wantedNetMTU)
	switch fits := rdmaMTU(m.net); {
	case m.net > 0 && fits == 0:
		f.Level = Fault
		f.Seen = fmt.Sprintf("The MTU of %s is %d.", printable(m.netDev), m.net)
		f.Why = fmt.Sprintf("The smallest RDMA MTU is 256, and the headers take %d.", roceHeaders)
		f.Fix = raise
	case m.active > 0 && m.active < fits:
		f.Level = Warning
		f.Seen = fmt.Sprintf("The active RDMA MTU is %d, though the MTU of %s, %d, allows %d.", m.active, printable(m.netDev), m.net, fits)
		f.Why = "The driver has not followed the network device. Peers that did use larger packets."
		f.Fix = fmt.Sprintf("`ip link set %s down` and up again, when nothing uses it.", printable(m.netDev))
	case p.roce() && m.rdma() > 0 && m.rdma() < largestMTU:
		f.Level = Note
		f.Seen = "The RDMA MTU is " + strconv.Itoa(m.rdma()) + netText(m) + "."
		f.Why = fmt.Sprintf("A transfer takes %d times the packets that it would take with %d.", largestMTU/m.rdma(), largestMTU)
		f.Fix = raise
	default:
		return f, false
	}
	return f, true
}

// netText says what the RDMA MTU comes from.
func netText(m mtus) string {
	if m.net == 0 {
		return ""
	}
	return strings.Join([]string{", since that of", printable(m.netDev), "is", strconv.Itoa(m.net)}, " ")
}
