/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleeping for several things at once: poll, select, epoll.
 *
 * The host's wait on one carrier (host/user/wait.c), extended to many: the same
 * order of steps, and the same guarantee that no handler and no wake is missed.
 * A thread publishes that it sleeps (`asleep_on' is ~0: on many) before it arms
 * any Stream; a waker that holds the other end sends a token, any other rings
 * the bell.  All signals are blocked from the last check of `sig_seq' to
 * ppoll(), which sets the mask and sleeps in one step.  The end of streamsd
 * counts as a ring, after it has been replaced; so do events of sockets, after
 * they have been handled.
 *
 * A handler may leave by siglongjmp(): before, the trampoline has undone what
 * is published here, by host_wait_abandon().
 */
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "sleep.h"
#include "sock.h"
#include "user_impl.h"

void
sleep_begin(void)
{
	struct str_thread *t = host_self();

	str_sock_flush(NULL);
	/* the bell must have an address before a thread wants to ring it */
	host_wait_prepare();
	(void)host_bell_open();
	str_store(&t->asleep_on, ~0ull);
	str_store_rel(&t->state, (uint32_t)STR_THR_CARRIER);
	str_fence_full(); /* the bell rings for work that comes later */
	host_serve();
}

void
sleep_end(void)
{
	struct str_thread *t = host_self();

	str_store(&t->asleep_on, 0ull);
	str_store(&t->state, (uint32_t)STR_THR_RUN);
}

struct nap {
	struct sleep_set *set;
	struct timespec *ts;
	uint64_t mask; /* the thread's own */
	const void *pollmask;
	long ret;
};

static void
nap_poll(struct nap *p)
{
	p->ret = sys_call5(SYS_ppoll, p->set->pfd, p->set->n + SLEEP_ROOM, p->ts,
		p->pollmask, SYS_SIGSET);
}

static void
nap_cancelled(void *arg)
{
	struct nap *p = arg;

	host_wait_abandon();
	host_tls.depth = 0;
	sys_sigmask(SIG_SETMASK, &p->mask, NULL);
}

static void
nap_cancellable(struct nap *p)
{
	int type;

	pthread_cleanup_push(nap_cancelled, p);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	nap_poll(p);
	pthread_setcanceltype(type, NULL);
	pthread_cleanup_pop(0);
}

static struct timespec *
until(uint64_t deadline, struct timespec *ts)
{
	uint64_t now, ns;

	if (deadline == UINT64_MAX)
		return NULL;
	now = deadline == 0 ? 0 : host_now();
	ns = deadline > now ? deadline - now : 0;
	ts->tv_sec = (time_t)(ns / 1000000000u);
	ts->tv_nsec = (long)(ns % 1000000000u);
	return ts;
}

/* Back into the call; in a child that a handler forked, as another process. */
static void
nap_over(uint32_t depth, uint32_t left)
{
	if (str_unlikely(host_tls.slot == NULL || !host_known())) {
		struct host_call hc = {.fd = -1};

		if (left != host_left)
			host_panic("a handler changed the user in the middle "
				   "of a call",
				__FILE__, __LINE__);
		if (host_enter_slow(&hc) != 0)
			host_panic("a forked child found no slot in the "
				   "middle of a call",
				__FILE__, __LINE__);
	}
	str_barrier();
	host_tls.depth = depth;
	str_barrier();
}

/*
 * Has a signal been deferred that this sleep does not block?  The handler of a
 * blocked one runs after the call, and does not end it.
 */
static bool
signal_due(const struct sleep_set *s)
{
	uint64_t blocked = 0;

	if (host_tls.sig_saved == 0)
		return false;
	if (s->mask != NULL)
		memcpy(&blocked, s->mask, sizeof blocked);
	return host_tpriv == NULL || (host_tpriv->saved & ~blocked) != 0;
}

int
sleep_poll(struct host_call *hc, struct sleep_set *s, bool *ret_rung)
{
	struct timespec ts;
	struct nap p = {.set = s};
	struct pollfd *bell = &s->pfd[s->n], *daemon = bell + 1;
	struct pollfd *news = bell + 2;
	uint32_t depth = host_tls.depth, left = host_left;
	uint64_t again;

	*ret_rung = false;
	*bell = (struct pollfd){host_bell_open(), POLLIN, 0};
	*daemon = (struct pollfd){host_daemon_watch(&again), POLLIN, 0};
	*news = (struct pollfd){host_sock_news_fd(), POLLIN, 0};
	if (!host_bell_enter()) {
		host_yield();
		*ret_rung = true;
		return 0;
	}
	host_sig_block(&p.mask);
	host_bell_waiting = 1;
	host_tls.depth = 0;
	str_barrier();
	if (signal_due(s)) {
		/* they run here, and find a wait to abandon */
		sys_sigmask(SIG_SETMASK, &p.mask, NULL);
		host_leave_slow();
		host_sig_block(&p.mask);
	}
	p.pollmask = s->mask != NULL ? (const void *)s->mask : &p.mask;
	p.ts = until(STR_MIN(s->deadline, again), &ts);
	p.ret = -EINTR;
	if (host_tls.sig_seq == hc->sig_seq) {
		if (hc->flags & HOST_CALL_CANCEL)
			nap_cancellable(&p);
		else
			nap_poll(&p);
	}
	*ret_rung = p.ret > 0 && bell->fd >= 0 && bell->revents != 0;
	if (host_bell_waiting) {
		host_bell_waiting = 0;
		host_bell_leave(*ret_rung);
	}
	nap_over(depth, left);
	sys_sigmask(SIG_SETMASK, &p.mask, NULL);
	if (p.ret > 0 && daemon->fd >= 0 && daemon->revents != 0) {
		host_daemon_ended();
		p.ret -= *ret_rung ? 1 : 0;
		*ret_rung = true;
	}
	if (p.ret > 0 && news->fd >= 0 && news->revents != 0) {
		(void)str_sock_gather();
		p.ret -= *ret_rung ? 1 : 0;
		*ret_rung = true;
	}
	if (host_tls.sig_seq != hc->sig_seq)
		return -EINTR;
	if (p.ret == 0 && again < s->deadline) {
		*ret_rung = true; /* too early */
		return 0;
	}
	return (int)p.ret - (*ret_rung ? 1 : 0);
}
