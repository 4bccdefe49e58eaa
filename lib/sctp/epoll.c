/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * epoll(7) on sockets whose call is not answered.
 *
 * Such a socket is registered for the answer, which is a message that can be
 * read, and is on a list.  When the answer is there the registration becomes the
 * one that the program has asked for.  Events for the answer are not passed on:
 * the kernel reports the events of the new registration next.
 *
 * Locks.  `lock', for the list; no call is made that waits.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include "next.h"
#include "sock.h"

struct pending {
	struct pending *next;
	int epfd, fd;
	struct epoll_event ev; /* what the program has asked for */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *list;

static int
any(void)
{
	return __atomic_load_n(&list, __ATOMIC_ACQUIRE) != NULL;
}

/* Take the entry of @fd out of the list; locks: `lock'. */
static void
forget(int epfd, int fd)
{
	struct pending **pp = &list, *p;

	while ((p = *pp) != NULL) {
		if (p->epfd == epfd && p->fd == fd) {
			__atomic_store_n(pp, p->next, __ATOMIC_RELEASE);
			free(p);
		} else {
			pp = &p->next;
		}
	}
}

/* Register @fd for its answer. */
static int
put_off(int epfd, int op, int fd, const struct epoll_event *ev)
{
	struct pending *p = malloc(sizeof(*p));
	struct epoll_event answer = {
		.events = EPOLLIN | (ev->events & (uint32_t)~EPOLLOUT),
		.data = ev->data};
	int ret;

	if (p == NULL) {
		errno = ENOMEM;
		return -1;
	}
	(void)pthread_mutex_lock(&lock);
	ret = NEXT(epoll_ctl)(epfd, op, fd, &answer);
	if (ret == 0) {
		forget(epfd, fd);
		*p = (struct pending){list, epfd, fd, *ev};
		__atomic_store_n(&list, p, __ATOMIC_RELEASE);
		p = NULL;
	}
	(void)pthread_mutex_unlock(&lock);
	free(p);
	return ret;
}

STR_EXPORT int
epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	struct epoll_event copy;
	struct sock s;

	if (op != EPOLL_CTL_DEL && ev != NULL && sk_is_calling(fd, &s) &&
	    sk_progress(&s, 1) == -EAGAIN &&
	    strm_copy(&copy, ev, sizeof(copy)) == 0)
		return put_off(epfd, op, fd, &copy);
	if (any()) {
		(void)pthread_mutex_lock(&lock);
		forget(epfd, fd);
		(void)pthread_mutex_unlock(&lock);
	}
	return NEXT(epoll_ctl)(epfd, op, fd, ev);
}

/* Answers that are there end what was put off.  Return: how many are not. */
static int
settle(int epfd)
{
	struct pending **pp = &list, *p;
	struct sock s;
	int left = 0;

	(void)pthread_mutex_lock(&lock);
	while ((p = *pp) != NULL) {
		if (p->epfd != epfd) {
			pp = &p->next;
			continue;
		}
		if (sk_is_calling(p->fd, &s) && sk_progress(&s, 1) ==
			-EAGAIN) {
			left++;
			pp = &p->next;
			continue;
		}
		(void)NEXT(epoll_ctl)(epfd, EPOLL_CTL_MOD, p->fd, &p->ev);
		__atomic_store_n(pp, p->next, __ATOMIC_RELEASE);
		free(p);
	}
	(void)pthread_mutex_unlock(&lock);
	return left;
}

/* Take the events of answers out of @ev.  Return: how many are left. */
static int
without_answers(int epfd, struct epoll_event *ev, int n)
{
	const struct pending *p;
	struct epoll_event e;
	int i, k = 0;

	(void)pthread_mutex_lock(&lock);
	for (i = 0; i < n; i++) {
		if (strm_copy(&e, &ev[i], sizeof(e)) != 0)
			break;
		for (p = list; p != NULL && (p->epfd != epfd ||
			p->ev.data.u64 != e.data.u64);)
			p = p->next;
		if (p == NULL && strm_copy(&ev[k], &e, sizeof(e)) == 0)
			k++;
	}
	(void)pthread_mutex_unlock(&lock);
	return k;
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
wait_for(int epfd, struct epoll_event *ev, int most, int64_t limit,
	const sigset_t *mask)
{
	int64_t left;
	int n, pending;

	for (;;) {
		pending = settle(epfd);
		left = limit < 0 ? -1 : limit - now_ns();
		if (limit >= 0)
			left = left <= 0 ? 0 : (left + 999999) / 1000000;
		n = NEXT(epoll_pwait)(epfd, ev, most, (int)left, mask);
		if (n <= 0 || pending == 0)
			return n;
		n = without_answers(epfd, ev, n);
		if (n != 0)
			return n;
	}
}

STR_EXPORT int
epoll_pwait(int epfd, struct epoll_event *ev, int most, int ms,
	const sigset_t *mask)
{
	if (!any())
		return NEXT(epoll_pwait)(epfd, ev, most, ms, mask);
	return wait_for(epfd, ev, most,
		ms < 0 ? -1 : now_ns() + ms * (int64_t)1000000, mask);
}

STR_EXPORT int
epoll_wait(int epfd, struct epoll_event *ev, int most, int ms)
{
	if (!any())
		return NEXT(epoll_wait)(epfd, ev, most, ms);
	return epoll_pwait(epfd, ev, most, ms, NULL);
}

int epoll_pwait2(int epfd, struct epoll_event *ev, int most,
	const struct timespec *ts, const sigset_t *mask);
STR_EXPORT int
epoll_pwait2(int epfd, struct epoll_event *ev, int most,
	const struct timespec *ts, const sigset_t *mask)
{
	struct timespec copy;

	if (!any() || (ts != NULL && strm_copy(&copy, ts, sizeof(copy)) != 0))
		return NEXT(epoll_pwait2)(epfd, ev, most, ts, mask);
	return wait_for(epfd, ev, most, ts == NULL ? -1 : now_ns() +
		copy.tv_sec * (int64_t)1000000000 + copy.tv_nsec, mask);
}
