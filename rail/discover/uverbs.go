package discover

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// uverbsNodes is which character devices belong to which RDMA device.
type uverbsNodes struct {
	nodes  map[string][]string
	faults []string // why the device of some node is not known
}

// uverbsNodes reads all of them once.
func (t tree) uverbsNodes() uverbsNodes {
	u := uverbsNodes{nodes: map[string][]string{}}
	names, err := t.list(classUverbs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.faults = append(u.faults, "uverbs nodes: "+err.Error())
	}
	for _, name := range names {
		if !strings.HasPrefix(name, uverbsPrefix) || checkFileName(name) != nil {
			continue // abi_version
		}
		device, err := t.line(path.Join(classUverbs, name, "ibdev"))
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone since it was listed
		case err != nil:
			u.faults = append(u.faults, "uverbs node of an unknown device, perhaps of this one: "+err.Error())
		default:
			u.nodes[device] = append(u.nodes[device], name)
		}
	}
	return u
}

// of returns the node of a device, empty if there is none.
func (u uverbsNodes) of(device string, faults *faultList) string {
	nodes := u.nodes[device]
	if len(nodes) == 0 {
		for _, fault := range u.faults {
			faults.add("%s", fault)
		}
		return ""
	}
	if len(nodes) > 1 {
		faults.add("uverbs nodes %s all name this device; the first is taken", strings.Join(nodes, ", "))
	}
	return nodes[0]
}
