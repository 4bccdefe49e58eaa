/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * select(2): a poll of the descriptors that the sets name.
 *
 * The sets may be longer than FD_SETSIZE, as with the kernel; their words
 * are read only as far as the first argument says.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>

#include "pollset.h"
#include "sys.h"

#define WORD_BITS (8u * (unsigned)sizeof(unsigned long))

/* What the kernel takes for readable, writable, exceptional. */
#define SEL_IN  (POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR)
#define SEL_OUT (POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR)
#define SEL_EX  POLLPRI

struct sets {
	unsigned long *user[3]; /* the caller's, or NULL */
	unsigned long *in;      /* copies, words per set */
	unsigned words;
	unsigned n; /* descriptors */
	void *block;
	size_t size;
	unsigned long few[3 * FD_SETSIZE / (8 * sizeof(long))];
};

static bool
bit(const struct sets *s, int which, unsigned fd)
{
	return (s->in[(unsigned)which * s->words + fd / WORD_BITS] >>
		       (fd % WORD_BITS)) &
	       1;
}

static void
bit_set(struct sets *s, int which, unsigned fd)
{
	s->in[(unsigned)which * s->words + fd / WORD_BITS] |=
		1ul << (fd % WORD_BITS);
}

static void
sets_free(struct sets *s)
{
	if (s->block != NULL)
		(void)sys_call2(SYS_munmap, s->block, s->size);
}

/* Copy the sets in.  False: a bad address, or no memory: the caller lets the
 * kernel report the error. */
static bool
sets_get(struct sets *s, int n)
{
	size_t len;

	s->n = (unsigned)n;
	s->words = (s->n + WORD_BITS - 1) / WORD_BITS;
	s->block = NULL;
	s->in = s->few;
	len = s->words * sizeof(long);
	if (3 * len > sizeof s->few) {
		long r;

		s->size = 3 * len;
		r = sys_call6(SYS_mmap, NULL, s->size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (r < 0 && r > -4096)
			return false;
		s->block = (void *)r;
		s->in = (unsigned long *)r;
	}
	memset(s->in, 0, 3 * len);
	for (int w = 0; w < 3; w++)
		if (s->user[w] != NULL &&
			host_copyin(s->user[w], s->in + (size_t)w * s->words,
				len) != 0) {
			sets_free(s);
			return false;
		}
	return true;
}

/* Which descriptors are in any of the sets, as a set to poll. */
static int
sets_to_poll(const struct sets *s, struct poll_set *p)
{
	unsigned count = 0;
	int err;

	for (int pass = 0; pass < 2; pass++) {
		count = 0;
		for (unsigned fd = 0; fd < s->n; fd++) {
			short ev = 0;

			if (bit(s, 0, fd))
				ev |= POLLIN | POLLRDNORM | POLLRDBAND;
			if (bit(s, 1, fd))
				ev |= POLLOUT | POLLWRNORM | POLLWRBAND;
			if (bit(s, 2, fd))
				ev |= POLLPRI;
			if (ev == 0)
				continue;
			if (pass == 1)
				p->u[count] = (struct pollfd){(int)fd, ev, 0};
			count++;
		}
		if (pass == 0) {
			err = poll_set_alloc(p, count);
			if (err != 0)
				return err;
		}
	}
	return 0;
}

/* The answer, in the copies.  Return: bits set, or -EBADF. */
static int
sets_answer(struct sets *s, const struct poll_set *p)
{
	int bits = 0;
	unsigned i;

	for (i = 0; i < p->n; i++)
		if (p->u[i].revents & POLLNVAL)
			return -EBADF;
	memset(s->in, 0, 3 * s->words * sizeof(long));
	for (i = 0; i < p->n; i++) {
		unsigned fd = (unsigned)p->u[i].fd;
		short ask = p->u[i].events, re = p->u[i].revents;

		/* a write to a Stream that is hung up does not wait */
		if ((re & POLLHUP) && (p->word[i] & 1) == 0)
			re |= POLLOUT;

		if ((ask & POLLIN) && (re & SEL_IN)) {
			bit_set(s, 0, fd);
			bits++;
		}
		if ((ask & POLLOUT) && (re & SEL_OUT)) {
			bit_set(s, 1, fd);
			bits++;
		}
		if ((ask & POLLPRI) && (re & SEL_EX)) {
			bit_set(s, 2, fd);
			bits++;
		}
	}
	return bits;
}

static int
sets_put(const struct sets *s)
{
	for (int w = 0; w < 3; w++)
		if (s->user[w] != NULL &&
			host_copyout(s->in + (size_t)w * s->words, s->user[w],
				s->words * sizeof(long)) != 0)
			return -EFAULT;
	return 0;
}

struct both {
	struct sets *s;
	struct poll_set *p;
};

static void
cancelled(void *arg)
{
	struct both *b = arg;

	poll_set_free(b->p);
	sets_free(b->s);
}

static int
select_enter(struct sets *s, struct poll_set *p)
{
	struct host_call hc = {.fd = -1, .flags = HOST_CALL_CANCEL};
	struct both b = {s, p};
	int ret = -host_enter(&hc);

	if (ret != 0)
		return ret;
	hc.mask = p->mask;
	if (p->block == NULL && s->block == NULL) {
		ret = poll_set_wait(p, &hc);
	} else {
		pthread_cleanup_push(cancelled, &b);
		ret = poll_set_wait(p, &hc);
		pthread_cleanup_pop(0);
	}
	if (ret >= 0)
		ret = sets_answer(s, p);
	if (ret >= 0) {
		int err = sets_put(s);

		ret = err != 0 ? err : ret;
	}
	host_leave();
	exit_look();
	return ret;
}

/* As poll_streams() in poll.c. */
static bool
select_streams(int n, fd_set *set[3], uint64_t deadline, const sigset_t *mask,
	int *ret)
{
	struct poll_set p;
	struct sets s;
	sigset_t filtered;
	bool mine = false;

	if (n <= 0 || n > FD_MAX || !fd_possible())
		return false;
	for (int w = 0; w < 3; w++)
		s.user[w] = (unsigned long *)(void *)set[w];
	if (!sets_get(&s, n))
		return false;
	p.deadline = deadline;
	p.mask = mask != NULL
			 ? host_sigmask_filter(SIG_SETMASK, mask, &filtered)
			 : NULL;
	if (sets_to_poll(&s, &p) == 0) {
		if (poll_set_words(&p) != 0) {
			*ret = select_enter(&s, &p);
			mine = true;
		}
		poll_set_free(&p);
	}
	sets_free(&s);
	return mine;
}

/* Linux says how much of the time was left. */
static void
time_left(uint64_t deadline, struct timeval *tv)
{
	uint64_t now = host_now(), ns = deadline > now ? deadline - now : 0;
	struct timeval left = {
		(time_t)(ns / 1000000000u),
		(suseconds_t)(ns % 1000000000u / 1000),
	};

	(void)!host_copyout(&left, tv, sizeof left);
}

STR_EXPORT int
select(int n, fd_set *in, fd_set *out, fd_set *ex, struct timeval *tv)
{
	fd_set *set[3] = {in, out, ex};
	uint64_t deadline = UINT64_MAX;
	struct timeval t;
	int ret;

	pthread_testcancel();
	if (!fd_possible())
		return REAL(select)(n, in, out, ex, tv);
	if (tv != NULL) {
		struct timespec ts;

		/* the C library reads the time itself */
		if (host_copyin(tv, &t, sizeof t) != 0)
			return fail(EFAULT);
		if (t.tv_sec < 0 || t.tv_usec < 0)
			return REAL(select)(n, in, out, ex, tv);
		ts.tv_sec = t.tv_sec + t.tv_usec / 1000000;
		ts.tv_nsec = t.tv_usec % 1000000 * 1000;
		(void)poll_deadline(&ts, &deadline);
	}
	if (!select_streams(n, set, deadline, NULL, &ret)) {
		/* the C library writes the time that is left itself */
		ret = REAL(select)(n, in, out, ex, tv != NULL ? &t : NULL);
		if (tv != NULL)
			(void)!host_copyout(&t, tv, sizeof t);
		return ret;
	}
	if (tv != NULL && deadline != 0 && deadline != UINT64_MAX)
		time_left(deadline, tv);
	return (int)call_value(ret);
}

STR_EXPORT int
pselect(int n, fd_set *in, fd_set *out, fd_set *ex, const struct timespec *ts,
	const sigset_t *mask)
{
	fd_set *set[3] = {in, out, ex};
	uint64_t deadline;
	sigset_t copy, buf;
	int ret;

	pthread_testcancel();
	if (mask != NULL) {
		/* only the kernel's part of it may be there */
		if (!fd_possible())
			return REAL(pselect)(n, in, out, ex, ts,
				host_sigmask_filter(SIG_SETMASK, mask, &buf));
		(void)sigemptyset(&copy);
		if (host_copyin(mask, &copy, 8) != 0)
			return fail(EFAULT);
		mask = &copy;
	}
	if (fd_possible()) {
		ret = poll_deadline(ts, &deadline);
		if (ret == EFAULT)
			return fail(EFAULT);
		if (ret == 0 && select_streams(n, set, deadline, mask, &ret))
			return (int)call_value(ret);
	}
	return REAL(pselect)(n, in, out, ex, ts,
		mask != NULL ? host_sigmask_filter(SIG_SETMASK, mask, &buf)
			     : NULL);
}
