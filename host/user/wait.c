/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Waiting.
 *
 * Signals.  Inside a call handlers are deferred; a wait is outside: `depth' is
 * 0 while the thread sleeps.  A handler that runs between the check of
 * `sig_seq' and the sleep in the kernel must still end the wait:
 *
 *   host_wait, host_wait_notice
 *                      publish `sleep_word' before the check; the trampoline
 *                      adds 1 to that word, so the futex call finds it changed.
 *   host_wait_carrier, host_wait_sock
 *                      publish `sleep_time': the trampoline sets it to zero, so
 *                      that ppoll() does not sleep.  If ppoll() has to sleep
 *                      with another mask, it sets that itself, and the check
 *                      before is with all signals blocked.
 *
 * A handler may leave by siglongjmp().  Therefore the trampoline undoes
 * everything that the wait has published, by host_wait_abandon(), before it
 * calls the handler: the wait ends in any case.
 *
 * Cancellation.  If the caller requests it, asynchronous cancellation is on
 * during the system call, and a cleanup handler does the same.
 *
 * Fork.  A handler may fork.  The child also returns from the wait, in the
 * middle of a call, without slots; it gets its own before it continues.
 */
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "sock.h"
#include "user_impl.h"

#define WORK_NS 1000000u /* longer periods were not all work */
#define SOCKLESS_NS 50000000u /* until the next try to get the socket */

#ifndef FUTEX_32
#define FUTEX_32 2
#endif

static long
futex(str_a32 *word, int op, uint32_t val, const struct timespec *ts)
{
	return sys_call6(SYS_futex, word, op, val, ts, NULL, 0);
}

/* -------------------------------------------------------------- sleeping */

/* The time that ppoll() is about to sleep. */
static STR_TLS struct timespec *volatile sleep_time;
static STR_TLS uint64_t nap_over; /* end of the last one, host_ticks() */

/* In the trampoline, before a handler; or when cancelled. */
void
host_wait_abandon(void)
{
	struct str_thread *t = host_tls.slot;
	str_a32 *word = host_tls.sleep_word;

	if (word != NULL) {
		host_tls.sleep_word = NULL;
		(void)str_add(word, 1u);
	}
	if (sleep_time != NULL) {
		*sleep_time = (struct timespec){ 0, 0 };
		sleep_time = NULL;
	}
	if (host_bell_waiting) {
		host_bell_waiting = 0;
		host_bell_leave(false);
	}
	if (t != NULL && host_known() &&
	    str_load(&t->state) != STR_THR_RUN) {
		str_store(&t->state, (uint32_t)STR_THR_RUN);
		str_store(&t->asleep_on, 0ull);
		str_thread_uncount(t);
	}
}

/* What a thread restores after a sleep. */
struct outside {
	struct host_call *call;
	uint32_t depth;
	uint32_t left;	 /* host_left */
	uint64_t inside; /* a handler's own calls overwrite it */
};

struct sleeper {
	struct host_call *hc;
	struct outside out;
	uint64_t mask;	    /* the thread's own, wait_carrier */
	const uint64_t *pollmask;
	struct pollfd pfd[4];
	bool open;	    /* wait_sock: the mask is unchanged */
	unsigned npfd;
	str_a32 *word;
	uint32_t val;
	struct host_waitv waitv[2];
	struct timespec *ts;
	long ret;
};

static void
sleep_futex(struct sleeper *s)
{
	s->ret = futex(s->word, FUTEX_WAIT, s->val, s->ts);
}

static STR_WAKE_TEXT void
sleep_waitv(struct sleeper *s)
{
	s->ret = host_waitv(s->waitv, STR_ARRAY_LEN(s->waitv), s->ts);
}

static void
sleep_poll(struct sleeper *s)
{
	s->ret = sys_call5(SYS_ppoll, s->pfd, s->npfd, s->ts, s->pollmask,
		SYS_SIGSET);
}

static void
sleep_cancelled(void *arg)
{
	struct sleeper *s = arg;

	host_wait_abandon();
	host_tls.depth = 0;
	if (s->word == NULL && !s->open)
		sys_sigmask(SIG_SETMASK, &s->mask, NULL);
}

/* Has no handler run since the call began?  Then the thread may sleep. */
static bool
is_undisturbed(const struct sleeper *s)
{
	return str_likely(host_tls.sig_seq == s->hc->sig_seq);
}

/* As sleep_call(), where another thread may cancel this one. */
static STR_NOINLINE void
sleep_cancellable(struct sleeper *s, void (*fn)(struct sleeper *))
{
	int type;

	pthread_cleanup_push(sleep_cancelled, s);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	if (is_undisturbed(s))
		fn(s);
	pthread_setcanceltype(type, NULL);
	pthread_cleanup_pop(0);
}

/* A handler has run, and may have cancelled its own thread. */
static STR_COLD void
sleep_testcancel(struct sleeper *s)
{
	pthread_cleanup_push(sleep_cancelled, s);
	pthread_testcancel();
	pthread_cleanup_pop(0);
}

/*
 * Call @fn, if no handler has run, with cancellation as the caller requests.
 * Only a handler can cancel the one thread of a process, and a handler ends the
 * sleep.  Asynchronous cancellation would be a tenth of a short sleep.
 */
static STR_WAKE_TEXT void
sleep_call(struct sleeper *s, void (*fn)(struct sleeper *))
{
	bool cancel = (s->hc->flags & HOST_CALL_CANCEL) != 0;

	if (cancel && !__libc_single_threaded) {
		sleep_cancellable(s, fn);
		return;
	}
	if (is_undisturbed(s))
		fn(s);
	if (cancel && (s->ret == -EINTR || !is_undisturbed(s)))
		sleep_testcancel(s);
}

/* Leave the call: handlers may run, and make calls. */
STR_INLINE void
sleep_begin(struct outside *o, uint32_t state)
{
	struct str_thread *t = host_tls.slot;

	o->call = host_tls.call;
	o->depth = host_tls.depth;
	o->left = host_left;
	o->inside = str_load(&t->inside);
	str_store(&t->state, state);
	host_tls.call = NULL;
	str_barrier();
	host_tls.depth = 0;
	str_barrier();
}

/* A handler has forked, and this is the child: it needs a slot of its own. */
static STR_COLD void
sleep_reenter(const struct outside *o)
{
	struct host_call hc = { .fd = -1 };

	if (o->left != host_left)
		host_panic("a handler changed the user in the middle of a call",
			__FILE__, __LINE__);
	if (host_enter_slow(&hc) != 0)
		host_panic("a forked child found no slot in the middle of a "
			"call", __FILE__, __LINE__);
	host_tls.depth = o->depth;
	str_barrier();
}

/* After a sleep: back into the call, in a forked child as another process. */
STR_INLINE void
sleep_over(const struct outside *o)
{
	/* from here on no handler runs, because it might fork, or not return */
	str_barrier();
	host_tls.depth = o->depth;
	str_barrier();
	if (str_unlikely(host_tls.slot == NULL || !host_known()))
		sleep_reenter(o);
	host_tls.call = o->call;
	str_store_rel(&host_tls.slot->inside, o->inside);
	str_store(&host_tls.slot->state, (uint32_t)STR_THR_RUN);
}

static struct timespec *
ns_to_ts(uint64_t ns, struct timespec *ts)
{
	if (ns == UINT64_MAX)
		return NULL;
	ts->tv_sec = (time_t)(ns / 1000000000u);
	ts->tv_nsec = (long)(ns % 1000000000u);
	return ts;
}

int
host_wait(struct host_call *hc, str_a32 *word, uint32_t val, uint64_t ns)
{
	struct timespec ts;
	struct sleeper s = { .hc = hc, .word = word, .val = val };

	s.ts = ns_to_ts(ns, &ts);
	if (hc == NULL) {
		/* handlers stay deferred; the sleep is short */
		s.ret = futex(word, FUTEX_WAIT, val, s.ts);
		return s.ret == -ETIMEDOUT ? ETIMEDOUT : 0;
	}
	host_sock_pass_owed();
	host_tls.sleep_word = word;
	sleep_begin(&s.out, STR_THR_FUTEX);
	if (host_tls.sig_saved != 0)
		host_leave_slow();
	sleep_call(&s, sleep_futex);
	host_tls.sleep_word = NULL;
	sleep_over(&s.out);
	if (host_tls.sig_seq != hc->sig_seq)
		return EINTR;
	return s.ret == -ETIMEDOUT ? ETIMEDOUT : 0;
}

/* Another thread may cancel this one. */
static STR_NOINLINE long
sleep_waitv_cancellable(struct host_call *hc, str_a32 *word,
	const struct host_waitv *v, struct timespec *ts)
{
	struct sleeper s = { .hc = hc, .word = word, .ts = ts,
		.waitv = { v[0], v[1] } };

	sleep_cancellable(&s, sleep_waitv);
	return s.ret;
}

static STR_COLD void
waitv_testcancel(struct host_call *hc, str_a32 *word)
{
	struct sleeper s = { .hc = hc, .word = word };

	sleep_testcancel(&s);
}

/*
 * Speed.  A thread that wakes after a millisecond finds cold caches, so this
 * function calls no other one between the system call and its end, and uses
 * little of the stack.
 */
STR_WAKE_TEXT int
host_wait_notice(struct host_call *hc, str_a32 *word, uint32_t val,
	const struct host_notice *n, uint64_t ns)
{
	struct str_proc *p = &host_domain->proc[host_priv_page->proc];
	const struct host_waitv v[2] = {
		{ val, (uintptr_t)word, FUTEX_32, 0 },
		{ n->life, (uintptr_t)&p->life, FUTEX_32, 0 }
	};
	struct outside out;
	struct timespec ts, *until = NULL;
	bool cancel = (hc->flags & HOST_CALL_CANCEL) != 0;
	long ret = 0; /* if it does not sleep */

	if (str_unlikely(ns != UINT64_MAX))
		until = ns_to_ts(host_now() + ns, &ts);
	host_notice_want();
	host_sock_pass_owed();
	host_tls.sleep_word = word;
	sleep_begin(&out, STR_THR_FUTEX);
	if (str_unlikely(host_tls.sig_saved != 0))
		host_leave_slow();
	if (str_unlikely(cancel && !__libc_single_threaded))
		ret = sleep_waitv_cancellable(hc, word, v, until);
	else if (str_likely(host_tls.sig_seq == hc->sig_seq))
		ret = sys_call5(SYS_futex_waitv, v, STR_ARRAY_LEN(v), 0, until,
			CLOCK_MONOTONIC);
	/* as in sleep_call(): a handler may have cancelled its own thread */
	if (str_unlikely(ret == -EINTR || host_tls.sig_seq != hc->sig_seq) &&
	    cancel)
		waitv_testcancel(hc, word);
	host_tls.sleep_word = NULL;
	sleep_over(&out);
	/* a sandbox that was set up after the attach */
	if (str_unlikely(ret < 0 && ret != -EAGAIN && ret != -EINTR &&
		    ret != -ETIMEDOUT))
		host_waitv_forget();
	/* a child that a handler has forked has another slot, and was not woken */
	if (str_unlikely(p != &host_domain->proc[host_priv_page->proc]))
		return EINTR;
	if (str_unlikely(str_load(&p->life) != n->life ||
		    str_load(&p->look) != n->look) &&
	    host_notice_over(n))
		return host_tls.sig_seq != hc->sig_seq ? EINTR : EAGAIN;
	if (str_unlikely(host_tls.sig_seq != hc->sig_seq))
		return EINTR;
	return ret == -ETIMEDOUT ? ETIMEDOUT : 0;
}

STR_WAKE_TEXT int
host_wake(str_a32 *word, int n)
{
	return (int)futex(word, FUTEX_WAKE, (uint32_t)n, NULL);
}

static bool
is_socket(int fd)
{
	uint64_t cookie;
	socklen_t len = sizeof cookie;

	return sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie,
		&len) == 0;
}

/* Can a thread sleep for @hc on its descriptor? */
static bool
is_carrier(const struct host_call *hc)
{
	struct stat st;

	if ((hc->flags & HOST_CALL_PLAIN) == 0)
		return is_socket(hc->fd);
	return sys_call2(SYS_fstat, hc->fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static uint32_t
carrier_events(int fd, short revents)
{
	uint32_t ev = 0;

	if (revents & POLLNVAL)
		return HOST_C_NVAL;
	if (revents & (POLLHUP | POLLRDHUP | POLLERR))
		ev |= HOST_C_HUP;
	/* at end of file a socket is readable too */
	if (revents & POLLOUT)
		ev |= HOST_C_OUT;
	if ((revents & POLLIN) &&
	    ((ev & HOST_C_HUP) == 0 || host_outside_waiting(fd) != 0))
		ev |= HOST_C_TOKEN;
	return ev;
}

/*
 * A sandbox that was set up after the attach.  A descriptor that cannot be
 * polled counts as no carrier: otherwise a thread would wait for ever.
 */
static bool
is_forbidden(long ret)
{
	return ret == -EPERM || ret == -ENOSYS || ret == -EACCES;
}

uint32_t
host_carrier_look(int fd)
{
	struct pollfd pfd = { fd, POLLIN | POLLRDHUP, 0 };
	struct timespec ts = { 0, 0 };
	char token;
	long r;

	/* in most cases one call answers all: a connected socket, nothing in
	 * it, and the other end is open */
	r = sys_call6(SYS_recvfrom, fd, &token, 1, MSG_PEEK | MSG_DONTWAIT,
		NULL, NULL);
	if (r == -EAGAIN)
		return 0;
	r = sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET);
	if (r < 0)
		return is_forbidden(r) ? HOST_C_NVAL : 0;
	if (fd < 0 || !is_socket(fd))
		return HOST_C_NVAL;
	return carrier_events(fd, pfd.revents);
}

int
host_wait_carrier(struct host_call *hc, uint64_t ns, uint32_t *ret_events)
{
	struct timespec ts = { INT32_MAX, 0 };
	struct sleeper s = { .hc = hc, .ts = &ts,
		.open = hc->mask == NULL, .pollmask = hc->mask };
	uint32_t ev = 0;
	uint64_t again, now;
	bool rung, early = false;
	int daemon;

	/* no descriptor: only for the bell */
	if (hc->fd < -1 || (hc->fd >= 0 && !is_carrier(hc))) {
		*ret_events = HOST_C_NVAL;
		return 0;
	}
	daemon = host_daemon_watch(&again);
	if (again != UINT64_MAX) {
		now = host_now();
		again = again > now ? again - now : 0;
		early = again < ns;
		ns = STR_MIN(ns, again);
	}
	if (ns != UINT64_MAX)
		(void)ns_to_ts(ns, &ts);
	s.pfd[2] = (struct pollfd){ daemon, POLLIN, 0 };
	s.npfd = daemon >= 0 ? 3 : 2;
	s.pfd[0] = (struct pollfd){ hc->fd,
		(hc->flags & HOST_CALL_ROOM ? POLLOUT : POLLIN) | POLLRDHUP, 0 };
	s.pfd[1] = (struct pollfd){ host_bell_open(), POLLIN, 0 };
	if (!host_bell_enter()) {
		/* it rings, and some threads have not noticed it */
		host_yield();
		*ret_events = HOST_C_BELL;
		return 0;
	}
	host_bell_waiting = 1;
	if (s.open)
		sleep_time = &ts;
	else
		host_sig_block(&s.mask);
	sleep_begin(&s.out, STR_THR_CARRIER);
	if (host_tls.sig_saved != 0) {
		/* they run here, and can abandon the wait */
		if (!s.open)
			sys_sigmask(SIG_SETMASK, &s.mask, NULL);
		host_leave_slow();
		if (!s.open)
			host_sig_block(&s.mask);
	}
	sleep_call(&s, sleep_poll);
	sleep_over(&s.out);
	sleep_time = NULL;
	rung = s.ret > 0 && s.pfd[1].fd >= 0 && (s.pfd[1].revents & POLLIN);
	if (host_bell_waiting) {
		host_bell_waiting = 0;
		host_bell_leave(rung);
	}
	if (!s.open)
		sys_sigmask(SIG_SETMASK, &s.mask, NULL);
	if (s.ret > 0 && daemon >= 0 && s.pfd[2].revents != 0)
		host_daemon_ended();
	if (host_tls.sig_seq != hc->sig_seq)
		return EINTR;
	if (s.ret == 0 && !early)
		return ETIMEDOUT;
	if (s.ret > 0)
		ev = carrier_events(hc->fd, s.pfd[0].revents);
	else if (is_forbidden(s.ret))
		ev = HOST_C_NVAL;
	*ret_events = ev | (rung ? HOST_C_BELL : 0);
	return 0;
}

static uint32_t
sock_events(short revents)
{
	uint32_t ev = 0;

	if (revents & (POLLIN | POLLPRI | POLLRDHUP | POLLHUP | POLLERR))
		ev |= HOST_C_IN;
	if (revents & (POLLOUT | POLLHUP | POLLERR))
		ev |= HOST_C_OUT;
	if (revents & (POLLPRI | POLLRDHUP | POLLHUP | POLLERR))
		ev |= HOST_C_END;
	return ev;
}

/* The pollfd for @id.  False: there is none. */
static bool
sock_pollfd(uint64_t id, uint32_t want, struct pollfd *pfd)
{
	*pfd = (struct pollfd){ -1, 0, 0 };
	if ((want & (HOST_C_IN | HOST_C_OUT)) == 0) {
		if (host_sock_watch(id, HOST_C_IN | HOST_C_OUT) != 0)
			return false;
		*pfd = (struct pollfd){ host_sock_news_fd(), POLLIN, 0 };
		return pfd->fd >= 0;
	}
	pfd->fd = host_sock_fd(id);
	if (want & HOST_C_IN)
		pfd->events |= POLLIN | POLLPRI | POLLRDHUP;
	if (want & HOST_C_OUT)
		pfd->events |= POLLOUT;
	return pfd->fd >= 0;
}

uint32_t
host_sock_look(uint64_t id, uint32_t want)
{
	struct timespec ts = { 0, 0 };
	struct pollfd pfd;

	if (!sock_pollfd(id, want, &pfd) ||
	    sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET) <= 0)
		return 0;
	return sock_events(pfd.revents);
}

/*
 * Length of a nap: at least as long as the thread has worked since the last
 * one.  A receiver that has used more CPU time than the sender does not run
 * when it wakes, but at the end of the sender's time slice, and by then many
 * datagrams are lost.
 */
static uint64_t
nap_time(void)
{
	uint64_t work = host_ticks() - nap_over;

	if (work > WORK_NS * host_ticks_per_ms / 1000000)
		return HOST_NAP_NS;
	work = work * 1000000 / host_ticks_per_ms;
	return STR_MAX(work, (uint64_t)HOST_NAP_NS);
}

static void
sock_spin(void)
{
	uint64_t start = host_ticks(), most = host_ticks_per_ms;

	most = most * HOST_SPIN_NS / 1000000;
	while (host_ticks() - start < most)
		str_cpu_relax();
}

/*
 * One system call.  The mask is not changed: a handler that runs before the
 * kernel has read the timeout sets it to zero.
 */
int
host_wait_sock(struct host_call *hc, uint64_t id, uint32_t want, uint64_t ns,
	uint32_t *ret_events)
{
	struct timespec ts = { INT32_MAX, 0 };
	struct sleeper s = { .hc = hc, .npfd = 4, .open = true };
	uint64_t again = UINT64_MAX, now;
	uint32_t ev = 0;
	bool rung, early = false, alone = (want & HOST_C_ALONE) != 0;
	bool nap = (want & HOST_C_NAP) != 0 && ns > HOST_NAP_NS;
	int daemon = -1, bell = -1;

	if ((want & HOST_C_SPIN) != 0 && ns > HOST_SPIN_NS) {
		sock_spin();
		*ret_events = HOST_C_IN;
		return 0;
	}
	if (nap) {
		s.pfd[3] = (struct pollfd){ -1, 0, 0 };
		early = true;
		ns = STR_MIN(ns, nap_time());
	} else if (!sock_pollfd(id, want, &s.pfd[3])) {
		early = SOCKLESS_NS < ns;
		ns = STR_MIN(ns, SOCKLESS_NS);
	}
	if (!alone)
		daemon = host_daemon_watch(&again);
	if (again != UINT64_MAX) {
		now = host_now();
		again = again > now ? again - now : 0;
		early = early || again < ns;
		ns = STR_MIN(ns, again);
	}
	if (ns != UINT64_MAX)
		(void)ns_to_ts(ns, &ts);
	if (!alone)
		bell = host_fd_get(HOST_FD_BELL);
	if (!alone && (bell < 0 ||
		str_load_acq(&host_priv_page->bell_up) == 0))
		bell = host_bell_open();
	s.pfd[0] = (struct pollfd){ alone ? -1 : hc->fd, POLLIN, 0 };
	s.pfd[1] = (struct pollfd){ bell, POLLIN, 0 };
	s.pfd[2] = (struct pollfd){ daemon, POLLIN, 0 };
	if (!alone && !host_bell_enter()) {
		/* it rings, and some threads have not noticed it */
		host_yield();
		*ret_events = HOST_C_BELL;
		return 0;
	}
	s.ts = &ts;
	sleep_time = &ts;
	host_bell_waiting = !alone;
	sleep_begin(&s.out, STR_THR_CARRIER);
	if (host_tls.sig_saved != 0)
		host_leave_slow();
	sleep_call(&s, sleep_poll);
	sleep_over(&s.out);
	sleep_time = NULL;
	rung = s.ret > 0 && (s.pfd[1].revents & POLLIN);
	if (host_bell_waiting) {
		host_bell_waiting = 0;
		host_bell_leave(rung);
	}
	if (s.ret > 0 && daemon >= 0 && s.pfd[2].revents != 0)
		host_daemon_ended();
	if (host_tls.sig_seq != hc->sig_seq)
		return EINTR;
	if (s.ret == 0 && !early)
		return ETIMEDOUT;
	if (s.ret == 0 && nap) {
		nap_over = host_ticks();
		ev = HOST_C_IN;
	}
	if (s.ret > 0) {
		if (s.pfd[0].revents & POLLNVAL)
			ev |= HOST_C_NVAL;
		else if (s.pfd[0].revents != 0)
			ev |= HOST_C_TOKEN;
		if ((want & (HOST_C_IN | HOST_C_OUT)) == 0)
			ev |= s.pfd[3].revents != 0 ? HOST_C_MORE : 0;
		else
			ev |= sock_events(s.pfd[3].revents);
	}
	*ret_events = ev | (rung ? HOST_C_BELL : 0);
	return 0;
}

STR_WAKE_TEXT int
host_interrupted(struct host_call *hc)
{
	if (hc->sig_seq == host_tls.sig_seq)
		return HOST_SIG_NONE;
	/* sig_norestart is the number of the last one without SA_RESTART */
	if ((int32_t)(host_tls.sig_norestart - hc->sig_seq) > 0)
		return HOST_SIG_INTR;
	return HOST_SIG_RESTART;
}

void
host_resample(struct host_call *hc)
{
	hc->sig_seq = host_tls.sig_seq;
}
