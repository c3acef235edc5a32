//go:build linux && cgo && !386 && !arm && !mips && !mipsle

#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

void *rgv_dlopen(const char *soname, char *why, size_t len)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	if (!handle && len > 0) {
		const char *text = dlerror();

		strncpy(why, text ? text : "unknown reason", len - 1);
		why[len - 1] = '\0';
	}
	return handle;
}

#define RGV_FIND(name) \
	t->name = (__typeof__(name) *)(resolve ? resolve(handle, #name) : dlsym(handle, #name));
#define RGV_CHECK(name) \
	if (!t->name)       \
		return #name;

const char *rgv_fill(struct rgv_table *t, rgv_resolver resolve, void *handle)
{
	RGV_REQUIRED(RGV_FIND)
	RGV_OPTIONAL(RGV_FIND)
	RGV_REQUIRED(RGV_CHECK)
	return NULL;
}

// The errno of a call that reports failure by NULL or -1 and errno.
static int failed(void)
{
	return errno ? errno : EIO;
}

// The errno of a call whose result is 0, an errno, or -1 with errno; some
// providers return it negated.
static int result(int ret)
{
	if (ret == -1)
		return failed();
	return ret < 0 ? -ret : ret;
}

void rgv_describe(struct rgv_table *t, struct ibv_device *dev, struct rgv_device *out)
{
	uint64_t guid = t->ibv_get_device_guid(dev);
	const unsigned char *b = (const unsigned char *)&guid;
	const char *name = t->ibv_get_device_name(dev);

	memset(out, 0, sizeof(*out));
	strncpy(out->name, name ? name : "", sizeof(out->name) - 1);
	memcpy(out->uverbs, dev->dev_name, sizeof(out->uverbs) - 1);
	memcpy(out->path, dev->ibdev_path, sizeof(out->path) - 1);
	for (int i = 0; i < 8; i++)
		out->guid = out->guid << 8 | b[i];
	out->node_type = dev->node_type;
	out->transport = dev->transport_type;
}

int rgv_devices(struct rgv_table *t, struct rgv_device **list, int *n)
{
	struct ibv_device **devs;

	errno = 0;
	devs = t->ibv_get_device_list(n);
	if (!devs)
		return failed();
	*list = calloc(*n ? *n : 1, sizeof(**list));
	if (!*list) {
		t->ibv_free_device_list(devs);
		return ENOMEM;
	}
	for (int i = 0; i < *n; i++)
		rgv_describe(t, devs[i], &(*list)[i]);
	t->ibv_free_device_list(devs);
	return 0;
}

int rgv_open(struct rgv_table *t, const char *name, struct ibv_context **out)
{
	struct ibv_device **devs;
	int n = 0, err = ENODEV;

	*out = NULL;
	errno = 0;
	devs = t->ibv_get_device_list(&n);
	if (!devs)
		return failed();
	for (int i = 0; i < n; i++) {
		const char *have = t->ibv_get_device_name(devs[i]);

		if (!have || strcmp(have, name))
			continue;
		errno = 0;
		*out = t->ibv_open_device(devs[i]);
		err = *out ? 0 : failed();
		break;
	}
	t->ibv_free_device_list(devs);
	return err;
}

int rgv_close(struct rgv_table *t, struct ibv_context *ctx)
{
	return result(t->ibv_close_device(ctx));
}

int rgv_query_device(struct rgv_table *t, struct ibv_context *ctx, struct ibv_device_attr *out)
{
	memset(out, 0, sizeof(*out));
	return result(t->ibv_query_device(ctx, out));
}

int rgv_query_port(struct rgv_table *t, struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *out)
{
	struct verbs_context *vctx = verbs_get_ctx_op(ctx, query_port);

	memset(out, 0, sizeof(*out));
	if (vctx)
		return result(vctx->query_port(ctx, port, out, sizeof(*out)));
	return result(t->ibv_query_port(ctx, port, (struct _compat_ibv_port_attr *)out));
}

int rgv_query_gid(struct rgv_table *t, struct ibv_context *ctx, uint8_t port, uint32_t index,
		  struct ibv_gid_entry *out)
{
	memset(out, 0, sizeof(*out));
	if (t->_ibv_query_gid_ex)
		return result(t->_ibv_query_gid_ex(ctx, port, index, out, 0, sizeof(*out)));
	out->gid_index = index;
	out->port_num = port;
	out->gid_type = UINT32_MAX;
	return result(t->ibv_query_gid(ctx, port, (int)index, &out->gid));
}

int64_t rgv_gid_table(struct rgv_table *t, struct ibv_context *ctx, struct ibv_gid_entry *out, size_t max)
{
	if (!t->_ibv_query_gid_table)
		return -ENOSYS;
	return t->_ibv_query_gid_table(ctx, out, max, 0, sizeof(*out));
}

int rgv_alloc_pd(struct rgv_table *t, struct ibv_context *ctx, struct ibv_pd **out)
{
	errno = 0;
	*out = t->ibv_alloc_pd(ctx);
	return *out ? 0 : failed();
}

int rgv_dealloc_pd(struct rgv_table *t, struct ibv_pd *pd)
{
	return result(t->ibv_dealloc_pd(pd));
}

int rgv_reg_mr(struct rgv_table *t, struct ibv_pd *pd, void *addr, size_t len, int access, struct ibv_mr **out)
{
	errno = 0;
	*out = t->ibv_reg_mr(pd, addr, len, access);
	return *out ? 0 : failed();
}

int rgv_dereg_mr(struct rgv_table *t, struct ibv_mr *mr)
{
	return result(t->ibv_dereg_mr(mr));
}

int rgv_create_channel(struct rgv_table *t, struct ibv_context *ctx, struct ibv_comp_channel **out)
{
	errno = 0;
	*out = t->ibv_create_comp_channel(ctx);
	return *out ? 0 : failed();
}

int rgv_destroy_channel(struct rgv_table *t, struct ibv_comp_channel *ch)
{
	return result(t->ibv_destroy_comp_channel(ch));
}

int rgv_create_cq(struct rgv_table *t, struct ibv_context *ctx, int depth, uintptr_t cookie,
		  struct ibv_comp_channel *ch, int vector, struct ibv_cq **out)
{
	errno = 0;
	*out = t->ibv_create_cq(ctx, depth, (void *)cookie, ch, vector);
	return *out ? 0 : failed();
}

int rgv_destroy_cq(struct rgv_table *t, struct ibv_cq *cq)
{
	return result(t->ibv_destroy_cq(cq));
}

int rgv_create_qp(struct rgv_table *t, struct ibv_pd *pd, struct rgv_qp_init *init, struct ibv_qp **out)
{
	struct ibv_qp_init_attr attr = {
		.qp_context = (void *)init->cookie,
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.cap = init->cap,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = init->signal_all,
	};

	errno = 0;
	*out = t->ibv_create_qp(pd, &attr);
	if (!*out)
		return failed();
	init->cap = attr.cap;
	return 0;
}

int rgv_modify_qp(struct rgv_table *t, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	errno = 0;
	return result(t->ibv_modify_qp(qp, attr, mask));
}

int rgv_query_qp(struct rgv_table *t, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_init_attr init;

	memset(attr, 0, sizeof(*attr));
	memset(&init, 0, sizeof(init));
	errno = 0;
	return result(t->ibv_query_qp(qp, attr, mask, &init));
}

int rgv_destroy_qp(struct rgv_table *t, struct ibv_qp *qp)
{
	return result(t->ibv_destroy_qp(qp));
}

// Between get and ack the object cannot be destroyed: its destroy waits for the
// ack. That is the only time in which it may be looked at.
int rgv_next_async(struct rgv_table *t, struct ibv_context *ctx, struct rgv_async *out)
{
	struct ibv_async_event ev;
	int ret;

	do {
		errno = 0;
		ret = t->ibv_get_async_event(ctx, &ev);
	} while (ret && errno == EINTR);
	if (ret)
		return failed();

	memset(out, 0, sizeof(*out));
	out->type = ev.event_type;
	switch (ev.event_type) {
	case IBV_EVENT_CQ_ERR:
		out->element = RGV_ELEMENT_CQ;
		out->cookie = (uintptr_t)ev.element.cq->cq_context;
		out->address = (uintptr_t)ev.element.cq;
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		out->element = RGV_ELEMENT_QP;
		out->cookie = (uintptr_t)ev.element.qp->qp_context;
		out->address = (uintptr_t)ev.element.qp;
		out->qp_num = ev.element.qp->qp_num;
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		out->element = RGV_ELEMENT_SRQ;
		out->address = (uintptr_t)ev.element.srq;
		break;
	case IBV_EVENT_WQ_FATAL:
		out->element = RGV_ELEMENT_WQ;
		out->address = (uintptr_t)ev.element.wq;
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		out->element = RGV_ELEMENT_PORT;
		out->port = (uint32_t)ev.element.port_num;
		break;
	default:
		break;
	}
	t->ibv_ack_async_event(&ev);
	return 0;
}

int rgv_next_cq_event(struct rgv_table *t, struct ibv_comp_channel *ch, uint64_t *cookie, uint64_t *address)
{
	struct ibv_cq *cq;
	void *context;
	int ret;

	do {
		errno = 0;
		ret = t->ibv_get_cq_event(ch, &cq, &context);
	} while (ret && errno == EINTR);
	if (ret)
		return failed();
	*cookie = (uintptr_t)context;
	*address = (uintptr_t)cq;
	t->ibv_ack_cq_events(cq, 1);
	return 0;
}

static void enter(struct rgv_gate *gate)
{
	while (__atomic_exchange_n(&gate->busy, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void leave(struct rgv_gate *gate)
{
	__atomic_store_n(&gate->busy, 0, __ATOMIC_RELEASE);
}

void rgv_shut(struct rgv_gate *gate, int shut)
{
	enter(gate);
	gate->shut = shut;
	leave(gate);
}

int rgv_poll_cq(struct rgv_gate *gate, uintptr_t handle, struct ibv_wc *wc, int n)
{
	struct ibv_cq *cq = (struct ibv_cq *)handle;
	int got = RGV_SHUT;

	enter(gate);
	if (!gate->shut) {
		got = cq->context->ops.poll_cq(cq, n, wc);
		// Providers give no errno here, and not all of them the same negative value.
		if (got < 0)
			got = -EIO;
	}
	leave(gate);
	return got;
}

int rgv_req_notify(struct rgv_gate *gate, uintptr_t handle, int solicited_only)
{
	struct ibv_cq *cq = (struct ibv_cq *)handle;
	int ret = RGV_SHUT;

	enter(gate);
	if (!gate->shut) {
		errno = 0;
		ret = -result(cq->context->ops.req_notify_cq(cq, solicited_only));
	}
	leave(gate);
	return ret;
}

int rgv_post_send(uintptr_t handle, uintptr_t first, int n, int *err)
{
	struct ibv_qp *qp = (struct ibv_qp *)handle;
	struct ibv_send_wr *wr = (struct ibv_send_wr *)first, *bad = wr;
	struct ibv_send_wr *next = wr[n - 1].next;

	wr[n - 1].next = NULL;
	errno = 0;
	*err = result(qp->context->ops.post_send(qp, wr, &bad));
	wr[n - 1].next = next;
	if (!*err)
		return n;
	return bad >= wr && bad < wr + n ? (int)(bad - wr) : 0;
}

int rgv_post_recv(uintptr_t handle, uintptr_t first, int n, int *err)
{
	struct ibv_qp *qp = (struct ibv_qp *)handle;
	struct ibv_recv_wr *wr = (struct ibv_recv_wr *)first, *bad = wr;
	struct ibv_recv_wr *next = wr[n - 1].next;

	wr[n - 1].next = NULL;
	errno = 0;
	*err = result(qp->context->ops.post_recv(qp, wr, &bad));
	wr[n - 1].next = next;
	if (!*err)
		return n;
	return bad >= wr && bad < wr + n ? (int)(bad - wr) : 0;
}

void rgv_noop(void)
{
}

void rgv_look(struct rgv_box *box)
{
	(void)box;
}
