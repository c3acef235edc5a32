package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
)

// priorities is how many classes of traffic Ethernet has.
const priorities = 8

// checkFlowControl looks at what NVIDIA's drivers show of ECN and of trust in sysfs.
// Other drivers, and those of the kernel itself, show nothing there; PFC is in no file.
func checkFlowControl(h *host) []Finding {
	var all []Finding
	var hidden []string
	for _, name := range roceNetDevs(h) {
		dir := path.Join("class/net", name)
		trust := read(h.sys, path.Join(dir, "qos/trust"))
		if trust == "" && !exists(h.sys, path.Join(dir, "ecn")) {
			hidden = append(hidden, printable(name))
			continue
		}
		found := append(checkECN(h, name), checkTrust(name, trust)...)
		if len(found) == 0 {
			found = []Finding{ok("", "RoCE packets are classed by DSCP, and ECN is on")}
		}
		for _, f := range found {
			f.Where = printable(name)
			all = append(all, f)
		}
	}
	if len(hidden) > 0 {
		all = append(all, Finding{
			Level: Note, Seen: "PFC and ECN are not visible here for " + few(hidden) + ".",
			Why: "RoCE loses packets where a queue is neither paused (PFC) nor slowed down (ECN), and each loss costs a timeout or many packets sent again.",
			Fix: fmt.Sprintf("`dcb pfc show dev %s` or `mlnx_qos -i %s`; then ask the switch: PFC and ECN must be on for the same priority all the way.", hidden[0], hidden[0]),
		})
	}
	return all
}

// roceNetDevs returns the network devices of active RoCE ports.
func roceNetDevs(h *host) []string {
	var all []string
	for _, p := range h.activePorts() {
		if names := p.netDevs(); p.roce() && len(names) > 0 && !slices.Contains(all, names[0]) {
			all = append(all, names[0])
		}
	}
	return all
}

// checkECN looks for the priorities on which the NIC answers marks with notifications
// (notification point) and slows down for them (reaction point).
func checkECN(h *host, netDev string) []Finding {
	var all []Finding
	for _, side := range []struct{ dir, fails string }{
		{"roce_np", "does not tell senders of marked packets"},
		{"roce_rp", "does not slow down when it is told of marked packets"},
	} {
		dir := path.Join("class/net", netDev, "ecn", side.dir, "enable")
		var on []string
		shown := false
		for i := range priorities {
			text := read(h.sys, path.Join(dir, strconv.Itoa(i)))
			shown = shown || text != ""
			if text == "1" {
				on = append(on, strconv.Itoa(i))
			}
		}
		if !shown || len(on) > 0 {
			continue
		}
		all = append(all, Finding{
			Level: Warning, Seen: fmt.Sprintf("ECN is off on all priorities: %s.", side.dir),
			Why: fmt.Sprintf("The NIC %s, so nothing but pauses and losses slows a congested flow.", side.fails),
			Fix: fmt.Sprintf("`echo 1 > /sys/%s/3`, with the priority of the RoCE traffic for the 3.", dir),
		})
	}
	return all
}

// checkTrust looks at what the NIC classes packets by.
func checkTrust(netDev, trust string) []Finding {
	if trust != "pcp" {
		return nil
	}
	return []Finding{{
		Level: Warning, Seen: "The NIC trusts the priority of the VLAN tag (pcp).",
		Why: "RoCE v2 without a tag has none, and falls into the default class: PFC and ECN of the RoCE class do not hold for it, whatever its DSCP says.",
		Fix: fmt.Sprintf("`mlnx_qos -i %s --trust dscp`, unless all RoCE traffic is on a VLAN.", printable(netDev)),
	}}
}
