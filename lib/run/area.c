/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The area, its records, and which processes may hold a pipe.
 *
 * A record lists every process that may hold an end of its pipe: the process
 * that made it, and every child of a listed one.  A process leaves the list
 * never; what it really holds is looked up in /proc when that matters
 * (run_two_only).  A pipe is `unfit' once a process may hold it that does not
 * keep this rule.  A process that cannot reach the area, or cannot find out what
 * it holds, marks its pipes instead (run_mark_all), and is out of it from then
 * on.
 *
 * `held' is this process's own list, which a child inherits.
 *
 * Crash: a process that is killed between run_fork_begin() and the child's
 * run_fork_child() leaves `pending' above 0; the pipe then stays in KERNEL.  A
 * record whose users were killed is used again (is_reusable).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "run.h"
#include "sys.h"
#include "word.h"

#define HELD 64

enum { LATER, ATTACHED, OFF };

bool run_on STR_HOT_DATA;

static int state STR_HOT_DATA;
/* from the variable */
static unsigned leader STR_HOT_DATA, leader_fd STR_HOT_DATA, key STR_HOT_DATA;
struct run_area *run_map STR_HOT_DATA;
static unsigned char *rings[RUN_PIPES] STR_LARGE_DATA;
static bool known STR_HOT_DATA; /* inherited pipes are in `held' */
static struct held {
	uint32_t at;
	uint64_t id;
} held[HELD] STR_HOT_DATA;
static unsigned nheld STR_HOT_DATA;
static uint32_t held_lock STR_HOT_DATA; /* of both */

static void
say(const char *why)
{
	static const char head[] = "strrun: pipes are left to the kernel: ";

	if (getenv("STREAMS_VERBOSE") == NULL)
		return;
	struct iovec v[3] = {{(void *)(uintptr_t)head, sizeof head - 1},
		{(void *)(uintptr_t)why, strlen(why)},
		{(void *)(uintptr_t)"\n", 1}};

	(void)sys_call3(SYS_writev, 2, v, 3);
}

void
run_off(void)
{
	state = OFF;
	run_on = false;
}

/* Zeroes in the place of memory: a call that a handler has interrupted may look
 * at it once more. */
static void
blank(void *at, size_t size)
{
	if (at != NULL)
		(void)sys_call6(SYS_mmap, at, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void
run_detach(void)
{
	run_off();
	blank(run_map, RUN_RINGS);
	for (unsigned i = 0; i < RUN_PIPES; i++)
		blank(rings[i], RUN_RING);
}

/* ------------------------------------------------------------- attaching */

static const char *
number(const char *s, unsigned base, unsigned *ret)
{
	unsigned v = 0;

	for (;; s++) {
		unsigned d = *s >= '0' && *s <= '9' ? (unsigned)(*s - '0') :
			*s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a') + 10 : 99;

		if (d >= base)
			break;
		v = v * base + d;
	}
	*ret = v;
	return *s == ':' ? s + 1 : s;
}

/* Another pid namespace has other numbers. */
static bool
same_pids(void)
{
	char text[16];
	unsigned pid;
	long n = sys_call3(SYS_readlink, "/proc/self", text, sizeof text - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	(void)number(text, 10, &pid);
	return pid == (unsigned)getpid();
}

static const char *
attach(void)
{
	char path[64] = "/proc/", text[32];
	struct run_area *a;
	struct stat st;
	long fd, at;

	if (!same_pids())
		return "no /proc, or another one";
	strcat(path, run_decimal(text, leader));
	strcat(path, "/fd/");
	strcat(path, run_decimal(text, leader_fd));
	/* a FIFO of another process must not make this one wait */
	fd = sys_openat(AT_FDCWD, path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return "strrun has ended, or cannot be seen";
	if (sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0 ||
		!S_ISREG(st.st_mode) || st.st_size != RUN_SIZE) {
		(void)sys_close((int)fd);
		return "strrun has ended";
	}
	at = sys_call6(SYS_mmap, NULL, RUN_RINGS, PROT_READ | PROT_WRITE,
		MAP_SHARED, fd, 0);
	(void)sys_close((int)fd);
	if (at < 0 && at > -4096)
		return "no memory";
	a = (struct run_area *)at;
	if (a->magic != RUN_MAGIC || a->key != key) {
		(void)sys_call2(SYS_munmap, at, RUN_RINGS);
		return "strrun has ended";
	}
	run_map = a;
	return NULL;
}

bool
run_attach(void)
{
	const char *why;

	if (str_likely(state != LATER))
		return state == ATTACHED;
	why = run_on ? attach() : "";
	if (why == NULL) {
		state = ATTACHED;
		return true;
	}
	if (why[0] != '\0') {
		say(why);
		run_mark_all();
	}
	run_off();
	return false;
}

/* This process cannot say what its children will hold. */
static void
give_up(void)
{
	run_mark_all();
	run_off();
}

/* The descriptor is opened anew: a ring is mapped seldom. */
static long
open_area(void)
{
	char path[64] = "/proc/", text[32];
	struct stat st;
	long fd;

	strcat(path, run_decimal(text, leader));
	strcat(path, "/fd/");
	strcat(path, run_decimal(text, leader_fd));
	fd = sys_openat(AT_FDCWD, path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd >= 0 && (sys_call4(SYS_newfstatat, fd, "", &st,
		AT_EMPTY_PATH) != 0 || st.st_size != RUN_SIZE)) {
		(void)sys_close((int)fd);
		fd = -1;
	}
	return fd;
}

unsigned char *
run_ring(struct run_pipe *p)
{
	size_t at = (size_t)(p - run_map->pipe);
	struct run_area *same;
	long fd, m;

	if (rings[at] != NULL)
		return rings[at];
	fd = open_area();
	if (fd < 0)
		return NULL;
	/* is it the same file? */
	m = sys_call6(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (m > 0 || m < -4095) {
		same = (struct run_area *)m;
		if (same->magic == RUN_MAGIC && same->key == key) {
			(void)sys_call2(SYS_munmap, m, 4096);
			m = sys_call6(SYS_mmap, NULL, RUN_RING,
				PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				RUN_RINGS + at * RUN_RING);
			if (m > 0 || m < -4095)
				rings[at] = (unsigned char *)m;
		} else {
			(void)sys_call2(SYS_munmap, m, 4096);
		}
	}
	(void)sys_close((int)fd);
	return rings[at];
}

/* --------------------------------------------------------------- records */

void
run_count(enum run_count what)
{
	(void)__atomic_fetch_add(&run_map->count[what], 1, __ATOMIC_RELAXED);
}

struct run_pipe *
run_find(uint64_t id, uint64_t dev)
{
	if (LOAD(&run_map->dev) != dev)
		return NULL; /* a FIFO of a file system */
	for (unsigned i = 0; i < RUN_PIPES; i++)
		if (__atomic_load_n(&run_map->id[i], __ATOMIC_ACQUIRE) == id)
			return &run_map->pipe[i];
	return NULL;
}

bool
run_is_holder(const struct run_pipe *p)
{
	uint32_t me = (uint32_t)getpid();

	for (unsigned i = 0; i < RUN_HOLDERS; i++)
		if (LOAD(&p->holder[i]) == me)
			return true;
	return false;
}

void
run_unfit(struct run_pipe *p, enum run_count why)
{
	uint32_t none = 0;

	if (__atomic_compare_exchange_n(&p->unfit, &none, (uint32_t)why, false,
		__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		run_count(why);
}

static bool
is_gone(uint32_t pid)
{
	return sys_call2(SYS_kill, pid, 0) == -ESRCH;
}

static void
add_holder(struct run_pipe *p, uint32_t pid)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < RUN_HOLDERS; i++) {
			uint32_t was = __atomic_load_n(&p->holder[i],
				__ATOMIC_RELAXED);

			if (was == pid)
				return;
			if ((was == 0 || (pass == 1 && is_gone(was))) &&
				__atomic_compare_exchange_n(&p->holder[i], &was,
					pid, false, __ATOMIC_SEQ_CST,
					__ATOMIC_RELAXED))
				return;
		}
	run_unfit(p, RUN_MANY);
}

static struct run_pipe *
held_at(unsigned i)
{
	struct run_pipe *p = &run_map->pipe[held[i].at];

	return __atomic_load_n(run_id(p), __ATOMIC_ACQUIRE) == held[i].id ? p :
		NULL;
}

static void
see_held(void *arg, int fd, uint64_t id, unsigned mode)
{
	bool *still = arg;

	(void)fd;
	(void)mode;
	for (unsigned i = 0; i < nheld; i++)
		if (held[i].id == id)
			still[i] = true;
}

/* Make room in `held': forget the pipes that this process has closed. */
static void
prune(void)
{
	bool still[HELD] = {false};
	bool scan = run_may_scan(), seen;
	struct run_pipe *p;
	unsigned n = scan ? 0 : nheld;

	seen = scan && run_scan(0, see_held, still);
	for (unsigned i = 0; scan && i < nheld; i++) {
		p = held_at(i);
		if (p == NULL || (seen && !still[i]))
			continue;
		if (!seen)
			run_unfit(p, RUN_MANY);
		else
			held[n++] = held[i];
	}
	nheld = n;
	if (nheld == HELD) {
		p = held_at(0);
		if (p != NULL)
			run_unfit(p, RUN_MANY);
		held[0] = held[--nheld];
	}
}

/* False: its holder may be a call that a handler of this thread interrupts. */
static bool
lock_held(void)
{
	for (int i = 0; i < 1000; i++) {
		if (__atomic_exchange_n(&held_lock, 1, __ATOMIC_ACQUIRE) == 0)
			return true;
		(void)sys_call1(SYS_sched_yield, 0);
	}
	return false;
}

static void
unlock_held(void)
{
	__atomic_store_n(&held_lock, 0, __ATOMIC_RELEASE);
}

static void
hold_locked(struct run_pipe *p, uint64_t id)
{
	for (unsigned i = 0; i < nheld; i++)
		if (held[i].id == id)
			return;
	run_earn(1);
	if (nheld == HELD)
		prune();
	held[nheld].at = (uint32_t)(p - run_map->pipe);
	held[nheld++].id = id;
	add_holder(p, (uint32_t)getpid());
}

static void
hold(struct run_pipe *p, uint64_t id)
{
	if (!lock_held()) {
		run_unfit(p, RUN_MANY);
		return;
	}
	hold_locked(p, id);
	unlock_held();
}

/* Is the record, which this process has taken, of no use to any other? */
static bool
is_reusable(const struct run_pipe *p, uint64_t was)
{
	switch (was & 0xff) {
	case RUN_KERNEL:
	case RUN_BUSY: /* the process that made it so was killed */
		return true;
	case RUN_ARMED:
		return is_gone(LOAD(&p->rpid));
	default:
		return is_gone(LOAD(&p->rpid)) && is_gone(LOAD(&p->wpid));
	}
}

bool
run_take(struct run_pipe *p)
{
	uint32_t was = LOAD(&p->taker);

	return (was == 0 || is_gone(was)) &&
		__atomic_compare_exchange_n(&p->taker, &was,
			(uint32_t)getpid(), false, __ATOMIC_SEQ_CST,
			__ATOMIC_RELAXED);
}

void
run_untake(struct run_pipe *p)
{
	__atomic_store_n(&p->taker, 0, __ATOMIC_SEQ_CST);
}

/* Take a record that is not in STREAM, nor about to be. */
static struct run_pipe *
take_record(void)
{
	for (unsigned i = 0; i < RUN_PIPES; i++) {
		uint32_t n = __atomic_fetch_add(&run_map->next, 1,
			__ATOMIC_RELAXED);
		struct run_pipe *p = &run_map->pipe[n % RUN_PIPES];
		uint64_t was;

		if (!run_take(p))
			continue;
		was = LOAD(&p->state);
		if (is_reusable(p, was) && swap(&p->state, was,
				((was >> 8) + 1) << 8 | RUN_BUSY))
			return p;
		run_untake(p);
	}
	return NULL;
}

void
run_record(uint64_t id, uint64_t dev)
{
	struct run_pipe *old, *p;
	uint64_t now;

	run_count(RUN_MADE);
	__atomic_store_n(&run_map->dev, dev, __ATOMIC_SEQ_CST);
	/* the kernel has given a number again */
	while ((old = run_find(id, dev)) != NULL)
		__atomic_store_n(run_id(old), 0, __ATOMIC_SEQ_CST);
	p = take_record();
	if (p == NULL)
		return;
	__atomic_store_n(run_id(p), 0, __ATOMIC_SEQ_CST);
	(void)__atomic_fetch_add(&run_map->count[RUN_BYTES], p->bytes,
		__ATOMIC_RELAXED);
	p->bytes = 0;
	p->unfit = p->pending = p->rpid = p->wpid = p->size = 0;
	memset(p->holder, 0, sizeof p->holder);
	__atomic_store_n(run_id(p), id, __ATOMIC_SEQ_CST);
	hold(p, id);
	now = p->state >> 8;
	__atomic_store_n(&p->state, (now + 1) << 8 | RUN_KERNEL,
		__ATOMIC_SEQ_CST);
	run_untake(p);
}

/* --------------------------------------------------------------- holders */

static void
see_inherited(void *arg, int fd, uint64_t id, unsigned mode)
{
	struct run_pipe *p = run_find(id, run_map->dev);

	(void)arg;
	(void)fd;
	(void)mode;
	if (p != NULL)
		hold(p, id);
}

void
run_know_held(void)
{
	if (known || !run_attach())
		return;
	known = true;
	if (!run_scan(0, see_inherited, NULL))
		give_up();
}

bool
run_holds_any(void)
{
	for (unsigned i = 0; i < nheld; i++)
		if (held_at(i) != NULL)
			return true;
	return false;
}

void
run_fork_begin(void)
{
	(void)lock_held();
	for (unsigned i = 0; i < nheld; i++) {
		struct run_pipe *p = held_at(i);

		if (p == NULL)
			continue;
		(void)__atomic_fetch_add(&p->pending, 1, __ATOMIC_SEQ_CST);
		(void)__atomic_fetch_add(&p->forks, 1, __ATOMIC_SEQ_CST);
	}
}

void
run_fork_made(pid_t pid)
{
	for (unsigned i = 0; i < nheld; i++) {
		struct run_pipe *p = held_at(i);

		if (p == NULL)
			continue;
		if (pid > 0)
			add_holder(p, (uint32_t)pid);
		(void)__atomic_fetch_sub(&p->pending, 1, __ATOMIC_SEQ_CST);
	}
	unlock_held();
}

void
run_fork_leave(void)
{
	unlock_held();
}

void
run_fork_failed(void)
{
	(void)lock_held();
	run_fork_made(0);
}

void
run_fork_child(void)
{
	run_fork_made(getpid());
}

struct unfit {
	bool exec;
	enum run_count why;
};

static void
see_unfit(void *arg, int fd, uint64_t id, unsigned mode)
{
	struct unfit *u = arg;
	struct run_pipe *p;

	(void)mode;
	if (u->exec && (sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC) != 0)
		return;
	p = run_find(id, run_map->dev);
	if (p != NULL)
		run_unfit(p, u->why);
}

void
run_unfit_held(bool exec, enum run_count why)
{
	struct unfit u = {exec, why};

	if (!run_attach())
		return;
	if (!run_scan(0, see_unfit, &u))
		give_up();
}

/* ----------------------------------------------------------------- start */

static bool
is_fifo(int fd)
{
	struct stat st;
	char none = '\0';

	return sys_call4(SYS_newfstatat, fd, &none, &st, AT_EMPTY_PATH) == 0 &&
		S_ISFIFO(st.st_mode);
}

STR_CONSTRUCTOR static void
start(void)
{
	const char *v = getenv(RUN_VAR);

	if (v == NULL)
		return;
	run_value_set(v);
	v = number(v, 10, &leader);
	v = number(v, 10, &leader_fd);
	(void)number(v, 16, &key);
	if (leader == 0)
		return;
	run_on = true;
	/* FILEs for the standard files exist before any call comes here */
	if (is_fifo(0) || is_fifo(1))
		(void)run_stdio();
}
