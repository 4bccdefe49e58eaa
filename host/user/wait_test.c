/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Waiting and waking, within a process and between processes.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

#include <t.h>

#include "upcalls_test_double.h"

#define MS 1000000ull
#define LONG (5000 * MS)

static struct str_thread *waiter; /* the thread under test */

static void
setup(void)
{
	struct host_call hc = { .fd = -1 };

	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
}

static bool
sleeps(struct str_thread *th, uint32_t how)
{
	return th != NULL && str_load(&th->state) == how;
}

T_CASE(a_changed_word_does_not_sleep)
{
	struct host_call hc = { .fd = -1 };
	str_a32 *word;

	setup();
	word = up_alloc(64);
	up_enter(&hc);
	str_store(word, 2u);
	T_EQ(host_wait(&hc, word, 1, UINT64_MAX), 0);
	T_EQ(host_wait(NULL, word, 1, UINT64_MAX), 0);
	T_EQ(host_tls.depth, 1);
	host_leave();
}

T_CASE(time_runs_out)
{
	struct host_call hc = { .fd = -1 };
	uint64_t t0;
	str_a32 *word;

	setup();
	word = up_alloc(64);
	up_enter(&hc);
	t0 = t_now_ns();
	T_EQ(host_wait(&hc, word, 0, 20 * MS), ETIMEDOUT);
	T_GE(t_now_ns() - t0, 20 * MS);
	T_EQ(host_wait(NULL, word, 0, MS), ETIMEDOUT);
	T_EQ(host_wait(&hc, word, 0, 0), ETIMEDOUT);
	T_EQ(str_load(&host_self()->state), STR_THR_RUN);
	T_EQ(host_tls.depth, 1);
	T_NULL(host_tls.sleep_word);
	host_leave();
}

T_CASE(another_process_wakes)
{
	struct host_call hc = { .fd = -1 };
	struct str_thread *th;
	str_a32 *word;
	int status;
	pid_t pid;

	setup();
	word = up_alloc(64);
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		str_store(up_word(UP_USER), (uint64_t)(uintptr_t)host_self());
		T_EQ(host_wait(&hc, word, 0, LONG), 0);
		T_EQ(str_load(word), 1);
		host_leave();
		_exit(0);
	}
	T_SOON(str_load(up_word(UP_USER)) != 0, 5000);
	th = (void *)(uintptr_t)str_load(up_word(UP_USER));
	T_SOON(sleeps(th, STR_THR_FUTEX), 5000);
	str_store(word, 1u);
	host_wake(word, 1);
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}

/* ------------------------------------------------------- on the carrier */

struct pair {
	int fd[2];
	struct host_carrier c[2];
};

static void
pair_make(struct pair *p)
{
	T_EQ(host_carrier_pair(O_CLOEXEC, p->fd, p->c), 0);
}

T_CASE(a_token_ends_the_wait_on_the_carrier)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev = 99;
	struct pair p;
	int status;
	pid_t pid;

	setup();
	pair_make(&p);
	pid = T_OK(fork());
	if (pid == 0) {
		hc.fd = p.fd[0];
		up_enter(&hc);
		T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
		T_EQ(ev, 99);
		str_store(up_word(UP_USER), (uint64_t)(uintptr_t)host_self());
		T_EQ(host_wait_carrier(&hc, UINT64_MAX, &ev), 0);
		T_EQ(ev, HOST_C_TOKEN);
		T_EQ(host_tls.depth, 1);
		host_token_drain(hc.fd);
		T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
		host_leave();
		_exit(0);
	}
	T_SOON(str_load(up_word(UP_USER)) != 0, 5000);
	waiter = (void *)(uintptr_t)str_load(up_word(UP_USER));
	T_SOON(sleeps(waiter, STR_THR_CARRIER), 5000);
	T_EQ(host_token_send(p.fd[1]), 0);
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}

T_CASE(the_other_ends_death_is_a_hangup)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev = 0;
	struct pair p;
	pid_t pid;

	setup();
	pair_make(&p);
	pid = T_OK(fork());
	if (pid == 0)
		for (;;)
			pause();
	T_OK(close(p.fd[1])); /* the child has it still */
	hc.fd = p.fd[0];
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	T_OK(kill(pid, SIGKILL));
	T_EQ(host_wait_carrier(&hc, LONG, &ev), 0);
	T_EQ(ev, HOST_C_HUP);
	host_leave();
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(a_token_before_the_hangup_is_still_there)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev = 0;
	struct pair p;

	setup();
	pair_make(&p);
	T_EQ(host_token_send(p.fd[1]), 0);
	T_OK(close(p.fd[1]));
	hc.fd = p.fd[0];
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, LONG, &ev), 0);
	T_EQ(ev, HOST_C_TOKEN | HOST_C_HUP);
	host_leave();
}

T_CASE(what_is_no_socket_is_not_waited_on)
{
	struct host_call hc = { .fd = 0 };
	uint32_t ev = 0;

	setup();
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, UINT64_MAX, &ev), 0);
	T_EQ(ev, HOST_C_NVAL);
	hc.fd = 999;
	T_EQ(host_wait_carrier(&hc, UINT64_MAX, &ev), 0);
	T_EQ(ev, HOST_C_NVAL);
	hc.fd = -2;
	T_EQ(host_wait_carrier(&hc, UINT64_MAX, &ev), 0);
	T_EQ(ev, HOST_C_NVAL);
	host_leave();
}

T_CASE(without_a_carrier_only_the_bell_is_waited_for)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev = 0;
	struct str_thread *me;
	pid_t pid;
	int status;

	setup();
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	T_EQ(ev, 0);
	me = host_self();
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		T_SOON(sleeps(me, STR_THR_CARRIER), 5000);
		host_bell_ring(me);
		host_leave();
		_exit(0);
	}
	T_EQ(host_wait_carrier(&hc, LONG, &ev), 0);
	T_EQ(ev, HOST_C_BELL);
	host_leave();
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}

/* ------------------------------------------------------------- the bell */

T_CASE(a_bell_rings_in_another_process)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev = 0;
	struct pair p;
	int status;
	pid_t pid;

	setup();
	pair_make(&p);
	pid = T_OK(fork());
	if (pid == 0) {
		hc.fd = p.fd[0];
		up_enter(&hc);
		str_store(up_word(UP_USER), (uint64_t)(uintptr_t)host_self());
		T_EQ(host_wait_carrier(&hc, LONG, &ev), 0);
		T_EQ(ev, HOST_C_BELL);
		/* and then it is quiet */
		T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
		host_leave();
		_exit(0);
	}
	T_SOON(str_load(up_word(UP_USER)) != 0, 5000);
	waiter = (void *)(uintptr_t)str_load(up_word(UP_USER));
	T_SOON(sleeps(waiter, STR_THR_CARRIER), 5000);
	up_enter(&hc);
	host_bell_ring(waiter);
	host_leave();
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	/* no waiter any more: no harm */
	up_enter(&hc);
	host_bell_ring(waiter);
	host_leave();
}

struct listener {
	struct pair p;
	struct str_thread *_Atomic th;
};

static void *
listen_once(void *arg)
{
	struct listener *l = arg;
	struct host_call hc = { .fd = l->p.fd[0] };
	uint32_t ev = 0;

	up_enter(&hc);
	host_wait_prepare();
	str_store_rel(&l->th, host_self());
	T_EQ(host_wait_carrier(&hc, 10000 * MS, &ev), 0);
	T_EQ(ev, HOST_C_BELL);
	host_leave();
	return NULL;
}

T_CASE(one_ring_wakes_every_thread_of_the_process)
{
	enum { N = 6 };
	static struct listener l[N];
	struct host_call hc = { .fd = -1 };
	pthread_t id[N];

	setup();
	for (int round = 0; round < 5; round++) {
		memset(l, 0, sizeof l);
		for (int i = 0; i < N; i++) {
			pair_make(&l[i].p);
			T_EQ(pthread_create(&id[i], NULL, listen_once, &l[i]),
				0);
		}
		for (int i = 0; i < N; i++)
			T_SOON(sleeps(str_load_acq(&l[i].th),
				STR_THR_CARRIER), 5000);
		/* counted among the waiters, whether they poll yet or not */
		up_enter(&hc);
		host_bell_ring(l[0].th);
		host_leave();
		for (int i = 0; i < N; i++) {
			T_EQ(pthread_join(id[i], NULL), 0);
			T_OK(close(l[i].p.fd[0]));
			T_OK(close(l[i].p.fd[1]));
		}
	}
}

/* The thread has announced that it will wait, and does not poll yet. */
T_CASE(a_ring_that_another_thread_has_drained_ends_the_wait)
{
	static struct listener l;
	struct host_call hc = { .fd = -1 };
	uint32_t ev = 0;
	pthread_t id;

	setup();
	pair_make(&l.p);
	T_EQ(pthread_create(&id, NULL, listen_once, &l), 0);
	T_SOON(sleeps(str_load_acq(&l.th), STR_THR_CARRIER), 5000);
	up_enter(&hc);
	host_wait_prepare();
	host_bell_ring(l.th);
	T_EQ(pthread_join(id, NULL), 0);
	T_EQ(host_wait_carrier(&hc, LONG, &ev), 0);
	T_EQ(ev, HOST_C_BELL);
	/* and then it is quiet */
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	host_leave();
}

T_CASE(pollers_are_rung_and_their_process_is_known_to_be_gone)
{
	static struct listener l;
	struct host_call hc = { .fd = -1 };
	uint32_t proc;
	pthread_t id;
	int status;
	pid_t pid;

	setup();
	pair_make(&l.p);
	T_EQ(pthread_create(&id, NULL, listen_once, &l), 0);
	T_SOON(sleeps(str_load_acq(&l.th), STR_THR_CARRIER), 5000);
	up_enter(&hc);
	T_TRUE(host_bell_ring_pollers(str_load(&l.th->proc)));
	T_EQ(pthread_join(id, NULL), 0);
	host_leave();
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		host_wait_prepare();
		str_store(up_word(UP_USER), 1ull + str_load(&host_self()->proc));
		for (;;)
			(void)pause();
	}
	T_SOON(str_load(up_word(UP_USER)) != 0, 5000);
	proc = (uint32_t)str_load(up_word(UP_USER)) - 1;
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, &status, 0));
	up_enter(&hc);
	T_FALSE(host_bell_ring_pollers(proc));
	host_leave();
}

T_CASE(a_bell_closed_by_the_program_is_made_anew)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev = 0;
	struct pair p;

	setup();
	pair_make(&p);
	hc.fd = p.fd[0];
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	T_OK(close(host_fd_get(HOST_FD_BELL)));
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	host_bell_ring(host_self());
	T_EQ(host_wait_carrier(&hc, LONG, &ev), 0);
	T_EQ(ev, HOST_C_BELL);
	host_leave();
}

/* --------------------------------------------------------- cancellation */

static str_a32 *cancel_word;
static int cancel_fd = -1;

static void *
wait_to_be_cancelled(void *arg)
{
	struct host_call hc = {
		.fd = cancel_fd, .flags = HOST_CALL_CANCEL
	};
	uint32_t ev;

	up_enter(&hc);
	__atomic_store_n(&waiter, host_self(), __ATOMIC_RELEASE);
	str_store(&host_self()->asleep_on, 4711ull);
	if (arg == NULL) {
		(void)str_add(&cancel_word[1], 1u);
		str_store(&host_self()->counted,
			(uint64_t)(uintptr_t)&cancel_word[1]);
	}
	for (;;) {
		if (arg == NULL)
			(void)host_wait(&hc, cancel_word, 0, UINT64_MAX);
		else
			(void)host_wait_carrier(&hc, UINT64_MAX, &ev);
	}
	return NULL;
}

static void
cancel_case(void *how, uint32_t state)
{
	pthread_t id;
	void *ret;

	T_EQ(pthread_create(&id, NULL, wait_to_be_cancelled, how), 0);
	T_SOON(sleeps(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE), state),
		5000);
	T_EQ(pthread_cancel(id), 0);
	T_EQ(pthread_join(id, &ret), 0);
	T_TRUE(ret == PTHREAD_CANCELED);
	/* its slot was left in order, and given back */
	T_EQ(str_load(&waiter->tag), 0);
	T_EQ(str_load(&waiter->state), STR_THR_RUN);
	T_EQ((int)str_load(&waiter->asleep_on), 0);
	waiter = NULL;
}

T_CASE(a_wait_can_be_cancelled)
{
	struct pair p;

	setup();
	cancel_word = up_alloc(64);
	cancel_case(NULL, STR_THR_FUTEX);
	/* it counts as asleep no longer */
	T_EQ(str_load(&cancel_word[1]), 0u);
	pair_make(&p);
	cancel_fd = p.fd[0];
	cancel_case(&p, STR_THR_CARRIER);
	/* the bell's count of waiters is right again */
	T_EQ(str_load(&host_priv_page->bell_waiters), 0);
}

static void
cancels_itself(int sig)
{
	(void)sig;
	(void)pthread_cancel(pthread_self());
}

static void
cancelled_alone(void *arg)
{
	(void)arg;
	_exit(str_load(&cancel_word[1]) == 0 ? 42 : 43);
}

/* No other thread can do it, so such a wait does without preparations. */
T_CASE(the_only_thread_is_cancelled_by_a_handler)
{
	struct host_call hc = { .fd = -1, .flags = HOST_CALL_CANCEL };
	struct sigaction sa = { .sa_handler = cancels_itself };
	int status;
	pid_t pid;

	setup();
	cancel_word = up_alloc(64);
	pid = T_OK(fork());
	if (pid == 0) {
		if (!__libc_single_threaded)
			_exit(44);
		(void)sigaction(SIGALRM, &sa, NULL);
		up_enter(&hc);
		pthread_cleanup_push(cancelled_alone, NULL);
		(void)ualarm(50000, 0);
		for (;;) {
			str_store(&cancel_word[1], 1u);
			str_store(&host_self()->counted,
				(uint64_t)(uintptr_t)&cancel_word[1]);
			(void)host_wait(&hc, cancel_word, 0, UINT64_MAX);
			hc.sig_seq = host_tls.sig_seq;
		}
		pthread_cleanup_pop(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_TRUE(WIFEXITED(status));
	T_EQ(WEXITSTATUS(status), 42);
}

static void *
wait_uncancelled(void *arg)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	__atomic_store_n(&waiter, host_self(), __ATOMIC_RELEASE);
	while (str_load(cancel_word) == 0)
		(void)host_wait(&hc, cancel_word, 0, 100 * MS);
	host_leave();
	str_store(up_word(UP_USER), 1ull);
	pthread_testcancel();
	return NULL;
}

T_CASE(other_waits_are_no_cancellation_points)
{
	pthread_t id;
	void *ret;

	setup();
	cancel_word = up_alloc(64);
	T_EQ(pthread_create(&id, NULL, wait_uncancelled, NULL), 0);
	T_SOON(sleeps(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE),
		STR_THR_FUTEX), 5000);
	T_EQ(pthread_cancel(id), 0);
	T_EQ((int)str_load(up_word(UP_USER)), 0);
	str_store(cancel_word, 1u);
	host_wake(cancel_word, 1);
	T_EQ(pthread_join(id, &ret), 0);
	T_TRUE(ret == PTHREAD_CANCELED);
	T_EQ((int)str_load(up_word(UP_USER)), 1);
}
