/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strlog(9), and the ring that the log driver reads.
 *
 * Objects.  The ring is made with the first message.  Entry n % STR_LOG_MSGS
 * holds message n (from 1) if its `no' is n.  A logger is a queue of the log
 * driver, the purposes for which it is registered, and the number of the next
 * message that it has not examined yet.
 *
 * Locks. log->lock, for all of it; the rlock of a logger's stream is taken
 * under it (qenable()).  Text is formatted, and messages are allocated, before
 * it is taken.  The hook of register_strlog() is called without it.
 *
 * Crash. An entry's number is stored after its text, and then `last', so
 * that the next owner of the lock finds a ring without a hole: a message that
 * was being entered is not in the ring.  A logger exists when its queue is
 * stored.  A message that a logger takes is put on its queue before the
 * logger's number is advanced: str_log_get().
 */
#include "ddi_impl.h"
#include <str/log.h>

/* Facility and priorities of syslog(3). */
#define PRI_KERN 0
#define PRI_CRIT 2
#define PRI_ERR 3
#define PRI_WARNING 4
#define PRI_NOTICE 5
#define PRI_INFO 6
#define PRI_DEBUG 7

#define HEAD 64u /* of its block */

struct entry {
	str_a64 no; /* number of the message, 0: none */
	struct log_ctl lc;
	uint32_t len; /* bytes of text, NUL included */
	uint32_t pad;
	char text[STR_LOG_TEXT];
};

struct logger {
	queue_t *volatile q;  /* NULL: not in use */
	uint64_t next;	      /* first message not examined */
	struct trace_ids *ids;
	uint32_t nids;
	uint32_t what;	      /* SL_* */
	uint32_t seq[3];      /* number of messages of each kind for it */
	uint32_t pad;
};

struct str_log {
	struct str_lock lock;
	str_a64 last; /* number of the newest message */
	str_a64 hook; /* [A] register_strlog(): a vstrlog_t, or 0 */
	struct logger logger[STR_LOG_QUEUES];
	struct entry ring[STR_LOG_MSGS];
};

_Static_assert(sizeof(struct str_log) + HEAD <= 5u << 16, "five granules");
_Static_assert(sizeof(struct log_ctl) == 24, "log_ctl is part of the ABI");

static struct str_log *
log_find(void)
{
	return (struct str_log *)(uintptr_t)
		str_load_acq(str_root(STR_ROOT_LOG));
}

/* The ring, which is made on the first call.  NULL: no memory. */
static struct str_log *
log_make(void)
{
	struct str_log *log = log_find();
	struct str_blk *b;

	if (log != NULL)
		return log;
	b = str_mem_alloc(HEAD + sizeof(*log), STR_BLK_LOG);
	if (b == NULL)
		return NULL;
	log = (struct str_log *)(void *)((char *)b + HEAD);
	__builtin_memset(log, 0, sizeof(*log));
	if (!str_cas(str_root(STR_ROOT_LOG), (uint64_t)0,
		(uint64_t)(uintptr_t)log)) {
		str_mem_free(b); /* another thread was faster */
		return log_find();
	}
	str_mem_disown(b);
	return log;
}

static void
lock(struct str_log *log)
{
	(void)str_lock(&log->lock);
}

static bool
traced(const struct logger *lg, const struct log_ctl *lc)
{
	uint32_t i;

	for (i = 0; i < lg->nids; i++) {
		const struct trace_ids *id = &lg->ids[i];

		/* plain char is unsigned on ARM */
		if ((id->ti_mid == lc->mid || id->ti_mid == -1) &&
		    (id->ti_sid == lc->sid || id->ti_sid == -1) &&
		    (id->ti_level >= lc->level || (signed char)id->ti_level == -1))
			return true;
	}
	return false;
}

/* The purposes of @lc for which @lg is registered. */
static uint32_t
wants(const struct logger *lg, const struct log_ctl *lc)
{
	uint32_t w = lg->what & (uint32_t)lc->flags &
		(SL_ERROR | SL_TRACE | SL_CONSOLE);

	if ((w & SL_TRACE) != 0 && !traced(lg, lc))
		w &= ~(uint32_t)SL_TRACE;
	return w;
}

/* Messages of each kind have separate numbers: a gap is a loss. */
static unsigned
kind(uint32_t w)
{
	return (w & SL_ERROR) != 0 ? 0 : (w & SL_CONSOLE) != 0 ? 1 : 2;
}

static int
priority(int flags)
{
	static const struct {
		int flag, pri;
	} row[] = {
		{SL_FATAL, PRI_CRIT}, {SL_ERROR, PRI_ERR},
		{SL_WARN, PRI_WARNING}, {SL_NOTE, PRI_NOTICE},
		{SL_TRACE, PRI_DEBUG},
	};
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(row); i++)
		if ((flags & row[i].flag) != 0)
			return PRI_KERN | row[i].pri;
	return PRI_KERN | PRI_INFO;
}

/* Does the logger's queue still exist?  Its stream may have been closed. */
static bool
alive(struct logger *lg)
{
	queue_t *q = lg->q;

	if (q == NULL)
		return false;
	if (str_container(q, struct str_qpair, rq)->blk.state ==
		STR_BLK_QPAIR)
		return true;
	lg->q = NULL;
	return false;
}

/*
 * Entry @e is about to be overwritten: a logger that has not taken it loses
 * it, and a gap in its numbers shows this.  Locks: lock.  Return: true if a
 * logger lost it.
 */
static bool
lose(struct str_log *log, struct entry *e)
{
	uint64_t no = str_load(&e->no);
	bool lost = false;
	unsigned i;

	for (i = 0; no != 0 && i < STR_LOG_QUEUES; i++) {
		struct logger *lg = &log->logger[i];
		uint32_t w;

		if (lg->q == NULL || lg->next > no)
			continue;
		w = wants(lg, &e->lc);
		if (w != 0) {
			lg->seq[kind(w)]++;
			lost = true;
		}
		lg->next = no + 1;
	}
	return lost;
}

/* Enter one message; the loggers that want it are enabled. Locks: lock. */
static int
enter(struct str_log *log, const struct log_ctl *lc, const char *text,
	size_t len)
{
	uint64_t no = str_load(&log->last) + 1;
	struct entry *e = &log->ring[no % STR_LOG_MSGS];
	int seen = lose(log, e) ? 0 : 1;
	unsigned i;

	str_store_rel(&e->no, (uint64_t)0);
	str_barrier();
	e->lc = *lc;
	e->len = (uint32_t)len + 1;
	__builtin_memcpy(e->text, text, len);
	e->text[len] = '\0';
	STR_CRASH_POINT("strlog:filled");
	str_store_rel(&e->no, no);
	str_store_rel(&log->last, no);
	for (i = 0; i < STR_LOG_QUEUES; i++) {
		struct logger *lg = &log->logger[i];

		if (alive(lg) && wants(lg, lc) != 0)
			qenable(lg->q);
	}
	return seen;
}

static bool
console_read(struct str_log *log)
{
	unsigned i;

	for (i = 0; i < STR_LOG_QUEUES; i++)
		if (log->logger[i].q != NULL &&
		    (log->logger[i].what & SL_CONSOLE) != 0)
			return true;
	return false;
}

static int
submit(struct log_ctl *lc, const char *text, size_t len)
{
	struct str_log *log = log_make();
	bool console = (lc->flags & SL_CONSOLE) != 0;
	int seen = 0;

	lc->ltime = (unsigned int)(host_now() / STR_TICK_NS);
	lc->ttime = (unsigned int)host_wall();
	if (log != NULL) {
		lock(log);
		seen = enter(log, lc, text, len);
		console = console && !console_read(log);
		str_unlock(&log->lock);
	}
	if (console)
		host_log(1, text);
	return seen;
}

vstrlog_t
register_strlog(vstrlog_t newlog)
{
	struct str_log *log = log_make();

	if (log == NULL || (newlog != NULL &&
		!host_code_shared((const void *)(uintptr_t)newlog)))
		return newlog; /* it is not registered, nor will it be called */
	return (vstrlog_t)(uintptr_t)str_xchg(&log->hook,
		(uint64_t)(uintptr_t)newlog);
}

/* SVR4 strlog(D3) */
int
vstrlog(short mid, short sid, char level, unsigned short flags,
	const char *fmt, va_list ap)
{
	char buf[STR_LOG_TEXT];
	struct str_text o = {.buf = buf, .size = sizeof(buf)};
	struct log_ctl lc = {.mid = mid, .sid = sid, .level = level};
	struct str_log *log = log_find();
	uint64_t hook = log != NULL ? str_load_acq(&log->hook) : 0;
	size_t len;

	if (str_unlikely(hook != 0))
		return ((vstrlog_t)(uintptr_t)hook)(mid, sid, level, flags,
			fmt, ap);
	lc.flags = (short)flags;
	lc.pri = priority(flags);
	str_text_format(&o, fmt, ap);
	len = str_text_end(&o);
	return submit(&lc, buf, len);
}

int
strlog(short mid, short sid, char level, unsigned short flags,
	const char *fmt, ...)
{
	va_list ap;
	int seen;

	va_start(ap, fmt);
	seen = vstrlog(mid, sid, level, flags, fmt, ap);
	va_end(ap);
	return seen;
}

int
str_log_put(const struct log_ctl *lc, const char *text, size_t len)
{
	char buf[STR_LOG_TEXT];
	struct log_ctl mine = *lc;

	while (len > 0 && text[len - 1] == '\0')
		len--; /* the NUL is optional */
	len = STR_MIN(len, sizeof(buf) - 1);
	if (len != 0)
		__builtin_memcpy(buf, text, len);
	buf[len] = '\0';
	return submit(&mine, buf, len);
}

/* ------------------------------------------------------ for the log driver */

static struct logger *
find(struct str_log *log, queue_t *q)
{
	unsigned i;

	for (i = 0; i < STR_LOG_QUEUES; i++)
		if (log->logger[i].q == q)
			return &log->logger[i];
	return NULL;
}

static struct trace_ids *
copy_ids(const struct trace_ids *ids, unsigned int n)
{
	struct trace_ids *p = kmem_alloc(n * sizeof(*ids), KM_NOSLEEP);

	if (p != NULL)
		__builtin_memcpy(p, ids, n * sizeof(*ids));
	return p;
}

int
str_log_open(queue_t *q, int what, const struct trace_ids *ids,
	unsigned int n)
{
	struct trace_ids *copy = NULL, *old = NULL;
	uint32_t nold = 0;
	struct logger *lg;
	struct str_log *log;

	if (what == 0 || (what & ~(SL_ERROR | SL_TRACE | SL_CONSOLE)) != 0 ||
	    ((what & SL_TRACE) != 0) != (n != 0) || n > 1024)
		return EINVAL;
	log = log_make();
	if (n != 0)
		copy = copy_ids(ids, n);
	if (log == NULL || (n != 0 && copy == NULL))
		goto nomem;
	lock(log);
	lg = find(log, q);
	if (lg == NULL) {
		lg = find(log, NULL);
		if (lg == NULL) {
			str_unlock(&log->lock);
			goto nomem;
		}
		*lg = (struct logger){.next = str_load(&log->last) + 1};
	}
	if (n != 0) {
		old = lg->ids;
		nold = lg->nids;
		lg->ids = copy;
		lg->nids = n;
	}
	lg->what |= (uint32_t)what;
	str_barrier();
	lg->q = q;
	str_unlock(&log->lock);
	kmem_free(old, nold * sizeof(*old));
	return 0;
nomem:
	kmem_free(copy, n * sizeof(*copy));
	return ENOSR;
}

void
str_log_close(queue_t *q)
{
	struct str_log *log = log_find();
	struct trace_ids *ids = NULL;
	struct logger *lg;

	if (log == NULL || q == NULL)
		return;
	lock(log);
	lg = find(log, q);
	if (lg != NULL) {
		ids = lg->ids;
		lg->ids = NULL;
		lg->nids = 0;
		lg->q = NULL;
	}
	str_unlock(&log->lock);
	kmem_free(ids, 0);
}

int
str_log_wanted(queue_t *q)
{
	struct str_log *log = log_find();
	uint32_t w = 0;
	unsigned i;

	if (log == NULL)
		return 0;
	lock(log);
	for (i = 0; i < STR_LOG_QUEUES; i++) {
		struct logger *lg = &log->logger[i];

		if (lg->q != NULL && (q == NULL || lg->q == q))
			w |= lg->what;
	}
	str_unlock(&log->lock);
	return (int)w;
}

/* The next message for @lg; its number per kind is the one after seq[]. */
static struct entry *
next(struct str_log *log, struct logger *lg)
{
	uint64_t last = str_load(&log->last);

	for (; lg->next <= last; lg->next++) {
		struct entry *e = &log->ring[lg->next % STR_LOG_MSGS];

		/* else its writer died while it stored the entry */
		if (str_load_acq(&e->no) == lg->next && wants(lg, &e->lc) != 0)
			return e;
	}
	return NULL;
}

/* A copy of the next message for @q, number *ret_no; NULL: none, or no memory. */
static mblk_t *
copy_next(struct str_log *log, queue_t *q, uint64_t *ret_no)
{
	mblk_t *mp = allocb(sizeof(struct log_ctl) + sizeof(*ret_no), BPRI_MED);
	mblk_t *text = allocb(STR_LOG_TEXT, BPRI_MED);
	struct entry *e = NULL;
	struct logger *lg;

	if (mp != NULL && text != NULL) {
		lock(log);
		lg = find(log, q);
		e = lg != NULL ? next(log, lg) : NULL;
		if (e != NULL) {
			struct log_ctl *lc = (struct log_ctl *)(void *)mp->b_wptr;

			*lc = e->lc;
			lc->seq_no = (int)lg->seq[kind(wants(lg, lc))] + 1;
			mp->b_wptr += sizeof(*lc);
			__builtin_memcpy(text->b_wptr, e->text, e->len);
			text->b_wptr += e->len;
			*ret_no = lg->next;
			/* for is_laid(), after the text */
			__builtin_memcpy(mp->b_wptr, ret_no, sizeof(*ret_no));
		}
		str_unlock(&log->lock);
	}
	if (e == NULL) {
		freemsg(mp);
		freemsg(text);
		return NULL;
	}
	mp->b_datap->db_type = M_PROTO;
	mp->b_cont = text;
	return mp;
}

/* Message @no has been put on @q: advance the number of its logger. */
static void
taken(struct str_log *log, queue_t *q, uint64_t no)
{
	struct logger *lg;

	lock(log);
	lg = find(log, q);
	/* else it was overwritten, and counted then */
	if (lg != NULL && lg->next == no) {
		lg->next = no + 1;
		lg->seq[kind(wants(lg, &log->ring[no % STR_LOG_MSGS].lc))]++;
	}
	str_unlock(&log->lock);
}

/*
 * Is message @no the last on @q?  If so, a thread was killed before it
 * recorded this.
 */
static bool
is_laid(queue_t *q, uint64_t no)
{
	const mblk_t *at;
	bool yes;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q); /* that thread was killed in putq() */
	at = q->q_last;
	yes = at != NULL && __builtin_memcmp(at->b_wptr, &no, sizeof(no)) == 0;
	str_unlock(&q->q_klock);
	return yes;
}

/*
 * The message is put on the queue first.  Until then it is in the ring; from
 * then on it is a message taken from a queue, which returns there if the
 * thread that took it is killed.
 */
mblk_t *
str_log_get(queue_t *q)
{
	struct str_log *log = log_find();
	uint64_t no;
	mblk_t *mp;

	if (log == NULL)
		return NULL;
	mp = copy_next(log, q, &no);
	if (mp != NULL && (is_laid(q, no) || putq(q, mp) == 0))
		freemsg(mp);
	if (mp != NULL)
		taken(log, q, no);
	/* after getq() of an empty queue each putq() would enable it */
	return q->q_first != NULL ? getq(q) : NULL;
}
