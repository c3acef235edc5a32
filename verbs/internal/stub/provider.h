// A stand-in for libibverbs that lives in this process and moves no data. It
// keeps the rules that matter to a binding: user contexts, event counts that a
// destroy waits for, non-blocking event descriptors, addresses and QP numbers
// that are used again at once.

#ifndef RDMAGATE_STUB_PROVIDER_H
#define RDMAGATE_STUB_PROVIDER_H

#include <pthread.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#undef ibv_query_port
#undef ibv_reg_mr

enum { STUB_RING = 1024, STUB_SGES = 4, STUB_POSTED = 256 };

struct stub_event {
	struct stub_event *next;
	struct ibv_async_event event;
	void *object; // QP or CQ that it speaks of, or NULL
};

struct stub_context {
	struct ibv_context ctx;
	struct stub_event *first, **last;
};

struct stub_channel {
	struct ibv_comp_channel channel;
	struct stub_cq *pending[64];
	int n;
};

struct stub_cq {
	struct ibv_cq cq;
	uint32_t reported, comp_reported;
	struct ibv_wc ring[STUB_RING];
	unsigned head, tail;
	int endless; // every poll returns the first completions of the ring
	int broken;  // polls fail
	int armed;
};

struct stub_posted {
	struct ibv_send_wr wr;
	struct ibv_sge sges[STUB_SGES];
};

struct stub_qp {
	struct ibv_qp qp;
	uint32_t reported;
	struct ibv_qp_cap cap;
	int signal_all;
	struct ibv_qp_attr attr;
	struct stub_posted posted[STUB_POSTED];
	int n;
	int silent;     // posts make no completion and are not recorded
	int fail_after; // requests taken before the next post fails; -1: none
	int fail_errno;
};

extern pthread_mutex_t stub_lock;

// Memory that is handed out again, last in first out, after it was poisoned.
void *stub_take(size_t size);
void stub_give(void *p, size_t size);

// Makes the next call of that function fail.
void stub_fail(const char *name, int err);
// The errno that this call shall fail with, 0 for none.
int stub_failing(const char *name);
// Functions that resolve does not find, separated by blanks. NULL: all are found.
void stub_hide(const char *name);
void stub_set_port_state(int state);
// How many objects exist.
long stub_live(void);

void *stub_resolve(void *handle, const char *name);
// Finds functions of the data path and of events.
void *stub_resolve_events(const char *name);

void stub_ops(struct ibv_context *ctx);
void stub_complete(struct stub_cq *cq, const struct ibv_wc *wc);
void stub_push_event(struct ibv_context *ctx, int type, void *element, int port);
// Drops the unread events of an object and waits until the read ones are
// acknowledged. Called with the lock held.
void stub_settle(struct ibv_context *ctx, void *object, uint32_t *reported, uint32_t *completed, pthread_cond_t *cond);
void stub_forget_cq(struct stub_cq *cq);

#endif
