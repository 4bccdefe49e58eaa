/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Threads that use endpoints at the same time.
 */
#include "xt.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void *
errs(void *arg)
{
	int want = (int)(intptr_t)arg;

	for (int i = 0; i < 2000; i++) {
		if (want == TBADF)
			(void)t_getstate(-1);
		else
			(void)t_free(NULL, 99);
		if (t_errno != want)
			T_FAIL("t_errno is %d", t_errno);
	}
	return NULL;
}

XT_CASE(ANY, each_thread_has_its_own_error)
{
	pthread_t a, b;

	T_EQ(pthread_create(&a, NULL, errs, (void *)TBADF), 0);
	T_EQ(pthread_create(&b, NULL, errs, (void *)TNOSTRUCTYPE), 0);
	T_EQ(pthread_join(a, NULL), 0);
	T_EQ(pthread_join(b, NULL), 0);
}

static void *
open_and_close(void *arg)
{
	(void)arg;
	for (int i = 0; i < 30; i++)
		T_TOK(t_close(xt_bound(0, 0)));
	return NULL;
}

XT_CASE(ANY, threads_open_and_close_at_once)
{
	pthread_t th[4];

	T_TOK(t_close(xt_bound(0, 0)));
	T_CHECK_FDS();
	for (int i = 0; i < 4; i++)
		T_EQ(pthread_create(&th[i], NULL, open_and_close, NULL), 0);
	for (int i = 0; i < 4; i++)
		T_EQ(pthread_join(th[i], NULL), 0);
}

static void *
sender(void *arg)
{
	int fd = *(int *)arg;

	for (int i = 0; i < 2000; i++)
		xt_snd_all(fd, "0123456789", 10, 0);
	return NULL;
}

struct looker {
	int fd;
	unsigned stop;
};

static void *
look_on(void *arg)
{
	struct looker *l = arg;

	while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED))
		(void)t_look(l->fd);
	return NULL;
}

/* The confirmation comes before the caller's thread knows that it has called. */
XT_CASE_TIMEOUT(CO, who_looks_on_while_another_connects_takes_nothing, 60)
{
	struct t_call call = {.sequence = 0};
	struct looker l = {.stop = 0};
	struct xt_addr at;
	pthread_t th;
	pid_t pid;
	int lfd, flags;
	char c;

	if (xt->inet)
		T_SKIP("confirmed before it is accepted");
	lfd = xt_bound_at(0, 1, &at);
	xt_netbuf(&call.addr, &at);
	l.fd = xt_bound(0, 0);
	pid = T_OK(fork());
	if (pid == 0)
		for (;;) {
			struct t_call in = {.sequence = 0};
			int fd = xt_open(0);

			T_TOK(t_listen(lfd, &in));
			T_TOK(t_accept(lfd, fd, &in));
			T_TERR(t_rcv(fd, &c, 1, &flags), TLOOK);
			T_TOK(t_close(fd));
		}
	T_EQ(pthread_create(&th, NULL, look_on, &l), 0);
	for (int i = 0; i < 2000; i++) {
		T_TOK(t_connect(l.fd, &call, NULL));
		T_TOK(t_snddis(l.fd, NULL));
	}
	__atomic_store_n(&l.stop, 1, __ATOMIC_RELAXED);
	T_EQ(pthread_join(th, NULL), 0);
	T_OK(kill(pid, SIGKILL));
	T_EQ(T_OK(waitpid(pid, NULL, 0)), pid);
}

XT_CASE(CO, one_thread_sends_and_another_receives)
{
	char buf[10];
	pthread_t a;
	int fd[2];

	xt_pair(fd);
	T_EQ(pthread_create(&a, NULL, sender, &fd[0]), 0);
	for (int i = 0; i < 2000; i++) {
		xt_rcv_all(fd[1], buf, 10);
		T_MEM(buf, "0123456789", 10);
	}
	T_EQ(pthread_join(a, NULL), 0);
}

enum { CALLERS = 3, CALLS = 100 };

static void *
calls(void *arg)
{
	struct t_call call = {.sequence = 0};
	int fd = xt_bound(0, 0);

	xt_netbuf(&call.addr, arg);
	for (int i = 0; i < CALLS; i++) {
		T_TOK(t_connect(fd, &call, NULL));
		if (t_snddis(fd, NULL) != 0) {
			T_EQ(t_errno, TLOOK);
			T_TOK(t_rcvdis(fd, NULL));
		}
	}
	T_TOK(t_close(fd));
	return NULL;
}

/* Answer @n calls; t_accept() wants every call that has come to be taken first. */
static void
answer(int lfd, unsigned n)
{
	struct t_call in[CALLERS];
	unsigned waiting = 0;
	int fd = xt_open(0);

	while (n != 0) {
		if (waiting == 0 || t_look(lfd) == T_LISTEN) {
			in[waiting] = (struct t_call){.sequence = 0};
			T_TOK(t_listen(lfd, &in[waiting++]));
			continue;
		}
		if (t_accept(lfd, fd, &in[0]) != 0) {
			T_EQ(t_errno, TLOOK);
			continue;
		}
		memmove(&in[0], &in[1], --waiting * sizeof(in[0]));
		T_TOK(t_close(fd));
		fd = xt_open(0);
		n--;
	}
	T_TOK(t_close(fd));
}

/*
 * A call that comes while the listener answers another one is indicated, too:
 * only a full queue refuses a call, and an answered call has left the queue
 * before its caller receives the confirmation.
 */
static void
none_refused(unsigned callers)
{
	pthread_t th[CALLERS];
	struct xt_addr at;
	int lfd;

	if (xt->inet)
		T_SKIP("the kernel answers");
	lfd = xt_bound_at(0, callers, &at);
	for (unsigned i = 0; i < callers; i++)
		T_EQ(pthread_create(&th[i], NULL, calls, &at), 0);
	answer(lfd, callers * CALLS);
	for (unsigned i = 0; i < callers; i++)
		T_EQ(pthread_join(th[i], NULL), 0);
}

XT_CASE_TIMEOUT(CO, a_listener_for_one_call_refuses_none_of_one_caller, 60)
{
	none_refused(1);
}

XT_CASE_TIMEOUT(CO, a_call_that_comes_during_an_answer_is_indicated, 60)
{
	none_refused(CALLERS);
}
