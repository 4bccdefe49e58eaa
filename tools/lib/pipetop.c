/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pipetop: the pipes of programs under strrun(1), for strtop(1).
 *
 * The area tells which pipes there are, and what is in the rings.  /proc tells
 * which processes hold them.  The kernel's bytes are counted by an open file of
 * this process, which reads nothing and is closed at once.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pipetop.h"

#define LOAD(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)

struct pipetop_rate {
	unsigned key;
	uint64_t id, bytes;
};

/* One pipe, as it was at one moment. */
struct pipe_now {
	uint64_t id, carried; /* carried: bytes through the ring, so far */
	enum run_state state;
	unsigned unfit;	      /* enum run_count */
	uint64_t bytes, size; /* in the pipe, at most */
	const struct end *reader, *writer; /* the first ones; or NULL */
	unsigned readers, writers;	   /* processes */
	bool reader_waits, writer_waits;
};

static double
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The text of /proc/@pid/@what, with spaces between its strings, and without
 * characters that control a terminal. */
static const char *
text_of(long pid, const char *what, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%ld/%s", pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, buf, size - 1) : 0;
	if (fd >= 0)
		(void)close(fd);
	while (n > 0 && (buf[n - 1] == '\0' || buf[n - 1] == '\n'))
		n--;
	buf[n > 0 ? n : 0] = '\0';
	for (ssize_t i = 0; i < n; i++)
		if (buf[i] == '\0')
			buf[i] = ' ';
		else if ((unsigned char)buf[i] < ' ' || buf[i] == 0x7f)
			buf[i] = '?';
	return buf;
}

/* ---------------------------------------------------------------- taking */

/* Take over @c, if it is not there yet. */
static int
add(struct pipetop *t, struct carried *c)
{
	struct carried *more;

	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].key == c->key && t->v[i].strrun == c->strrun) {
			carried_close(c);
			return 0;
		}
	more = realloc(t->v, (t->n + 1) * sizeof *more);
	if (more == NULL) {
		carried_close(c);
		return -1;
	}
	t->v = more;
	t->v[t->n++] = *c;
	return 0;
}

static bool
is_wanted(char *const *want, long pid, const struct carried *c)
{
	if (want == NULL || want[0] == NULL)
		return true;
	for (; *want != NULL; want++)
		if (atol(*want) == pid || atol(*want) == (long)c->strrun)
			return true;
	return false;
}

static void
forget(struct pipetop *t)
{
	for (size_t i = 0; i < t->n; i++)
		carried_close(&t->v[i]);
	t->n = 0;
}

int
pipetop_take(struct pipetop *t, char *const *want)
{
	long last = 0;
	int err = 0;

	forget(t);
	t->at = now();
	if (ends_take(&t->ends, 0) != 0)
		return -1;
	for (size_t i = 0; err == 0 && i < t->ends.n; i++) {
		struct carried c;
		long pid = t->ends.v[i].pid;

		/* the ends of a process follow each other */
		if (pid == last || carried_open(&c, pid, false) !=
				CARRIED_FOUND)
			continue;
		last = pid;
		if (is_wanted(want, pid, &c))
			err = add(t, &c);
		else
			carried_close(&c);
	}
	return err;
}

void
pipetop_free(struct pipetop *t)
{
	forget(t);
	free(t->v);
	free(t->before);
	ends_free(&t->ends);
	memset(t, 0, sizeof *t);
}

/* ---------------------------------------------------------------- a pipe */

static bool
sleeps(long pid)
{
	char text[256];
	const char *p = strrchr(text_of(pid, "stat", text, sizeof text), ')');

	return p != NULL && p[1] == ' ' && p[2] == 'S';
}

/* Is @pid in a call that reads or writes the pipe @id?  If the kernel does not
 * tell: does it sleep? */
static bool
is_in_call(const struct pipetop *t, long pid, uint64_t id, bool reads)
{
	char text[64];
	unsigned long fd;
	long nr;

	if (text_of(pid, "syscall", text, sizeof text)[0] == '\0')
		return sleeps(pid);
	if (sscanf(text, "%ld %lx", &nr, &fd) != 2 || (reads ?
			nr != SYS_read && nr != SYS_readv :
			nr != SYS_write && nr != SYS_writev))
		return false;
	for (size_t i = 0; i < t->ends.n; i++)
		if (t->ends.v[i].pid == pid && t->ends.v[i].id == id &&
				t->ends.v[i].fd == (int)fd)
			return true;
	return false;
}

/* The processes that hold it. */
static void
find_ends(const struct pipetop *t, struct pipe_now *p)
{
	long reader = 0, writer = 0;

	for (size_t i = 0; i < t->ends.n; i++) {
		const struct end *e = &t->ends.v[i];

		if (e->id != p->id)
			continue;
		if (e->reads && e->pid != reader) {
			reader = e->pid;
			p->readers++;
			p->reader = p->reader == NULL ? e : p->reader;
		}
		if (e->writes && e->pid != writer) {
			writer = e->pid;
			p->writers++;
			p->writer = p->writer == NULL ? e : p->writer;
		}
	}
}

/* What the kernel's pipe has, and can have. */
static void
look_at_kernel(struct pipe_now *p)
{
	const struct end *e = p->reader != NULL ? p->reader : p->writer;
	char path[64];
	int fd, n = 0;

	snprintf(path, sizeof path, "/proc/%ld/fd/%d", e->pid, e->fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (ioctl(fd, FIONREAD, &n) == 0 && n > 0)
		p->bytes = (uint64_t)n;
	n = fcntl(fd, F_GETPIPE_SZ);
	if (n > 0)
		p->size = (uint64_t)n;
	(void)close(fd);
}

/* The record @at.  False: no process that can be looked at holds the pipe. */
static bool
look(const struct pipetop *t, const struct carried *c, unsigned at,
	struct pipe_now *p)
{
	const struct run_pipe *r = &c->area->pipe[at];
	uint32_t ring;
	uint64_t was;
	bool in_ring;

	memset(p, 0, sizeof *p);
	p->id = LOAD(&c->area->id[at]);
	if (p->id == 0)
		return false;
	find_ends(t, p);
	if (p->reader == NULL && p->writer == NULL)
		return false;
	was = LOAD(&r->state);
	p->state = (enum run_state)(was & 0xff);
	p->unfit = LOAD(&r->unfit);
	p->carried = LOAD(&r->bytes);
	look_at_kernel(p);
	/* the positions are the lower halves */
	ring = (uint32_t)LOAD(&r->tail) - (uint32_t)LOAD(&r->head);
	in_ring = p->state == RUN_STREAM && ring <= RUN_RING;
	if (in_ring) {
		p->bytes += ring;
		p->size = RUN_RING;
	}
	if (p->reader != NULL && p->bytes == 0)
		p->reader_waits = ((p->state == RUN_STREAM ||
				p->state == RUN_ARMED) &&
				LOAD(&r->in_read) != 0) ||
			is_in_call(t, p->reader->pid, p->id, true);
	if (p->writer != NULL && p->bytes != 0)
		p->writer_waits = in_ring ? LOAD(&r->room) != 0 &&
				ring > RUN_RING / 2 :
			p->bytes + 4096 > p->size / 2 &&
			is_in_call(t, p->writer->pid, p->id, false);
	return LOAD(&c->area->id[at]) == p->id;
}

static const char *
carried_by(const struct pipe_now *p)
{
	static const char *const why[RUN_COUNTS] = {
		[RUN_OUTSIDE] = "outside",
		[RUN_SENT] = "sent",
		[RUN_MANY] = "many",
		[RUN_APART] = "apart",
		[RUN_INSERTED] = "inserted",
	};

	if (p->state == RUN_STREAM)
		return "memory";
	return p->unfit < RUN_COUNTS && why[p->unfit] != NULL ?
		why[p->unfit] : "kernel";
}

/* --------------------------------------------------------------- showing */

/* Bytes per second through memory, since the look before; negative: unknown. */
static double
rate(const struct pipetop *t, unsigned key, const struct pipe_now *p)
{
	for (size_t i = 0; i < t->nbefore; i++)
		if (t->before[i].key == key && t->before[i].id == p->id &&
			t->before[i].bytes <= p->carried &&
			t->at > t->before_at)
			return (double)(p->carried - t->before[i].bytes) /
				(t->at - t->before_at);
	return -1;
}

static void
remember(struct pipetop *t, struct pipetop_rate *now_v, size_t n)
{
	free(t->before);
	t->before = now_v;
	t->nbefore = n;
	t->before_at = t->at;
}

/* "4711 sort", and "+2" for others. */
static const char *
process_text(const struct end *e, unsigned n, char *buf, size_t size)
{
	char comm[24], others[16] = "";

	if (e == NULL)
		return "-";
	if (n > 1)
		snprintf(others, sizeof others, " +%u", n - 1);
	snprintf(buf, size, "%ld %s%s", e->pid, text_of(e->pid, "comm", comm,
		sizeof comm), others);
	return buf;
}

static void
waits_text(const struct pipe_now *p, char *buf, size_t size)
{
	if (p->reader_waits && p->writer != NULL)
		snprintf(buf, size, "%ld waits for %ld to write",
			p->reader->pid, p->writer->pid);
	else if (p->writer_waits && p->reader != NULL)
		snprintf(buf, size, "%ld waits for %ld to read",
			p->writer->pid, p->reader->pid);
	else
		snprintf(buf, size, "-");
}

static void
pipe_text(const struct pipe_now *p, double r, char *buf, size_t size)
{
	char w[64], rd[64], waits[80], per[32] = "-";
	uint64_t full = p->size == 0 ? 0 : p->bytes * 100 / p->size;

	if (r >= 0)
		snprintf(per, sizeof per, "%.0f", r);
	waits_text(p, waits, sizeof waits);
	snprintf(buf, size, "%-9ju %-8s %-20s %-20s %8ju %3ju%% %12s %s",
		(uintmax_t)p->id, carried_by(p),
		process_text(p->writer, p->writers, w, sizeof w),
		process_text(p->reader, p->readers, rd, sizeof rd),
		(uintmax_t)p->bytes, (uintmax_t)(full > 100 ? 100 : full), per,
		waits);
}

void
pipetop_show(struct pipetop *t, bool (*line)(void *arg, const char *text),
	void *arg)
{
	struct pipetop_rate *now_v = calloc(t->n * RUN_PIPES + 1,
		sizeof *now_v);
	size_t n = 0;
	struct pipe_now p;
	char text[400], command[200];

	for (size_t i = 0; i < t->n; i++) {
		const struct carried *c = &t->v[i];

		snprintf(text, sizeof text, "%s%u %s", i == 0 ? "" : "\n",
			c->strrun, text_of((long)c->strrun, "cmdline",
			command, sizeof command));
		(void)line(arg, text);
		snprintf(text, sizeof text, "%-9s %-8s %-20s %-20s %8s %4s "
			"%12s %s", "PIPE", "CARRIED", "WRITER", "READER",
			"BYTES", "FULL", "PER SECOND", "WAITS");
		if (!line(arg, text))
			break;
		for (unsigned k = 0; k < RUN_PIPES; k++) {
			if (!look(t, c, k, &p))
				continue;
			pipe_text(&p, rate(t, c->key, &p), text, sizeof text);
			(void)line(arg, text);
			if (now_v != NULL)
				now_v[n++] = (struct pipetop_rate){c->key,
					p.id, p.carried};
		}
	}
	remember(t, now_v, n);
}

/* ------------------------------------------------------------------ JSON */

static void
dump_ends(struct json *j, const char *key, const struct pipetop *t,
	const struct pipe_now *p, bool reads)
{
	char comm[24];

	json_begin(j, key, '[');
	for (size_t i = 0; i < t->ends.n; i++) {
		const struct end *e = &t->ends.v[i];

		if (e->id != p->id || !(reads ? e->reads : e->writes))
			continue;
		json_begin(j, NULL, '{');
		json_int(j, "pid", e->pid);
		json_int(j, "fd", e->fd);
		json_str(j, "command", text_of(e->pid, "comm", comm,
			sizeof comm));
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void
dump_pipe(struct json *j, const struct pipetop *t, const struct pipe_now *p)
{
	json_begin(j, NULL, '{');
	json_uint(j, "id", p->id);
	json_str(j, "carried", carried_by(p));
	json_uint(j, "bytes", p->bytes);
	json_uint(j, "size", p->size);
	json_uint(j, "through_memory", p->carried);
	json_bool(j, "reader_waits", p->reader_waits);
	json_bool(j, "writer_waits", p->writer_waits);
	dump_ends(j, "writers", t, p, false);
	dump_ends(j, "readers", t, p, true);
	json_end(j, '}');
}

void
pipetop_dump(struct json *j, const struct pipetop *t)
{
	char command[200];
	struct pipe_now p;

	json_begin(j, "strruns", '[');
	for (size_t i = 0; i < t->n; i++) {
		const struct carried *c = &t->v[i];

		json_begin(j, NULL, '{');
		json_uint(j, "pid", c->strrun);
		json_str(j, "command", text_of((long)c->strrun, "cmdline",
			command, sizeof command));
		json_begin(j, "pipes", '[');
		for (unsigned k = 0; k < RUN_PIPES; k++)
			if (look(t, c, k, &p))
				dump_pipe(j, t, &p);
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
}
