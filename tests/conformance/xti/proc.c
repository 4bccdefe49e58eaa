/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Endpoints and processes: fork, exec, dup, passing, signals.
 */
#include "xt.h"

#include <poll.h>
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
