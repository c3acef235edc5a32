package softroce

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The kernel's rdma_rxe knows only the initial network namespace. Two hosts in
// one namespace need policy routing: traffic between two local addresses must
// leave through the links instead of going over loopback.

// settings of all interfaces created after them. Without IPv6 the GID table
// holds nothing but the default GID and the IPv4 ones.
var netSettings = []struct{ path, value string }{
	{"/proc/sys/net/ipv6/conf/default/disable_ipv6", "1"},
	{"/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"},
}

// perNICSettings let an interface take packets that come from addresses of the
// same machine, and answer ARP for its own address only.
var perNICSettings = []struct{ name, value string }{
	{"rp_filter", "0"},
	{"accept_local", "1"},
	{"arp_ignore", "1"},
	{"arp_announce", "2"},
}

// linkScript returns the lines for "ip -b" that create the bridge and a
// veth pair for each NIC.
func (l Layout) linkScript() []string {
	lines := []string{
		"link set lo up",
		fmt.Sprintf("link add br0 mtu %d type bridge stp_state 0 mcast_snooping 0", mtu),
		"link set br0 up",
		// Takes and drops what a NIC sends while its link is down.
		"link add void type dummy",
		"link set void up",
	}
	for _, n := range l.All() {
		lines = append(lines,
			fmt.Sprintf("link add %s address %s mtu %d type veth peer name %s mtu %d", n.NetDev, n.mac, mtu, n.port, mtu),
			fmt.Sprintf("link set %s master br0 up", n.port),
		)
	}
	return lines
}

// addressScript returns the lines for "ip -b" that bring the NICs up and
// route between them.
func (l Layout) addressScript() []string {
	var lines []string
	for _, n := range l.All() {
		lines = append(lines,
			fmt.Sprintf("addr add %s/32 dev %s", n.Addr, n.NetDev),
			fmt.Sprintf("rule add pref 10 iif %s lookup local", n.NetDev),
			fmt.Sprintf("rule add pref 20 from %s to %s lookup %d", n.Addr, fabric, n.table()),
			fmt.Sprintf("route add %s dev void metric 1000 table %d", fabric, n.table()),
		)
		lines = append(lines, l.upScript(n)...)
	}
	return append(lines, "rule add pref 100 lookup local", "rule del pref 0")
}

// upScript returns the lines that bring one NIC up, with the routes and
// neighbours that the kernel forgets when a link goes down. Neighbours are
// permanent so that no fault looks like a failed ARP.
func (l Layout) upScript(n NIC) []string {
	lines := []string{
		fmt.Sprintf("link set %s up", n.NetDev),
		fmt.Sprintf("route replace %s dev %s src %s table %d", fabric, n.NetDev, n.Addr, n.table()),
	}
	for _, peer := range l.All() {
		if peer.NetDev != n.NetDev {
			lines = append(lines, fmt.Sprintf("neigh replace %s lladdr %s dev %s nud permanent", peer.Addr, peer.mac, n.NetDev))
		}
	}
	return lines
}

// filterScript returns the lines for "tc -b" that prepare every interface
// for the filters of the faults.
func (l Layout) filterScript() []string {
	var lines []string
	for _, n := range l.All() {
		lines = append(lines,
			fmt.Sprintf("qdisc add dev %s clsact", n.NetDev),
			fmt.Sprintf("qdisc add dev %s clsact", n.port),
		)
	}
	return lines
}

// deviceScript returns the lines for "rdma -b" that create the devices.
func (l Layout) deviceScript() []string {
	var lines []string
	for _, n := range l.All() {
		lines = append(lines, fmt.Sprintf("link add %s type rxe netdev %s", n.Device, n.NetDev))
	}
	return lines
}

// build creates the links, routes and devices of the layout. It runs once in
// each guest.
func (l Layout) build() error {
	for _, s := range netSettings {
		if err := os.WriteFile(s.path, []byte(s.value), 0o644); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("softroce: network setting: %w", err)
		}
	}
	if err := runBatch("ip", l.linkScript()); err != nil {
		return err
	}
	for _, n := range l.All() {
		for _, s := range perNICSettings {
			path := filepath.Join("/proc/sys/net/ipv4/conf", n.NetDev, s.name)
			if err := os.WriteFile(path, []byte(s.value), 0o644); err != nil {
				return fmt.Errorf("softroce: network setting: %w", err)
			}
		}
	}
	if err := runBatch("ip", l.addressScript()); err != nil {
		return err
	}
	if err := runBatch("tc", l.filterScript()); err != nil {
		return err
	}
	if err := runBatch("rdma", l.deviceScript()); err != nil {
		return err
	}
	return l.waitReady(20 * time.Second)
}

// KeepOrder keeps the packets of a flow in order, for experiments that measure queues.
func (l *Lab) KeepOrder() error {
	for _, n := range append(slices.Clone(l.A), l.B...) {
		if err := n.keepOrder(); err != nil {
			return err
		}
	}
	return nil
}

// keepOrder has the packets of a flow received by one processor. A veth leaves
// that to the processor that sends, and the threads of rdma_rxe move: packets would
// overtake each other and be sent again.
func (n NIC) keepOrder() error {
	all := fmt.Sprintf("%x", uint64(1)<<min(runtime.NumCPU(), 32)-1)
	for _, dev := range []string{n.NetDev, n.port} {
		path := filepath.Join("/sys/class/net", dev, "queues/rx-0/rps_cpus")
		if err := os.WriteFile(path, []byte(all), 0o644); err != nil {
			return fmt.Errorf("softroce: network setting: %w", err)
		}
	}
	return nil
}

// RoomyBacklog lets a processor of the guest have as many packets waiting for it as there
// are. By default it drops what exceeds 1000 packets, and a few NICs that read large slices
// have more on their way: loss that no link has.
func (l *Lab) RoomyBacklog() error {
	const path = "/proc/sys/net/core/netdev_max_backlog"
	if err := os.WriteFile(path, []byte(fmt.Sprint(roomyQueue)), 0o644); err != nil {
		return fmt.Errorf("softroce: network setting: %w", err)
	}
	return nil
}

// waitReady waits until every device has its port active and its GID listed.
func (l Layout) waitReady(limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for _, n := range l.All() {
		for {
			err := n.ready(sysfsRDMA)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

// sysfsRDMA is where the kernel shows RDMA devices.
const sysfsRDMA = "/sys/class/infiniband"

func (n NIC) ready(sysfs string) error {
	if _, err := n.findGID(sysfs); err != nil {
		return err
	}
	path := filepath.Join(sysfs, n.Device, "ports/1/state")
	state, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("softroce: port state: %w", err)
	}
	if !strings.Contains(string(state), "ACTIVE") {
		return fmt.Errorf("softroce: port 1 of %s is %q, expected ACTIVE", n.Device, strings.TrimSpace(string(state)))
	}
	return nil
}

// findGID returns the index of the GID made of the NIC's address.
func (n NIC) findGID(sysfs string) (int, error) {
	a := n.Addr.As4()
	want := fmt.Sprintf("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", a[0], a[1], a[2], a[3])
	for i := range 64 {
		gid, err := os.ReadFile(filepath.Join(sysfs, n.Device, "ports/1/gids", fmt.Sprint(i)))
		if os.IsNotExist(err) {
			break
		}
		// An empty slot of the table reads as an error, not as an empty file.
		if err == nil && strings.TrimSpace(string(gid)) == want {
			return i, nil
		}
	}
	return 0, fmt.Errorf("softroce: device %s has no GID %s (of address %v)", n.Device, want, n.Addr)
}
