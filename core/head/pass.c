/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * I_SENDFD and I_RECVFD: descriptors passed through a pipe or a FIFO.
 *
 * Life.  The sender gives an M_PASSFP message directly to the other head, which
 * appends it to its head queue.  For a Stream the message carries a reference,
 * from which the receiver makes an open file.  Any other descriptor is put into
 * the box of the receiving head (core/sock/box.c), and the message has its
 * number there.
 *
 * Freeing.  The message's buffer is a struct str_pass.  A message that is
 * flushed, or still queued when the pipe is closed, releases its reference
 * (str_msg_of_pass()).  A descriptor without a message is closed by the next
 * receiver, or by streamsd, which is requested to check.
 *
 * Crash.  A sender that is killed before its message is on the queue leaves a
 * descriptor without a message.  A receiver has its duplicate before it marks
 * the message as received, and takes the descriptor out of the box last: if it
 * is killed before the mark, another receiver gets the same descriptor.
 *
 * Locks.  The lock of the box is taken within a claim, and plock within the
 * lock of the box.
 */
#include "core.h"
#include "sock/sock.h"
#include <sys/stropts.h>

/* Equal in layout to struct strrecvfd of <stropts.h>. */
struct u_recvfd {
	int fd;
	uint32_t uid, gid;
	char fill[8];
};

/* The last freeb() of an M_PASSFP.  The pass is stamped with this thread: if it
 * dies, its reaper does this. */
void
str_pass_free(char *arg)
{
	struct str_pass *p = (struct str_pass *)(void *)arg;
	uint32_t v;

	str_ref_begin();
	/*
	 * the thread that was taking it is dead: this is the last reference to
	 * the message
	 */
	v = str_xchg(&p->taken, 1u);
	if (v != 1 && p->head != NULL) {
		if (host_tls.nclaim == 0)
			str_head_unref(p->head, NULL);
		else
			str_head_unref_later(p->head); /* the close is done
						        * later */
	} else {
		str_ref_end();
		if (v != 1)
			host_daemon_look(); /* closes the descriptor */
	}
	str_mem_free(p);
}

static mblk_t *
pass_make(struct str_pass **ret, struct str_head *at)
{
	struct str_pass *p = str_mem_zalloc(sizeof(*p), STR_BLK_KMEM);
	struct host_cred cr;
	frtn_t frtn;
	mblk_t *mp;

	if (p == NULL)
		return NULL;
	frtn.free_func = (void (*)(char *))(uintptr_t)host_code(1,
		(void (*)(void))str_pass_free);
	frtn.free_arg = (char *)p;
	p->at = at;
	str_store(&p->taken, 1u); /* no reference to release yet */
	str_store_rel(&p->blk.state, STR_BLK_PASS);
	host_cred(&cr);
	p->uid = cr.uid;
	p->gid = cr.gid;
	mp = str_msg_of_pass(p, &frtn);
	if (mp == NULL) {
		str_mem_free(p);
		return NULL;
	}
	*ret = p;
	return mp;
}

/* Append @mp to the head queue of @to, which is claimed, bypassing modules. */
static void
send(struct str_head *to, struct host_call *hc, mblk_t *mp)
{
	struct host_call *old = host_tls.call;

	host_tls.call = hc;
	str_head_rput(to, &to->qp->rq, mp);
	host_tls.call = old;
}

/*
 * str_pass_head - pass a new open file of @sd to the reader at @to
 * The reference that the caller has counted by str_head_ref() goes with it; if
 * there is no memory, the caller keeps it.
 * Return: 0, EAGAIN no memory.
 */
int
str_pass_head(struct str_head *to, struct host_call *hc, struct str_head *sd,
	int fflags)
{
	struct str_pass *p;
	mblk_t *mp = pass_make(&p, to);

	if (mp == NULL)
		return EAGAIN;
	p->head = sd;
	p->fflags = (uint32_t)fflags;
	str_store_rel(&p->taken, 0u);
	str_ref_end();
	STR_CRASH_POINT("pass:made");
	(void)str_claim(to->plumb);
	send(to, hc, mp);
	str_unclaim(to->plumb);
	return 0;
}

static int
send_other(struct str_head *sd, struct host_call *hc, int fd)
{
	struct str_head *to = sd->peer;
	struct host_label l;
	struct str_pass *p;
	uint64_t box;
	mblk_t *mp;
	int err;

	err = str_box_of(to, &box);
	if (err != 0)
		return err;
	mp = pass_make(&p, to);
	if (mp == NULL)
		return EAGAIN;
	(void)str_claim(to->plumb);
	(void)str_lock(&to->boxlock);
	p->box = box;
	p->id = str_add(str_root(STR_ROOT_EVID), (uint64_t)1) + 1;
	l.id = p->id;
	l.pass = (uint64_t)(uintptr_t)p;
	err = host_box_put(box, fd, &l);
	if (err == 0) {
		(void)str_add(&to->npass, 1u);
		STR_CRASH_POINT("pass:laid");
		str_store_rel(&p->taken, 0u);
		send(to, hc, mp);
		STR_CRASH_POINT("pass:sent");
	}
	str_unlock(&to->boxlock);
	str_unclaim(to->plumb);
	if (err != 0)
		freemsg(mp);
	str_fence_full(); /* pairs with the mark of str_pipe_close_end() */
	if (str_load(&to->flags) & STR_H_CLOSED) {
		host_box_empty(box);
		return ENXIO;
	}
	return err;
}

/*
 * A duplicate of the descriptor of @p.  Return: 0; EMFILE; EIO: the descriptor
 * is lost, perhaps with the last process that had the box; EBUSY: try again.
 */
static int
take_other(struct str_head *sd, struct str_pass *p, int *ret_fd)
{
	int err = host_box_ready(p->box, false);

	if (err != 0) /* another process may still pass the box to this one */
		return err == EIO && str_box_held(p->box) ? EBUSY : err;
	(void)str_lock(&sd->boxlock);
	err = EIO;
	if (str_box_first(sd, p->box) == p->id)
		err = host_box_dup(p->box, ret_fd);
	str_unlock(&sd->boxlock);
	return err;
}

/* @p has been received: it leaves the box. */
static void
took_other(struct str_head *sd, struct str_pass *p)
{
	(void)str_lock(&sd->boxlock);
	(void)str_box_first(sd, p->box);
	str_unlock(&sd->boxlock);
}

/* Is @fd the carrier of a stream of this domain? */
static bool
is_carrier(int fd)
{
	struct host_carrier c;

	return host_carrier_id(fd, &c) == 0 && str_dir_find(c.cookie) != NULL;
}

static long
i_sendfd(struct str_head *sd, struct host_call *hc, int fd)
{
	struct str_head *what;
	int err;

	if (!str_fd_is_open(fd))
		return -EBADF;
	if (sd->plumb->kind == STR_PL_DEV)
		return -EINVAL;
	what = str_head_of_fd(hc, fd);
	if (what == sd)
		return -EINVAL;
	if (what == NULL && is_carrier(fd))
		return -ENXIO; /* of a Stream that is closed */
	if (str_load(&sd->peer->flags) & STR_H_CLOSED)
		return -ENXIO;
	if (str_headq_is_full(&sd->peer->hq))
		return -EAGAIN;
	if (what == NULL)
		return -send_other(sd, hc, fd);
	str_head_ref(what);
	(void)host_daemon(); /* it closes descriptors that are never received */
	err = str_pass_head(sd->peer, hc, what, str_fd_flags(fd));
	if (err != 0)
		str_head_unref(what, hc);
	return -err;
}

/* Make a descriptor from @p. */
static int
take(struct str_head *sd, struct host_call *hc, struct str_pass *p, int *ret_fd)
{
	struct host_carrier c;
	struct str_file *f;
	int err, fd;

	if (p->head == NULL)
		return take_other(sd, p, ret_fd);
	err = host_carrier_open((int)p->fflags & STR_O_NONBLOCK, &fd, &c);
	if (err != 0)
		return err;
	err = str_file_add(p->head, &c, (int)p->fflags, &f);
	if (str_unlikely(err != 0) && str_region_room())
		err = str_file_add(p->head, &c, (int)p->fflags, &f);
	if (err != 0) {
		host_fd_close(fd);
		host_carrier_gone(&c);
		return EAGAIN;
	}
	(void)str_add(&p->head->iocword, 1u);
	(void)host_wake(&p->head->iocword, INT_MAX);
	STR_CRASH_POINT("pass:opened");
	str_ref_begin();
	str_store_rel(&p->taken, 1u);
	str_head_unref(p->head, hc);
	(void)host_daemon();
	*ret_fd = fd;
	return 0;
}

static struct str_pass *
pass_of(mblk_t *mp)
{
	return (struct str_pass *)(void *)mp->b_datap->db_base;
}

/* The first message, an M_PASSFP, which stays; NULL with *ret_err: EAGAIN no
 * message, EBADMSG another type, ENOSR no memory. */
static mblk_t *
first(struct str_head *sd, int *ret_err)
{
	struct str_rec rec;
	mblk_t *mp = NULL;

	*ret_err = EAGAIN;
	if (str_load(&sd->hq.npri) != 0) {
		*ret_err = EBADMSG;
		return NULL;
	}
	if (str_hlock(&sd->hq.clock, STR_HOLD_C))
		str_headq_repair_c(&sd->hq);
	if (str_headq_first(&sd->hq, &rec)) {
		*ret_err = EBADMSG;
		if (rec.mp != NULL && rec.mp->b_datap->db_type == M_PASSFP) {
			mp = dupb(rec.mp); /* keeps it from being freed */
			*ret_err = mp != NULL ? 0 : ENOSR;
		}
	}
	str_hunlock(&sd->hq.clock, STR_HOLD_C);
	return mp;
}

/* Take @p's message off the queue, if it is still first. */
static void
drop_first(struct str_head *sd, const struct str_pass *p)
{
	struct str_rec rec;

	if (str_hlock(&sd->hq.clock, STR_HOLD_C))
		str_headq_repair_c(&sd->hq);
	if (str_headq_first(&sd->hq, &rec) && rec.mp != NULL &&
	    rec.mp->b_datap->db_type == M_PASSFP &&
	    rec.mp->b_datap->db_base == (const unsigned char *)p)
		str_headq_advance(&sd->hq, &rec, 0, rec.data == ~0u ? 0 :
			rec.data, STR_TOOK_ALL);
	str_hunlock(&sd->hq.clock, STR_HOLD_C);
}

/*
 * Wait while another holder of this end, thread @v, is taking @p (it may be
 * stopped), or until another process has passed the box.  The caller has the
 * message.
 * Return: 0 look again; EAGAIN, EINTR.
 */
static int
let_take(struct str_pass *p, uint32_t v, struct host_call *hc)
{
	if (hc->fflags & STR_O_NONBLOCK)
		return EAGAIN;
	str_owner_wait(hc, &p->taken, v, 1000000u);
	if (host_interrupted(hc) == HOST_SIG_INTR)
		return EINTR;
	host_resample(hc); /* otherwise the next wait returns at once */
	return 0;
}

/*
 * Wait until the first message is an M_PASSFP, and store this thread's tag in
 * its `taken'.  Return: 0, an errno.
 */
static int
claim_first(struct str_head *sd, struct host_call *hc, mblk_t **ret_mp)
{
	struct str_transit transit = {0};
	struct str_pass *p;
	bool last = false;
	mblk_t *mp;
	uint32_t v;
	int err;

	for (;;) {
		mp = first(sd, &err);
		if (mp != NULL) {
			p = pass_of(mp);
			v = str_load(&p->taken);
			if ((v == 0 || (v != 1 && host_owner_dead(v))) &&
			    str_cas(&p->taken, v, host_self_tag())) {
				*ret_mp = mp;
				return 0;
			}
			/*
			 * 1: the message was received, and its receiver may
			 * have died before it removed the message.  Otherwise
			 * another holder is receiving it
			 */
			err = 0;
			if (v == 1)
				drop_first(sd, p);
			else
				err = let_take(p, v, hc);
			freemsg(mp);
			if (err != 0)
				return err;
			continue;
		}
		if (err != EAGAIN)
			return err;
		if (str_load(&sd->flags) & STR_H_RDERR)
			return (int)str_load(&sd->rerror);
		if (str_load(&sd->flags) & (STR_H_HUP | STR_H_PEER)) {
			/* one that came before the hang-up may be seen now */
			err = str_head_transit(sd, hc, &transit);
			if (err != EAGAIN && (err != 0 || last))
				return err != 0 ? err : ENXIO;
			last = err == 0;
			continue;
		}
		if (hc->fflags & STR_O_NONBLOCK) {
			if (str_head_look(sd, hc) == 0 &&
			    (str_load(&sd->flags) & STR_H_PEER) != 0)
				return ENXIO;
			return EAGAIN;
		}
		err = str_sleep(sd, hc, STR_SLEEP_READ, UINT64_MAX);
		if (err != 0)
			return err;
	}
}

static long
i_recvfd(struct str_head *sd, struct host_call *hc, void *uarg)
{
	struct u_recvfd r;
	struct str_pass *p;
	mblk_t *mp = NULL;
	int err, fd = -1;

	if (sd->plumb->kind == STR_PL_DEV)
		return -EINVAL; /* no process can send one there */
	/* a bad address must not lose the descriptor */
	if (host_copyin(uarg, &r, sizeof(r)) != 0 ||
	    host_copyout(&r, uarg, sizeof(r)) != 0)
		return -EFAULT;
	for (;;) {
		err = claim_first(sd, hc, &mp);
		if (err != 0)
			return -err;
		p = pass_of(mp);
		err = take(sd, hc, p, &fd);
		if (err != EBUSY)
			break;
		str_store(&p->taken, 0u);
		err = let_take(p, 0, hc);
		freemsg(mp);
		if (err != 0)
			return -err;
	}
	if (err != 0 && err != EIO) {
		str_store(&p->taken, 0u);
	} else {
		STR_CRASH_POINT("pass:taken");
		str_store(&p->taken, 1u);
		r.fd = fd;
		r.uid = p->uid;
		r.gid = p->gid;
		__builtin_memset(r.fill, 0, sizeof(r.fill));
		if (p->head == NULL)
			took_other(sd, p);
		STR_CRASH_POINT("pass:received");
		drop_first(sd, p);
	}
	freemsg(mp);
	if (err == 0 && host_copyout(&r, uarg, sizeof(r)) != 0) {
		host_fd_close(fd);
		return -EFAULT;
	}
	return -err;
}

long
str_ioctl_pass(struct str_head *sd, struct host_call *hc, unsigned cmd,
	unsigned long arg)
{
	if (cmd == I_SENDFD)
		return i_sendfd(sd, hc, (int)arg);
	return i_recvfd(sd, hc, (void *)arg);
}

/* ------------------------------------------------------------ descriptors */

bool
str_fd_is_open(int fd)
{
	struct host_carrier c;

	return fd >= 0 && host_carrier_id(fd, &c) != EBADF;
}

struct str_file *
str_file_of_fd(int fd)
{
	struct host_carrier c;

	if (fd < 0 || host_carrier_id(fd, &c) != 0)
		return NULL;
	return str_file_lookup(&c);
}

struct str_head *
str_head_of_fd(struct host_call *hc, int fd)
{
	struct str_file *f = str_file_of_fd(fd);

	(void)hc;
	return f != NULL ? f->head : NULL;
}

int
str_fd_flags(int fd)
{
	struct str_file *f = str_file_of_fd(fd);

	return f != NULL ? (int)str_load(&f->fflags) : 2;
}
