/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * <sys/mi.h>: instances, ioctls in steps, timers.
 */
#include "d.h"
#include <sys/mi.h>

/* -------------------------------------------------------------- instances */

struct stream {
	struct fx_pipe p;
	queue_t *q;
	dev_t dev;
};

static struct stream str[4];
static caddr_t head;

static int
mi_open(unsigned i, unsigned minor, int sflag)
{
	if (str[i].p.pl == NULL) {
		fx_pipe(&str[i].p);
		str[i].q = fx_push(&str[i].p, 0, "store");
	}
	str[i].dev = makedevice(44, minor);
	return mi_open_comm(&head, 32, str[i].q, &str[i].dev, FREAD, sflag,
		NULL);
}

static void
begin(struct t *t)
{
	memset(str, 0, sizeof(str));
	head = NULL;
	fx_begin(t);
}

/* mi_open_comm(9): zeroed data of that size, q_ptr of both queues. */
D_CASE(801, mi_open_comm_makes_an_instance)
{
	unsigned char *p;
	unsigned i;

	begin(t);
	T_EQ(mi_open(0, 3, DRVOPEN), 0);
	p = str[0].q->q_ptr;
	T_NOTNULL(p);
	T_TRUE(WR(str[0].q)->q_ptr == p);
	for (i = 0; i < 32; i++)
		T_EQ(p[i], 0);
	T_EQ(getminor(str[0].dev), 3);
	T_TRUE(mi_first_ptr(&head) == (caddr_t)p);
	T_NULL(mi_next_ptr((caddr_t)p));
	T_EQ(mi_close_comm(&head, str[0].q), 0);
	T_NULL(str[0].q->q_ptr);
	T_NULL(WR(str[0].q)->q_ptr);
	T_NULL(mi_first_ptr(&head));
}

/* mi_open_comm(9): CLONEOPEN gives the lowest unused minor from 1 on. */
D_CASE(802, mi_open_comm_chooses_a_minor)
{
	begin(t);
	T_EQ(mi_open(0, 0, CLONEOPEN), 0);
	T_EQ(mi_open(1, 0, CLONEOPEN), 0);
	T_EQ(mi_open(2, 0, CLONEOPEN), 0);
	T_EQ(getminor(str[0].dev), 1);
	T_EQ(getminor(str[1].dev), 2);
	T_EQ(getminor(str[2].dev), 3);
	T_EQ(getmajor(str[2].dev), 44);
	(void)mi_close_comm(&head, str[1].q);
	T_EQ(mi_open(3, 0, CLONEOPEN), 0);
	T_EQ(getminor(str[3].dev), 2);
	(void)mi_close_comm(&head, str[0].q);
	(void)mi_close_comm(&head, str[2].q);
	(void)mi_close_comm(&head, str[3].q);
	T_NULL(mi_first_ptr(&head));
}

/* mi_open_comm(9): EBUSY when another instance has the minor. */
D_CASE(803, mi_open_comm_of_a_taken_minor_is_ebusy)
{
	begin(t);
	T_EQ(mi_open(0, 7, DRVOPEN), 0);
	T_EQ(mi_open(1, 7, DRVOPEN), EBUSY);
	T_NULL(str[1].q->q_ptr);
	(void)mi_close_comm(&head, str[1].q);
	(void)mi_close_comm(&head, str[0].q);
}

/* mi_open_comm(9): a stream that is open already stays as it is. */
D_CASE(804, mi_open_comm_again_changes_nothing)
{
	void *p;

	begin(t);
	T_EQ(mi_open(0, 7, DRVOPEN), 0);
	p = str[0].q->q_ptr;
	T_EQ(mi_open(0, 7, DRVOPEN), 0);
	T_TRUE(str[0].q->q_ptr == p);
	T_NULL(mi_next_ptr(p));
	(void)mi_close_comm(&head, str[0].q);
}

/* mi_open_comm(9): instances of a module have no minor. */
D_CASE(805, mi_open_comm_takes_any_number_of_modules)
{
	unsigned n = 0;
	caddr_t p;

	begin(t);
	T_EQ(mi_open(0, 0, MODOPEN), 0);
	T_EQ(mi_open(1, 0, MODOPEN), 0);
	T_EQ(mi_open(2, 0, DRVOPEN), 0);
	for (p = mi_first_ptr(&head); p != NULL; p = mi_next_ptr(p))
		n++;
	T_EQ(n, 3);
	(void)mi_close_comm(&head, str[0].q);
	(void)mi_close_comm(&head, str[1].q);
	(void)mi_close_comm(&head, str[2].q);
}

/* mi_open_comm(9): ENOMEM. */
D_CASE(806, mi_open_comm_without_memory_is_enomem)
{
	begin(t);
	fx_pipe(&str[0].p);
	str[0].q = fx_push(&str[0].p, 0, "store");
	fx_use_up();
	T_EQ(mi_open(0, 1, DRVOPEN), ENOMEM);
	T_NULL(str[0].q->q_ptr);
	T_NULL(mi_first_ptr(&head));
}

/* ---------------------------------------------------------------- copying */

static queue_t *wq, *top;

static void
ioctl_begin(struct t *t)
{
	queue_t *low;

	begin(t);
	fx_pipe(&str[0].p);
	low = fx_push(&str[0].p, 0, "store");
	top = fx_push(&str[0].p, 0, "store");
	wq = WR(low);
}

static mblk_t *
transparent(void *arg)
{
	mblk_t *mp = mkiocb(0x77);

	IOCP(mp)->ioc_count = TRANSPARENT;
	mp->b_cont = fx_bytes(sizeof(arg), 0);
	memcpy(mp->b_cont->b_rptr, &arg, sizeof(arg));
	return mp;
}

/* What has come up; and what was put to the module itself. */
static mblk_t *
up(unsigned type)
{
	mblk_t *mp = getq(top);

	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, type);
	(void)fx_enabled(top);
	return mp;
}

/* The Stream head's answer to a copy request. */
static mblk_t *
iocdata(mblk_t *mp, const char *data, int fail)
{
	struct copyresp *r = (struct copyresp *)(void *)mp->b_rptr;

	mp->b_datap->db_type = M_IOCDATA;
	r->cp_rval = (char *)(uintptr_t)fail;
	freemsg(mp->b_cont);
	mp->b_cont = data != NULL ? fx_msg(data, 0) : NULL;
	return mp;
}

/* mi_copyin(9): a transparent ioctl's argument is asked for. */
D_CASE(807, mi_copyin_asks_for_the_argument)
{
	struct copyreq *cq;
	mblk_t *mp, *dp;
	int user;

	ioctl_begin(t);
	mi_copyin(wq, transparent(&user), NULL, 4);
	mp = up(M_COPYIN);
	cq = (struct copyreq *)(void *)mp->b_rptr;
	T_TRUE(cq->cq_addr == (char *)&user);
	T_EQ(cq->cq_size, 4);
	mp = iocdata(mp, "data", 0);
	T_EQ(mi_copy_state(wq, mp, &dp), MI_COPY_CASE(MI_COPY_IN, 1));
	T_MEM(dp->b_rptr, "data", 4);
	mi_copy_set_rval(mp, 12);
	mi_copy_done(wq, mp, 0);
	mp = up(M_IOCACK);
	T_EQ(IOCP(mp)->ioc_rval, 12);
	T_EQ(IOCP(mp)->ioc_cmd, 0x77);
	freemsg(mp);
}

/* mi_copyin(9): the data of an I_STR comes without being asked for. */
D_CASE(808, mi_copyin_of_an_i_str_has_the_data)
{
	mblk_t *mp, *dp;

	ioctl_begin(t);
	mp = mkiocb(0x77);
	mp->b_cont = fx_msg("data", 0);
	IOCP(mp)->ioc_count = 4;
	mi_copyin(wq, mp, NULL, 4);
	T_NULL(getq(top));
	mp = getq(wq);
	(void)fx_enabled(wq);
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_IOCDATA);
	T_EQ(mi_copy_state(wq, mp, &dp), MI_COPY_CASE(MI_COPY_IN, 1));
	T_MEM(dp->b_rptr, "data", 4);
	mi_copy_done(wq, mp, EPROTO);
	mp = up(M_IOCNAK);
	T_EQ(IOCP(mp)->ioc_error, EPROTO);
	freemsg(mp);
}

/* mi_copyin(9): an I_STR that brings too little is refused. */
D_CASE(809, mi_copyin_of_too_short_an_i_str_is_einval)
{
	mblk_t *mp;

	ioctl_begin(t);
	mp = mkiocb(0x77);
	mp->b_cont = fx_msg("data", 0);
	IOCP(mp)->ioc_count = 4;
	mi_copyin(wq, mp, NULL, 5);
	mp = up(M_IOCNAK);
	T_EQ(IOCP(mp)->ioc_error, EINVAL);
	freemsg(mp);
	T_NULL(getq(wq));
}

/* mi_copy_state(9): -1 when the copy failed; all is freed, nothing sent. */
D_CASE(810, mi_copy_state_of_a_failed_copy_is_minus_1)
{
	mblk_t *mp;
	int user;

	ioctl_begin(t);
	mi_copyin(wq, transparent(&user), NULL, 4);
	mp = iocdata(up(M_COPYIN), NULL, 1);
	T_EQ(mi_copy_state(wq, mp, NULL), -1);
	T_NULL(getq(top));
}

/* mi_copyin(9): a second copy, from an address that was in the first. */
D_CASE(811, mi_copyin_goes_on)
{
	struct copyreq *cq;
	mblk_t *mp, *dp;
	int user, more;

	ioctl_begin(t);
	mi_copyin(wq, transparent(&user), NULL, 4);
	mp = iocdata(up(M_COPYIN), "1st.", 0);
	T_EQ(mi_copy_state(wq, mp, &dp), MI_COPY_CASE(MI_COPY_IN, 1));
	mi_copyin(wq, mp, (caddr_t)&more, 7);
	mp = up(M_COPYIN);
	cq = (struct copyreq *)(void *)mp->b_rptr;
	T_TRUE(cq->cq_addr == (char *)&more);
	T_EQ(cq->cq_size, 7);
	mp = iocdata(mp, "second.", 0);
	T_EQ(mi_copy_state(wq, mp, &dp), MI_COPY_CASE(MI_COPY_IN, 2));
	T_MEM(dp->b_rptr, "second.", 7);
	mi_copy_done(wq, mp, 0);
	freemsg(up(M_IOCACK));
}

/* mi_copyout(9): blocks go out in the order they were made, then the ack. */
D_CASE(812, mi_copyout_sends_one_after_the_other)
{
	struct copyreq *cq;
	mblk_t *mp, *bp;
	int user, more;

	ioctl_begin(t);
	mi_copyin(wq, transparent(&user), NULL, 4);
	mp = iocdata(up(M_COPYIN), "data", 0);
	T_EQ(mi_copy_state(wq, mp, NULL), MI_COPY_CASE(MI_COPY_IN, 1));
	bp = mi_copyout_alloc(wq, mp, NULL, 3, 1);
	T_EQ(MBLKL(bp), 3);
	memcpy(bp->b_rptr, "one", 3);
	bp = mi_copyout_alloc(wq, mp, (caddr_t)&more, 6, 1);
	memcpy(bp->b_rptr, "second", 6);
	mi_copy_set_rval(mp, 3);
	mi_copyout(wq, mp);
	mp = up(M_COPYOUT);
	cq = (struct copyreq *)(void *)mp->b_rptr;
	T_TRUE(cq->cq_addr == (char *)&user);
	T_EQ(cq->cq_size, 3);
	T_MEM(mp->b_cont->b_rptr, "one", 3);
	mp = iocdata(mp, NULL, 0);
	T_EQ(mi_copy_state(wq, mp, NULL), MI_COPY_CASE(MI_COPY_OUT, 1));
	mi_copyout(wq, mp);
	mp = up(M_COPYOUT);
	cq = (struct copyreq *)(void *)mp->b_rptr;
	T_TRUE(cq->cq_addr == (char *)&more);
	T_MEM(mp->b_cont->b_rptr, "second", 6);
	mp = iocdata(mp, NULL, 0);
	T_EQ(mi_copy_state(wq, mp, NULL), MI_COPY_CASE(MI_COPY_OUT, 2));
	mi_copyout(wq, mp);
	mp = up(M_IOCACK);
	T_EQ(IOCP(mp)->ioc_rval, 3);
	freemsg(mp);
}

/* mi_copyout(9): an I_STR's answer carries the data itself. */
D_CASE(813, mi_copyout_of_an_i_str_is_its_answer)
{
	mblk_t *mp, *bp;

	ioctl_begin(t);
	mp = mkiocb(0x77);
	mp->b_cont = fx_msg("data", 0);
	IOCP(mp)->ioc_count = 4;
	mi_copyin(wq, mp, NULL, 4);
	mp = getq(wq);
	(void)fx_enabled(wq);
	T_EQ(mi_copy_state(wq, mp, NULL), MI_COPY_CASE(MI_COPY_IN, 1));
	bp = mi_copyout_alloc(wq, mp, NULL, 6, 1);
	memcpy(bp->b_rptr, "answer", 6);
	mi_copyout(wq, mp);
	mp = up(M_IOCACK);
	T_EQ(IOCP(mp)->ioc_count, 6);
	T_MEM(mp->b_cont->b_rptr, "answer", 6);
	freemsg(mp);
}

/* mi_copyout_alloc(9): without memory the ioctl is refused with ENOMEM. */
D_CASE(814, mi_copyout_alloc_without_memory_is_enomem)
{
	mblk_t *mp;
	int user;

	ioctl_begin(t);
	mi_copyin(wq, transparent(&user), NULL, 4);
	mp = iocdata(up(M_COPYIN), "data", 0);
	fx_use_up();
	T_NULL(mi_copyout_alloc(wq, mp, NULL, 4000, 1));
	mp = up(M_IOCNAK);
	T_EQ(IOCP(mp)->ioc_error, ENOMEM);
	freemsg(mp);
}

/* ----------------------------------------------------------------- timers */

/* The message that has come to the queue. */
static mblk_t *
soon(queue_t *q)
{
	mblk_t *mp;

	D_UNTIL(qsize(q) != 0);
	mp = getq(q);
	(void)fx_enabled(q);
	return mp;
}

static queue_t *
timer_begin(struct t *t)
{
	begin(t);
	fx_pipe(&str[0].p);
	return fx_push(&str[0].p, 0, "store");
}

/* mi_timer(9): the message stands on the queue after that time. */
D_CASE(815, mi_timer_puts_its_message_on_the_queue)
{
	queue_t *q;
	mblk_t *mp;
	uint64_t before;

	q = timer_begin(t);
	T_NULL(mi_timer_alloc(SIZE_MAX - 8));
	mp = mi_timer_alloc(8);
	T_EQ(MBLKL(mp), 8);
	T_EQ(mp->b_datap->db_type, M_PCSIG);
	before = host_now();
	T_EQ(mi_timer(q, mp, 20), 1);
	T_TRUE(soon(q) == mp);
	T_GE(host_now() - before, 20000000u);
	T_EQ(mi_timer_valid(mp), 1);
	T_EQ(mi_timer(q, mp, 10), 1); /* and again */
	T_TRUE(soon(q) == mp);
	T_EQ(mi_timer_valid(mp), 1);
	mi_timer_free(mp);
}

/* mi_timer_stop(9): it does not come. */
D_CASE(816, mi_timer_stop_stops_it)
{
	queue_t *q;
	mblk_t *mp;

	q = timer_begin(t);
	mp = mi_timer_alloc(0);
	T_EQ(mi_timer(q, mp, 20), 1);
	T_EQ(mi_timer_stop(mp), 1);
	sim_sleep(60000000u);
	T_NULL(getq(q));
	T_EQ(mi_timer_stop(mp), 0);
	mi_timer_free(mp);
}

/* mi_timer_valid(9): 0 for one that was stopped on the queue. */
D_CASE(817, mi_timer_valid_knows_what_was_stopped)
{
	queue_t *q;
	mblk_t *mp;

	q = timer_begin(t);
	mp = mi_timer_alloc(0);
	T_EQ(mi_timer(q, mp, 10), 1);
	D_UNTIL(qsize(q) == 1);
	T_EQ(mi_timer_stop(mp), 1);
	T_TRUE(soon(q) == mp);
	T_EQ(mi_timer_valid(mp), 0);
	T_EQ(mi_timer(q, mp, 10), 1);
	T_TRUE(soon(q) == mp);
	T_EQ(mi_timer_valid(mp), 1);
	mi_timer_free(mp);
}

/* mi_timer(9): started anew on the queue, it comes once more, later. */
D_CASE(818, mi_timer_starts_anew_on_the_queue)
{
	queue_t *q;
	mblk_t *mp;

	q = timer_begin(t);
	mp = mi_timer_alloc(0);
	T_EQ(mi_timer(q, mp, 10), 1);
	D_UNTIL(qsize(q) == 1);
	T_EQ(mi_timer(q, mp, 10), 1);
	T_TRUE(soon(q) == mp);
	T_EQ(mi_timer_valid(mp), 0);
	T_TRUE(soon(q) == mp);
	T_EQ(mi_timer_valid(mp), 1);
	mi_timer_free(mp);
}

/* mi_timer_free(9): one on the queue goes when it comes off. */
D_CASE(819, mi_timer_free_of_one_on_the_queue)
{
	queue_t *q;
	mblk_t *mp;

	q = timer_begin(t);
	mp = mi_timer_alloc(0);
	T_EQ(mi_timer(q, mp, 10), 1);
	D_UNTIL(qsize(q) == 1);
	mi_timer_free(mp);
	T_TRUE(soon(q) == mp);
	T_EQ(mi_timer_valid(mp), 0);
	mi_timer_free(mi_timer_alloc(4)); /* one that never ran */
	mp = mi_timer_alloc(4);
	T_EQ(mi_timer(q, mp, 100000), 1);
	mi_timer_free(mp); /* one that runs */
}

/* mi_bufcall(9): the queue is enabled when there is memory. */
D_CASE(820, mi_bufcall_enables_the_queue)
{
	queue_t *q;

	q = timer_begin(t);
	T_NE(mi_bufcall(q, 100, BPRI_MED), 0);
	D_UNTIL(__atomic_load_n(&fx_of(q)->services, __ATOMIC_RELAXED) > 0 ||
		fx_enabled(q));
}

/* --------------------------------------------- the head, parts of messages */

/* mi_set_sth_hiwat(9): M_SETOPTS with one option goes up. */
D_CASE(821, mi_set_sth_sends_one_option_to_the_head)
{
	struct str_head *sd;
	queue_t *q;

	begin(t);
	fx_pipe(&str[0].p);
	q = fx_push(&str[0].p, 0, "pass");
	sd = str[0].p.sd[0];
	T_EQ(mi_set_sth_lowat(q, 77), 1);
	T_EQ(mi_set_sth_hiwat(q, 7777), 1);
	T_EQ(mi_set_sth_wroff(WR(q), 24), 1);
	T_EQ(mi_set_sth_maxblk(q, 512), 1);
	T_EQ(mi_set_sth_copyopt(q, 1), 1);
	T_EQ(sd->hq.hiwat, 7777);
	T_EQ(sd->hq.lowat, 77);
	T_EQ(sd->wroff, 24);
}

/* mi_offset_param(9): all of it in the first block, or none. */
D_CASE(822, mi_offset_param_finds_what_is_there)
{
	mblk_t *mp;

	begin(t);
	mp = allocb(16, BPRI_MED);
	T_NOTNULL(mp);
	mp->b_wptr += 10;
	T_TRUE(mi_offset_param(mp, 0, 10) == mp->b_rptr);
	T_TRUE(mi_offset_param(mp, 4, 6) == mp->b_rptr + 4);
	T_NULL(mi_offset_param(mp, 4, 7));
	T_NULL(mi_offset_param(mp, 11, 1));
	T_NULL(mi_offset_param(mp, (size_t)-4, 8));
	T_NULL(mi_offset_param(mp, 4, (size_t)-4));
	T_NULL(mi_offset_param(mp, 4, 0));
	T_NULL(mi_offset_param(NULL, 0, 1));
	freemsg(mp);
}

/* mi_offset_paramc(9): in any block, not in two. */
D_CASE(823, mi_offset_paramc_counts_on)
{
	mblk_t *mp;

	begin(t);
	mp = allocb(16, BPRI_MED);
	T_NOTNULL(mp);
	mp->b_wptr += 10;
	mp->b_cont = allocb(16, BPRI_MED);
	T_NOTNULL(mp->b_cont);
	mp->b_cont->b_wptr += 8;
	T_TRUE(mi_offset_paramc(mp, 9, 1) == mp->b_rptr + 9);
	T_TRUE(mi_offset_paramc(mp, 10, 8) == mp->b_cont->b_rptr);
	T_NULL(mi_offset_paramc(mp, 9, 2));
	T_NULL(mi_offset_paramc(mp, 10, 9));
	T_NULL(mi_offset_paramc(mp, 18, 1));
	freemsg(mp);
}

/* mi_reallocb(9): the same block if it will do. */
D_CASE(824, mi_reallocb_keeps_what_is_large_enough)
{
	mblk_t *mp, *dup;

	begin(t);
	mp = allocb(64, BPRI_MED);
	T_NOTNULL(mp);
	mp->b_datap->db_type = M_PROTO;
	mp->b_rptr += 3;
	mp->b_wptr += 60;
	mp->b_cont = allocb(16, BPRI_MED);
	T_TRUE(mi_reallocb(mp, 64) == mp);
	T_EQ(mp->b_wptr - mp->b_rptr, 0);
	T_TRUE(mp->b_rptr == mp->b_datap->db_base);
	T_NULL(mp->b_cont);
	dup = dupb(mp);
	T_NOTNULL(dup);
	mp = mi_reallocb(mp, 64);
	T_NOTNULL(mp);
	T_TRUE(mp->b_datap != dup->b_datap);
	T_EQ(mp->b_datap->db_type, M_PROTO);
	mp = mi_reallocb(mp, 5000);
	T_TRUE(mp->b_datap->db_lim - mp->b_rptr >= 5000);
	T_EQ(mp->b_datap->db_type, M_PROTO);
	freemsg(mp);
	freemsg(dup);
}

/* mi_open_alloc(9): what mi_open_comm() does, in steps. */
D_CASE(825, an_instance_is_made_in_steps)
{
	caddr_t p[3], list = NULL;
	dev_t dev = makedevice(44, 7);
	unsigned i, k;

	begin(t);
	for (i = 0; i < 3; i++) {
		p[i] = mi_open_alloc(24);
		T_NOTNULL(p[i]);
		for (k = 0; k < 24; k++)
			T_EQ(p[i][k], 0);
	}
	T_EQ(mi_open_link(&list, p[0], &dev, FREAD, DRVOPEN, NULL), 0);
	T_EQ(mi_open_link(&list, p[1], &dev, FREAD, DRVOPEN, NULL), EBUSY);
	T_EQ(mi_open_link(&list, p[1], &dev, FREAD, CLONEOPEN, NULL), 0);
	T_EQ(getminor(dev), 1);
	T_EQ(mi_open_link(&list, p[2], &dev, FREAD, CLONEOPEN, NULL), 0);
	T_EQ(getminor(dev), 2);
	T_EQ(getmajor(dev), 44);
	T_TRUE(mi_first_ptr(&list) == p[1]);
	T_TRUE(mi_next_ptr(p[1]) == p[2]);
	T_TRUE(mi_next_ptr(p[2]) == p[0]);
	mi_close_unlink(&list, p[2]);
	mi_close_unlink(&list, p[2]); /* it is not there */
	T_TRUE(mi_next_ptr(p[1]) == p[0]);
	mi_close_unlink(&list, p[1]);
	mi_close_unlink(&list, p[0]);
	T_NULL(list);
	for (i = 0; i < 3; i++)
		mi_close_free(p[i]);
	mi_close_free(NULL);
	T_NULL(mi_open_alloc((size_t)-1));
}

/* mi_mpprintf(9): text at the end, in as many blocks as it takes. */
D_CASE(826, mi_mpprintf_adds_text)
{
	char line[32], want[40 * 16 + 1] = "";
	mblk_t *mp, *bp;
	size_t n = 0;
	unsigned i;

	begin(t);
	mp = allocb(20, BPRI_MED);
	T_NOTNULL(mp);
	for (i = 0; i < 40; i++) {
		T_EQ(mi_sprintf(line, "line %d of %s.\n", i, "it"),
			(int)strlen(line));
		T_EQ(mi_mpprintf(mp, "line %d of %s.\n", i, "it"),
			(int)strlen(line));
		strcat(want, line);
	}
	T_NOTNULL(mp->b_cont);
	T_EQ(msgdsize(mp), strlen(want));
	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		T_TRUE(bp->b_wptr <= bp->b_datap->db_lim);
		T_EQ(memcmp(bp->b_rptr, want + n,
			(size_t)(bp->b_wptr - bp->b_rptr)), 0);
		n += (size_t)(bp->b_wptr - bp->b_rptr);
	}
	freemsg(mp);
}
