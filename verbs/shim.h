// What the Go side calls. libibverbs is never linked: its functions are looked
// up at run time and reached through a table.

#ifndef RDMAGATE_VERBS_SHIM_H
#define RDMAGATE_VERBS_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

// Both are macros over inline functions that refer to the linked library.
#undef ibv_query_port
#undef ibv_reg_mr

#define RGV_REQUIRED(X)        \
	X(ibv_get_device_list)     \
	X(ibv_free_device_list)    \
	X(ibv_get_device_name)     \
	X(ibv_get_device_guid)     \
	X(ibv_open_device)         \
	X(ibv_close_device)        \
	X(ibv_query_device)        \
	X(ibv_query_port)          \
	X(ibv_query_gid)           \
	X(ibv_alloc_pd)            \
	X(ibv_dealloc_pd)          \
	X(ibv_reg_mr)              \
	X(ibv_dereg_mr)            \
	X(ibv_create_comp_channel) \
	X(ibv_destroy_comp_channel)\
	X(ibv_get_cq_event)        \
	X(ibv_ack_cq_events)       \
	X(ibv_create_cq)           \
	X(ibv_destroy_cq)          \
	X(ibv_create_qp)           \
	X(ibv_modify_qp)           \
	X(ibv_query_qp)            \
	X(ibv_destroy_qp)          \
	X(ibv_get_async_event)     \
	X(ibv_ack_async_event)

// Absent from libraries older than rdma-core 31.
#define RGV_OPTIONAL(X)        \
	X(_ibv_query_gid_ex)       \
	X(_ibv_query_gid_table)

#define RGV_FIELD(name) __typeof__(name) *name;

struct rgv_table {
	RGV_REQUIRED(RGV_FIELD)
	RGV_OPTIONAL(RGV_FIELD)
};

// A resolver finds a function by name, as dlsym does.
typedef void *(*rgv_resolver)(void *handle, const char *name);

// Opens a shared library and keeps it. NULL on failure, with the reason in why.
void *rgv_dlopen(const char *soname, char *why, size_t len);

// Fills the table by dlsym without a version (the default one is meant), or by
// resolve if that is not NULL. Returns the first required name that is missing,
// or NULL.
const char *rgv_fill(struct rgv_table *t, rgv_resolver resolve, void *handle);

// One device, copied out of the list.
struct rgv_device {
	char name[IBV_SYSFS_NAME_MAX];
	char uverbs[IBV_SYSFS_NAME_MAX];
	char path[IBV_SYSFS_PATH_MAX];
	uint64_t guid; // host byte order
	int32_t node_type;
	int32_t transport;
};

// Unless said otherwise: 0 or a positive errno.

// *list is allocated with malloc; the caller frees it.
int rgv_devices(struct rgv_table *t, struct rgv_device **list, int *n);
void rgv_describe(struct rgv_table *t, struct ibv_device *dev, struct rgv_device *out);
// ENODEV if no device has that name.
int rgv_open(struct rgv_table *t, const char *name, struct ibv_context **out);
int rgv_close(struct rgv_table *t, struct ibv_context *ctx);
int rgv_query_device(struct rgv_table *t, struct ibv_context *ctx, struct ibv_device_attr *out);
int rgv_query_port(struct rgv_table *t, struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *out);
// The type is UINT32_MAX where the library cannot tell it.
int rgv_query_gid(struct rgv_table *t, struct ibv_context *ctx, uint8_t port, uint32_t index,
		  struct ibv_gid_entry *out);
// Returns the number of entries, of all ports, or a negative errno; -ENOSYS if
// the library has no such call.
int64_t rgv_gid_table(struct rgv_table *t, struct ibv_context *ctx, struct ibv_gid_entry *out, size_t max);

int rgv_alloc_pd(struct rgv_table *t, struct ibv_context *ctx, struct ibv_pd **out);
int rgv_dealloc_pd(struct rgv_table *t, struct ibv_pd *pd);
int rgv_reg_mr(struct rgv_table *t, struct ibv_pd *pd, void *addr, size_t len, int access, struct ibv_mr **out);
int rgv_dereg_mr(struct rgv_table *t, struct ibv_mr *mr);

int rgv_create_channel(struct rgv_table *t, struct ibv_context *ctx, struct ibv_comp_channel **out);
int rgv_destroy_channel(struct rgv_table *t, struct ibv_comp_channel *ch);
int rgv_create_cq(struct rgv_table *t, struct ibv_context *ctx, int depth, uintptr_t cookie,
		  struct ibv_comp_channel *ch, int vector, struct ibv_cq **out);
int rgv_destroy_cq(struct rgv_table *t, struct ibv_cq *cq);

struct rgv_qp_init {
	struct ibv_cq *send_cq, *recv_cq;
	uintptr_t cookie;
	struct ibv_qp_cap cap; // in: wanted, out: granted
	int signal_all;
};
int rgv_create_qp(struct rgv_table *t, struct ibv_pd *pd, struct rgv_qp_init *init, struct ibv_qp **out);
int rgv_modify_qp(struct rgv_table *t, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int rgv_query_qp(struct rgv_table *t, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int rgv_destroy_qp(struct rgv_table *t, struct ibv_qp *qp);

// An asynchronous event, copied and already acknowledged. The object may be gone
// when the caller reads this: its address serves for comparison only.
struct rgv_async {
	uint32_t type;
	uint32_t element; // one of RGV_ELEMENT_*
	uint32_t port;
	uint32_t qp_num;
	uint64_t cookie;  // what the creator stored in the object
	uint64_t address;
};
enum { RGV_ELEMENT_NONE, RGV_ELEMENT_PORT, RGV_ELEMENT_QP, RGV_ELEMENT_CQ, RGV_ELEMENT_SRQ, RGV_ELEMENT_WQ };

// Both return EAGAIN when nothing waits on the non-blocking descriptor.
int rgv_next_async(struct rgv_table *t, struct ibv_context *ctx, struct rgv_async *out);
int rgv_next_cq_event(struct rgv_table *t, struct ibv_comp_channel *ch, uint64_t *cookie, uint64_t *address);

// Where the RDMA fields lie, which cgo cannot reach by name.
enum {
	RGV_SEND_WR_REMOTE_ADDR = offsetof(struct ibv_send_wr, wr.rdma.remote_addr),
	RGV_SEND_WR_RKEY = offsetof(struct ibv_send_wr, wr.rdma.rkey),
};

// The fast path: operations of the context, reached without the table. Objects
// come as numbers, which spares cgo its check of pointers to memory of C.

// A gate keeps a CQ from being destroyed under a call into it. It is a lock of
// one atomic exchange, which a sync.Mutex on the Go side would double.
struct rgv_gate {
	int32_t busy;
	int32_t shut;
};
// Closes the gate, or opens it again, when no call is inside.
void rgv_shut(struct rgv_gate *gate, int shut);

// Both return a negative errno, or RGV_SHUT if the gate is closed; the first
// else returns the number of completions.
enum { RGV_SHUT = INT32_MIN };
int rgv_poll_cq(struct rgv_gate *gate, uintptr_t cq, struct ibv_wc *wc, int n);
int rgv_req_notify(struct rgv_gate *gate, uintptr_t cq, int solicited_only);
// Posts n requests that lie in one array and are chained in order. Returns how
// many were accepted, and the errno of the first refused one in *err.
int rgv_post_send(uintptr_t qp, uintptr_t wr, int n, int *err);
int rgv_post_recv(uintptr_t qp, uintptr_t wr, int n, int *err);

// Does nothing: the price of a call from Go into C.
void rgv_noop(void);

// Does nothing with a pointer that it is handed inside a box, where cgo's own
// pointer check looks for Go memory.
struct rgv_box { void *pointer; };
void rgv_look(struct rgv_box *box);

#endif
