package verbs

import "fmt"

//go:generate env CGO_ENABLED=0 go tool stringer -type=NodeType,Transport,PortState,LinkLayer,GIDType,QPState,Opcode,WCOpcode -linecomment -output=enum_string.go

// NodeType is the kind of RDMA device, with the values of enum ibv_node_type.
type NodeType int32

// The node types.
const (
	NodeUnknown     NodeType = -1 // unknown
	NodeCA          NodeType = 1  // channel adapter
	NodeSwitch      NodeType = 2  // switch
	NodeRouter      NodeType = 3  // router
	NodeRNIC        NodeType = 4  // RNIC
	NodeUSNIC       NodeType = 5  // usNIC
	NodeUSNICUDP    NodeType = 6  // usNIC UDP
	NodeUnspecified NodeType = 7  // unspecified
)

// Transport is the protocol family of a device, with the values of enum
// ibv_transport_type. RoCE devices report [TransportIB].
type Transport int32

// The transports.
const (
	TransportUnknown     Transport = -1 // unknown
	TransportIB          Transport = 0  // InfiniBand
	TransportIWARP       Transport = 1  // iWARP
	TransportUSNIC       Transport = 2  // usNIC
	TransportUSNICUDP    Transport = 3  // usNIC UDP
	TransportUnspecified Transport = 4  // unspecified
)

// PortState is the logical state of a port, with the values of enum
// ibv_port_state.
type PortState uint32

// The port states. Traffic flows only in PortActive.
const (
	PortNop         PortState = 0 // no state change
	PortDown        PortState = 1 // down
	PortInit        PortState = 2 // initializing
	PortArmed       PortState = 3 // armed
	PortActive      PortState = 4 // active
	PortActiveDefer PortState = 5 // active, deferred
)

// LinkLayer is the link protocol of a port.
type LinkLayer uint8

// The link layers.
const (
	LinkUnspecified LinkLayer = 0 // unspecified
	LinkInfiniBand  LinkLayer = 1 // InfiniBand
	LinkEthernet    LinkLayer = 2 // Ethernet
)

// GIDType is the protocol that a GID belongs to.
type GIDType uint32

// The GID types, with the values of enum ibv_gid_type.
const (
	GIDTypeIB      GIDType = 0         // IB
	GIDTypeRoCEv1  GIDType = 1         // RoCE v1
	GIDTypeRoCEv2  GIDType = 2         // RoCE v2
	GIDTypeUnknown GIDType = 1<<32 - 1 // unknown
)

// QPState is the state of a QP, with the values of enum ibv_qp_state.
type QPState uint32

// The QP states.
const (
	StateReset QPState = 0 // RESET
	StateInit  QPState = 1 // INIT
	StateRTR   QPState = 2 // RTR
	StateRTS   QPState = 3 // RTS
	StateSQD   QPState = 4 // SQD
	StateSQE   QPState = 5 // SQE
	StateErr   QPState = 6 // ERR
)

// Opcode is the operation of a work request on the send queue, with the values
// of enum ibv_wr_opcode.
type Opcode uint32

// The operations that a [SendWR] can have.
const (
	OpWrite        Opcode = 0 // WRITE
	OpWriteWithImm Opcode = 1 // WRITE_WITH_IMM
	OpSend         Opcode = 2 // SEND
	OpSendWithImm  Opcode = 3 // SEND_WITH_IMM
	OpRead         Opcode = 4 // READ
)

// WCOpcode is the operation of a work completion, with the values of enum
// ibv_wc_opcode. It means something only when the status is success.
type WCOpcode uint32

// The operations that a [WC] can have on QPs of this package.
const (
	WCSend        WCOpcode = 0   // SEND
	WCWrite       WCOpcode = 1   // WRITE
	WCRead        WCOpcode = 2   // READ
	WCRecv        WCOpcode = 128 // RECV
	WCRecvWithImm WCOpcode = 129 // RECV of WRITE_WITH_IMM
)

// MTU is a path MTU: the payload of one packet. The values are those of enum
// ibv_mtu.
type MTU uint32

// The MTUs that InfiniBand and RoCE know.
const (
	MTU256  MTU = 1
	MTU512  MTU = 2
	MTU1024 MTU = 3
	MTU2048 MTU = 4
	MTU4096 MTU = 5
)

// Bytes returns the MTU in bytes, 0 if it is not one of the constants.
func (m MTU) Bytes() int {
	if m < MTU256 || m > MTU4096 {
		return 0
	}
	return 128 << m
}

// String returns the number of bytes.
func (m MTU) String() string {
	if n := m.Bytes(); n != 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("MTU(%d)", uint32(m))
}

// Access says what may be done with a memory region or over a QP.
type Access uint32

// The access rights. Remote write needs local write too. A region is always
// readable locally.
const (
	AccessLocalWrite  Access = 1 << 0
	AccessRemoteWrite Access = 1 << 1
	AccessRemoteRead  Access = 1 << 2

	accessAll = AccessLocalWrite | AccessRemoteWrite | AccessRemoteRead
)
