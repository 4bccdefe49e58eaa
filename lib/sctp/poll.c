/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * poll(2) and select(2) on sockets whose call is not answered, or has failed.
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

#define FAILED_EVENTS (POLLIN | POLLOUT | POLLERR | POLLHUP)

/* sk_is_calling - is it a socket whose call is not answered? */
int
sk_is_calling(int fd, struct sock *s)
{
	return fd >= 0 && sk_find(s, fd) && (SK(s) & SK_CALLING) != 0;
}

static int
has_failed(int fd)
{
	struct sock s;

	return fd >= 0 && sk_find(&s, fd) && (SK(&s) & SK_FAILED) != 0;
}

/* Is there a socket among them that needs this file?  (Not const: <poll.h> says
 * that poll() only writes to them.) */
static int
is_special(struct pollfd *fds, nfds_t n)
{
	struct sock s;
	nfds_t i;

	for (i = 0; i < n; i++)
		if (fds[i].fd >= 0 && sk_find(&s, fds[i].fd) &&
		    (SK(&s) & (SK_CALLING | SK_FAILED)) != 0)
			return 1;
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
		else if (has_failed(fds[i].fd))
			fds[i].revents = (short)(FAILED_EVENTS &
				(fds[i].events | POLLERR | POLLHUP));
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

/* @limit: when the wait ends; -1: never */
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

STR_EXPORT int
poll(struct pollfd *fds, nfds_t n, int ms)
{
	if (!is_special(fds, n))
		return NEXT(poll)(fds, n, ms);
	return wait_for(fds, n, ms < 0 ? -1 : now_ns() + ms * (int64_t)1000000,
		NULL);
}

STR_EXPORT int
ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts,
	const sigset_t *mask)
{
	if (!is_special(fds, n))
		return NEXT(ppoll)(fds, n, ts, mask);
	return wait_for(fds, n, ts == NULL ? -1 : now_ns() +
		ts->tv_sec * (int64_t)1000000000 + ts->tv_nsec, mask);
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

static int
in(int fd, const fd_set *set)
{
	return set != NULL && FD_ISSET(fd, set);
}

/* Is a descriptor of the sets a socket that needs this file? */
static int
is_special_set(int n, const fd_set *r, const fd_set *w)
{
	struct sock s;
	int fd;

	if (n > FD_SETSIZE)
		return 0;
	for (fd = 0; fd < n; fd++)
		if ((in(fd, r) || in(fd, w)) && sk_find(&s, fd) &&
		    (SK(&s) & (SK_CALLING | SK_FAILED)) != 0)
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
select_by_poll(int n, fd_set *r, fd_set *w, fd_set *e, int64_t limit,
	const sigset_t *mask)
{
	struct pollfd fds[FD_SETSIZE];
	int fd, k = 0, i, count = 0;

	for (fd = 0; fd < n; fd++) {
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
	return count;
}

STR_EXPORT int
select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *tv)
{
	int64_t limit;
	int ret;

	if (!is_special_set(n, r, w))
		return NEXT(select)(n, r, w, e, tv);
	if (tv == NULL)
		return select_by_poll(n, r, w, e, -1, NULL);
	limit = now_ns() + tv->tv_sec * (int64_t)1000000000 +
		tv->tv_usec * (int64_t)1000;
	ret = select_by_poll(n, r, w, e, limit, NULL);
	/* Linux returns what is left of the time */
	limit -= now_ns();
	if (limit < 0)
		limit = 0;
	tv->tv_sec = (time_t)(limit / 1000000000);
	tv->tv_usec = (suseconds_t)(limit % 1000000000 / 1000);
	return ret;
}

STR_EXPORT int
pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *ts,
	const sigset_t *mask)
{
	if (!is_special_set(n, r, w))
		return NEXT(pselect)(n, r, w, e, ts, mask);
	return select_by_poll(n, r, w, e, ts == NULL ? -1 : now_ns() +
		ts->tv_sec * (int64_t)1000000000 + ts->tv_nsec, mask);
}
