/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * insert: requests to the reader of a pipe under strrun.
 *
 * The reader changes its descriptors itself, at a read, because the library that
 * strrun preloads finds the request (lib/run/answer.c).  It waits in that read
 * while this process looks for other readers.
 *
 * The request is this process's while it holds a lock on the area's file, which
 * the kernel releases when the process is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "insert.h"

static void refuse(const struct insert *in, const char *fmt, ...) STR_NORETURN
	STR_PRINTF(2, 3);

static void
refuse(const struct insert *in, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	tool_warn(in->tool, "%s", text);
	exit(TOOL_FAILED);
}

static double
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
nap(long ms)
{
	struct timespec ts = {0, ms * 1000000};

	(void)nanosleep(&ts, NULL);
}

/* The one process besides this one, and besides @but, that may read the pipe @id.
 * 0: there is none; -1: there are several. */
static long
reader_of(const struct insert *in, uint64_t id, long but)
{
	static struct ends e;
	long found = 0;

	if (ends_take(&e, id) != 0)
		tool_die(in->tool, "/proc");
	for (size_t i = 0; i < e.n; i++) {
		long pid = e.v[i].pid;

		if (!e.v[i].reads || pid == but || pid == (long)getpid() ||
				pid == found)
			continue;
		if (found != 0)
			return -1;
		found = pid;
	}
	return found;
}

/* ------------------------------------------------------------- the request */

static uint64_t
state(const struct insert *in)
{
	return __atomic_load_n(&in->c.area->ask.state, __ATOMIC_SEQ_CST);
}

static bool
swap_state(const struct insert *in, uint64_t was, uint64_t new)
{
	return __atomic_compare_exchange_n(&in->c.area->ask.state, &was, new,
		false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* The next request after @was. */
static uint64_t
next(uint64_t was, enum run_ask_state s)
{
	return RUN_ASK_IS(was + 0x10000, s);
}

static struct insert *held; /* its request is this process's */

/* Withdraw the request.  One that is allowed is the reader's. */
static void
withdraw(void)
{
	uint64_t was;

	if (held == NULL)
		return;
	do
		was = state(held);
	while ((was & 0xff) != RUN_ASK_ALLOWED &&
		!swap_state(held, was, next(was, RUN_ASK_FREE)));
	(void)flock(held->c.fd, LOCK_UN);
	held = NULL;
}

/* The reader of another request was allowed to change its descriptors, and has
 * not yet done so. */
static bool
is_in_use(const struct insert *in, uint64_t was)
{
	pid_t reader = (pid_t)in->c.area->ask.reader;

	return (was & 0xff) == RUN_ASK_ALLOWED && reader > 0 &&
		kill(reader, 0) == 0;
}

/* Make the request this process's: FILLED.  False: it is another one's. */
static bool
try_request(struct insert *in)
{
	static bool registered;
	uint64_t was;

	if (flock(in->c.fd, LOCK_EX | LOCK_NB) != 0)
		return false;
	was = state(in);
	if (is_in_use(in, was) || !swap_state(in, was, next(was,
			RUN_ASK_FILLED))) {
		(void)flock(in->c.fd, LOCK_UN);
		return false;
	}
	held = in;
	if (!registered)
		registered = atexit(withdraw) == 0;
	return true;
}

/* Ask @pid to change its descriptors of the pipe @id to the pipe @other, of which
 * @fd is the reading end. */
static void
fill(const struct insert *in, long pid, uint64_t id, int fd, uint64_t other)
{
	struct run_ask *a = &in->c.area->ask;

	a->reader = (uint32_t)pid;
	a->tool = (uint32_t)getpid();
	a->fd = fd;
	a->id = id;
	a->other = other;
}

static const char *const why_text[] = {
	[RUN_WHY_NONE] = "has refused",
	[RUN_WHY_LATE] = "has refused",
	[RUN_WHY_THREADS] = "has several threads",
	[RUN_WHY_WRITES] = "holds the writing end of the pipe, too",
	[RUN_WHY_WATCHED] = "has the pipe in an epoll instance, or gets SIGIO for it",
	[RUN_WHY_MANY] = "has too many descriptors of the pipe",
	[RUN_WHY_OPEN] = "cannot open the new pipe",
};

/* --------------------------------------------------------------- inserting */

static bool
is_stopped(const struct insert *in)
{
	char path[64], text[512], *p;
	ssize_t n;
	int f;

	snprintf(path, sizeof path, "/proc/%ld/stat", in->pid);
	f = open(path, O_RDONLY | O_CLOEXEC);
	n = f >= 0 ? read(f, text, sizeof text - 1) : 0;
	(void)close(f);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	return p != NULL && (p[2] == 'T' || p[2] == 't');
}

/* Does not return if the request has become void. */
static void
check(const struct insert *in, long other)
{
	struct pollfd ended = {in->pidfd, POLLIN, 0};
	struct stat st;

	if (poll(&ended, 1, 0) > 0)
		refuse(in, "process %ld has ended", in->pid);
	if (stat(in->path, &st) != 0 || (uint64_t)st.st_ino != in->id)
		refuse(in, "process %ld has closed the pipe", in->pid);
	if (*in->asked_to_end)
		refuse(in, "interrupted; nothing has changed");
	switch (__atomic_load_n(&in->p->unfit, __ATOMIC_SEQ_CST)) {
	case RUN_SENT:
		refuse(in, "the pipe was sent through a socket");
	case RUN_APART:
		refuse(in, "a process that holds the pipe has changed its user");
	default:
		break;
	}
	if (now() <= in->end)
		return;
	if (other > 0)
		refuse(in, "process %ld holds the reading end, too", other);
	if (other != 0)
		refuse(in, "several processes hold the reading end");
	if (is_stopped(in))
		refuse(in, "process %ld is stopped", in->pid);
	refuse(in, "process %ld has not read from the pipe for %ld seconds",
		in->pid, in->wait_s);
}

/* Until the reader's descriptors are those of the new pipe. */
static void
ask_reader(struct insert *in)
{
	long other = 0;

	fill(in, in->pid, in->id, in->new, in->new_id);
	for (;; nap(other != 0 ? 20 : 1)) {
		uint64_t was = state(in);
		unsigned why = (unsigned)(was >> 8 & 0xff);

		check(in, other);
		switch (was & 0xff) {
		case RUN_ASK_FILLED:
			/* the reader is not held up as long as there is one */
			other = reader_of(in, in->id, in->pid);
			if (other == 0)
				(void)swap_state(in, was,
					next(was, RUN_ASK_ASKED));
			break;
		case RUN_ASK_TAKEN:
			/* the reader waits, and makes no process */
			other = reader_of(in, in->id, in->pid);
			if (other != 0)
				(void)swap_state(in, was,
					next(was, RUN_ASK_FILLED));
			else if (swap_state(in, was, RUN_ASK_IS(was,
					RUN_ASK_ALLOWED)))
				return;
			break;
		case RUN_ASK_REFUSED:
			if (why != RUN_WHY_LATE)
				refuse(in, "process %ld %s", in->pid,
					why_text[why <= RUN_WHY_OPEN ? why : 0]);
			(void)swap_state(in, was, next(was, RUN_ASK_FILLED));
			break;
		default:
			break;
		}
	}
}

/* The reader of the pipe of which @pid has the descriptor @fd. */
static void
find_reader(struct insert *in, long pid, long fd)
{
	struct stat st, link;

	snprintf(in->path, sizeof in->path, "/proc/%ld/fd/%ld", pid, fd);
	if (stat(in->path, &st) != 0 || lstat(in->path, &link) != 0)
		tool_die(in->tool, "%s", in->path);
	if (!S_ISFIFO(st.st_mode))
		refuse(in, "%s is not a pipe", in->path);
	in->id = (uint64_t)st.st_ino;
	in->pid = pid;
	if ((link.st_mode & S_IRUSR) == 0) {
		in->pid = reader_of(in, in->id, 0);
		if (in->pid == 0)
			refuse(in, "no process reads the pipe");
		if (in->pid < 0)
			refuse(in, "several processes hold the reading end");
	}
	in->pidfd = (int)syscall(SYS_pidfd_open, in->pid, 0);
	if (in->pidfd < 0)
		tool_die(in->tool, "process %ld", in->pid);
}

/* Its path becomes that of a descriptor of the reader. */
static void
find_descriptor(struct insert *in)
{
	static struct ends e;

	if (ends_take(&e, in->id) != 0)
		tool_die(in->tool, "/proc");
	for (size_t i = 0; i < e.n; i++)
		if (e.v[i].pid == in->pid && e.v[i].reads) {
			snprintf(in->path, sizeof in->path, "/proc/%ld/fd/%d",
				in->pid, e.v[i].fd);
			return;
		}
}

static void
make_pipe(struct insert *in)
{
	struct stat st;
	int new[2], flags;

	in->from = open(in->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* the kernel's: pipe() makes a stream */
	if (in->from < 0 || syscall(SYS_pipe2, new, O_CLOEXEC) != 0 ||
			fstat(new[0], &st) != 0)
		tool_die(in->tool, "%s", in->path);
	flags = fcntl(in->from, F_GETFL);
	(void)fcntl(in->from, F_SETFL, flags & ~O_NONBLOCK);
	in->to = new[1];
	in->new = new[0];
	in->new_id = (uint64_t)st.st_ino;
}

void
insert_pipe(struct insert *in, long pid, long fd)
{
	bool asked;

	in->end = now() + (double)in->wait_s;
	find_reader(in, pid, fd);
	switch (carried_open(&in->c, in->pid, true)) {
	case CARRIED_ERROR:
		tool_die(in->tool, "process %ld", in->pid);
	case CARRIED_NONE:
		refuse(in, "process %ld is not under strrun", in->pid);
	default:
		break;
	}
	in->p = carried_pipe(&in->c, in->id);
	if (in->p == NULL)
		refuse(in, "no program under this strrun has made the pipe");
	if (in->pid != pid)
		find_descriptor(in);
	make_pipe(in);
	while (!(asked = try_request(in)) && now() <= in->end &&
			!*in->asked_to_end)
		nap(1);
	if (!asked)
		refuse(in, "another tool waits for its reader");
	ask_reader(in);
	withdraw();
	(void)close(in->new);
}

/* ----------------------------------------------------------------- leaving */

#define PIECE 4096u  /* bytes that wake a reader, at most */
#define PIECES 16    /* which a request lasts, if the reader does not find it */
#define QUIET_S 0.01 /* a reader that has not come after that seems to sleep */
#define QUIET_MAX_S 0.32
#define LASTS_S 2.0  /* at most: other tools wait meanwhile */
#define PAUSE_MS 200 /* before the next request */

enum leaving { LEFT, ENDED, AGAIN };

static size_t
unread(const struct insert *in)
{
	int n = 0;

	return ioctl(in->to, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

static bool
reader_has_ended(const struct insert *in, int ms)
{
	struct pollfd p = {in->to, 0, 0};

	return poll(&p, 1, ms) > 0;
}

/*
 * The reader waits in a read.  If the new pipe is empty, all that it reads next
 * is in the old one.
 */
static bool
allow(struct insert *in, uint64_t was)
{
	return unread(in) == 0 && reader_of(in, in->new_id, in->pid) == 0 &&
		swap_state(in, was, RUN_ASK_IS(was, RUN_ASK_ALLOWED));
}

/* How the reader is brought to its next read. */
struct lure {
	size_t piece; /* bytes */
	double quiet; /* s, before a piece */
};

/*
 * The new pipe is empty.  A reader that works comes to its next read, and finds the
 * request.  One that sleeps in a read needs a piece to get there.  If it finds the
 * request before it has used up the piece, it did not sleep, or the piece was
 * larger than what it reads.
 */
static enum leaving
ask_back(struct insert *in, ssize_t (*move)(struct insert *, size_t),
	struct lure *l)
{
	double late = now() + LASTS_S, next_at = now() + l->quiet;
	ssize_t n = 0;
	size_t rest;

	for (int i = 0; i < PIECES && now() < late;) {
		uint64_t was = state(in);

		if (reader_has_ended(in, 1))
			return ENDED;
		switch (was & 0xff) {
		case RUN_ASK_TAKEN:
			if (allow(in, was)) {
				/* until no process has the new pipe */
				while (!reader_has_ended(in, 1000))
					;
				return LEFT;
			}
			rest = unread(in);
			if (rest != 0 && rest < (size_t)n)
				l->piece = (size_t)n - rest;
			else if (rest != 0 && l->quiet < QUIET_MAX_S)
				l->quiet *= 2;
			return AGAIN;
		case RUN_ASK_ASKED:
			if (now() < next_at || unread(in) != 0)
				break;
			n = move(in, l->piece);
			if (n < 0)
				return ENDED;
			i += n > 0;
			next_at = now() + l->quiet;
			break;
		default: /* refused */
			return AGAIN;
		}
	}
	return AGAIN;
}

/* One request to go back. */
static enum leaving
try_leave(struct insert *in, ssize_t (*move)(struct insert *, size_t),
	struct lure *l)
{
	enum leaving ret = AGAIN;
	uint64_t was;
	long reader;

	while (unread(in) != 0)
		if (reader_has_ended(in, 1))
			return ENDED;
	/* another one may have inherited the pipe */
	reader = reader_of(in, in->new_id, 0);
	if (reader <= 0 || !try_request(in))
		return AGAIN;
	in->pid = reader;
	fill(in, reader, in->new_id, in->from, in->id);
	was = state(in);
	if (swap_state(in, was, next(was, RUN_ASK_ASKED)))
		ret = ask_back(in, move, l);
	withdraw();
	return ret;
}

bool
insert_leave(struct insert *in, ssize_t (*move)(struct insert *, size_t))
{
	struct lure l = {PIECE, QUIET_S}, was;
	double pause;
	ssize_t n;

	for (;;) {
		was = l;
		switch (try_leave(in, move, &l)) {
		case LEFT:
			return true;
		case ENDED:
			return false;
		default:
			break;
		}
		if (l.piece != was.piece || l.quiet > was.quiet)
			continue;
		pause = now() + PAUSE_MS / 1e3;
		while (now() < pause) {
			n = move(in, 16 * PIECE);
			if (n < 0 || reader_has_ended(in, n == 0))
				return false;
		}
	}
}
