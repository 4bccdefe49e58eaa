/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A process that takes another user is no member of its former user's domain:
 * nothing of it is mapped, no descriptor of it is open, its Streams are closed,
 * and a new pipe is one of the new user's domain.
 *
 * As root, who becomes OTHER.  Targets: the named domain "users", a private one.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xti.h>

#undef T_NULL
#undef T_UNUSED
#include "t.h"

#define OTHER 1000
#define SOON 2000 /* ms */

T_TARGETS("named", "private");

static void
setup(void)
{
	if (geteuid() != 0)
		T_SKIP("only root can take another user");
	t_own_mounts();
	T_OK(mount("none", "/dev/shm", "tmpfs", 0, "mode=1777"));
	T_OK(setenv("STREAMS_DOMAIN", t_target()[0] == 'n' ? "users" : "private", 1));
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)signal(SIGPIPE, SIG_IGN);
}

/* Does a line of the file name a domain? */
static bool
maps_have_domain(const char *path)
{
	static char buf[262144];

	T_NE(t_file(path, buf, sizeof buf), 0u);
	return strstr(buf, "memfd:streams") != NULL ||
		strstr(buf, "/streams-") != NULL ||
		strstr(buf, "\n69fffc") != NULL; /* the code window */
}

static bool
is_of_domain(int fd, char to[256])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, to, 255);
	if (n < 0)
		return false;
	to[n] = '\0';
	return strstr(to, "memfd:streams") != NULL ||
		strstr(to, "/streams-") != NULL ||
		strncmp(to, "socket:", 7) == 0;
}

/* Nothing of a domain is here: descriptors 0 to 2 may be the harness's. */
static void
no_domain(void)
{
	char to[256];

	T_FALSE(maps_have_domain("/proc/self/maps"));
	for (int fd = 3; fd < 2000; fd++)
		if (is_of_domain(fd, to))
			T_FAIL("descriptor %d is the domain's: %s", fd, to);
}

static void
pipe_works(void)
{
	char buf[4];
	int p[2];

	T_OK(pipe(p));
	T_EQ(isastream(p[0]), 1);
	T_EQ(write(p[1], "new", 3), 3);
	T_EQ(read(p[0], buf, sizeof buf), 3);
	T_MEM(buf, "new", 3);
	T_OK(close(p[0]));
	T_OK(close(p[1]));
}

/* As two users at once a process is let into no domain with a name. */
static void
pipe_as_two_users(void)
{
	int p[2];

	if (strcmp(t_target(), "named") == 0)
		T_ERR(pipe(p), ENOSR);
	else
		pipe_works();
}

static void
is_gone(int fd)
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	struct stat st;
	char c;

	T_ERR(read(fd, &c, 1), EBADF);
	T_ERR(write(fd, "", 1), EBADF);
	T_ERR(ioctl(fd, I_NREAD, &pfd.fd), EBADF);
	/* nor does it lead to a directory, out of a root that is left */
	T_ERR(fchdir(fd), ENOTDIR);
	T_ERR(openat(fd, "etc", O_RDONLY), ENOTDIR);
	T_EQ(poll(&pfd, 1, 1000), 1);
	T_EQ(pfd.revents, POLLNVAL);
	/* and the number is taken: nothing opened later gets it */
	T_OK(fstat(fd, &st));
	T_OK(fcntl(fd, F_GETFD));
}

/* Take the other user, in one of four ways. */
static int
take(int how)
{
	switch (how) {
	case 0:
		return setuid(OTHER);
	case 1:
		return seteuid(OTHER);
	case 2:
		return setreuid(OTHER, OTHER);
	default:
		return setresuid(OTHER, OTHER, OTHER);
	}
}

static void
leaves(int how)
{
	int p[2], q[2], status;
	pid_t pid;
	char c;

	setup();
	T_OK(pipe(p));
	T_OK(pipe(q));
	T_OK(fcntl(q[1], F_SETFD, FD_CLOEXEC));
	T_TRUE(maps_have_domain("/proc/self/maps"));
	pid = T_OK(fork());
	if (pid == 0) {
		/* what it has written before is read: it is as if it ended */
		T_EQ(write(p[1], "x", 1), 1);
		T_OK(take(how));
		no_domain();
		is_gone(p[0]);
		is_gone(p[1]);
		is_gone(q[0]);
		T_EQ(fcntl(q[1], F_GETFD), FD_CLOEXEC);
		T_EQ(fcntl(q[0], F_GETFD), 0);
		if (how == 1)
			pipe_as_two_users();
		else
			pipe_works();
		T_OK(close(p[0]));
		T_ERR(close(p[0]), EBADF);
		_exit(0);
	}
	T_OK(close(p[1]));
	T_EQ(read(p[0], &c, 1), 1);
	T_EQ(read(p[0], &c, 1), 0);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	/* the others go on */
	T_EQ(write(q[1], "x", 1), 1);
	T_EQ(read(q[0], &c, 1), 1);
	pipe_works();
}

T_CASE(each_of_the_four_calls_leaves)
{
	for (int how = 0; how < 4; how++)
		leaves(how);
}

/* The process that made the domain, alone in it. */
T_CASE(the_last_member_leaves)
{
	int p[2];

	setup();
	T_OK(pipe(p));
	T_EQ(write(p[1], "old", 3), 3);
	T_OK(setuid(OTHER));
	no_domain();
	is_gone(p[0]);
	is_gone(p[1]);
	pipe_works();
}

/* The other end hears of it at once, while the process lives on. */
T_CASE(the_other_end_is_told)
{
	struct pollfd pfd = { 0, POLLIN, 0 };
	int p[2], s[2], status;
	pid_t pid;
	char c;

	setup();
	T_OK(pipe(p));
	T_OK((int)syscall(SYS_pipe2, s, 0));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(p[0]));
		T_OK(close(s[1]));
		T_OK(setuid(OTHER));
		T_EQ(read(s[0], &c, 1), 0);
		_exit(0);
	}
	T_OK(close(p[1]));
	pfd.fd = p[0];
	T_EQ(poll(&pfd, 1, SOON), 1);
	T_TRUE(pfd.revents & POLLHUP);
	T_EQ(read(p[0], &c, 1), 0);
	T_OK(close(s[1]));
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
}

/* A device, whose last close streamsd has to notice in other cases. */
T_CASE(a_device_is_closed)
{
	int a, b, status, s[2];
	pid_t pid;
	char c;

	setup();
	T_OK((int)syscall(SYS_pipe2, s, 0));
	a = T_OK(open("/dev/streams/loop/71", O_RDWR));
	pid = T_OK(fork());
	if (pid == 0) {
		b = T_OK(open("/dev/streams/loop/71", O_RDWR));
		T_OK(close(a));
		T_OK(setuid(OTHER));
		no_domain();
		is_gone(b);
		T_EQ(read(s[0], &c, 1), 1);
		_exit(0);
	}
	T_EQ(write(s[1], "x", 1), 1);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	T_OK(close(a));
	T_OK(close(s[0]));
	T_OK(close(s[1]));
}

T_CASE(a_transport_endpoint_is_gone)
{
	int fd;

	setup();
	fd = T_OK(t_open("/dev/ticotsord", O_RDWR, NULL));
	T_OK(t_bind(fd, NULL, NULL));
	T_EQ(t_look(fd), 0);
	T_OK(setuid(OTHER));
	no_domain();
	T_EQ(t_look(fd), -1);
	T_EQ(t_errno, TBADF);
	T_EQ(t_getstate(fd), -1);
	T_EQ(t_errno, TBADF);
	T_OK(close(fd));
}

/* A child that has made no call is no member, but it has the mapping. */
T_CASE(a_child_leaves_before_its_first_call)
{
	int p[2], status;
	pid_t pid;
	char c;

	setup();
	T_OK(pipe(p));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setuid(OTHER));
		no_domain();
		is_gone(p[0]);
		is_gone(p[1]);
		pipe_works();
		_exit(0);
	}
	T_OK(close(p[1]));
	T_EQ(read(p[0], &c, 1), 0);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	pipe_works();
}

/* By the raw system call: noticed when the child first needs the domain. */
T_CASE(a_raw_system_call_of_a_child_is_noticed_at_its_first_call)
{
	int p[2], q[2], status;
	pid_t pid;

	setup();
	T_OK(pipe(p));
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(syscall(SYS_setresuid, OTHER, OTHER, OTHER), 0);
		T_ERR(write(p[1], "x", 1), EACCES);
		T_EQ(pipe(q), -1);
		_exit(0);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	pipe_works();
}

T_CASE(a_program_that_is_executed_after_it_has_nothing)
{
	int p[2], status;
	pid_t pid;

	setup();
	T_OK(pipe(p));
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(write(p[1], "x", 1), 1);
		T_OK(setuid(OTHER));
		/* of what it inherits, no socket and no domain's file */
		execl("/bin/sh", "sh", "-c", "for f in /proc/self/fd/*; do "
			"case $(readlink $f) in socket:*|*streams*) "
			"test ${f##*/} -lt 3 || exit 9;; esac; done",
			(char *)NULL);
		_exit(127);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
}

/* -------------------------------------------------------- no other user */

static void
stays(int ret, int err, int p[2])
{
	char c;

	T_EQ(ret, err == 0 ? 0 : -1);
	if (err != 0)
		T_EQ(errno, err);
	T_EQ(write(p[1], "x", 1), 1);
	T_EQ(read(p[0], &c, 1), 1);
}

T_CASE(whose_user_stays_stays)
{
	int p[2];

	setup();
	T_OK(pipe(p));
	stays(setuid(0), 0, p);
	stays(seteuid(0), 0, p);
	stays(setreuid((uid_t)-1, 0), 0, p);
	stays(setresuid((uid_t)-1, (uid_t)-1, OTHER), 0, p);
	stays(setgid(OTHER), 0, p);
	stays(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0, p);
	stays(setuid((uid_t)-1), EINVAL, p);
}

T_CASE(what_is_not_permitted_costs_nothing)
{
	int p[2];

	setup();
	T_OK(setuid(OTHER));
	T_OK(pipe(p));
	stays(setuid(0), EPERM, p);
	stays(seteuid(OTHER + 1), EPERM, p);
	stays(setreuid(0, (uid_t)-1), EPERM, p);
	stays(setresuid(OTHER, 0, OTHER), EPERM, p);
}

T_CASE(there_and_back)
{
	int p[2];

	setup();
	for (int i = 0; i < 20; i++) {
		T_OK(pipe(p));
		T_OK(seteuid(OTHER));
		is_gone(p[0]);
		T_OK(close(p[0]));
		T_OK(close(p[1]));
		pipe_as_two_users();
		T_OK(seteuid(0));
		pipe_works();
	}
	T_OK(setuid(OTHER));
	no_domain();
}

/* --------------------------------------------------------------- threads */

static int blocked[2];
static volatile int asleep, go_on;

static pid_t reader_tid;

static void *
reader(void *arg)
{
	char c;

	reader_tid = gettid();
	return (void *)(intptr_t)read(blocked[0], &c, 1);
}

static bool
is_asleep(pid_t tid)
{
	char path[64], buf[512];

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	return tid != 0 && t_file(path, buf, sizeof buf) != 0 &&
		strstr(buf, ") S ") != NULL;
}

T_CASE(while_a_thread_sleeps_in_a_call_it_is_refused)
{
	pthread_t id;
	void *ret;
	uint64_t t0;
	int p[2];

	setup();
	T_OK(pipe(blocked));
	T_OK(pipe(p));
	T_EQ(pthread_create(&id, NULL, reader, NULL), 0);
	T_SOON(is_asleep(reader_tid), 5000);
	t0 = t_now_ns();
	stays(setuid(OTHER), EAGAIN, p);
	T_LT(t_now_ns() - t0, 2000000000u);
	T_EQ(getuid(), 0);
	T_EQ(write(blocked[1], "x", 1), 1);
	T_EQ(pthread_join(id, &ret), 0);
	T_EQ((intptr_t)ret, 1);
	T_OK(setuid(OTHER));
	no_domain();
	pipe_works();
}

static void *
user(void *arg)
{
	pipe_works();
	asleep = 1;
	while (!go_on)
		t_pause();
	/* it is another process's thread by now, as it were */
	pipe_works();
	return NULL;
}

T_CASE(a_thread_that_is_in_no_call_goes_on_in_the_new_domain)
{
	pthread_t id[4];

	setup();
	for (int i = 0; i < 4; i++) {
		asleep = 0;
		T_EQ(pthread_create(&id[i], NULL, user, NULL), 0);
		T_SOON(asleep, 5000);
	}
	T_OK(setuid(OTHER));
	no_domain();
	go_on = 1;
	for (int i = 0; i < 4; i++)
		T_EQ(pthread_join(id[i], NULL), 0);
	pipe_works();
}

static volatile int stop;
static volatile unsigned calls;

static void *
caller(void *arg)
{
	char c;
	int p[2];

	while (!stop) {
		/* gone in the middle: EBADF; or the attach fails for a while */
		if (pipe(p) != 0)
			continue;
		for (int i = 0; i < 50; i++)
			if (write(p[1], "x", 1) != 1 || read(p[0], &c, 1) != 1)
				break;
		close(p[0]);
		close(p[1]);
		calls++;
	}
	return NULL;
}

T_CASE_TIMEOUT(threads_that_are_at_work_meanwhile, 60)
{
	uint64_t end = t_now_ns() + 3000000000u;
	unsigned left = 0, refused = 0;
	pthread_t id[3];

	setup();
	for (int i = 0; i < 3; i++)
		T_EQ(pthread_create(&id[i], NULL, caller, NULL), 0);
	while (t_now_ns() < end) {
		uid_t to = geteuid() == 0 ? OTHER : 0;

		if (seteuid(to) == 0)
			left++;
		else if (errno == EAGAIN)
			refused++;
		else
			T_FAIL("seteuid: %s", t_errno_name(errno));
		t_pause();
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		T_EQ(pthread_join(id[i], NULL), 0);
	T_GT(left, 2);
	T_GT(calls, 10);
	printf("# left %u, refused %u, %u pipes\n", left, refused, calls);
}

/* -------------------------------------------------------- user namespace */

static bool
map_users(pid_t pid)
{
	char path[64];
	bool ok = true;

	for (int i = 0; i < 2; i++) {
		int fd;

		snprintf(path, sizeof path, "/proc/%d/%s_map", (int)pid,
			i == 0 ? "uid" : "gid");
		fd = open(path, O_WRONLY);
		ok = ok && fd >= 0 && write(fd, "0 0 2000", 8) == 8;
		(void)close(fd);
	}
	return ok;
}

T_CASE(in_a_user_namespace)
{
	int up[2], down[2], p[2], status;
	pid_t pid;
	char c;

	setup();
	T_OK((int)syscall(SYS_pipe2, up, 0));
	T_OK((int)syscall(SYS_pipe2, down, 0));
	pid = T_OK(fork());
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER) != 0)
			_exit(77);
		T_EQ(write(up[1], "", 1), 1);
		T_EQ(read(down[0], &c, 1), 1);
		T_OK(pipe(p));
		T_OK(setuid(OTHER));
		no_domain();
		is_gone(p[0]);
		pipe_works();
		_exit(0);
	}
	T_OK(close(up[1]));
	if (read(up[0], &c, 1) == 1) {
		if (!map_users(pid))
			T_SKIP("the users of a namespace cannot be mapped");
		T_EQ(write(down[1], "", 1), 1);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		T_SKIP("user namespaces are not permitted");
	T_EQ(status, 0);
}
