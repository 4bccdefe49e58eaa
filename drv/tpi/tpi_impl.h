/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Common definitions of drv/tpi. <str/tpi.h> describes the design.
 */
#ifndef DRV_TPI_IMPL_H
#define DRV_TPI_IMPL_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strsun.h>
#include <str/driver.h>
#include <str/tpi.h>
#include <string.h>
#include <sys/ddi.h>

/* Values of the state table other than states. */
#define TPI_SAME 0xfc
#define TPI_OUT 0xfd
#define TPI_EPROTO 0xfe
#define TPI_DROP 0xff

struct tpi_row {
	const char *service;
	unsigned char size; /* of the primitive */
	unsigned char next[TS_NOSTATES];
};

/* b_flag of a message: a request that was put back; see EAGAIN. */
#define TPI_AGAIN 0x4000
/* ... of one that is being served, or whose server died over it */
#define TPI_KEPT 0x2000

/* tpi_kept.state */
#define TPI_KEEP_BEGUN 1u
#define TPI_KEEP_GOES 2u /* and `sent' is valid */
#define TPI_KEEP_WENT 3u /* it has been accepted */

/* A request that is being served. */
struct tpi_req {
	queue_t *q;
	struct tpi *tp;
	const struct tpi_ops *ops;
	mblk_t *mp;
	t_scalar_t prim;
	union T_primitives *p; /* a copy of the primitive, aligned */
	size_t len;	       /* of the block it came in */
	int again;	       /* it was put back before: EAGAIN */
};

const struct tpi_row *tpi_row(t_scalar_t prim);
int tpi_serves(const struct tpi_row *r, t_scalar_t service);
unsigned int tpi_next(t_scalar_t prim, unsigned int state);

/* req.c: 0: consumed; EAGAIN: to be put back */
int tpi_request(queue_t *q, mblk_t *mp, struct tpi *tp,
	const struct tpi_ops *ops);
int tpi_is_data(const mblk_t *mp);
int tpi_is_answer(const mblk_t *mp);
void tpi_free_taken(mblk_t *gone);

void tpi_bind_ack(struct tpi *tp);
void tpi_unbound(struct tpi *tp);

/* mend.c */
#define TPI_PUT_BACK 0xffu /* tpi.busy: serving a request that was put back */
#define TPI_ACCEPTOR 0xfeu /* ... being connected by a listener's T_CONN_RES */
void tpi_mend(struct tpi *tp, const struct tpi_ops *ops);

/* conn.c, callers.c */
void tpi_accept_undo(struct tpi *to);
void tpi_disconnected(struct tpi *tp);
struct tpi_ind;
void tpi_ind_free(struct tpi_ind *in);
void tpi_ind_remove(struct tpi *tp, struct tpi_ind *in);
void tpi_indicate(struct tpi *tp);
void tpi_pay_inds(struct tpi *tp);
mblk_t *tpi_discon_block(int reason, t_uscalar_t seq);
void tpi_owe_later(struct tpi *tp, unsigned int what);
void tpi_ind_void(struct tpi *tp, struct tpi_ind *in, int reason, mblk_t *data);
int tpi_conn_req(struct tpi_req *r);
int tpi_conn_res(struct tpi_req *r);
int tpi_discon_req(struct tpi_req *r);

/* ctl.c */
int tpi_ioctl(queue_t *q, mblk_t *mp, const struct tpi_ops *ops);
int tpi_ctl_req(queue_t *q, mblk_t *mp, struct tpi *tp,
	const struct tpi_ops *ops);

/* data.c */
int tpi_data_req(queue_t *q, mblk_t *mp, struct tpi *tp,
	const struct tpi_ops *ops, t_scalar_t prim);
int tpi_unitdata_req(queue_t *q, mblk_t *mp, struct tpi *tp,
	const struct tpi_ops *ops);
int tpi_ordrel_req(struct tpi_req *r);

/* opt.c */
int tpi_optmgmt_req(struct tpi_req *r);
void tpi_opt_defaults(struct tpi *tp, const struct tpi_ops *ops);
/* Options in a call: 0, or minus a TLI error. */
int tpi_opt_check(const struct tpi_buf *opts);
int tpi_opt_conn(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_buf *opts);
int tpi_opt_call(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_buf *opts);

/* tpi.owes: messages for which there was no memory; see up.c */
#define TPI_OWES_OK 0x1u
#define TPI_OWES_INDS 0x2u
#define TPI_OWES_ORDREL 0x4u
#define TPI_OWES_DISCON 0x8u
#define TPI_OWES_ERROR 0x10u
/* being sent now: the state may have changed already */
#define TPI_SAYS_ORDREL 0x20u
#define TPI_SAYS_DISCON 0x40u
/* all that concern a connection: dropped with it */
#define TPI_OWES_CONN (TPI_OWES_ORDREL | TPI_OWES_DISCON | TPI_SAYS_ORDREL | \
	TPI_SAYS_DISCON)

/* up.c */
void tpi_pay(struct tpi *tp);
mblk_t *tpi_block(int type, t_scalar_t prim, size_t size, size_t more);
void tpi_up_locked(struct tpi *tp, mblk_t *mp);
void tpi_up(struct tpi *tp, mblk_t *mp);
void tpi_ok(struct tpi *tp, t_scalar_t prim);
void tpi_ok_locked(struct tpi *tp, t_scalar_t prim);
/* @err: result of an operation; @state: new state, TPI_SAME: unchanged */
void tpi_error(struct tpi *tp, t_scalar_t prim, int err, unsigned int state);
size_t tpi_put_addr(mblk_t *mp, const unsigned char *buf, size_t len);

/* tpi.c */
int tpi_gate_try(struct tpi *tp, const struct tpi_ops *ops);
void tpi_gate_leave(struct tpi *tp, queue_t *q);
void tpi_flush(queue_t *q, int band, int all);
int tpi_gate_is_taken(struct tpi *tp);

/* Check a range in the block of a request; 0: it is not inside. */
int tpi_range(const struct tpi_req *r, t_scalar_t len, t_scalar_t off,
	struct tpi_buf *ret);

static inline void
tpi_lock(struct tpi *tp)
{
	mutex_enter(&tp->lock);
}

static inline void
tpi_unlock(struct tpi *tp)
{
	mutex_exit(&tp->lock);
}

/* A thread that does not serve the queue takes @mp off.  Lock held. */
static inline void
tpi_not_kept(struct tpi *tp, const mblk_t *mp)
{
	if (tp->down.mp == mp)
		tp->down.mp = NULL;
	if (tp->hand.mp == mp)
		tp->hand.mp = NULL;
}

/*
 * Read the state, which another thread may be changing.  TS_WRES_CIND is
 * TS_IDLE with waiting callers: one store changes both the list of indications
 * and the state.
 */
static inline unsigned int
tpi_state(const struct tpi *tp)
{
	unsigned int state = __atomic_load_n(&tp->state, __ATOMIC_ACQUIRE);

	return state == TS_IDLE &&
			__atomic_load_n(&tp->ind, __ATOMIC_RELAXED) != NULL ?
		TS_WRES_CIND : state;
}

/* Locks: the endpoint's. */
static inline void
tpi_set(struct tpi *tp, unsigned int state)
{
	__atomic_store_n(&tp->state, state, __ATOMIC_RELEASE);
	if (state == TS_IDLE && tp->ind != NULL)
		tpi_indicate(tp);
}

static inline unsigned int
tpi_owes(const struct tpi *tp)
{
	return __atomic_load_n(&tp->owes, __ATOMIC_RELAXED);
}

/* Locks: the endpoint's, also for tpi_paid(). */
static inline void
tpi_owe(struct tpi *tp, unsigned int what)
{
	__atomic_store_n(&tp->owes, tp->owes | what, __ATOMIC_RELAXED);
}

static inline void
tpi_paid(struct tpi *tp, unsigned int what)
{
	if ((tp->owes & what) != 0)
		__atomic_store_n(&tp->owes, tp->owes & ~what, __ATOMIC_RELAXED);
}

#endif
