//go:build linux && cgo && !386 && !arm && !mips && !mipsle

package verbs

// #include "shim.h"
import "C"

import "unsafe"

// The Go side of structures that C fills or reads in place; see numbers_cgo.go for
// how a line proves something.

// struct ibv_wc.
var (
	_ = same[unsafe.Sizeof(WC{})-C.sizeof_struct_ibv_wc]
	_ = same[unsafe.Offsetof(WC{}.WRID)-unsafe.Offsetof(C.struct_ibv_wc{}.wr_id)]
	_ = same[unsafe.Sizeof(WC{}.WRID)-unsafe.Sizeof(C.struct_ibv_wc{}.wr_id)]
	_ = same[unsafe.Offsetof(WC{}.Status)-unsafe.Offsetof(C.struct_ibv_wc{}.status)]
	_ = same[unsafe.Sizeof(WC{}.Status)-unsafe.Sizeof(C.struct_ibv_wc{}.status)]
	_ = same[unsafe.Offsetof(WC{}.Opcode)-unsafe.Offsetof(C.struct_ibv_wc{}.opcode)]
	_ = same[unsafe.Sizeof(WC{}.Opcode)-unsafe.Sizeof(C.struct_ibv_wc{}.opcode)]
	_ = same[unsafe.Offsetof(WC{}.VendorErr)-unsafe.Offsetof(C.struct_ibv_wc{}.vendor_err)]
	_ = same[unsafe.Sizeof(WC{}.VendorErr)-unsafe.Sizeof(C.struct_ibv_wc{}.vendor_err)]
	_ = same[unsafe.Offsetof(WC{}.ByteLen)-unsafe.Offsetof(C.struct_ibv_wc{}.byte_len)]
	_ = same[unsafe.Sizeof(WC{}.ByteLen)-unsafe.Sizeof(C.struct_ibv_wc{}.byte_len)]
	_ = same[unsafe.Offsetof(WC{}.ImmData)-unsafe.Offsetof(C.struct_ibv_wc{}.anon0)]
	_ = same[unsafe.Sizeof(WC{}.ImmData)-unsafe.Sizeof(C.struct_ibv_wc{}.anon0)]
	_ = same[unsafe.Offsetof(WC{}.QPNum)-unsafe.Offsetof(C.struct_ibv_wc{}.qp_num)]
	_ = same[unsafe.Sizeof(WC{}.QPNum)-unsafe.Sizeof(C.struct_ibv_wc{}.qp_num)]
	_ = same[unsafe.Offsetof(WC{}.SrcQP)-unsafe.Offsetof(C.struct_ibv_wc{}.src_qp)]
	_ = same[unsafe.Sizeof(WC{}.SrcQP)-unsafe.Sizeof(C.struct_ibv_wc{}.src_qp)]
	_ = same[unsafe.Offsetof(WC{}.Flags)-unsafe.Offsetof(C.struct_ibv_wc{}.wc_flags)]
	_ = same[unsafe.Sizeof(WC{}.Flags)-unsafe.Sizeof(C.struct_ibv_wc{}.wc_flags)]
	_ = same[unsafe.Offsetof(WC{}.PKeyIndex)-unsafe.Offsetof(C.struct_ibv_wc{}.pkey_index)]
	_ = same[unsafe.Sizeof(WC{}.PKeyIndex)-unsafe.Sizeof(C.struct_ibv_wc{}.pkey_index)]
	_ = same[unsafe.Offsetof(WC{}.SLID)-unsafe.Offsetof(C.struct_ibv_wc{}.slid)]
	_ = same[unsafe.Sizeof(WC{}.SLID)-unsafe.Sizeof(C.struct_ibv_wc{}.slid)]
	_ = same[unsafe.Offsetof(WC{}.SL)-unsafe.Offsetof(C.struct_ibv_wc{}.sl)]
	_ = same[unsafe.Sizeof(WC{}.SL)-unsafe.Sizeof(C.struct_ibv_wc{}.sl)]
	_ = same[unsafe.Offsetof(WC{}.PathBits)-unsafe.Offsetof(C.struct_ibv_wc{}.dlid_path_bits)]
	_ = same[unsafe.Sizeof(WC{}.PathBits)-unsafe.Sizeof(C.struct_ibv_wc{}.dlid_path_bits)]
)

// struct ibv_sge.
var (
	_ = same[unsafe.Sizeof(SGE{})-C.sizeof_struct_ibv_sge]
	_ = same[unsafe.Offsetof(SGE{}.Addr)-unsafe.Offsetof(C.struct_ibv_sge{}.addr)]
	_ = same[unsafe.Sizeof(SGE{}.Addr)-unsafe.Sizeof(C.struct_ibv_sge{}.addr)]
	_ = same[unsafe.Offsetof(SGE{}.Length)-unsafe.Offsetof(C.struct_ibv_sge{}.length)]
	_ = same[unsafe.Sizeof(SGE{}.Length)-unsafe.Sizeof(C.struct_ibv_sge{}.length)]
	_ = same[unsafe.Offsetof(SGE{}.LKey)-unsafe.Offsetof(C.struct_ibv_sge{}.lkey)]
	_ = same[unsafe.Sizeof(SGE{}.LKey)-unsafe.Sizeof(C.struct_ibv_sge{}.lkey)]
)

// struct ibv_recv_wr.
var (
	_ = same[unsafe.Sizeof(cRecvWR{})-C.sizeof_struct_ibv_recv_wr]
	_ = same[unsafe.Offsetof(cRecvWR{}.wrID)-unsafe.Offsetof(C.struct_ibv_recv_wr{}.wr_id)]
	_ = same[unsafe.Sizeof(cRecvWR{}.wrID)-unsafe.Sizeof(C.struct_ibv_recv_wr{}.wr_id)]
	_ = same[unsafe.Offsetof(cRecvWR{}.next)-unsafe.Offsetof(C.struct_ibv_recv_wr{}.next)]
	_ = same[unsafe.Sizeof(cRecvWR{}.next)-unsafe.Sizeof(C.struct_ibv_recv_wr{}.next)]
	_ = same[unsafe.Offsetof(cRecvWR{}.sgList)-unsafe.Offsetof(C.struct_ibv_recv_wr{}.sg_list)]
	_ = same[unsafe.Sizeof(cRecvWR{}.sgList)-unsafe.Sizeof(C.struct_ibv_recv_wr{}.sg_list)]
	_ = same[unsafe.Offsetof(cRecvWR{}.numSGE)-unsafe.Offsetof(C.struct_ibv_recv_wr{}.num_sge)]
	_ = same[unsafe.Sizeof(cRecvWR{}.numSGE)-unsafe.Sizeof(C.struct_ibv_recv_wr{}.num_sge)]
)

// struct ibv_send_wr.
var (
	_ = same[unsafe.Sizeof(cSendWR{})-C.sizeof_struct_ibv_send_wr]
	_ = same[unsafe.Offsetof(cSendWR{}.wrID)-unsafe.Offsetof(C.struct_ibv_send_wr{}.wr_id)]
	_ = same[unsafe.Sizeof(cSendWR{}.wrID)-unsafe.Sizeof(C.struct_ibv_send_wr{}.wr_id)]
	_ = same[unsafe.Offsetof(cSendWR{}.next)-unsafe.Offsetof(C.struct_ibv_send_wr{}.next)]
	_ = same[unsafe.Sizeof(cSendWR{}.next)-unsafe.Sizeof(C.struct_ibv_send_wr{}.next)]
	_ = same[unsafe.Offsetof(cSendWR{}.sgList)-unsafe.Offsetof(C.struct_ibv_send_wr{}.sg_list)]
	_ = same[unsafe.Sizeof(cSendWR{}.sgList)-unsafe.Sizeof(C.struct_ibv_send_wr{}.sg_list)]
	_ = same[unsafe.Offsetof(cSendWR{}.numSGE)-unsafe.Offsetof(C.struct_ibv_send_wr{}.num_sge)]
	_ = same[unsafe.Sizeof(cSendWR{}.numSGE)-unsafe.Sizeof(C.struct_ibv_send_wr{}.num_sge)]
	_ = same[unsafe.Offsetof(cSendWR{}.opcode)-unsafe.Offsetof(C.struct_ibv_send_wr{}.opcode)]
	_ = same[unsafe.Sizeof(cSendWR{}.opcode)-unsafe.Sizeof(C.struct_ibv_send_wr{}.opcode)]
	_ = same[unsafe.Offsetof(cSendWR{}.flags)-unsafe.Offsetof(C.struct_ibv_send_wr{}.send_flags)]
	_ = same[unsafe.Sizeof(cSendWR{}.flags)-unsafe.Sizeof(C.struct_ibv_send_wr{}.send_flags)]
	_ = same[unsafe.Offsetof(cSendWR{}.imm)-unsafe.Offsetof(C.struct_ibv_send_wr{}.anon0)]
	_ = same[unsafe.Sizeof(cSendWR{}.imm)-unsafe.Sizeof(C.struct_ibv_send_wr{}.anon0)]
)

// The RDMA part of struct ibv_send_wr, which cgo shows as bytes.
var (
	_ = same[unsafe.Offsetof(cSendWR{}.remoteAddr)-C.RGV_SEND_WR_REMOTE_ADDR]
	_ = same[unsafe.Offsetof(cSendWR{}.rkey)-C.RGV_SEND_WR_RKEY]
)

// struct rgv_gate of shim.h.
var (
	_ = same[unsafe.Sizeof(gate{})-C.sizeof_struct_rgv_gate]
	_ = same[unsafe.Offsetof(gate{}.busy)-unsafe.Offsetof(C.struct_rgv_gate{}.busy)]
	_ = same[unsafe.Offsetof(gate{}.shut)-unsafe.Offsetof(C.struct_rgv_gate{}.shut)]
)

var _ = same[gateShut-C.RGV_SHUT]
