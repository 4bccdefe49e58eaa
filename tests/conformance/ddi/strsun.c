/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * <sys/strsun.h>: answers to ioctls, copy requests, exchanges.
 */
#include "d.h"

/* Two modules; what the lower one replies comes to rest at the upper one. */
struct two {
	struct fx_pipe p;
	queue_t *low, *top;
};

static struct two two;

static queue_t *
setup(void)
{
	fx_pipe(&two.p);
	two.low = fx_push(&two.p, 0, "store");
	two.top = fx_push(&two.p, 0, "store");
	return WR(two.low);
}

/* What has come back, and nothing more. */
static mblk_t *
reply(void)
{
	mblk_t *mp = getq(two.top);

	T_NOTNULL(mp);
	T_NULL(getq(two.top));
	(void)fx_enabled(two.top);
	return mp;
}

static mblk_t *
ioctl_msg(const char *data)
{
	mblk_t *mp = mkiocb(0x4711);

	T_NOTNULL(mp);
	if (data != NULL) {
		mp->b_cont = fx_msg(data, 0);
		IOCP(mp)->ioc_count = strlen(data);
	}
	return mp;
}

/* mkiocb(9F): an M_IOCTL with that command and an identifier of its own. */
D_CASE(601, mkiocb_makes_an_ioctl)
{
	mblk_t *a, *b;

	fx_begin(t);
	a = mkiocb(0x1234);
	b = mkiocb(0x1234);
	T_EQ(a->b_datap->db_type, M_IOCTL);
	T_EQ(IOCP(a)->ioc_cmd, 0x1234);
	T_EQ(IOCP(a)->ioc_count, 0);
	T_EQ(IOCP(a)->ioc_error, 0);
	T_NULL(a->b_cont);
	T_EQ(MBLKL(a), sizeof(struct iocblk));
	T_NE(IOCP(a)->ioc_id, IOCP(b)->ioc_id);
	freemsg(a);
	freemsg(b);
}

/* miocack(9F): M_IOCACK with count and rval goes back. */
D_CASE(602, miocack_acknowledges)
{
	queue_t *wq;
	mblk_t *mp;

	fx_begin(t);
	wq = setup();
	miocack(wq, ioctl_msg("data"), 4, 17);
	mp = reply();
	T_EQ(mp->b_datap->db_type, M_IOCACK);
	T_EQ(IOCP(mp)->ioc_count, 4);
	T_EQ(IOCP(mp)->ioc_rval, 17);
	T_EQ(IOCP(mp)->ioc_error, 0);
	T_EQ(msgdsize(mp->b_cont), 4);
	freemsg(mp);
}

/* miocnak(9F): M_IOCNAK with the error goes back. */
D_CASE(603, miocnak_refuses)
{
	queue_t *wq;
	mblk_t *mp;

	fx_begin(t);
	wq = setup();
	miocnak(wq, ioctl_msg("data"), 0, EIO);
	mp = reply();
	T_EQ(mp->b_datap->db_type, M_IOCNAK);
	T_EQ(IOCP(mp)->ioc_error, EIO);
	T_EQ(IOCP(mp)->ioc_count, 0);
	T_NULL(mp->b_cont);
	freemsg(mp);
}

/* miocnak(9F): error 0 is EINVAL. */
D_CASE(604, miocnak_of_no_error_is_einval)
{
	queue_t *wq;
	mblk_t *mp;

	fx_begin(t);
	wq = setup();
	miocnak(wq, ioctl_msg(NULL), 0, 0);
	mp = reply();
	T_EQ(IOCP(mp)->ioc_error, EINVAL);
	freemsg(mp);
}

/* mcopyin(9F): M_COPYIN for size bytes at the address given. */
D_CASE(605, mcopyin_makes_a_copy_request)
{
	struct copyreq *cq;
	int mine, there;
	mblk_t *mp;

	fx_begin(t);
	mp = ioctl_msg("data");
	mcopyin(mp, &mine, 24, &there);
	T_EQ(mp->b_datap->db_type, M_COPYIN);
	T_EQ(MBLKL(mp), sizeof(struct copyreq));
	cq = (struct copyreq *)(void *)mp->b_rptr;
	T_EQ(cq->cq_cmd, 0x4711);
	T_TRUE(cq->cq_addr == (char *)&there);
	T_EQ(cq->cq_size, 24);
	T_EQ(cq->cq_flag, 0);
	T_TRUE((void *)cq->cq_private == (void *)&mine);
	T_NULL(mp->b_cont);
	freemsg(mp);
}

/* mcopyin(9F): without an address, that of the transparent ioctl. */
D_CASE(606, mcopyin_takes_the_address_from_the_ioctl)
{
	struct copyreq *cq;
	void *there = &there;
	mblk_t *mp;

	fx_begin(t);
	mp = mkiocb(0x4711);
	IOCP(mp)->ioc_count = TRANSPARENT;
	mp->b_cont = fx_bytes(sizeof(there), 0);
	memcpy(mp->b_cont->b_rptr, &there, sizeof(there));
	mcopyin(mp, NULL, 8, NULL);
	cq = (struct copyreq *)(void *)mp->b_rptr;
	T_TRUE(cq->cq_addr == (char *)there);
	T_NULL(mp->b_cont);
	freemsg(mp);
}

/* mcopyout(9F): M_COPYOUT of the data given. */
D_CASE(607, mcopyout_makes_a_copy_request)
{
	struct copyreq *cq;
	mblk_t *mp;
	int there;

	fx_begin(t);
	mp = ioctl_msg("old");
	mcopyout(mp, NULL, 3, &there, fx_msg("newer", 0));
	T_EQ(mp->b_datap->db_type, M_COPYOUT);
	cq = (struct copyreq *)(void *)mp->b_rptr;
	T_EQ(cq->cq_size, 3);
	T_TRUE(cq->cq_addr == (char *)&there);
	T_EQ(msgdsize(mp->b_cont), 3);
	T_MEM(mp->b_cont->b_rptr, "new", 3);
	freemsg(mp);
}

/* mcopyout(9F): without data, of what the message has. */
D_CASE(608, mcopyout_keeps_the_data_there_is)
{
	mblk_t *mp;
	int there;

	fx_begin(t);
	mp = ioctl_msg("data");
	mcopyout(mp, NULL, 4, &there, NULL);
	T_EQ(mp->b_datap->db_type, M_COPYOUT);
	T_EQ(msgdsize(mp->b_cont), 4);
	freemsg(mp);
}

/* mioc2ack(9F): the ioctl becomes its acknowledgement, with that data. */
D_CASE(609, mioc2ack_turns_it_into_an_acknowledgement)
{
	mblk_t *mp;

	fx_begin(t);
	mp = ioctl_msg("old");
	mioc2ack(mp, fx_msg("answer", 0), 3, 8);
	T_EQ(mp->b_datap->db_type, M_IOCACK);
	T_EQ(IOCP(mp)->ioc_count, 3);
	T_EQ(IOCP(mp)->ioc_rval, 8);
	T_EQ(IOCP(mp)->ioc_error, 0);
	T_EQ(msgdsize(mp->b_cont), 3);
	freemsg(mp);
}

/* mexchange(9F): a message that is large enough is used again. */
D_CASE(610, mexchange_uses_the_message_again)
{
	mblk_t *mp, *np;
	int prim;

	fx_begin(t);
	mp = fx_bytes(64, 0);
	linkb(mp, fx_msg("rest", 0));
	np = mexchange(NULL, mp, 16, M_PROTO, 5);
	T_TRUE(np == mp);
	T_EQ(np->b_datap->db_type, M_PROTO);
	T_EQ(MBLKL(np), 16);
	memcpy(&prim, np->b_rptr, sizeof(prim));
	T_EQ(prim, 5);
	T_NULL(np->b_cont);
	freemsg(np);
}

/* mexchange(9F): one that is too small, or shared, is freed. */
D_CASE(611, mexchange_replaces_what_cannot_be_used)
{
	mblk_t *mp, *dp, *np;

	fx_begin(t);
	np = mexchange(NULL, fx_msg("small", 0), 5000, M_CTL, -1);
	T_EQ(MBLKL(np), 5000);
	T_EQ(np->b_datap->db_type, M_CTL);
	freemsg(np);
	mp = fx_bytes(64, 0);
	dp = dupb(mp);
	np = mexchange(NULL, mp, 8, M_PROTO, 1);
	T_TRUE(np->b_datap != dp->b_datap);
	T_EQ(dp->b_datap->db_ref, 1);
	T_EQ(*dp->b_rptr, 'b');
	freemsg(np);
	freemsg(dp);
}

/* mexchange(9F): NULL for a message makes a new one. */
D_CASE(612, mexchange_of_nothing_is_a_new_message)
{
	mblk_t *mp;

	fx_begin(t);
	mp = mexchange(NULL, NULL, 4, M_PCPROTO, 9);
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_PCPROTO);
	T_EQ(MBLKL(mp), 4);
	freemsg(mp);
}

/* mexchange(9F): NULL without memory; the message is gone. */
D_CASE(613, mexchange_without_memory_is_null)
{
	uint64_t n;
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("small", 0);
	n = fx_messages();
	fx_use_up();
	T_NULL(mexchange(NULL, mp, 5000, M_PROTO, 1));
	T_EQ(fx_messages(), n - 1);
}

/* merror(9F): an M_ERROR for both sides goes back. */
D_CASE(614, merror_reports_an_error)
{
	queue_t *wq;
	mblk_t *mp;

	fx_begin(t);
	wq = setup();
	merror(wq, fx_msg("bad", 0), EPROTO);
	mp = reply();
	T_EQ(mp->b_datap->db_type, M_ERROR);
	T_EQ(MBLKL(mp), 1);
	T_EQ(*mp->b_rptr, EPROTO);
	freemsg(mp);
}

/* miocpullup(9F): the data is in one block then. */
D_CASE(615, miocpullup_gathers_the_data)
{
	mblk_t *mp;

	fx_begin(t);
	mp = ioctl_msg("abcd");
	linkb(mp, fx_msg("efgh", 0));
	IOCP(mp)->ioc_count = 8;
	T_EQ(miocpullup(mp, 6), 0);
	T_GE(MBLKL(mp->b_cont), 6);
	T_MEM(mp->b_cont->b_rptr, "abcdef", 6);
	T_EQ(msgdsize(mp->b_cont), 8);
	freemsg(mp);
}

/* miocpullup(9F): 0 says that they stand in one block; blocks of another type
 * are not joined, and one whose ends have crossed holds nothing. */
D_CASE(624, miocpullup_of_what_cannot_be_joined_is_einval)
{
	mblk_t *mp;

	fx_begin(t);
	mp = ioctl_msg("abcd");
	linkb(mp, fx_type(M_PROTO, "efgh", 0));
	IOCP(mp)->ioc_count = 8;
	T_EQ(miocpullup(mp, 6), EINVAL);
	freemsg(mp);
	mp = ioctl_msg("abcd");
	mp->b_cont->b_rptr = mp->b_cont->b_wptr + 1;
	T_EQ(miocpullup(mp, 2), EINVAL);
	freemsg(mp);
}

/* miocpullup(9F): EINVAL when there is less, or it is transparent. */
D_CASE(616, miocpullup_of_too_much_is_einval)
{
	mblk_t *mp;

	fx_begin(t);
	mp = ioctl_msg("abcd");
	T_EQ(miocpullup(mp, 5), EINVAL);
	IOCP(mp)->ioc_count = 8; /* it says more than it has */
	T_EQ(miocpullup(mp, 5), EINVAL);
	IOCP(mp)->ioc_count = TRANSPARENT;
	T_EQ(miocpullup(mp, 4), EINVAL);
	freemsg(mp);
	mp = mkiocb(1);
	T_EQ(miocpullup(mp, 1), EINVAL);
	T_EQ(miocpullup(mp, 0), 0);
	freemsg(mp);
}

/* miocpullup(9F): ENOMEM; the message is as it was. */
D_CASE(617, miocpullup_without_memory_is_enomem)
{
	mblk_t *mp;

	fx_begin(t);
	mp = ioctl_msg("abcd");
	linkb(mp, fx_msg("efgh", 0));
	IOCP(mp)->ioc_count = 8;
	fx_use_up();
	T_EQ(miocpullup(mp, 8), ENOMEM);
	T_EQ(fx_blocks(mp), 3);
	freemsg(mp);
}

/* mcopymsg(9F): the bytes of all blocks, and the message is freed. */
D_CASE(618, mcopymsg_copies_and_frees)
{
	char buf[16] = "";
	uint64_t n;
	mblk_t *mp;

	fx_begin(t);
	n = fx_messages();
	mp = fx_msg("abc", 0);
	linkb(mp, fx_msg("", 0));
	linkb(mp, fx_msg("de", 0));
	mcopymsg(mp, buf);
	T_STR(buf, "abcde");
	T_EQ(fx_messages(), n);
}

/* MBLKL(9F) and its kin: lengths of the parts of a block. */
D_CASE(619, the_parts_of_a_block)
{
	mblk_t *mp;

	fx_begin(t);
	mp = allocb(100, BPRI_MED);
	mp->b_rptr += 10;
	mp->b_wptr += 30;
	T_EQ(MBLKL(mp), 20);
	T_EQ(MBLKHEAD(mp), 10);
	T_EQ(MBLKTAIL(mp), MBLKSIZE(mp) - 30);
	T_TRUE(MBLKIN(mp, 0, 20));
	T_TRUE(MBLKIN(mp, 5, 15));
	T_FALSE(MBLKIN(mp, 5, 16));
	T_EQ(DB_TYPE(mp), M_DATA);
	T_EQ(DB_REF(mp), 1);
	freemsg(mp);
}

/* allocb_wait(9F): the block, without waiting, when there is memory. */
D_CASE(620, allocb_wait_gives_a_block)
{
	int err = 77;
	mblk_t *mp;

	fx_begin(t);
	mp = allocb_wait(100, BPRI_MED, STR_NOSIG, &err);
	T_NOTNULL(mp);
	T_EQ(err, 77);
	freemsg(mp);
}

/* allocb_wait(9): a size that will never be there is ENOSR. */
D_CASE(621, allocb_wait_of_an_absurd_size_is_enosr)
{
	int err = 0;

	fx_begin(t);
	T_NULL(allocb_wait((size_t)1 << 30, BPRI_MED, STR_NOSIG, &err));
	T_EQ(err, ENOSR);
	err = 0;
	T_NULL(allocb_wait(SIZE_MAX - 8, BPRI_MED, STR_NOSIG, &err));
	T_EQ(err, ENOSR);
}

struct shared {
	str_a32 step, result;
};

static void
wait_for_memory(void *arg)
{
	struct shared *s = arg;
	int err = 0;
	mblk_t *mp;

	freeb(allocb(1, BPRI_MED)); /* small blocks of its own */
	str_store(&s->step, 1u);
	D_UNTIL(str_load(&s->step) == 2);
	mp = allocb_wait(400000, BPRI_MED, 0, &err);
	if (mp != NULL)
		freemsg(mp);
	str_store(&s->result, mp != NULL ? 1u : err == EINTR ? 2u : 3u);
}

/* allocb_wait(9F): it waits for memory. */
D_CASE(622, allocb_wait_waits_for_memory)
{
	struct shared *s;

	fx_begin(t);
	s = d_shared(sizeof(*s));
	(void)sim_spawn("waiter", wait_for_memory, s);
	D_UNTIL(str_load(&s->step) == 1);
	fx_use_up();
	str_store(&s->step, 2u);
	sim_sleep(20000000u);
	T_EQ(str_load(&s->result), 0);
	fx_give_back();
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 1);
	d_gone(s);
}

static void
wait_inside(void *arg)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	host_tls.call = &hc;
	wait_for_memory(arg);
	host_tls.call = NULL;
	host_leave();
}

/* allocb_wait(9F): EINTR when a signal came first. */
D_CASE(623, allocb_wait_ends_with_a_signal)
{
	struct sim_task *w;
	struct shared *s;

	fx_begin(t);
	s = d_shared(sizeof(*s));
	w = sim_spawn("waiter", wait_inside, s);
	D_UNTIL(str_load(&s->step) == 1);
	fx_use_up();
	str_store(&s->step, 2u);
	sim_sleep(20000000u);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	T_EQ(str_load(&s->result), 2);
	d_gone(s);
}
