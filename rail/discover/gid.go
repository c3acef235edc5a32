package discover

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"slices"
	"strconv"
)

// GID is one entry in use of a port's GID table: an address of the port.
type GID struct {
	// Index is the place in the table; verbs name a GID by it.
	Index int `json:"index"`
	// Addr is the GID as an IPv6 address, or as the IPv4 address mapped into it.
	Addr netip.Addr `json:"addr"`
	// Type is the protocol.
	Type GIDType `json:"type"`
	// NetDev is the network device whose address it is, a VLAN or a bond for
	// instance. Empty if there is none.
	NetDev string `json:"net_dev,omitempty"`
}

// gids reads the GID table of a port.
func (t tree) gids(dir string, p Port, node NodeType, faults *faultList) []GID {
	all := []GID{}
	names, err := t.list(path.Join(dir, "gids"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		faults.add("port %d: GIDs: %v", p.Number, err)
	}
	for _, name := range names {
		index, err := decimal(name)
		if err != nil || name != strconv.Itoa(index) {
			faults.add("port %d: GIDs: %.40q is no index", p.Number, name)
			continue
		}
		addr, err := t.gidAddr(path.Join(dir, "gids", name))
		if err != nil {
			faults.add("port %d: GID %d: %v", p.Number, index, err)
		}
		if !addr.IsValid() {
			continue
		}
		all = append(all, GID{
			Index:  index,
			Addr:   addr.Unmap(),
			Type:   t.gidType(dir, index, p, node, faults),
			NetDev: t.gidNetDev(dir, index, p, faults),
		})
	}
	slices.SortFunc(all, func(a, b GID) int { return cmp.Compare(a.Index, b.Index) })
	return all
}

// gidAddr reads one entry. The address is not valid if the entry is empty.
func (t tree) gidAddr(file string) (netip.Addr, error) {
	text, err := t.line(file)
	if err != nil {
		if emptyEntry(err) {
			err = nil
		}
		return netip.Addr{}, err
	}
	addr, err := parseGID(text)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%s: %w", file, err)
	}
	return addr, nil
}

// noInterface is what some drivers put into entries of which only the subnet is
// set.
var noInterface = netip.MustParseAddr("fe80::")

func parseGID(text string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%.60q is no GID, which is written like an IPv6 address", text)
	}
	if addr.IsUnspecified() || addr == noInterface {
		return netip.Addr{}, nil
	}
	return addr, nil
}

// gidType tells what protocol an entry is for. Sysfs has one word for IB and RoCE
// v1, and uses it too for devices that speak neither.
func (t tree) gidType(dir string, index int, p Port, node NodeType, faults *faultList) GIDType {
	file := path.Join(dir, gidTypesDir, strconv.Itoa(index))
	text, err := t.line(file)
	switch {
	case err != nil && emptyEntry(err):
		return GIDUnknown
	case err != nil:
		faults.add("port %d: type of GID %d: %v", p.Number, index, err)
		return GIDUnknown
	case text == "RoCE v2":
		return GIDRoCEv2
	case text != "IB/RoCE v1":
		faults.add("port %d: type of GID %d: %s: %.40q is unknown", p.Number, index, file, text)
		return GIDUnknown
	case p.LinkLayer == LinkInfiniBand:
		return GIDIB
	case p.LinkLayer == LinkEthernet && node == NodeCA:
		return GIDRoCEv1
	case node == NodeUnknown:
		return GIDUnknown
	}
	return GIDOther
}

// gidNetDev returns the network device of an entry. InfiniBand has none.
func (t tree) gidNetDev(dir string, index int, p Port, faults *faultList) string {
	name, err := t.line(path.Join(dir, gidNetDevsDir, strconv.Itoa(index)))
	if err == nil {
		err = checkFileName(name)
	}
	if err != nil {
		if !emptyEntry(err) && !errors.Is(err, errEmpty) {
			faults.add("port %d: network device of GID %d: %v", p.Number, index, err)
		}
		return ""
	}
	return name
}

// emptyEntry reports whether a file of a GID table could not be read because
// the entry is empty or went away: the kernel then answers with an error.
func emptyEntry(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(emptyErrnos, func(e error) bool { return errors.Is(err, e) })
}
