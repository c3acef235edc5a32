package rail

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
)

// MaxNICs is how many NICs a [Map] takes on each side.
const MaxNICs = 256

// MapConfig is what a [Map] is made from.
type MapConfig struct {
	// Peer and Incarnation name the remote machine, as in [Pair].
	Peer, Incarnation string
	// Local lists the own ports. A device may have several.
	Local []NIC
	// Remote lists the peer's devices, each once and with the port that it offers: a
	// [Pair] names no remote port. [Devices] makes it from a list of ports.
	Remote []NIC
	// File pins the pairs. Nil allows all. What it names and these NICs do not have is
	// left out without a word: [File.Check] tells.
	File *File
	// IPv4Bits and IPv6Bits are the lengths of the prefixes within which NICs reach
	// each other: 1 to 32 and 1 to 128, 0 if not configured. Choose them so that a
	// prefix covers what is routed. Pairs that a File allows are not held to them.
	IPv4Bits, IPv6Bits int
}

// Exclusion is why a pair of NICs may not be used.
type Exclusion uint8

// The exclusions. When several apply the first is given, and the words name all.
const (
	// Allowed: it may be used.
	Allowed Exclusion = iota // allowed
	// UnusableNIC: one of the NICs is unusable.
	UnusableNIC // unusable NIC
	// OtherLink: the NICs have different link layers.
	OtherLink // other link layer
	// NotInFile: there is a rail file, and the pair is not in it.
	NotInFile // not in the rail file
	// OtherSubnet: a prefix is configured, and the NICs share none. NICs without any
	// address are allowed, and so are two of which neither has an address of a family
	// with a prefix.
	OtherSubnet // other subnet
)

// Path is a pair of NICs, one of each side, with what never changes about it.
type Path struct {
	// Pair is its key.
	Pair
	// Index is its place in [Map.Paths]. Callers keep what is theirs by it.
	Index int
	// LocalNIC and RemoteNIC are the places in the lists of NICs.
	LocalNIC, RemoteNIC int
	// RemotePort is the port of the remote device.
	RemotePort uint8
	// Excluded says that it may not be used, and Why gives the reasons in words,
	// empty if there are none. Why may hold what a NIC's Unusable holds.
	Excluded Exclusion
	Why      string
	// Match is what puts both NICs on the same rail.
	Match Match
	// Subnet is the first configured one that both are in; not valid if none is known.
	Subnet netip.Prefix

	localNode, remoteNode Node
	rate                  float64 // Gb/s of the slower NIC, above 0
}

// SameRail reports whether both NICs are known to be on the same rail.
func (p *Path) SameRail() bool { return p.Match != CrossRail }

// Map holds the paths between the NICs of two machines. It never changes, and is
// safe for concurrent use. Make a new one when the NICs of a side change.
type Map struct {
	paths  []Path
	usable []*Path
}

// NewMap pairs each local NIC with each remote NIC. It reports every fault of the
// configuration, joined into one error. A Map without a usable path is no error.
func NewMap(c MapConfig) (*Map, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	m := &Map{paths: make([]Path, 0, len(c.Local)*len(c.Remote))}
	pins, nets := c.File.pins(), subnetting{c.IPv4Bits, c.IPv6Bits}
	local, remote := nets.ofAll(c.Local), nets.ofAll(c.Remote)
	// In this order neighbours have no NIC in common, which spreads callers that take
	// the first few of equally good paths.
	for shift := range c.Remote {
		for i := range c.Local {
			j := (i + shift) % len(c.Remote)
			m.paths = append(m.paths, Path{Index: len(m.paths), LocalNIC: i, RemoteNIC: j})
			p, l, r := &m.paths[len(m.paths)-1], &c.Local[i], &c.Remote[j]
			p.Pair = Pair{Peer: c.Peer, Incarnation: c.Incarnation, Local: l.Name, Port: l.Port, Remote: r.Name}
			p.RemotePort, p.localNode, p.remoteNode, p.rate = r.Port, l.NUMA, r.NUMA, slower(l.Rate, r.Rate)
			p.Subnet, _ = local[i].shared(remote[j])
			p.exclude(l, r, pins)
			if pins == nil && local[i].apart(remote[j]) {
				p.excludeFor(OtherSubnet, "other subnet: local in "+local[i].text+", remote in "+remote[j].text)
			}
		}
	}
	m.matchRails(&c, pins)
	m.assumeRates()
	for i := range m.paths {
		if p := &m.paths[i]; p.Excluded == Allowed {
			m.usable = append(m.usable, p)
		}
	}
	return m, nil
}

// Paths returns all pairs, the excluded ones too. The caller must not change them.
func (m *Map) Paths() []Path { return m.paths }

// String counts the pairs, such as "4 of 16 pairs may be used; other subnet: 12".
func (m *Map) String() string {
	var counts [OtherSubnet + 1]int
	for i := range m.paths {
		counts[m.paths[i].Excluded]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d pairs may be used", len(m.usable), len(m.paths))
	for e := UnusableNIC; e <= OtherSubnet; e++ {
		if counts[e] > 0 {
			fmt.Fprintf(&b, "; %v: %d", e, counts[e])
		}
	}
	return b.String()
}

func (c *MapConfig) validate() error {
	faults := []error{checkName("peer", c.Peer, 1), checkName("incarnation", c.Incarnation, 0)}
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("rail: "+format, args...)) }
	for _, side := range []struct {
		name string
		nics []NIC
	}{{"local", c.Local}, {"remote", c.Remote}} {
		if len(side.nics) > MaxNICs {
			add("there are %d %s NICs, at most %d are allowed", len(side.nics), side.name, MaxNICs)
			continue
		}
		type key struct {
			name string
			port uint8
		}
		seen := map[key]bool{}
		for i := range side.nics {
			n := &side.nics[i]
			faults = append(faults, n.validate(side.name))
			k := key{n.Name, n.Port}
			if side.name == "remote" {
				k.port = 0 // a pair does not name it
			}
			if seen[k] {
				add("%s NIC %.40q, port %d, is listed after another that makes the same pairs; list it once, and of a remote device one port (Devices does that)", side.name, n.Name, n.Port)
			}
			seen[k] = true
		}
	}
	for _, bits := range []struct {
		name        string
		value, most int
	}{{"IPv4Bits", c.IPv4Bits, 32}, {"IPv6Bits", c.IPv6Bits, 128}} {
		if bits.value < 0 || bits.value > bits.most {
			add("%s is %d, must be 1 to %d, or 0 if no prefix is configured", bits.name, bits.value, bits.most)
		}
	}
	if c.File != nil {
		faults = append(faults, c.File.Validate())
	}
	return errors.Join(faults...)
}

func (p *Path) exclude(l, r *NIC, pins *pins) {
	if l.Unusable != "" {
		p.excludeFor(UnusableNIC, "local NIC: "+l.Unusable)
	}
	if r.Unusable != "" {
		p.excludeFor(UnusableNIC, "remote NIC: "+r.Unusable)
	}
	if l.Link != r.Link && l.Link != LinkUnknown && r.Link != LinkUnknown {
		p.excludeFor(OtherLink, fmt.Sprintf("other link layer: local %v, remote %v", l.Link, r.Link))
	}
	if pins != nil && !pins.all[names{l.Name, r.Name}] {
		p.excludeFor(NotInFile, "not in the rail file")
	}
}

func (p *Path) excludeFor(e Exclusion, why string) {
	if p.Excluded == Allowed {
		p.Excluded, p.Why = e, why
		return
	}
	p.Why += "; " + why
}

// slower returns the lower of two rates, of which 0 is unknown.
func slower(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// assumeRates takes paths of unknown speed for as slow as the slowest known one.
func (m *Map) assumeRates() {
	slowest := math.Inf(1)
	for i := range m.paths {
		if rate := m.paths[i].rate; rate > 0 {
			slowest = min(slowest, rate)
		}
	}
	if math.IsInf(slowest, 1) {
		slowest = 1
	}
	for i := range m.paths {
		if m.paths[i].rate == 0 {
			m.paths[i].rate = slowest
		}
	}
}
