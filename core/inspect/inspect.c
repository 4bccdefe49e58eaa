/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Description of the domain for the tools: <str/inspect.h>.
 *
 * Purpose.  Describes a domain that may be busy, blocked or have dead members,
 * without any effect on it: it takes no lock, publishes no claim, and writes
 * only its own `inside'.
 *
 * Safety.  The memory that it reads may be freed and reused at any moment.
 * Arena memory is never unmapped, so every read of an address below the
 * high-water mark (str_mem_valid()) succeeds; addresses are checked before they
 * are followed, and the block at an address must have the expected kind.  Lists
 * are followed for a bounded length.  A stream is not freed while a thread is
 * inside it, so its memory is valid in str_stream_walk(); its modules may be
 * freed nevertheless.
 *
 * Crash.  No shared data is changed.
 */
#include "core.h"

#include <str/inspect.h>
#include "inspect.h"
#include <str/builtin.h>

#define MAX_QUEUES 256u	/* in one direction of a stream */
#define MAX_MSGS 256u	/* counted on one queue */
#define MAX_LINKS 4096u
#define MAX_FILES 4096u

_Static_assert(STR_I_H_RDERR == STR_H_RDERR && STR_I_H_WRERR == STR_H_WRERR &&
		STR_I_H_HUP == STR_H_HUP && STR_I_H_PEER == STR_H_PEER &&
		STR_I_H_CLOSED == STR_H_CLOSED && STR_I_H_PLEX == STR_H_PLEX &&
		STR_I_H_MREAD == STR_H_MREAD && STR_I_H_HOLD == STR_H_HOLD &&
		STR_I_H_DELIM == STR_H_DELIM && STR_I_H_MODS == STR_H_MODS &&
		STR_I_H_NOWR == STR_H_NOWR && STR_I_H_NORD == STR_H_NORD,
	"the flags of a head are shown as they are");
_Static_assert(STR_I_PIPE == STR_PL_PIPE && STR_I_FIFO == STR_PL_FIFO &&
		STR_I_DEV == STR_PL_DEV,
	"so are the kinds of a stream");
_Static_assert(STR_I_Q_HEAD == STR_QP_HEAD &&
		STR_I_Q_MODULE == STR_QP_MODULE &&
		STR_I_Q_DRIVER == STR_QP_DRIVER &&
		STR_I_Q_LOWER == STR_QP_LOWER,
	"and the roles of a queue");

struct out {
	unsigned char *buf;
	uint64_t size, used;

	uint32_t what;
};

/* Words that other threads change are read once, by one load. */
#define PEEK(lvalue) __atomic_load_n(&(lvalue), __ATOMIC_RELAXED)

static void
emit(struct out *o, void *rec, uint32_t size, enum str_i_kind kind)
{
	struct str_i *i = rec;

	i->kind = (uint16_t)kind;
	i->pad = 0;
	i->size = size;
	if (o->used + size <= o->size)
		__builtin_memcpy(o->buf + o->used, rec, size);
	o->used += size;
}

#define EMIT(o, rec, kind) emit(o, rec, (uint32_t)sizeof(*(rec)), kind)

#define RECORD(type, name) \
	struct type name; \
	_Static_assert(sizeof(name) % 8 == 0, "records follow each other"); \
	__builtin_memset(&name, 0, sizeof(name))

static void
copy_name(char *to, const char *from, size_t size)
{
	size_t n;

	for (n = 0; n + 1 < size && PEEK(from[n]) != '\0'; n++)
		to[n] = PEEK(from[n]);
	__builtin_memset(to + n, 0, size - n);
}

/* Does @p look like a block of state @state? */
static bool
is_block(const void *p, uint32_t state)
{
	return ((uintptr_t)p & 15) == 0 && str_mem_valid(p) &&
		str_mem_valid((const char *)p + 63) &&
		PEEK(((const struct str_blk *)p)->state) == state;
}

/* ---------------------------------------- names of threads and objects */

static uint32_t
thread_pid(struct str_thread *t)
{
	uint32_t proc = str_load(&t->proc);

	if (proc >= STR_NPROC)
		return 0;
	return str_load(&host_domain->proc[proc].pid);
}

static void
owner(struct str_i_owner *ret, uint32_t tag)
{
	struct str_thread *t = &host_domain->thread[STR_TAG_IDX(tag)];

	ret->tag = tag;
	if (tag == 0)
		return;
	if (str_load(&t->tag) == tag) {
		ret->tid = str_load(&t->tid);
		ret->pid = thread_pid(t);
	}
	ret->dead = host_owner_dead(tag);
}

/* The stream and end of the head at an address; 0: not a head. */
static uint64_t
head_sid(uint64_t addr, uint32_t *ret_end)
{
	struct str_head *sd = (struct str_head *)(uintptr_t)addr;
	struct str_plumb *pl;
	uint64_t sid;

	if (addr == 0 || addr == ~0ull || (addr & 15) != 0 ||
	    !str_mem_valid(sd) || !str_mem_valid(sd + 1))
		return 0;
	pl = PEEK(sd->plumb);
	if (!is_block(pl, STR_BLK_PIPE) || !str_mem_valid(pl + 1) ||
	    (sd != &pl->head[0] && sd != &pl->head[1]))
		return 0;
	sid = PEEK(pl->sid);
	*ret_end = sd == &pl->head[1];
	return sid;
}

static uint64_t
plumb_sid(uint64_t addr)
{
	struct str_plumb *pl = (struct str_plumb *)(uintptr_t)addr;

	if (!is_block(pl, STR_BLK_PIPE) || !str_mem_valid(pl + 1))
		return 0;
	return PEEK(pl->sid);
}

/* The event for which a thread sleeps: the last one it recorded, if the want
 * word for it has a sleeper's bit. */
static uint32_t
sleep_why(uint64_t head, struct str_thread *t)
{
	struct str_head *sd = (struct str_head *)(uintptr_t)head;
	uint32_t why = str_load(&t->why);
	struct str_head *peer;

	if (str_load(&sd->iocbusy) == str_load(&t->tag))
		return STR_I_WHY_IOCTL;
	if (why == STR_SLEEP_READ &&
	    (str_load(&sd->hq.rwant) & STR_WANT_BITS &
		    ~(STR_WANT_BACK | STR_WANT_QUIET)))
		return STR_I_WHY_READ;
	peer = PEEK(sd->peer);
	if (why == STR_SLEEP_WRITE && peer != NULL && str_mem_valid(peer) &&
	    str_mem_valid(peer + 1) &&
	    (str_load(&peer->hq.wwant) & STR_WANT_BITS &
		    ~(STR_WANT_BACK | STR_WANT_QUIET)))
		return STR_I_WHY_WRITE;
	return STR_I_WHY_OTHER;
}

static void
show_thread(struct out *o, struct str_thread *t)
{
	RECORD(str_i_thread, r);
	uint64_t on;
	uint32_t k;

	r.tag = str_load(&t->tag);
	if (r.tag == 0)
		return;
	r.tid = str_load(&t->tid);
	r.pid = thread_pid(t);
	r.state = str_load(&t->state);
	on = str_load(&t->asleep_on);
	if (on == ~0ull)
		r.state = STR_I_THR_POLL;
	else if (on != 0 && r.state != STR_I_THR_FUTEX)
		r.state = STR_I_THR_CARRIER;
	if (on == 0 || on == ~0ull)
		on = str_load(&t->inside);
	r.sid = head_sid(on, &r.end);
	if (r.sid != 0 && (r.state == STR_I_THR_FUTEX ||
				  r.state == STR_I_THR_CARRIER))
		r.why = sleep_why(on, t);
	for (k = 0; k < STR_NCLAIM; k++) {
		uint64_t sid = plumb_sid(str_load(&t->claim[k]));

		if (sid == 0)
			continue;
		if (r.nclaim < STR_ARRAY_LEN(r.claim))
			r.claim[r.nclaim] = sid;
		r.nclaim++;
	}
	r.dead = t != host_self() && host_owner_dead(r.tag);
	EMIT(o, &r, STR_I_THREAD);
}

static void
show_procs(struct out *o)
{
	struct str_domain *d = host_domain;
	uint32_t np = STR_MIN(str_load(&d->proc_high), STR_NPROC);
	uint32_t nt = STR_MIN(str_load(&d->thread_high), STR_NTHREAD);
	uint32_t i, k;

	for (i = 0; i < np; i++) {
		struct str_proc *p = &d->proc[i];
		RECORD(str_i_proc, r);

		if ((str_load(&p->gen) & 1) == 0)
			continue;
		r.slot = i;
		r.pid = str_load(&p->pid);
		r.start = str_load(&p->start);
		r.exec = (str_load(&p->flags) & STR_PROC_EXEC) != 0;
		for (k = 0; k < nt; k++)
			r.nthread += str_load(&d->thread[k].tag) != 0 &&
				str_load(&d->thread[k].proc) == i;
		EMIT(o, &r, STR_I_PROC);
		for (k = 0; k < nt; k++)
			if (str_load(&d->thread[k].tag) != 0 &&
			    str_load(&d->thread[k].proc) == i)
				show_thread(o, &d->thread[k]);
	}
}

/* --------------------------------------------------------------- modules */

static struct str_fmod *
fmods(uint32_t *ret_n)
{
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD));

	*ret_n = (uint32_t)STR_MIN(n, (uint64_t)STR_NMODULE);
	return (struct str_fmod *)(uintptr_t)str_load(str_root(STR_ROOT_FMOD));
}

/* @fm if it is an entry of the registry, else NULL. */
static struct str_fmod *
a_fmod(struct str_fmod *fm)
{
	struct str_fmod *tab;
	uint32_t n;
	uint64_t off;

	tab = fmods(&n);
	off = (uint64_t)((char *)fm - (char *)tab);
	if (tab == NULL || fm < tab || off % sizeof(*fm) != 0 ||
	    off / sizeof(*fm) >= n)
		return NULL;
	return fm;
}

static void
show_info(struct str_i_minfo *r, const struct qinit *qi,
	const struct module_info *mi, const char *idname)
{
	if (PEEK(qi->qi_minfo) == NULL)
		return;
	r->there = 1;
	r->idnum = PEEK(mi->mi_idnum);
	copy_name(r->idname, idname, sizeof(r->idname));
	r->minpsz = PEEK(mi->mi_minpsz);
	r->maxpsz = PEEK(mi->mi_maxpsz);
	r->hiwat = PEEK(mi->mi_hiwat);
	r->lowat = PEEK(mi->mi_lowat);
}

static void
show_stat(struct str_i_mstat *r, const struct qinit *qi)
{
	const struct module_stat *ms = PEEK(qi->qi_mstat);

	if (ms == NULL || !str_mem_valid(ms) || !str_mem_valid(ms + 1))
		return;
	r->there = 1;
	r->pcnt = PEEK(ms->ms_pcnt);
	r->scnt = PEEK(ms->ms_scnt);
	r->ocnt = PEEK(ms->ms_ocnt);
	r->ccnt = PEEK(ms->ms_ccnt);
	r->acnt = PEEK(ms->ms_acnt);
}

static void
show_modules(struct out *o)
{
	uint32_t n, i;
	struct str_fmod *tab = fmods(&n);

	for (i = 0; i < n; i++) {
		struct str_fmod *fm = &tab[i];
		const struct qinit *qi[4];
		const struct module_info *mi[4] = {
			&fm->rinfo, &fm->winfo, &fm->mrinfo, &fm->mwinfo,
		};
		RECORD(str_i_module, r);
		uint32_t k;

		if (str_load_acq(&fm->used) == 0)
			continue;
		copy_name(r.name, fm->name, sizeof(r.name));
		r.kind = PEEK(fm->kind);
		r.flag = PEEK(fm->flag);
		r.major = PEEK(fm->major);
		r.foreign = PEEK(fm->foreign) != 0;
		r.count = str_load(&fm->count);
		qi[0] = PEEK(fm->tab.st_rdinit);
		qi[1] = PEEK(fm->tab.st_wrinit);
		qi[2] = PEEK(fm->tab.st_muxrinit);
		qi[3] = PEEK(fm->tab.st_muxwinit);
		for (k = 0; k < 4; k++) {
			if (qi[k] == NULL || !str_mem_valid(qi[k]))
				continue;
			show_info(&r.minfo[k], qi[k], mi[k], fm->idname[k]);
			show_stat(&r.mstat[k], qi[k]);
		}
		EMIT(o, &r, STR_I_MODULE);
	}
}

/* ---------------------------------------------------------------- queues */

/* The pair of the queue at an address, if it is a queue of @pl. */
static struct str_qpair *
a_queue(queue_t *q, struct str_plumb *pl)
{
	struct str_qpair *qp;

	if (((uintptr_t)q & 7) != 0 || !str_mem_valid(q) ||
	    !str_mem_valid(q + 1))
		return NULL;
	qp = PEEK(q->q_pair);
	if (!is_block(qp, STR_BLK_QPAIR) || !str_mem_valid(qp + 1) ||
	    (q != &qp->rq && q != &qp->wq) || PEEK(qp->plumb) != pl)
		return NULL;
	return qp;
}

/* Does @mp look like a message block? */
static bool
a_message(const mblk_t *mp)
{
	const struct str_mdb *x;

	if (mp == NULL || ((uintptr_t)mp & 7) != 0 || !str_mem_valid(mp) ||
	    !str_mem_valid(mp + 1))
		return false;
	x = str_container(mp, const struct str_mdb, m);
	return is_block(x, STR_BLK_MDB);
}

static void
show_messages(struct str_i_queue *r, queue_t *q)
{
	mblk_t *mp = PEEK(q->q_first);
	dblk_t *db;

	for (; a_message(mp) && r->nmsg < MAX_MSGS; mp = PEEK(mp->b_next)) {
		if (r->nmsg++ != 0)
			continue;
		r->first_band = PEEK(mp->b_band);
		db = PEEK(mp->b_datap);
		if (db != NULL && str_mem_valid(db) && str_mem_valid(db + 1))
			r->first_type = PEEK(db->db_type);
	}
	r->nmsg_more = r->nmsg == MAX_MSGS && mp != NULL;
}

static void
show_bands(struct out *o, queue_t *q)
{
	qband_t *qb = PEEK(q->q_bandp);
	uint32_t n;

	for (n = 0; n < 255 && qb != NULL; n++) {
		RECORD(str_i_band, r);

		if (((uintptr_t)qb & 7) != 0 || !str_mem_valid(qb) ||
		    !str_mem_valid(qb + 1))
			return;
		r.band = PEEK(qb->qb_band);
		r.flag = (uint32_t)PEEK(qb->qb_flag);
		r.count = PEEK(qb->qb_count);
		r.hiwat = PEEK(qb->qb_hiwat);
		r.lowat = PEEK(qb->qb_lowat);
		EMIT(o, &r, STR_I_BAND);
		qb = PEEK(qb->qb_next);
	}
}

void
str_queue_drops(queue_t *q, const unsigned long *n)
{
	q->q_pair->drops = n;
}

static void
show_queue(struct out *o, struct str_plumb *pl, struct str_qpair *qp,
	unsigned side, uint32_t end, uint32_t depth)
{
	queue_t *q = side == 0 ? &qp->rq : &qp->wq;
	struct str_fmod *fm = a_fmod(PEEK(qp->fmod));
	struct qinit *qi = PEEK(q->q_qinfo);
	const unsigned long *drops = side != 0 ? PEEK(qp->drops) : NULL;
	struct str_perim *pm;
	RECORD(str_i_queue, r);

	if (drops != NULL && str_mem_valid(drops))
		r.drops = PEEK(*drops);
	r.sid = pl->sid;
	r.addr = (uint64_t)(uintptr_t)q;
	r.next = (uint64_t)(uintptr_t)PEEK(q->q_next);
	r.end = end;
	r.depth = depth;
	r.role = PEEK(qp->role);
	r.side = side;
	if (fm != NULL)
		copy_name(r.name, fm->name, sizeof(r.name));
	else
		copy_name(r.name, "sth", sizeof(r.name));
	r.flag = (uint32_t)PEEK(q->q_flag);
	r.count = PEEK(q->q_count);
	r.hiwat = PEEK(q->q_hiwat);
	r.lowat = PEEK(q->q_lowat);
	r.minpsz = PEEK(q->q_minpsz);
	r.maxpsz = PEEK(q->q_maxpsz);
	show_messages(&r, q);
	if (qi != NULL && str_mem_valid(qi) && str_mem_valid(qi + 1))
		r.service = PEEK(qi->qi_srvp) != NULL;
	pm = PEEK(qp->pm);
	if (pm != NULL && str_mem_valid(pm) && str_mem_valid(pm + 1)) {
		r.backlog = PEEK(pm->bl_first) != NULL ||
			PEEK(pm->sv_first) != NULL;
		owner(&r.inside, str_load(&pm->inside));
	}
	EMIT(o, &r, STR_I_QUEUE);
	if (PEEK(q->q_bandp) != NULL)
		show_bands(o, q);
}

/*
 * The queue pairs from a head down to the driver, or in a pipe to the last one
 * of this end: the pair whose write queue has a read queue as q_next.
 */
static void
show_queues(struct out *o, struct str_plumb *pl, uint32_t end)
{
	struct str_qpair *qp = PEEK(pl->head[end].qp);
	queue_t *next;
	uint32_t depth;

	for (depth = 0; depth < MAX_QUEUES; depth++) {
		if (qp == NULL || !is_block(qp, STR_BLK_QPAIR) ||
		    PEEK(qp->plumb) != pl)
			return;
		show_queue(o, pl, qp, 0, end, depth);
		show_queue(o, pl, qp, 1, end, depth);
		next = PEEK(qp->wq.q_next);
		if (next == NULL)
			return;
		qp = a_queue(next, pl);
		if (qp == NULL || next != &qp->wq)
			return;
	}
}

/* ----------------------------------------------------------------- heads */

/* The file after @f in @sd's list, if it looks valid; NULL: no more. */
static struct str_file *
next_file(struct str_head *sd, struct str_file *f)
{
	f = PEEK(f->next);
	return f != NULL && str_mem_valid(f) && str_mem_valid(f + 1) &&
		PEEK(f->head) == sd ? f : NULL;
}

static uint32_t
open_files(struct str_head *sd)
{
	struct str_file *f = &sd->file;
	uint32_t n, open = 0;

	for (n = 0; n < MAX_FILES && f != NULL; n++, f = next_file(sd, f))
		open += str_load(&f->open) == 1;
	return open;
}

static void
show_files(struct out *o, struct str_head *sd)
{
	struct str_file *f = &sd->file;
	uint32_t n;

	for (n = 0; n < MAX_FILES && f != NULL; n++, f = next_file(sd, f)) {
		RECORD(str_i_file, r);

		r.cookie = PEEK(f->carrier.cookie);
		r.ino = PEEK(f->carrier.ino);
		r.kind = PEEK(f->carrier.kind);
		r.fflags = str_load(&f->fflags);
		r.open = str_load(&f->open);
		if (r.cookie != 0)
			EMIT(o, &r, STR_I_FILE);
	}
}

/* The owner of a biased lock is the thread whose slot names the lock. */
static uint32_t
hlock_owner(struct str_hlock *l, unsigned kind)
{
	uint32_t tag = str_load(&l->bias);
	struct str_thread *t = &host_domain->thread[STR_TAG_IDX(tag)];

	if (tag != 0 &&
	    str_load(&t->hold[kind]) == (uint64_t)(uintptr_t)l)
		return tag;
	return PEEK(l->lk.owner);
}

static uint32_t
sleepers(struct str_head *sd)
{
	struct str_domain *d = host_domain;
	uint32_t nt = STR_MIN(str_load(&d->thread_high), STR_NTHREAD);
	uint64_t addr = (uint64_t)(uintptr_t)sd;
	uint32_t i, n = 0;

	for (i = 0; i < nt; i++) {
		struct str_thread *t = &d->thread[i];

		if (str_load(&t->tag) == 0)
			continue;
		if (str_load(&t->asleep_on) == addr ||
		    (str_load(&t->inside) == addr &&
			    str_load(&t->state) != STR_THR_RUN))
			n++;
	}
	return n;
}

static void
show_head(struct out *o, struct str_plumb *pl, uint32_t end)
{
	struct str_head *sd = &pl->head[end];
	struct str_headq *hq = &sd->hq;
	RECORD(str_i_head, r);
	uint64_t in, out;

	r.sid = pl->sid;
	r.addr = (uint64_t)(uintptr_t)sd;
	r.end = end;
	r.flags = str_load(&sd->flags);
	r.rerror = (int32_t)str_load(&sd->rerror);
	r.werror = (int32_t)str_load(&sd->werror);
	r.rdopt = PEEK(sd->rdopt);
	r.wropt = PEEK(sd->wropt);
	r.npush = str_load(&sd->npush);
	r.anchor = str_load(&sd->anchor);
	r.nfile = open_files(sd);
	r.refs = str_head_refs(sd);
	r.polled = (str_load(&hq->rwant) & STR_WANT_TOKEN ? STR_POLLIN : 0) |
		(str_load(&sd->peer->hq.wwant) & STR_WANT_TOKEN ?
			STR_POLLOUT : 0);
	r.npri = str_load(&hq->npri);
	/* cbytes is loaded before pbytes, so that it is not the larger one */
	out = str_load_acq(&hq->cbytes);
	in = str_load(&hq->pbytes);
	r.count = in >= out ? in - out : 0;
	r.passed = in;
	r.hiwat = PEEK(hq->hiwat);
	r.lowat = PEEK(hq->lowat);
	r.full = str_load(&hq->full);
	r.overflow = str_load(&hq->overflow);
	r.rwant = str_load(&hq->rwant) & STR_WANT_BITS & ~STR_WANT_QUIET;
	r.wwant = str_load(&hq->wwant) & STR_WANT_BITS & ~STR_WANT_QUIET;
	r.npass = str_load(&sd->npass);
	r.nsig = PEEK(sd->sigs) != NULL;
	r.cltime = PEEK(sd->cltime);
	r.sleeping = sleepers(sd);
	r.ctime = str_load(&sd->ctime);
	owner(&r.producer, hlock_owner(&hq->plock, STR_HOLD_P));
	owner(&r.consumer, hlock_owner(&hq->clock, STR_HOLD_C));
	owner(&r.ioctl, str_load(&sd->iocbusy));
	r.ioctl_state = str_load(&sd->ioc.state);
	r.ioctl_id = PEEK(sd->ioc.id);
	EMIT(o, &r, STR_I_HEAD);
	show_files(o, sd);
	show_queues(o, pl, end);
}

/* --------------------------------------------------------------- streams */

static struct str_link *
a_link(struct str_link *l)
{
	return is_block(l, STR_BLK_LINK) && str_mem_valid(l + 1) ? l : NULL;
}

static uint64_t
link_lower(struct str_link *l)
{
	uint32_t end;

	return head_sid((uint64_t)(uintptr_t)PEEK(l->lower), &end);
}

static void
show_links(struct out *o, struct str_link *l, uint64_t sid)
{
	uint32_t n;

	for (n = 0; n < MAX_LINKS && l != NULL; n++) {
		RECORD(str_i_link, r);

		if (a_link(l) == NULL)
			return;
		r.sid = sid;
		r.lower = link_lower(l);
		r.id = PEEK(l->id);
		r.persist = PEEK(l->persist);
		EMIT(o, &r, STR_I_LINK);
		l = PEEK(l->next);
	}
}

static bool
show_stream(struct str_plumb *pl, void *arg)
{
	struct out *o = arg;
	struct str_qpair *drv = PEEK(pl->driver);
	struct str_link *l;
	RECORD(str_i_stream, r);
	struct str_fmod *fm;
	uint64_t since;
	uint32_t e;

	r.sid = pl->sid;
	r.kind = pl->kind;
	r.nheads = pl->nheads;
	r.major = (uint32_t)((pl->dev >> 8 & 0xfff) |
		(pl->dev >> 32 & ~0xffful));
	r.minor = (uint32_t)((pl->dev & 0xff) | (pl->dev >> 12 & ~0xfful));
	if (drv != NULL && is_block(drv, STR_BLK_QPAIR)) {
		fm = a_fmod(PEEK(drv->fmod));
		if (fm != NULL)
			copy_name(r.driver, fm->name, sizeof(r.driver));
	}
	r.nrun = str_load(&pl->nrun);
	r.closed = str_load(&pl->closed);
	since = str_load(&pl->runner_at);
	owner(&r.plumber, PEEK(pl->plumber.owner));
	owner(&r.busy, PEEK(pl->busy.owner));
	owner(&r.runner, str_load(&pl->runner));
	owner(&r.committed, str_load(&pl->committed));
	owner(&r.closer, str_load(&pl->closer));
	owner(&r.frozen, str_load(&pl->frozen));
	r.late = (str_load(&pl->late) & STR_LATE_MSG) != 0;
	if (r.runner.tag != 0 && host_ticks_per_ms != 0)
		r.runner_ms = (uint32_t)STR_MIN(
			(host_ticks() - since) / host_ticks_per_ms,
			(uint64_t)0xffffffffu);
	l = PEEK(pl->under);
	if (l != NULL && a_link(l) != NULL) {
		r.under = PEEK(l->persist) ? 1 :
			plumb_sid((uint64_t)(uintptr_t)PEEK(l->upper));
		r.under_id = PEEK(l->id);
	}
	for (l = PEEK(pl->links); l != NULL && a_link(l) != NULL &&
		r.nlink < MAX_LINKS; l = PEEK(l->next))
		r.nlink++;
	EMIT(o, &r, STR_I_STREAM);
	show_links(o, PEEK(pl->links), pl->sid);
	for (e = 0; e < pl->nheads && e < 2; e++)
		show_head(o, pl, e);
	return false;
}

static void
show_name(struct str_head *sd, uint64_t sid, uint64_t dev, uint64_t ino,
	const char *path, void *arg)
{
	RECORD(str_i_name, r);

	(void)head_sid((uint64_t)(uintptr_t)sd, &r.end);
	r.sid = sid;
	r.dev = dev;
	r.ino = ino;
	copy_name(r.path, path, sizeof(r.path));
	EMIT((struct out *)arg, &r, STR_I_NAME);
}

static void
show_block(struct str_blk *b, void *arg)
{
	RECORD(str_i_block, r);

	str_inspect_block(&r, b);
	EMIT((struct out *)arg, &r, STR_I_BLOCK);
}

/* ---------------------------------------------------------------- domain */

_Static_assert(STR_ARRAY_LEN(((struct str_mem_stats *)NULL)->blocks) ==
		STR_I_NBLK,
	"kinds of blocks");

static void
show_domain(struct out *o)
{
	struct str_domain *d = host_domain;
	struct str_mem_stats st;
	RECORD(str_i_domain, r);
	uint32_t i;

	r.version = STR_INSPECT_VERSION;
	r.abi = d->abi;
	r.uid = d->uid;
	r.flags = (str_load(&d->asym) ? STR_I_DOM_ASYM : 0) |
		(str_load(&d->eager) ? STR_I_DOM_EAGER : 0);
	r.base = d->base;
	r.cap = d->cap;
	r.committed = str_load(&d->committed);
	r.used = str_load(&d->next_granule) << STR_SLAB_SHIFT;
	r.now = host_now();
	r.tokens = str_load(str_root(STR_ROOT_TOKENS));
	for (i = 0; i < str_load(&d->thread_high) && i < STR_NTHREAD; i++) {
		const struct str_thread *t = &d->thread[i];

		r.sleeps += str_load(&t->sleeps);
		r.wakes += str_load(&t->wakes);
		r.elided += str_load(&t->elided);
	}
	r.nstream = str_load(str_root(STR_ROOT_NPIPES));
	r.ndev = str_load(str_root(STR_ROOT_NDEVS));
	/* streams that wait to be freed; the upper half counts increments */
	r.unburied = (uint32_t)str_load(str_root(STR_ROOT_UNBURIED));
	if (o->what & STR_I_WANT_MEMORY) {
		__builtin_memset(&st, 0, sizeof(st));
		str_mem_stats(&st);
		for (i = 0; i < STR_I_NBLK; i++)
			r.blocks[i] = st.blocks[i];
		r.bytes = st.bytes;
	}
	EMIT(o, &r, STR_I_DOMAIN);
}

/**
 * str_inspect - write the description of the domain
 * @buf: memory of this process
 * @size: bytes there
 * @what: STR_I_WANT_*
 *
 * Context: inside a call; takes no lock.
 * Return: bytes needed for all records; records that do not fit are left out.
 */
uint64_t
str_inspect(void *buf, uint64_t size, uint32_t what)
{
	struct out o = {.buf = buf, .size = size, .what = what};
	RECORD(str_i, end);

	show_domain(&o);
	if (what & STR_I_WANT_PROCS)
		show_procs(&o);
	if (what & STR_I_WANT_MODULES)
		show_modules(&o);
	if (what & STR_I_WANT_STREAMS)
		str_stream_walk(show_stream, &o);
	if (what & STR_I_WANT_NAMES)
		str_name_each(show_name, &o);
	if (what & STR_I_WANT_BLOCKS)
		str_mem_walk(show_block, &o);
	EMIT(&o, &end, STR_I_END);
	return o.used;
}
