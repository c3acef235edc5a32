package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/rail/discover"
)

// host is what the checks look at: a machine, what its engine was said to do, and what
// is known of the peer.
type host struct {
	sys  fs.FS // stands for /sys
	root fs.FS // stands for /; nil if only a sysfs is looked at

	// openNode opens a device node to read and write and closes it again. It goes
	// with root.
	openNode func(path string) error
	// openDevices opens all devices through libibverbs; nil if that is not tried.
	openDevices func() (map[string]opened, error)

	usage usage
	// config is the controller's; configErr why it is the default one.
	config    cc.Config
	configErr error
	// peer are the peer's ports; nil if no peer was named.
	peer []portFacts

	// What look finds.
	nics    []discover.NIC
	nicsErr error
	devices map[string]opened
	openErr error
}

// opened is what libibverbs said of a device.
type opened struct {
	err error
	mtu map[uint8]int // active MTU of each port, in bytes
}

// usage is how an engine uses the machine. Negative numbers were not given.
type usage struct {
	retry, timeout, rnr int
	fanIn               int
	bufferBytes         int64
	registerBytes       int64
}

// thisMachine is the machine that the program runs on.
func thisMachine() *host {
	return &host{
		sys:  os.DirFS("/sys"),
		root: os.DirFS("/"),
		openNode: func(path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			return f.Close()
		},
		openDevices: openDevices,
	}
}

// look finds the devices.
func (h *host) look() {
	h.nics, h.nicsErr = discover.Read(h.sys)
	if h.openDevices != nil {
		h.devices, h.openErr = h.openDevices()
	}
}

// port is a port with the device that it belongs to.
type port struct {
	nic *discover.NIC
	discover.Port
}

// ports returns the ports of all devices.
func (h *host) ports() []port {
	var all []port
	for i := range h.nics {
		for _, p := range h.nics[i].Ports {
			all = append(all, port{&h.nics[i], p})
		}
	}
	return all
}

// activePorts returns the ports that can carry traffic.
func (h *host) activePorts() []port {
	return slices.DeleteFunc(h.ports(), func(p port) bool { return p.State != discover.PortActive })
}

// String names the port, such as "mlx5_0 port 1".
func (p port) String() string { return portName(p.nic.Name, p.Number) }

func portName(device string, number uint8) string {
	return fmt.Sprintf("%s port %d", printable(device), number)
}

// file returns the path of one of the port's files in sysfs.
func (p port) file(name string) string {
	return path.Join("class/infiniband", p.nic.Name, "ports", strconv.Itoa(int(p.Number)), name)
}

// roce reports whether the port speaks RoCE: NICs of iWARP are of another type, and
// those of EFA have another link layer.
func (p port) roce() bool {
	return p.LinkLayer == discover.LinkEthernet && p.nic.NodeType == discover.NodeCA
}

// netDevs returns the network devices of the port: those of its GIDs in the order of
// the table, so that the device that the port stands on comes before its VLANs. A port
// without GIDs has those of a NIC with no other port.
func (p port) netDevs() []string {
	var names []string
	for _, g := range p.GIDs {
		if g.NetDev != "" && !slices.Contains(names, g.NetDev) {
			names = append(names, g.NetDev)
		}
	}
	if len(names) == 0 && len(p.nic.Ports) == 1 {
		return p.nic.NetDevs
	}
	return names
}

// gbps writes a rate.
func gbps(rate float64) string { return strconv.FormatFloat(rate, 'f', -1, 64) + " Gb/s" }

// portFacts is what peers need to know of a port. It is a [rail.NIC] with the MTUs.
type portFacts struct {
	rail.NIC
	// MTU is the most payload of a packet, in bytes; 0 is unknown.
	MTU int `json:"mtu,omitempty"`
	// NetMTU is the MTU of the network device below a RoCE port.
	NetMTU int `json:"net_mtu,omitempty"`
}

// facts returns what peers need to know of this machine.
func (h *host) facts() []portFacts {
	all := []portFacts{}
	ports := h.ports()
	for _, n := range discover.Local(h.nics) {
		f := portFacts{NIC: n}
		at := func(p port) bool { return p.nic.Name == n.Name && p.Number == n.Port }
		if i := slices.IndexFunc(ports, at); i >= 0 {
			f.MTU, f.NetMTU = h.mtu(ports[i]).rdma(), h.mtu(ports[i]).net
		}
		all = append(all, f)
	}
	return all
}
