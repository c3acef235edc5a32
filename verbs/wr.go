package verbs

import "encoding/binary"

// MaxMessage is the most bytes that one work request moves, and so one SGE holds:
// 2^31. A port may allow less.
const MaxMessage = 1 << 31

// SGE is one piece of local memory: bytes Addr to Addr+Length of the region
// with the key LKey. It has the memory layout of struct ibv_sge.
type SGE struct {
	Addr   uint64
	Length uint32 // 0 to MaxMessage bytes
	LKey   uint32
}

// SendFlags modifies a [SendWR], with the values of enum ibv_send_flags.
type SendFlags uint32

// The flags of a SendWR.
const (
	SendFence     SendFlags = 1 << 0 // wait for earlier READs
	SendSignaled  SendFlags = 1 << 1 // success makes a completion; failure always does
	SendSolicited SendFlags = 1 << 2 // wakes a peer that asked for solicited events only
	SendInline    SendFlags = 1 << 3 // copy the data while posting; up to QPCap.MaxInline
)

// SendWR is one work request for the send queue.
//
// The local memory is SGE, then the elements of More. An SGE of length 0 with no
// More means no local memory at all, for a SEND or WRITE_WITH_IMM without bytes.
// Nothing here is kept after PostSend returns: slices and the WR may be reused at
// once, while the memory that they describe belongs to the NIC until the
// completion.
type SendWR struct {
	WRID       uint64 // comes back in the completion
	Op         Opcode
	Flags      SendFlags
	Imm        uint32 // host byte order; read by the two WithImm operations
	RKey       uint32 // READ and WRITE
	RemoteAddr uint64 // READ and WRITE
	SGE        SGE
	More       []SGE
}

// RecvWR is one work request for the receive queue. SGE and More are as in
// [SendWR].
type RecvWR struct {
	WRID uint64
	SGE  SGE
	More []SGE
}

// sges returns how many SGEs a request with these has.
func sges(first *SGE, more []SGE) int {
	if first.Length == 0 && len(more) == 0 {
		return 0
	}
	return 1 + len(more)
}

// Len returns the bytes of local memory that the request describes.
func (w *SendWR) Len() uint64 {
	n := uint64(w.SGE.Length)
	for i := range w.More {
		n += uint64(w.More[i].Length)
	}
	return n
}

// cSendWR and cRecvWR mirror struct ibv_send_wr and struct ibv_recv_wr, as far
// as this package fills them. The mirror is checked against the C headers when
// the package is compiled.
type cSendWR struct {
	wrID       uint64
	next       uintptr
	sgList     uintptr
	numSGE     int32
	opcode     uint32
	flags      uint32
	imm        [4]byte
	remoteAddr uint64
	rkey       uint32
	_          [sendWRTail]byte
}

type cRecvWR struct {
	wrID   uint64
	next   uintptr
	sgList uintptr
	numSGE int32
	_      [4]byte
}

func (c *cSendWR) fill(w *SendWR) {
	c.wrID = w.WRID
	c.opcode = uint32(w.Op)
	c.flags = uint32(w.Flags)
	binary.BigEndian.PutUint32(c.imm[:], w.Imm)
	c.remoteAddr = w.RemoteAddr
	c.rkey = w.RKey
}
