/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * poll(2) and select(2) on sockets whose call is not answered.
 *
 * The Stream of such a socket can be written to, and its answer is a message
 * that can be read; a program waits for room to write instead.  So the wait is
 * for the answer, and when it is there the socket's own events count.  All other
 * waits are passed on.
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>

#include "next.h"
#include "sock.h"

/* sk_is_calling - is it a socket whose call is not answered? */
int
sk_is_calling(int fd, struct sock *s)
{
	return fd >= 0 && sk_find(s, fd) && (SK(s) & SK_CALLING) != 0;
}

#define CHUNK 64u /* descriptors that are looked at together */

/*
 * Is there a socket among them that needs this file?  If the caller's memory is
 * bad there is none: the next definition returns EFAULT.  (@fds is not const:
 * <poll.h> says that poll() only writes to it.)
 */
static int
is_special(struct pollfd *fds, nfds_t n)
{
	struct pollfd part[CHUNK];
	struct sock s;
	nfds_t at, k, i;

	if (!strm_possible())
		return 0;
	for (at = 0; at < n; at += k) {
		k = n - at < CHUNK ? n - at : CHUNK;
		if (strm_copy(part, fds + at, k * sizeof(*part)) != 0)
			return 0;
		for (i = 0; i < k; i++)
			if (part[i].fd >= 0 && sk_find(&s, part[i].fd) &&
			    (SK(&s) & SK_CALLING) != 0)
				return 1;
	}
	return 0;
}

/* Wait for the answers of sockets that call; *calls: how many those are. */
static void
prepare(struct pollfd *to, const struct pollfd *fds, nfds_t n, nfds_t *calls)
{
	struct sock s;
	nfds_t i;

	*calls = 0;
	for (i = 0; i < n; i++) {
		to[i] = fds[i];
		if (sk_is_calling(fds[i].fd, &s) && sk_progress(&s, 1) ==
			-EAGAIN) {
			to[i].events = POLLIN;
			++*calls;
		}
	}
}

/* The events of all, now.  Return: how many descriptors have some. */
static int
collect(struct pollfd *fds, nfds_t n)
{
	int ready = NEXT(poll)(fds, n, 0);
	struct sock s;
	short ev;
	nfds_t i;

	for (i = 0; i < n && ready >= 0; i++) {
		ev = fds[i].revents;
		if (sk_is_calling(fds[i].fd, &s))
			fds[i].revents = 0;
		ready += (fds[i].revents != 0) - (ev != 0);
	}
	return ready;
}

static int64_t
now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * (int64_t)1000000000 + ts.tv_nsec;
}

/* @fds: in memory of this file.  @limit: when the wait ends; -1: never */
static int
wait_for(struct pollfd *fds, nfds_t n, int64_t limit, const sigset_t *mask)
{
	struct pollfd *copy = calloc(n != 0 ? n : 1, sizeof(*copy));
	struct timespec ts;
	int64_t left;
	nfds_t calls;
	int ready;

	if (copy == NULL) {
		errno = ENOMEM;
		return -1;
	}
	for (;;) {
		prepare(copy, fds, n, &calls);
		ready = collect(fds, n);
		left = limit < 0 ? 0 : limit - now_ns();
		if (ready != 0 || (limit >= 0 && left <= 0))
			break;
		ts.tv_sec = left / 1000000000;
		ts.tv_nsec = left % 1000000000;
		ready = NEXT(ppoll)(copy, n, limit < 0 ? NULL : &ts, mask);
		if (ready < 0)
			break;
		if (calls == 0) {
			ready = collect(fds, n);
			break;
		}
	}
	free(copy);
	return ready;
}

/* The same for @fds of the caller. */
static int
wait_for_user(struct pollfd *fds, nfds_t n, int64_t limit, const sigset_t *mask)
{
	struct pollfd *mine = calloc(n != 0 ? n : 1, sizeof(*mine));
	int ready = -1;

	if (mine == NULL) {
		errno = ENOMEM;
		return -1;
	}
	if (strm_copy(mine, fds, n * sizeof(*mine)) != 0)
		errno = EFAULT;
	else
		ready = wait_for(mine, n, limit, mask);
	if (ready >= 0 && strm_copy(fds, mine, n * sizeof(*mine)) != 0) {
		errno = EFAULT;
		ready = -1;
	}
	free(mine);
	return ready;
}

/* When a wait of *@ts ends; 0, or -1 with errno. */
static int
limit_of(const struct timespec *ts, int64_t *limit)
{
	struct timespec copy;

	*limit = -1;
	if (ts == NULL)
		return 0;
	if (strm_copy(&copy, ts, sizeof(copy)) != 0) {
		errno = EFAULT;
		return -1;
	}
	if (copy.tv_sec < 0 || copy.tv_nsec < 0 || copy.tv_nsec > 999999999) {
		errno = EINVAL;
		return -1;
	}
	/* three hundred years less are as good */
	if (copy.tv_sec < 1000000000)
		*limit = now_ns() + copy.tv_sec * (int64_t)1000000000 +
			copy.tv_nsec;
	return 0;
}

STR_EXPORT int
poll(struct pollfd *fds, nfds_t n, int ms)
{
	if (!is_special(fds, n))
		return NEXT(poll)(fds, n, ms);
	return wait_for_user(fds, n,
		ms < 0 ? -1 : now_ns() + ms * (int64_t)1000000, NULL);
}

STR_EXPORT int
ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts,
	const sigset_t *mask)
{
	int64_t limit;

	if (!is_special(fds, n))
		return NEXT(ppoll)(fds, n, ts, mask);
	return limit_of(ts, &limit) < 0 ? -1 :
		wait_for_user(fds, n, limit, mask);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);
STR_EXPORT int
__poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room)
{
	if (room / sizeof(*fds) < n)
		return NEXT(__poll_chk)(fds, n, ms, room);
	return poll(fds, n, ms);
}

/* ------------------------------------------------------------------ select(2) */

/* Sets of the caller, and copies of them; n: descriptors, at most FD_SETSIZE. */
struct sets {
	fd_set *user[3]; /* to read, to write, exceptional; or NULL */
	fd_set copy[3];
	int n;
};

static size_t
bytes_of(const struct sets *s)
{
	return ((size_t)s->n + 63) / 64 * 8;
}

static int
in(int fd, const fd_set *set)
{
	return FD_ISSET(fd, set);
}

/*
 * Copy the sets; is a descriptor of them a socket that needs this file?  As with
 * poll(2), not if memory is bad.
 */
static int
is_special_set(struct sets *s)
{
	struct sock sk;
	int fd, i;

	if (s->n <= 0 || s->n > FD_SETSIZE || !strm_possible())
		return 0;
	memset(s->copy, 0, sizeof(s->copy));
	for (i = 0; i < 3; i++)
		if (s->user[i] != NULL && strm_copy(&s->copy[i], s->user[i],
			bytes_of(s)) != 0)
			return 0;
	for (fd = 0; fd < s->n; fd++)
		if ((in(fd, &s->copy[0]) || in(fd, &s->copy[1])) &&
		    sk_find(&sk, fd) &&
		    (SK(&sk) & SK_CALLING) != 0)
			return 1;
	return 0;
}

static void
put_bit(fd_set *set, int fd, int on, int *count)
{
	if (!in(fd, set))
		return;
	if (on)
		++*count;
	else
		FD_CLR(fd, set);
}

/* The same by poll(2); @limit as above. */
static int
select_by_poll(struct sets *s, int64_t limit, const sigset_t *mask)
{
	fd_set *r = &s->copy[0], *w = &s->copy[1], *e = &s->copy[2];
	struct pollfd fds[FD_SETSIZE];
	int fd, k = 0, i, count = 0;

	for (fd = 0; fd < s->n; fd++) {
		if (!in(fd, r) && !in(fd, w) && !in(fd, e))
			continue;
		fds[k++] = (struct pollfd){.fd = fd,
			.events = (short)((in(fd, r) ? POLLIN : 0) |
				(in(fd, w) ? POLLOUT : 0) |
				(in(fd, e) ? POLLPRI : 0))};
	}
	if (wait_for(fds, (nfds_t)k, limit, mask) < 0)
		return -1;
	for (i = 0; i < k; i++) {
		short ev = fds[i].revents;

		if ((ev & POLLNVAL) != 0) {
			errno = EBADF;
			return -1;
		}
		put_bit(r, fds[i].fd, ev & (POLLIN | POLLHUP | POLLERR),
			&count);
		put_bit(w, fds[i].fd, ev & (POLLOUT | POLLERR), &count);
		put_bit(e, fds[i].fd, ev & POLLPRI, &count);
	}
	for (i = 0; i < 3; i++)
		if (s->user[i] != NULL && strm_copy(s->user[i], &s->copy[i],
			bytes_of(s)) != 0) {
			errno = EFAULT;
			return -1;
		}
	return count;
}

STR_EXPORT int
select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *tv)
{
	struct sets s = {.user = {r, w, e}, .n = n};
	struct timeval left;
	struct timespec ts;
	int64_t limit;
	int ret;

	if (!is_special_set(&s))
		return NEXT(select)(n, r, w, e, tv);
	if (tv == NULL)
		return select_by_poll(&s, -1, NULL);
	if (strm_copy(&left, tv, sizeof(left)) != 0) {
		errno = EFAULT;
		return -1;
	}
	/* a second and more of microseconds are permitted */
	ts.tv_sec = left.tv_sec + left.tv_usec / 1000000;
	ts.tv_nsec = left.tv_usec % 1000000 * 1000;
	if (limit_of(&ts, &limit) < 0)
		return -1;
	ret = select_by_poll(&s, limit, NULL);
	if (limit < 0)
		return ret;
	/* Linux returns what is left of the time */
	limit -= now_ns();
	if (limit < 0)
		limit = 0;
	left.tv_sec = (time_t)(limit / 1000000000);
	left.tv_usec = (suseconds_t)(limit % 1000000000 / 1000);
	(void)strm_copy(tv, &left, sizeof(left));
	return ret;
}

STR_EXPORT int
pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *ts,
	const sigset_t *mask)
{
	struct sets s = {.user = {r, w, e}, .n = n};
	int64_t limit;

	if (!is_special_set(&s))
		return NEXT(pselect)(n, r, w, e, ts, mask);
	return limit_of(ts, &limit) < 0 ? -1 : select_by_poll(&s, limit, mask);
}
