package discover

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// netDevs returns the network devices of a device, sorted.
//
// The GID table names those whose addresses the device has, which is what counts
// for RoCE: the bond and not its members, and VLANs. Software devices name the one
// they are made on. Where neither says anything, as on InfiniBand, EFA, and ports
// without an address, it is those of the same PCI function.
func (t tree) netDevs(dir string, ports []Port, faults *faultList) []string {
	found := map[string]bool{}
	for _, p := range ports {
		for _, g := range p.GIDs {
			if g.NetDev != "" {
				found[g.NetDev] = true
			}
		}
	}
	parent, err := t.line(path.Join(dir, softParentFile))
	if err == nil {
		err = checkFileName(parent)
	}
	if err == nil {
		found[parent] = true
	} else if !errors.Is(err, fs.ErrNotExist) {
		faults.add("network device below: %v", err)
	}
	if len(found) > 0 {
		t.checkVisible(found, faults)
		return slices.Sorted(maps.Keys(found))
	}
	names, err := t.list(path.Join(dir, "device/net"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		faults.add("network devices of the PCI function: %v", err)
	}
	return append([]string{}, names...)
}

// checkVisible reports network devices that are not in the tree, because they are
// in another network namespace. A tree without any network device says nothing.
func (t tree) checkVisible(names map[string]bool, faults *faultList) {
	if _, err := fs.Stat(t, classNet); err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if _, err := fs.Stat(t, path.Join(classNet, name)); errors.Is(err, fs.ErrNotExist) {
			faults.add("network device %s is not in this network namespace; connections over its addresses may be refused", name)
		}
	}
}
