package rail

// Match is what puts the two NICs of a path on the same rail: in most networks they
// are then on the same switch, and no spine is crossed.
//
// If the rail file has direct pairs, they are the same rail and nothing else is.
// Otherwise each local NIC has its partner: the remote NIC of the same name, if that
// may be used with it. Failing that, all remote NICs that share a configured subnet
// with it. Failing that too, and only if the two machines have equally many devices
// and no device name in common, the device at the same place in the other list.
type Match uint8

// The matches. CrossRail is the absence of one.
const (
	CrossRail    Match = iota // cross-rail
	SameByFile                // direct in the rail file
	SameName                  // same name
	SameSubnet                // same subnet
	SamePosition              // same position
)

// matchRails sets the Match of every path that may be used.
func (m *Map) matchRails(c *MapConfig, pins *pins) {
	if pins != nil && len(pins.direct) > 0 {
		m.match(SameByFile, func(p *Path) bool { return pins.direct[names{p.Local, p.Remote}] })
		return
	}
	m.match(SameName, func(p *Path) bool { return p.Local == p.Remote })
	m.match(SameSubnet, func(p *Path) bool { return p.Subnet.IsValid() })
	mine, theirs := positions(c.Local), positions(c.Remote)
	if len(mine) != len(theirs) {
		return
	}
	for name := range mine {
		if _, common := theirs[name]; common {
			return
		}
	}
	m.match(SamePosition, func(p *Path) bool { return mine[p.Local] == theirs[p.Remote] })
}

// match gives the local NICs that have no partner yet those for which same is true.
func (m *Map) match(by Match, same func(*Path) bool) {
	matched := make([]bool, MaxNICs) // by local NIC
	for i := range m.paths {
		if m.paths[i].SameRail() {
			matched[m.paths[i].LocalNIC] = true
		}
	}
	for i := range m.paths {
		if p := &m.paths[i]; p.Excluded == Allowed && !matched[p.LocalNIC] && same(p) {
			p.Match = by
		}
	}
}

// positions numbers devices in the order of the list.
func positions(nics []NIC) map[string]int {
	of := map[string]int{}
	for i := range nics {
		if _, listed := of[nics[i].Name]; !listed {
			of[nics[i].Name] = len(of)
		}
	}
	return of
}
