/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A process that SIGSTOP stops outside of a call, or asleep in one, does not
 * delay the process at the other end of the connection.
 */
#include "xt.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum where { OUTSIDE, RECEIVING, SENDING, ENDS };

/* A process that is stopped with @fd at @where. */
static pid_t
stopped(int fd, enum where where)
{
	static char much[65536];
	int flags, st;
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		if (where == RECEIVING)
			(void)t_rcv(fd, much, 1, &flags);
		while (where == SENDING)
			(void)t_snd(fd, much, sizeof(much), 0);
		for (;;)
			pause();
	}
	for (int i = 0; i < 200; i++)
		t_pause(); /* until it sleeps */
	T_OK(kill(pid, SIGSTOP));
	T_EQ(T_OK(waitpid(pid, &st, WUNTRACED)), pid);
	T_TRUE(WIFSTOPPED(st));
	return pid;
}

XT_CASE(CO, a_disconnect_does_not_wait_for_a_stopped_peer)
{
	for (enum where w = OUTSIDE; w < ENDS; w++) {
		uint64_t begin;
		int fd[2], st;
		pid_t pid;

		xt_pair(fd);
		pid = stopped(fd[1], w);
		begin = t_now_ns();
		T_TOK(t_snddis(fd[0], NULL));
		T_STATE(fd[0], T_IDLE);
		T_LT(t_now_ns() - begin, 2000000000u);
		T_OK(kill(pid, SIGKILL));
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		T_EVENT(fd[1], T_DISCONNECT);
		T_TOK(t_close(fd[0]));
		T_TOK(t_close(fd[1]));
	}
}
