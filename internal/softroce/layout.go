package softroce

import (
	"fmt"
	"net/netip"
)

// MaxNICs is the largest number of NICs on a side.
const MaxNICs = 16

// mtu of every link: 4096 bytes of RoCE payload and its headers.
const mtu = 4200

// fabric is the network of all NIC addresses.
var fabric = netip.MustParsePrefix("10.9.0.0/16")

// NIC is one RDMA device of the guest together with the network interface it
// sits on.
type NIC struct {
	// Device is the name of the RDMA device, such as rxa0.
	Device string

	// NetDev is the network interface below the device, such as a0.
	NetDev string

	// Addr is the IPv4 address of the interface.
	Addr netip.Addr

	// GIDIndex is the index of the RoCEv2 GID made of Addr at port 1. It is
	// known in the guest only; elsewhere it is -1.
	GIDIndex int

	// port is the interface's peer, a port of the bridge between all NICs.
	port string

	// mac is the interface's hardware address.
	mac string

	// side is 0 for A and 1 for B; index counts within the side.
	side, index int
}

func (n NIC) String() string { return n.Device }

// Layout is the set of NICs of a guest: A and B are the two emulated hosts.
// Both sides have equally many NICs.
type Layout struct {
	A, B []NIC
}

// NewLayout returns the layout with the given number of NICs a side, 1 to
// [MaxNICs]. It only computes names and addresses, and works anywhere.
func NewLayout(nics int) (Layout, error) {
	if err := checkNICs(nics); err != nil {
		return Layout{}, err
	}
	var l Layout
	for i := range nics {
		l.A = append(l.A, newNIC(0, i))
		l.B = append(l.B, newNIC(1, i))
	}
	return l, nil
}

func checkNICs(nics int) error {
	if nics < 1 || nics > MaxNICs {
		return fmt.Errorf("softroce: %d NICs a side asked for: give 1 to %d", nics, MaxNICs)
	}
	return nil
}

func newNIC(side, index int) NIC {
	dev := fmt.Sprintf("%c%d", 'a'+side, index)
	return NIC{
		Device:   "rx" + dev,
		NetDev:   dev,
		Addr:     netip.AddrFrom4([4]byte{10, 9, byte(1 + side), byte(1 + index)}),
		GIDIndex: -1,
		port:     "p" + dev,
		mac:      fmt.Sprintf("02:00:00:00:%02x:%02x", 1+side, 1+index),
		side:     side,
		index:    index,
	}
}

// All returns the NICs of both sides, those of A first.
func (l Layout) All() []NIC {
	return append(append([]NIC(nil), l.A...), l.B...)
}

// ByDevice returns the NIC of the named RDMA device.
func (l Layout) ByDevice(name string) (NIC, error) {
	for _, n := range l.All() {
		if n.Device == name {
			return n, nil
		}
	}
	return NIC{}, fmt.Errorf("softroce: no device %q in the guest: there are %v", name, l.All())
}

// table is the number of the routing table of what the NIC sends.
func (n NIC) table() int { return 100 + n.ordinal() }

// ordinal tells the NICs of both sides apart, from 0.
func (n NIC) ordinal() int { return n.side*MaxNICs + n.index }

// spareAddr is the k-th further address of the NIC, for k from 0 to 99.
func (n NIC) spareAddr(k int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 9, byte(10 + 2*k + n.side), byte(1 + n.index)})
}
