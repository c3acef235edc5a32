package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/rdmagate/rdmagate/rail"
)

// Where the kernel shows RDMA devices, below the root of sysfs.
const (
	classDir       = "class"
	classRDMA      = "class/infiniband"
	classUverbs    = "class/infiniband_verbs"
	classNet       = "class/net"
	busPCI         = "bus/pci/devices"
	uverbsPrefix   = "uverbs"
	ueventPCI      = "PCI_SLOT_NAME="
	portsDir       = "ports"
	gidTypesDir    = "gid_attrs/types"
	gidNetDevsDir  = "gid_attrs/ndevs"
	softParentFile = "parent"
)

// NIC is one RDMA device of a machine, as it was when it was read.
type NIC struct {
	// Name is the name of the RDMA device, such as mlx5_0 or rocep3s0f0. It is
	// opaque and may hold any character.
	Name string `json:"name"`
	// NodeType is the kind of device.
	NodeType NodeType `json:"node_type"`
	// NetDevs are the network devices that belong to it, sorted: those of its GIDs,
	// which name the bond and not its members, or else those of its PCI function.
	// [NICs] adds all interfaces of IP over InfiniBand.
	NetDevs []string `json:"net_devs"`
	// PCI is the address of its PCI function, such as 0000:05:00.0. A sub-function
	// has that of its parent. Empty for devices made in software.
	PCI string `json:"pci,omitempty"`
	// NUMA is the NUMA node that the PCI function is attached to.
	NUMA rail.Node `json:"numa"`
	// Uverbs is its character device, such as uverbs0 for
	// /dev/infiniband/uverbs0. Empty if there is none.
	Uverbs string `json:"uverbs,omitempty"`
	// Ports are its ports, by number.
	Ports []Port `json:"ports"`
	// Usable says that the device has a character device and an active port. It
	// says nothing about the QP types that the device offers.
	Usable bool `json:"usable"`
	// Why gives the reasons for Usable in words.
	Why string `json:"why"`
	// Problems say what could not be read, or what does not fit together. A NIC
	// with problems may be usable.
	Problems []string `json:"problems"`
}

// Read returns the NICs that a sysfs tree shows, sorted by name. The root of the
// tree stands for /sys.
//
// A tree without RDMA devices gives an empty list and no error. A tree that is no
// sysfs, or whose list of devices cannot be read, is an error; the devices that
// were listed before it are returned with it. Faults of single devices are not
// errors, see [NIC].Problems.
func Read(sysfs fs.FS) ([]NIC, error) {
	if sysfs == nil {
		return nil, errors.New("discover: the sysfs tree is nil; pass os.DirFS(\"/sys\") or call NICs")
	}
	t := tree{sysfs}
	names, err := t.list(classRDMA)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Stat(sysfs, classDir); err != nil {
			return nil, fmt.Errorf("discover: this is no sysfs, the root must hold %s: %w", classDir, err)
		}
		return []NIC{}, nil
	}
	if err != nil {
		err = fmt.Errorf("discover: list of RDMA devices: %w", err)
	}
	nics := make([]NIC, 0, len(names))
	if len(names) > 0 {
		nodes := t.uverbsNodes()
		for _, name := range names {
			nics = append(nics, t.nic(name, nodes))
		}
	}
	return nics, err
}

// nic reads one device. Whatever fails costs one value.
func (t tree) nic(name string, nodes uverbsNodes) NIC {
	n := NIC{Name: name, NetDevs: []string{}, Ports: []Port{}, Problems: []string{}}
	if err := checkFileName(name); err != nil {
		n.Why = fmt.Sprintf("its name is no file name: %v", err)
		return n
	}
	dir := path.Join(classRDMA, name)
	var faults faultList
	n.NodeType = t.nodeType(dir, &faults)
	n.PCI = t.pci(dir, &faults)
	n.NUMA = t.numa(dir, n.PCI, &faults)
	n.Uverbs = nodes.of(name, &faults)
	n.Ports = t.ports(dir, n.NodeType, &faults)
	n.NetDevs = t.netDevs(dir, n.Ports, &faults)
	n.Problems = faults.texts()
	switch info, err := fs.Stat(t, dir); {
	case err != nil:
		// Whatever was read is of no use, and files that went away are no faults.
		return NIC{Name: name, NetDevs: []string{}, Ports: []Port{}, Problems: []string{}, Why: "it was gone before it could be read: " + err.Error()}
	case !info.IsDir():
		n.Why = "its entry in sysfs is not a directory"
	default:
		n.judge()
	}
	return n
}
