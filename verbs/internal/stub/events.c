//go:build linux && cgo

#include "provider.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ring_bell(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		abort();
}

// Makes the descriptor unreadable again. The lock is held and something had
// been rung, so that a read does not block.
static void still_bell(int fd)
{
	uint64_t count;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, 0) == 1 && read(fd, &count, sizeof(count)) < 0)
		abort();
}

// What a read of an empty event descriptor does: fails when it is non-blocking,
// waits when it is not.
static int wait_bell(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (fcntl(fd, F_GETFL) & O_NONBLOCK) {
		errno = EAGAIN;
		return -1;
	}
	return poll(&p, 1, -1) < 0 ? -1 : 0;
}

void stub_push_event(struct ibv_context *ctx, int type, void *element, int port)
{
	struct stub_context *c = (struct stub_context *)ctx;
	struct stub_event *e = calloc(1, sizeof(*e));

	e->event.event_type = type;
	e->object = element;
	if (element)
		e->event.element.qp = element;
	else
		e->event.element.port_num = port;
	pthread_mutex_lock(&stub_lock);
	*c->last = e;
	c->last = &e->next;
	ring_bell(ctx->async_fd);
	pthread_mutex_unlock(&stub_lock);
}

static int is_cq(const struct ibv_async_event *ev)
{
	return ev->event_type == IBV_EVENT_CQ_ERR;
}

// Only events of QPs and CQs count for their destroy.
static int counted(const struct ibv_async_event *ev)
{
	switch (ev->event_type) {
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
	case IBV_EVENT_WQ_FATAL:
		return 0;
	default:
		return 1;
	}
}

static int get_async_event(struct ibv_context *ctx, struct ibv_async_event *out)
{
	struct stub_context *c = (struct stub_context *)ctx;
	struct stub_event *e;
	int err = stub_failing("ibv_get_async_event");

	if (err) {
		errno = err;
		return -1;
	}
	for (;;) {
		pthread_mutex_lock(&stub_lock);
		e = c->first;
		if (e)
			break;
		pthread_mutex_unlock(&stub_lock);
		if (wait_bell(ctx->async_fd))
			return -1;
	}
	c->first = e->next;
	if (!c->first) {
		c->last = &c->first;
		still_bell(ctx->async_fd);
	}
	if (e->object && counted(&e->event)) {
		if (is_cq(&e->event))
			((struct stub_cq *)e->object)->reported++;
		else
			((struct stub_qp *)e->object)->reported++;
	}
	pthread_mutex_unlock(&stub_lock);
	*out = e->event;
	free(e);
	return 0;
}

static int names_object(const struct ibv_async_event *ev)
{
	switch (ev->event_type) {
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return 1;
	default:
		return 0;
	}
}

static void ack_async_event(struct ibv_async_event *ev)
{
	if (!names_object(ev))
		return;
	pthread_mutex_lock(&stub_lock);
	if (is_cq(ev)) {
		ev->element.cq->async_events_completed++;
		pthread_cond_broadcast(&ev->element.cq->cond);
	} else {
		ev->element.qp->events_completed++;
		pthread_cond_broadcast(&ev->element.qp->cond);
	}
	pthread_mutex_unlock(&stub_lock);
}

void stub_settle(struct ibv_context *ctx, void *object, uint32_t *reported, uint32_t *completed, pthread_cond_t *cond)
{
	struct stub_context *c = (struct stub_context *)ctx;
	struct stub_event **at = &c->first;
	int had = c->first != NULL;

	while (*at) {
		struct stub_event *e = *at;

		if (e->object != object) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		free(e);
	}
	c->last = at;
	if (had && !c->first)
		still_bell(ctx->async_fd);
	while (*reported != *completed)
		pthread_cond_wait(cond, &stub_lock);
}

static int get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **out, void **context)
{
	struct stub_channel *ch = (struct stub_channel *)channel;
	int err = stub_failing("ibv_get_cq_event");

	if (err) {
		errno = err;
		return -1;
	}
	for (;;) {
		pthread_mutex_lock(&stub_lock);
		if (ch->n > 0)
			break;
		pthread_mutex_unlock(&stub_lock);
		if (wait_bell(channel->fd))
			return -1;
	}
	struct stub_cq *cq = ch->pending[0];

	memmove(ch->pending, ch->pending + 1, --ch->n * sizeof(ch->pending[0]));
	if (ch->n == 0)
		still_bell(channel->fd);
	cq->comp_reported++;
	pthread_mutex_unlock(&stub_lock);
	*out = &cq->cq;
	*context = cq->cq.cq_context;
	return 0;
}

static void ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	pthread_mutex_lock(&stub_lock);
	cq->comp_events_completed += n;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&stub_lock);
}

void stub_forget_cq(struct stub_cq *cq)
{
	struct stub_channel *ch = (struct stub_channel *)cq->cq.channel;
	int had, kept = 0;

	if (!ch)
		return;
	had = ch->n;
	for (int i = 0; i < ch->n; i++)
		if (ch->pending[i] != cq)
			ch->pending[kept++] = ch->pending[i];
	ch->n = kept;
	if (had && !kept)
		still_bell(ch->channel.fd);
}

void stub_complete(struct stub_cq *cq, const struct ibv_wc *wc)
{
	struct stub_channel *ch = (struct stub_channel *)cq->cq.channel;

	pthread_mutex_lock(&stub_lock);
	cq->ring[cq->tail++ % STUB_RING] = *wc;
	if (cq->armed && ch && ch->n < 64) {
		cq->armed = 0;
		ch->pending[ch->n++] = cq;
		ring_bell(ch->channel.fd);
	}
	pthread_mutex_unlock(&stub_lock);
}

void *stub_resolve_events(const char *name)
{
	static const struct { const char *name; void *function; } table[] = {
		{"ibv_get_async_event", get_async_event},
		{"ibv_ack_async_event", ack_async_event},
		{"ibv_get_cq_event", get_cq_event},
		{"ibv_ack_cq_events", ack_cq_events},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, name))
			return table[i].function;
	return NULL;
}
