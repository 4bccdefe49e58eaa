/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * One side of a pipe (ring_side.h), around ring.c, end.c, settle.c and wait.c: the
 * other parts of the library are replaced.  The kernel's pipe is used by system
 * calls, not by functions that a sanitizer takes for a synchronization.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

#include "ring_side.h"
#include "run.h"
#include "sys.h"

char side_single_threaded = 1; /* in the place of the C library's */
bool run_on = true;
struct run_area *run_map;
bool run_watched[RUN_NFD];

static unsigned char *side_ring;
static int side_fd;
static unsigned side_mode;
static uint64_t side_id;

/* --------------------------------------- what other parts of lib/run do */

void *
run_find_next(void **cache, const char *name)
{
	return *cache = dlsym(RTLD_DEFAULT, name);
}

static ssize_t
returned(long r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

ssize_t
run_next_read(int fd, void *buf, size_t len)
{
	return returned(sys_call3(SYS_read, fd, buf, len));
}

ssize_t
run_next_write(int fd, const void *buf, size_t len)
{
	return returned(sys_call3(SYS_write, fd, buf, len));
}

bool
run_attach(void)
{
	return true;
}

unsigned char *
run_ring(struct run_pipe *p)
{
	(void)p;
	return side_ring;
}

struct run_pipe *
run_find(uint64_t id, uint64_t dev)
{
	(void)dev;
	return id == side_id ? run_map->pipe : NULL;
}

bool
run_is_holder(const struct run_pipe *p)
{
	(void)p;
	return true;
}

bool
run_take(struct run_pipe *p)
{
	(void)p;
	return true;
}

void
run_untake(struct run_pipe *p)
{
	(void)p;
}

void
run_unfit(struct run_pipe *p, enum run_count why)
{
	__atomic_store_n(&p->unfit, (uint32_t)why, __ATOMIC_SEQ_CST);
}

void
run_count(enum run_count what)
{
	(void)__atomic_fetch_add(&run_map->count[what], 1, __ATOMIC_RELAXED);
}

/* The other end is the other side's. */
bool
run_scan(pid_t pid, run_seen *f, void *arg)
{
	(void)pid;
	f(arg, side_fd, side_id, side_mode);
	return true;
}

bool
run_may_scan(void)
{
	return true;
}

void
run_earn(uint32_t calls)
{
	(void)calls;
}

bool
run_two_only(struct run_pipe *p, int fd)
{
	(void)p;
	(void)fd;
	return true;
}

bool
run_stdio(void)
{
	return true;
}

bool
run_fault_begin(void)
{
	return true;
}

int
host_copyin(const void *uaddr, void *addr, size_t len)
{
	memcpy(addr, uaddr, len);
	return 0;
}

int
host_copyout(const void *addr, void *uaddr, size_t len)
{
	memcpy(uaddr, addr, len);
	return 0;
}

/* ------------------------------------------------------------------ calls */

static void
begin(struct run_area *a, unsigned char *ring, int fd, bool writes)
{
	struct stat st;

	(void)sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH);
	run_map = a;
	side_ring = ring;
	side_fd = fd;
	side_mode = writes ? S_IWUSR : S_IRUSR;
	side_id = (uint64_t)st.st_ino;
}

static unsigned
kind_of(int fd, bool writes)
{
	struct run_fd *f = &run_fds[fd];

	return f->kind == RUN_COUNTING && ++f->calls >= 4 ?
		run_consider(fd, writes) : f->kind;
}

static ssize_t
side_read(int fd, void *buf, size_t len)
{
	unsigned kind = kind_of(fd, false);

	return kind < RUN_END ? run_next_read(fd, buf, len) :
		run_ring_read(run_end(kind), fd, buf, len);
}

static ssize_t
side_write(int fd, const void *buf, size_t len)
{
	unsigned kind = kind_of(fd, true);

	return kind < RUN_END ? run_next_write(fd, buf, len) :
		run_ring_write(run_end(kind), fd, buf, len);
}

static void
give_up(void)
{
	run_settle_fd(side_fd, false, RUN_CALL);
	run_fds[side_fd].shift = 0; /* so that it is carried again soon */
}

STR_EXPORT extern const struct ring_side RING_SIDE;
const struct ring_side RING_SIDE = {begin, side_read, side_write, give_up};
