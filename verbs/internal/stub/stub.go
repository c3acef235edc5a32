//go:build linux && cgo

package stub

/*
#include <stdlib.h>
#include "provider.h"

static void *stub_resolver(void) { return stub_resolve; }
static void *stub_open(void) {
	int n;
	struct ibv_device **(*list)(int *) = stub_resolve(NULL, "ibv_get_device_list");
	void (*drop)(struct ibv_device **) = stub_resolve(NULL, "ibv_free_device_list");
	struct ibv_context *(*open)(struct ibv_device *) = stub_resolve(NULL, "ibv_open_device");
	struct ibv_device **devs = list(&n);
	struct ibv_context *ctx = open(devs[0]);
	drop(devs);
	return ctx;
}
static void stub_close(void *ctx) {
	int (*close)(struct ibv_context *) = stub_resolve(NULL, "ibv_close_device");
	close(ctx);
}
static void *stub_new_cq(void *ctx, void *user) {
	struct ibv_cq *(*create)(struct ibv_context *, int, void *, struct ibv_comp_channel *, int) =
		stub_resolve(NULL, "ibv_create_cq");
	return create(ctx, 64, user, NULL, 0);
}
static void stub_drop_cq(void *cq) {
	int (*destroy)(struct ibv_cq *) = stub_resolve(NULL, "ibv_destroy_cq");
	destroy(cq);
}
static uint64_t posted_addr(struct stub_posted *p) { return p->wr.wr.rdma.remote_addr; }
static uint32_t posted_rkey(struct stub_posted *p) { return p->wr.wr.rdma.rkey; }
static uint32_t posted_imm(struct stub_posted *p) { return be32toh(p->wr.imm_data); }
*/
import "C"

import "unsafe"

// Resolver returns the C function that finds the provider's functions by name.
func Resolver() unsafe.Pointer { return C.stub_resolver() }

// Fail makes the next call of a libibverbs function fail with an errno.
func Fail(function string, errno int) {
	name := C.CString(function)
	defer C.free(unsafe.Pointer(name))
	C.stub_fail(name, C.int(errno))
}

// Hide keeps the resolver from finding functions: their names, separated by
// blanks. "" hides none.
func Hide(functions string) {
	if functions == "" {
		C.stub_hide(nil)
		return
	}
	names := C.CString(functions)
	defer C.free(unsafe.Pointer(names))
	C.stub_hide(names)
}

// SetPortState sets the state of every port, a value of enum ibv_port_state.
func SetPortState(state int) { C.stub_set_port_state(C.int(state)) }

// Live returns how many objects of the provider exist.
func Live() int { return int(C.stub_live()) }

// OpenContext opens a context as another binding would.
func OpenContext() unsafe.Pointer { return C.stub_open() }

// CloseContext closes it.
func CloseContext(ctx unsafe.Pointer) { C.stub_close(ctx) }

// CreateCQ creates a CQ as another binding would, with its own user context.
func CreateCQ(ctx unsafe.Pointer, user uintptr) unsafe.Pointer {
	cq := C.stub_new_cq(ctx, nil)
	*(*uintptr)(unsafe.Pointer(&(*C.struct_ibv_cq)(cq).cq_context)) = user
	return cq
}

// DestroyCQ destroys it.
func DestroyCQ(cq unsafe.Pointer) { C.stub_drop_cq(cq) }

// PushEvent queues an asynchronous event about a QP or CQ, or if element is nil
// about a port.
func PushEvent(ctx unsafe.Pointer, event int, element unsafe.Pointer, port int) {
	C.stub_push_event((*C.struct_ibv_context)(ctx), C.int(event), element, C.int(port))
}

// Endless makes every poll of a CQ return as many completions as fit.
func Endless(cq unsafe.Pointer) { (*C.struct_stub_cq)(cq).endless = 1 }

// Break makes polls of a CQ fail.
func Break(cq unsafe.Pointer) { (*C.struct_stub_cq)(cq).broken = 1 }

// Silence makes a QP take posts without recording or completing them.
func Silence(qp unsafe.Pointer) { (*C.struct_stub_qp)(qp).silent = 1 }

// FailPost makes a QP take k more requests and refuse the next.
func FailPost(qp unsafe.Pointer, k, errno int) {
	q := (*C.struct_stub_qp)(qp)
	q.fail_after, q.fail_errno = C.int(k), C.int(errno)
}

// SGE is one recorded element.
type SGE struct {
	Addr         uint64
	Length, LKey uint32
}

// Posted is a work request as it reached the provider.
type Posted struct {
	WRID       uint64
	Opcode     int
	Flags      uint32
	Imm        uint32 // host byte order
	RemoteAddr uint64
	RKey       uint32
	SGEs       []SGE
}

// TakePosted returns the requests that a QP recorded, and forgets them.
func TakePosted(qp unsafe.Pointer) []Posted {
	q := (*C.struct_stub_qp)(qp)
	list := make([]Posted, q.n)
	for i := range list {
		p := &q.posted[i]
		list[i] = Posted{
			WRID:       uint64(p.wr.wr_id),
			Opcode:     int(p.wr.opcode),
			Flags:      uint32(p.wr.send_flags),
			Imm:        uint32(C.posted_imm(p)),
			RemoteAddr: uint64(C.posted_addr(p)),
			RKey:       uint32(C.posted_rkey(p)),
		}
		for j := range p.sges[:p.wr.num_sge] {
			s := &p.sges[j]
			list[i].SGEs = append(list[i].SGEs, SGE{Addr: uint64(s.addr), Length: uint32(s.length), LKey: uint32(s.lkey)})
		}
	}
	q.n = 0
	return list
}
