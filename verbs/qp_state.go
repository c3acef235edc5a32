package verbs

import (
	"fmt"
	"syscall"
	"time"
)

// InitAttr are the attributes of the step from RESET to INIT.
type InitAttr struct {
	Port      uint8 // 0 means 1
	PKeyIndex uint16
	Access    Access // what the peer may do over this QP
}

// RTRAttr are the attributes of the step from INIT to RTR: where the peer is,
// and what is received.
type RTRAttr struct {
	DestQPNum uint32 // number of the peer's QP
	RecvPSN   uint32 // the peer's SendPSN, 24 bits
	PathMTU   MTU    // 0 means the port's active MTU; both sides must agree

	DestGID      GID    // zero: none, InfiniBand within a subnet only
	GIDIndex     uint8  // the local GID
	DestLID      uint16 // InfiniBand only
	HopLimit     uint8  // 0 means 64
	TrafficClass uint8
	FlowLabel    uint32
	SL           uint8

	MaxReadsIn uint8 // READs of the peer served at once; 0 means 1
	// MinRNRTimer is a code from 0 to 31 for how long a peer waits after it found no
	// receive posted. 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms, and 0 is the
	// longest, 655.36 ms.
	MinRNRTimer uint8
}

// RTSAttr are the attributes of the step from RTR to RTS: how to send.
type RTSAttr struct {
	SendPSN uint32 // first packet sequence number, 24 bits
	// Timeout is a code t from 0 to 31: the NIC waits 4.096 us x 2^t for an ACK (see
	// [TimeoutDuration]). 0 waits for ever: a lost packet then hangs the QP.
	Timeout     uint8
	RetryCount  uint8 // times a timed-out request is sent again, 0 to 7
	RNRRetry    uint8 // times after receiver-not-ready, 0 to 6; 7 is for ever
	MaxReadsOut uint8 // READs outstanding at once; 0 means 1
}

// TimeoutDuration returns what the Timeout code of [RTSAttr] stands for: 4.096 us
// x 2^code. Code 0 is 0 and means for ever.
func TimeoutDuration(code uint8) time.Duration {
	if code == 0 || code > 31 {
		return 0
	}
	return 4096 * time.Nanosecond << code
}

// Bits of enum ibv_qp_attr_mask.
const (
	attrState      = 1 << 0
	attrAccess     = 1 << 3
	attrPKeyIndex  = 1 << 4
	attrPort       = 1 << 5
	attrAV         = 1 << 7
	attrPathMTU    = 1 << 8
	attrTimeout    = 1 << 9
	attrRetry      = 1 << 10
	attrRNRRetry   = 1 << 11
	attrRecvPSN    = 1 << 12
	attrReadsOut   = 1 << 13
	attrMinRNR     = 1 << 15
	attrSendPSN    = 1 << 16
	attrReadsIn    = 1 << 17
	attrCap        = 1 << 19
	attrDestQPNum  = 1 << 20
	attrsToInit    = attrState | attrPKeyIndex | attrPort | attrAccess
	attrsToRTR     = attrState | attrAV | attrPathMTU | attrDestQPNum | attrRecvPSN | attrReadsIn | attrMinRNR
	attrsToRTS     = attrState | attrSendPSN | attrTimeout | attrRetry | attrRNRRetry | attrReadsOut
	attrsToQuery   = attrState | attrPort | attrPathMTU | attrDestQPNum | attrRecvPSN | attrSendPSN | attrTimeout | attrRetry | attrRNRRetry | attrMinRNR | attrReadsIn | attrReadsOut | attrAccess | attrCap | attrAV
	numberBits     = 24 // of QP numbers and PSNs
	longestTimeout = 31
)

// qpModify is what a step to another state changes.
type qpModify struct {
	mask  int
	state QPState
	init  InitAttr
	rtr   RTRAttr
	rts   RTSAttr
	port  uint8
}

// ToInit moves the QP from RESET to INIT. Receives may be posted from here on.
func (q *QP) ToInit(attr InitAttr) error {
	attr.Port = max(attr.Port, 1)
	return q.modify(qpModify{mask: attrsToInit, state: StateInit, init: attr, port: attr.Port}, func() error {
		if attr.Access&^accessAll != 0 {
			return fmt.Errorf("unknown access bits %#x", uint32(attr.Access&^accessAll))
		}
		return nil
	})
}

// ToRTR moves the QP from INIT to ready-to-receive. It is refused, with an error
// that wraps ENETDOWN, while the port is not active.
func (q *QP) ToRTR(attr RTRAttr) error {
	if !q.made() {
		return closedBy("ibv_modify_qp", &q.object, "")
	}
	q.mu.Lock()
	port := max(q.port, 1)
	q.mu.Unlock()
	if err := q.fromPort(port, &attr); err != nil {
		return err
	}
	if attr.HopLimit == 0 {
		attr.HopLimit = 64
	}
	attr.MaxReadsIn = max(attr.MaxReadsIn, 1)
	return q.modify(qpModify{mask: attrsToRTR, state: StateRTR, rtr: attr, port: port}, func() error {
		switch {
		case attr.DestQPNum>>numberBits != 0:
			return fmt.Errorf("DestQPNum %#x has more than 24 bits", attr.DestQPNum)
		case attr.RecvPSN>>numberBits != 0:
			return fmt.Errorf("RecvPSN %#x has more than 24 bits", attr.RecvPSN)
		case attr.MinRNRTimer > longestTimeout:
			return fmt.Errorf("MinRNRTimer %d is above 31", attr.MinRNRTimer)
		case attr.PathMTU.Bytes() == 0:
			return fmt.Errorf("PathMTU %d is not one of the constants", uint32(attr.PathMTU))
		}
		return nil
	})
}

// fromPort checks that the port can carry traffic and takes the MTU from it.
func (q *QP) fromPort(port uint8, attr *RTRAttr) error {
	state, err := q.pd.ctx.QueryPort(port)
	if err != nil {
		return err
	}
	if state.State != PortActive && state.State != PortActiveDefer {
		return q.pd.ctx.CheckPort(port)
	}
	if attr.PathMTU == 0 {
		attr.PathMTU = state.ActiveMTU
	}
	return nil
}

// ToRTS moves the QP from RTR to ready-to-send. Sends may be posted from here on.
func (q *QP) ToRTS(attr RTSAttr) error {
	attr.MaxReadsOut = max(attr.MaxReadsOut, 1)
	return q.modify(qpModify{mask: attrsToRTS, state: StateRTS, rts: attr}, func() error {
		switch {
		case attr.SendPSN>>numberBits != 0:
			return fmt.Errorf("SendPSN %#x has more than 24 bits", attr.SendPSN)
		case attr.Timeout > longestTimeout:
			return fmt.Errorf("timeout code %d is above 31", attr.Timeout)
		case attr.RetryCount > 7:
			return fmt.Errorf("RetryCount %d is above 7", attr.RetryCount)
		case attr.RNRRetry > 7:
			return fmt.Errorf("RNRRetry %d is above 7", attr.RNRRetry)
		}
		return nil
	})
}

// ToErr moves the QP to ERR from any state: outstanding requests, and later
// ones, complete as flushed.
func (q *QP) ToErr() error {
	return q.modify(qpModify{mask: attrState, state: StateErr}, nil)
}

// ToReset moves the QP to RESET from any state. Requests that are outstanding are
// forgotten: they get no completion.
func (q *QP) ToReset() error {
	return q.modify(qpModify{mask: attrState, state: StateReset}, nil)
}

func (q *QP) modify(m qpModify, check func() error) error {
	const call = "ibv_modify_qp"
	return q.while(call, func() error {
		step := fmt.Sprintf("to %s", m.state)
		if check != nil {
			if err := check(); err != nil {
				return invalid(call, q.String(), step+": "+err.Error(), "see the ranges of the attributes")
			}
		}
		if errno := q.pd.ctx.lib.sysModifyQP(q.ptr, &m); errno != 0 {
			return &Error{Call: call, Object: q.String(), Reason: step, Errno: errno, Remedy: remedyModify(errno, m.state)}
		}
		if m.state == StateInit {
			q.port = m.port
		}
		return nil
	})
}

func remedyModify(errno syscall.Errno, to QPState) string {
	switch {
	case errno == syscall.EINVAL:
		return "the steps are RESET, INIT, RTR, RTS; check port, GID index, MTU and the limits of outstanding READs"
	case to == StateRTR && (errno == syscall.ETIMEDOUT || errno == syscall.EHOSTUNREACH || errno == syscall.ENETUNREACH):
		return "there is no route or no neighbour for the peer's GID: check the addresses of both network devices"
	}
	return remedyMemory(errno)
}

// QPAttr is the present state of a QP.
type QPAttr struct {
	State       QPState
	Port        uint8
	Access      Access
	PathMTU     MTU
	DestQPNum   uint32
	DestGID     GID
	SendPSN     uint32 // next to be sent
	RecvPSN     uint32 // next to be received
	Timeout     uint8
	RetryCount  uint8
	RNRRetry    uint8
	MinRNRTimer uint8
	MaxReadsOut uint8
	MaxReadsIn  uint8
	Cap         QPCap
}

// Query returns the present state of the QP, as the device has it.
func (q *QP) Query() (QPAttr, error) {
	const call = "ibv_query_qp"
	var attr QPAttr
	err := q.while(call, func() error {
		var errno syscall.Errno
		if attr, errno = q.pd.ctx.lib.sysQueryQP(q.ptr, attrsToQuery); errno != 0 {
			return &Error{Call: call, Object: q.String(), Errno: errno}
		}
		return nil
	})
	return attr, err
}
