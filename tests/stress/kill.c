/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * kill -9 of random participants during traffic.  STRESS_KILLS sets how many
 * in all (default 40); T_SEED repeats who and when.
 *
 * The bound is 100 ms.  What the machine adds when it is busy is measured
 * first, as the time in which each gets on while none is killed.
 */
#include "survive.h"

#include <sys/wait.h>

#define BOUND 100.0
#define HANG (4000 * (int)t_scale())

static double
base_line(struct s_board *b)
{
	double worst = 0, ms;

	for (int i = 0; i < 15; i++) {
		ms = s_all_get_on(b, S_ALL, -1, HANG);
		T_GE(ms, 0.0);
		worst = ms > worst ? ms : worst;
	}
	return worst;
}

/*
 * Three pipes, each with two writers and three readers, and two processes
 * that only make and close pipes.  The supervisor keeps all ends open, so
 * none may see an end but by EIO, on the one pipe that the dead was in.
 */
static void
replace_pipe(struct s_board *b, int pipes[3][2], int which)
{
	int fresh[2];

	for (int i = 0; i < b->n; i++)
		if (b->seat[i].fd[0] == pipes[which][0])
			s_kill(b, i, SIGKILL);
	p_pipe(fresh);
	T_OK(dup2(fresh[0], pipes[which][0]));
	T_OK(dup2(fresh[1], pipes[which][1]));
	T_OK(close(fresh[0]));
	T_OK(close(fresh[1]));
	for (int i = 0; i < b->n; i++)
		if (b->seat[i].fd[0] == pipes[which][0])
			s_start(b, i, 1);
}

static int
repair_what_ended(struct s_board *b, int pipes[3][2])
{
	int ends = 0;

	for (int i = 0; i < b->n; i++)
		if (b->seat[i].ended_ns != 0) {
			/* its other ends are open: only EIO is an answer */
			T_EQ(b->seat[i].end, EIO);
			ends++;
			for (int k = 0; k < 3; k++)
				if (b->seat[i].fd[0] == pipes[k][0]) {
					replace_pipe(b, pipes, k);
					break;
				}
		}
	return ends;
}

T_CASE_TIMEOUT(killed_participants_do_not_stop_those_who_share_their_pipes,
	300)
{
	static const enum s_role role[] = {
		S_WRITE, S_WRITE, S_READ, S_POLL_READ, S_EPOLL_READ,
	};
	int kills = s_number("STRESS_KILLS", 40) / 2, pipes[3][2];
	int late = 0, ends = 0, victim;
	struct s_board *b = s_board_new();
	double limit, ms, worst = 0;

	for (int i = 0; i < 3; i++) {
		p_pipe(pipes[i]);
		for (int k = 0; k < 5; k++)
			s_seat(b, role[k], pipes[i]);
	}
	s_seat(b, S_CHURN, NULL);
	s_seat(b, S_CHURN, NULL);
	for (int i = 0; i < b->n; i++)
		s_start(b, i, 1);
	limit = BOUND * t_scale() + 4 * base_line(b);
	for (int i = 0; i < kills; i++) {
		victim = (int)t_rand_below((uint64_t)b->n);
		for (int us = (int)t_rand_below(3000); us > 0; us -= 1000)
			p_pause(1);
		s_kill(b, victim, SIGKILL);
		ms = s_all_get_on(b, S_ALL, victim, HANG);
		if (ms < 0)
			T_FAIL("after kill %d (seat %d) somebody hangs", i,
				victim);
		late += ms > limit;
		worst = ms > worst ? ms : worst;
		ends += repair_what_ended(b, pipes);
		if (b->seat[victim].pid == 0)
			s_start(b, victim, 1);
	}
	/* and all still run, the restarted too */
	T_GE(s_all_get_on(b, S_ALL, -1, HANG), 0.0);
	s_kill_all(b);
	fprintf(stderr, "# %d kills, %d ends, slowest %.0f ms, limit %.0f\n",
		kills, ends, worst, limit);
	T_LE(late, kills / 20);
	/* what they left of their last records is whole */
	for (int i = 0; i < 3; i++)
		T_EQ(p_drain(pipes[i][0]) % S_RECORD, 0u);
}

/*
 * Pairs, each the only holders of one pipe: when one is killed the other
 * sees the end, whatever it was doing.
 */
static const struct {
	enum s_role victim, survivor;
} pair[] = {
	{ S_WRITE, S_READ },	   { S_WRITE, S_POLL_READ },
	{ S_WRITE, S_EPOLL_READ }, { S_SLOW_WRITE, S_READ },
	{ S_SLOW_WRITE, S_POLL_READ }, { S_SLOW_WRITE, S_EPOLL_READ },
	{ S_READ, S_WRITE },	   { S_POLL_READ, S_WRITE },
	{ S_EPOLL_READ, S_WRITE }, { S_READ, S_SLOW_WRITE },
	{ S_POLL_READ, S_SLOW_WRITE }, { S_EPOLL_READ, S_SLOW_WRITE },
};

#define PAIRS (sizeof(pair) / sizeof(pair[0]))

/* Return: the ms until the survivor has seen the end; *@ret_limit: the most that
 * this may take. */
static double
kill_one_of_a_pair(int which, int stopped, double *ret_limit)
{
	struct s_board *b = s_board_new();
	uint64_t killed;
	double end = p_ms() + HANG;
	int fd[2], v, s;

	p_pipe(fd);
	v = s_seat(b, pair[which].victim, fd);
	s = s_seat(b, pair[which].survivor, fd);
	s_start(b, v, 0);
	s_start(b, s, 0);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	*ret_limit = BOUND * t_scale() + 4 * base_line(b);
	if (stopped) {
		/* the survivor then sleeps, or waits for room */
		s_kill(b, v, SIGSTOP);
		if (pair[which].survivor != S_SLOW_WRITE)
			T_TRUE(p_asleep(b->seat[s].pid, b->seat[s].pid));
	}
	killed = t_now_ns();
	s_kill(b, v, SIGKILL);
	while (b->seat[s].ended_ns == 0) {
		if (p_ms() > end)
			T_FAIL("role %d hangs after role %d was killed",
				pair[which].survivor, pair[which].victim);
		p_pause(1);
	}
	T_TRUE(p_exited(b->seat[s].pid, 0));
	return (double)(b->seat[s].ended_ns - killed) / 1e6;
}

T_CASE_TIMEOUT(the_killed_partner_of_a_pair_is_seen_within_100_ms, 300)
{
	int kills = s_number("STRESS_KILLS", 40) / 2, late = 0;
	double ms, limit, worst = 0;

	if (kills < (int)PAIRS)
		kills = (int)PAIRS;
	p_warm_up();
	for (int i = 0; i < kills; i++) {
		ms = kill_one_of_a_pair(i % (int)PAIRS, (i / 2) & 1, &limit);
		late += ms > limit;
		worst = ms > worst ? ms : worst;
	}
	fprintf(stderr, "# %d kills, slowest %.0f ms\n", kills, worst);
	T_LE(late, kills / 20);
}

/* ten at one blow, in the middle of everything */
T_CASE_TIMEOUT(a_massacre_leaves_the_survivor_of_each_pipe_in_peace, 120)
{
	int rounds = s_number("STRESS_KILLS", 40) / 20, fd[2][2];
	struct s_board *b;

	if (rounds > 25)
		rounds = 25;
	for (int r = 0; r < rounds; r++) {
		b = s_board_new();
		for (int i = 0; i < 2; i++) {
			p_pipe(fd[i]);
			for (int k = 0; k < 4; k++) {
				s_seat(b, S_WRITE, fd[i]);
				s_seat(b, S_READ + k % 3, fd[i]);
			}
		}
		for (int i = 0; i < b->n; i++)
			s_start(b, i, 1);
		T_GE(s_all_get_on(b, S_ALL, -1, HANG), 0.0);
		/* of each pipe one writer and one reader are spared */
		for (int i = 0; i < b->n; i++)
			if (i % 8 > 1)
				kill(b->seat[i].pid, SIGKILL);
		for (int i = 0; i < b->n; i++)
			if (i % 8 > 1)
				s_kill(b, i, SIGKILL);
		T_GE(s_all_get_on(b, S_ALL, -1, HANG), 0.0);
		for (int i = 0; i < b->n; i++)
			if (b->seat[i].ended_ns != 0)
				T_EQ(b->seat[i].end, EIO);
		s_kill_all(b);
		for (int i = 0; i < 2; i++) {
			T_OK(close(fd[i][0]));
			T_OK(close(fd[i][1]));
		}
	}
}
