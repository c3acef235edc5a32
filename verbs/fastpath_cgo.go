//go:build linux && cgo && !386 && !arm && !mips && !mipsle

package verbs

/*
#cgo noescape rgv_poll_cq
#cgo nocallback rgv_poll_cq
#cgo noescape rgv_req_notify
#cgo nocallback rgv_req_notify
#cgo noescape rgv_shut
#cgo nocallback rgv_shut
#cgo noescape rgv_post_send
#cgo nocallback rgv_post_send
#cgo noescape rgv_post_recv
#cgo nocallback rgv_post_recv
#cgo nocallback rgv_noop
#include "shim.h"
*/
import "C"

import (
	"syscall"
	"unsafe"
)

// gate mirrors struct rgv_gate. C takes it, and keeps no pointer to it.
type gate struct {
	busy, shut int32
}

// sysPoll has libibverbs write into wcs, which has the layout it expects.
func sysPoll(g *gate, cq unsafe.Pointer, wcs []WC) int {
	return int(C.rgv_poll_cq((*C.struct_rgv_gate)(unsafe.Pointer(g)), C.uintptr_t(uintptr(cq)),
		(*C.struct_ibv_wc)(unsafe.Pointer(&wcs[0])), C.int(len(wcs))))
}

func sysReqNotify(g *gate, cq unsafe.Pointer, solicitedOnly bool) int {
	var only C.int
	if solicitedOnly {
		only = 1
	}
	return int(C.rgv_req_notify((*C.struct_rgv_gate)(unsafe.Pointer(g)), C.uintptr_t(uintptr(cq)), only))
}

func sysShut(g *gate, shut bool) {
	var value C.int
	if shut {
		value = 1
	}
	C.rgv_shut((*C.struct_rgv_gate)(unsafe.Pointer(g)), value)
}

// sysPostSend posts n requests of a postQueue's C memory.
func sysPostSend(qp unsafe.Pointer, first *cSendWR, n int) (int, syscall.Errno) {
	var errno C.int
	took := C.rgv_post_send(C.uintptr_t(uintptr(qp)), C.uintptr_t(uintptr(unsafe.Pointer(first))), C.int(n), &errno)
	return int(took), syscall.Errno(errno)
}

func sysPostRecv(qp unsafe.Pointer, first *cRecvWR, n int) (int, syscall.Errno) {
	var errno C.int
	took := C.rgv_post_recv(C.uintptr_t(uintptr(qp)), C.uintptr_t(uintptr(unsafe.Pointer(first))), C.int(n), &errno)
	return int(took), syscall.Errno(errno)
}

// noop is one empty call into C, what the fast path is measured against.
func noop() { C.rgv_noop() }
