package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmagate/rdmagate/rail"
)

// Port is one port of a NIC.
type Port struct {
	// Number counts from 1; verbs name ports by it.
	Number uint8 `json:"number"`
	// State is the logical state.
	State PortState `json:"state"`
	// PhysState is the state of the link.
	PhysState PhysState `json:"phys_state"`
	// Rate is the speed of the link in Gb/s, up to [rail.MaxRate]; 0 is unknown.
	Rate float64 `json:"rate_gbps"`
	// LinkLayer is the link protocol.
	LinkLayer LinkLayer `json:"link_layer"`
	// GIDs are the entries in use of its GID table, by index.
	GIDs []GID `json:"gids"`
}

// nodeType returns the kind of a device.
func (t tree) nodeType(dir string, faults *faultList) NodeType {
	return NodeType(t.number(path.Join(dir, "node_type"), "node type", int(NodeUnspecified), faults))
}

// ports returns the ports of a device that have a number.
func (t tree) ports(dir string, node NodeType, faults *faultList) []Port {
	all := []Port{}
	names, err := t.list(path.Join(dir, portsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		faults.add("ports: %v", err)
	}
	for _, name := range names {
		number, err := decimal(name)
		if err != nil || number < 1 || number > math.MaxUint8 || name != strconv.Itoa(number) {
			faults.add("ports: %.40q is left out, verbs know ports 1 to %d", name, math.MaxUint8)
			continue
		}
		all = append(all, t.port(path.Join(dir, portsDir, name), uint8(number), node, faults))
	}
	slices.SortFunc(all, func(a, b Port) int { return int(a.Number) - int(b.Number) })
	return all
}

// port reads one port.
func (t tree) port(dir string, number uint8, node NodeType, faults *faultList) Port {
	what := func(value string) string { return fmt.Sprintf("port %d: %s", number, value) }
	p := Port{
		Number:    number,
		State:     PortState(t.number(path.Join(dir, "state"), what("state"), int(PortActiveDefer), faults)),
		PhysState: PhysState(t.number(path.Join(dir, "phys_state"), what("physical state"), int(PhysTest), faults)),
		Rate:      t.rate(path.Join(dir, "rate"), what("rate"), faults),
		LinkLayer: t.linkLayer(path.Join(dir, "link_layer"), what("link layer"), faults),
	}
	p.GIDs = t.gids(dir, p, node, faults)
	if p.State == PortActive && p.LinkLayer == LinkEthernet && len(p.GIDs) == 0 {
		faults.add("port %d is active and has no GID, so it has no address; configure an IP address on its network device", number)
	}
	return p
}

// number reads values such as "4: ACTIVE". It is 0 if there is a fault.
func (t tree) number(file, what string, most int, faults *faultList) int {
	text, err := t.line(file)
	if err != nil {
		faults.add("%s: %v", what, err)
		return 0
	}
	n, err := leadingNumber(text, most)
	if err != nil {
		faults.add("%s: %s: %v", what, file, err)
	}
	return n
}

// rate reads values such as "100 Gb/sec (4X EDR)".
func (t tree) rate(file, what string, faults *faultList) float64 {
	text, err := t.line(file)
	if err != nil {
		faults.add("%s: %v", what, err)
		return 0
	}
	rate, err := parseRate(text)
	if err != nil {
		faults.add("%s: %s: %v", what, file, err)
	}
	return rate
}

func parseRate(text string) (float64, error) {
	digits, _, found := strings.Cut(text, " Gb/sec")
	rate, err := strconv.ParseFloat(digits, 64)
	if !found || err != nil || !(rate >= 0 && rate <= rail.MaxRate) {
		return 0, fmt.Errorf("%.40q is no rate such as \"100 Gb/sec (4X EDR)\"", text)
	}
	return rate, nil
}

func (t tree) linkLayer(file, what string, faults *faultList) LinkLayer {
	text, err := t.line(file)
	if err != nil {
		faults.add("%s: %v", what, err)
		return LinkUnspecified
	}
	switch text {
	case "InfiniBand":
		return LinkInfiniBand
	case "Ethernet":
		return LinkEthernet
	case "Unspecified", "Unknown":
		return LinkUnspecified
	}
	faults.add("%s: %s: %.40q is unknown", what, file, text)
	return LinkUnspecified
}
