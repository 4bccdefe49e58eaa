/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Many processes in one driver at a time, and some that are killed in it.
 */
#include "dr.h"

#include <sys/LiS/loop.h>
#include <sys/mman.h>
#include <sys/mux.h>

enum { CROWD = 4, RECORDS = 300, KILLS = 25 };

/* Two ends of a loop, blocking, records kept apart. */
static void
pair(int fd[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		fd[i] = open("/dev/loop_clone", O_RDWR);
		T_GE(fd[i], 0);
		T_OK(ioctl(fd[i], I_SRDOPT, RMSGN));
	}
	T_OK(dr_str_int(fd[0], LOOP_SET, (int)dr_minor(fd[1])));
}

/* Write records on @out, and read those of the same form from @in. */
static void
exchange(int out, int in, unsigned who)
{
	struct pollfd pfd[2] = {
		{.fd = out, .events = POLLOUT},
		{.fd = in, .events = POLLIN},
	};
	char text[32], want[32];
	int sent = 0, seen = 0;
	ssize_t n;

	while (seen < RECORDS || sent < RECORDS) {
		pfd[0].events = sent < RECORDS ? POLLOUT : 0;
		T_GT(poll(pfd, 2, 10000), 0);
		if (sent < RECORDS && (pfd[0].revents & POLLOUT) != 0) {
			snprintf(text, sizeof(text), "%u record %06d", who,
				sent);
			n = write(out, text, strlen(text));
			T_EQ(n, (ssize_t)strlen(text));
			sent++;
		}
		if ((pfd[1].revents & POLLIN) != 0) {
			snprintf(want, sizeof(want), "%u record %06d", who,
				seen);
			n = read(in, text, sizeof(text));
			T_EQ(n, (ssize_t)strlen(want));
			T_MEM(text, want, (size_t)n);
			seen++;
		}
	}
}

static void
crowd(void (*fn)(unsigned who))
{
	pid_t pid[CROWD];
	unsigned i;
	int status;

	for (i = 0; i < CROWD; i++) {
		pid[i] = fork();
		T_GE(pid[i], 0);
		if (pid[i] == 0) {
			fn(i);
			_exit(0);
		}
	}
	for (i = 0; i < CROWD; i++) {
		T_EQ(waitpid(pid[i], &status, 0), pid[i]);
		T_EQ(status, 0);
	}
}

static void
loops(unsigned who)
{
	int fd[2];

	pair(fd);
	exchange(fd[0], fd[1], who);
	exchange(fd[1], fd[0], who);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

T_CASE(processes_do_not_meet_in_the_loop_driver)
{
	int fd = dr_open("/dev/nuls"); /* the domain is there before them */

	crowd(loops);
	T_OK(close(fd));
}

static void
muxes(unsigned who)
{
	int m = open("/dev/mux", O_RDWR), fd[2];

	T_GE(m, 0);
	T_OK(ioctl(m, I_SRDOPT, RMSGN));
	pair(fd);
	T_GT(ioctl(m, I_LINK, fd[0]), 0);
	exchange(m, fd[1], who);
	exchange(fd[1], m, who);
	T_OK(close(m));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

T_CASE(processes_do_not_meet_in_a_multiplexor)
{
	int fd = dr_open("/dev/nuls");

	crowd(muxes);
	T_OK(close(fd));
}

/* The two ends of one connection in two processes, both ways at once. */
T_CASE(both_ends_are_busy_at_once)
{
	int fd[2], status;
	pid_t pid;

	pair(fd);
	pid = fork();
	T_GE(pid, 0);
	exchange(pid == 0 ? fd[0] : fd[1], pid == 0 ? fd[0] : fd[1], 0);
	if (pid == 0)
		_exit(0);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

/* Open, connect, link, write and close for ever. */
static void
restless(volatile unsigned *turns)
{
	for (;;) {
		int a = open("/dev/loop_clone", O_RDWR | O_NONBLOCK);
		int b = open("/dev/loop_clone", O_RDWR | O_NONBLOCK);
		int m = open("/dev/mux", O_RDWR | O_NONBLOCK);

		(void)dr_str_int(a, LOOP_SET, (int)dr_minor(b));
		(void)ioctl(m, I_LINK, a);
		(void)write(m, "text", 4);
		(void)write(b, "text", 4);
		(void)close(m);
		(void)close(a);
		(void)close(b);
		(*turns)++;
	}
}

/* Until then: a death is wanted at any instruction of a turn. */
static void
spin_until(uint64_t end)
{
	while (t_now_ns() < end)
		;
}

/* The least minor of the loop driver that is free. */
static int
next_minor(void)
{
	int fd = dr_open("/dev/loop_clone"), minor = (int)dr_minor(fd);

	T_OK(close(fd));
	return minor;
}

T_CASE(a_process_killed_in_a_driver_leaves_it_usable)
{
	volatile unsigned *turns = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int keep = dr_open("/dev/nuls"), fd[2], i, k;

	T_TRUE(turns != MAP_FAILED);
	for (k = 0; k < KILLS; k++) {
		unsigned before = *turns;
		pid_t pid = fork();

		T_GE(pid, 0);
		if (pid == 0)
			restless(turns);
		T_SOON(*turns > before, 5000);
		spin_until(t_now_ns() + t_rand_below(2000000));
		T_OK(kill(pid, SIGKILL));
		T_EQ(waitpid(pid, NULL, 0), pid);
		fd[0] = dr_open("/dev/loop_clone");
		fd[1] = dr_open("/dev/loop_clone");
		T_OK(dr_str_int(fd[0], LOOP_SET, (int)dr_minor(fd[1])));
		for (i = 0; i < 3; i++) {
			T_EQ(write(fd[0], "there", 5), 5);
			dr_gets(fd[1], NULL, "there");
		}
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
	}
	/* what the dead held is closed, and its minors are free */
	T_SOON(next_minor() == 1, 5000);
	T_OK(close(keep));
}
