package main

import (
	"fmt"
	"path"

	"github.com/rdmagate/rdmagate/rail/discover"
)

// cardType is the kind of a port's adapter: vendor and model of the PCI function, and
// the link layer. Devices made in software have none.
type cardType struct {
	vendor, model string
	link          discover.LinkLayer
}

func (h *host) cardType(p port) (cardType, bool) {
	dir := path.Join("class/infiniband", p.nic.Name, "device")
	t := cardType{read(h.sys, path.Join(dir, "vendor")), read(h.sys, path.Join(dir, "device")), p.LinkLayer}
	return t, t.vendor != "" && t.model != ""
}

// checkRates compares active ports of the same type of card.
func checkRates(h *host) []Finding {
	fastest := map[cardType]port{}
	compared := 0
	for _, p := range h.activePorts() {
		if t, known := h.cardType(p); known && p.Rate > 0 {
			compared++
			if best, found := fastest[t]; !found || p.Rate > best.Rate {
				fastest[t] = p
			}
		}
	}
	var all []Finding
	for _, p := range h.activePorts() {
		t, known := h.cardType(p)
		best := fastest[t]
		if !known || p.Rate == 0 || p.Rate >= best.Rate {
			continue
		}
		all = append(all, Finding{
			Level: Warning, Where: p.String(),
			Seen: fmt.Sprintf("%s; %s is of the same type of card and runs at %s.", gbps(p.Rate), best, gbps(best.Rate)),
			Why:  "A link that trained below its speed is a slow rail among fast ones: what is spread evenly waits for it, and faster senders overrun it.",
			Fix:  "Reseat or replace cable and transceiver; compare speed and FEC with the switch port, with `ethtool` or `iblinkinfo`.",
		})
	}
	if len(all) == 0 && compared > len(fastest) {
		all = append(all, ok("", "ports of the same type of card run at the same speed"))
	}
	return all
}
