/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A stopped process is not dead, and stops only the streams it is inside.
 */
#include "survive.h"

#include <sys/wait.h>

#define HANG (4000 * (int)t_scale())

static void
stop_it(struct s_board *b, int seat)
{
	int status;

	T_OK(kill(b->seat[seat].pid, SIGSTOP));
	T_EQ(waitpid(b->seat[seat].pid, &status, WUNTRACED),
		b->seat[seat].pid);
	T_TRUE(WIFSTOPPED(status));
}

static void
use_everything_once(void)
{
	char buf[100] = "";
	int fd[2];
	pid_t pid;

	p_pipe(fd);
	T_EQ(write(fd[1], buf, 100), 100);
	T_EQ(p_ready(fd[0], POLLIN, 0), POLLIN);
	T_EQ(read(fd[0], buf, 100), 100);
	pid = fork();
	if (pid == 0) {
		T_EQ(write(fd[1], "x", 1), 1);
		_exit(0);
	}
	T_EQ(read(fd[0], buf, 1), 1);
	T_TRUE(p_exited(pid, 0));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

/*
 * Four busy pipes and two processes that make and close pipes.  One process
 * is stopped at a random moment: the pipes it is not at go on, and so does
 * everything that is new.
 */
T_CASE_TIMEOUT(a_stopped_process_stops_no_pipe_it_is_not_inside, 120)
{
	int rounds = s_number("STRESS_STOPS", 20), fd[4][2], victim;
	struct s_board *b = s_board_new();
	uint64_t others;

	for (int i = 0; i < 4; i++) {
		p_pipe(fd[i]);
		s_seat(b, S_WRITE, fd[i]);
		s_seat(b, S_READ + i % 3, fd[i]);
	}
	s_seat(b, S_CHURN, NULL);
	s_seat(b, S_CHURN, NULL);
	for (int i = 0; i < b->n; i++)
		s_start(b, i, 1);
	T_GE(s_all_get_on(b, S_ALL, -1, HANG), 0.0);
	for (int r = 0; r < rounds; r++) {
		victim = (int)t_rand_below((uint64_t)b->n);
		for (int us = (int)t_rand_below(3000); us > 0; us -= 1000)
			p_pause(1);
		stop_it(b, victim);
		others = S_ALL;
		if (victim < 8)
			others &= ~(UINT64_C(3) << (victim & ~1));
		for (int k = 0; k < 3; k++)
			if (s_all_get_on(b, others, victim, HANG) < 0)
				T_FAIL("round %d: seat %d stopped, and "
					"others stand still", r, victim);
		use_everything_once();
		T_OK(kill(b->seat[victim].pid, SIGCONT));
		if (s_all_get_on(b, S_ALL, -1, HANG) < 0)
			T_FAIL("round %d: seat %d does not go on", r, victim);
	}
	for (int i = 0; i < b->n; i++)
		T_EQ(b->seat[i].ended_ns, 0u);
	s_kill_all(b);
}

/* stopped for longer than any time-out: it is still not taken for dead */
T_CASE_TIMEOUT(a_process_stopped_for_a_second_finds_its_pipe_intact, 60)
{
	struct s_board *b = s_board_new();
	int fd[2], both[2];

	p_pipe(fd);
	p_pipe(both);
	s_seat(b, S_WRITE, fd);
	s_seat(b, S_READ, fd);
	s_seat(b, S_WRITE, both);
	s_seat(b, S_POLL_READ, both);
	for (int i = 0; i < b->n; i++)
		s_start(b, i, 0);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_OK(close(both[0]));
	T_OK(close(both[1]));
	T_GE(s_all_get_on(b, S_ALL, -1, HANG), 0.0);
	for (int i = 0; i < 2; i++) {
		double end = p_ms() + 1000;

		stop_it(b, i);
		stop_it(b, 2);
		stop_it(b, 3);
		while (p_ms() < end) {
			use_everything_once();
			p_pause(20);
		}
		T_OK(kill(b->seat[i].pid, SIGCONT));
		T_OK(kill(b->seat[3].pid, SIGCONT));
		T_OK(kill(b->seat[2].pid, SIGCONT));
		T_GE(s_all_get_on(b, S_ALL, -1, HANG), 0.0);
	}
	for (int i = 0; i < b->n; i++)
		T_EQ(b->seat[i].ended_ns, 0u);
	s_kill_all(b);
}
