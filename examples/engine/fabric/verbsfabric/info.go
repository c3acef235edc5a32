package verbsfabric

import (
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/verbs"
)

// Info asks the device for its address and speed. One that does not answer, or has no
// address, is unusable.
func (n *nic) Info() rail.NIC {
	info := rail.NIC{Name: n.Name(), Port: n.port, NUMA: numaNode(sysfs, n.Name())}
	port, err := n.ctx.QueryPort(n.port)
	if err != nil {
		info.Unusable = err.Error()
		return info
	}
	info.Link, info.Rate = linkOf(port.LinkLayer), float64(port.BitsPerSecond())/1e9
	gid, err := n.gid()
	if err != nil {
		info.Unusable = err.Error()
		return info
	}
	info.Addrs = []netip.Addr{gid.GID.Addr()}
	return info
}

func linkOf(l verbs.LinkLayer) rail.Link {
	switch l {
	case verbs.LinkInfiniBand:
		return rail.LinkInfiniBand
	case verbs.LinkEthernet:
		return rail.LinkEthernet
	}
	return rail.LinkUnknown
}

// sysfs is where the kernel shows the devices.
const sysfs = "/sys"

// numaNode returns the node of a device, which verbs do not tell. Devices made in
// software have none.
func numaNode(sysfs, device string) rail.Node {
	text, err := os.ReadFile(filepath.Join(sysfs, "class/infiniband", device, "device/numa_node"))
	if err != nil {
		return rail.Node{}
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return rail.Node{}
	}
	return rail.NodeOf(id)
}
