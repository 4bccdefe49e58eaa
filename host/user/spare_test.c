/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Spare carriers: the next stream gets one, and no other process does.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

static void
setup(void)
{
	struct host_call hc = { .fd = -1 };

	setenv("STREAMS_DOMAIN", "private", 1);
	up_enter(&hc);
	host_leave();
}

/* Make a carrier and close its descriptor, as a process that keeps it. */
static struct host_carrier
kept_one(int oflags, bool nonblock)
{
	struct host_carrier c;
	int fd;

	T_EQ(host_carrier_open(oflags, &fd, &c), 0);
	T_TRUE(host_spare_keep(fd, &c, 0, nonblock));
	T_OK(close(fd));
	T_TRUE(host_carrier_alive(&c));
	host_spare_ready(c.cookie);
	return c;
}

static int
names(void)
{
	DIR *d = opendir(host_shared(host_domain)->dir);
	struct dirent *e;
	int n = 0;

	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	T_OK(closedir(d));
	return n;
}

static void
child_ok(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
}

T_CASE(a_kept_carrier_is_the_next_one)
{
	struct host_carrier c, d;
	int low, fd;

	setup();
	low = T_OK(dup(0));
	T_OK(close(low));
	c = kept_one(0, false);
	T_EQ(names(), 1);
	T_EQ(host_carrier_open(0, &fd, &d), 0);
	T_EQ(fd, low);
	T_MEM(&d, &c, sizeof c);
	T_EQ(host_carrier_id(fd, &d), 0);
	T_MEM(&d, &c, sizeof c);
	T_EQ(names(), 1);
	T_EQ(host_carrier_send(&c), 0);
	T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
	/* nothing is left that keeps it alive */
	T_OK(close(fd));
	T_FALSE(host_carrier_alive(&c));
}

T_CASE(a_kept_carrier_has_the_flags_asked_for)
{
	static const int oflags[] = {0, O_CLOEXEC, O_NONBLOCK,
		O_CLOEXEC | O_NONBLOCK};
	struct host_carrier c, d;
	int fd;

	setup();
	for (size_t i = 0; i < 16; i++) {
		int was = oflags[i % 4], want = oflags[i / 4];

		c = kept_one(was, (was & O_NONBLOCK) != 0);
		T_EQ(host_carrier_open(want, &fd, &d), 0);
		T_TRUE(d.cookie == c.cookie);
		T_EQ(fcntl(fd, F_GETFD), want & O_CLOEXEC ? FD_CLOEXEC : 0);
		T_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, want & O_NONBLOCK);
		T_OK(close(fd));
		host_carrier_gone(&d);
	}
}

T_CASE(a_forked_child_and_its_parent_share_no_carrier)
{
	struct host_carrier c, d;
	int fd;
	pid_t pid;

	setup();
	c = kept_one(0, false);
	pid = T_OK(fork());
	if (pid == 0) {
		setup();
		T_FALSE(host_carrier_alive(&c));
		T_FALSE(host_spare_take(0, &fd, &d));
		_exit(0);
	}
	child_ok(pid);
	T_FALSE(host_carrier_alive(&c));
	T_EQ(names(), 0);
	T_FALSE(host_spare_take(0, &fd, &d));
	/* and afterwards one can be kept again */
	c = kept_one(0, false);
	T_TRUE(host_spare_take(0, &fd, &d));
	T_TRUE(d.cookie == c.cookie);
}

/* As a program that makes its system calls itself. */
T_CASE(a_child_of_a_bare_system_call_uses_no_spare_of_its_parent)
{
	struct host_carrier c, d;
	int fd;
	pid_t pid;

	setup();
	c = kept_one(0, false);
	pid = (pid_t)T_OK((int)sys_call5(SYS_clone, SIGCHLD, NULL, NULL, NULL,
		NULL));
	if (pid == 0) {
		setup();
		T_EQ(host_carrier_open(0, &fd, &d), 0);
		T_FALSE(d.cookie == c.cookie);
		T_TRUE(host_spare_keep(fd, &d, 0, false));
		T_OK(close(fd));
		_exit(0);
	}
	child_ok(pid);
	T_EQ(host_carrier_open(0, &fd, &d), 0);
	T_TRUE(d.cookie == c.cookie);
}

T_CASE(a_spare_that_the_program_has_closed_is_not_used)
{
	struct host_carrier c, d;
	int high, fd, other;

	setup();
	c = kept_one(0, false);
	high = host_fd_get(HOST_FD_SPARE);
	T_TRUE(host_fd_is_ours(high));
	/* by a bare system call, and its number refers to another file now */
	T_EQ((int)sys_close(high), 0);
	other = T_OK(socket(AF_UNIX, SOCK_DGRAM, 0));
	T_EQ(T_OK(dup2(other, high)), high);
	T_EQ(host_carrier_open(0, &fd, &d), 0);
	T_FALSE(d.cookie == c.cookie);
	T_FALSE(host_fd_is_ours(high));
	T_OK(fcntl(high, F_GETFD));
	T_EQ(names(), 1);
}

static void
pair(int oflags, int fd[2], struct host_carrier c[2])
{
	T_EQ(host_carrier_pair(oflags, fd, c), 0);
	T_TRUE(c[0].cookie != c[1].cookie);
}

/* Close end @e as a process that keeps its carrier. */
static void
keep_end(int e, int fd[2], struct host_carrier c[2])
{
	T_TRUE(host_spare_keep(fd[e], &c[e], c[!e].cookie, false));
	T_OK(close(fd[e]));
}

T_CASE(a_kept_pair_is_the_next_one_with_its_ends_exchanged)
{
	struct host_carrier c[2], d[2], id;
	int low, fd[2], was;

	setup();
	low = T_OK(dup(0));
	T_OK(close(low));
	pair(0, fd, c);
	was = fd[1];
	keep_end(0, fd, c);
	keep_end(1, fd, c);
	host_spare_ready(c[1].cookie);
	pair(O_CLOEXEC | O_NONBLOCK, fd, d);
	T_EQ(fd[0], low);
	T_EQ(fd[1], was);
	T_MEM(&d[0], &c[1], sizeof c[0]);
	T_MEM(&d[1], &c[0], sizeof c[0]);
	for (int e = 0; e < 2; e++) {
		T_EQ(host_carrier_id(fd[e], &id), 0);
		T_MEM(&id, &d[e], sizeof id);
		T_EQ(fcntl(fd[e], F_GETFD), FD_CLOEXEC);
		T_EQ(fcntl(fd[e], F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	}
	/* nothing is left that keeps it alive */
	T_OK(close(fd[0]));
	T_EQ(host_carrier_look(fd[1]), HOST_C_HUP);
	T_OK(close(fd[1]));
	T_FALSE(host_carrier_alive(&d[0]) || host_carrier_alive(&d[1]));
}

T_CASE(a_pair_is_not_given_before_its_pipe_has_ended)
{
	struct host_carrier c[2], d[2];
	int fd[2];

	setup();
	pair(0, fd, c);
	keep_end(0, fd, c);
	T_FALSE(host_spare_take_pair(0, fd, d));
	keep_end(1, fd, c);
	T_FALSE(host_spare_take_pair(0, fd, d));
	host_spare_ready(c[0].cookie);
	T_TRUE(host_spare_take_pair(0, fd, d));
}

/* A process outside would read the byte. */
T_CASE(an_end_with_a_byte_is_not_kept)
{
	struct host_carrier c[2];
	int fd[2];

	setup();
	pair(0, fd, c);
	T_EQ(write(fd[0], "x", 1), 1);
	T_FALSE(host_spare_keep(fd[1], &c[1], c[0].cookie, false));
	keep_end(0, fd, c);
	T_FALSE(host_carrier_look(fd[1]) & HOST_C_HUP);
	/* its mate is not kept for ever */
	T_OK(close(fd[1]));
	host_spare_forget(c[1].cookie);
	T_FALSE(host_carrier_alive(&c[0]) || host_carrier_alive(&c[1]));
}

T_CASE(an_end_that_waits_for_its_mate_is_closed_when_others_get_the_mate)
{
	struct host_carrier c[2], d[2];
	int fd[2];

	setup();
	pair(0, fd, c);
	keep_end(0, fd, c);
	T_FALSE(host_carrier_look(fd[1]) & HOST_C_HUP);
	host_spare_shared();
	T_TRUE(host_carrier_look(fd[1]) & HOST_C_HUP);
	keep_end(1, fd, c);
	host_spare_ready(c[1].cookie);
	T_FALSE(host_spare_take_pair(0, fd, d));
	T_FALSE(host_carrier_alive(&c[0]) || host_carrier_alive(&c[1]));
}

T_CASE(without_a_free_number_a_pair_is_closed)
{
	struct rlimit rl;
	struct host_carrier c[2], d[2];
	int fd[2];

	setup();
	pair(0, fd, c);
	keep_end(0, fd, c);
	keep_end(1, fd, c);
	host_spare_ready(c[1].cookie);
	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	rl.rlim_cur = (rlim_t)fd[0] + 1;
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	T_EQ(host_carrier_pair(0, fd, d), EMFILE);
	T_FALSE(host_carrier_alive(&c[0]) || host_carrier_alive(&c[1]));
}

T_CASE(only_so_many_are_kept)
{
	struct host_carrier c[2 * (HOST_FD_SPARE_END - HOST_FD_SPARE)];
	int fd[STR_ARRAY_LEN(c)];
	size_t n = 0;

	setup();
	for (size_t i = 0; i < STR_ARRAY_LEN(c); i++)
		T_EQ(host_carrier_open(0, &fd[i], &c[i]), 0);
	for (size_t i = 0; i < STR_ARRAY_LEN(c); i++) {
		n += host_spare_keep(fd[i], &c[i], 0, false);
		T_OK(close(fd[i]));
	}
	T_EQ(n, STR_ARRAY_LEN(c) / 2);
	host_spare_close();
	for (size_t i = 0; i < STR_ARRAY_LEN(c); i++)
		T_FALSE(host_carrier_alive(&c[i]));
	T_EQ(names(), (int)(STR_ARRAY_LEN(c) / 2)); /* of those not kept */
}

T_CASE(a_forgotten_one_is_closed)
{
	struct host_carrier c, d;
	int fd;

	setup();
	c = kept_one(0, false);
	d = kept_one(0, false);
	T_TRUE(c.cookie == d.cookie);
	host_spare_forget(c.cookie + 1);
	T_TRUE(host_carrier_alive(&c));
	host_spare_forget(c.cookie);
	T_FALSE(host_carrier_alive(&c));
	T_EQ(names(), 0);
	T_FALSE(host_spare_take(0, &fd, &d));
}

/* Where numbers are scarce, the program gets all of them. */
T_CASE(with_few_descriptors_none_is_kept)
{
	struct rlimit rl = {64, 64};
	struct host_carrier c;
	int fd;

	setup();
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_FALSE(host_spare_keep(fd, &c, 0, false));
}

T_CASE(the_end_of_a_member_leaves_no_name)
{
	pid_t pid;

	setup();
	pid = T_OK(fork());
	if (pid == 0) {
		setup();
		(void)kept_one(0, false);
		T_EQ(names(), 1);
		exit(0);
	}
	child_ok(pid);
	T_EQ(names(), 0);
}
