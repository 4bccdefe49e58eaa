/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What a Stream head makes of messages that a driver sends up: what takes a
 * module that misbehaves.
 */
#include "fixture.h"
#include <str/builtin.h>
#include "head/sig.h"
#include <sys/ddi.h>

#define I_SETSIG 0x5309u
#define I_FLUSH 0x5305u
#define I_GETBAND 0x531eu
#define I_SERROPT 0x5323u
#define SIGPOLL 29
#define EPROTO 71

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

static unsigned
signals(int sig)
{
	return sim_signals_of(sim_current(), sig);
}

/* M_ERROR(9): the read side is flushed, not what this end has written */
T_CASE(a_read_error_leaves_what_was_written_here)
{
	begin(t);
	T_EQ(fx_write(&p_, 0, "out", 3), 3);
	T_EQ(fx_write(&p_, 1, "in", 2), 2);
	up(0, fx_ctl(M_ERROR, 2, EPROTO, NOERROR));
	T_EQ(fx_read(&p_, 0, buf, 10), -EPROTO);
	T_EQ(fx_read(&p_, 1, buf, 10), 3);
	/* the error taken back, nothing is there: it was flushed */
	up(0, fx_ctl(M_ERROR, 2, 0, NOERROR));
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	T_EQ(fx_read(&p_, 0, buf, 10), -11);
}

/* M_ERROR(9): 0 clears, NOERROR leaves as it is */
T_CASE(errors_are_set_and_cleared_side_by_side)
{
	begin(t);
	up(0, fx_ctl(M_ERROR, 2, EPROTO, 5));
	T_EQ(fx_read(&p_, 0, buf, 1), -EPROTO);
	T_EQ(fx_write(&p_, 0, "x", 1), -5);
	up(0, fx_ctl(M_ERROR, 2, NOERROR, 0));
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, 1), -EPROTO);
	up(0, fx_ctl(M_ERROR, 1, 0, 0));
	T_EQ(fx_write(&p_, 1, "y", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, 1), 1);
}

/* I_SERROPT: "non-persistent": told once */
T_CASE(an_error_that_does_not_persist_is_told_once)
{
	begin(t);
	T_EQ(fx_ioctl(&p_, 0, I_SERROPT, 3), 0);
	up(0, fx_ctl(M_ERROR, 2, EPROTO, 5));
	T_EQ(fx_write(&p_, 1, "y", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, 1), -EPROTO);
	T_EQ(fx_read(&p_, 0, buf, 1), 1);
	T_EQ(fx_write(&p_, 0, "x", 1), -5);
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
}

/* An M_ERROR without a byte says nothing */
T_CASE(an_empty_error_is_ignored)
{
	begin(t);
	up(0, fx_ctl(M_ERROR, 0, 0, 0));
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
}

/* Nor does an M_FLUSH without one, whatever its memory holds */
T_CASE(an_empty_flush_is_ignored)
{
	mblk_t *mp;

	begin(t);
	T_EQ(fx_write(&p_, 1, "in", 2), 2);
	mp = fx_ctl(M_FLUSH, 0, 0, 0);
	*mp->b_rptr = FLUSHRW;
	up(0, mp);
	T_EQ(fx_read(&p_, 0, buf, 10), 2);
}

/*
 * dupmsg(9): a multiplexor sends one message to all its upper Streams.  A head
 * that changes its copy does not change the copies of the other heads.
 */
T_CASE(what_is_shared_does_not_change)
{
	mblk_t *mp, *dup;

	begin(t);
	mp = fx_ctl(M_FLUSH, 1, FLUSHRW, 0);
	dup = dupmsg(mp);
	T_NOTNULL(dup);
	up(0, dup);
	T_EQ(*mp->b_rptr, FLUSHRW);
	freemsg(mp);
	mp = fx_ctl(M_ERROR, 1, EPROTO, 0);
	dup = dupmsg(mp);
	T_NOTNULL(dup);
	up(0, dup);
	T_EQ(mp->b_datap->db_type, M_ERROR);
	T_EQ(*mp->b_rptr, EPROTO);
	freemsg(mp);
	T_EQ(fx_write(&p_, 0, "x", 1), -EPROTO);
}

/* A reader that takes the control part of one copy leaves it in the other. */
T_CASE(what_is_shared_is_not_data_because_it_was_read_elsewhere)
{
	struct str_strbuf c = {10, 0, buf}, d = {2, 0, buf + 10};
	mblk_t *mp, *dup;
	int flags = 0;

	begin(t);
	mp = fx_type(M_PROTO, "control", 0);
	linkb(mp, fx_msg("data", 0));
	dup = dupmsg(mp);
	T_NOTNULL(dup);
	up(0, mp);
	up(1, dup);
	T_EQ(fx_getmsg(&p_, 0, &c, &d, NULL, &flags), 2); /* MOREDATA */
	T_EQ(c.len, 7);
	T_EQ(d.len, 2);
	T_EQ(fx_getmsg(&p_, 1, &c, &d, NULL, &flags), 2);
	T_EQ(c.len, 7);
	T_EQ(d.len, 2);
	/* the rest is data */
	T_EQ(fx_getmsg(&p_, 0, &c, &d, NULL, &flags), 0);
	T_EQ(c.len, -1);
	T_EQ(d.len, 2);
	T_MEM(buf + 10, "ta", 2);
	T_EQ(fx_read(&p_, 1, buf, 10), 2);
	T_MEM(buf, "ta", 2);
}

/* A block that ends before it begins holds nothing, as msgdsize() says */
T_CASE(a_block_whose_ends_have_crossed_is_empty)
{
	struct str_strbuf c = {sizeof(buf), 0, buf}, d = c;
	mblk_t *mp;
	int flags = 0;

	begin(t);
	mp = fx_type(M_PCPROTO, "control", 0);
	mp->b_rptr = mp->b_wptr + 2;
	linkb(mp, fx_msg("data", 0));
	up(0, mp);
	T_EQ(fx_getmsg(&p_, 0, &c, &d, NULL, &flags), 0);
	T_EQ(c.len, 0);
	T_EQ(d.len, 4);
	T_EQ(flags, 1);
	mp = fx_type(M_PROTO, "control", 0);
	mp->b_rptr = mp->b_wptr + 2;
	linkb(mp, fx_msg("data", 0));
	up(0, mp);
	flags = 0;
	T_EQ(fx_getmsg(&p_, 0, &c, &d, NULL, &flags), 0);
	T_EQ(c.len, 0);
	T_EQ(d.len, 4);
}

/* Blocks joined to more than a record's header can say */
T_CASE(a_message_of_more_than_a_megabyte_is_delivered)
{
	static char big[1500001];
	long n, all = 0;
	mblk_t *mp;
	int i;

	begin(t);
	mp = allocb(300000, BPRI_MED);
	T_NOTNULL(mp);
	memset(mp->b_wptr, 'm', 300000);
	mp->b_wptr += 300000;
	for (i = 1; i < 5; i++)
		linkb(mp, dupb(mp));
	T_EQ(msgdsize(mp), (size_t)1500000);
	up(0, mp);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	while ((n = fx_read(&p_, 0, big + all, sizeof(big) - (size_t)all)) > 0)
		all += n;
	T_EQ(all, 1500000);
	T_EQ(big[1499999], 'm');
}

struct strpmsg {
	struct str_strbuf ctl, data;
	int band, flags;
};

/* putpmsg(2): EINVAL for a band of -1, by ioctl(2) as well */
T_CASE(i_putpmsg_has_no_band_below_0)
{
	struct strpmsg pm = {{0, 1, buf}, {0, -1, NULL}, -1, 1};

	begin(t);
	T_EQ(fx_ioctl(&p_, 0, 0x532bu, (unsigned long)&pm), -22);
	pm.flags = 0;
	T_EQ(fx_ioctl(&p_, 0, 0x532bu, (unsigned long)&pm), -22);
	pm.band = 0;
	pm.flags = 1; /* MSG_HIPRI */
	T_EQ(fx_ioctl(&p_, 0, 0x532bu, (unsigned long)&pm), 0);
}

/* M_UNHANGUP(9) reverses M_HANGUP */
T_CASE(a_hang_up_can_be_reversed)
{
	begin(t);
	up(0, fx_ctl(M_HANGUP, 0, 0, 0));
	T_EQ(fx_read(&p_, 0, buf, 1), 0);
	T_TRUE(fx_write(&p_, 0, "x", 1) < 0);
	up(0, fx_ctl(M_UNHANGUP, 0, 0, 0));
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	T_EQ(fx_read(&p_, 0, buf, 1), -11);
}

/* A message of a new band arrives although there is no memory for the band */
T_CASE(a_message_of_a_new_band_is_not_lost_without_memory)
{
	struct str_strbuf d = {sizeof(buf), 0, buf};
	mblk_t *mp;
	int band = 0, flags = 2, got; /* MSG_ANY */

	begin(t);
	mp = fx_msg("band", 7);
	fx_use_up();
	up(0, mp);
	fx_give_back();
	T_EQ(fx_ioctl(&p_, 0, I_GETBAND, (unsigned long)&got), 0);
	T_EQ(got, 7);
	T_EQ(fx_getmsg(&p_, 0, NULL, &d, &band, &flags), 0);
	T_EQ(d.len, 4);
	T_EQ(band, 7);
	/* the counts are right: the band is writable, and empties */
	T_EQ(fx_putmsg(&p_, 1, NULL, 0, "again", 5, 7, 4), 0);
	band = 0, flags = 2;
	T_EQ(fx_getmsg(&p_, 0, NULL, &d, &band, &flags), 0);
	T_EQ(d.len, 5);
	T_EQ(p_.sd[0]->qp->rq.q_count, (size_t)0);
}

/* M_PCPROTO(9): one waits at most, a second one is discarded */
T_CASE(one_high_priority_message_waits)
{
	struct str_strbuf c = {sizeof(buf), 0, buf};
	int flags = 0;

	begin(t);
	up(0, fx_type(M_PCPROTO, "first", 0));
	up(0, fx_type(M_PCPROTO, "second", 0));
	T_EQ(fx_getmsg(&p_, 0, &c, NULL, NULL, &flags), 0);
	T_EQ(c.len, 5);
	T_EQ(memcmp(buf, "first", 5), 0);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	flags = 0;
	T_EQ(fx_getmsg(&p_, 0, &c, NULL, NULL, &flags), -11);
}

/* M_SIG(9): counts when all before it is gone, by reading or by flushing */
T_CASE(a_signal_message_counts_when_it_comes_first)
{
	begin(t);
	T_EQ(fx_ioctl(&p_, 0, I_SETSIG, STR_S_MSG), 0);
	up(0, fx_ctl(M_SIG, 1, SIGPOLL, 0));
	T_EQ(signals(SIGPOLL), 1u);
	up(0, fx_msg("data", 0));
	up(0, fx_ctl(M_SIG, 1, SIGPOLL, 0));
	up(0, fx_ctl(M_SIG, 1, SIGPOLL, 0));
	T_EQ(signals(SIGPOLL), 1u);
	T_EQ(fx_read(&p_, 0, buf, 4), 4);
	T_EQ(signals(SIGPOLL), 3u);
	up(0, fx_msg("data", 0));
	up(0, fx_ctl(M_SIG, 1, SIGPOLL, 0));
	T_EQ(fx_ioctl(&p_, 0, I_FLUSH, FLUSHR), 0);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	T_EQ(fx_read(&p_, 0, buf, 4), -11);
	T_EQ(fx_write(&p_, 1, "on", 2), 2);
	T_EQ(fx_read(&p_, 0, buf, 4), 2);
}

/* M_PCSIG(9): at once; an empty one is nothing */
T_CASE(a_priority_signal_message_counts_at_once)
{
	begin(t);
	T_EQ(fx_ioctl(&p_, 0, I_SETSIG, STR_S_MSG), 0);
	up(0, fx_msg("data", 0));
	up(0, fx_ctl(M_PCSIG, 0, 0, 0));
	up(0, fx_ctl(M_SIG, 0, 0, 0));
	T_EQ(signals(SIGPOLL), 0u);
	up(0, fx_ctl(M_PCSIG, 1, SIGPOLL, 0));
	T_EQ(signals(SIGPOLL), 1u);
}

static mblk_t *
options(unsigned long flags)
{
	mblk_t *mp = allocb(sizeof(struct stroptions), BPRI_HI);
	struct stroptions *so;

	T_NOTNULL(mp);
	mp->b_datap->db_type = M_SETOPTS;
	so = (struct stroptions *)(void *)mp->b_wptr;
	memset(so, 0, sizeof(*so));
	mp->b_wptr += sizeof(*so);
	so->so_flags = flags;
	return mp;
}
#define SO(mp) ((struct stroptions *)(void *)(mp)->b_rptr)

/* M_SETOPTS(9): every flag sets what it names, and nothing else */
T_CASE(m_setopts_sets_what_its_flags_name)
{
	struct str_head *sd;
	mblk_t *mp;
	int opt = 0;

	begin(t);
	sd = p_.sd[0];
	mp = options(SO_READOPT);
	SO(mp)->so_readopt = 1 | 8; /* RMSGD, RPROTDIS */
	SO(mp)->so_wroff = 99;
	up(0, mp);
	T_EQ(fx_ioctl(&p_, 0, 0x5307u, (unsigned long)&opt), 0);
	T_EQ(opt, 9);
	T_EQ(sd->wroff, 0u);
	mp = options(SO_WROFF | SO_MINPSZ | SO_MAXPSZ | SO_HIWAT | SO_LOWAT);
	SO(mp)->so_wroff = 40;
	SO(mp)->so_minpsz = 2;
	SO(mp)->so_maxpsz = 3000;
	SO(mp)->so_hiwat = 7000;
	SO(mp)->so_lowat = 700;
	up(0, mp);
	T_EQ(sd->wroff, 40u);
	T_EQ(sd->qp->rq.q_minpsz, 2);
	T_EQ(sd->qp->rq.q_maxpsz, 3000);
	T_EQ(sd->hq.hiwat, 7000u);
	T_EQ(sd->hq.lowat, 700u);
	up(0, options(SO_MREADON | SO_NDELON | SO_ISTTY | SO_TOSTOP | SO_DELIM));
	T_EQ(str_load(&sd->flags) & (STR_H_MREAD | STR_H_NDEL | STR_H_TTY |
		STR_H_TOSTOP | STR_H_DELIM), STR_H_MREAD | STR_H_NDEL |
		STR_H_TTY | STR_H_TOSTOP | STR_H_DELIM);
	up(0, options(SO_MREADOFF | SO_NDELOFF | SO_ISNTTY | SO_TONSTOP |
		SO_NODELIM));
	T_EQ(str_load(&sd->flags) & (STR_H_MREAD | STR_H_NDEL | STR_H_TTY |
		STR_H_TOSTOP | STR_H_DELIM), 0u);
	mp = options(SO_ERROPT | SO_STRHOLD);
	SO(mp)->so_erropt = 1;
	up(0, mp);
	T_EQ(sd->errpersist, 1u);
	T_EQ(str_load(&sd->flags) & STR_H_HOLD, STR_H_HOLD);
	mp = options(SO_BAND | SO_HIWAT);
	SO(mp)->so_band = 3;
	SO(mp)->so_hiwat = 50;
	up(0, mp);
	T_EQ(sd->hq.hiwat, 7000u);
	T_EQ(fx_putmsg(&p_, 1, NULL, 0, buf, 60, 3, 4), 0);
	T_EQ(fx_ioctl(&p_, 1, 0x5322u, 3), 0); /* I_CANPUT */
	T_EQ(fx_ioctl(&p_, 1, 0x5322u, 4), 1);
}

/* M_SETOPTS(9) that is too short, or wrong, changes nothing */
T_CASE(m_setopts_that_is_wrong_is_ignored)
{
	struct str_head *sd;
	mblk_t *mp;

	begin(t);
	sd = p_.sd[0];
	mp = options(SO_ALL);
	mp->b_wptr -= 8;
	up(0, mp);
	T_EQ(sd->hq.hiwat, STR_PIPE_HIWAT);
	mp = options(SO_HIWAT | SO_LOWAT | SO_READOPT);
	SO(mp)->so_hiwat = 10;
	SO(mp)->so_lowat = 11;
	SO(mp)->so_readopt = 3; /* RMSGD | RMSGN */
	up(0, mp);
	T_EQ(sd->hq.hiwat, STR_PIPE_HIWAT);
	T_EQ(sd->rdopt, 0u);
	mp = options(SO_HIWAT | SO_LOWAT);
	SO(mp)->so_hiwat = (size_t)1 << 32; /* not 0 */
	SO(mp)->so_lowat = 0;
	up(0, mp);
	T_EQ(sd->hq.hiwat, UINT32_MAX);
}

/* An M_MI with the byte 4 ends the read that waits; other M_MI are ignored. */
T_CASE(m_mi_can_end_a_read)
{
	begin(t);
	up(0, fx_type(M_MI, "\004", 0));
	T_EQ(fx_read(&p_, 0, buf, 10), 0);
	up(0, fx_type(M_MI, "\001", 0));
	up(0, fx_type(M_MI, "", 0));
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	T_EQ(fx_read(&p_, 0, buf, 10), -11);
}

/* SO_NDELON: O_NDELAY as old terminals had it */
T_CASE(ndelay_of_old_is_no_error)
{
	begin(t);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	up(0, options(SO_NDELON));
	T_EQ(fx_read(&p_, 0, buf, 10), 0);
	up(0, options(SO_NDELOFF));
	T_EQ(fx_read(&p_, 0, buf, 10), -11);
}

/* SO_WROFF, SO_WRPAD: room before and behind what is written */
T_CASE(m_setopts_makes_room_around_what_is_written)
{
	mblk_t *mp;
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 0, "store");
	mp = options(SO_WROFF | SO_WRPAD);
	SO(mp)->so_wroff = 50;
	SO(mp)->so_wrpad = 70;
	up(0, mp);
	T_EQ(fx_write(&p_, 0, "abc", 3), 3);
	mp = getq(WR(q));
	T_NOTNULL(mp);
	T_GE(mp->b_rptr - mp->b_datap->db_base, 50);
	T_GE(mp->b_datap->db_lim - mp->b_wptr, 70);
	FX_MSG(mp, "abc");
}

/* What is for those below is discarded */
T_CASE(types_that_mean_nothing_to_a_head_are_discarded)
{
	static const unsigned char types[] = {M_BREAK, M_DELAY, M_CTL, M_RSE,
		M_STOP, M_START, M_STOPI, M_STARTI, M_PCCTL, M_PCRSE, M_READ,
		M_IOCDATA};
	unsigned i;

	begin(t);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	for (i = 0; i < sizeof(types); i++) {
		mblk_t *mp = allocb(sizeof(union ioctypes), BPRI_HI);

		T_NOTNULL(mp);
		memset(mp->b_rptr, 0, sizeof(union ioctypes));
		mp->b_wptr += sizeof(union ioctypes);
		mp->b_datap->db_type = types[i];
		up(0, mp);
		T_EQ(fx_read(&p_, 0, buf, 1), -11);
	}
}

/* Every registration is counted out with its stream */
T_CASE(registrations_go_with_their_stream)
{
	begin(t);
	T_EQ(fx_ioctl(&p_, 0, I_SETSIG, STR_S_ALL), 0);
	T_EQ(fx_ioctl(&p_, 1, I_SETSIG, STR_S_INPUT), 0);
	T_EQ(fx_in_use(STR_BLK_SIG), 2u);
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	T_EQ(fx_in_use(STR_BLK_SIG), 0u);
}

/* A registration that finds no memory: EAGAIN, and nothing is changed */
T_CASE(a_registration_without_memory_is_eagain)
{
	begin(t);
	fx_use_up();
	T_EQ(fx_ioctl(&p_, 0, I_SETSIG, STR_S_ALL), -11);
	fx_give_back();
	T_EQ(fx_write(&p_, 1, "x", 1), 1);
	T_EQ(signals(SIGPOLL), 0u);
}

static int
pass_put(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static int
pass_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	return 0;
}

static int
pass_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	qprocsoff(q);
	return 0;
}

static struct module_info tight_info = {.mi_idname = (char *)"tight",
	.mi_minpsz = 3, .mi_maxpsz = 10, .mi_hiwat = 100, .mi_lowat = 10};
static struct module_info short_info = {.mi_idname = (char *)"short",
	.mi_minpsz = 0, .mi_maxpsz = 10, .mi_hiwat = 100, .mi_lowat = 10};
static struct qinit size_r = {.qi_putp = pass_put, .qi_qopen = pass_open,
	.qi_qclose = pass_close, .qi_minfo = &tight_info};
static struct qinit tight_w = {.qi_putp = pass_put, .qi_minfo = &tight_info};
static struct qinit short_w = {.qi_putp = pass_put, .qi_minfo = &short_info};
static struct streamtab tight_tab = {.st_rdinit = &size_r,
	.st_wrinit = &tight_w};
static struct streamtab short_tab = {.st_rdinit = &size_r,
	.st_wrinit = &short_w};

/* SVR4 write(2): "ERANGE ... the maximum and minimum packet sizes" */
T_CASE(a_topmost_module_sets_the_sizes_of_writes)
{
	begin(t);
	fx_module("tight", &tight_tab, D_MP);
	(void)fx_push(&p_, 0, "tight");
	T_EQ(fx_write(&p_, 0, buf, 2), -34);
	T_EQ(fx_write(&p_, 0, buf, 11), -34);
	T_EQ(fx_write(&p_, 0, buf, 3), 3);
	T_EQ(fx_write(&p_, 0, buf, 10), 10);
	T_EQ(fx_putmsg(&p_, 0, NULL, 0, buf, 2, -1, 0), -34);
	T_EQ(fx_putmsg(&p_, 0, "c", 1, buf, 11, -1, 0), -34);
	T_EQ(fx_putmsg(&p_, 0, "c", 1, NULL, 0, -1, 0), 0);
}

/* ... "if the minimum is zero, the data is split" */
T_CASE(without_a_least_size_a_long_write_is_split)
{
	int bytes = 0;

	begin(t);
	fx_module("short", &short_tab, D_MP);
	(void)fx_push(&p_, 0, "short");
	T_EQ(fx_write(&p_, 0, buf, 25), 25);
	T_EQ(fx_ioctl(&p_, 1, 0x5301u, (unsigned long)&bytes), 3);
	T_EQ(bytes, 10);
	T_EQ(fx_read(&p_, 1, buf, 100), 25);
}

#define I_SRDOPT 0x5306u
#define RPROTDIS 8u

static unsigned
unread(int end)
{
	struct host_call hc = p_.hc[end];
	uint64_t n;

	T_EQ(host_enter(&hc), 0);
	n = str_head_nbytes(p_.sd[end]);
	host_leave();
	return (unsigned)n;
}

/* The ten digits, in two reads; what is left is counted each time. */
static void
read_in_two(void)
{
	T_EQ(fx_read(&p_, 0, buf, 4), 4);
	T_MEM(buf, "0123", 4);
	T_EQ(unread(0), 6u);
	T_EQ(fx_read(&p_, 0, buf, 100), 6);
	T_MEM(buf, "456789", 6);
	T_EQ(unread(0), 0u);
}

/* I_SRDOPT RPROTDIS: the control part is gone, and not counted any more, when
 * a read takes a first part of the data */
T_CASE(a_discarded_control_part_does_not_come_with_the_rest)
{
	mblk_t *mp;

	begin(t);
	T_EQ(fx_ioctl(&p_, 0, I_SRDOPT, RPROTDIS), 0);
	/* as a record, and as blocks */
	T_EQ(fx_putmsg(&p_, 1, "control", 7, "0123456789", 10, -1, 0), 0);
	read_in_two();
	mp = fx_type(M_PROTO, "control", 0);
	linkb(mp, fx_msg("0123456789", 0));
	up(0, mp);
	read_in_two();
}

/* ------------------------------------------- what reading a band enables */

static queue_t *behind_;
static uint32_t touched_;

/* More than the head takes of a band: the rest waits in the module. */
static void
sends_a_band(void *arg)
{
	struct host_call hc = {.fd = -1};
	unsigned i;

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	for (i = 0; i < 6; i++)
		put(behind_, fx_bytes(60, 2));
	(void)fx_run(&p_);
	host_leave();
}

static long
reads(uint64_t seed)
{
	long n, more;

	fx_begin_seed(seed);
	fx_pipe(&p_);
	behind_ = fx_push(&p_, 0, "late");
	T_EQ(strqset(&p_.sd[0]->qp->rq, QHIWAT, 2, 100), 0);
	T_EQ(strqset(&p_.sd[0]->qp->rq, QLOWAT, 2, 20), 0);
	T_EQ(fx_write(&p_, 1, "x", 1), 1);
	(void)fx_run(&p_);
	(void)sim_spawn("sender", sends_a_band, NULL);
	sim_grain(3);
	n = fx_read(&p_, 0, buf, sizeof(buf));
	touched_ = host_tls.ntouch;
	sim_grain(0);
	T_EQ(sim_run(), 0);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	for (more = n; more > 0 && n < 361; n += more)
		more = fx_read(&p_, 0, buf, sizeof(buf));
	T_EQ(n, 361);
	fx_end();
	return n;
}

/*
 * A read that finds plain data, and then a band that has just come, has let that
 * band's writers go on when it returns, as one that found the band first.
 */
T_CASE(a_read_that_meets_a_band_behind_data_runs_what_it_enables)
{
	uint64_t seed;

	for (seed = t->seed; seed < t->seed + 2000; seed++) {
		(void)reads(seed);
		T_EQ(touched_, 0u);
	}
}

/*
 * A thread that only reads looks for records with pauses, if it has found some
 * each time.  A thread that finds no answer to its request does not.
 */
T_CASE(a_read_that_waits_for_an_answer_does_not_delay_the_next_look)
{
	begin(t);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	T_EQ(fx_write(&p_, 1, "a", 1), 1);
	host_tls.wrote = 0;
	T_EQ(fx_read(&p_, 0, buf, 1), 1);
	T_EQ(p_.sd[0]->hq.streak, 1u);
	T_EQ(fx_write(&p_, 0, "q", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, 1), -11);
	T_EQ(p_.sd[0]->hq.streak, 0u);
}
