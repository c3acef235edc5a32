package main

import (
	"regexp"
	"strconv"
)

// nodeList is how sysfs lists more than one node, such as 0-1 or 0,2-3.
var nodeList = regexp.MustCompile(`^[0-9]+[-,][0-9,-]*[0-9]$`)

// checkNUMA looks for NICs of which nobody knows where they are attached.
func checkNUMA(h *host) []Finding {
	online := read(h.sys, "devices/system/node/online")
	if _, err := strconv.Atoi(online); err == nil && len(h.nics) > 0 {
		return []Finding{ok("", "the machine has one node")}
	}
	if len(h.nics) == 0 || !nodeList.MatchString(online) {
		return nil
	}
	var unknown []string
	for _, n := range h.nics {
		if n.PCI != "" && !n.NUMA.Known {
			unknown = append(unknown, printable(n.Name))
		}
	}
	if len(unknown) == 0 {
		return []Finding{ok("", "the nodes of all NICs are known")}
	}
	return []Finding{{
		Level: Note, Seen: "The machine has the NUMA nodes " + online + ", and does not say on which these NICs are: " + few(unknown) + ".",
		Why: "Engines prefer a NIC that is near the buffer. Without its node the choice is blind, and half of the transfers cross the link between the sockets.",
		Fix: "The firmware has to say it: look for its NUMA settings, or pass the topology on to the virtual machine. Pin the pairs with a rail file meanwhile.",
	}}
}
