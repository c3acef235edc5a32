//go:build linux && cgo

#include "provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

pthread_mutex_t stub_lock = PTHREAD_MUTEX_INITIALIZER;

static struct ibv_device devices[2] = {
	{.node_type = IBV_NODE_CA, .name = "stub0", .dev_name = "uverbs0", .ibdev_path = "/sys/class/infiniband/stub0"},
	{.node_type = IBV_NODE_RNIC, .transport_type = IBV_TRANSPORT_IWARP, .name = "stub1", .dev_name = "uverbs1"},
};

static const char *fail_name;
static int fail_errno;
static const char *hidden;
static int port_state = IBV_PORT_ACTIVE;
static long live;

void stub_fail(const char *name, int err)
{
	pthread_mutex_lock(&stub_lock);
	free((void *)fail_name);
	fail_name = strdup(name);
	fail_errno = err;
	pthread_mutex_unlock(&stub_lock);
}

int stub_failing(const char *name)
{
	int err = 0;

	pthread_mutex_lock(&stub_lock);
	if (fail_name && !strcmp(fail_name, name)) {
		err = fail_errno;
		free((void *)fail_name);
		fail_name = NULL;
	}
	pthread_mutex_unlock(&stub_lock);
	return err;
}

#define FAIL_NULL(name)                   \
	do {                                  \
		int err_ = stub_failing(name);    \
		if (err_) {                       \
			errno = err_;                 \
			return NULL;                  \
		}                                 \
	} while (0)
#define FAIL_ERRNO(name)                  \
	do {                                  \
		int err_ = stub_failing(name);    \
		if (err_)                         \
			return err_;                  \
	} while (0)

void stub_hide(const char *name)
{
	free((void *)hidden);
	hidden = name ? strdup(name) : NULL;
}

static int is_hidden(const char *name)
{
	size_t n = strlen(name);

	for (const char *p = hidden; p && (p = strstr(p, name)); p += n)
		if ((p == hidden || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
			return 1;
	return 0;
}

void stub_set_port_state(int state)
{
	port_state = state;
}

long stub_live(void)
{
	return __atomic_load_n(&live, __ATOMIC_SEQ_CST);
}

// One free list for each size in use.
static struct { size_t size; void *list[64]; int n; } pools[8];

void *stub_take(size_t size)
{
	void *p = NULL;

	pthread_mutex_lock(&stub_lock);
	for (int i = 0; i < 8; i++)
		if (pools[i].size == size && pools[i].n > 0)
			p = pools[i].list[--pools[i].n];
	pthread_mutex_unlock(&stub_lock);
	if (!p)
		p = malloc(size);
	memset(p, 0, size);
	__atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
	return p;
}

void stub_give(void *p, size_t size)
{
	memset(p, 0xdd, size);
	__atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&stub_lock);
	for (int i = 0; i < 8; i++) {
		if (pools[i].size != 0 && pools[i].size != size)
			continue;
		pools[i].size = size;
		if (pools[i].n < 64) {
			pools[i].list[pools[i].n++] = p;
			p = NULL;
		}
		break;
	}
	pthread_mutex_unlock(&stub_lock);
	free(p);
}

static struct ibv_device **get_device_list(int *n)
{
	struct ibv_device **list;

	FAIL_NULL("ibv_get_device_list");
	list = stub_take(3 * sizeof(*list));
	list[0] = &devices[0];
	list[1] = &devices[1];
	*n = 2;
	return list;
}

static void free_device_list(struct ibv_device **list)
{
	stub_give(list, 3 * sizeof(*list));
}

static const char *get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

static __be64 get_device_guid(struct ibv_device *dev)
{
	unsigned char b[8] = {0x02, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, (unsigned char)(dev - devices)};
	__be64 guid;

	memcpy(&guid, b, sizeof(guid));
	return guid;
}

static struct ibv_context *open_device(struct ibv_device *dev)
{
	struct stub_context *c;

	FAIL_NULL("ibv_open_device");
	c = stub_take(sizeof(*c));
	c->ctx.device = dev;
	c->ctx.async_fd = eventfd(0, EFD_CLOEXEC);
	c->last = &c->first;
	stub_ops(&c->ctx);
	return &c->ctx;
}

static int close_device(struct ibv_context *ctx)
{
	struct stub_context *c = (struct stub_context *)ctx;

	FAIL_ERRNO("ibv_close_device");
	while (c->first) {
		struct stub_event *e = c->first;

		c->first = e->next;
		free(e);
	}
	close(ctx->async_fd);
	stub_give(c, sizeof(*c));
	return 0;
}

static int query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	FAIL_ERRNO("ibv_query_device");
	strcpy(attr->fw_ver, "1.2.3");
	attr->node_guid = get_device_guid(ctx->device);
	attr->phys_port_cnt = 1;
	attr->max_qp_wr = 16384;
	attr->max_sge = 30;
	attr->max_qp_rd_atom = 16;
	return 0;
}

static int query_port(struct ibv_context *ctx, uint8_t port, struct _compat_ibv_port_attr *out)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)out;

	(void)ctx;
	FAIL_ERRNO("ibv_query_port");
	if (port != 1)
		return EINVAL;
	attr->state = port_state;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	attr->gid_tbl_len = 8;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	attr->active_width = 2;
	attr->active_speed = 32;
	return 0;
}

static int query_gid_ex(struct ibv_context *ctx, uint32_t port, uint32_t index, struct ibv_gid_entry *out, uint32_t flags,
			size_t size)
{
	static const unsigned char v4[4] = {10, 9, 0, 1};

	(void)ctx, (void)flags, (void)size;
	FAIL_ERRNO("_ibv_query_gid_ex");
	if (port != 1)
		return EINVAL;
	if (index > 1)
		return ENODATA;
	out->gid.raw[10] = out->gid.raw[11] = 0xff;
	memcpy(out->gid.raw + 12, v4, sizeof(v4));
	out->gid_index = index;
	out->port_num = port;
	out->gid_type = index ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
	out->ndev_ifindex = 7;
	return 0;
}

static int query_gid(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid)
{
	struct ibv_gid_entry e = {0};
	int err = query_gid_ex(ctx, port, index, &e, 0, sizeof(e));

	memset(gid, 0, sizeof(*gid));
	if (err == ENODATA)
		return 0; // an old library shows an empty entry as zeros
	if (err)
		return err;
	*gid = e.gid;
	return 0;
}

static ssize_t query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *out, size_t max, uint32_t flags, size_t size)
{
	int err = stub_failing("_ibv_query_gid_table");

	if (err || max < 2)
		return -(err ? err : EINVAL);
	memset(out, 0, 2 * sizeof(*out));
	for (int i = 0; i < 2; i++)
		query_gid_ex(ctx, 1, i, &out[i], flags, size);
	return 2;
}

static struct ibv_pd *alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd;

	FAIL_NULL("ibv_alloc_pd");
	pd = stub_take(sizeof(*pd));
	pd->context = ctx;
	return pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
	FAIL_ERRNO("ibv_dealloc_pd");
	stub_give(pd, sizeof(*pd));
	return 0;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *mr;

	FAIL_NULL("ibv_reg_mr");
	mr = stub_take(sizeof(*mr));
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = len;
	mr->lkey = 0x100 | access;
	mr->rkey = 0x200 | access;
	return mr;
}

static int dereg_mr(struct ibv_mr *mr)
{
	FAIL_ERRNO("ibv_dereg_mr");
	stub_give(mr, sizeof(*mr));
	return 0;
}

static struct ibv_comp_channel *create_channel(struct ibv_context *ctx)
{
	struct stub_channel *ch;

	FAIL_NULL("ibv_create_comp_channel");
	ch = stub_take(sizeof(*ch));
	ch->channel.context = ctx;
	ch->channel.fd = eventfd(0, EFD_CLOEXEC);
	return &ch->channel;
}

static int destroy_channel(struct ibv_comp_channel *ch)
{
	FAIL_ERRNO("ibv_destroy_comp_channel");
	close(ch->fd);
	stub_give(ch, sizeof(struct stub_channel));
	return 0;
}

static struct ibv_cq *create_cq(struct ibv_context *ctx, int depth, void *context, struct ibv_comp_channel *ch, int vector)
{
	struct stub_cq *cq;

	(void)vector;
	FAIL_NULL("ibv_create_cq");
	cq = stub_take(sizeof(*cq));
	cq->cq.context = ctx;
	cq->cq.channel = ch;
	cq->cq.cq_context = context;
	cq->cq.cqe = depth;
	pthread_mutex_init(&cq->cq.mutex, NULL);
	pthread_cond_init(&cq->cq.cond, NULL);
	return &cq->cq;
}

static int destroy_cq(struct ibv_cq *ibcq)
{
	struct stub_cq *cq = (struct stub_cq *)ibcq;

	FAIL_ERRNO("ibv_destroy_cq");
	pthread_mutex_lock(&stub_lock);
	stub_forget_cq(cq);
	stub_settle(ibcq->context, cq, &cq->reported, &ibcq->async_events_completed, &ibcq->cond);
	while (cq->comp_reported != ibcq->comp_events_completed)
		pthread_cond_wait(&ibcq->cond, &stub_lock);
	pthread_mutex_unlock(&stub_lock);
	stub_give(cq, sizeof(*cq));
	return 0;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct stub_qp *qp;

	FAIL_NULL("ibv_create_qp");
	qp = stub_take(sizeof(*qp));
	qp->qp.context = pd->context;
	qp->qp.qp_context = init->qp_context;
	qp->qp.pd = pd;
	qp->qp.send_cq = init->send_cq;
	qp->qp.recv_cq = init->recv_cq;
	qp->qp.qp_num = 17; // always the same: numbers are no identity
	qp->qp.qp_type = init->qp_type;
	qp->cap = init->cap;
	qp->signal_all = init->sq_sig_all;
	qp->fail_after = -1;
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	return &qp->qp;
}

static int destroy_qp(struct ibv_qp *ibqp)
{
	struct stub_qp *qp = (struct stub_qp *)ibqp;

	FAIL_ERRNO("ibv_destroy_qp");
	pthread_mutex_lock(&stub_lock);
	stub_settle(ibqp->context, qp, &qp->reported, &ibqp->events_completed, &ibqp->cond);
	pthread_mutex_unlock(&stub_lock);
	stub_give(qp, sizeof(*qp));
	return 0;
}

static int modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct stub_qp *qp = (struct stub_qp *)ibqp;
	enum ibv_qp_state from = ibqp->state, to = attr->qp_state;

	FAIL_ERRNO("ibv_modify_qp");
	if (!(mask & IBV_QP_STATE))
		return EINVAL;
	if (to != IBV_QPS_RESET && to != IBV_QPS_ERR && to != from + 1)
		return EINVAL;
	ibqp->state = to;
	if (mask & IBV_QP_PORT) {
		qp->attr.port_num = attr->port_num;
		qp->attr.qp_access_flags = attr->qp_access_flags;
	}
	if (mask & IBV_QP_AV) {
		qp->attr.ah_attr = attr->ah_attr;
		qp->attr.path_mtu = attr->path_mtu;
		qp->attr.dest_qp_num = attr->dest_qp_num;
		qp->attr.rq_psn = attr->rq_psn;
		qp->attr.min_rnr_timer = attr->min_rnr_timer;
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
	}
	if (mask & IBV_QP_TIMEOUT) {
		qp->attr.sq_psn = attr->sq_psn;
		qp->attr.timeout = attr->timeout;
		qp->attr.retry_cnt = attr->retry_cnt;
		qp->attr.rnr_retry = attr->rnr_retry;
		qp->attr.max_rd_atomic = attr->max_rd_atomic;
	}
	return 0;
}

static int query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct stub_qp *qp = (struct stub_qp *)ibqp;

	(void)mask, (void)init;
	FAIL_ERRNO("ibv_query_qp");
	*attr = qp->attr;
	attr->qp_state = ibqp->state;
	attr->cap = qp->cap;
	return 0;
}

void *stub_resolve(void *handle, const char *name)
{
	static const struct { const char *name; void *function; } table[] = {
		{"ibv_get_device_list", get_device_list},
		{"ibv_free_device_list", free_device_list},
		{"ibv_get_device_name", get_device_name},
		{"ibv_get_device_guid", get_device_guid},
		{"ibv_open_device", open_device},
		{"ibv_close_device", close_device},
		{"ibv_query_device", query_device},
		{"ibv_query_port", query_port},
		{"ibv_query_gid", query_gid},
		{"_ibv_query_gid_ex", query_gid_ex},
		{"_ibv_query_gid_table", query_gid_table},
		{"ibv_alloc_pd", alloc_pd},
		{"ibv_dealloc_pd", dealloc_pd},
		{"ibv_reg_mr", reg_mr},
		{"ibv_dereg_mr", dereg_mr},
		{"ibv_create_comp_channel", create_channel},
		{"ibv_destroy_comp_channel", destroy_channel},
		{"ibv_create_cq", create_cq},
		{"ibv_destroy_cq", destroy_cq},
		{"ibv_create_qp", create_qp},
		{"ibv_modify_qp", modify_qp},
		{"ibv_query_qp", query_qp},
		{"ibv_destroy_qp", destroy_qp},
	};

	(void)handle;
	if (is_hidden(name))
		return NULL;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, name))
			return table[i].function;
	return stub_resolve_events(name);
}
