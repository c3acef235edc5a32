package transfer

import (
	"encoding/json"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	prail "github.com/rdmagate/rdmagate/rail"
)

// The control connection carries one JSON value a line. The side that posts asks,
// the other side answers each request once, with the number of the request.

type request struct {
	ID   uint64          `json:"id"`
	Op   string          `json:"op"`
	Body json.RawMessage `json:"body"`
}

type response struct {
	ID    uint64 `json:"id"`
	Error string `json:"error,omitempty"`
	// Unreachable: the error is that the NIC cannot be reached, such as since its port is
	// down.
	Unreachable bool            `json:"unreachable,omitempty"`
	Body        json.RawMessage `json:"body,omitempty"`
}

// The operations of the control connection.
const (
	opHello      = "hello"      // hello -> hello
	opConnect    = "connect"    // connectRequest -> connectReply
	opDisconnect = "disconnect" // disconnectRequest -> nothing
	opCreate     = "create"     // objectRequest -> Object; not to be opened before it is sealed
	opOpen       = "open"       // objectRequest -> Object
	opSeal       = "seal"       // objectRequest -> nothing
	opDelete     = "delete"     // objectRequest -> nothing
	opChecksums  = "checksums"  // checksumsRequest -> checksumsReply
)

// maxMessage is the longest line of the control connection, in bytes.
const maxMessage = 4 << 20

// hello introduces a machine.
type hello struct {
	Name string `json:"name"`
	// Incarnation differs after every restart of the machine's engine.
	Incarnation string      `json:"incarnation"`
	NICs        []prail.NIC `json:"nics"`
	// Scratch is memory that a prober may read, by name of the NIC. Who only posts lends
	// none.
	Scratch map[string]Key `json:"scratch,omitempty"`
}

// names returns the names of the NICs.
func (h *hello) names() []string {
	var list []string
	for _, nic := range h.NICs {
		list = append(list, nic.Name)
	}
	return list
}

// describe returns what NICs say of themselves now.
func describe(nics []fabric.NIC) []prail.NIC {
	var list []prail.NIC
	for _, nic := range nics {
		list = append(list, nic.Info())
	}
	return list
}

// connectRequest asks for the remote half of an endpoint: one QP at the remote
// NIC for each address.
type connectRequest struct {
	Remote    string           `json:"remote"`
	Addresses []fabric.Address `json:"addresses"`
}

type connectReply struct {
	Endpoint  uint64           `json:"endpoint"`
	Addresses []fabric.Address `json:"addresses"`
}

type disconnectRequest struct {
	Endpoint uint64 `json:"endpoint"`
}

type objectRequest struct {
	Object string `json:"object"`
	Bytes  int64  `json:"bytes,omitempty"` // create only
}

// Object is memory of the peer that can be read and written, by name.
type Object struct {
	Name  string         `json:"name"`
	Bytes int64          `json:"bytes"`
	Keys  map[string]Key `json:"keys"` // by name of the peer's NIC
}

type checksumsRequest struct {
	Object     string `json:"object"`
	Offset     int64  `json:"offset"`
	Length     int64  `json:"length"`
	SliceBytes int    `json:"slice_bytes"`
}

type checksumsReply struct {
	CRC32C []uint32 `json:"crc32c"`
}
