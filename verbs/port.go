package verbs

import (
	"fmt"
	"math/bits"
	"syscall"
)

// PortAttr is the state and the abilities of a port.
type PortAttr struct {
	State      PortState
	LinkLayer  LinkLayer
	MaxMTU     MTU
	ActiveMTU  MTU
	GIDs       int    // length of the GID table
	PKeys      int    // length of the P_Key table
	MaxMessage uint32 // bytes of one message
	LID        uint16 // InfiniBand only
	SMLID      uint16 // InfiniBand only
	LMC        uint8  // InfiniBand only
	PhysState  uint8  // 5 is link up
	Width      uint8  // encoded; see Lanes
	Speed      uint8  // encoded; see BitsPerSecond
}

// Lanes returns how many lanes are in use, 0 if the encoding is not known.
func (p *PortAttr) Lanes() int {
	switch p.Width {
	case 1:
		return 1
	case 2:
		return 4
	case 4:
		return 8
	case 8:
		return 12
	case 16:
		return 2
	}
	return 0
}

// laneMbit is the signalling rate of one lane in Mbit/s, by the bit of Speed.
var laneMbit = [8]uint64{2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000}

// BitsPerSecond returns the nominal rate of the port in bit/s, 0 if it is not
// known.
func (p *PortAttr) BitsPerSecond() uint64 {
	if bits.OnesCount8(p.Speed) != 1 {
		return 0
	}
	return uint64(p.Lanes()) * laneMbit[bits.TrailingZeros8(p.Speed)] * 1e6
}

// QueryPort returns the state of a port, counted from 1. A port that is down is
// no error here.
func (c *Context) QueryPort(port uint8) (PortAttr, error) {
	const call = "ibv_query_port"
	var attr PortAttr
	err := c.while(call, func() error {
		var errno syscall.Errno
		if port == 0 {
			errno = syscall.EINVAL
		} else {
			attr, errno = c.lib.sysQueryPort(c.ptr, port)
		}
		if errno != 0 {
			return c.portError(call, port, errno)
		}
		return nil
	})
	return attr, err
}

// CheckPort returns nil if the port is active, and else an error that says what
// it is and wraps ENETDOWN.
func (c *Context) CheckPort(port uint8) error {
	attr, err := c.QueryPort(port)
	if err != nil {
		return err
	}
	if attr.State == PortActive {
		return nil
	}
	return &Error{
		Call:   "CheckPort",
		Object: fmt.Sprintf("port %d of %s", port, c.device),
		Reason: fmt.Sprintf("its state is %q, traffic needs %q", attr.State, PortActive),
		Remedy: "check cable, switch port and subnet manager, or \"ip link set up\" the network device of a RoCE port",
		Errno:  syscall.ENETDOWN,
	}
}
