package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/Mellanox/rdmamap"
)

// Where a process finds things on Linux.
const (
	sysfsRoot = "/sys"
	deviceDir = "/dev/infiniband"
)

// host is what a machine can tell beyond its sysfs.
//
// Two things come from rdmamap: the interfaces of IP over InfiniBand of a NIC, which
// it finds over netlink and the GUID in the hardware address, and its list of a NIC's
// character devices, which is held against ours. Our own reading comes first, and
// rdmamap never replaces it:
//
//   - its lists answer nothing, a nil error or port 0 where something failed, so
//     that a fault looks like an absence;
//   - it reads files without a bound, and an empty node_guid makes it panic;
//   - for Ethernet it searches the GID tables of all NICs, from which we have the
//     network devices already, once more for each interface, and it names the first
//     NIC only, though the interface of a bond may be in several tables;
//   - its sysfs roots are variables that other code of the process may have set.
//     We never set them: they are shared, and our reader has a root of its own.
//
// So an error, an empty answer or a panic of rdmamap means that it does not know,
// and an answer that contradicts sysfs is a problem of the NIC, told in words.
type host struct {
	sysfs       fs.FS
	charDevices func(device string) []string         // paths
	deviceOf    func(netDev string) (string, error)  // RDMA device of a network device
	access      func(path string, mode uint32) error // as access(2)
}

var thisHost = host{
	sysfs:       openSysfs(sysfsRoot),
	charDevices: rdmamap.GetRdmaCharDevices,
	deviceOf:    rdmamap.GetRdmaDeviceForNetdevice,
	access:      syscall.Access,
}

// complete adds what sysfs did not say and notes contradictions.
func (h host) complete(nics []NIC) {
	if len(nics) == 0 {
		return
	}
	for i := range nics {
		h.checkNode(&nics[i])
	}
	h.addIPoIB(nics)
}

// checkNode finds out whether the process may use a NIC's character device. In a
// container sysfs shows the NIC whether or not the node was passed in.
func (h host) checkNode(n *NIC) {
	if n.Uverbs == "" {
		return
	}
	var other []string
	for _, p := range h.charDevices(n.Name) {
		if node := filepath.Base(p); strings.HasPrefix(node, uverbsPrefix) {
			other = append(other, node)
		}
	}
	if len(other) > 0 && !slices.Contains(other, n.Uverbs) {
		n.Problems = append(n.Problems, fmt.Sprintf("uverbs node: %s by sysfs, %s by rdmamap", n.Uverbs, strings.Join(other, ", ")))
	}
	const readAndWrite = 0b110
	node := path.Join(deviceDir, n.Uverbs)
	switch err := h.access(node, readAndWrite); {
	case errors.Is(err, fs.ErrNotExist):
		n.refuse(node + " does not exist here; pass it into the container")
	case errors.Is(err, fs.ErrPermission):
		n.refuse(node + " may not be opened by this process; grant it read and write access")
	case err != nil:
		n.refuse(fmt.Sprintf("%s: %v", node, err))
	}
}

// ipoibType is the hardware type of IP over InfiniBand, ARPHRD_INFINIBAND.
const ipoibType = "32"

// addIPoIB adds the interfaces of IP over InfiniBand, which no GID table names. The
// PCI function names its own, but not their children for other partitions.
func (h host) addIPoIB(nics []NIC) {
	t := tree{h.sysfs}
	names, _ := t.list(classNet)
	for _, name := range names {
		if kind, err := t.line(path.Join(classNet, name, "type")); err != nil || kind != ipoibType {
			continue
		}
		owner := slices.IndexFunc(nics, func(n NIC) bool { return slices.Contains(n.NetDevs, name) })
		answer := h.lookUp(name)
		found := slices.IndexFunc(nics, func(n NIC) bool { return n.Name == answer })
		switch {
		case found < 0 || found == owner:
		case owner < 0:
			nics[found].NetDevs = append(nics[found].NetDevs, name)
			slices.Sort(nics[found].NetDevs)
		default:
			n := &nics[owner]
			n.Problems = append(n.Problems, fmt.Sprintf("network device %s: of %s by sysfs, of %s by rdmamap", name, n.Name, answer))
		}
	}
}

// lookUp returns the RDMA device of a network device, empty if it is not known.
func (h host) lookUp(netDev string) (device string) {
	defer func() {
		if recover() != nil {
			device = ""
		}
	}()
	device, err := h.deviceOf(netDev)
	if err != nil {
		return ""
	}
	return device
}
