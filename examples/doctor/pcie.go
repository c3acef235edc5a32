package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// slot is a PCIe link and what hangs on it. The functions of a card share one.
type slot struct {
	dir    string  // in sysfs, of one of the functions
	demand float64 // Gb/s of all active ports
	ports  []string
}

// checkPCIe compares the link to the host with the ports behind it.
func checkPCIe(h *host) []Finding {
	slots := map[string]*slot{}
	for _, p := range h.activePorts() {
		card, _, found := strings.Cut(p.nic.PCI, ".") // without the function
		if !found || virtualFunction(h, p) {
			continue
		}
		if slots[card] == nil {
			slots[card] = &slot{dir: path.Join("class/infiniband", p.nic.Name, "device")}
		}
		slots[card].demand += p.Rate
		slots[card].ports = append(slots[card].ports, p.String())
	}
	var all []Finding
	known := 0
	for _, card := range slices.Sorted(maps.Keys(slots)) {
		s := slots[card]
		now, most := pcieLink(h, s.dir, "current"), pcieLink(h, s.dir, "max")
		if now.gbps() == 0 || most.gbps() == 0 {
			continue
		}
		known++
		if now.gbps() >= min(s.demand, most.gbps()) {
			continue
		}
		all = append(all, Finding{
			Level: Warning, Where: "PCI " + card,
			Seen: fmt.Sprintf("The card's PCIe link is %s, about %.0f Gb/s, and could be %s. Its ports run at %s together: %s.",
				now, now.gbps(), most, gbps(s.demand), few(s.ports)),
			Why: "The NIC takes what arrives no faster than it can hand it to the host: it pauses the switch or drops packets, and looks like a slow receiver.",
			Fix: "Move the card to a slot with as many lanes; look at the slot's settings in the firmware, and at risers.",
		})
	}
	if known > 0 && len(all) == 0 {
		all = append(all, ok("", "the slots carry what the ports do"))
	}
	return all
}

// virtualFunction reports a function that has no link of its own to ask.
func virtualFunction(h *host, p port) bool {
	return exists(h.sys, path.Join("class/infiniband", p.nic.Name, "device/physfn"))
}

// pciLink is a speed of a PCIe link.
type pciLink struct {
	gts   float64 // GT/s of a lane
	lanes int
}

func pcieLink(h *host, dir, which string) pciLink {
	speed, _, _ := strings.Cut(read(h.sys, path.Join(dir, which+"_link_speed")), " GT/s")
	gts, _ := strconv.ParseFloat(speed, 64) // 0, unknown, if it is no number
	lanes := readNumber(h.sys, path.Join(dir, which+"_link_width"))
	return pciLink{gts, lanes}
}

func (l pciLink) String() string {
	return fmt.Sprintf("%s GT/s x%d", strconv.FormatFloat(l.gts, 'f', -1, 64), l.lanes)
}

// gbps is what the link carries before the headers of its packets: 8 bits of 10 up to
// 5 GT/s, 128 of 130 up to 32, and 242 bytes of 256 above.
func (l pciLink) gbps() float64 {
	coding := 242.0 / 256
	switch {
	case l.gts <= 5:
		coding = 8.0 / 10
	case l.gts <= 32:
		coding = 128.0 / 130
	}
	return l.gts * float64(l.lanes) * coding
}
