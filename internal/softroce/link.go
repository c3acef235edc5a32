package softroce

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// maxSpares bounds the further addresses of a NIC.
const maxSpares = 100

// LinkDown takes the NIC's interface down, and only its device reports
// PORT_ERR. Work requests of other NICs to this one end in RETRY_EXC_ERR; what
// the NIC's own device is given to send, rdma_rxe refuses with LOC_QP_OP_ERR.
func (l *Lab) LinkDown(nic NIC) (Undo, error) {
	if err := l.check(nic); err != nil {
		return nil, err
	}
	if _, err := runTool("ip", "link", "set", nic.NetDev, "down"); err != nil {
		return nil, err
	}
	return once(func() error { return l.LinkUp(nic) }), nil
}

// LinkUp brings the NIC's interface up, with its routes. The device reports
// PORT_ACTIVE soon after, sometimes twice. It is not an error if the interface
// is up already.
func (l *Lab) LinkUp(nic NIC) error {
	if err := l.check(nic); err != nil {
		return err
	}
	return runBatch("ip", l.upScript(nic))
}

// AddAddress gives the NIC one more address, which its device reports as
// GID_CHANGE. The address is for no traffic; undo takes it away again, which is
// another GID_CHANGE.
func (l *Lab) AddAddress(nic NIC) (netip.Addr, Undo, error) {
	if err := l.check(nic); err != nil {
		return netip.Addr{}, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	present, err := presentAddrs(nic.NetDev)
	if err != nil {
		return netip.Addr{}, nil, err
	}
	for k := range maxSpares {
		addr := nic.spareAddr(k)
		if slices.Contains(present[nic.NetDev], addr) {
			continue
		}
		if _, err := runTool("ip", "addr", "add", addr.String()+"/32", "dev", nic.NetDev); err != nil {
			return netip.Addr{}, nil, err
		}
		return addr, once(func() error { return l.removeAddress(nic, addr) }), nil
	}
	return netip.Addr{}, nil, fmt.Errorf("softroce: %v has %d further addresses, the most there can be: undo some", nic, maxSpares)
}

// removeAddress takes a further address away, if the NIC still has it.
func (l *Lab) removeAddress(nic NIC, addr netip.Addr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	present, err := presentAddrs(nic.NetDev)
	if err != nil || !slices.Contains(present[nic.NetDev], addr) {
		return err
	}
	_, err = runTool("ip", "addr", "del", addr.String()+"/32", "dev", nic.NetDev)
	return err
}

// dropSpares takes all further addresses away.
func (l *Lab) dropSpares() error {
	present, err := presentAddrs("")
	if err != nil {
		return err
	}
	var lines []string
	for _, n := range l.All() {
		for _, addr := range present[n.NetDev] {
			if addr != n.Addr {
				lines = append(lines, fmt.Sprintf("addr del %s/32 dev %s", addr, n.NetDev))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return runBatch("ip", lines)
}

// presentAddrs returns the addresses that the interface has now, by interface;
// those of all interfaces if the name is empty.
func presentAddrs(dev string) (map[string][]netip.Addr, error) {
	args := []string{"-4", "-o", "addr", "show"}
	if dev != "" {
		args = append(args, "dev", dev)
	}
	out, err := runTool("ip", args...)
	if err != nil {
		return nil, err
	}
	return addrsFrom(out)
}

// addrsFrom reads the output of ip -4 -o addr show: lines such as
// "3: a0    inet 10.9.1.1/32 scope global a0".
func addrsFrom(out string) (map[string][]netip.Addr, error) {
	addrs := make(map[string][]netip.Addr)
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 4 || words[2] != "inet" {
			continue
		}
		host, _, _ := strings.Cut(words[3], "/")
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return nil, fmt.Errorf("softroce: address in %q: %w", line, err)
		}
		addrs[words[1]] = append(addrs[words[1]], addr)
	}
	return addrs, nil
}
