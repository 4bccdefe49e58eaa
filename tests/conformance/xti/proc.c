/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Endpoints and processes: fork, exec, dup, passing, threads, signals.
 */
#include "xt.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stropts.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void
wait_ok(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
}

/* ---------------------------------------------------------------- descriptors */

XT_CASE(ANY, a_duplicate_is_the_same_endpoint)
{
	int fd = xt_open(0), d = T_OK(dup(fd));

	T_STATE(d, T_UNBND);
	T_TOK(t_bind(d, NULL, NULL));
	T_STATE(fd, T_IDLE);
	T_OK(close(d));
	T_STATE(fd, T_IDLE);
	T_TOK(t_unbind(fd));
}

XT_CASE(ANY, dup2_onto_another_endpoint)
{
	int a = xt_bound(0, 0), b = xt_open(0);

	T_OK(dup2(b, a));
	T_STATE(a, T_UNBND);
	T_TOK(t_bind(a, NULL, NULL));
	T_STATE(b, T_IDLE);
}

XT_CASE(CO, close_of_one_descriptor_does_not_end_the_connection)
{
	int fd[2], d;
	char c;

	xt_pair(fd);
	d = T_OK(dup(fd[0]));
	T_TOK(t_close(fd[0]));
	T_EQ(t_look(fd[1]), 0);
	xt_snd_all(d, "x", 1, 0);
	xt_rcv_all(fd[1], &c, 1);
}

XT_CASE(ANY, an_endpoint_goes_through_a_pipe)
{
	struct strrecvfd r;
	int fd = xt_bound(0, 0), p[2];

	T_OK(pipe(p));
	T_OK(ioctl(p[0], I_SENDFD, fd));
	T_OK(close(fd));
	T_OK(ioctl(p[1], I_RECVFD, &r));
	T_STATE(r.fd, T_IDLE);
	T_TOK(t_unbind(r.fd));
}

/* -------------------------------------------------------------------- processes */

XT_CASE(ANY, a_child_uses_the_endpoint_without_sync)
{
	int fd = xt_bound(0, 0);
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		T_STATE(fd, T_IDLE);
		T_TOK(t_unbind(fd));
		_exit(0);
	}
	wait_ok(pid);
	T_STATE(fd, T_UNBND);
}

XT_CASE(ANY, what_a_child_closes_is_still_open)
{
	int fd = xt_bound(0, 0);
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		T_TOK(t_close(fd));
		_exit(0);
	}
	wait_ok(pid);
	T_STATE(fd, T_IDLE);
	T_TOK(t_unbind(fd));
}

XT_CASE(CO, a_server_that_forks)
{
	struct xt_addr at;
	int lfd = xt_bound_at(0, 5, &at), fd[3], in;
	pid_t pid[3];
	char c;

	for (int i = 0; i < 3; i++) {
		fd[i] = xt_bound(1, 0);
		xt_call(fd[i], &at);
		in = xt_accept(lfd);
		pid[i] = T_OK(fork());
		if (pid[i] == 0) {
			T_TOK(t_close(lfd));
			xt_rcv_all(in, &c, 1);
			c++;
			xt_snd_all(in, &c, 1, 0);
			T_EVENT(in, T_DISCONNECT);
			_exit(0);
		}
		T_TOK(t_close(in));
		T_EVENT(fd[i], T_CONNECT);
		T_TOK(t_rcvconnect(fd[i], NULL));
		xt_block(fd[i], 1);
	}
	for (int i = 0; i < 3; i++) {
		c = (char)(10 * i);
		xt_snd_all(fd[i], &c, 1, 0);
		xt_rcv_all(fd[i], &c, 1);
		T_EQ(c, 10 * i + 1);
		T_TOK(t_snddis(fd[i], NULL));
		wait_ok(pid[i]);
	}
}

XT_CASE(CO, several_children_listen)
{
	struct xt_addr at;
	int lfd = xt_bound_at(0, 5, &at), fd[3], in, flags;
	char c;

	for (int i = 0; i < 3; i++)
		if (T_OK(fork()) == 0) {
			struct t_call call = {.sequence = 0};

			T_TOK(t_listen(lfd, &call));
			in = xt_open(0);
			while (t_accept(lfd, in, &call) < 0) {
				/* another's caller comes first */
				T_EQ(t_errno, TLOOK);
				t_pause();
			}
			c = (char)('0' + i);
			xt_snd_all(in, &c, 1, 0);
			(void)t_rcv(in, &c, 1, &flags);
			_exit(0);
		}
	for (int i = 0; i < 3; i++) {
		fd[i] = xt_bound(1, 0);
		xt_call(fd[i], &at);
		T_EVENT(fd[i], T_CONNECT);
		T_TOK(t_rcvconnect(fd[i], NULL));
		xt_block(fd[i], 1);
		xt_rcv_all(fd[i], &c, 1);
		T_TOK(t_snddis(fd[i], NULL));
	}
}

XT_CASE(ANY, children_open_endpoints_of_their_own_at_once)
{
	pid_t pid[8];

	T_TOK(t_close(xt_open(0)));
	for (int i = 0; i < 8; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] == 0) {
			for (int k = 0; k < 5; k++)
				T_TOK(t_close(xt_bound(0, 0)));
			_exit(0);
		}
	}
	for (int i = 0; i < 8; i++)
		wait_ok(pid[i]);
}

XT_CASE(CO, the_last_holders_death_ends_the_connection)
{
	int fd[2];
	pid_t pid;

	xt_pair(fd);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(fd[1]));
		pause();
	}
	T_OK(close(fd[0]));
	T_EQ(t_look(fd[1]), 0);
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
	T_SOON(t_look(fd[1]) != 0, 5000);
}

XT_CASE_TIMEOUT(ANY, who_is_killed_among_requests_leaves_the_endpoint_usable, 60)
{
	int fd = xt_open(0), state;
	pid_t pid;

	for (int i = 0; i < 20; i++) {
		pid = T_OK(fork());
		if (pid == 0)
			for (;;) {
				(void)t_bind(fd, NULL, NULL);
				(void)t_unbind(fd);
			}
		for (uint64_t n = t_rand_below(8); n > 0; n--)
			t_pause();
		T_OK(kill(pid, SIGKILL));
		T_OK(waitpid(pid, NULL, 0));
		/* what it was in the middle of is being put right */
		T_SOON(t_sync(fd) >= 0 || t_errno != TSTATECHNG, 5000);
		state = T_TOK(t_sync(fd));
		if (state == T_IDLE)
			T_TOK(t_unbind(fd));
		else
			T_EQ(state, T_UNBND);
		T_TOK(t_bind(fd, NULL, NULL));
		T_TOK(t_unbind(fd));
	}
}

/* The program that is exec'ed: this one, by an environment variable. */
T_CONSTRUCTOR static void
execed(void)
{
	const char *env = getenv("XT_EXECED");
	int fd, want;

	if (env == NULL || sscanf(env, "%d %d", &fd, &want) != 2)
		return;
	if (t_sync(fd) != want || t_getstate(fd) != want)
		_exit(1);
	if (want == T_IDLE && t_unbind(fd) < 0)
		_exit(2);
	if (want == T_DATAXFER && t_snd(fd, (char *)"X", 1, 0) != 1)
		_exit(3);
	_exit(0);
}

static void
exec_with(int fd, int want)
{
	char env[64];
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		snprintf(env, sizeof(env), "%d %d", fd, want);
		setenv("XT_EXECED", env, 1);
		execl("/proc/self/exe", "execed", (char *)NULL);
		_exit(9);
	}
	wait_ok(pid);
}

XT_CASE(ANY, a_program_that_is_execed_has_the_endpoint_after_sync)
{
	int fd = xt_bound(0, 0);

	exec_with(fd, T_IDLE);
	T_STATE(fd, T_UNBND);
}

XT_CASE(CO, a_program_that_is_execed_has_the_connection)
{
	int fd[2];
	char c;

	xt_pair(fd);
	exec_with(fd[0], T_DATAXFER);
	xt_rcv_all(fd[1], &c, 1);
	T_EQ(c, 'X');
}

/* --------------------------------------------------------------------- signals */

static void
on_alarm(int sig)
{
	(void)sig;
}

static void
alarm_soon(int again)
{
	struct sigaction sa = {.sa_handler = on_alarm};
	struct itimerval it = {.it_value = {.tv_usec = 30000}};

	if (again)
		it.it_interval.tv_usec = 30000;
	T_OK(sigaction(SIGALRM, &sa, NULL));
	T_OK(setitimer(ITIMER_REAL, &it, NULL));
}

XT_CASE(CO, a_signal_ends_a_blocked_receive)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	alarm_soon(0);
	T_TERR(t_rcv(fd[0], &c, 1, &flags), TSYSERR);
	T_EQ(errno, EINTR);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(CO, a_signal_ends_a_blocked_vector)
{
	struct t_iovec iov;
	int fd[2], flags;
	char c;

	xt_pair(fd);
	iov.iov_base = &c;
	iov.iov_len = 1;
	alarm_soon(0);
	T_TERR(t_rcvv(fd[0], &iov, 1, &flags), TSYSERR);
	T_EQ(errno, EINTR);
}

XT_CASE(CO, a_signal_ends_a_blocked_send)
{
	static char out[65536];
	int fd[2], n;

	xt_pair(fd);
	xt_block(fd[0], 0);
	while (t_snd(fd[0], out, 1024, 0) > 0)
		;
	xt_block(fd[0], 1);
	alarm_soon(1);
	/* a part may still go */
	while ((n = t_snd(fd[0], out, sizeof(out), 0)) > 0)
		T_LT(n, (int)sizeof(out) + 1);
	T_EQ(t_errno, TSYSERR);
	T_EQ(errno, EINTR);
}

XT_CASE(CO, a_signal_ends_a_blocked_listen)
{
	struct t_call call = {.sequence = 0};
	int lfd = xt_bound(0, 1);

	alarm_soon(0);
	T_TERR(t_listen(lfd, &call), TSYSERR);
	T_EQ(errno, EINTR);
	T_STATE(lfd, T_IDLE);
}

XT_CASE(CO, a_signal_ends_a_blocked_connect)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int fd = xt_bound(0, 0);

	if (xt->at_once)
		T_SKIP("it does not block");
	xt_bound_at(0, 1, &at);
	xt_netbuf(&call.addr, &at);
	alarm_soon(0);
	T_TERR(t_connect(fd, &call, NULL), TSYSERR);
	T_EQ(errno, EINTR);
	T_STATE(fd, T_OUTCON);
	alarm_soon(0);
	T_TERR(t_rcvconnect(fd, NULL), TSYSERR);
	T_EQ(errno, EINTR);
	T_STATE(fd, T_OUTCON);
	T_TOK(t_snddis(fd, NULL));
}

XT_CASE(CL, a_signal_ends_a_blocked_datagram)
{
	struct t_unitdata ud = {.udata = {.len = 0}};
	int fd, flags;
	char c;

	if (xt->raw)
		T_SKIP("others' datagrams come");
	fd = xt_bound(0, 0);
	ud.udata.buf = &c;
	ud.udata.maxlen = 1;
	alarm_soon(0);
	T_TERR(t_rcvudata(fd, &ud, &flags), TSYSERR);
	T_EQ(errno, EINTR);
	T_STATE(fd, T_IDLE);
}

XT_CASE(ANY, signals_do_not_end_requests)
{
	int fd = xt_open(0);

	alarm_soon(1);
	for (int i = 0; i < 300; i++) {
		T_TOK(t_bind(fd, NULL, NULL));
		T_TOK(t_unbind(fd));
	}
}

/* --------------------------------------------------------------------- threads */

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
