/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A stream is inserted before the reader of a pipe: strinsert(1).
 *
 * strinsert holds the reading end of the pipe, too, and has made another one.  It
 * puts a request into the area.  The reader finds it at its next read: it gives
 * the ring up, opens the other pipe, and waits in that read.  So it makes no
 * process while strinsert looks for other readers.  If there is none, strinsert
 * allows the change, and the reader's descriptors of the pipe become such of the
 * other one.  From then on strinsert is the only reader of the pipe.  What is in
 * the pipe at that time goes through the stream.
 *
 * Each change of the request's state is one compare-and-swap of a word that has
 * the number of the request.  So strinsert can withdraw a request at any time
 * before it allows the change, and a reader that was stopped meanwhile notices
 * it.  After that the reader can no longer fail.
 *
 * Crash: a reader that is killed in here has ended; strinsert notices it.  If
 * strinsert is killed, the reader waits no longer than WAIT_MS.
 */
#include <string.h>
#include <sys/stat.h>

#include "run.h"
#include "sys.h"
#include "word.h"

#define WAIT_MS 1000 /* for strinsert */

bool run_watched[RUN_NFD] STR_LARGE_DATA;

/* The descriptors of the pipe that this process has. */
struct mine {
	uint64_t id;
	enum run_why why;
	unsigned n;
	int fd[16];
};

static void
see_mine(void *arg, int fd, uint64_t id, unsigned mode)
{
	struct mine *m = arg;

	if (id != m->id)
		return;
	if (mode != S_IRUSR)
		m->why = RUN_WHY_WRITES;
	else if ((fd < RUN_NFD && run_watched[fd]) ||
			(sys_fcntl(fd, F_GETFL, 0) & O_ASYNC) != 0)
		m->why = RUN_WHY_WATCHED;
	else if (m->n == sizeof m->fd / sizeof *m->fd)
		m->why = RUN_WHY_MANY;
	else
		m->fd[m->n++] = fd;
}

/* strinsert's end of the other pipe: a descriptor, or -1. */
static int
open_other(uint32_t tool, int32_t at, uint64_t id)
{
	char path[64] = "/proc/", digits[16], none = '\0';
	struct stat st;
	long fd;

	(void)run_decimal(digits, tool);
	strcat(path, digits);
	strcat(path, "/fd/");
	(void)run_decimal(digits, (unsigned)at);
	strcat(path, digits);
	/* with O_NONBLOCK, so that this process does not wait */
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (sys_call4(SYS_newfstatat, fd, &none, &st, AT_EMPTY_PATH) != 0 ||
		!S_ISFIFO(st.st_mode) || (uint64_t)st.st_ino != id) {
		(void)sys_close((int)fd);
		return -1;
	}
	return (int)fd;
}

/* Everything that can fail, before the request is taken. */
static enum run_why
prepare(const struct run_ask *a, struct mine *m, int *ret_new)
{
	extern char __libc_single_threaded;

	if (__libc_single_threaded == 0)
		return RUN_WHY_THREADS;
	run_settle_all(RUN_CALL);
	if (!run_scan(0, see_mine, m) || m->n == 0)
		return RUN_WHY_OPEN;
	if (m->why != RUN_WHY_NONE)
		return m->why;
	*ret_new = open_other(a->tool, a->fd, a->other);
	return *ret_new < 0 ? RUN_WHY_OPEN : RUN_WHY_NONE;
}

/* strinsert looks for other readers meanwhile.  @taken: the state. */
static bool
is_allowed(struct run_ask *a, uint64_t taken)
{
	uint64_t late = RUN_ASK_IS(taken, RUN_ASK_REFUSED) |
		(uint64_t)RUN_WHY_LATE << 8;

	for (int i = 0; i < WAIT_MS && LOAD(&a->state) == taken; i++)
		run_sleep_ms();
	return !swap(&a->state, taken, late) &&
		LOAD(&a->state) == RUN_ASK_IS(taken, RUN_ASK_ALLOWED);
}

static void
change(const struct mine *m, int new)
{
	struct run_pipe *p = run_find(m->id, run_map->dev);

	(void)sys_fcntl(new, F_SETFL, sys_fcntl(m->fd[0], F_GETFL, 0));
	if (p != NULL)
		run_unfit(p, RUN_INSERTED);
	for (unsigned i = 0; i < m->n; i++) {
		int fd = m->fd[i];
		int keep = sys_fcntl(fd, F_GETFD, 0);

		run_forget(fd);
		(void)sys_call3(SYS_dup3, new, fd, (keep & FD_CLOEXEC) != 0 ?
			O_CLOEXEC : 0);
	}
}

static void
answer(struct run_ask *a, uint64_t asked, const struct run_ask *copy)
{
	uint64_t taken = RUN_ASK_IS(asked, RUN_ASK_TAKEN);
	struct mine m = {.id = copy->id, .why = RUN_WHY_NONE};
	int new = -1;
	enum run_why why = prepare(copy, &m, &new);

	if (why != RUN_WHY_NONE) {
		(void)swap(&a->state, asked, RUN_ASK_IS(asked,
			RUN_ASK_REFUSED) | (uint64_t)why << 8);
	} else if (swap(&a->state, asked, taken) && is_allowed(a, taken)) {
		change(&m, new);
		(void)swap(&a->state, RUN_ASK_IS(asked, RUN_ASK_ALLOWED),
			RUN_ASK_IS(asked, RUN_ASK_FREE));
	}
	if (new >= 0)
		(void)sys_close(new);
}

bool
run_answer(int fd)
{
	struct run_ask *a = &run_map->ask;
	uint64_t asked = LOAD(&a->state);
	struct run_ask copy = {.reader = LOAD(&a->reader)};
	struct run_held h = {0, false};
	char none = '\0';
	struct stat st;
	int err = errno;
	bool ends;

	if (!run_on || run_inside || (asked & 0xff) != RUN_ASK_ASKED ||
			copy.reader != (uint32_t)getpid())
		return false;
	copy.tool = LOAD(&a->tool);
	copy.fd = LOAD(&a->fd);
	copy.id = LOAD(&a->id);
	copy.other = LOAD(&a->other);
	if (sys_call4(SYS_newfstatat, fd, &none, &st, AT_EMPTY_PATH) != 0 ||
		(uint64_t)st.st_ino != copy.id || !S_ISFIFO(st.st_mode) ||
		(uint64_t)st.st_dev != LOAD(&run_map->dev))
		return false;
	run_hold(&h);
	answer(a, asked, &copy);
	ends = run_let(&h, true) == RUN_ENDS_CALL;
	errno = err;
	return ends;
}
