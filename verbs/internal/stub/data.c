//go:build linux && cgo

#include "provider.h"

#include <errno.h>
#include <string.h>

static int poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct stub_cq *cq = (struct stub_cq *)ibcq;
	int got = 0;

	if (cq->endless) {
		memcpy(wc, cq->ring, n * sizeof(*wc));
		return n;
	}
	if (cq->broken)
		return -1;
	pthread_mutex_lock(&stub_lock);
	while (got < n && cq->head != cq->tail)
		wc[got++] = cq->ring[cq->head++ % STUB_RING];
	pthread_mutex_unlock(&stub_lock);
	return got;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)solicited_only;
	pthread_mutex_lock(&stub_lock);
	((struct stub_cq *)cq)->armed = 1;
	pthread_mutex_unlock(&stub_lock);
	return 0;
}

static int wc_opcode(int op)
{
	switch (op) {
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return IBV_WC_SEND;
	default:
		return IBV_WC_RDMA_WRITE;
	}
}

static int record(struct stub_qp *qp, const struct ibv_send_wr *wr)
{
	struct stub_posted *p;

	if (wr->num_sge > (int)qp->cap.max_send_sge)
		return EINVAL;
	if (qp->n == STUB_POSTED)
		qp->n = 0;
	p = &qp->posted[qp->n++];
	p->wr = *wr;
	for (int i = 0; i < wr->num_sge && i < STUB_SGES; i++)
		p->sges[i] = wr->sg_list[i];
	return 0;
}

static int take(struct stub_qp *qp, const struct ibv_send_wr *wr)
{
	struct ibv_wc wc = {.wr_id = wr->wr_id, .opcode = wc_opcode(wr->opcode), .qp_num = qp->qp.qp_num};
	int err;

	if (qp->silent)
		return 0;
	if (qp->qp.state != IBV_QPS_RTS && qp->qp.state != IBV_QPS_ERR)
		return EINVAL;
	if (qp->fail_after == 0) {
		qp->fail_after = -1;
		return qp->fail_errno;
	}
	if (qp->fail_after > 0)
		qp->fail_after--;
	err = record(qp, wr);
	if (err)
		return err;
	if (qp->qp.state == IBV_QPS_ERR)
		wc.status = IBV_WC_WR_FLUSH_ERR;
	if (wc.status || qp->signal_all || (wr->send_flags & IBV_SEND_SIGNALED))
		stub_complete((struct stub_cq *)qp->qp.send_cq, &wc);
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		int err = take((struct stub_qp *)qp, wr);

		if (err) {
			*bad = wr;
			return err;
		}
	}
	return 0;
}

// Receives complete at once, in order, so that posts can be told apart.
static int post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct stub_qp *qp = (struct stub_qp *)ibqp;

	for (; wr; wr = wr->next) {
		struct ibv_wc wc = {.wr_id = wr->wr_id, .opcode = IBV_WC_RECV, .qp_num = ibqp->qp_num};

		if (ibqp->state == IBV_QPS_RESET) {
			*bad = wr;
			return EINVAL;
		}
		if (qp->silent)
			continue;
		for (int i = 0; i < wr->num_sge; i++)
			wc.byte_len += wr->sg_list[i].length;
		stub_complete((struct stub_cq *)ibqp->recv_cq, &wc);
	}
	return 0;
}

void stub_ops(struct ibv_context *ctx)
{
	ctx->ops.poll_cq = poll_cq;
	ctx->ops.req_notify_cq = req_notify_cq;
	ctx->ops.post_send = post_send;
	ctx->ops.post_recv = post_recv;
}
