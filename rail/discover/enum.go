package discover

import "github.com/rdmagate/rdmagate/internal/enum"

//go:generate go tool stringer -type=NodeType,PortState,PhysState,LinkLayer,GIDType -linecomment -output=enum_string.go

// NodeType is the kind of an RDMA device, with the numbers that sysfs uses.
type NodeType uint8

// The node types.
const (
	NodeUnknown     NodeType = 0 // unknown
	NodeCA          NodeType = 1 // channel adapter
	NodeSwitch      NodeType = 2 // switch
	NodeRouter      NodeType = 3 // router
	NodeRNIC        NodeType = 4 // RNIC
	NodeUSNIC       NodeType = 5 // usNIC
	NodeUSNICUDP    NodeType = 6 // usNIC UDP
	NodeUnspecified NodeType = 7 // unspecified
)

// PortState is the logical state of a port, with the numbers that sysfs uses.
type PortState uint8

// The port states. Traffic flows only in PortActive.
const (
	PortUnknown     PortState = 0 // unknown
	PortDown        PortState = 1 // down
	PortInit        PortState = 2 // initializing
	PortArmed       PortState = 3 // armed
	PortActive      PortState = 4 // active
	PortActiveDefer PortState = 5 // active, deferred
)

// PhysState is the state of a port's link, with the numbers that sysfs uses.
type PhysState uint8

// The physical states.
const (
	PhysUnknown           PhysState = 0 // unknown
	PhysSleep             PhysState = 1 // sleep
	PhysPolling           PhysState = 2 // polling
	PhysDisabled          PhysState = 3 // disabled
	PhysTraining          PhysState = 4 // training
	PhysLinkUp            PhysState = 5 // link up
	PhysLinkErrorRecovery PhysState = 6 // link error recovery
	PhysTest              PhysState = 7 // test
)

// LinkLayer is the link protocol of a port.
type LinkLayer uint8

// The link layers. EFA devices have none of the named ones.
const (
	LinkUnspecified LinkLayer = 0 // unspecified
	LinkInfiniBand  LinkLayer = 1 // InfiniBand
	LinkEthernet    LinkLayer = 2 // Ethernet
)

// GIDType is the protocol that a GID belongs to.
type GIDType uint8

// The GID types. GIDOther are those of devices that speak neither InfiniBand nor
// RoCE, such as iWARP NICs and EFA: sysfs calls them IB all the same.
const (
	GIDUnknown GIDType = 0 // unknown
	GIDIB      GIDType = 1 // IB
	GIDRoCEv1  GIDType = 2 // RoCE v1
	GIDRoCEv2  GIDType = 3 // RoCE v2
	GIDOther   GIDType = 4 // other
)

// MarshalText returns the text of String.
func (v NodeType) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *NodeType) UnmarshalText(text []byte) error { return enum.Parse(v, text, NodeUnspecified) }

// MarshalText returns the text of String.
func (v PortState) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *PortState) UnmarshalText(text []byte) error { return enum.Parse(v, text, PortActiveDefer) }

// MarshalText returns the text of String.
func (v PhysState) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *PhysState) UnmarshalText(text []byte) error { return enum.Parse(v, text, PhysTest) }

// MarshalText returns the text of String.
func (v LinkLayer) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *LinkLayer) UnmarshalText(text []byte) error { return enum.Parse(v, text, LinkEthernet) }

// MarshalText returns the text of String.
func (v GIDType) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *GIDType) UnmarshalText(text []byte) error { return enum.Parse(v, text, GIDOther) }
