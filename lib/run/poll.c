/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * poll(2), select(2) and epoll(7): the kernel's pipe carries the data of what is
 * waited for.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "run.h"
#include "sys.h"

/* ------------------------------------------------------------------ poll */

static void
polling(int fd)
{
	if (run_on)
		run_settle_fd(fd, true, RUN_POLL);
}

static void
polling_all(const struct pollfd *p, nfds_t n)
{
	if (run_armed != 0 && n <= RUN_NFD && p != NULL)
		for (nfds_t i = 0; i < n; i++)
			polling(p[i].fd);
	else if (run_armed != 0)
		run_settle_all(RUN_POLL);
}

NEXT_SLOT(poll);

STR_EXPORT int
poll(struct pollfd *p, nfds_t n, int ms)
{
	polling_all(p, n);
	return NEXT(poll)(p, n, ms);
}

NEXT_SLOT(ppoll);

STR_EXPORT int
ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts,
	const sigset_t *set)
{
	polling_all(p, n);
	return NEXT(ppoll)(p, n, ts, set);
}

int __poll_chk(struct pollfd *p, nfds_t n, int ms, size_t size);
NEXT_SLOT(__poll_chk);

STR_EXPORT int
__poll_chk(struct pollfd *p, nfds_t n, int ms, size_t size)
{
	polling_all(p, n);
	return NEXT(__poll_chk)(p, n, ms, size);
}

int __ppoll_chk(struct pollfd *p, nfds_t n, const struct timespec *ts,
	const sigset_t *set, size_t size);
NEXT_SLOT(__ppoll_chk);

STR_EXPORT int
__ppoll_chk(struct pollfd *p, nfds_t n, const struct timespec *ts,
	const sigset_t *set, size_t size)
{
	polling_all(p, n);
	return NEXT(__ppoll_chk)(p, n, ts, set, size);
}

static void
polling_set(int n, const fd_set *r, const fd_set *w, const fd_set *x)
{
	const fd_set *set[3] = {r, w, x};

	for (int i = 0; i < 3 && run_armed != 0; i++)
		for (int fd = 0; set[i] != NULL && fd < n && fd < FD_SETSIZE;
				fd++)
			if (FD_ISSET(fd, set[i]))
				polling(fd);
}

NEXT_SLOT(select);

STR_EXPORT int
select(int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *tv)
{
	polling_set(n, r, w, x);
	return NEXT(select)(n, r, w, x, tv);
}

NEXT_SLOT(pselect);

STR_EXPORT int
pselect(int n, fd_set *r, fd_set *w, fd_set *x, const struct timespec *ts,
	const sigset_t *mask)
{
	polling_set(n, r, w, x);
	return NEXT(pselect)(n, r, w, x, ts, mask);
}

NEXT_SLOT(epoll_ctl);

STR_EXPORT int
epoll_ctl(int ep, int op, int fd, struct epoll_event *ev)
{
	if (op != EPOLL_CTL_DEL)
		polling(fd);
	if (fd >= 0 && fd < RUN_NFD)
		run_watched[fd] = op != EPOLL_CTL_DEL;
	return NEXT(epoll_ctl)(ep, op, fd, ev);
}

/* ------------------------------------------- other names for the same calls */

int __poll(struct pollfd *p, nfds_t n, int ms);
int __select(int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *tv);

STR_EXPORT int
__poll(struct pollfd *p, nfds_t n, int ms)
{
	return poll(p, n, ms);
}

STR_EXPORT int
__select(int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *tv)
{
	return select(n, r, w, x, tv);
}
