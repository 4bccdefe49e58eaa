/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What a Stream head makes of messages that a driver sends up, and of answers
 * that come late, never, or twice: what takes a module that misbehaves.
 */
#include "fixture.h"
#include <str/builtin.h>
#include "head/sig.h"

#define I_STR 0x5308u
#define I_SETSIG 0x5309u
#define I_PEEK 0x530fu
#define I_FLUSH 0x5305u
#define I_GRDOPT 0x5306u
#define I_GETBAND 0x531eu
#define I_SERROPT 0x5323u
#define SIGPOLL 29
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
	struct host_call hc = p_.hc[end];
	struct str_head *sd = p_.sd[end];

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
	T_EQ(str_claim(sd->plumb), 0);
	str_put(&sd->qp->rq, mp);
	(void)str_sched_run(sd->plumb);
	str_unclaim(sd->plumb);
	host_leave();
}

static mblk_t *
bytes(unsigned type, int n, int b0, int b1)
{
	mblk_t *mp = allocb(4, BPRI_HI);

	T_NOTNULL(mp);
	mp->b_datap->db_type = (unsigned char)type;
	if (n > 0)
		*mp->b_wptr++ = (unsigned char)b0;
	if (n > 1)
		*mp->b_wptr++ = (unsigned char)b1;
	return mp;
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
	up(0, bytes(M_ERROR, 2, EPROTO, NOERROR));
	T_EQ(fx_read(&p_, 0, buf, 10), -EPROTO);
	T_EQ(fx_read(&p_, 1, buf, 10), 3);
	/* the error taken back, nothing is there: it was flushed */
	up(0, bytes(M_ERROR, 2, 0, NOERROR));
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	T_EQ(fx_read(&p_, 0, buf, 10), -11);
}

/* M_ERROR(9): 0 clears, NOERROR leaves as it is */
T_CASE(errors_are_set_and_cleared_side_by_side)
{
	begin(t);
	up(0, bytes(M_ERROR, 2, EPROTO, 5));
	T_EQ(fx_read(&p_, 0, buf, 1), -EPROTO);
	T_EQ(fx_write(&p_, 0, "x", 1), -5);
	up(0, bytes(M_ERROR, 2, NOERROR, 0));
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, 1), -EPROTO);
	up(0, bytes(M_ERROR, 1, 0, 0));
	T_EQ(fx_write(&p_, 1, "y", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, 1), 1);
}

/* I_SERROPT: "non-persistent": told once */
T_CASE(an_error_that_does_not_persist_is_told_once)
{
	begin(t);
	T_EQ(fx_ioctl(&p_, 0, I_SERROPT, 3), 0);
	up(0, bytes(M_ERROR, 2, EPROTO, 5));
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
	up(0, bytes(M_ERROR, 0, 0, 0));
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
}

/* Nor does an M_FLUSH without one, whatever its memory holds */
T_CASE(an_empty_flush_is_ignored)
{
	mblk_t *mp;

	begin(t);
	T_EQ(fx_write(&p_, 1, "in", 2), 2);
	mp = bytes(M_FLUSH, 0, 0, 0);
	*mp->b_rptr = FLUSHRW;
	up(0, mp);
	T_EQ(fx_read(&p_, 0, buf, 10), 2);
}

/*
 * dupmsg(9): a multiplexor sends one message to all its upper Streams; what
 * the head of one makes of it is not seen by the others
 */
T_CASE(what_is_shared_does_not_change)
{
	mblk_t *mp, *dup;

	begin(t);
	mp = bytes(M_FLUSH, 1, FLUSHRW, 0);
	dup = dupmsg(mp);
	T_NOTNULL(dup);
	up(0, dup);
	T_EQ(*mp->b_rptr, FLUSHRW);
	freemsg(mp);
	mp = bytes(M_ERROR, 1, EPROTO, 0);
	dup = dupmsg(mp);
	T_NOTNULL(dup);
	up(0, dup);
	T_EQ(mp->b_datap->db_type, M_ERROR);
	T_EQ(*mp->b_rptr, EPROTO);
	freemsg(mp);
	T_EQ(fx_write(&p_, 0, "x", 1), -EPROTO);
}

/* Who has taken the control part of one copy has taken it of that one alone */
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
	up(0, bytes(M_HANGUP, 0, 0, 0));
	T_EQ(fx_read(&p_, 0, buf, 1), 0);
	T_TRUE(fx_write(&p_, 0, "x", 1) < 0);
	up(0, bytes(M_UNHANGUP, 0, 0, 0));
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
	up(0, bytes(M_SIG, 1, SIGPOLL, 0));
	T_EQ(signals(SIGPOLL), 1u);
	up(0, fx_msg("data", 0));
	up(0, bytes(M_SIG, 1, SIGPOLL, 0));
	up(0, bytes(M_SIG, 1, SIGPOLL, 0));
	T_EQ(signals(SIGPOLL), 1u);
	T_EQ(fx_read(&p_, 0, buf, 4), 4);
	T_EQ(signals(SIGPOLL), 3u);
	up(0, fx_msg("data", 0));
	up(0, bytes(M_SIG, 1, SIGPOLL, 0));
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
	up(0, bytes(M_PCSIG, 0, 0, 0));
	up(0, bytes(M_SIG, 0, 0, 0));
	T_EQ(signals(SIGPOLL), 0u);
	up(0, bytes(M_PCSIG, 1, SIGPOLL, 0));
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

/* M_MI: nothing more comes for the read that waits; others mean nothing */
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

/* ------------------------------------------------- a module changes what is there */

static unsigned changed_;

static mblk_t *
change(queue_t *q, mblk_t *mp)
{
	(void)q;
	changed_++;
	*mp->b_rptr += 'A' - 'a';
	return mp;
}

static void
read_all(const char *text)
{
	char got[64] = "";
	size_t n = 0;
	long r;

	p_.hc[0].fflags |= STR_O_NONBLOCK;
	while ((r = fx_read(&p_, 0, got + n, 1)) > 0)
		n += (size_t)r;
	T_EQ(r, -11);
	T_STR(got, text);
}

/* In order, the first and the last */
T_CASE(what_waits_is_changed_in_order)
{
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 0, "pass");
	T_EQ(fx_write(&p_, 1, "abc", 3), 3);
	T_EQ(fx_write(&p_, 1, "def", 3), 3);
	changed_ = 0;
	T_EQ(str_head_again(q, change), 0);
	T_EQ(changed_, 2u);
	read_all("AbcDef");
}

/* All or nothing: no memory to take them, nothing is changed */
T_CASE(without_memory_what_waits_stays_as_it_is)
{
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 0, "pass");
	T_EQ(fx_write(&p_, 1, "abc", 3), 3);
	T_EQ(fx_write(&p_, 1, "def", 3), 3);
	fx_use_up();
	changed_ = 0;
	T_EQ(str_head_again(q, change), ENOSR);
	fx_give_back();
	T_EQ(changed_, 0u);
	T_EQ(fx_write(&p_, 1, "ghi", 3), 3);
	read_all("abcdefghi");
}

/* The same when there is memory for the first alone */
T_CASE(memory_for_some_of_what_waits_keeps_the_order)
{
	queue_t *q;
	mblk_t *one;

	begin(t);
	q = fx_push(&p_, 0, "pass");
	T_EQ(fx_write(&p_, 1, "abc", 3), 3);
	T_EQ(fx_write(&p_, 1, "def", 3), 3);
	one = allocb(3, BPRI_MED);
	fx_use_up();
	freemsg(one);
	T_EQ(str_head_again(q, change), ENOSR);
	fx_give_back();
	T_EQ(fx_write(&p_, 1, "ghi", 3), 3);
	read_all("abcdefghi");
}

/* What found no memory to come in is behind the rest, and is changed, too */
T_CASE(what_waits_for_memory_is_changed_behind_the_others)
{
	struct str_headq *hq;
	mblk_t *mp;
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 0, "pass");
	hq = &p_.sd[0]->hq;
	T_EQ(fx_write(&p_, 1, "abc", 3), 3);
	mp = fx_msg("def", 0);
	/* as str_headq_deliver() does */
	(void)putq(&p_.sd[0]->qp->wq, mp);
	str_store(&hq->overflow, 1u);
	str_store(&hq->full, STR_FULL_HELD);
	T_EQ(str_head_again(q, change), 0);
	read_all("AbcDef");
}

/* A message of @n bytes is at a head for which there is no memory. */
static void
up_without_memory(int end, int n)
{
	mblk_t *mp = allocb((size_t)n, BPRI_HI);

	T_NOTNULL(mp);
	memset(mp->b_wptr, 'L', (size_t)n);
	mp->b_wptr += n;
	fx_use_up();
	up(end, mp);
	fx_give_back();
	T_EQ(str_load(&p_.sd[end]->hq.overflow), 1u);
}

static void
read_long_then(const char *what)
{
	int n = (int)strlen(what), got = 0;

	while (got < 5000) {
		T_EQ(fx_read(&p_, 0, buf, 1000), 1000);
		T_EQ(buf[0], 'L');
		got += 1000;
	}
	T_EQ(fx_read(&p_, 0, buf, 100), n);
	T_MEM(buf, what, (size_t)n);
}

static int read_; /* bytes */

static void
reads_long(void *arg)
{
	(void)arg;
	while (read_ < 5000) {
		T_EQ(fx_read(&p_, 0, buf, 1000), 1000);
		read_ += 1000;
	}
}

/* The producer's end is biased to this thread, which is done with it. */
static void
bias(void *arg)
{
	struct str_hlock *l = &p_.sd[0]->hq.plock;
	struct host_call hc = {.fd = -1};
	unsigned i;

	T_EQ(host_enter(&hc), 0);
	for (i = 0; i < 100 && str_load(&l->bias) != host_self_tag(); i++) {
		(void)str_hlock(l, STR_HOLD_P);
		str_hunlock(l, STR_HOLD_P);
	}
	T_EQ(str_load(&l->bias), host_self_tag());
	if (arg != NULL) {
		(void)str_hlock(l, STR_HOLD_P);
		sim_kill(sim_current());
	}
	host_leave();
	sim_sleep(1000000000);
}

/* The reader lets it in, whosever the producer's end was */
T_CASE(what_waits_for_memory_is_read_whoever_was_the_last_to_send)
{
	unsigned dies;

	for (dies = 0; dies < 2; dies++) {
		begin(t);
		read_ = 0;
		up_without_memory(0, 5000);
		(void)sim_spawn("sender", bias, dies ? "" : NULL);
		sim_sleep(100000000);
		(void)sim_spawn("reader", reads_long, NULL);
		sim_sleep(100000000);
		T_EQ(read_, 5000);
		fx_close(&p_, 0);
		fx_close(&p_, 1);
		T_EQ(sim_run(), 0);
		(void)str_region_sweep();
		fx_end();
	}
}

/* docs/architecture.md: what finds no memory waits in order */
T_CASE(a_write_does_not_overtake_what_waits_for_memory)
{
	begin(t);
	up_without_memory(0, 5000);
	T_EQ(fx_write(&p_, 1, "short", 5), 5);
	read_long_then("short");
}

static uint64_t
segment_left(const struct str_headq *hq)
{
	return hq->tail->base + hq->tail->size - str_load(&hq->pos);
}

/* The same by the fast path, where there is room for it and not for the other */
T_CASE(a_write_does_not_overtake_by_the_fast_path)
{
	const struct str_headq *hq;
	int n = 1;

	begin(t);
	hq = &p_.sd[0]->hq;
	T_EQ(fx_write(&p_, 1, "0", 1), 1);
	while (segment_left(hq) >= 24)
		n += (int)fx_write(&p_, 1, "0", 1);
	n += (int)fx_write(&p_, 1, "00000", segment_left(hq) == 20 ? 5 : 1);
	T_EQ(segment_left(hq), 8u);
	up_without_memory(0, 5000);
	T_EQ(fx_write(&p_, 1, "s", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, (size_t)n), n);
	read_long_then("s");
}

static uint32_t
events(int end)
{
	struct host_call hc = p_.hc[end];
	struct str_head *sd = p_.sd[end];
	uint32_t ev;

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
	ev = str_head_events(sd);
	host_leave();
	return ev;
}

static void
add_segment(struct str_blk *b, void *arg)
{
	if (b->state == STR_BLK_SEG)
		*(size_t *)arg += str_mem_size(b);
}

/* docs/memory.md: a thousand receivers that are slow need no more than waits */
T_CASE(a_queue_of_low_limits_has_no_long_segments)
{
	size_t most = 0, now;
	unsigned i, n;

	begin(t);
	p_.hc[1].fflags |= STR_O_NONBLOCK;
	str_headq_limits(&p_.sd[0]->hq, 16384, 4096);
	for (i = 0; i < 30; i++) {
		for (n = 0; fx_putmsg(&p_, 1, NULL, -1, buf, 100, -1, 0) == 0;)
			n++;
		T_GE(n, 100u);
		now = 0;
		str_mem_walk(add_segment, &now);
		most = now > most ? now : most;
		while (n-- > 0)
			T_EQ(fx_read(&p_, 0, buf, 100), 100);
	}
	T_LE(most, 3u * 16640);
}

/* ... while there is none: as a full queue */
T_CASE(what_waits_for_memory_holds_writers_back)
{
	mblk_t *mp;

	begin(t);
	p_.hc[1].fflags |= STR_O_NONBLOCK;
	mp = fx_msg("def", 0);
	fx_use_up();
	up(0, mp);
	T_EQ(fx_write(&p_, 1, "s", 1), -11);
	T_EQ(events(1) & STR_POLLOUT, 0u);
	/* ... which there is something in */
	T_NE(events(0) & STR_POLLIN, 0u);
	fx_give_back();
	T_EQ(fx_write(&p_, 1, "s", 1), 1);
	T_NE(events(1) & STR_POLLOUT, 0u);
	read_all("defs");
}

/* ... and is dropped by a flush like the rest */
T_CASE(what_waits_for_memory_is_flushed)
{
	begin(t);
	up_without_memory(0, 5000);
	T_EQ(fx_ioctl(&p_, 0, I_FLUSH, 1), 0);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	T_EQ(fx_read(&p_, 0, buf, 10), -11);
	T_EQ(events(0) & STR_POLLIN, 0u);
	T_EQ(fx_write(&p_, 1, "x", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, 10), 1);
}

/* ... and is not behind the end of the file */
T_CASE(what_waits_for_memory_comes_before_the_end)
{
	mblk_t *mp;

	begin(t);
	mp = fx_msg("def", 0);
	fx_use_up();
	up(0, mp);
	fx_close(&p_, 1);
	T_EQ(fx_read(&p_, 0, buf, 10), -ENOSR);
	fx_give_back();
	T_EQ(fx_read(&p_, 0, buf, 10), 3);
	T_EQ(fx_read(&p_, 0, buf, 10), 0);
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

static mblk_t *kept;
static size_t wanted; /* mute_put() asks for so much by M_COPYIN */
static bool strays;   /* mute_put() sends what is no M_IOCTL any more down */

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

/* A late answer is nobody's; the next ioctl gets its own */
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

/* Somebody stopped as he answered: nobody waits for him beyond his time */
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

/* What is too short for an answer is none, whatever its memory holds */
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
	up(0, bytes(M_IOCTL, 2, 0, 0));
}

/* A request for a copy becomes its answer: where there is no room, it is none */
T_CASE(a_copy_request_at_the_end_of_its_memory_is_discarded)
{
	mblk_t *mp, *dup;

	begin(t);
	mp = allocb(STR_FASTBUF, BPRI_HI);
	mp->b_datap->db_type = M_COPYIN;
	mp->b_wptr = mp->b_datap->db_lim;
	mp->b_rptr = mp->b_wptr - sizeof(struct iocblk);
	memset(mp->b_rptr, 0xff, sizeof(struct iocblk)); /* an id of nobody */
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

/* ... and so is one that has come, when who waited is killed */
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

/* What a module asked for that has been popped: who waits is told */
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
	up(0, bytes(M_ERROR, 1, EPROTO, 0));
}

T_CASE(an_error_ends_an_i_str_that_waits)
{
	struct strioctl s = {1, -1, 0, NULL};

	begin_mute(t);
	(void)sim_spawn("breaks", breaks_it, NULL);
	T_EQ(fx_ioctl(&p_, 0, I_STR, (unsigned long)&s), -EPROTO);
	freemsg(kept);
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

static struct module_info tight_info = {.mi_idname = (char *)"tight",
	.mi_minpsz = 3, .mi_maxpsz = 10, .mi_hiwat = 100, .mi_lowat = 10};
static struct module_info short_info = {.mi_idname = (char *)"short",
	.mi_minpsz = 0, .mi_maxpsz = 10, .mi_hiwat = 100, .mi_lowat = 10};
static struct qinit size_r = {.qi_putp = pass_put, .qi_qopen = mute_open,
	.qi_qclose = mute_close, .qi_minfo = &tight_info};
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
