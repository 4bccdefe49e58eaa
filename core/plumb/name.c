/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Names: files to which a Stream head is attached (fattach).
 *
 * A name is the file's st_dev and st_ino, with a reference to the head.  The
 * inode number of a removed file is reused, so the file's birth time, if the
 * system has it, shows whether it is the same file: a name whose file was
 * removed is dropped when another file with that number gets a name.  Names are
 * stored in entries that are made when needed and reused, never freed, on a
 * list that grows at its front. `state' is the state of an entry and a number
 * that is incremented with each use, which shows whether the entry is
 * unchanged.  So a lookup takes no lock, and a thread that stops or dies in
 * between does not block others.
 *
 * connld.  An open of a name whose head has connld on top makes a pipe: the
 * opener gets one end, the other is passed to the reader at the far end of
 * the attached stream, and the open waits until it is received there, unless it
 * is non-blocking.
 */
#include "core.h"
#include "inspect/inspect.h"

#define PATH 256u
#define LOOK 10u /* waits of 50 ms between two checks of the receiver */
#define MOST 65536u /* entries that are read from a file */
#define FREE 0u
#define LIVE 1u
#define BUSY 2u /* being entered or removed */
#define KIND 3u
#define USE 4u /* one more use of the entry */

struct str_name {
	struct str_blk blk;
	struct str_name *volatile next; /* [I] */
	str_a32 state; /* [A] the use's number, and FREE, LIVE or BUSY */
	uint32_t pad;
	uint64_t dev, ino, born;
	uint64_t sid; /* of the head's stream */
	struct str_head *sd;
	uint64_t seq; /* order of two names */
	char path[PATH];
};

static struct str_name *
first(void)
{
	return (struct str_name *)(uintptr_t)
		str_load_acq(str_root(STR_ROOT_NAMES));
}

uint64_t
str_name_count(void)
{
	return str_load(str_root(STR_ROOT_NNAMES));
}

/*
 * Is @n a LIVE name of the file with the numbers @dev and @ino, and the birth
 * time @born?  With @other: of an older file with these numbers, which was
 * removed?  Return: the state of @n if so, else 0.
 */
static uint32_t
at(struct str_name *n, uint64_t dev, uint64_t ino, uint64_t born, bool other)
{
	uint32_t v = str_load_acq(&n->state);
	bool yes = (v & KIND) == LIVE && n->dev == dev && n->ino == ino &&
		(born != 0 && n->born != 0 && n->born != born) == other;

	str_fence_full();
	return yes && str_load(&n->state) == v ? v : 0;
}

/* *ret_state: for drop() and hold(), which compare it. */
static struct str_name *
lookup(uint64_t dev, uint64_t ino, uint64_t born, uint32_t *ret_state)
{
	struct str_name *n;

	for (n = first(); n != NULL; n = n->next) {
		*ret_state = at(n, dev, ino, born, false);
		if (*ret_state != 0) {
			STR_CRASH_POINT("name:found");
			return n;
		}
	}
	return NULL;
}

bool
str_name_is(uint64_t dev, uint64_t ino, uint64_t born)
{
	uint32_t v;

	return lookup(dev, ino, born, &v) != NULL;
}

uint64_t
str_name_recorded_count(const struct host_file *df)
{
	return str_recorded_root(df, STR_ROOT_NNAMES);
}

/* Entries are never freed, so every address in the list is an entry.  The walk
 * is limited whatever the file contains. */
bool
str_name_recorded(const struct host_file *df, uint64_t dev, uint64_t ino,
	uint64_t born)
{
	uint64_t a = str_recorded_root(df, STR_ROOT_NAMES);
	struct str_name n;
	unsigned i;

	for (i = 0; i < MOST && a >= df->base; i++) {
		if (!df->read(df, a - df->base, &n,
			    offsetof(struct str_name, path)))
			return false;
		if (at(&n, dev, ino, born, false) != 0)
			return true;
		a = (uint64_t)(uintptr_t)n.next;
	}
	return false;
}

/* An entry that was not in use, made BUSY by this thread; NULL: no memory. */
static struct str_name *
unused(void)
{
	struct str_name *n;
	uint64_t old;

	for (n = first(); n != NULL; n = n->next) {
		uint32_t v = str_load(&n->state);

		if ((v & KIND) == FREE &&
		    str_cas(&n->state, v, (v + USE) | BUSY))
			return n;
	}
	n = str_mem_zalloc(sizeof(*n), STR_BLK_KMEM);
	if (n == NULL)
		return NULL;
	str_store(&n->state, BUSY);
	do {
		old = str_load(str_root(STR_ROOT_NAMES));
		n->next = (struct str_name *)(uintptr_t)old;
	} while (!str_cas(str_root(STR_ROOT_NAMES), old,
		(uint64_t)(uintptr_t)n));
	str_mem_disown(n);
	return n;
}

/* Change @n, whose state was @v (LIVE), to BUSY.  False: the state has
 * changed. */
static bool
grab(struct str_name *n, uint32_t v)
{
	return str_cas(&n->state, v, (v & ~KIND) | BUSY);
}

/* This thread has made @n BUSY; it becomes @kind. */
static void
set(struct str_name *n, uint32_t kind)
{
	str_store_rel(&n->state, (str_load(&n->state) & ~KIND) | kind);
}

/* Remove @n, whose state was @v; ENOENT: another thread did. */
static int
drop(struct str_name *n, uint32_t v, struct host_call *hc)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	struct str_head *sd;

	str_ref_begin();
	if (!grab(n, v)) {
		str_ref_end();
		return ENOENT;
	}
	STR_CRASH_POINT("name:gone");
	sd = n->sd;
	if (str_mem_valid(sd) && str_stream_inside(sd->plumb) &&
	    sd->plumb->sid == n->sid)
		str_head_unref(sd, hc);
	else
		str_ref_end();
	(void)str_sub(str_root(STR_ROOT_NNAMES), (uint64_t)1);
	set(n, FREE);
	str_store_rel(&t->inside, was);
	return 0;
}

int
str_name_attach(struct str_head *sd, struct host_call *hc, uint64_t dev,
	uint64_t ino, uint64_t born, const char *path)
{
	struct str_name *n, *o;
	uint32_t v;
	unsigned i;

	if (lookup(dev, ino, born, &v) != NULL)
		return EBUSY;
	n = unused();
	if (n == NULL)
		return ENOSR;
	n->dev = dev;
	n->ino = ino;
	n->born = born;
	n->sid = sd->plumb->sid;
	n->sd = sd;
	n->seq = str_add(str_root(STR_ROOT_EVID), (uint64_t)1) + 1;
	for (i = 0; i + 1 < PATH && path[i] != '\0'; i++)
		n->path[i] = path[i];
	n->path[i] = '\0';
	str_head_ref(sd);
	(void)str_add(str_root(STR_ROOT_NNAMES), (uint64_t)1);
	set(n, LIVE);
	v = str_load(&n->state);
	str_fence_full();
	str_ref_end();
	/* two threads may make a name of this file at the same time: the name
	 * with the smaller number stays */
	for (o = first(); o != NULL; o = o->next)
		if (o != n && at(o, dev, ino, born, false) != 0 &&
		    o->seq < n->seq) {
			str_ref_begin();
			if (!grab(n, v)) {
				str_ref_end();
				continue;
			}
			(void)str_sub(str_root(STR_ROOT_NNAMES), (uint64_t)1);
			set(n, FREE);
			/* @sd need not be closed here: the caller has an open
			 * file of it */
			str_head_unref_later(sd);
			return EBUSY;
		}
	/* this comes last, because it may close heads, perhaps @sd */
	for (o = first(); o != NULL; o = o->next) {
		v = at(o, dev, ino, born, true);
		if (v != 0)
			(void)drop(o, v, NULL);
	}
	/* streamsd opens the file by @path, to notice when it is removed */
	host_daemon_look();
	return 0;
}

/* Mark this thread as inside the stream of @n, whose state was @v, and count a
 * reference to its head, as str_head_ref() does.  Return: the head, for which
 * str_head_unref() must follow; NULL: the name or its stream has gone. */
static struct str_head *
hold(struct str_name *n, uint32_t v)
{
	struct str_head *sd = n->sd;
	uint64_t sid = n->sid;

	if (!str_mem_valid(sd) || !str_stream_inside(sd->plumb) ||
	    sd->plumb->sid != sid)
		return NULL;
	str_head_ref(sd);
	str_fence_full();
	if (str_load(&n->state) == v)
		return sd;
	str_head_unref(sd, NULL);
	return NULL;
}

int
str_name_detach(struct host_call *hc, uint64_t dev, uint64_t ino, uint64_t born)
{
	uint32_t v;
	struct str_name *n = lookup(dev, ino, born, &v);

	return n == NULL ? ENOENT : drop(n, v, hc);
}

/* str_name_entry - the @i-th name, for tools; false: no more. */
bool
str_name_entry(unsigned i, uint64_t *dev, uint64_t *ino, uint64_t *sid,
	char *path, size_t size)
{
	struct str_name *n;
	size_t k;

	for (n = first(); n != NULL; n = n->next) {
		if ((str_load_acq(&n->state) & KIND) != LIVE || i-- != 0)
			continue;
		*dev = n->dev;
		*ino = n->ino;
		*sid = n->sid;
		for (k = 0; k + 1 < size && k < PATH && n->path[k] != '\0'; k++)
			path[k] = n->path[k];
		path[k] = '\0';
		return true;
	}
	return false;
}

static bool
has_connld(struct str_head *sd)
{
	queue_t *q;
	bool yes;

	(void)str_claim(sd->plumb);
	q = sd->qp->wq.q_next;
	yes = str_load(&sd->npush) != 0 && q != NULL &&
		q->q_pair->fmod != NULL &&
		str_name_eq(q->q_pair->fmod->name, "connld");
	str_unclaim(sd->plumb);
	return yes;
}

/* Has @sd, a pipe's end, a holder?  If not, close it. */
static void
look(struct str_head *sd)
{
	if (sd->file.carrier.kind == HOST_CARRIER_PAIR &&
	    str_load(&sd->file.open) == 1 &&
	    !host_carrier_alive(&sd->file.carrier))
		str_pipe_pair_gone(sd);
	str_head_sweep(sd, NULL);
}

/*
 * Wait until the other end @far of the new pipe is received, or cannot be any
 * more. streamsd notices when the receiver at @via is killed, but may have been
 * killed as well.
 */
static int
wait_received(struct str_head *far, struct str_head *via,
	struct host_call *hc)
{
	unsigned n;

	for (n = 1;; n++) {
		uint32_t w = str_load(&far->iocword);
		int s;

		if (str_load(&far->file.open) == 1)
			return 0;
		if ((str_load(&far->flags) & STR_H_CLOSED) != 0)
			return ENXIO;
		if ((str_load(&via->flags) & STR_H_CLOSED) != 0)
			return ENXIO;
		(void)host_wait(hc, &far->iocword, w, 50000000u);
		if (n % LOOK == 0)
			look(via);
		s = host_interrupted(hc);
		if (s == HOST_SIG_INTR)
			return EINTR;
		if (s == HOST_SIG_RESTART)
			host_resample(hc);
	}
}

static int
connect(struct str_head *sd, struct host_call *hc, int oflags,
	const struct host_carrier *c, struct str_file **ret)
{
	struct str_head *to = sd->peer;
	struct str_plumb *pl;
	bool passed = false;
	int err;

	if (sd->plumb->kind != STR_PL_PIPE)
		return EINVAL;
	if (str_load(&to->flags) & STR_H_CLOSED)
		return ENXIO;
	err = str_pipe_bare(&pl);
	if (err != 0)
		return err;
	str_head_ref(&pl->head[1]);
	err = str_file_add(&pl->head[0], c, (oflags & ~3) | 2, ret);
	str_mem_disown(pl);
	str_store_rel(&host_self()->inside, (uint64_t)(uintptr_t)&pl->head[0]);
	if (err == 0) {
		(void)host_daemon();
		err = str_pass_head(to, hc, &pl->head[1], 2);
		passed = err == 0;
		if (err == 0 && (oflags & STR_O_NONBLOCK) == 0)
			err = wait_received(&pl->head[1], to, hc);
		if (!passed)
			str_head_unref(&pl->head[1], hc);
		if (err != 0)
			(void)str_file_close(*ret, hc);
	} else {
		str_head_unref(&pl->head[1], hc);
		str_head_sweep(&pl->head[0], hc);
	}
	return err;
}

static int
name_open(struct host_call *hc, uint64_t dev, uint64_t ino, uint64_t born,
	int oflags, const struct host_carrier *c, struct str_file **ret)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	uint32_t v;
	struct str_name *n = lookup(dev, ino, born, &v);
	struct str_head *sd;
	int err = ENOENT;
	bool held;

	hc->fflags = oflags;
	sd = n == NULL ? NULL : hold(n, v);
	if (sd != NULL) {
		held = str_ref_hold(sd);
		if (str_load(&sd->flags) & STR_H_PLEX)
			str_link_look(sd->plumb);
		if (has_connld(sd))
			err = connect(sd, hc, oflags, c, ret);
		else if (str_load(&sd->flags) & STR_H_CLOSED)
			err = ENXIO;
		else if ((err = str_open_error(sd, oflags)) == 0)
			err = str_file_add(sd, c, oflags, ret);
		if (err == 0)
			(void)host_daemon();
		str_store_rel(&t->inside, (uint64_t)(uintptr_t)sd);
		str_ref_release(held);
		str_head_unref(sd, hc);
	}
	str_store_rel(&t->inside, was);
	return err;
}

/* If there is no room, close what only dead processes held, and try again. */
int
str_name_open(struct host_call *hc, uint64_t dev, uint64_t ino, uint64_t born,
	int oflags, const struct host_carrier *c, struct str_file **ret)
{
	int err = name_open(hc, dev, ino, born, oflags, c, ret);

	if (str_unlikely(err == ENOSR) && str_region_room())
		err = name_open(hc, dev, ino, born, oflags, c, ret);
	return err;
}

/* str_name_each - call @fn for each name, without a lock; for core/inspect. */
void
str_name_each(void (*fn)(struct str_head *sd, uint64_t sid, uint64_t dev,
	uint64_t ino, const char *path, void *arg), void *arg)
{
	struct str_name *n;

	for (n = first(); n != NULL; n = n->next)
		if ((str_load_acq(&n->state) & KIND) == LIVE)
			fn(n->sd, n->sid, n->dev, n->ino, n->path, arg);
}
