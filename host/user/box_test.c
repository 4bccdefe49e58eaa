/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Boxes: what lies in one, in which order, and until when.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

/* a file that can be told from others, and its number in it */
static int
numbered(uint64_t n)
{
	int fd = T_OK((int)syscall(SYS_memfd_create, "n", 0));

	T_EQ(write(fd, &n, sizeof n), (ssize_t)sizeof n);
	return fd;
}

static uint64_t
number_of(int fd)
{
	uint64_t n = 0;

	T_EQ(pread(fd, &n, sizeof n, 0), (ssize_t)sizeof n);
	return n;
}

#define BOX (1ull << 32 | 5)

/* A box under the id BOX, as core/sock makes it. */
static struct host_carrier
box_make(void)
{
	struct host_carrier c;
	int fd;

	setup();
	T_EQ(host_box_new(&fd, &c), 0);
	host_domain->core[UP_SOCK] = BOX;
	T_EQ(host_sock_adopt(BOX, fd), 0);
	T_EQ(host_box_ready(BOX, false), 0);
	T_TRUE(host_box_here(BOX));
	return c;
}

static void
put(uint64_t id, uint64_t contents)
{
	struct host_label l = { id, 3 * id };
	int fd = numbered(contents);

	T_EQ(host_box_put(BOX, fd, &l), 0);
	T_OK(close(fd));
}

static void
first_is(uint64_t id, uint64_t contents)
{
	struct host_label l = { 0, 0 };
	int fd = -1;

	T_EQ(host_box_look(BOX, &l), 0);
	T_TRUE(l.id == id && l.pass == 3 * id);
	T_EQ(host_box_dup(BOX, &fd), 0);
	T_TRUE(number_of(fd) == contents);
	T_EQ(fcntl(fd, F_GETFD), 0);
	T_OK(close(fd));
}

T_CASE(a_descriptor_in_a_box_outlives_the_process_that_put_it_there)
{
	struct host_call hc = { .fd = -1 };
	int status;
	pid_t pid;

	(void)box_make();
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		put(5, 77);
		host_leave();
		raise(SIGKILL);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(WTERMSIG(status), SIGKILL);
	first_is(5, 77);
}

T_CASE(descriptors_lie_in_a_box_in_their_order_until_they_are_dropped)
{
	struct host_label l;
	int fd = -7;

	(void)box_make();
	T_EQ(host_box_look(BOX, &l), ENOENT);
	T_EQ(host_box_dup(BOX, &fd), ENOENT);
	host_box_drop(BOX); /* nothing */
	for (uint64_t id = 1; id <= 3; id++)
		put(id, id << 40 | 7);
	for (uint64_t id = 1; id <= 3; id++) {
		first_is(id, id << 40 | 7);
		first_is(id, id << 40 | 7);
		host_box_drop(BOX);
	}
	T_EQ(host_box_look(BOX, &l), ENOENT);
	T_EQ(fd, -7);
}

T_CASE(what_is_dropped_from_a_box_is_closed)
{
	struct host_label l = { 1, 3 };
	int p[2];
	char c;

	(void)box_make();
	for (int i = 0; i < 3; i++) {
		T_OK(pipe(p));
		T_OK(fcntl(p[0], F_SETFL, O_NONBLOCK));
		T_EQ(host_box_put(BOX, p[1], &l), 0);
		T_EQ(host_box_put(BOX, p[1], &l), 0);
		T_OK(close(p[1]));
		T_EQ(read(p[0], &c, 1), -1);
		host_box_drop(BOX);
		T_EQ(read(p[0], &c, 1), -1);
		if (i == 0)
			host_box_drop(BOX);
		else if (i == 1)
			host_box_empty(BOX);
		else
			host_sock_drop(BOX); /* its only holder */
		T_EQ(read(p[0], &c, 1), 0);
		T_OK(close(p[0]));
	}
	T_EQ(host_box_put(BOX, 0, &l), EIO);
}

T_CASE(a_process_without_a_free_number_takes_nothing_out_of_a_box)
{
	struct rlimit rl, less;
	int got = -7;

	(void)box_make();
	put(1, 11);
	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	less = rl;
	less.rlim_cur = 1;
	T_OK(setrlimit(RLIMIT_NOFILE, &less));
	T_EQ(host_box_dup(BOX, &got), EMFILE);
	T_EQ(got, -7);
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	first_is(1, 11);
}

T_CASE(putting_into_a_box_fails_as_it_says)
{
	struct host_label l = { 1, 3 };
	struct host_carrier c = box_make();
	int err, n;

	T_EQ(host_box_put(BOX, 999, &l), EBADF);
	T_EQ(host_box_put(BOX, -1, &l), EBADF);
	T_EQ(host_box_look(BOX, &l), ENOENT);
	for (n = 0; (err = host_box_put(BOX, 0, &l)) == 0; n++)
		T_LT(n, 1000000);
	T_EQ(err, EAGAIN);
	T_GT(n, 100);
	host_box_drop(BOX);
	T_EQ(host_box_put(BOX, 0, &l), 0);
	T_TRUE(host_carrier_alive(&c));
	host_sock_drop(BOX);
	T_FALSE(host_carrier_alive(&c));
	T_EQ(host_box_put(BOX, 0, &l), EIO);
	T_EQ(host_box_look(BOX, &l), EIO);
}

/* The program may close any number by a raw system call, and use it again. */
T_CASE(a_number_that_the_program_took_from_a_box_is_not_used)
{
	struct host_carrier c = box_make();
	int fd, other;

	for (fd = 3; fd < 2000; fd++) {
		struct host_carrier k;

		if (host_carrier_id(fd, &k) == 0 && k.cookie == c.cookie)
			break;
	}
	T_LT(fd, 2000);
	other = T_OK(socket(AF_UNIX, SOCK_DGRAM, 0));
	T_EQ(dup2(other, fd), fd);
	/* no other process has it */
	T_EQ(host_box_ready(BOX, false), EIO);
	T_FALSE(host_box_here(BOX));
	T_EQ(fcntl(fd, F_GETFD), 0);
}

/* A box takes from itself alone, and has no address to be found by. */
T_CASE(a_box_has_no_address)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof sun;
	struct stat st;
	int fd;

	setup();
	for (int i = 0; i < 20; i++) {
		struct host_carrier c;

		T_EQ(host_box_new(&fd, &c), 0);
		T_OK(getsockname(fd, (void *)&sun, &len));
		T_TRUE(len > 3 && sun.sun_path[0] == '/');
		T_ERR(stat(sun.sun_path, &st), ENOENT);
		T_OK(close(fd));
	}
}
