/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * putmsg() and getmsg() at a hang-up, with signals, and with bad buffers:
 * putmsg(2), getmsg(2).
 */
#include "st.h"

/* getmsg(2): after a hang-up both lens are 0, as is the result */
ST_CASE(getmsg_after_a_hang_up_returns_empty_parts)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_OK(close(fd[0]));
	T_EQ(st_get(fd[1], &m, 0), 0);
	T_EQ(m.ctl_len, 0);
	T_EQ(m.data_len, 0);
}

/* getmsg(2): nor is it EAGAIN with O_NONBLOCK */
ST_CASE(getmsg_after_a_hang_up_does_not_say_eagain)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	T_ERR(st_get(fd[1], &m, 0), EAGAIN);
	T_OK(close(fd[0]));
	T_EQ(st_get(fd[1], &m, 0), 0);
	T_EQ(m.data_len, 0);
}

/* getmsg(2): what was queued before the hang-up is retrieved first */
ST_CASE(a_hang_up_does_not_lose_messages)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "one", "1", 0), 0);
	T_EQ(st_put(fd[0], NULL, "two", 0), 0);
	T_OK(close(fd[0]));
	ST_GOT(fd[1], "one", "1");
	ST_GOT(fd[1], NULL, "two");
	T_EQ(st_get(fd[1], &m, 0), 0);
	T_EQ(m.ctl_len, 0);
	T_EQ(m.data_len, 0);
}

/* getmsg(2): a sleeping call ends when the Stream is hung up */
ST_CASE(a_hang_up_ends_a_waiting_getmsg)
{
	struct st_msg m;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		T_OK(close(fd[0]));
		T_EQ(st_get(fd[1], &m, 0), 0);
		T_EQ(m.data_len, 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_OK(close(fd[0]));
	st_reap(pid);
}

static void
nothing(int sig)
{
	(void)sig;
}

static void
interrupt_on(int sig)
{
	struct sigaction sa = { .sa_handler = nothing };

	T_OK(sigaction(sig, &sa, NULL));
}

/* getmsg(2): EINTR when a signal is caught */
ST_ANY_CASE(a_signal_ends_a_waiting_getmsg)
{
	struct st_msg m;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		interrupt_on(SIGUSR1);
		T_ERR(st_get(fd[1], &m, 0), EINTR);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_OK(kill(pid, SIGUSR1));
	st_reap(pid);
}

/* putmsg(2): EINTR when a signal is caught while flow control holds it */
ST_CASE(a_signal_ends_a_waiting_putmsg)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	st_marks(fd[1], 100, 10);
	T_EQ(st_putn(fd[0], 0, 200, 'x'), 0);
	pid = st_fork();
	if (pid == 0) {
		interrupt_on(SIGUSR1);
		T_ERR(st_put(fd[0], NULL, "more", 0), EINTR);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_OK(kill(pid, SIGUSR1));
	st_reap(pid);
	T_EQ(st_queued(fd[1]), 1);
}

/* putmsg(2): nothing is sent if a part cannot be read */
ST_ANY_CASE(putmsg_of_a_bad_buffer_sends_nothing)
{
	struct strbuf c = { 0, 3, (char[]){ "ctl" } };
	struct strbuf d = { 0, 10, st_bad() };
	int fd[2];

	st_pipe(t, fd);
	T_ERR(putmsg(fd[0], &c, &d, 0), EFAULT);
	T_ERR(putmsg(fd[0], &d, &c, 0), EFAULT);
	d.buf = st_edge("abcd", 4);
	T_ERR(putmsg(fd[0], &c, &d, 0), EFAULT);
	T_EQ(st_queued(fd[1]), 0);
}

/* putmsg(2): a bad buffer of no bytes is not looked at */
ST_ANY_CASE(a_bad_buffer_without_bytes_is_not_touched)
{
	struct strbuf b = { 0, 0, st_bad() };
	int fd[2];

	st_pipe(t, fd);
	T_EQ(putmsg(fd[0], &b, NULL, 0), 0);
	ST_GOT(fd[1], "", NULL);
}

/* getmsg(2): EFAULT; the message is not lost */
ST_ANY_CASE(getmsg_into_a_bad_buffer_does_not_lose_the_message)
{
	struct strbuf c = { 100, 0, (char[100]){ 0 } };
	struct strbuf d = { 100, 0, st_bad() };
	int fd[2], flags = 0;

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_ERR(getmsg(fd[1], &c, &d, &flags), EFAULT);
	flags = 0;
	T_ERR(getmsg(fd[1], &d, &c, &flags), EFAULT);
	ST_GOT(fd[1], "ctl", "data");
}

/* getmsg(2): no byte beyond the message is written */
ST_ANY_CASE(getmsg_stores_only_what_came)
{
	char *edge = st_edge("....", 4);
	struct strbuf d = { 1000, 0, edge };
	int fd[2], flags = 0;

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "data", 0), 0);
	T_EQ(getmsg(fd[1], NULL, &d, &flags), 0);
	T_EQ(d.len, 4);
	T_MEM(edge, "data", 4);
}
