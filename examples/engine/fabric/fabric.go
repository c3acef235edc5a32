// Package fabric is the small interface between the example engine and what moves
// its bytes: real verbs, or a fabric simulated in the process.
//
// The interface is the part of verbs that a transfer engine needs on its data
// path, with the types of package verbs, so that an engine written against it
// reads like one written against libibverbs.
package fabric

import (
	"context"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/verbs"
)

// Host is one machine, as its transfer engine sees it.
type Host interface {
	// Name says which kind of fabric this is and why it was taken, for people.
	Name() string
	// NICs returns the usable RDMA devices, in a fixed order.
	NICs() []NIC
	// Alloc returns zeroed memory that NICs can register.
	Alloc(bytes int) ([]byte, error)
	// Free gives memory back. It must not be registered any more.
	Free(mem []byte) error
	// Close closes the NICs. Objects made from them must be closed before.
	Close() error
}

// NIC is one port of a local RDMA device.
type NIC interface {
	Name() string
	Port() uint8
	// Info describes the NIC as it is now, with the address that its QPs use. A port
	// that is down is not unusable: it may be up again at any time.
	Info() rail.NIC
	Register(mem []byte) (Region, error)
	NewCQ(depth int) (CQ, error)
	// NewQP returns an RC QP that is not yet connected. Its send and receive
	// completions go to cq.
	NewQP(cq CQ, cfg QPConfig) (QP, error)
	// NextEvent waits for an asynchronous event of the device. It returns an error
	// once ctx ends or the NIC is closed.
	NextEvent(ctx context.Context) (classify.Event, error)
}

// QPConfig holds what an engine chooses for a QP.
type QPConfig struct {
	SendDepth, RecvDepth int
	// Timeout is the ACK timeout code t: 4.096 us x 2^t a try. 1 to 31.
	Timeout uint8
	// Retry and RNRRetry are counts of retries, 0 to 7; an RNRRetry of 7 never ends.
	Retry, RNRRetry uint8
}

// Region is registered memory.
type Region interface {
	Addr() uint64
	LKey() uint32
	RKey() uint32
	Close() error
}

// CQ is a completion queue.
type CQ interface {
	// ID is a serial number that no other object of the process ever has.
	ID() uint64
	// Poll fills wcs from the front and returns how many there were. It never
	// waits.
	Poll(wcs []verbs.WC) (int, error)
	Close() error
}

// QP is a reliable-connected queue pair.
type QP interface {
	// ID is a serial number that no other object of the process ever has.
	ID() uint64
	// Address is what the other side needs to connect to this QP.
	Address() Address
	// Connect brings the QP to RTS towards a remote one.
	Connect(remote Address) error
	// PostSend hands over work requests in order and returns how many were taken.
	// With an error, those behind that number were not.
	PostSend(wrs []verbs.SendWR) (int, error)
	// Fail moves the QP to the error state; outstanding work requests flush.
	Fail() error
	Close() error
}

// Address names a QP to the other side. It travels as JSON.
type Address struct {
	QPN uint32 `json:"qpn"`
	PSN uint32 `json:"psn"`
	GID string `json:"gid"`
	LID uint16 `json:"lid,omitempty"`
	MTU int    `json:"mtu"` // bytes
}
