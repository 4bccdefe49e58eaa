/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reading a snapshot.
 *
 * The records were written by the library that is loaded now, which may be
 * another version than this program: a record that is shorter than its
 * structure is skipped; of a longer one only the known part is read.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stream.h>
#include <str/kinds.h>

#include "snap.h"

int
snap_take(struct snap *s, unsigned what)
{
	for (int tries = 0; tries < 8; tries++) {
		long n = strm_inspect(s->buf, s->size, what);
		unsigned char *more;
		size_t size;

		if (n < 0)
			return -1;
		if ((size_t)n <= s->size) {
			s->used = (size_t)n;
			return 0;
		}
		size = (size_t)n + (size_t)n / 4 + 4096;
		more = realloc(s->buf, size);
		if (more == NULL)
			return -1;
		s->buf = more;
		s->size = size;
	}
	errno = EAGAIN; /* it grows as fast as the buffer */
	return -1;
}

void
snap_failed(const struct tool *t)
{
	if (strm_why()[0] != '\0')
		tool_warn(t, "cannot attach to a domain: %s", strm_why());
	else
		tool_err(t, "cannot read the domain");
}

void
snap_die(const struct tool *t)
{
	snap_failed(t);
	exit(TOOL_FAILED);
}

void
snap_free(struct snap *s)
{
	free(s->buf);
	memset(s, 0, sizeof(*s));
}

static size_t
least(unsigned kind)
{
	static const size_t size[] = {
		[STR_I_DOMAIN] = sizeof(struct str_i_domain),
		[STR_I_PROC] = sizeof(struct str_i_proc),
		[STR_I_THREAD] = sizeof(struct str_i_thread),
		[STR_I_MODULE] = sizeof(struct str_i_module),
		[STR_I_STREAM] = sizeof(struct str_i_stream),
		[STR_I_HEAD] = sizeof(struct str_i_head),
		[STR_I_FILE] = sizeof(struct str_i_file),
		[STR_I_QUEUE] = sizeof(struct str_i_queue),
		[STR_I_BAND] = sizeof(struct str_i_band),
		[STR_I_LINK] = sizeof(struct str_i_link),
		[STR_I_NAME] = sizeof(struct str_i_name),
		[STR_I_END] = 0,
	};

	return kind < sizeof(size) / sizeof(size[0]) ? size[kind] : 0;
}

const struct str_i *
snap_next(const struct snap *s, const struct str_i *i)
{
	const unsigned char *p = i == NULL ? s->buf :
		(const unsigned char *)i + i->size;

	for (;;) {
		size_t left = s->used - (size_t)(p - s->buf);

		if (p == NULL || left < sizeof(*i))
			return NULL;
		i = (const struct str_i *)(const void *)p;
		if (i->size < sizeof(*i) || i->size > left ||
			i->kind == STR_I_END)
			return NULL;
		if (least(i->kind) != 0 && i->size >= least(i->kind))
			return i;
		p += i->size;
	}
}

const struct str_i_domain *
snap_domain(const struct snap *s)
{
	const struct str_i *i;

	SNAP_EACH (s, i)
		if (i->kind == STR_I_DOMAIN)
			return (const void *)i;
	return NULL;
}

const struct str_i_stream *
snap_stream(const struct snap *s, uint64_t sid)
{
	const struct str_i *i;

	SNAP_EACH (s, i) {
		const struct str_i_stream *st = (const void *)i;

		if (i->kind == STR_I_STREAM && st->sid == sid)
			return st;
	}
	return NULL;
}

/* ----------------------------------------------------------------- words */

/* A few buffers in turn, so that several may be arguments of one printf(). */
static char *
buffer(void)
{
	static char buf[8][160];
	static unsigned n;

	n = (n + 1) % 8;
	buf[n][0] = '\0';
	return buf[n];
}

const char *
snap_stream_name(const struct str_i_stream *st)
{
	char *buf = buffer();

	if (st->kind == STR_I_PIPE)
		return "pipe";
	if (st->kind == STR_I_FIFO)
		return "fifo";
	if (st->driver[0] == '\0')
		snprintf(buf, 160, "%u/%u", st->major, st->minor);
	else
		snprintf(buf, 160, "%.12s/%u", st->driver, st->minor);
	return buf;
}

struct word {
	uint32_t bit;
	const char *name;
};

static const char *
words(uint32_t v, const struct word *w)
{
	char *buf = buffer();
	size_t n = 0;

	for (; w->name != NULL; w++)
		if (v & w->bit)
			n += (size_t)snprintf(buf + n, 160 - n, "%s%s",
				n != 0 ? "," : "", w->name);
	return n == 0 ? "-" : buf;
}

const char *
snap_queue_flags(uint32_t flag)
{
	static const struct word w[] = {
		{ QENAB, "QENAB" }, { QWANTR, "QWANTR" },
		{ QWANTW, "QWANTW" }, { QFULL, "QFULL" },
		{ QNOENB, "QNOENB" }, { QBACK, "QBACK" },
		{ QPROCS, "QPROCS" }, { QSVCBUSY, "QSVCBUSY" },
		{ 0, NULL },
	};

	return words(flag, w);
}

const char *
snap_head_flags(uint32_t flag)
{
	static const struct word w[] = {
		{ STR_I_H_RDERR, "RDERR" }, { STR_I_H_WRERR, "WRERR" },
		{ STR_I_H_HUP, "HUP" }, { STR_I_H_PEER, "PEERGONE" },
		{ STR_I_H_CLOSED, "CLOSED" }, { STR_I_H_PLEX, "PLEX" },
		{ STR_I_H_MREAD, "MREAD" }, { STR_I_H_HOLD, "HOLD" },
		{ STR_I_H_DELIM, "DELIM" }, { STR_I_H_NOWR, "NOWRITER" },
		{ STR_I_H_NORD, "NOREADER" }, { 0, NULL },
	};

	return words(flag, w);
}

const char *
snap_band_flags(uint32_t flag)
{
	static const struct word w[] = {
		{ QB_FULL, "QB_FULL" }, { QB_WANTW, "QB_WANTW" },
		{ QB_BACK, "QB_BACK" }, { 0, NULL },
	};

	return words(flag, w);
}

const char *
snap_msg_type(uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *name;
	} m[] = {
#define T(t) { t, #t }
		T(M_DATA), T(M_PROTO), T(M_BREAK), T(M_PASSFP), T(M_EVENT),
		T(M_SIG), T(M_DELAY), T(M_CTL), T(M_IOCTL), T(M_SETOPTS),
		T(M_RSE), T(M_IOCACK), T(M_IOCNAK), T(M_PCPROTO), T(M_PCSIG),
		T(M_READ), T(M_FLUSH), T(M_STOP), T(M_START), T(M_HANGUP),
		T(M_ERROR), T(M_COPYIN), T(M_COPYOUT), T(M_IOCDATA),
		T(M_PCRSE), T(M_STOPI), T(M_STARTI), T(M_PCCTL),
		T(M_PCSETOPTS), T(M_PCEVENT), T(M_UNHANGUP), T(M_HPDATA),
#undef T
	};
	char *buf;

	for (size_t i = 0; i < sizeof(m) / sizeof(m[0]); i++)
		if (m[i].type == type)
			return m[i].name;
	buf = buffer();
	snprintf(buf, 160, "type 0x%x", type);
	return buf;
}

const char *
snap_block_kind(unsigned k)
{
	static const char *const name[] = STR_BLK_TEXTS;

	return k < sizeof(name) / sizeof(name[0]) ? name[k] : NULL;
}

const char *
snap_thread_state(uint32_t state)
{
	static const char *const name[] = { "running", "sleeping", "blocked",
		"polling" };

	return state < 4 ? name[state] : "?";
}

const char *
snap_why(uint32_t why)
{
	static const char *const name[] = { "nothing", "read", "write",
		"ioctl", "other" };

	return why < 5 ? name[why] : "?";
}

/* ----------------------------------------------------------- explanation */

struct say {
	void (*fn)(void *arg, const char *text);
	void *arg;
};

static void STR_PRINTF(2, 3)
say(const struct say *s, const char *fmt, ...)
{
	char text[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->fn(s->arg, text);
}

/* "thread 12 of process 11", or that it is dead */
static const char *
who(const struct str_i_owner *o)
{
	char *buf = buffer();

	if (o->pid == 0)
		snprintf(buf, 160, "a thread that has ended (tag %x)", o->tag);
	else
		snprintf(buf, 160, "thread %u of process %u%s", o->tid, o->pid,
			o->dead ? ", which was killed" : "");
	return buf;
}

static void
explain_lock(const struct say *s, const struct str_i_owner *o,
	const char *what)
{
	if (o->tag != 0)
		say(s, "%s: %s", what, who(o));
}

static void
explain_queue(const struct say *s, const struct str_i_queue *q)
{
	const char *side = q->side ? "write" : "read";
	char at[64];

	snprintf(at, sizeof(at), "%.12s, %s side, end %u", q->name, side,
		q->end);
	if ((q->flag & QFULL) && q->role != STR_I_Q_HEAD)
		say(s, "full: %s has %llu bytes (high water %llu, low "
		       "water %llu)%s", at, (unsigned long long)q->count,
			(unsigned long long)q->hiwat,
			(unsigned long long)q->lowat,
			q->flag & QWANTW ? ", and has refused a message" : "");
	if (q->drops != 0)
		say(s, "dropped: %llu message%s by %s, because the program did "
		       "not read them", (unsigned long long)q->drops,
			q->drops == 1 ? "" : "s", at);
	if (q->flag & QENAB)
		say(s, "enabled, not run yet: service procedure of %s", at);
	if (q->flag & QSVCBUSY)
		say(s, "running: service procedure of %s", at);
	if ((q->flag & QNOENB) && q->nmsg != 0)
		say(s, "%u message%s on %s, which noenable() keeps from being "
		       "enabled", q->nmsg, q->nmsg == 1 ? "" : "s", at);
	else if (q->nmsg != 0 && q->role != STR_I_Q_HEAD &&
		(q->flag & (QENAB | QSVCBUSY | QFULL)) == 0)
		say(s, "%u%s message%s (the first is %s) on %s, which is not "
		       "enabled: it waits for room in the next queue, a "
		       "timeout, or its module",
			q->nmsg, q->nmsg_more ? "+" : "",
			q->nmsg == 1 ? "" : "s", snap_msg_type(q->first_type),
			at);
	if ((q->flag & QPROCS) && q->role != STR_I_Q_HEAD)
		say(s, "%s is being opened or closed: its procedures are disabled", at);
	if (q->inside.tag != 0 && q->side == 0)
		say(s, "inside %.12s, end %u: %s%s", q->name, q->end,
			who(&q->inside),
			q->backlog ? "; messages wait until it leaves" : "");
}

static void
explain_band(const struct say *s, const struct str_i_queue *q,
	const struct str_i_band *b)
{
	if (b->flag & QB_FULL)
		say(s, "full: band %u of %.12s, %s side, end %u has %llu "
		       "bytes (high water %llu)%s",
			b->band, q != NULL ? q->name : "?",
			q != NULL && q->side ? "write" : "read",
			q != NULL ? q->end : 0, (unsigned long long)b->count,
			(unsigned long long)b->hiwat,
			b->flag & QB_WANTW ? ", and has refused a message" : "");
}

static void
explain_head(const struct say *s, const struct str_i_head *h)
{
	if (h->full && h->count >= h->hiwat)
		say(s, "full: end %u has %llu bytes to be read (high water "
		       "%llu); writers wait until at most %llu are left",
			h->end, (unsigned long long)h->count,
			(unsigned long long)h->hiwat,
			(unsigned long long)h->lowat);
	if (h->overflow)
		say(s, "out of memory: messages for end %u wait on its write "
		       "queue", h->end);
	if (h->ioctl.tag != 0)
		say(s, "ioctl in progress at end %u (number %u, %s): %s",
			h->end, h->ioctl_id,
			h->ioctl_state == 0 ? "not sent down yet" :
			h->ioctl_state == 1 ? "no answer yet" : "answered",
			who(&h->ioctl));
	if (h->producer.tag != 0)
		say(s, "writing to end %u's queue: %s", h->end,
			who(&h->producer));
	if (h->consumer.tag != 0)
		say(s, "reading end %u's queue: %s", h->end,
			who(&h->consumer));
	if (h->flags & STR_I_H_PLEX)
		say(s, "linked below a multiplexor: end %u cannot be used",
			h->end);
	if (h->flags & STR_I_H_RDERR)
		say(s, "read error at end %u: %s", h->end,
			strerror(h->rerror));
	if (h->flags & STR_I_H_WRERR)
		say(s, "write error at end %u: %s", h->end,
			strerror(h->werror));
	if ((h->flags & STR_I_H_HUP) && !(h->flags & STR_I_H_CLOSED))
		say(s, "hung up: end %u", h->end);
}

/* The threads that sleep at this stream. */
static void
explain_sleepers(const struct snap *snap, const struct say *s, uint64_t sid)
{
	const struct str_i *i;

	SNAP_EACH (snap, i) {
		const struct str_i_thread *t = (const void *)i;
		static const char *const role[] = { "sleeper", "reader",
			"writer", "ioctl", "caller" };

		if (i->kind != STR_I_THREAD || t->sid != sid)
			continue;
		if (t->dead)
			say(s, "killed inside end %u: thread %u of process %u",
				t->end, t->tid, t->pid);
		else if (t->state == STR_I_THR_RUN)
			say(s, "in a call at end %u: thread %u of process %u",
				t->end, t->tid, t->pid);
		else
			say(s, "%s asleep at end %u: thread %u of process %u",
				role[t->why < 5 ? t->why : 0], t->end, t->tid,
				t->pid);
	}
}

void
snap_explain(const struct snap *snap, const struct str_i_stream *st,
	void (*fn)(void *arg, const char *text), void *arg)
{
	struct say s = { fn, arg };
	const struct str_i_queue *q = NULL;
	const struct str_i *i = &st->i;

	explain_sleepers(snap, &s, st->sid);
	while ((i = snap_next(snap, i)) != NULL && i->kind != STR_I_STREAM) {
		if (i->kind == STR_I_HEAD)
			explain_head(&s, (const void *)i);
		if (i->kind == STR_I_QUEUE) {
			q = (const void *)i;
			explain_queue(&s, q);
		}
		if (i->kind == STR_I_BAND)
			explain_band(&s, q, (const void *)i);
	}
	explain_lock(&s, &st->plumber, "modules being pushed or popped by");
	explain_lock(&s, &st->busy, "push, pop, link or close in progress by");
	explain_lock(&s, &st->closer, "last close in progress by");
	explain_lock(&s, &st->frozen, "frozen (freezestr) by");
	if (st->late)
		say(&s, "messages from other streams wait until modules have "
			"been pushed or popped");
	if (st->runner.tag != 0)
		say(&s, "service procedures have been running for %u ms in %s", st->runner_ms,
			who(&st->runner));
	else if (st->nrun != 0)
		say(&s, "%u service procedure%s scheduled, to be run by %s", st->nrun,
			st->nrun == 1 ? "" : "s",
			st->committed.tag != 0 ? who(&st->committed) :
						 "the next thread in the stream");
	if (st->under != 0)
		say(&s, "linked below %s as %d",
			st->under == 1 ? "a driver by a persistent link" :
					 "a stream of a multiplexor",
			st->under_id);
}
