package rail

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
)

// Node is a NUMA node, or the fact that it is not known. The zero value is
// unknown. In JSON it is the number, or null.
type Node struct {
	// ID is the node's number, from 0. It means nothing unless Known.
	ID int
	// Known is false where nobody says: for software devices, in many virtual
	// machines, for memory that is spread over nodes.
	Known bool
}

// NodeOf returns the node with a number. A negative number, such as the -1 that
// Linux gives, is an unknown node.
func NodeOf(id int) Node {
	if id < 0 {
		return Node{}
	}
	return Node{ID: id, Known: true}
}

// String returns the number, or "unknown".
func (n Node) String() string {
	if !n.Known {
		return "unknown"
	}
	return strconv.Itoa(n.ID)
}

// MarshalJSON writes the number, or null.
func (n Node) MarshalJSON() ([]byte, error) {
	if !n.Known {
		return []byte("null"), nil
	}
	return json.Marshal(n.ID)
}

// UnmarshalJSON reads a number, or null. A negative number is unknown too.
func (n *Node) UnmarshalJSON(data []byte) error {
	id := -1
	if err := json.Unmarshal(data, &id); err != nil { // null leaves it
		return fmt.Errorf("rail: NUMA node: %.40q is neither a number nor null", data)
	}
	*n = NodeOf(id)
	return nil
}

// Link is the link layer of a port.
type Link uint8

// The link layers. Ports of different known layers cannot reach each other.
const (
	LinkUnknown    Link = iota // unknown
	LinkInfiniBand             // InfiniBand
	LinkEthernet               // Ethernet
)

// MaxRate is the highest speed of a [NIC], in Gb/s.
const MaxRate = 1e6

// NIC is one port of an RDMA device, as the choice of a path sees it. Whatever is
// not known is left at its zero value. It can go to a peer as JSON.
type NIC struct {
	// Name is the name of the device, such as mlx5_0. 1 to [MaxName] bytes.
	Name string `json:"name"`
	// Port is the port of the device, from 1. It may be 0 if the NIC is unusable.
	Port uint8 `json:"port"`
	// NUMA is the node that the device is attached to.
	NUMA Node `json:"numa"`
	// Link is the link layer.
	Link Link `json:"link"`
	// Addrs are the port's addresses: its GIDs, or the IPv4 addresses mapped into
	// them. Link-local addresses say nothing about the subnet of an Ethernet port,
	// and are passed over; on InfiniBand they hold the subnet prefix.
	Addrs []netip.Addr `json:"addrs,omitempty"`
	// Rate is the speed in Gb/s, up to [MaxRate]; 0 is unknown.
	Rate float64 `json:"rate_gbps,omitempty"`
	// Unusable says why the NIC cannot be used, in words; empty if it can.
	Unusable string `json:"unusable,omitempty"`
}

// validate reports every fault of the NIC. The side is "local" or "remote".
func (n *NIC) validate(side string) error {
	var faults []error
	add := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("rail: %s NIC %.40q: "+format, append([]any{side, n.Name}, args...)...))
	}
	faults = append(faults, checkName(side+" device", n.Name, 1))
	if n.Port == 0 && n.Unusable == "" {
		add("port is 0, ports count from 1; use 1 for a device with one port")
	}
	if n.NUMA.Known && n.NUMA.ID < 0 {
		add("NUMA node %d is given as known; use NodeOf, which takes it for unknown", n.NUMA.ID)
	}
	if n.Link > LinkEthernet {
		add("link layer %d does not exist; use LinkUnknown", n.Link)
	}
	if !(n.Rate >= 0 && n.Rate <= MaxRate) { // NaN too
		add("rate is %v Gb/s, must be 0 to %v; use 0 if it is not known", n.Rate, MaxRate)
	}
	return errors.Join(faults...)
}
