/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reading and writing a pipe in STREAM.
 *
 * Rule.  Bytes in the kernel's pipe are older than bytes in the ring.
 *
 * One process reads and one writes.  Each side copies first and then moves its
 * position by one compare-and-swap, so that a call during which a signal handler
 * gives the ring up finds that the word has changed, and starts again.  A handler
 * never uses a ring while the call that it interrupted does (enter()).  No lock is
 * held.
 *
 * Sleeping reader.  When the ring is empty the reader sets ASLEEP in `tail',
 * which succeeds only if the ring is still empty, and reads the kernel's pipe.
 * While ASLEEP is set nothing is put into the ring.  The writer clears ASLEEP,
 * sets WAKING, writes its first bytes into the kernel's pipe, and clears WAKING.
 * What it writes from then on goes into the ring.  So the kernel wakes the
 * reader, restarts its call after a signal, and tells it of the end of file.
 *
 * The reader may run at once, before the writer does.  So if the kernel's pipe
 * was empty (DRY), a long write first puts its later bytes into the ring, and
 * then its first ones into the kernel's pipe: the woken reader finds all.  If
 * the writer is killed in between, that write was not complete: the reader
 * discards the ring.
 *
 * Sleeping writer.  When the ring is full the writer sleeps on `turn'.  A
 * reader that is killed does not wake it: it looks for POLLERR from time to time (wait.c).
 */
#include "run.h"
#include "sys.h"
#include "word.h"

bool run_inside STR_HOT_DATA;
struct run_end run_ends[RUN_ENDS] STR_LARGE_DATA;

#define LOOK_TICKS 2000000ull /* about a ms: the writer looks for a reader */
#define FIRST 4096u	/* bytes that wake a reader, at most */
#define FIRST_OF_LONG 1024u /* of a write that is longer than these */
#define AHEAD 512u /* bytes before which the writer asks for the ring's lines */

/* False: @buf is a bad address. */
STR_INLINE bool
copy_in(unsigned char *ring, uint32_t pos, const void *buf, uint32_t n)
{
	uint32_t at = pos & (RUN_RING - 1), k = RUN_RING - at;

	if (str_likely(k >= n))
		return host_copyin(buf, ring + at, n) == 0;
	return host_copyin(buf, ring + at, k) == 0 &&
		host_copyin((const char *)buf + k, ring, n - k) == 0;
}

STR_INLINE bool
copy_out(const unsigned char *ring, uint32_t pos, void *buf, uint32_t n)
{
	uint32_t at = pos & (RUN_RING - 1), k = RUN_RING - at;

	if (str_likely(k >= n))
		return host_copyout(ring + at, buf, n) == 0;
	return host_copyout(ring + at, buf, k) == 0 &&
		host_copyout(ring, (char *)buf + k, n - k) == 0;
}

/* ---------------------------------------------------------------- reading */

enum step { STEP_KERNEL, STEP_AGAIN, STEP_RING, STEP_INTR, STEP_ERROR };

/* The reader does not know the kernel's pipe to be empty. */
static enum step
kernel_first(struct run_end *e, struct run_pipe *p, int fd, uint64_t tail)
{
	if (FLAG(tail, RUN_ASLEEP) || run_unread(fd) != 0)
		return STEP_KERNEL;
	if (!FLAG(tail, RUN_WAKING) || (e->kernel == RUN_SLEPT && e->got)) {
		e->kernel = RUN_EMPTY;
		return STEP_AGAIN;
	}
	/* the writer is about to write there */
	if (e->kernel == RUN_SLEPT)
		return STEP_KERNEL;
	/* or has done so, and not said it yet: the ring is empty */
	return swap(&p->tail, tail, tail | (uint64_t)RUN_ASLEEP << 32) ?
		STEP_KERNEL : STEP_AGAIN;
}

/* The ring is empty: is it still, after some looks? */
static bool
stays_empty(struct run_end *e, struct run_pipe *p, uint64_t tail)
{
	uint64_t start, now;
	uint32_t time;

	if (on_cpu_of(&p->rcpu, &p->wcpu)) {
		(void)run_give_way();
		return LOAD(&p->tail) == tail;
	}
	time = look_begin(&e->look);
	start = ticks();
	do {
		for (int i = 0; i < 8; i++) {
			if (LOAD(&p->tail) != tail) {
				look_end(&e->look, ticks() - start, time,
					true);
				return false;
			}
			relax();
		}
		now = ticks();
	} while (now - start < time);
	look_end(&e->look, now - start, time, false);
	return LOAD(&p->tail) == tail;
}

static enum step
read_step(struct run_end *e, struct run_pipe *p, int fd, uint64_t ep,
	size_t len, struct run_held *h)
{
	uint64_t state = LOAD(&p->state), tail, head;
	uint32_t have;

	if (state != (ep << 8 | RUN_STREAM)) {
		if (state != (ep << 8 | RUN_TO_W)) {
			/* the writer has given the ring up */
			if (state != (ep << 8 | RUN_ARMED) && e->p == p &&
					e->epoch == ep)
				run_disarm(e, false);
			return STEP_KERNEL;
		}
		if (run_wait_move(e, p, fd, state, h) == RUN_ENDS_CALL)
			return STEP_INTR;
		return STEP_AGAIN;
	}
	head = LOAD(&p->head);
	if (e->kernel == RUN_EMPTY && SAME_EPOCH(head, ep) &&
			e->seen - POS(head) >= len)
		return STEP_RING; /* take() looks at the flags */
	tail = LOAD(&p->tail);
	if (!SAME_EPOCH(tail, ep) || FLAG(tail, RUN_CLOSED) ||
		FLAG(head, RUN_CLOSED))
		return STEP_AGAIN;
	if (e->kernel != RUN_EMPTY)
		return kernel_first(e, p, fd, tail);
	have = POS(tail) - POS(head);
	if (have != 0) {
		if (have < len && have < RUN_ENOUGH)
			run_gather(e, p, tail, len);
		return STEP_RING;
	}
	if (stays_empty(e, p, tail) &&
		swap(&p->tail, tail, tail |
			(uint64_t)(RUN_ASLEEP | RUN_DRY) << 32)) {
		e->kernel = RUN_SLEPT;
		e->got = false;
		return STEP_KERNEL;
	}
	return STEP_AGAIN;
}

/* After the end of file in the kernel's pipe: is there no more in the ring? */
static bool
at_end(const struct run_end *e, struct run_pipe *p, uint64_t ep)
{
	uint64_t state = LOAD(&p->state), tail = LOAD(&p->tail);

	if (state == (ep << 8 | RUN_TO_W))
		return false;
	return state != (ep << 8 | RUN_STREAM) ||
		POS(tail) == POS(LOAD(&p->head)) ||
		(e->kernel == RUN_SLEPT && !e->got && FLAG(tail, RUN_WAKING));
}

/* Take from the ring.  0: it is empty, or has been given up: by this call, if
 * @buf is a bad address. */
static uint32_t
take(struct run_end *e, struct run_pipe *p, const unsigned char *ring,
	void *buf, size_t len)
{
	uint64_t head = LOAD(&p->head);
	uint32_t n = e->seen - POS(head);

	if (n > RUN_RING || n < len) {
		e->seen = POS(LOAD(&p->tail));
		n = e->seen - POS(head);
	}
	if (n > RUN_RING || FLAG(head, RUN_CLOSED))
		return 0;
	if (n > len)
		n = (uint32_t)len;
	if (str_unlikely(!copy_out(ring, POS(head), buf, n))) {
		run_settle(e, false, RUN_CALL);
		return 0;
	}
	if (!swap(&p->head, head,
		(head & ~0xffffffffull) | (uint32_t)(POS(head) + n)))
		return 0;
	if (str_unlikely(LOAD(&p->room) != 0) &&
		POS(LOAD(&p->tail)) - (POS(head) + n) <= RUN_RING / 2)
		run_wake_writer(p);
	return n;
}

/*
 * A read has emptied the kernel's pipe, and has room for more: the ring's bytes
 * follow at once, as the kernel's pipe would give them.
 */
static ssize_t
follow(struct run_end *e, struct run_pipe *p, int fd, char *buf, size_t len,
	uint64_t ep)
{
	uint64_t tail;

	if (on_cpu_of(&p->rcpu, &p->wcpu))
		run_nap(e, p, len);
	/* a handler may have given the ring up */
	tail = LOAD(&p->tail);
	if (e->p != p || e->epoch != ep ||
		LOAD(&p->state) != (ep << 8 | RUN_STREAM) ||
		!SAME_EPOCH(tail, ep) || FLAG(tail, RUN_CLOSED) ||
		FLAG(tail, RUN_ASLEEP) || run_unread(fd) != 0 ||
		(FLAG(tail, RUN_WAKING) && e->kernel != RUN_SLEPT))
		return 0;
	e->kernel = RUN_EMPTY;
	return (ssize_t)take(e, p, e->ring, buf, len);
}

static ssize_t
ring_read(struct run_end *e, struct run_pipe *p, int fd, void *buf, size_t len)
{
	struct run_held h = {0, false};
	uint64_t ep = e->epoch;
	uint32_t n;
	ssize_t r;

	for (;;) {
		enum step s = STEP_KERNEL;

		if (e->p == p && e->epoch == ep && len != 0)
			s = read_step(e, p, fd, ep, len, &h);
		if (s == STEP_INTR || (str_unlikely(h.on) &&
				run_let(&h, true) == RUN_ENDS_CALL)) {
			errno = EINTR;
			return -1;
		}
		if (e->p != p || e->epoch != ep || len == 0)
			return run_next_read(fd, buf, len);
		if (s == STEP_KERNEL) {
			__atomic_store_n(&p->in_read, 1, __ATOMIC_SEQ_CST);
			if (LOAD(&p->state) == (ep << 8 | RUN_TO_W)) {
				__atomic_store_n(&p->in_read, 0,
					__ATOMIC_SEQ_CST);
				continue;
			}
			r = run_next_read(fd, buf, len);
			__atomic_store_n(&p->in_read, 0, __ATOMIC_SEQ_CST);
			e->got = e->got || r > 0;
			if (r > 0 && (size_t)r < len)
				return r + follow(e, p, fd, (char *)buf + r,
					len - (size_t)r, ep);
			if (r != 0 || e->p != p || e->epoch != ep ||
					at_end(e, p, ep))
				return r;
		}
		if (s != STEP_RING)
			continue;
		n = take(e, p, e->ring, buf, len);
		if (n != 0)
			return (ssize_t)n;
	}
}

/*
 * May this call use the ring?  A call of a signal handler that has interrupted
 * another one may not: the other one has loaded a position.
 */
STR_INLINE bool
enter(struct run_end *e)
{
	extern char __libc_single_threaded;

	if (str_unlikely(run_inside || __libc_single_threaded == 0)) {
		run_settle(e, __libc_single_threaded == 0,
			run_inside ? RUN_CALL : RUN_THREADS);
		return false;
	}
	run_inside = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

STR_INLINE void
leave(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	run_inside = false;
}

ssize_t
run_ring_read(struct run_end *e, int fd, void *buf, size_t len)
{
	struct run_pipe *p;
	ssize_t r;

	if (!enter(e))
		return run_next_read(fd, buf, len);
	/* a handler may have given the ring up before */
	p = e->p;
	r = p != NULL ? ring_read(e, p, fd, buf, len) :
		run_next_read(fd, buf, len);
	leave();
	return r;
}

/* ---------------------------------------------------------------- writing */

static void
clear_waking(struct run_pipe *p, uint64_t of)
{
	uint64_t tail;

	/* another call may have given the ring up meanwhile */
	while ((tail = LOAD(&p->tail)) >> 40 == of >> 40 &&
		!swap(&p->tail, tail, tail & ~((uint64_t)RUN_WAKING << 32)))
		;
}

#define WOKEN(tail) \
	(((tail) & ~((uint64_t)(RUN_ASLEEP | RUN_DRY) << 32)) | \
		(uint64_t)RUN_WAKING << 32)

/*
 * Wake the reader by the first bytes.  Return: their number, or -1 and errno;
 * 0: look again.
 */
static ssize_t
wake_reader(struct run_pipe *p, uint64_t tail, int fd, const void *buf,
	size_t len)
{
	ssize_t r;
	int err;

	if (!swap(&p->tail, tail, WOKEN(tail)))
		return 0;
	r = run_next_write(fd, buf, len < FIRST ? len : FIRST);
	err = errno;
	clear_waking(p, tail);
	errno = err;
	return r;
}

/*
 * The same by a long write, whose later bytes are put into the ring first.  No
 * handler may run meanwhile: it would find the ring without what precedes it.
 */
static ssize_t
wake_reader_long(struct run_pipe *p, unsigned char *ring, uint64_t tail,
	int fd, const char *buf, size_t len)
{
	uint64_t all = ~0ull & ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1));
	uint64_t old, now = WOKEN(tail);
	uint32_t n = RUN_RING;
	char first[FIRST_OF_LONG];
	ssize_t r = 0;
	int err;

	/* they must be good when the others are in the ring */
	if (host_copyin(buf, first, sizeof first) != 0)
		return wake_reader(p, tail, fd, buf, len);
	if (len - FIRST_OF_LONG < n)
		n = (uint32_t)(len - FIRST_OF_LONG);
	(void)sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old,
		SYS_SIGSET);
	err = errno;
	if (swap(&p->tail, tail, now)) {
		/* a bad address: the bytes before it first */
		if (!copy_in(ring, POS(tail), buf + FIRST_OF_LONG, n))
			n = 0;
		if (swap(&p->tail, now, (now & ~0xffffffffull) |
			(uint32_t)(POS(now) + n)))
			r = run_next_write(fd, first, sizeof first);
		err = errno;
		clear_waking(p, tail);
	}
	(void)sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL,
		SYS_SIGSET);
	errno = err;
	if (r <= 0)
		return r;
	p->bytes += n;
	run_wrote(p, POS(tail) + n);
	return r + (ssize_t)n;
}

/* The reader may have been killed. */
static bool
reader_gone(struct run_end *e, int fd)
{
	uint64_t now = ticks();

	if (str_likely(now - e->checked < LOOK_TICKS))
		return false;
	e->checked = now;
	return run_is_gone(fd);
}

static enum step
write_step(struct run_end *e, struct run_pipe *p, int fd, uint64_t ep,
	struct run_held *h)
{
	uint64_t state;

	if (e->p != p || e->epoch != ep)
		return STEP_KERNEL;
	state = LOAD(&p->state);
	if (str_likely(state == (ep << 8 | RUN_STREAM)))
		return STEP_RING;
	if (state == (ep << 8 | RUN_TO_R)) {
		if (run_wait_move(e, p, fd, state, h) == RUN_ENDS_CALL)
			return STEP_INTR;
		return LOAD(&p->state) == state && run_is_gone(fd) ?
			STEP_KERNEL : STEP_AGAIN;
	}
	if ((state >> 8) != ep || (state & 0xff) == RUN_KERNEL)
		e->epoch = 0; /* of no ring: run_upgrade() sets it again */
	return STEP_KERNEL;
}

/* Of @len bytes all that fits into the ring.  0: look again; -1: @buf is bad. */
static ssize_t
put(struct run_pipe *p, unsigned char *ring, uint64_t tail, const char *buf,
	size_t len, uint32_t room)
{
	uint32_t n = len < room ? (uint32_t)len : room;

	/* a long copy asks for its lines in time */
	for (uint32_t k = 0; k < n && n <= AHEAD; k += 64)
		ask_line(ring + ((POS(tail) + AHEAD + k) & (RUN_RING - 1)));
	if (str_unlikely(!copy_in(ring, POS(tail), buf, n)))
		return -1;
	if (!swap(&p->tail, tail,
		(tail & ~0xffffffffull) | (uint32_t)(POS(tail) + n)))
		return 0;
	p->bytes += n;
	(void)on_cpu_of(&p->wcpu, &p->wcpu);
	run_wrote(p, (uint32_t)(POS(tail) + n));
	return (ssize_t)n;
}

/* The bytes that the ring has room for. */
STR_INLINE uint32_t
room_for(struct run_end *e, struct run_pipe *p, uint64_t tail, size_t len)
{
	uint32_t room = RUN_RING - (POS(tail) - e->seen);

	if (room < len) {
		e->seen = POS(LOAD(&p->head));
		room = RUN_RING - (POS(tail) - e->seen);
	}
	return room;
}

/*
 * One step of a write of @len bytes, of which *done have been written.  @h: held
 * from the first step that has to wait to the last one.
 */
static enum step
write_more(struct run_end *e, struct run_pipe *p, int fd, const char *buf,
	size_t len, size_t *done, struct run_held *h, uint64_t ep)
{
	enum step s = write_step(e, p, fd, ep, h);
	enum run_came came;
	size_t left = len - *done;
	bool gone = false;
	uint64_t tail;
	uint32_t room;
	ssize_t r;

	if (s != STEP_RING)
		return s;
	tail = LOAD(&p->tail);
	if (!SAME_EPOCH(tail, ep) || FLAG(tail, RUN_CLOSED))
		return STEP_AGAIN;
	/* a handler has left a call while it woke the reader */
	if (str_unlikely(FLAG(tail, RUN_WAKING))) {
		run_settle(e, false, RUN_CALL);
		return STEP_AGAIN;
	}
	if (str_unlikely(FLAG(tail, RUN_ASLEEP))) {
		e->seen = POS(tail); /* the ring is empty */
		/* the kernel's pipe may be full */
		if (!FLAG(tail, RUN_DRY) &&
			run_let(h, true) == RUN_ENDS_CALL)
			return STEP_INTR;
		r = left > FIRST && FLAG(tail, RUN_DRY) ?
			wake_reader_long(p, e->ring, tail, fd, buf + *done,
				left) :
			wake_reader(p, tail, fd, buf + *done, left);
		if (r < 0)
			return STEP_ERROR;
		*done += (size_t)r;
		return STEP_AGAIN;
	}
	room = room_for(e, p, tail, left);
	if (str_unlikely(room < left)) {
		run_hold(h);
		/* POSIX: what is not longer than PIPE_BUF is not divided */
		if (room == 0 || len <= FIRST) {
			came = run_wait_room(e, p, tail, fd, h, &gone);
			if (gone)
				return STEP_KERNEL;
			return came == RUN_ENDS_CALL ||
				(came != RUN_NONE && *done != 0) ? STEP_INTR :
				STEP_AGAIN;
		}
	}
	r = put(p, e->ring, tail, buf + *done, left, room);
	if (r < 0) {
		/* the kernel finds out how much it can write */
		run_settle(e, false, RUN_CALL);
		return STEP_KERNEL;
	}
	*done += (size_t)r;
	return STEP_AGAIN;
}

static ssize_t
ring_write(struct run_end *e, struct run_pipe *p, int fd, const void *buf,
	size_t len)
{
	struct run_held h = {0, false};
	enum step s = STEP_AGAIN;
	size_t done = 0;
	uint64_t ep;
	ssize_t r = -1;
	int err = EINTR;

	if (e->epoch == 0 && !run_upgrade(e, p, fd))
		return run_next_write(fd, buf, len);
	ep = e->epoch;
	if (str_unlikely(reader_gone(e, fd)))
		return run_next_write(fd, buf, len);
	while (done < len && s == STEP_AGAIN)
		s = write_more(e, p, fd, buf, len, &done, &h, ep);
	if (str_likely(s == STEP_AGAIN && !h.on))
		return (ssize_t)done;
	if (s == STEP_ERROR)
		err = errno;
	/* what has come ends a call that would wait in the kernel */
	switch (run_let(&h, true)) {
	case RUN_ENDS_CALL:
		s = s == STEP_KERNEL ? STEP_INTR : s;
		break;
	case RUN_RESTARTS:
		s = s == STEP_KERNEL && done != 0 ? STEP_INTR : s;
		break;
	default:
		break;
	}
	if (s == STEP_KERNEL)
		r = run_next_write(fd, (const char *)buf + done, len - done);
	else
		errno = err;
	return r >= 0 ? r + (ssize_t)done : done != 0 ? (ssize_t)done : r;
}

ssize_t
run_ring_write(struct run_end *e, int fd, const void *buf, size_t len)
{
	struct run_pipe *p;
	ssize_t r;

	if (!enter(e))
		return run_next_write(fd, buf, len);
	p = e->p;
	r = p != NULL && len != 0 ? ring_write(e, p, fd, buf, len) :
		run_next_write(fd, buf, len);
	leave();
	return r;
}
