package main

import (
	"fmt"
	"path"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// checkNetDevs looks at the network devices below active Ethernet ports. Where a port
// is down its own finding tells.
func checkNetDevs(h *host) []Finding {
	if !exists(h.sys, "class/net") {
		return nil // a copy without them says nothing
	}
	var all []Finding
	seen := 0
	for _, p := range h.activePorts() {
		if p.LinkLayer != discover.LinkEthernet {
			continue
		}
		names := p.netDevs()
		if len(names) == 0 {
			all = append(all, Finding{
				Level: Warning, Where: p.String(), Seen: "No network device belongs to the port.",
				Why: "An Ethernet port has its addresses from a network device, and resolves those of peers over it.",
				Fix: "It may be in another network namespace: run this, and the engine, in the one that has it.",
			})
		}
		for _, name := range names {
			seen++
			if f, bad := checkNetDev(h, p, name); bad {
				all = append(all, f)
			}
		}
	}
	if seen > 0 && len(all) == 0 {
		all = append(all, ok("", count(seen, "network device")+" below the active ports, all up"))
	}
	return all
}

func checkNetDev(h *host, p port, name string) (Finding, bool) {
	f := Finding{Level: Warning, Where: p.String()}
	shown := printable(name)
	dir := path.Join("class/net", name)
	if !exists(h.sys, dir) {
		f.Seen = fmt.Sprintf("Its network device %s is not in this network namespace.", shown)
		f.Why = "Addresses are resolved over that device. From here its GIDs may be of no use, and connections over them be refused."
		f.Fix = fmt.Sprintf("`ip link set %s netns PID` moves it to the namespace of a process; or run the container with `--network=host`.", shown)
		return f, true
	}
	if up, known := switchedOn(h, name); known && !up {
		f.Seen = fmt.Sprintf("Its network device %s is switched off.", shown)
		f.Why = "The addresses of the device, and the GIDs made of them, carry nothing."
		f.Fix = fmt.Sprintf("`ip link set %s up`", shown)
		return f, true
	}
	if state := read(h.sys, path.Join(dir, "operstate")); state == "down" || state == "lowerlayerdown" {
		f.Seen = fmt.Sprintf("Its network device %s is on, but its state is %q.", shown, state)
		f.Why = "It has no link, though the port has one: a VLAN or bond on it does not work."
		f.Fix = fmt.Sprintf("`ip -d link show %s` names what it stands on.", shown)
		return f, true
	}
	return f, false
}
