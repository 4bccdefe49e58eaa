/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ioctls that travel down, and answers that come late, never, or twice.
 */
#include "fixture.h"
#include <str/builtin.h>

#define I_STR 0x5308u
#define EPROTO 71
#define ETIME 62

struct strioctl {
	int cmd, timout, len;
	void *dp;
};

static struct fx_pipe p_;
static char buf[4096];

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&p_);
}

/* @mp arrives at the head of @end. */
static void
up(int end, mblk_t *mp)
{
	fx_up(&p_, end, mp);
}

static mblk_t *kept;
static size_t wanted; /* mute_put() requests so many bytes by M_COPYIN */
static bool strays;   /* mute_put() sends each M_IOCTL on as an M_IOCDATA */

/* A module that swallows ioctls: its own put procedure. */
static int
mute_put(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type == M_IOCTL && wanted != 0) {
		struct copyreq *cq = (struct copyreq *)(void *)mp->b_rptr;

		mp->b_datap->db_type = M_COPYIN;
		mp->b_wptr = mp->b_rptr + sizeof(*cq);
		cq->cq_addr = buf;
		cq->cq_size = wanted;
		cq->cq_private = NULL;
		qreply(q, mp);
		return 0;
	}
	if (mp->b_datap->db_type == M_IOCTL && strays) {
		memset(mp->b_rptr + sizeof(struct iocblk), 0,
			sizeof(union ioctypes) - sizeof(struct iocblk));
		mp->b_datap->db_type = M_IOCDATA;
		((struct copyresp *)(void *)mp->b_rptr)->cp_rval = NULL;
		mp->b_wptr = mp->b_rptr + sizeof(struct copyresp);
		putnext(q, mp);
		return 0;
	}
	if (mp->b_datap->db_type == M_IOCTL) {
		kept = mp;
		return 0;
	}
	if (mp->b_datap->db_type == M_IOCDATA) {
		struct copyresp *cp =
			(struct copyresp *)(void *)mp->b_rptr;

		T_NOTNULL(cp->cp_rval);
		if (cp->cp_private != NULL)
			freemsg(cp->cp_private);
		freemsg(mp);
		return 0;
	}
	putnext(q, mp);
	return 0;
}

static int
mute_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	return 0;
}

static int
mute_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	qprocsoff(q);
	return 0;
}

static struct module_info mute_info = {.mi_idname = (char *)"mute",
	.mi_maxpsz = INFPSZ, .mi_hiwat = 100, .mi_lowat = 10};
static struct qinit mute_r = {.qi_putp = mute_put, .qi_qopen = mute_open,
	.qi_qclose = mute_close, .qi_minfo = &mute_info};
static struct qinit mute_w = {.qi_putp = mute_put, .qi_minfo = &mute_info};
static struct streamtab mute_tab = {.st_rdinit = &mute_r,
	.st_wrinit = &mute_w};

static void
begin_mute(struct t *t)
{
	begin(t);
	kept = NULL;
	wanted = 0;
	fx_module("mute", &mute_tab, D_MP);
	(void)fx_push(&p_, 0, "mute");
}

/* I_STR: "ETIME ... timed out before an acknowledgement was received" */
T_CASE(an_i_str_without_answer_times_out)
{
	struct strioctl s = {1, 3, 0, NULL};
	uint64_t start;

	begin_mute(t);
	start = host_now();
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	T_GE(host_now() - start, 3000000000ull);
	T_LT(host_now() - start, 3200000000ull);
	freemsg(kept);
}

/* I_STR: "0 ... the default", 15 seconds */
T_CASE(an_i_str_waits_fifteen_seconds_by_default)
{
	struct strioctl s = {1, 0, 0, NULL};
	uint64_t start;

	begin_mute(t);
	start = host_now();
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	T_GE(host_now() - start, 15000000000ull);
	T_LT(host_now() - start, 15200000000ull);
	freemsg(kept);
}

/* copyreq(9): what is more than a message can be is ENOSR, a bad address EFAULT
 * (mute_put() sees that the module is told) */
T_CASE(a_copy_that_fails_says_why)
{
	begin_mute(t);
	wanted = (size_t)1 << 40;
	T_EQ(fx_ioctl(&p_, 0, 0x1234, 0), -63);
	wanted = sizeof(buf);
	sim_bad(buf, sizeof(buf));
	T_EQ(fx_ioctl(&p_, 0, 0x1234, 0), -14);
	sim_bad(NULL, 0);
}

/* A late answer is discarded; the next ioctl gets its own */
T_CASE(a_late_answer_is_discarded)
{
	struct strioctl s = {1, 1, 0, NULL};
	mblk_t *late;

	begin_mute(t);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	late = kept;
	late->b_datap->db_type = M_IOCACK;
	((struct iocblk *)(void *)late->b_rptr)->ioc_rval = 99;
	up(0, late);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	freemsg(kept);
}

static str_a32 go_on_;
static uint32_t answerer_;

/* Has taken the turn's answer in hand, and hands it over when it is let. */
static void
answers_late(void *arg)
{
	struct str_head *sd = arg;
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	answerer_ = host_self_tag();
	str_store(&sd->ioc.state, answerer_);
	while (str_load(&go_on_) == 0)
		sim_pause(&go_on_, 0);
	str_store_rel(&sd->ioc.state, 2u);
	(void)str_add(&sd->iocword, 1u);
	host_wake(&sd->iocword, INT_MAX);
	host_leave();
}

/* A thread stopped as it answered: no caller waits for it beyond its time */
T_CASE(an_answer_that_does_not_come_in_is_not_waited_for)
{
	struct strioctl s = {1, 3, 0, NULL};
	struct str_head *sd;
	uint64_t start;

	begin_mute(t);
	sd = p_.sd[0];
	str_store(&go_on_, 0u);
	(void)sim_spawn("answerer", answers_late, sd);
	sim_sleep(1000000);
	T_EQ(str_load(&sd->ioc.state), answerer_);
	start = host_now();
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	T_GE(host_now() - start, 3000000000ull);
	T_LT(host_now() - start, 3200000000ull);
	T_NULL(kept);
	T_EQ(str_load(&sd->iocbusy), 0u);
	T_EQ(str_load(&sd->ioc.state), answerer_);
	/* it comes: the next one has the turn, and an answer of its own */
	str_store(&go_on_, 1u);
	host_wake(&go_on_, INT_MAX);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	T_NOTNULL(kept);
	freemsg(kept);
	T_EQ(sim_run(), 0);
}

/* An M_IOCACK that is too short is ignored, whatever lies behind its end. */
T_CASE(a_short_answer_is_discarded)
{
	struct str_head *sd;
	mblk_t *mp;

	begin(t);
	sd = p_.sd[0];
	mp = allocb(sizeof(struct iocblk), BPRI_HI);
	memset(mp->b_rptr, 0, sizeof(struct iocblk));
	mp->b_datap->db_type = M_IOCACK;
	mp->b_wptr += 4;
	((struct iocblk *)(void *)mp->b_rptr)->ioc_id = sd->ioc.id;
	str_store(&sd->ioc.state, 1u);
	up(0, mp);
	T_EQ(str_load(&sd->ioc.state), 1u);
	str_store(&sd->ioc.state, 0u);
	up(0, fx_ctl(M_IOCTL, 2, 0, 0));
}

/* The head makes the answer in the buffer of the request.  If the buffer has no
 * room for it, the head discards the request. */
T_CASE(a_copy_request_at_the_end_of_its_memory_is_discarded)
{
	mblk_t *mp, *dup;

	begin(t);
	mp = allocb(STR_FASTBUF, BPRI_HI);
	mp->b_datap->db_type = M_COPYIN;
	mp->b_wptr = mp->b_datap->db_lim;
	mp->b_rptr = mp->b_wptr - sizeof(struct iocblk);
	memset(mp->b_rptr, 0xff, sizeof(struct iocblk)); /* an id of no ioctl */
	dup = dupmsg(mp);
	T_NOTNULL(dup);
	up(0, mp);
	T_EQ(dup->b_datap->db_type, M_COPYIN);
	freemsg(dup);
}

/* A late request for a copy is refused, so that its module can clean up */
T_CASE(a_late_copy_request_is_refused)
{
	struct strioctl s = {1, 1, 0, NULL};
	struct copyreq *cq;
	mblk_t *late;

	begin_mute(t);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	late = kept;
	late->b_datap->db_type = M_COPYIN;
	cq = (struct copyreq *)(void *)late->b_rptr;
	late->b_wptr = late->b_rptr + sizeof(*cq);
	cq->cq_addr = buf;
	cq->cq_size = 10;
	cq->cq_private = fx_msg("private", 0);
	up(0, late); /* mute_put() frees the private part, or the audit fails */
}

/* A request for a copy, of which @priv is to come back or be freed. */
static mblk_t *
asks(mblk_t *mp, mblk_t *priv)
{
	struct copyreq *cq = (struct copyreq *)(void *)mp->b_rptr;

	mp->b_datap->db_type = M_COPYIN;
	mp->b_wptr = mp->b_rptr + sizeof(*cq);
	cq->cq_addr = buf;
	cq->cq_size = 10;
	cq->cq_private = priv;
	return mp;
}

static void
asks_too_late(void *arg)
{
	struct strioctl s = {1, 5, 0, NULL};

	(void)arg;
	kept = NULL;
	(void)fx_ioctl(&p_, 0, I_STR, (unsigned long)&s);
}

/* ... and so is a copy request that arrives after the caller was killed. */
T_CASE(a_copy_request_to_who_was_killed_is_refused)
{
	struct sim_task *caller;

	begin_mute(t);
	caller = sim_spawn("caller", asks_too_late, NULL);
	while (kept == NULL)
		sim_sleep(1000000);
	sim_kill(caller);
	up(0, asks(kept, fx_msg("private", 0)));
	T_EQ(sim_run(), 0);
	sim_sleep(1000000000);
	T_EQ(fx_messages(), 0);
}

/* An M_IOCDATA whose module has been popped reaches the other head, which
 * answers with an M_IOCNAK. */
T_CASE(data_that_nobody_asked_for_is_a_negative_acknowledgement)
{
	struct strioctl s = {1, 5, 0, NULL};

	begin_mute(t);
	strays = true;
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -EINVAL);
	strays = false;
}

static long second;

static void
second_ioctl(void *arg)
{
	struct strioctl s = {2, 1, 0, NULL};

	(void)arg;
	second = fx_ioctl(&p_, 0, I_STR, (unsigned long)&s);
}

/* I_STR: one at a time: the second waits for its turn, within its own time */
T_CASE(a_second_i_str_waits_for_the_first)
{
	struct strioctl s = {1, 5, 0, NULL};

	begin_mute(t);
	second = 1;
	(void)sim_spawn("second", second_ioctl, NULL);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	T_EQ(second, -ETIME);
	/* only the first one ever went down */
	T_EQ(((struct iocblk *)(void *)kept->b_rptr)->ioc_cmd, 1);
	freemsg(kept);
}

/* M_ERROR ends an ioctl that waits */
static void
breaks_it(void *arg)
{
	(void)arg;
	sim_sleep(100000000ull);
	up(0, fx_ctl(M_ERROR, 1, EPROTO, 0));
}

T_CASE(an_error_ends_an_i_str_that_waits)
{
	struct strioctl s = {1, -1, 0, NULL};

	begin_mute(t);
	(void)sim_spawn("breaks", breaks_it, NULL);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -EPROTO);
	freemsg(kept);
}

static long popped, pushed;

static void
pops_it(void *arg)
{
	(void)arg;
	sim_sleep(100000000ull);
	popped = fx_pop(&p_, 0);
	pushed = fx_push_err(&p_, 0, "mute");
}

/* Plumbing does not wait for an ioctl, nor the ioctl for ever for a module
 * that has gone */
T_CASE(a_module_can_be_popped_while_an_i_str_waits)
{
	struct strioctl s = {1, 2, 0, NULL};

	begin_mute(t);
	popped = pushed = -1;
	(void)sim_spawn("pops", pops_it, NULL);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	T_EQ(popped, 0);
	T_EQ(pushed, 0);
	freemsg(kept);
	/* what was pushed meanwhile is asked the next time */
	kept = NULL;
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -ETIME);
	T_NOTNULL(kept);
	freemsg(kept);
}

static void
writes_and_closes(void *arg)
{
	(void)arg;
	fx_close(&p_, 0);
	sim_sleep(100000000ull);
	fx_close(&p_, 1);
}

/* The other end's close ends an ioctl that waits: ENXIO */
T_CASE(a_hang_up_ends_an_i_str_that_waits)
{
	struct strioctl s = {1, -1, 0, NULL};

	begin_mute(t);
	(void)sim_spawn("closes", writes_and_closes, NULL);
	fx_close(&p_, 1);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -6);
	freemsg(kept);
}
