package main

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// checkPorts looks at the state of each port.
func checkPorts(h *host) []Finding {
	var all []Finding
	level := Warning
	if len(h.activePorts()) == 0 {
		level = Fault
	}
	for _, n := range h.nics {
		if len(n.Ports) == 0 {
			all = append(all, Finding{
				Level: level, Where: printable(n.Name), Seen: "The device shows no port.",
				Why: "There is nothing to send on.", Fix: "Look for the device in `dmesg`; reload its driver.",
			})
		}
	}
	for _, p := range h.ports() {
		switch {
		case p.State == discover.PortActive:
			all = append(all, ok(p.String(), fmt.Sprintf("active, %s, %s", rateText(p.Rate), linkText(p.LinkLayer))))
		case !waitsForSM(p):
			all = append(all, Finding{
				Level: level, Where: p.String(),
				Seen: fmt.Sprintf("The port is %s; its link is %s.", stateText(p.State), physText(p.PhysState)),
				Why:  "Nothing can be sent on it. Work requests of QPs that were connected over it run into their retry timeouts.",
				Fix:  portFix(h, p),
			})
		}
	}
	return all
}

// portFix tells what to do about a port that is not active.
func portFix(h *host, p port) string {
	if p.LinkLayer == discover.LinkEthernet {
		for _, name := range p.netDevs() {
			if up, known := switchedOn(h, name); known && !up {
				return fmt.Sprintf("The network device is switched off: `ip link set %s up`", printable(name))
			}
		}
		return "Check cable and transceiver with `ethtool -m`, and whether the switch port is on and of the same speed and FEC."
	}
	switch p.PhysState {
	case discover.PhysPolling:
		return "No signal comes from the other side: check cable, transceiver and the switch port."
	case discover.PhysDisabled:
		return "The port was switched off: `ibportstate -D 0 1 enable`, with the port's number for the 1."
	}
	return "Check cable and transceiver, and look at `iblinkinfo`."
}

// switchedOn reports whether a network device was set up by its administrator.
func switchedOn(h *host, netDev string) (up, known bool) {
	text := read(h.sys, path.Join("class/net", netDev, "flags"))
	flags, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 32)
	const iffUp = 1
	return flags&iffUp != 0, err == nil
}

func stateText(s discover.PortState) string {
	if s == discover.PortUnknown {
		return "in an unknown state"
	}
	return s.String()
}

func physText(s discover.PhysState) string {
	switch s {
	case discover.PhysLinkUp:
		return "up"
	case discover.PhysUnknown:
		return "in an unknown state"
	}
	return s.String()
}

func rateText(rate float64) string {
	if rate == 0 {
		return "of unknown speed"
	}
	return gbps(rate)
}

func linkText(l discover.LinkLayer) string {
	if l == discover.LinkUnspecified {
		return "link layer without a name"
	}
	return l.String()
}
