/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Ends of pipes that this process holds and that are ready for the ring.
 *
 * A descriptor that is used by few calls costs nothing: its calls are counted.
 * When there are enough of them, the file under it is looked at.  If it is a
 * pipe's end that can be carried, the reader arms the pipe (KERNEL to ARMED),
 * and the writer changes an armed pipe to STREAM when both are the only holders.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "run.h"
#include "sys.h"
#include "word.h"

#define FIRST_TRY 4   /* of the writer, after it is considered */
#define LAST_TRY 4096 /* calls between two tries */
#define FIRST_LOOK 4000 /* ticks */
#define NAP_FIRST 16 /* reads before the first nap */
#define KERNEL_SIZE 65536
/* what may be in the kernel's pipe, and the ring, each page begun anew */
#define ROOMY_SIZE (KERNEL_SIZE + (int)RUN_RING + 4 * 4096)
#define SIZE_MAX_OURS (1 << 20) /* what every user may ask for */
#define SHIFT_MAX 10

#define SET(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)

uint32_t run_armed STR_HOT_DATA;
struct run_fd run_fds[RUN_NFD] STR_HOT_TABLE;

bool run_ending STR_HOT_DATA;

struct own {
	uint64_t id;
	unsigned mode;
	bool fits;
	unsigned char fd[RUN_NFD / 8];
};

static void
see_own(void *arg, int fd, uint64_t id, unsigned mode)
{
	struct own *o = arg;

	if (id != o->id)
		return;
	o->mode |= mode;
	/* the C library writes messages of its own to standard error */
	if (fd >= RUN_NFD || fd == 2 || run_fds[fd].kind == RUN_NEVER)
		o->fits = false;
	else
		o->fd[fd / 8] |= (unsigned char)(1u << fd % 8);
}

static bool
single_threaded(void)
{
	extern char __libc_single_threaded;

	return __libc_single_threaded != 0;
}

static bool
has_flags(int fd, int want)
{
	int fl = sys_fcntl(fd, F_GETFL, 0);

	return fl >= 0 && (fl & O_ACCMODE) == want &&
		(fl & (O_NONBLOCK | O_ASYNC | O_DIRECT)) == 0;
}

/* The pipe under @fd, if it may be carried and @fd has the mode @mode. */
static struct run_pipe *
fitting(int fd, unsigned mode, struct own *o)
{
	struct run_pipe *p;
	struct stat st;

	if (sys_call4(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0 ||
		!S_ISFIFO(st.st_mode) || !single_threaded() || !run_attach())
		return NULL;
	if (!has_flags(fd, mode == S_IRUSR ? O_RDONLY : O_WRONLY))
		return NULL;
	p = run_find((uint64_t)st.st_ino, (uint64_t)st.st_dev);
	if (p == NULL || (st.st_mode & S_ISVTX) != 0 ||
		__atomic_load_n(&p->unfit, __ATOMIC_SEQ_CST) != 0)
		return NULL;
	if (!run_is_holder(p)) {
		/* a fork was not followed; there may be more of them */
		run_unfit(p, RUN_OUTSIDE);
		return NULL;
	}
	memset(o, 0, sizeof *o);
	o->id = (uint64_t)st.st_ino;
	o->fits = true;
	if (!run_scan(0, see_own, o) || !o->fits || o->mode != mode ||
		!run_stdio() || !run_fault_begin())
		return NULL;
	return p;
}

static void
again(int fd)
{
	run_fds[fd].calls = 0;
	if (run_fds[fd].shift < SHIFT_MAX)
		run_fds[fd].shift++;
}

/* The record may have become another pipe's.  Its epoch changes then, too. */
static bool
is_same(const struct run_end *e)
{
	return __atomic_load_n(run_id(e->p), __ATOMIC_SEQ_CST) == e->id;
}

/* Make the ring ready.  Locks: this process has taken the record. */
static bool
arm_taken(struct run_end *e)
{
	struct run_pipe *p = e->p;
	uint64_t was = __atomic_load_n(&p->state, __ATOMIC_SEQ_CST), ep;
	unsigned st = (unsigned)(was & 0xff);

	/* a reader that has ended may have left it armed */
	if (st != RUN_KERNEL && st != RUN_ARMED && st != RUN_BUSY)
		return false;
	ep = (was >> 8) + 1;
	if (!is_same(e) || !__atomic_compare_exchange_n(&p->state, &was,
		ep << 8 | RUN_BUSY, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return false;
	/* a writer that has just given the ring up may still look at them */
	SET(&p->rpid, (uint32_t)getpid());
	SET(&p->head, (ep & 0xffffff) << 40);
	SET(&p->tail, (ep & 0xffffff) << 40 | (uint64_t)RUN_ASLEEP << 32);
	SET(&p->room, 0);
	SET(&p->fill, 0);
	SET(&p->before, UINT32_MAX);
	SET(&p->in_read, 0);
	e->epoch = ep;
	e->seen = 0;
	e->kernel = RUN_UNKNOWN;
	__atomic_store_n(&p->state, ep << 8 | RUN_ARMED, __ATOMIC_SEQ_CST);
	return true;
}

/* Can the reader move the ring into the kernel's pipe one day? */
static bool
can_write(int fd)
{
	char path[40];
	long w = sys_openat(AT_FDCWD, run_fd_path(path, fd),
		O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);

	if (w >= 0)
		(void)sys_close((int)w);
	return w >= 0 || w == -EMFILE;
}

static bool
arm(struct run_end *e, int fd)
{
	bool ok;

	if (!can_write(fd) || !run_take(e->p))
		return false;
	ok = arm_taken(e);
	run_untake(e->p);
	return ok;
}

static unsigned
consider(int fd, bool writes)
{
	struct run_end *e = NULL;
	struct run_pipe *p;
	struct own own;
	unsigned i;

	run_earn(run_fds[fd].calls);
	if (!run_may_scan()) {
		again(fd);
		return RUN_COUNTING;
	}
	p = fitting(fd, writes ? S_IWUSR : S_IRUSR, &own);
	if (p == NULL) {
		run_fds[fd].kind = RUN_NEVER;
		return RUN_NEVER;
	}
	for (i = 0; i < RUN_ENDS && run_ends[i].p != NULL; i++)
		;
	if (i < RUN_ENDS)
		e = &run_ends[i];
	if (e == NULL) {
		again(fd);
		return RUN_COUNTING;
	}
	memset(e, 0, sizeof *e);
	e->id = own.id;
	e->ring = run_ring(p);
	e->reads = !writes;
	e->next = FIRST_TRY;
	e->look.time = e->gather = FIRST_LOOK;
	e->look.skip = LOOK_SKIP;
	e->nap.skip = NAP_FIRST;
	e->p = p;
	if (e->ring == NULL || (!writes && !arm(e, fd))) {
		e->p = NULL;
		again(fd);
		return RUN_COUNTING;
	}
	for (int k = 0; k < RUN_NFD; k++)
		if (own.fd[k / 8] & 1u << k % 8)
			run_fds[k].kind = (uint8_t)(RUN_END + i);
	run_armed++;
	return RUN_END + i;
}

unsigned
run_consider(int fd, bool writes)
{
	/* a signal handler may come here meanwhile */
	static uint32_t busy STR_HOT_DATA;
	int err = errno;
	unsigned kind;

	if (run_ending || run_inside)
		return RUN_COUNTING;
	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE) != 0)
		return RUN_COUNTING;
	kind = consider(fd, writes);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	errno = err;
	return kind;
}

void
run_disarm(struct run_end *e, bool never)
{
	unsigned kind = RUN_END + (unsigned)(e - run_ends);

	if (e->p == NULL)
		return;
	for (int fd = 0; fd < RUN_NFD; fd++)
		if (run_fds[fd].kind == kind) {
			run_fds[fd].kind = never ? RUN_NEVER : RUN_COUNTING;
			again(fd);
		}
	e->p = NULL;
	run_armed--;
}

/*
 * Make room in the kernel's pipe for all that may be in the ring when the ring
 * is given up, however full the pipe is.  What counts is its pages, of which a
 * small write may take one.  A pipe that the kernel made small again, or that is
 * still small, has few of them in use; otherwise it gets twice as many.
 */
static bool
make_room(struct run_pipe *p, int fd)
{
	int size = sys_fcntl(fd, F_GETPIPE_SZ, 0), want = ROOMY_SIZE;

	if (size > KERNEL_SIZE) {
		if (size != (int)LOAD(&p->size))
			return false; /* the program's choice */
		if (sys_fcntl(fd, F_SETPIPE_SZ, KERNEL_SIZE) < 0)
			want = 2 * size;
	}
	if (want > SIZE_MAX_OURS)
		return false;
	size = sys_fcntl(fd, F_SETPIPE_SZ, want);
	if (size < want)
		return false;
	__atomic_store_n(&p->size, (uint32_t)size, __ATOMIC_SEQ_CST);
	return true;
}

/* Change @e's pipe @p to STREAM, if that is possible now. */
bool
run_upgrade(struct run_end *e, struct run_pipe *p, int fd)
{
	uint64_t was = __atomic_load_n(&p->state, __ATOMIC_SEQ_CST);

	if (++e->calls < e->next)
		return false;
	run_earn(e->calls);
	e->calls = 0;
	e->next = e->next < LAST_TRY ? e->next * 2 : LAST_TRY;
	if ((was & 0xff) != RUN_ARMED || e->p != p || !is_same(e) ||
		__atomic_load_n(&p->unfit, __ATOMIC_SEQ_CST) != 0 ||
		!run_may_scan() || !run_two_only(p, fd) || !has_flags(fd, O_WRONLY) ||
		!make_room(p, fd))
		return false;
	p->wpid = (uint32_t)getpid();
	e->epoch = was >> 8;
	e->seen = 0;
	if (!__atomic_compare_exchange_n(&p->state, &was,
		(was >> 8) << 8 | RUN_STREAM, false, __ATOMIC_SEQ_CST,
		__ATOMIC_RELAXED)) {
		e->epoch = 0;
		return false;
	}
	run_count(RUN_CARRIED);
	return true;
}

void
run_look_again(void)
{
	for (unsigned i = 0; i < RUN_ENDS; i++)
		run_ends[i].checked = 0;
}
