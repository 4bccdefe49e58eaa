/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ioctl(2) on a Stream head: streamio(7).
 *
 * Each command of the head has one function in the table below; errors are
 * tested in the order of the manual: state of the stream, then the argument's
 * address, then its value.  All other commands are sent down the stream, see
 * strioctl.c.
 */
#include "core.h"
#include "ioctl.h"
#include "sig.h"
#include "sock/sock.h"

#define I_NREAD 0x5301u
#define I_PUSH 0x5302u
#define I_POP 0x5303u
#define I_LOOK 0x5304u
#define I_FLUSH 0x5305u
#define I_SRDOPT 0x5306u
#define I_GRDOPT 0x5307u
#define I_STR 0x5308u
#define I_SETSIG 0x5309u
#define I_GETSIG 0x530au
#define I_FIND 0x530bu
#define I_PEEK 0x530fu
#define I_FDINSERT 0x5310u
#define I_LINK 0x530cu
#define I_UNLINK 0x530du
#define I_RECVFD 0x530eu
#define I_SENDFD 0x5311u
#define I_PLINK 0x5316u
#define I_PUNLINK 0x5317u
#define I_SWROPT 0x5313u
#define I_GWROPT 0x5314u
#define I_LIST 0x5315u
#define I_ANCHOR 0x5318u
#define I_FLUSHBAND 0x531cu
#define I_CKBAND 0x531du
#define I_GETBAND 0x531eu
#define I_ATMARK 0x531fu
#define I_SETCLTIME 0x5320u
#define I_GETCLTIME 0x5321u
#define I_CANPUT 0x5322u
#define I_SERROPT 0x5323u
#define I_GERROPT 0x5324u
#define I_ESETSIG 0x5325u
#define I_EGETSIG 0x5326u
#define I_GETPMSG 0x532au
#define I_PUTPMSG 0x532bu
#define I_PIPE 0x532cu
#define I_ISASTREAM 0x532eu
#define I_GET_STH_WROFF 0x5355u
#define I_GET_STRMSGSZ 0x5356u
#define I_GET_STRCTLSZ 0x5357u
#define I_GET_PUSHCNT 0x5358u
#define I_SET_HIWAT 0x535bu
#define I_SET_LOWAT 0x535cu
#define I_GET_HIWAT 0x5361u
#define I_GET_LOWAT 0x5362u
/* debugging commands of LiS */
#define I_LIS_SDBGMSK2 0x53f1u
#define I_LIS_PRNTSTRM 0x53fdu
#define I_LIS_PRNTMEM 0x53feu
#define I_LIS_SDBGMSK 0x53ffu
#define FIONREAD 0x541bu
/* F_SETPIPE_SZ: the bounds of Linux, for a user without privilege. */
#define PIPE_MIN 4096u
#define PIPE_MAX (1u << 20)
#define TIOCGPGRP 0x540fu
#define TIOCSPGRP 0x5410u
#define TIOCGSID 0x5429u
#define FIOSETOWN 0x8901u
#define SIOCSPGRP 0x8902u
#define FIOGETOWN 0x8903u
#define SIOCGPGRP 0x8904u
#define SIOCATMARK 0x8905u

#define CLTIME_MAX 299999
#define CLTIME_VALUE 0x60000u /* above the longest time, below any program */
#define RD_MODES 0x23u	 /* RMSGD RMSGN RFILL */
#define RD_PROTO 0x1cu	 /* RPROTDAT RPROTDIS RPROTNORM */
#define RS_HIPRI 1
#define MSG_ANY 2
#define ANYMARK 1
#define LASTMARK 2

/* Equal in layout to the structures of <stropts.h>. */
struct u_strpeek {
	struct str_strbuf ctl, data;
	long flags;
};
struct u_bandinfo {
	unsigned char pri;
	int flag;
};
struct u_list {
	int nmods;
	char *mods; /* entries of FMNAMESZ + 1 */
};
struct u_strsigset {
	int pid;
	long events;
};
struct u_strpmsg {
	struct str_strbuf ctl, data;
	int band;
	int flags;
};

static long
out_int(struct ioc *c, int v)
{
	return host_copyout(&v, (void *)c->arg, sizeof(v)) != 0 ? -EFAULT : 0;
}

/* --------------------------------------------------------------- plumbing */

/* Module names: EFAULT; EINVAL when empty or longer than FMNAMESZ. */
static int
get_name(struct ioc *c, char name[FMNAMESZ + 2])
{
	int err = host_copyinstr((const void *)c->arg, name, FMNAMESZ + 1);

	if (err == ENAMETOOLONG)
		return EINVAL;
	if (err == 0 && name[0] == '\0')
		return EINVAL;
	return err;
}

static long
i_push(struct ioc *c)
{
	char name[FMNAMESZ + 2];
	int err = get_name(c, name);

	return err != 0 ? -err : -str_plumb_push(c->sd, c->hc, name);
}

static bool
privileged(void)
{
	struct host_cred cr;

	host_cred(&cr);
	return cr.uid == 0;
}

/*
 * Only the superuser may pop anchored modules; the modules that remain are
 * still anchored.
 */
static long
i_pop(struct ioc *c)
{
	struct str_head *sd = c->sd;
	uint32_t anchor = str_load(&sd->anchor);
	int err;

	if (anchor != 0 && str_load(&sd->npush) <= anchor && !privileged())
		return -EPERM;
	err = str_plumb_pop(sd, c->hc);
	if (err == 0 && str_load(&sd->npush) < anchor)
		str_store(&sd->anchor, str_load(&sd->npush));
	if (err == 0) /* what the module had kept back */
		str_outside_sent(sd, c->hc, false);
	return -err;
}

static long
i_anchor(struct ioc *c)
{
	str_store(&c->sd->anchor, str_load(&c->sd->npush));
	return 0;
}

/*
 * Names below the head at this end, topmost first, at most @max of them: its
 * modules, then, on a device stream, its driver.
 */
static unsigned
names(struct str_head *sd, char (*name)[FMNAMESZ + 1], unsigned max)
{
	unsigned n, have;
	queue_t *q;

	(void)str_claim(sd->plumb);
	have = str_load(&sd->npush);
	q = sd->qp->wq.q_next;
	/*
	 * npush changes after the chain, under busy: a claim does not prevent
	 * that
	 */
	for (n = 0; n < have && n < max && q != NULL &&
		q->q_pair->role == STR_QP_MODULE &&
		(str_load(&q->q_flag) & QREADR) == 0; n++, q = q->q_next)
		__builtin_memcpy(name[n], q->q_pair->fmod->name,
			FMNAMESZ + 1);
	if (n <= have && n < max && q != NULL && q->q_head == NULL &&
	    q->q_pair->role == STR_QP_DRIVER)
		__builtin_memcpy(name[n++], q->q_pair->fmod->name,
			FMNAMESZ + 1);
	str_unclaim(sd->plumb);
	return n;
}

static long
i_look(struct ioc *c)
{
	char name[1][FMNAMESZ + 1];

	/* a driver is not a module */
	if (str_load(&c->sd->npush) == 0 || names(c->sd, name, 1) == 0)
		return -EINVAL;
	return host_copyout(name[0], (void *)c->arg, FMNAMESZ + 1) != 0 ?
		-EFAULT : 0;
}

static long
i_find(struct ioc *c)
{
	char want[FMNAMESZ + 2], name[STR_NPUSH + 1][FMNAMESZ + 1];
	int err = get_name(c, want);
	unsigned n, i;

	if (err != 0)
		return -err;
	n = names(c->sd, name, STR_NPUSH + 1);
	for (i = 0; i < n; i++)
		if (str_name_eq(name[i], want))
			return 1;
	/* SVR4 I_FIND: a name that I_PUSH would take is no error */
	return str_fmod_get(c->hc, want, STR_F_MODULE) == NULL ? -EINVAL : 0;
}

/* A pipe has no driver: the list has only modules. */
static long
i_list(struct ioc *c)
{
	char name[STR_NPUSH + 1][FMNAMESZ + 1];
	struct u_list l;
	unsigned n;

	n = names(c->sd, name, STR_NPUSH + 1);
	if (c->arg == 0)
		return (long)n;
	if (host_copyin((const void *)c->arg, &l, sizeof(l)) != 0)
		return -EFAULT;
	if (l.nmods < 1)
		return -EINVAL;
	n = STR_MIN(n, (unsigned)l.nmods);
	if (n != 0 && host_copyout(name, l.mods, n * (FMNAMESZ + 1)) != 0)
		return -EFAULT;
	l.nmods = (int)n;
	return host_copyout(&l.nmods, (void *)c->arg, sizeof(l.nmods)) != 0 ?
		-EFAULT : 0;
}

static long
i_get_pushcnt(struct ioc *c)
{
	return (long)str_load(&c->sd->npush);
}

/*
 * Joins two halves of a pipe, each made by an open of the pipe driver
 * (pipe/pipe.c); an end made by pipe(2) is joined already.
 */
static long
i_pipe(struct ioc *c)
{
	return -str_pipe_join(c->sd, c->hc, (int)c->arg);
}

/* --------------------------------------------------------------- flushing */

static void
flush_here(struct str_head *sd, struct host_call *hc, int band)
{
	struct host_call *old = host_tls.call;

	host_tls.call = hc;
	str_head_flush_read(sd, band);
	host_tls.call = old;
}

static long
flush(struct ioc *c, int how, int band)
{
	struct str_head *sd = c->sd;
	struct host_call *old = host_tls.call;
	mblk_t *mp;
	bool down;

	if (how < FLUSHR || how > FLUSHRW)
		return -EINVAL;
	if ((str_load(&sd->flags) & (STR_H_MODS | STR_H_DEV)) == 0) {
		/* POSIX: a pipe without modules; FLUSHW is the read queue of
		 * the other end */
		if (how & FLUSHR)
			flush_here(sd, c->hc, band);
		if (how & FLUSHW)
			flush_here(sd->peer, c->hc, band);
		return 0;
	}
	mp = allocb(2, BPRI_HI);
	if (mp == NULL)
		return -ENOSR;
	mp->b_datap->db_type = M_FLUSH;
	*mp->b_wptr++ = (unsigned char)(how | (band >= 0 ? FLUSHBAND : 0));
	if (band >= 0)
		*mp->b_wptr++ = (unsigned char)band;
	STR_CRASH_POINT("flush:begun");
	(void)str_claim(sd->plumb);
	host_tls.call = c->hc;
	if (how & FLUSHR)
		str_head_flush_read(sd, band);
	/* FLUSHW does not concern the head's own write queue: messages wait
	 * there only to be read (str_headq_deliver()) */
	down = str_head_down(sd, mp);
	str_sched_leave(sd);
	host_tls.call = old;
	str_unclaim(sd->plumb);
	return down ? 0 : -ENXIO;
}

static long
i_flush(struct ioc *c)
{
	return flush(c, (int)c->arg, -1);
}

static long
i_flushband(struct ioc *c)
{
	struct u_bandinfo bi;

	if (host_copyin((const void *)c->arg, &bi, sizeof(bi)) != 0)
		return -EFAULT;
	return flush(c, bi.flag, bi.pri);
}

/* ---------------------------------------------------------------- options */

static long
i_srdopt(struct ioc *c)
{
	unsigned v = (unsigned)c->arg, proto = v & RD_PROTO;

	if ((v & ~(RD_MODES | RD_PROTO)) != 0 || (v & 3u) == 3u)
		return -EINVAL;
	if ((proto & (proto - 1)) != 0)
		return -EINVAL; /* more than one way to treat M_PROTO */
	c->sd->rdopt = v & ~0x10u;
	return 0;
}

static long
i_grdopt(struct ioc *c)
{
	uint32_t v = c->sd->rdopt;

	if ((v & RD_PROTO) == 0)
		v |= 0x10u;
	return out_int(c, (int)v);
}

static long
i_swropt(struct ioc *c)
{
	unsigned v = (unsigned)c->arg;
	struct str_head *sd = c->sd;

	if ((v & ~0x1fu) != 0)
		return -EINVAL;
	sd->wropt = v & 7u;
	if (v & 4u)
		(void)str_or(&sd->flags, STR_H_HOLD);
	else
		(void)str_and(&sd->flags, ~STR_H_HOLD);
	/* only M_SETOPTS clears these two flags */
	if (v & 8u)
		(void)str_or(&sd->flags, STR_H_DELIM);
	if (v & 0x10u)
		(void)str_or(&sd->flags, STR_H_MREAD);
	return 0;
}

static long
i_gwropt(struct ioc *c)
{
	uint32_t f = str_load(&c->sd->flags);

	return out_int(c, (int)(c->sd->wropt | ((f & STR_H_DELIM) ? 8u : 0) |
		((f & STR_H_MREAD) ? 0x10u : 0)));
}

static void
limits(struct str_head *sd, struct host_call *hc, uint32_t high, uint32_t low)
{
	struct str_headq *hq = &sd->hq;

	str_headq_limits(hq, high, low);
	sd->qp->rq.q_hiwat = high;
	sd->qp->rq.q_lowat = low;
	/* writers may have room now */
	if (str_load(&hq->wwant) != 0)
		str_wake_writers_from(sd, hc);
}

static long
set_marks(struct ioc *c, bool high)
{
	struct str_headq *hq = &c->sd->hq;
	int v = (int)c->arg; /* the argument is a number, not an address */

	if (v < 0 || (high && (uint32_t)v < hq->lowat) ||
	    (!high && (uint32_t)v > hq->hiwat))
		return -EINVAL;
	limits(c->sd, c->hc, high ? (uint32_t)v : hq->hiwat,
		high ? hq->lowat : (uint32_t)v);
	return 0;
}

long
str_head_pipe_size(struct str_head *sd)
{
	uint64_t dev;

	if (str_head_kind(sd, &dev) == STR_KIND_DEV)
		return -EBADF;
	return (long)sd->peer->hq.hiwat;
}

long
str_head_pipe_resize(struct str_head *sd, struct host_call *hc, uint64_t size)
{
	struct str_plumb *pl = sd->plumb;
	uint32_t mark = PIPE_MIN;
	uint64_t dev;

	if (str_head_kind(sd, &dev) == STR_KIND_DEV)
		return -EBADF;
	if (size > PIPE_MAX)
		return size > 1u << 31 ? -EINVAL : -EPERM;
	while (mark < size)
		mark *= 2;
	for (unsigned e = 0; e < pl->nheads; e++)
		if (str_head_nbytes(&pl->head[e]) > mark)
			return -EBUSY;
	for (unsigned e = 0; e < pl->nheads; e++)
		limits(&pl->head[e], hc, mark, mark / 4);
	return mark;
}

static long
i_set_hiwat(struct ioc *c)
{
	return set_marks(c, true);
}

static long
i_set_lowat(struct ioc *c)
{
	return set_marks(c, false);
}

static long
i_get_hiwat(struct ioc *c)
{
	return out_int(c, (int)c->sd->hq.hiwat);
}

static long
i_get_lowat(struct ioc *c)
{
	return out_int(c, (int)c->sd->hq.lowat);
}

static long
i_get_strmsgsz(struct ioc *c)
{
	return out_int(c, (int)STR_MSGSZ);
}

static long
i_get_strctlsz(struct ioc *c)
{
	return out_int(c, (int)STR_CTLSZ);
}

static long
i_setcltime(struct ioc *c)
{
	int v;

	/* the manual requires a pointer, but many callers pass a value: a
	 * number below all program addresses is a value */
	if (c->arg == 0)
		return -EFAULT;
	if (c->arg <= CLTIME_VALUE)
		v = (int)c->arg;
	else if (host_copyin((const void *)c->arg, &v, sizeof(v)) != 0) {
		/* a negative int, extended by zeros or by its sign? */
		if ((int)c->arg >= 0 || (c->arg >> 32 != 0 &&
			    c->arg >> 32 != UINT32_MAX))
			return -EFAULT;
		v = -1;
	}
	if (v < 0 || v > CLTIME_MAX)
		return -EINVAL;
	c->sd->cltime = (uint32_t)v;
	return 0;
}

static long
i_getcltime(struct ioc *c)
{
	return out_int(c, (int)c->sd->cltime);
}

static long
i_get_sth_wroff(struct ioc *c)
{
	return out_int(c, (int)c->sd->wroff);
}

static long
i_serropt(struct ioc *c)
{
	unsigned v = (unsigned)c->arg;

	if ((v & ~3u) != 0)
		return -EINVAL;
	c->sd->errpersist = v;
	return 0;
}

static long
i_gerropt(struct ioc *c)
{
	return out_int(c, (int)c->sd->errpersist);
}

/* ---------------------------------------------------------------- signals */

static int32_t
self(void)
{
	struct host_cred cr;

	host_cred(&cr);
	return (int32_t)cr.pid;
}

/*
 * A process that is registered for S_HANGUP perhaps makes no further call on
 * the stream.  So streamsd is started: it finds that the process at the other
 * end was killed, and the signal is sent then, too.
 */
static long
set_sig(struct ioc *c, int32_t id, uint32_t events)
{
	int err = str_sig_set(c->sd, id, events);

	if (err == 0 && (events & STR_S_HANGUP) != 0)
		(void)host_daemon();
	return -err;
}

static long
i_setsig(struct ioc *c)
{
	unsigned v = (unsigned)c->arg;

	if ((v & ~STR_S_ALL) != 0)
		return -EINVAL;
	return set_sig(c, self(), v);
}

static long
i_getsig(struct ioc *c)
{
	uint32_t ev = str_sig_get(c->sd, self());

	if (ev == 0)
		return -EINVAL;
	return out_int(c, (int)ev);
}

/* 0 stands for the caller; below 0 are process groups. */
static long
i_esetsig(struct ioc *c)
{
	struct u_strsigset ss;

	if (host_copyin((const void *)c->arg, &ss, sizeof(ss)) != 0)
		return -EFAULT;
	if (((unsigned long)ss.events & ~(unsigned long)STR_S_ALL) != 0)
		return -EINVAL;
	return set_sig(c, ss.pid != 0 ? ss.pid : self(), (uint32_t)ss.events);
}

static long
i_egetsig(struct ioc *c)
{
	struct u_strsigset ss;

	if (host_copyin((const void *)c->arg, &ss, sizeof(ss)) != 0)
		return -EFAULT;
	ss.events = (long)str_sig_get(c->sd, ss.pid != 0 ? ss.pid : self());
	if (ss.events == 0)
		return -EINVAL;
	return host_copyout(&ss, (void *)c->arg, sizeof(ss)) != 0 ?
		-EFAULT : 0;
}

/* The receiver of signal messages: a process, or minus a group; 0: none. */
static long
set_owner(struct ioc *c)
{
	int v;

	if (host_copyin((const void *)c->arg, &v, sizeof(v)) != 0)
		return -EFAULT;
	if (v == -INT_MAX - 1)
		return -EINVAL;
	return -str_sig_set_owner(c->sd, v);
}

static long
get_owner(struct ioc *c)
{
	return out_int(c, str_sig_owner(c->sd));
}

/*
 * The foreground group of a terminal, a stream that a driver or a module has
 * declared to be one (SO_ISTTY).  The terminal belongs to the session that sets
 * a group first, until that session's leader has ended or the terminal is hung
 * up.
 */
static long
tiocspgrp(struct ioc *c)
{
	struct str_head *sd = c->sd;
	uint32_t sid = str_load(&sd->sid), v;
	struct host_job job;
	int err;

	if ((str_load(&sd->flags) & STR_H_TTY) == 0)
		return -ENOTTY;
	if (host_copyin((const void *)c->arg, &v, sizeof(v)) != 0)
		return -EFAULT;
	if ((int)v <= 0)
		return -EINVAL;
	host_job(v, &job);
	if (sid != 0 && sid != job.sid && host_signal_post(sid, 0, NULL) == 0)
		return -ENOTTY;
	if (job.other != 0 && job.other != job.sid)
		return -EPERM; /* a group of another session */
	err = str_tty_access(sd, c->hc, STR_TTY_SET);
	if (err == 0)
		err = str_sig_set_owner(sd, -(int)v);
	if (err == 0)
		str_store(&sd->sid, job.sid);
	return -err;
}

static long
tiocgpgrp(struct ioc *c)
{
	int v;

	if ((str_load(&c->sd->flags) & STR_H_TTY) == 0)
		return -ENOTTY;
	v = str_sig_owner(c->sd);
	return out_int(c, v < 0 ? -v : v);
}

static long
tiocgsid(struct ioc *c)
{
	uint32_t sid = str_load(&c->sd->sid);

	if ((str_load(&c->sd->flags) & STR_H_TTY) == 0 || sid == 0)
		return -ENOTTY;
	return out_int(c, (int)sid);
}

/* ---------------------------------------------------- what is on the queue */

/*
 * The contents of the first message, which stays.  Locks: clock.
 * Return: false when there is none.
 */
static bool
front(struct str_head *sd, struct str_rec *rec, int *band, bool *hipri,
	unsigned *flags)
{
	queue_t *q = &sd->qp->rq;
	mblk_t *mp = NULL, *bp;

	*band = 0;
	*hipri = false;
	*flags = 0;
	if (str_load(&sd->hq.npri) != 0) {
		if (str_lock(&q->q_klock))
			(void)str_queue_repair(q);
		mp = q->q_first;
		str_unlock(&q->q_klock);
	}
	if (mp == NULL) {
		if (!str_headq_first(&sd->hq, rec))
			return false;
		*flags = (rec->hdr & STR_REC_MARK) ? MSGMARK : 0;
		return true;
	}
	rec->ctl = rec->data = ~0u;
	rec->mp = mp;
	rec->hdr = 0;
	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		uint32_t *n = bp->b_datap->db_type != M_DATA ? &rec->ctl :
							       &rec->data;

		*n = (*n == ~0u ? 0 : *n) + (uint32_t)str_blen(bp);
	}
	*band = mp->b_band;
	*hipri = mp->b_datap->db_type >= QPCTL;
	*flags = mp->b_flag;
	return true;
}

static void
lock_c(struct str_head *sd)
{
	if (str_hlock(&sd->hq.clock, STR_HOLD_C))
		str_headq_repair_c(&sd->hq);
}

static long
i_nread(struct ioc *c)
{
	struct str_head *sd = c->sd;
	struct str_rec rec;
	unsigned flags;
	bool hipri, any;
	int band, err;
	long n;

	if (!str_head_pending(sd))
		(void)str_sock_try(sd, c->hc, KS_IN);
	lock_c(sd);
	any = front(sd, &rec, &band, &hipri, &flags);
	if (!any || rec.data == ~0u || (rec.mp != NULL &&
		rec.mp->b_datap->db_type == M_PASSFP))
		rec.data = 0; /* a descriptor is not data */
	err = (int)out_int(c, (int)rec.data);
	str_hunlock(&sd->hq.clock, STR_HOLD_C);
	if (err != 0)
		return err;
	n = (long)str_headq_records(&sd->hq, 0);
	{
		mblk_t *mp;
		queue_t *q = &sd->qp->rq;

		if (str_lock(&q->q_klock))
			(void)str_queue_repair(q);
		for (mp = q->q_first; mp != NULL; mp = mp->b_next)
			n++;
		str_unlock(&q->q_klock);
	}
	return n;
}

static long
fionread(struct ioc *c)
{
	uint64_t n = str_head_nbytes(c->sd);

	if (n == 0) {
		(void)str_sock_try(c->sd, c->hc, KS_IN);
		n = str_head_nbytes(c->sd);
	}
	if (str_plain_reads(c->sd, c->hc))
		n += host_outside_waiting(c->hc->fd);
	return out_int(c, n > INT_MAX ? INT_MAX : (int)n);
}

static int
peek_part(const struct str_rec *rec, bool ctl, struct str_strbuf *sb)
{
	uint32_t have = ctl ? rec->ctl : rec->data, n, off = 0;
	mblk_t *bp;

	if (sb->maxlen < 0 || have == ~0u) {
		sb->len = -1;
		return 0;
	}
	n = STR_MIN(have, (uint32_t)sb->maxlen);
	sb->len = (int)n;
	if (rec->mp == NULL)
		return n == 0 ? 0 : host_copyout(ctl ? rec->cptr : rec->dptr,
					    sb->buf, n);
	for (bp = rec->mp; bp != NULL && off < n; bp = bp->b_cont) {
		uint32_t len = (uint32_t)str_blen(bp);

		if ((bp->b_datap->db_type != M_DATA) != ctl || len == 0)
			continue;
		len = STR_MIN(len, n - off);
		if (host_copyout(bp->b_rptr, (char *)sb->buf + off, len) != 0)
			return EFAULT;
		off += len;
	}
	return 0;
}

static long
i_peek(struct ioc *c)
{
	struct str_head *sd = c->sd;
	struct u_strpeek pk;
	struct str_rec rec;
	unsigned flags;
	bool hipri;
	int band, err = 0;
	int pkflags;

	if (host_copyin((const void *)c->arg, &pk, sizeof(pk)) != 0)
		return -EFAULT;
	pkflags = (int)pk.flags;
	/* LiS: MSG_ANY means the first message, whatever it is */
	if (pkflags != 0 && pkflags != RS_HIPRI && pkflags != MSG_ANY)
		return -EINVAL;
	if (!str_head_pending(sd))
		(void)str_sock_try(sd, c->hc, KS_IN);
	lock_c(sd);
	if (!front(sd, &rec, &band, &hipri, &flags) ||
	    (pkflags == RS_HIPRI && !hipri)) {
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
		return 0;
	}
	if (rec.mp != NULL && rec.mp->b_datap->db_type == M_PASSFP) {
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
		return -EBADMSG; /* getmsg(2) cannot return it */
	}
	err = peek_part(&rec, true, &pk.ctl);
	if (err == 0)
		err = peek_part(&rec, false, &pk.data);
	str_hunlock(&sd->hq.clock, STR_HOLD_C);
	if (err != 0)
		return -EFAULT;
	pk.flags = hipri ? RS_HIPRI : 0;
	return host_copyout(&pk, (void *)c->arg, sizeof(pk)) != 0 ? -EFAULT : 1;
}

static long
i_ckband(struct ioc *c)
{
	struct str_head *sd = c->sd;
	queue_t *q = &sd->qp->rq;
	int band = (int)c->arg;
	mblk_t *mp;
	int yes = 0;

	if (band < -1 || band > 255)
		return -EINVAL;
	if (band <= 0 && str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos))
		return 1;
	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL && !yes; mp = mp->b_next)
		yes = mp->b_datap->db_type < QPCTL &&
			(band == -1 || mp->b_band == band);
	str_unlock(&q->q_klock);
	return yes;
}

static long
i_getband(struct ioc *c)
{
	struct str_rec rec;
	unsigned flags;
	bool hipri, any;
	int band;

	lock_c(c->sd);
	any = front(c->sd, &rec, &band, &hipri, &flags);
	str_hunlock(&c->sd->hq.clock, STR_HOLD_C);
	if (!any)
		return -ENODATA;
	return out_int(c, band);
}

/* Number of marked messages that wait. */
static unsigned
marks(struct str_head *sd)
{
	queue_t *q = &sd->qp->rq;
	unsigned n = str_headq_records(&sd->hq, STR_REC_MARK);
	mblk_t *mp;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		n += (mp->b_flag & MSGMARK) != 0;
	str_unlock(&q->q_klock);
	return n;
}

static long
i_atmark(struct ioc *c)
{
	int how = (int)c->arg;
	struct str_rec rec;
	unsigned flags;
	bool hipri, any;
	int band;

	if (how == 0 || (how & ~(ANYMARK | LASTMARK)) != 0)
		return -EINVAL;
	lock_c(c->sd);
	any = front(c->sd, &rec, &band, &hipri, &flags);
	str_hunlock(&c->sd->hq.clock, STR_HOLD_C);
	if (!any || (flags & MSGMARK) == 0)
		return 0;
	if (how & ANYMARK)
		return 1;
	/* LASTMARK: there is no other marked message */
	return marks(c->sd) == 1;
}

/* As I_ATMARK with ANYMARK, for programs written for sockets. */
static long
siocatmark(struct ioc *c)
{
	struct ioc any = {.sd = c->sd, .hc = c->hc, .cmd = c->cmd, .arg = ANYMARK};

	return out_int(c, (int)i_atmark(&any));
}

static long
i_canput(struct ioc *c)
{
	int band = (int)c->arg;
	long ok;

	if (band < -1 || band > 255)
		return -EINVAL;
	(void)str_claim(c->sd->plumb);
	ok = c->sd->qp->wq.q_next != NULL &&
		bcanput(c->sd->qp->wq.q_next, band);
	str_unclaim(c->sd->plumb);
	if (!ok)
		str_sig_refused(c->sd, band > 0 ? band : 0);
	return ok;
}

static long
i_isastream(struct ioc *c)
{
	(void)c;
	return 0;
}

/*
 * Address of @field in the user's struct strpmsg, which is not validated yet.
 */
#define IN(c, field) \
	((void *)((c)->arg + offsetof(struct u_strpmsg, field)))

/* getpmsg(2) and putpmsg(2) as ioctl commands: one structure contains their
 * arguments. */
static long
i_getpmsg(struct ioc *c)
{
	return str_head_getmsg(c->sd, c->hc, IN(c, ctl), IN(c, data),
		IN(c, band), IN(c, flags));
}

static long
i_putpmsg(struct ioc *c)
{
	int bf[2];

	if (host_copyin(IN(c, band), bf, sizeof(bf)) != 0)
		return -EFAULT;
	/* -1 would mean putmsg(2), which has other flags */
	return str_head_putmsg(c->sd, c->hc, IN(c, ctl), IN(c, data),
		bf[0] == -1 ? -2 : bf[0], bf[1]);
}

static long
i_fdinsert(struct ioc *c)
{
	return str_head_fdinsert(c->sd, c->hc, (const void *)c->arg);
}

static long
i_lis_debug(struct ioc *c)
{
	(void)c;
	return 0;
}

/* ------------------------------------------------------------ the table */

/* Conditions that end the command before its argument is examined. */
#define RD 1u	 /* a read error */
#define WR 2u	 /* a write error */
#define HUP 4u	 /* a hang-up */
#define ALL (RD | WR | HUP)

/* Multiplexors and passed descriptors: plumb/link.c, head/pass.c. */
static long
i_link(struct ioc *c)
{
	return str_ioctl_link(c->sd, c->hc, c->cmd & 0xffffu, c->arg);
}

static long
i_pass(struct ioc *c)
{
	return str_ioctl_pass(c->sd, c->hc, c->cmd & 0xffffu, c->arg);
}

static const struct cmd {
	unsigned cmd;
	unsigned when;
	long (*fn)(struct ioc *);
} cmds[] = {
	{I_NREAD, RD, i_nread},
	{I_PUSH, ALL, i_push},
	{I_POP, ALL, i_pop},
	{I_LOOK, 0, i_look},
	{I_FLUSH, ALL, i_flush},
	{I_SRDOPT, 0, i_srdopt},
	{I_GRDOPT, 0, i_grdopt},
	{I_STR, ALL, str_ioctl_str},
	{I_SETSIG, 0, i_setsig},
	{I_GETSIG, 0, i_getsig},
	{I_FIND, 0, i_find},
	{I_PEEK, RD, i_peek},
	{I_LINK, ALL, i_link},
	{I_UNLINK, ALL, i_link},
	{I_PLINK, ALL, i_link},
	{I_PUNLINK, ALL, i_link},
	{I_SENDFD, WR | HUP, i_pass},
	{I_RECVFD, RD, i_pass},
	{I_FDINSERT, 0, i_fdinsert},
	{I_SWROPT, 0, i_swropt},
	{I_GWROPT, 0, i_gwropt},
	{I_LIST, 0, i_list},
	{I_ANCHOR, ALL, i_anchor},
	{I_FLUSHBAND, ALL, i_flushband},
	{I_CKBAND, RD, i_ckband},
	{I_GETBAND, RD, i_getband},
	{I_ATMARK, RD, i_atmark},
	{I_SETCLTIME, 0, i_setcltime},
	{I_GETCLTIME, 0, i_getcltime},
	{I_CANPUT, WR | HUP, i_canput},
	{I_SERROPT, 0, i_serropt},
	{I_GERROPT, 0, i_gerropt},
	{I_ESETSIG, 0, i_esetsig},
	{I_EGETSIG, 0, i_egetsig},
	{I_GETPMSG, 0, i_getpmsg},
	{I_PUTPMSG, 0, i_putpmsg},
	{I_PIPE, ALL, i_pipe},
	{I_ISASTREAM, 0, i_isastream},
	{I_GET_STH_WROFF, 0, i_get_sth_wroff},
	{I_GET_STRMSGSZ, 0, i_get_strmsgsz},
	{I_GET_STRCTLSZ, 0, i_get_strctlsz},
	{I_GET_PUSHCNT, 0, i_get_pushcnt},
	{I_SET_HIWAT, 0, i_set_hiwat},
	{I_SET_LOWAT, 0, i_set_lowat},
	{I_GET_HIWAT, 0, i_get_hiwat},
	{I_GET_LOWAT, 0, i_get_lowat},
	{I_LIS_SDBGMSK, 0, i_lis_debug},
	{I_LIS_SDBGMSK2, 0, i_lis_debug},
	{I_LIS_PRNTMEM, 0, i_lis_debug},
	{I_LIS_PRNTSTRM, 0, i_lis_debug},
	{FIONREAD, 0, fionread},
	{TIOCGPGRP, 0, tiocgpgrp},
	{TIOCSPGRP, 0, tiocspgrp},
	{TIOCGSID, 0, tiocgsid},
	{FIOSETOWN, 0, set_owner},
	{FIOGETOWN, 0, get_owner},
	{SIOCSPGRP, 0, set_owner},
	{SIOCGPGRP, 0, get_owner},
	{SIOCATMARK, RD, siocatmark},
};

/* State of the stream comes before the argument. */
static int
state_error(struct str_head *sd, unsigned when)
{
	uint32_t f = str_load(&sd->flags);
	int err = 0;

	if (str_likely((f & (STR_H_PLEX | STR_H_RDERR | STR_H_WRERR |
		    STR_H_HUP | STR_H_PEER)) == 0))
		return 0;
	if (f & STR_H_PLEX)
		return EINVAL;
	if (when & RD)
		err = str_head_rderr(sd);
	if (err == 0 && (when & WR))
		err = str_head_wrerr(sd);
	if (err == 0 && (when & HUP) && (f & (STR_H_HUP | STR_H_PEER)))
		err = ENXIO;
	return err;
}

int
str_head_state_error(struct str_head *sd)
{
	return state_error(sd, ALL);
}

long
str_head_ioctl(struct str_head *sd, struct host_call *hc, unsigned long cmd,
	unsigned long arg)
{
	struct ioc c = {.sd = sd, .hc = hc, .cmd = (unsigned)cmd, .arg = arg};
	unsigned i;
	int err;

	hc->head = sd;
	if (str_load(&sd->flags) & STR_H_LOOK)
		(void)str_head_look(sd, hc);
	for (i = 0; i < STR_ARRAY_LEN(cmds); i++) {
		if (cmds[i].cmd != (c.cmd & 0xffffu))
			continue;
		err = state_error(sd, cmds[i].when);
		return err != 0 ? -err : cmds[i].fn(&c);
	}
	err = str_head_state_error(sd);
	return err != 0 ? -err : str_ioctl_other(&c);
}
