package verbs

import (
	"encoding/binary"

	"github.com/rdmagate/rdmagate/classify"
)

// WC is one work completion. It has the memory layout of struct ibv_wc, so that
// libibverbs writes straight into the caller's buffer.
//
// When Status is not success only WRID, Status, QPNum and VendorErr mean
// anything; ByteLen in particular is not the number of bytes that moved.
type WC struct {
	WRID      uint64          // the WRID of the work request
	Status    classify.Status // what became of it
	Opcode    WCOpcode        // its operation, on success
	VendorErr uint32          // vendor's detail of the status, for diagnosis only
	ByteLen   uint32          // bytes received or read, on success of RECV and READ
	ImmData   [4]byte         // immediate data as on the wire, if WithImm
	QPNum     uint32          // local QP number; hardware reuses those
	SrcQP     uint32          // not used by RC
	Flags     WCFlags
	PKeyIndex uint16 // not used by RC
	SLID      uint16 // not used by RC
	SL        uint8  // not used by RC
	PathBits  uint8  // not used by RC
	_         [2]byte
}

// WCFlags says which optional fields of a [WC] are filled.
type WCFlags uint32

// WCWithImm says that the completion carries immediate data.
const WCWithImm WCFlags = 1 << 1

// Imm returns the immediate data in host byte order, as it was given to
// [SendWR]. It means something only when Flags has [WCWithImm].
func (w *WC) Imm() uint32 { return binary.BigEndian.Uint32(w.ImmData[:]) }

// SetImm stores immediate data and the flag that says so, for scripted
// completions.
func (w *WC) SetImm(imm uint32) {
	binary.BigEndian.PutUint32(w.ImmData[:], imm)
	w.Flags |= WCWithImm
}
