/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Ioctls that go down the stream: I_STR and transparent ones.
 *
 * The command travels as an M_IOCTL.  The head serves the M_COPYIN and
 * M_COPYOUT messages that come back, until an M_IOCACK or M_IOCNAK ends the
 * command.  At each head, one command is in progress at a time; further ones
 * wait. `iocbusy' names the thread whose turn it is, so that a dead thread's
 * turn is taken over.
 *
 * For commands that set a terminal the message contains the argument's data, as
 * for I_STR, because SVR4's head knows its size; every other command that the
 * head does not know is transparent.
 */
#include "core.h"
#include "ioctl.h"
#include "sig.h"
#include "sock/sock.h"

#define MS 1000000ull
#define WAITED (1u << 31) /* in iocword */

/* Equal in layout to struct strioctl of <stropts.h>. */
struct u_strioctl {
	int cmd, timout, len;
	void *dp;
};

/*
 * Stop waiting for an answer.  The owner of iocbusy calls this.
 * Return: true: from here on no answer is stored or accepted.  False: thread
 * *ret_who is storing an answer.  The next owner of iocbusy must not take this
 * answer as its own, and waits in begin() until it is stored.
 */
static bool
forget_answer(struct str_head *sd, uint32_t *ret_who)
{
	mblk_t *mp;
	uint32_t v;

	while (!str_cas(&sd->ioc.state, 1u, 0u)) {
		v = str_load_acq(&sd->ioc.state);
		if (v > 2) {
			*ret_who = v;
			return false;
		}
		if (v == 0 || (v == 2 && str_cas(&sd->ioc.state, v, 0u)))
			break;
	}
	mp = sd->ioc.reply;
	if (mp != NULL) {
		/* stamp it first, so that a reaper always finds it */
		str_msg_own(mp);
		sd->ioc.reply = NULL;
		str_ioctl_stale(sd, mp);
	}
	return true;
}

/*
 * Thread @who is storing the answer, and may have died meanwhile: its reaper
 * decides whether it was stored, str_ioctl_revive(). @locked: this thread holds
 * locks and must not reap.
 */
static void
look_after(struct str_head *sd, uint32_t who, bool locked)
{
	if (!host_owner_dead(who))
		return;
	if (locked)
		host_daemon_look();
	else if (!host_reap_dead(who) &&
	    str_load(&host_domain->thread[STR_TAG_IDX(who)].tag) != who)
		(void)str_cas(&sd->ioc.state, who, 0u); /* reaped long ago */
}

/* Does the signal end @hc's wait? */
static bool
ends(struct host_call *hc, bool nointr)
{
	if (host_interrupted(hc) == HOST_SIG_INTR && !nointr)
		return true;
	host_resample(hc);
	return false;
}

/*
 * str_ioctl_tell - wake the threads that wait for the answer, or for their turn
 * The top bit of iocword, WAITED, is set if there are such threads.  Usually
 * there are none, because the answer comes before its caller sleeps.
 */
void
str_ioctl_tell(struct str_head *sd)
{
	if ((str_add(&sd->iocword, 1u) & WAITED) == 0)
		return;
	(void)str_and(&sd->iocword, ~WAITED);
	host_wake(&sd->iocword, INT_MAX);
}

/* Sleep while iocword, WAITED aside, is @w; as host_wait(). */
static int
wait_word(struct ioc *c, uint32_t w, uint64_t ns)
{
	str_a32 *word = &c->sd->iocword;

	if ((w & WAITED) == 0 && !str_cas(word, w, w | WAITED))
		return 0;
	return host_wait(c->hc, word, w | WAITED, ns);
}

/* End this thread's turn. */
static void
give_up(struct str_head *sd)
{
	str_store_rel(&sd->iocbusy, 0u);
	str_ioctl_tell(sd);
}

/*
 * Begin this thread's turn: wait for the end of the command in progress, and
 * for a late answer to it.
 * Return: 0, ETIME, EINTR; EBADF: the stream was freed meanwhile.
 */
static int
begin(struct ioc *c, uint64_t deadline)
{
	struct str_head *sd = c->sd;
	uint32_t me = host_self_tag(), who, seq = host_tls.sig_seq;
	uint64_t sid = sd->plumb->sid;
	bool mine = false;
	int err;

	for (;;) {
		uint32_t w = str_load(&sd->iocword);
		uint32_t v = str_load(&sd->iocbusy);
		uint64_t now;

		if (!mine && (v == 0 || host_owner_dead(v)))
			mine = str_cas(&sd->iocbusy, v, me);
		if (mine) {
			if (forget_answer(sd, &who))
				return 0;
			look_after(sd, who, c->locked);
		}
		now = host_now();
		err = now >= deadline ? ETIME : 0;
		if (err == 0 && wait_word(c, w,
			    STR_MIN(deadline - now, 10 * MS)) == EINTR &&
		    ends(c->hc, c->nointr))
			err = EINTR;
		if (str_head_gone(sd, sid, seq))
			return EBADF;
		if (err != 0) {
			if (mine)
				give_up(sd);
			return err;
		}
	}
}

static void
end(struct str_head *sd)
{
	uint32_t who;

	(void)forget_answer(sd, &who);
	give_up(sd);
	str_sched_touched(); /* a failed copy may have enabled a queue */
}

/*
 * str_ioctl_revive - thread @dead may have had the turn, or the answer
 * An answer that it had not stored yet is lost, and the waiting caller gets
 * EIO.
 */
void
str_ioctl_revive(struct str_head *sd, uint32_t dead)
{
	uint32_t me = host_self_tag();

	if (str_load(&sd->ioc.state) == dead &&
	    str_cas(&sd->ioc.state, dead, me)) {
		mblk_t *mp = sd->ioc.reply;

		if (mp != NULL)
			str_msg_disown(mp);
		str_store_rel(&sd->ioc.state, mp != NULL ? 2u : 0u);
		str_ioctl_tell(sd);
	}
	if (str_load(&sd->iocbusy) == dead && str_cas(&sd->iocbusy, dead, me))
		end(sd);
}

/* str_ioctl_is_part - is @mp one of the messages of an ioctl? */
bool
str_ioctl_is_part(const mblk_t *mp)
{
	switch (mp->b_datap->db_type) {
	case M_IOCTL:
	case M_IOCDATA:
	case M_COPYIN:
	case M_COPYOUT:
	case M_IOCACK:
	case M_IOCNAK:
		return true;
	default:
		return false;
	}
}

struct lost {
	mblk_t *mp; /* NULL: the waiting caller has got it */
	uint32_t id;
};

/* Does a caller wait at @pl for the lost message? */
static bool
tell_lost(struct str_plumb *pl, void *arg)
{
	struct lost *l = arg;
	unsigned e;

	for (e = 0; e < pl->nheads && l->mp != NULL; e++) {
		struct str_head *sd = &pl->head[e];

		if (sd->ioc.id != l->id || str_load(&sd->ioc.state) != 1)
			continue;
		str_head_rput(sd, &sd->qp->rq, l->mp);
		l->mp = NULL;
	}
	return l->mp == NULL;
}

/*
 * str_ioctl_lost - @mp, part of an ioctl, was on a queue that is freed
 * No module can answer it now: an M_IOCACK or M_IOCNAK is delivered; any other
 * one, a copy request and an M_IOCDATA, too, becomes an M_IOCNAK.  If there are
 * other references to the message, one of them may still be answered: only this
 * reference is freed.
 * @pl: the queue's stream, which is the waiting caller's stream, except below
 * a multiplexor.
 */
void
str_ioctl_lost(mblk_t *mp, struct str_plumb *pl)
{
	struct iocblk *ioc = (struct iocblk *)(void *)mp->b_rptr;
	unsigned type = mp->b_datap->db_type;
	struct lost l = {.mp = mp};

	if (str_blen(mp) < offsetof(struct iocblk, ioc_flag) ||
	    (size_t)(mp->b_datap->db_lim - mp->b_rptr) < sizeof(*ioc) ||
	    str_load_acq(&mp->b_datap->db_ref) != 1) {
		freemsg(mp);
		return;
	}
	l.id = ioc->ioc_id;
	if (type != M_IOCACK && type != M_IOCNAK) {
		freemsg(mp->b_cont);
		mp->b_cont = NULL;
		mp->b_datap->db_type = M_IOCNAK;
		mp->b_wptr = mp->b_rptr + sizeof(*ioc);
		ioc->ioc_error = EINVAL;
		ioc->ioc_rval = 0;
		ioc->ioc_count = 0;
	}
	if (!tell_lost(pl, &l))
		str_stream_walk(tell_lost, &l);
	freemsg(l.mp);
}

/*
 * str_head_down - put @mp to the queue below @sd; a claim is held
 * Return: false if there is none any more: another thread has closed the stream
 * since this call tested its flags.
 */
bool
str_head_down(struct str_head *sd, mblk_t *mp)
{
	queue_t *q = sd->qp->wq.q_next;

	if (str_unlikely(q == NULL)) {
		freemsg(mp);
		return false;
	}
	str_put(q, mp);
	return true;
}

/*
 * Send @mp down and wait for the answer.  Return: 0 with *ret, which the caller
 * owns; or an errno; with c->gone the stream was freed.
 */
static int
exchange(struct ioc *c, mblk_t *mp, uint64_t deadline, mblk_t **ret)
{
	struct str_head *sd = c->sd;
	struct host_call *old = host_tls.call;
	uint32_t seq = host_tls.sig_seq;
	uint64_t sid = sd->plumb->sid;
	bool down;
	int err;

	str_store_rel(&sd->ioc.state, 1u);
	STR_CRASH_POINT("ioctl:begun");
	(void)str_claim(sd->plumb);
	host_tls.call = c->hc;
	down = str_head_down(sd, mp);
	(void)str_sched_run(sd->plumb);
	host_tls.call = old;
	str_unclaim(sd->plumb);
	str_outside_sent(sd, c->hc, false);
	if (!down) {
		str_store(&sd->ioc.state, 0u);
		return ENXIO;
	}
	for (;;) {
		uint32_t w = str_load(&sd->iocword), f;
		uint64_t now;

		if (str_load_acq(&sd->ioc.state) == 2) {
			*ret = sd->ioc.reply;
			/* stamp it first, so that a reaper always finds it */
			str_msg_own(*ret);
			sd->ioc.reply = NULL;
			return 0;
		}
		if (str_load_acq(&sd->ioc.state) == 0)
			return EIO;
		f = str_load(&sd->flags);
		if (f & (STR_H_RDERR | STR_H_WRERR)) {
			err = str_head_rderr(sd);
			if (err == 0)
				err = str_head_wrerr(sd);
			if (err != 0)
				return err;
		}
		if (f & (STR_H_HUP | STR_H_PEER))
			return ENXIO;
		if (f & STR_H_LOOK)
			(void)str_head_look(sd, c->hc);
		if (str_sched_run_head(sd, c->hc))
			continue;
		str_sock_flush(c->hc);
		now = host_now();
		if (now >= deadline)
			return ETIME;
		err = wait_word(c, w, STR_MIN(deadline - now, 50 * MS));
		if (str_head_gone(sd, sid, seq)) {
			c->gone = true;
			return EBADF;
		}
		if (err == ETIMEDOUT)
			(void)str_head_look(sd, c->hc);
		if (err == EINTR && ends(c->hc, c->nointr))
			return EINTR;
	}
}

static mblk_t *
ioc_header(struct ioc *c, size_t count, int cmd)
{
	struct iocblk *ioc;
	struct host_cred cr;
	mblk_t *mp = allocb(sizeof(union ioctypes), BPRI_HI);

	if (mp == NULL)
		return NULL;
	mp->b_datap->db_type = M_IOCTL;
	__builtin_memset(mp->b_rptr, 0, sizeof(union ioctypes));
	ioc = (struct iocblk *)(void *)mp->b_rptr;
	mp->b_wptr += sizeof(*ioc);
	host_cred(&cr);
	ioc->ioc_cmd = cmd;
	ioc->ioc_count = count;
	ioc->ioc_uid = cr.uid;
	ioc->ioc_gid = cr.gid;
	c->sd->ioc.id = (uint32_t)str_add(str_root(STR_ROOT_IOCID),
				(uint64_t)1) + 1;
	ioc->ioc_id = c->sd->ioc.id;
	return mp;
}

/* M_COPYIN, M_COPYOUT: move the data, turn the message into M_IOCDATA. */
static int
copy_for_module(mblk_t *mp)
{
	struct copyreq *cq = (struct copyreq *)(void *)mp->b_rptr;
	struct copyresp *cp = (struct copyresp *)(void *)mp->b_rptr;
	char *addr = cq->cq_addr;
	size_t size = cq->cq_size;
	mblk_t *bp;
	int err = 0;

	if (mp->b_datap->db_type == M_COPYIN) {
		freemsg(mp->b_cont);
		mp->b_cont = str_msg_from_user(addr, size, M_DATA, &err);
	} else {
		for (bp = mp->b_cont; bp != NULL && size > 0 && err == 0;
			bp = bp->b_cont) {
			size_t n = STR_MIN(str_blen(bp), size);

			err = host_copyout(bp->b_rptr, addr, n);
			addr += n;
			size -= n;
		}
		freemsg(mp->b_cont);
		mp->b_cont = NULL;
	}
	mp->b_datap->db_type = M_IOCDATA;
	cp->cp_rval = (char *)(uintptr_t)(err != 0 ? (unsigned)err : 0u);
	mp->b_wptr = mp->b_rptr + sizeof(*cp);
	return err;
}

/*
 * Run one ioctl to its end. @mp: the M_IOCTL. @out: where the caller's memory
 * gets the data of an M_IOCACK (I_STR), as many bytes as the module says;
 * *ret_len is set to their number.  NULL: the answer's data is ignored (other
 * commands).
 */
static long
run(struct ioc *c, mblk_t *mp, uint64_t deadline, void *out, int *ret_len)
{
	struct str_head *sd = c->sd;
	const struct iocblk *ioc;
	mblk_t *r = NULL;
	long ret;
	int err;

	for (;;) {
		err = exchange(c, mp, deadline, &r);
		if (err != 0) {
			if (!c->gone)
				end(sd);
			return -err;
		}
		if (r->b_datap->db_type != M_COPYIN &&
		    r->b_datap->db_type != M_COPYOUT)
			break;
		err = copy_for_module(r);
		mp = r;
		if (err != 0) {
			/* the module gets the failure and sends no answer */
			struct host_call *old = host_tls.call;

			str_store(&sd->ioc.state, 0u);
			(void)str_claim(sd->plumb);
			host_tls.call = c->hc;
			(void)str_head_down(sd, mp);
			host_tls.call = old;
			str_unclaim(sd->plumb);
			end(sd);
			return -err;
		}
	}
	c->answered = true;
	ioc = (const struct iocblk *)(const void *)r->b_rptr;
	if (r->b_datap->db_type == M_IOCNAK) {
		ret = -(ioc->ioc_error != 0 ? ioc->ioc_error : EINVAL);
	} else if (ioc->ioc_error != 0) {
		ret = -ioc->ioc_error;
	} else {
		ret = ioc->ioc_rval;
		if (out != NULL) {
			size_t left = ioc->ioc_count, done = 0;
			mblk_t *bp;

			for (bp = r->b_cont; bp != NULL && left > 0;
				bp = bp->b_cont) {
				size_t n = STR_MIN(str_blen(bp), left);

				if (host_copyout(bp->b_rptr,
					    (char *)out + done, n) != 0) {
					ret = -EFAULT;
					break;
				}
				done += n;
				left -= n;
			}
			*ret_len = (int)done;
		}
	}
	freemsg(r);
	end(sd);
	return ret;
}

/*
 * Send the @len bytes of message @dp, or none if it is NULL, down as @cmd's
 * data; consumes @dp.  @out, @ret_len: as run().
 */
static long
send_data(struct ioc *c, int cmd, mblk_t *dp, int len, uint64_t deadline,
	void *out, int *ret_len)
{
	mblk_t *mp;
	int err = begin(c, deadline);

	if (err != 0) {
		freemsg(dp);
		return -err;
	}
	mp = ioc_header(c, (size_t)len, cmd);
	if (mp == NULL) {
		freemsg(dp);
		end(c->sd);
		return -ENOSR;
	}
	mp->b_cont = dp;
	return run(c, mp, deadline, out, ret_len);
}

long
str_ioctl_str(struct ioc *c)
{
	struct u_strioctl si;
	uint64_t deadline;
	mblk_t *dp = NULL;
	int err = 0, len = 0;
	long ret;

	if (host_copyin((const void *)c->arg, &si, sizeof(si)) != 0)
		return -EFAULT;
	if (si.len < 0 || si.len > (int)STR_MSGSZ || si.timout < -1)
		return -EINVAL;
	deadline = si.timout == -1 ? UINT64_MAX :
		host_now() + (si.timout == 0 ? STR_IOCTIME * MS :
					       (uint64_t)si.timout * 1000 * MS);
	if (si.len > 0) {
		dp = str_msg_from_user(si.dp, (size_t)si.len, M_DATA, &err);
		if (dp == NULL)
			return -err;
	}
	ret = send_data(c, si.cmd, dp, si.len, deadline, si.dp, &len);
	if (ret >= 0) {
		si.len = len;
		if (host_copyout(&si, (void *)c->arg, sizeof(si)) != 0)
			return -EFAULT;
	}
	return ret;
}

/* Do an I_STR that no signal ends, for a library whose operation must not be
 * interrupted in the middle. */
long
str_head_ioctl_str(struct str_head *sd, struct host_call *hc, unsigned long arg)
{
	struct ioc c = {.sd = sd, .hc = hc, .arg = arg, .nointr = true};
	int err;

	hc->head = sd;
	err = str_head_state_error(sd);
	return err != 0 ? -err : str_ioctl_str(&c);
}

static long
transparent(struct ioc *c)
{
	mblk_t *mp, *ap;
	int err = begin(c, UINT64_MAX);

	if (err != 0)
		return -err;
	mp = ioc_header(c, (size_t)TRANSPARENT, (int)c->cmd);
	ap = allocb(sizeof(long), BPRI_HI);
	if (mp == NULL || ap == NULL) {
		freemsg(mp);
		freemsg(ap);
		end(c->sd);
		return -ENOSR;
	}
	*(unsigned long *)(void *)ap->b_wptr = c->arg;
	ap->b_wptr += sizeof(long);
	mp->b_cont = ap;
	/* streamio(7): without limit, but for signals and hang-up */
	return run(c, mp, UINT64_MAX, NULL, NULL);
}

/*
 * Terminal commands whose argument's data is sent along, and its size; 0: by
 * value.
 */
static const struct {
	unsigned cmd;
	uint32_t size;
} ttys[] = {
	{0x5402u, 36}, /* TCSETS, TCSETSW, TCSETSF: struct termios */
	{0x5403u, 36},
	{0x5404u, 36},
	{0x5406u, 18}, /* TCSETA, TCSETAW, TCSETAF: struct termio */
	{0x5407u, 18},
	{0x5408u, 18},
	{0x5409u, 0}, /* TCSBRK, TCXONC, TCFLSH: int */
	{0x540au, 0},
	{0x540bu, 0},
};

#define TTY_FIRST 0x5401u
#define TTY_LAST 0x545du

/*
 * If the stream is not a terminal, an unknown command fails with ENOTTY, not
 * EINVAL.
 */
static long
tty(struct ioc *c)
{
	uint32_t f = str_load(&c->sd->flags);
	mblk_t *dp = NULL;
	unsigned i;
	long ret;
	int err = 0, v = (int)c->arg, len;

	if ((f & (STR_H_DEV | STR_H_MODS)) == 0)
		return -ENOTTY;
	for (i = 0; i < STR_ARRAY_LEN(ttys) && ttys[i].cmd != c->cmd; i++)
		;
	if (i == STR_ARRAY_LEN(ttys)) {
		ret = transparent(c);
	} else if ((err = str_tty_access(c->sd, c->hc, STR_TTY_SET)) != 0) {
		return -err;
	} else if (ttys[i].size != 0) {
		len = (int)ttys[i].size;
		dp = str_msg_from_user((const void *)c->arg, (size_t)len,
			M_DATA, &err);
		if (dp == NULL)
			return -err;
		ret = send_data(c, (int)c->cmd, dp, len, UINT64_MAX, NULL,
			NULL);
	} else {
		dp = allocb(sizeof(v), BPRI_HI);
		if (dp == NULL)
			return -ENOSR;
		*(int *)(void *)dp->b_wptr = v;
		dp->b_wptr += sizeof(v);
		ret = send_data(c, (int)c->cmd, dp, (int)sizeof(v), UINT64_MAX,
			NULL, NULL);
	}
	if (ret == -EINVAL && (str_load(&c->sd->flags) & STR_H_TTY) == 0)
		return -ENOTTY;
	return ret;
}

/*
 * str_ioctl_internal - a command of the executive itself (I_LINK and similar
 * ones), with @len bytes of data; the answer's data is ignored.  The caller may
 * hold the stream's busy lock, and the node's.
 * @hc: the call, or NULL.
 * @ms: limit of the wait.
 * *ret_answered: did an M_IOCACK or M_IOCNAK come?
 * Return: the answer's value, or minus an errno.
 */
long
str_ioctl_internal(struct str_head *sd, struct host_call *hc, int cmd,
	const void *data, size_t len, uint64_t ms, bool nointr,
	bool *ret_answered)
{
	struct ioc c = {.sd = sd, .hc = hc, .nointr = nointr, .locked = true};
	mblk_t *dp = allocb(len, BPRI_HI);
	long ret;

	*ret_answered = false;
	if (dp == NULL)
		return -ENOSR;
	__builtin_memcpy(dp->b_wptr, data, len);
	dp->b_wptr += len;
	ret = send_data(&c, cmd, dp, (int)len, host_now() + ms * MS, NULL,
		NULL);
	*ret_answered = c.answered;
	return ret;
}

long
str_ioctl_other(struct ioc *c)
{
	if (c->cmd >= TTY_FIRST && c->cmd <= TTY_LAST)
		return tty(c);
	return transparent(c);
}
