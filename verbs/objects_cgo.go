//go:build linux && cgo && !386 && !arm && !mips && !mipsle

package verbs

// #include "shim.h"
import "C"

import (
	"syscall"
	"unsafe"

	"github.com/rdmagate/rdmagate/classify"
)

func (l *library) sysAllocPD(ctx unsafe.Pointer) (unsafe.Pointer, syscall.Errno) {
	var pd *C.struct_ibv_pd
	errno := C.rgv_alloc_pd(l.table, (*C.struct_ibv_context)(ctx), &pd)
	return unsafe.Pointer(pd), syscall.Errno(errno)
}

func (l *library) sysDeallocPD(pd unsafe.Pointer) syscall.Errno {
	return syscall.Errno(C.rgv_dealloc_pd(l.table, (*C.struct_ibv_pd)(pd)))
}

func (l *library) sysRegMR(pd, start unsafe.Pointer, n int, access uint32) (mr unsafe.Pointer, lkey, rkey uint32, errno syscall.Errno) {
	var m *C.struct_ibv_mr
	errno = syscall.Errno(C.rgv_reg_mr(l.table, (*C.struct_ibv_pd)(pd), start, C.size_t(n), C.int(access), &m))
	if errno != 0 {
		return nil, 0, 0, errno
	}
	return unsafe.Pointer(m), uint32(m.lkey), uint32(m.rkey), 0
}

func (l *library) sysDeregMR(mr unsafe.Pointer) syscall.Errno {
	return syscall.Errno(C.rgv_dereg_mr(l.table, (*C.struct_ibv_mr)(mr)))
}

// isGoMemory asks cgo's pointer check, which panics when C is handed memory that
// holds an unpinned pointer to Go memory.
func isGoMemory(p unsafe.Pointer) (is bool) {
	defer func() { is = recover() != nil }()
	C.rgv_look(&C.struct_rgv_box{pointer: p})
	return false
}

func (l *library) sysCreateChannel(ctx unsafe.Pointer) (unsafe.Pointer, int, syscall.Errno) {
	var ch *C.struct_ibv_comp_channel
	errno := C.rgv_create_channel(l.table, (*C.struct_ibv_context)(ctx), &ch)
	if errno != 0 {
		return nil, -1, syscall.Errno(errno)
	}
	return unsafe.Pointer(ch), int(ch.fd), 0
}

func (l *library) sysDestroyChannel(ch unsafe.Pointer) syscall.Errno {
	return syscall.Errno(C.rgv_destroy_channel(l.table, (*C.struct_ibv_comp_channel)(ch)))
}

func (l *library) sysCreateCQ(ctx unsafe.Pointer, depth int, id uint64, ch unsafe.Pointer, vector int) (unsafe.Pointer, int, syscall.Errno) {
	var cq *C.struct_ibv_cq
	errno := C.rgv_create_cq(l.table, (*C.struct_ibv_context)(ctx), C.int(depth), C.uintptr_t(id),
		(*C.struct_ibv_comp_channel)(ch), C.int(vector), &cq)
	if errno != 0 {
		return nil, 0, syscall.Errno(errno)
	}
	return unsafe.Pointer(cq), int(cq.cqe), 0
}

func (l *library) sysDestroyCQ(cq unsafe.Pointer) syscall.Errno {
	return syscall.Errno(C.rgv_destroy_cq(l.table, (*C.struct_ibv_cq)(cq)))
}

func sysDescribeCQ(cq unsafe.Pointer) (owner unsafe.Pointer, depth int) {
	c := (*C.struct_ibv_cq)(cq)
	return unsafe.Pointer(c.context), int(c.cqe)
}

func (l *library) sysCreateQP(pd unsafe.Pointer, init *QPInit, id uint64) (unsafe.Pointer, uint32, QPCap, syscall.Errno) {
	in := C.struct_rgv_qp_init{
		send_cq: (*C.struct_ibv_cq)(init.SendCQ.ptr),
		recv_cq: (*C.struct_ibv_cq)(init.RecvCQ.ptr),
		cookie:  C.uintptr_t(id),
		cap: C.struct_ibv_qp_cap{
			max_send_wr:     C.uint32_t(init.Cap.MaxSendWR),
			max_recv_wr:     C.uint32_t(init.Cap.MaxRecvWR),
			max_send_sge:    C.uint32_t(init.Cap.MaxSendSGE),
			max_recv_sge:    C.uint32_t(init.Cap.MaxRecvSGE),
			max_inline_data: C.uint32_t(init.Cap.MaxInline),
		},
	}
	if init.SignalAll {
		in.signal_all = 1
	}
	var qp *C.struct_ibv_qp
	if errno := C.rgv_create_qp(l.table, (*C.struct_ibv_pd)(pd), &in, &qp); errno != 0 {
		return nil, 0, QPCap{}, syscall.Errno(errno)
	}
	return unsafe.Pointer(qp), uint32(qp.qp_num), qpCap(&in.cap), 0
}

func qpCap(c *C.struct_ibv_qp_cap) QPCap {
	return QPCap{
		MaxSendWR:  int(c.max_send_wr),
		MaxRecvWR:  int(c.max_recv_wr),
		MaxSendSGE: int(c.max_send_sge),
		MaxRecvSGE: int(c.max_recv_sge),
		MaxInline:  int(c.max_inline_data),
	}
}

func (l *library) sysDestroyQP(qp unsafe.Pointer) syscall.Errno {
	return syscall.Errno(C.rgv_destroy_qp(l.table, (*C.struct_ibv_qp)(qp)))
}

func (l *library) sysModifyQP(qp unsafe.Pointer, m *qpModify) syscall.Errno {
	a := C.struct_ibv_qp_attr{
		qp_state:           C.enum_ibv_qp_state(m.state),
		port_num:           C.uint8_t(m.init.Port),
		pkey_index:         C.uint16_t(m.init.PKeyIndex),
		qp_access_flags:    C.uint(m.init.Access),
		path_mtu:           C.enum_ibv_mtu(m.rtr.PathMTU),
		dest_qp_num:        C.uint32_t(m.rtr.DestQPNum),
		rq_psn:             C.uint32_t(m.rtr.RecvPSN),
		max_dest_rd_atomic: C.uint8_t(m.rtr.MaxReadsIn),
		min_rnr_timer:      C.uint8_t(m.rtr.MinRNRTimer),
		sq_psn:             C.uint32_t(m.rts.SendPSN),
		timeout:            C.uint8_t(m.rts.Timeout),
		retry_cnt:          C.uint8_t(m.rts.RetryCount),
		rnr_retry:          C.uint8_t(m.rts.RNRRetry),
		max_rd_atomic:      C.uint8_t(m.rts.MaxReadsOut),
	}
	a.ah_attr.port_num = C.uint8_t(m.port)
	a.ah_attr.dlid = C.uint16_t(m.rtr.DestLID)
	a.ah_attr.sl = C.uint8_t(m.rtr.SL)
	if m.rtr.DestGID != (GID{}) {
		a.ah_attr.is_global = 1
		*(*GID)(unsafe.Pointer(&a.ah_attr.grh.dgid)) = m.rtr.DestGID
		a.ah_attr.grh.sgid_index = C.uint8_t(m.rtr.GIDIndex)
		a.ah_attr.grh.hop_limit = C.uint8_t(m.rtr.HopLimit)
		a.ah_attr.grh.traffic_class = C.uint8_t(m.rtr.TrafficClass)
		a.ah_attr.grh.flow_label = C.uint32_t(m.rtr.FlowLabel)
	}
	return syscall.Errno(C.rgv_modify_qp(l.table, (*C.struct_ibv_qp)(qp), &a, C.int(m.mask)))
}

func (l *library) sysQueryQP(qp unsafe.Pointer, mask int) (QPAttr, syscall.Errno) {
	var a C.struct_ibv_qp_attr
	if errno := C.rgv_query_qp(l.table, (*C.struct_ibv_qp)(qp), &a, C.int(mask)); errno != 0 {
		return QPAttr{}, syscall.Errno(errno)
	}
	return QPAttr{
		State:       QPState(a.qp_state),
		Port:        uint8(a.port_num),
		Access:      Access(a.qp_access_flags),
		PathMTU:     MTU(a.path_mtu),
		DestQPNum:   uint32(a.dest_qp_num),
		DestGID:     GID(a.ah_attr.grh.dgid),
		SendPSN:     uint32(a.sq_psn),
		RecvPSN:     uint32(a.rq_psn),
		Timeout:     uint8(a.timeout),
		RetryCount:  uint8(a.retry_cnt),
		RNRRetry:    uint8(a.rnr_retry),
		MinRNRTimer: uint8(a.min_rnr_timer),
		MaxReadsOut: uint8(a.max_rd_atomic),
		MaxReadsIn:  uint8(a.max_dest_rd_atomic),
		Cap:         qpCap(&a.cap),
	}, 0
}

func (l *library) sysNextAsync(ctx unsafe.Pointer) (rawEvent, syscall.Errno) {
	var e C.struct_rgv_async
	if errno := C.rgv_next_async(l.table, (*C.struct_ibv_context)(ctx), &e); errno != 0 {
		return rawEvent{}, syscall.Errno(errno)
	}
	return rawEvent{
		kind:    classify.EventType(e._type),
		element: int(e.element),
		port:    uint8(e.port),
		qpNum:   uint32(e.qp_num),
		cookie:  uint64(e.cookie),
		address: uintptr(e.address),
	}, 0
}

func (l *library) sysNextCQEvent(ch unsafe.Pointer) (cookie, address uint64, errno syscall.Errno) {
	var c, a C.uint64_t
	e := C.rgv_next_cq_event(l.table, (*C.struct_ibv_comp_channel)(ch), &c, &a)
	return uint64(c), uint64(a), syscall.Errno(e)
}
