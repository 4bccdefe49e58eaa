/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Opening and closing device streams and FIFOs.
 *
 * Life.  The first open of a node makes its stream: a head, and for a device
 * the driver's queue pair below it, whose open procedure is called with its
 * procedures off.  Further opens add a file; those of a device first call the
 * open procedures of everything in the stream again.  The last close, by the
 * thread that finds that no file and no reference is left, drains, unlinks,
 * pops, calls the driver's close procedure, and frees.
 *
 * Locks.  The node's, over all of an open or a last close, except that an open
 * of a FIFO waits for the other side without it; then the stream's busy lock.
 * A clone open has no node until the driver has named a minor.
 *
 * Crash.  The reaper frees a stream that is not in the directory yet.  A device
 * stream is entered into the directory before its driver is called, with the
 * opener as its closer, so that the next sweep closes it if the opener dies.
 * If a closer dies half way, the next sweep begins the close again: each close
 * procedure is called once (`closing'), except that a driver's with
 * STR_D_RECLOSE is called again if the closer died in it.
 */
#include "core.h"
#include "sock/sock.h"
#include <sys/ddi.h>
#include <str/builtin.h>
#include <str/apush.h>

#define DRAIN_NS 10000000u /* between two checks of draining queues */
#define OWN_NS 1000000000u /* longest wait for another thread's close, which may
			    * be stopped: own_lock() */
#define OWN_POLL_NS 1000000u
#define SOCK_NS 100000000000u /* longest time without progress for the data of
			       * a socket that no process has any more */

/* ---------------------------------------------------------------- devices */

/* A stream for driver @fm, with the driver's pair in place, procedures off. */
static int
dev_make(struct str_fmod *fm, struct str_plumb **ret)
{
	struct str_plumb *pl = str_stream_alloc(STR_PL_DEV, STR_HIGH, STR_LOW);
	struct str_head *sd;
	struct str_qpair *qp;

	if (pl == NULL)
		return ENOSR;
	sd = &pl->head[0];
	(void)str_or(&sd->flags, STR_H_DEV | STR_H_MODS);
	qp = str_qpair_alloc(pl, fm);
	if (qp == NULL) {
		str_stream_discard(pl);
		return ENOSR;
	}
	qp->role = STR_QP_DRIVER;
	qp->rq.q_next = &sd->qp->rq;
	qp->wq.q_next = NULL;
	str_store(&qp->closing, 1u); /* nothing to close yet */
	pl->driver = qp;
	*ret = pl;
	return 0;
}

/* Undo dev_make(): the open procedure refused, or something after it. */
static void
dev_unmake(struct str_plumb *pl, struct host_call *hc, bool opened)
{
	struct str_qpair *qp = pl->driver;

	str_mem_own(qp);
	pl->leaving = qp;
	if (opened)
		(void)str_qclose(qp, hc);
	else
		qprocsoff(&qp->rq);
	pl->driver = NULL;
	pl->head[0].qp->wq.q_next = NULL;
	str_qpair_free(qp);
	(void)str_stream_free(pl, pl->sid, NULL);
}

/* Enter @pl into the directory: it is a stream then.  Return: 0, ENOSR. */
static int
enter(struct str_plumb *pl)
{
	int err;

	pl->sid = str_dir_sid();
	err = str_dir_enter(pl->sid, &pl->head[0].file);
	if (err != 0)
		return err;
	str_stream_odd();
	STR_CRASH_POINT("open:listed");
	(void)str_add(str_root(STR_ROOT_NPIPES), (uint64_t)1);
	(void)str_add(str_root(STR_ROOT_NDEVS), (uint64_t)1);
	if (pl->driver != NULL)
		str_mem_disown(pl->driver);
	str_mem_disown(pl);
	return 0;
}

/*
 * Make @pl, which is in the directory, the stream that opens of @n find, with
 * its first file.
 */
static int
publish(struct str_plumb *pl, struct str_node *n,
	const struct host_carrier *c, int oflags, struct str_file **ret)
{
	struct str_head *sd = &pl->head[0];
	int err;

	pl->node = n;
	n->pl = pl;
	STR_CRASH_POINT("open:published");
	err = str_file_add(sd, c, oflags, ret);
	str_store_rel(&pl->closer, 0u);
	if (err != 0)
		str_head_sweep(sd, NULL); /* it has no holder: closes it */
	return err;
}

/* The open procedures of all in a stream that is open already. */
static int
reopen(struct str_plumb *pl, struct host_call *hc)
{
	int err = str_busy_lock(pl, hc);
	queue_t *q;

	if (err != 0)
		return err;
	for (q = pl->head[0].qp->wq.q_next;
		q != NULL && err == 0 && q->q_head == NULL &&
			q->q_pair->plumb == pl;
		q = q->q_next) {
		dev_t dev = pl->dev;

		err = str_qopen(q->q_pair, hc, &dev,
			q->q_pair->role == STR_QP_MODULE ? MODOPEN : 0);
		if (err == 0 && dev != pl->dev)
			err = ENXIO; /* the device number must not change */
	}
	str_busy_unlock(pl);
	return err;
}

/*
 * str_open_error - the error with which another open of @sd, for the access in
 * @oflags, fails
 * Return: 0; EINVAL: it is linked below a multiplexor; ENXIO: it is hung up; or
 * the errno of an M_ERROR for that access.
 */
int
str_open_error(struct str_head *sd, int oflags)
{
	uint32_t f = str_load(&sd->flags);
	int mode = oflags & 3;

	if (f & STR_H_PLEX)
		return EINVAL;
	if (f & STR_H_HUP)
		return ENXIO;
	if ((f & STR_H_RDERR) != 0 && mode != 1)
		return (int)str_load(&sd->rerror);
	if ((f & STR_H_WRERR) != 0 && mode != 0)
		return (int)str_load(&sd->werror);
	return 0;
}

/* Is there a stream at @n that is open? */
static struct str_plumb *
node_stream(struct str_node *n)
{
	struct str_plumb *pl = n->pl;

	if (pl == NULL)
		return NULL;
	if (!str_stream_inside(pl) || pl->node != n ||
	    (str_load(&pl->head[0].flags) & STR_H_CLOSED) != 0) {
		n->pl = NULL;
		return NULL;
	}
	if (!str_head_held(&pl->head[0]) ||
	    (str_head_refs(&pl->head[0]) == 0 && pl->head[0].file.next == NULL &&
		!host_carrier_alive(&pl->head[0].file.carrier))) {
		/* its holders were killed, which is not noticed yet, or it is
		 * being drained */
		str_head_sweep(&pl->head[0], NULL);
		return n->pl;
	}
	return pl;
}

/*
 * The stream at @n, which is locked, for another open.  An open of a stream
 * that is being drained waits until it is closed, as for any last close.
 */
static int
node_look(struct str_node *n, struct host_call *hc, struct str_plumb **ret)
{
	struct str_plumb *pl;

	while ((pl = node_stream(n)) != NULL &&
		str_load(&pl->drain_end) != 0 && !str_head_held(&pl->head[0])) {
		uint32_t w = str_load(&n->word);

		(void)host_wait(hc, &n->word, w, DRAIN_NS);
		if (host_interrupted(hc) == HOST_SIG_INTR)
			return EINTR;
		host_resample(hc); /* otherwise the next wait returns at once */
	}
	*ret = pl;
	return 0;
}

/*
 * Lock the node of a minor that the driver has chosen as unused.  If a closer
 * was killed, the thread that closes the old stream in its place may not have
 * left the node yet: wait for it, without the lock, for OWN_NS at most.
 * Return: 0; EBUSY, EINTR, EDEADLK: not locked.
 */
static int
own_lock(struct str_node *n, struct host_call *hc)
{
	uint64_t until = host_now() + OWN_NS;
	int err;

	while ((err = str_node_lock(n, hc)) == 0 && node_stream(n) != NULL) {
		str_node_unlock(n);
		if (host_now() >= until)
			return EBUSY;
		(void)host_wait(NULL, &n->word, str_load(&n->word), OWN_POLL_NS);
	}
	return err;
}

static int
open_first(struct str_fmod *fm, dev_t dev, int sflag, struct host_call *hc,
	int oflags, const struct host_carrier *c, struct str_node *n,
	struct str_file **ret)
{
	struct str_plumb *pl;
	dev_t was = dev;
	int err = dev_make(fm, &pl);

	if (err != 0)
		return err;
	pl->dev = dev;
	/*
	 * No process has a descriptor of the stream yet, but other threads in
	 * the driver may reach its queues.  If this thread dies before a
	 * process holds the stream, the next sweep closes it.
	 */
	str_store_rel(&host_self()->inside, (uint64_t)(uintptr_t)&pl->head[0]);
	str_store(&pl->closer, host_self_tag());
	err = enter(pl);
	if (err != 0) {
		qprocsoff(&pl->driver->rq);
		str_qpair_free(pl->driver);
		pl->driver = NULL;
		str_stream_discard(pl);
		return err;
	}
	err = str_qopen(pl->driver, hc, &dev, sflag);
	if (err != 0) {
		dev_unmake(pl, hc, false);
		return err;
	}
	str_store_rel(&pl->driver->closing, 0u);
	STR_CRASH_POINT("open:opened");
	pl->dev = dev;
	if (n == NULL || dev != was) {
		/* the driver chose: that minor must be free */
		struct str_node *own = str_node_get(getmajor(dev),
			getminor(dev));

		if (own == NULL)
			err = ENOSR;
		else if (own != n)
			err = own_lock(own, hc);
		/* own_lock() was inside the stream of that node */
		str_store_rel(&host_self()->inside,
			(uint64_t)(uintptr_t)&pl->head[0]);
		if (err != 0) {
			dev_unmake(pl, hc, true);
			return err;
		}
		if (str_load(&pl->driver->rq.q_flag) & QPROCS)
			str_procs_on(pl->driver);
		err = publish(pl, own, c, oflags, ret);
		if (own != n)
			str_node_unlock(own);
	} else {
		if (str_load(&pl->driver->rq.q_flag) & QPROCS)
			str_procs_on(pl->driver);
		err = publish(pl, n, c, oflags, ret);
	}
	if (err != 0)
		return err;
	err = str_apush_apply(&pl->head[0], hc);
	if (err != 0)
		(void)str_file_close(*ret, hc);
	return err;
}

static int
dev_open(struct host_call *hc, const char *drv, uint32_t minor, bool clone,
	int oflags, const struct host_carrier *c, struct str_file **ret)
{
	struct str_fmod *fm = str_fmod_get(hc, drv, STR_F_DRIVER);
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	struct str_plumb *pl;
	struct str_node *n;
	int err;

	if (fm == NULL && str_name_eq(drv, "clone"))
		fm = str_fmod_by_major(minor), clone = true;
	if (fm == NULL)
		return ENXIO;
	/* no process closes what killed processes held: this thread does, so
	 * that their addresses are free */
	if (host_daemon() != 0)
		(void)str_region_members_died();
	hc->fflags = oflags;
	oflags &= ~STR_O_EXCL;
	if (clone) {
		err = open_first(fm, makedevice(fm->major, 0), CLONEOPEN, hc,
			oflags, c, NULL, ret);
		goto out;
	}
	n = str_node_get(fm->major, minor);
	if (n == NULL)
		return ENOSR;
	err = str_node_lock(n, hc);
	if (err != 0)
		return err;
	err = node_look(n, hc, &pl);
	if (err != 0) {
		;
	} else if (pl == NULL) {
		err = open_first(fm, makedevice(fm->major, minor), 0, hc,
			oflags, c, n, ret);
	} else {
		if (str_load(&pl->head[0].flags) & STR_H_PLEX)
			str_link_look(pl);
		err = str_open_error(&pl->head[0], oflags);
		if (err == 0)
			err = reopen(pl, hc);
		if (err == 0)
			err = str_file_add(&pl->head[0], c, oflags, ret);
		else
			str_head_sweep(&pl->head[0], hc);
	}
	str_node_unlock(n);
out:
	str_store_rel(&t->inside, was);
	return err;
}

/* If there is no room, close what only dead processes held, and try again. */
int
str_dev_open(struct host_call *hc, const char *drv, uint32_t minor, bool clone,
	int oflags, const struct host_carrier *c, struct str_file **ret)
{
	int err = dev_open(hc, drv, minor, clone, oflags, c, ret);

	if (str_unlikely(err == ENOSR) && str_region_room())
		err = dev_open(hc, drv, minor, clone, oflags, c, ret);
	return err;
}

/* ------------------------------------------------------------------ FIFOs */

static int
fifo_make(struct str_node *n, const struct host_carrier *c, int oflags,
	struct str_file **ret)
{
	struct str_plumb *pl = str_stream_alloc(STR_PL_FIFO, STR_PIPE_HIWAT,
		STR_PIPE_LOWAT);
	struct str_head *sd;
	int err;

	if (pl == NULL)
		return ENOSR;
	sd = &pl->head[0];
	(void)str_or(&sd->flags, STR_H_FIFO | STR_H_NORD | STR_H_NOWR);
	sd->qp->wq.q_next = &sd->qp->rq;
	str_store(&sd->direct, &sd->hq);
	pl->dev = makedevice(STR_MAJOR_FIFO, (uint32_t)n->key[1]);
	/* no process holds it yet: a sweep must not close it unless this
	 * thread dies */
	str_store(&pl->closer, host_self_tag());
	str_store_rel(&host_self()->inside, (uint64_t)(uintptr_t)sd);
	err = enter(pl);
	if (err != 0) {
		str_stream_discard(pl);
		return err;
	}
	STR_CRASH_POINT("open:entered");
	return publish(pl, n, c, oflags, ret);
}

/* Wait until the other side, @side (0: reading, 1: writing), is open, or has
 * been opened since its count of opens was @seen. */
static int
fifo_wait(struct str_node *n, struct str_head *sd, struct host_call *hc,
	int side, uint32_t seen)
{
	for (;;) {
		uint32_t w = str_load_acq(&n->word);
		int s;

		if (str_load(side ? &sd->nwrite : &sd->nread) != 0 ||
		    str_load((str_a32 *)&n->opens[side]) != seen)
			return 0;
		(void)host_wait(hc, &n->word, w, 1000000000u);
		s = host_interrupted(hc);
		if (s == HOST_SIG_INTR)
			return EINTR;
		if (s == HOST_SIG_RESTART)
			host_resample(hc);
	}
}

/* A node for a FIFO without a name: such nodes are reused. */
static struct str_node *
fifo_unused(void)
{
	uint64_t ino = 1ull << 40;
	struct str_node *n;

	for (;; ino++) {
		n = str_node_get(STR_FIFO_DEV, ino);
		if (n == NULL || str_cas(&n->used, 0u, 1u))
			return n;
		if (n->pl == NULL && str_load(&n->lock.owner) == 0 &&
		    str_load(&n->used) == 2 && str_cas(&n->used, 2u, 1u))
			return n;
	}
}

static int
fifo_open(struct host_call *hc, struct str_node *n, int oflags,
	const struct host_carrier *c, struct str_file **ret)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	int mode = oflags & 3, err;
	struct str_plumb *pl;
	struct str_head *sd;
	uint32_t seen = 0;
	bool met = false;

	err = str_node_lock(n, hc);
	if (err != 0)
		return err;
	err = node_look(n, hc, &pl);
	/* POSIX: no reader, and the writer must not wait */
	if (err != 0)
		;
	else if (mode == 1 && (oflags & STR_O_NONBLOCK) != 0 &&
	    (pl == NULL || str_load(&pl->head[0].nread) == 0))
		err = ENXIO;
	else if (pl == NULL) {
		err = fifo_make(n, c, oflags, ret);
	} else {
		/*
		 * the thread that waits for this open may close before
		 * fifo_wait() looks
		 */
		sd = &pl->head[0];
		met = str_load(mode == 1 ? &sd->nread : &sd->nwrite) != 0;
		err = str_open_error(sd, oflags);
		if (err == 0)
			err = str_file_add(sd, c, oflags, ret);
	}
	if (err != 0) {
		str_node_unlock(n);
		str_store_rel(&t->inside, was);
		return err;
	}
	sd = (*ret)->head;
	str_store_rel(&t->inside, (uint64_t)(uintptr_t)sd);
	if (mode != 1)
		str_store((str_a32 *)&n->opens[0], n->opens[0] + 1);
	if (mode != 0)
		str_store((str_a32 *)&n->opens[1], n->opens[1] + 1);
	if (mode != 2)
		seen = n->opens[!mode];
	(void)str_add(&n->word, 1u);
	(void)host_wake(&n->word, INT_MAX);
	str_node_unlock(n);
	STR_CRASH_POINT("fifo:joined");
	if (!met && (mode == 1 ||
		(mode == 0 && (oflags & STR_O_NONBLOCK) == 0)))
		err = fifo_wait(n, sd, hc, !mode, seen);
	if (err != 0)
		(void)str_file_close(*ret, hc);
	str_store_rel(&t->inside, was);
	return err;
}

int
str_fifo_open(struct host_call *hc, uint64_t dev, uint64_t ino, int oflags,
	const struct host_carrier *c, struct str_file **ret)
{
	bool any = dev == STR_FIFO_DEV && ino == STR_FIFO_ANY, again = false;
	struct str_node *n;
	int err;

	if ((oflags & 3) == 3)
		return EINVAL;
	if (any && (oflags & 3) != 2 && (oflags & STR_O_NONBLOCK) == 0)
		return ENXIO; /* no process can open the other side */
	(void)host_daemon();
	hc->fflags = oflags;
	for (;;) {
		n = any ? fifo_unused() : str_node_get(dev, ino);
		err = n == NULL ? ENOSR : fifo_open(hc, n, oflags, c, ret);
		/*
		 * the node of an unnamed FIFO can be reused, unless it has a
		 * stream
		 */
		if (err != 0 && any && n != NULL && n->pl == NULL)
			(void)str_cas(&n->used, 1u, 2u);
		if (str_likely(err != ENOSR) || again || !str_region_room())
			return err;
		again = true;
	}
}

/* ------------------------------------------------------------------ close */

/*
 * Does the close wait for the reapers of killed threads?  For STR_REAPED_NS,
 * from the first check that finds such a thread.
 */
static bool
awaits_reapers(struct str_plumb *pl)
{
	uint64_t end = str_load(&pl->reap_end);

	if (str_likely(!str_plumb_claimed_dead(pl))) {
		if (end != 0)
			str_store(&pl->reap_end, (uint64_t)0);
		return false;
	}
	if (end == 0) {
		end = host_now() + STR_REAPED_NS;
		str_store(&pl->reap_end, end);
	}
	return host_now() < end;
}

/* Are there messages left below the head?  If the thread that holds a message
 * is killed, its reaper puts it back. */
static bool
undrained(struct str_plumb *pl)
{
	uint64_t end = str_load(&pl->reap_end);
	uint32_t whose = STR_CLAIM_LIVING | STR_CLAIM_DEAD;
	bool yes;

	if (str_unlikely(end != 0 && host_now() >= end))
		whose = STR_CLAIM_LIVING;
	(void)str_claim(pl);
	yes = str_plumb_holds(pl, pl->head[0].qp->wq.q_next, whose);
	if (str_load(&pl->nrun) != 0)
		(void)str_sched_run(pl);
	str_unclaim(pl);
	if (yes)
		(void)awaits_reapers(pl); /* from now on, or no longer */
	return yes;
}

/* Were all open files of @sd, which are closed now, non-blocking? */
static bool
impatient(struct str_head *sd)
{
	struct str_file *f;

	for (f = &sd->file; f != NULL; f = f->next)
		if (f->carrier.cookie != 0 &&
		    (str_load(&f->fflags) & STR_O_NONBLOCK) == 0)
			return false;
	return true;
}

/*
 * Wait until the killed threads that had claimed the stream are reaped.  A
 * reaper puts back the message that such a thread had taken, and the driver
 * may ask what became of other messages (str_msg_fate()).  As in drain(), a
 * thread without a call does not wait but is called again.
 * Return: false: such a thread is not reaped yet.
 */
static bool
servers_reaped(struct str_plumb *pl, struct host_call *hc)
{
	struct str_head *sd = &pl->head[0];

	while (awaits_reapers(pl)) {
		uint32_t w = str_load(&sd->peer->hq.wword);

		if (hc == NULL) {
			/* drain() has this end, too */
			if (str_load(&pl->drain_end) == 0)
				str_store(&pl->drain_end, host_now() +
					STR_MAX(STR_REAPED_NS, impatient(sd) ? 0 :
						sd->cltime * 1000000ull));
			return false;
		}
		(void)host_wait(hc, &sd->peer->hq.wword, w, DRAIN_NS);
		if (host_interrupted(hc) != HOST_SIG_NONE)
			break;
	}
	return true;
}

/*
 * SVR4 close(2): modules and the driver have the close time to send their data,
 * unless the descriptor is non-blocking; a signal ends the wait.  A thread
 * without a call, because the holders of the stream were killed, does not wait
 * but is called again.  Data for a socket is left to streamsd and not lost, as
 * a kernel's socket sends its data after its close, for as long as the system
 * keeps the connection.  Return: false: not drained yet.
 */
static bool
drain(struct str_plumb *pl, struct host_call *hc)
{
	struct str_head *sd = &pl->head[0];
	uint64_t end = str_load(&pl->drain_end);
	bool progress, unsent = str_sock_unsent(pl, &progress);
	bool hasty = hc != NULL ? (hc->fflags & STR_O_NONBLOCK) != 0 :
				  impatient(sd);

	if ((str_load(&sd->flags) & (STR_H_CLOSED | STR_H_HUP | STR_H_WRERR)) ||
	    (hasty && !unsent))
		return true;
	if (end == 0)
		end = host_now() + sd->cltime * 1000000ull;
	if (hc == NULL && unsent && progress)
		end = host_now() + SOCK_NS;
	if (hc == NULL) {
		if (host_now() >= end || !undrained(pl))
			return true;
		str_store(&pl->drain_end, end);
		return false;
	}
	str_sock_flush(hc);
	while (undrained(pl) && host_now() < end && !hasty &&
	       (str_load(&sd->flags) & STR_H_HUP) == 0) {
		uint32_t w = str_load(&sd->peer->hq.wword);

		(void)host_wait(hc, &sd->peer->hq.wword, w, DRAIN_NS);
		if (host_interrupted(hc) != HOST_SIG_NONE)
			break;
		(void)str_sock_try(sd, hc, KS_OUT);
	}
	if (!str_sock_unsent(pl, &progress) || !undrained(pl) ||
	    (str_load(&sd->flags) & (STR_H_HUP | STR_H_WRERR)) != 0)
		return true;
	str_store(&pl->drain_end, host_now() + SOCK_NS);
	return false;
}

/* Close all that is below the head: modules, then the driver. */
static void
take_down(struct str_plumb *pl, struct host_call *hc)
{
	struct str_qpair *qp;

	str_unlink_all(pl, hc);
	str_plumb_clear_all(pl);
	qp = pl->driver;
	if (qp != NULL) {
		str_mem_own(qp);
		(void)str_qclose(qp, hc);
		STR_CRASH_POINT("close:driver");
		pl->leaving = qp;
		pl->driver = NULL;
		pl->head[0].qp->wq.q_next = NULL;
		str_qpair_free(qp);
	}
	str_link_bury(pl, hc);
}

static bool
drain_on(struct str_plumb *pl, void *arg)
{
	uint64_t end = str_load(&pl->drain_end);
	bool *left = arg;

	if (end == 0 && str_load(&pl->reap_end) == 0)
		return false;
	if (str_head_held(&pl->head[0])) {
		/*
		 * it has a holder again: its next last close gets the full time
		 */
		(void)str_cas(&pl->drain_end, end, (uint64_t)0);
		str_store(&pl->reap_end, (uint64_t)0);
	} else if (end != 0) {
		str_head_maybe_close(&pl->head[0], NULL);
		*left = *left || str_stream_lives(pl);
	}
	return false;
}

/*
 * str_region_drain - close those streams without a holder that are empty now
 * Return: true when there are more.
 */
bool
str_region_drain(void)
{
	bool left = false;

	str_stream_walk(drain_on, &left);
	return left;
}

/*
 * str_stream_close - a device or FIFO has lost its last file and reference
 * Several threads may notice it; the node's lock selects one of them.
 */
void
str_stream_close(struct str_plumb *pl, struct host_call *hc)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside), sid = pl->sid;
	struct str_head *sd = &pl->head[0];
	struct str_node *n = *(struct str_node *volatile *)&pl->node;
	bool locked = false;
	uint32_t me;

	if (!str_stream_inside(pl) || pl->sid != sid)
		goto out;
	if (n == NULL) {
		/*
		 * the stream is being opened, and `closer' is the opener until
		 * it has a node and a file
		 */
		me = str_load_acq(&pl->closer);
		if (me != 0 && me != host_self_tag() && !host_owner_dead(me))
			goto out;
		n = pl->node;
	}
	if (n != NULL && hc == NULL && str_node_leave(n))
		goto out;
	if (n != NULL)
		locked = str_node_lock(n, NULL) == 0; /* otherwise the caller
						       * holds it */
	if (!str_stream_lives(pl) || pl->sid != sid || str_head_held(sd))
		goto unlock;
	/* before it is marked as closing: str_hold() must still reach it, so
	 * that a thread that makes room can enable its queues */
	if (!servers_reaped(pl, hc) || !drain(pl, hc)) {
		if (hc != NULL)
			host_daemon_look();
		goto unlock;
	}
	STR_CRASH_POINT("close:unheld");
	/* one thread closes; another one if that thread died */
	me = host_self_tag();
	for (;;) {
		uint32_t v = str_load(&pl->closer);

		if (v == me || (v != 0 && !host_owner_dead(v)))
			goto unlock;
		if (str_cas(&pl->closer, v, me))
			break;
	}
	(void)str_or(&sd->flags, STR_H_CLOSED);
	str_fence_full();
	/* a thread whose descriptor was closed by another one */
	str_ring_sleepers(sd, false);
	STR_CRASH_POINT("close:begun");
	take_down(pl, hc);
	if (n != NULL && n->pl == pl) {
		n->pl = NULL;
		(void)str_cas(&n->used, 1u, 2u); /* an unnamed FIFO */
	}
	STR_CRASH_POINT("close:down");
	/* a thread died while it held it, and is not reaped yet: the sweep for
	 * which the reaper asks frees it */
	if (str_stream_free(pl, sid, NULL) == STR_FREED_NOT &&
	    str_stream_lives(pl) && pl->sid == sid)
		(void)str_cas(&pl->closer, me, 0u);
unlock:
	if (locked)
		str_node_unlock(n);
out:
	str_store_rel(&t->inside, was);
}
