/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The last close of what has no other end: whichever process held a device or a
 * FIFO, and however it went, the driver hears of it, soon, and whatever becomes of
 * streamsd meanwhile.
 *
 * Two minors of `loop' are connected: the close of one hangs the other up.
 */
#include "held.h"
#include "left.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stropts.h>

#include <str/inspect.h>

#define SOON 1000 /* ms: from a death to the driver's close */

/* ------------------------------------------------------------- streamsd */

/* The harness adopts it, as the parent of this process. */
static int
streamsd(pid_t *ret_pid)
{
	return streamsd_of(getppid(), ret_pid);
}

static pid_t
the_streamsd(void)
{
	pid_t pid;

	T_SOON(streamsd(&pid) == 1, 5000);
	return pid;
}

static int
gone(pid_t pid)
{
	char comm[32];

	return parent_of(pid, comm) == 0;
}

static void
end_streamsd(struct t *t)
{
	pid_t pid;

	(void)t;
	while (streamsd(&pid) != 0) {
		kill(pid, SIGKILL);
		while (!gone(pid))
			t_pause();
	}
}

T_CONSTRUCTOR static void
end_each(void)
{
	t_after_each(end_streamsd);
}

T_CASE(a_killed_holder_is_closed_for)
{
	int fd[3];
	pid_t pid = holder(fd, 3);

	T_OK(kill(pid, SIGKILL));
	for (int i = 0; i < 3; i++)
		T_WITHIN(hung_up(fd[i]), SOON);
	T_OK(waitpid(pid, NULL, 0));
}

/* a sleeper on the other side hears it, and no other does anything */
T_CASE(a_sleeper_hears_of_a_killed_holder)
{
	struct pollfd p = { .events = POLLIN };
	int fd[1];
	pid_t pid = holder(fd, 1);

	T_OK(kill(pid, SIGKILL));
	p.fd = fd[0];
	T_EQ(poll(&p, 1, 5000), 1);
	T_TRUE(p.revents & POLLHUP);
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(a_child_that_made_no_call_is_a_holder_too)
{
	int fd[2];
	pid_t pid;

	fd[0] = open_loop(minor_next);
	fd[1] = open_loop(minor_next + 1);
	loop_connect(fd[0], fd[1]);
	pid = T_OK(fork());
	if (pid == 0)
		for (;;)
			pause();
	T_OK(close(fd[1]));
	T_FALSE(hung_up(fd[0]));
	T_OK(kill(pid, SIGKILL));
	T_WITHIN(hung_up(fd[0]), SOON);
	T_OK(waitpid(pid, NULL, 0));
}

/* Has streamsd a pidfd of @pid? */
static int
watched(pid_t pid)
{
	char dir[64], path[320], buf[512], want[32];
	struct dirent *e;
	int yes = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fdinfo", (int)the_streamsd());
	snprintf(want, sizeof(want), "\nPid:\t%d\n", (int)pid);
	d = opendir(dir);
	T_NOTNULL(d);
	while (!yes && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		(void)t_file(path, buf, sizeof(buf));
		yes = strstr(buf, want) != NULL;
	}
	closedir(d);
	return yes;
}

static int T_NORETURN
only_sleeps(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

static pid_t
made_by(int how)
{
	static _Alignas(16) char stack[16384];

	switch (how) {
	case 0:
		return fork();
	case 1:
		return _Fork();
	case 2:
		return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL,
			NULL);
	default:
		return clone(only_sleeps, stack + sizeof(stack), SIGCHLD, NULL);
	}
}

/*
 * streamsd watches a child before the child has executed an instruction: with
 * crash points a forked child is delayed before it can tell streamsd itself.
 */
T_CASE(a_child_that_has_not_run_yet_is_watched)
{
	int fd[2];
	pid_t pid;

	for (int how = 0; how < 4; how++) {
		fd[0] = open_loop(minor_next++);
		fd[1] = open_loop(minor_next++);
		loop_connect(fd[0], fd[1]);
		setenv("STREAMS_DELAY", "fork:child:60000", 1);
		pid = T_OK(made_by(how));
		if (pid == 0)
			(void)only_sleeps(NULL);
		setenv("STREAMS_DELAY", "", 1);
		T_SOON(watched(pid), 5000);
		T_OK(close(fd[1]));
		T_FALSE(hung_up(fd[0]));
		T_OK(kill(pid, SIGKILL));
		T_WITHIN(hung_up(fd[0]), SOON);
		T_OK(waitpid(pid, NULL, 0));
		T_OK(close(fd[0]));
	}
}

T_CASE(an_image_that_closes_on_exec_is_closed_for)
{
	int fd[2], in[2];
	pid_t pid;

	p_kernel_pipe(in);
	fd[0] = open_loop(minor_next);
	fd[1] = open_loop(minor_next + 1);
	loop_connect(fd[0], fd[1]);
	T_OK(fcntl(fd[1], F_SETFD, FD_CLOEXEC));
	pid = T_OK(fork());
	if (pid == 0) {
		dup2(in[0], 0);
		close(in[1]);
		close(fd[0]);
		execlp("cat", "cat", (char *)NULL);
		_exit(127);
	}
	T_OK(close(fd[1]));
	T_WITHIN(hung_up(fd[0]), SOON);
	T_OK(close(in[1]));
	T_TRUE(p_exited(pid, 0));
}

/* without streamsd: the last close is over when the parent knows of the end */
T_CASE(an_exit_in_order_has_closed_when_the_parent_hears_of_it)
{
	int fd[2], status;
	pid_t pid;

	setenv("STREAMS_DAEMON", "/nonexistent/streamsd", 1);
	for (int how = 0; how < 3; how++) {
		fd[0] = open_loop(minor_next);
		fd[1] = open_loop(minor_next + 1);
		minor_next += 2;
		loop_connect(fd[0], fd[1]);
		pid = T_OK(fork());
		if (pid == 0) {
			T_EQ(isastream(fd[1]), 1);
			T_FALSE(hung_up(fd[1]));
			T_OK(close(fd[0]));
			if (how == 0)
				exit(0);
			if (how == 1)
				_exit(0);
			T_OK(dup2(0, fd[1]));
			_exit(0);
		}
		T_OK(close(fd[1]));
		T_OK(waitpid(pid, &status, 0));
		T_EQ(status, 0);
		T_TRUE(hung_up(fd[0]));
		T_OK(close(fd[0]));
	}
	unsetenv("STREAMS_DAEMON");
}

/* ------------------------------------------------------- streamsd's own end */

T_CASE(streamsd_leaves_after_the_last_device)
{
	int fd = open_loop(minor_next);
	pid_t pid = the_streamsd();

	T_OK(close(fd));
	T_SOON(gone(pid), 5000);
}

/* Does process @pid hold @path? */
static int
has_open(pid_t pid, const char *path)
{
	char dir[64], link[320], to[4096];
	struct dirent *e;
	int yes = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	d = opendir(dir);
	while (d != NULL && !yes && (e = readdir(d)) != NULL) {
		ssize_t n;

		snprintf(link, sizeof(link), "%s/%s", dir, e->d_name);
		n = readlink(link, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = '\0';
		yes = strcmp(to, path) == 0;
	}
	if (d != NULL)
		closedir(d);
	return yes;
}

/* A member that has attached a device to @path and holds nothing else. */
static pid_t
attached(char *path)
{
	int tell[2], fd;
	pid_t pid;
	char c;

	strcpy(path, "/tmp/streams-name-XXXXXX");
	T_OK(close(T_OK(mkstemp(path))));
	p_kernel_pipe(tell);
	pid = T_OK(fork());
	if (pid == 0) {
		fd = open_loop(minor_next);
		T_OK(fattach(fd, path));
		T_OK(close(fd));
		T_EQ(write(tell[1], "k", 1), 1);
		for (;;)
			pause();
	}
	T_OK(close(tell[1]));
	T_EQ(read(tell[0], &c, 1), 1);
	T_OK(close(tell[0]));
	return pid;
}

/* It has looked at all streams, and sleeps for long, when the name comes. */
T_CASE(a_name_is_noticed_when_it_is_made)
{
	char path[64];
	int fd = open_loop(minor_next);
	pid_t d = the_streamsd();

	strcpy(path, "/tmp/streams-name-XXXXXX");
	T_OK(close(T_OK(mkstemp(path))));
	for (int i = 0; i < 3; i++) {
		T_TRUE(p_asleep(d, d));
		p_pause(SOON);
		T_FALSE(has_open(d, path));
		T_OK(fattach(fd, path));
		T_WITHIN(has_open(d, path), SOON);
		T_OK(fdetach(path));
		T_OK(unlink(path));
		T_OK(close(T_OK(open(path, O_CREAT | O_EXCL, 0600))));
	}
	T_OK(close(fd));
	T_OK(unlink(path));
}

T_CASE(a_name_goes_with_its_file)
{
	char path[64];
	pid_t member = attached(path), d = the_streamsd();

	T_SOON(has_open(d, path), 8000);
	T_OK(unlink(path));
	T_SOON(gone(d), 12000);
	T_FALSE(gone(member));
	kill(member, SIGKILL);
	T_OK(waitpid(member, NULL, 0));
}

T_CASE(a_name_goes_with_the_last_member_of_a_private_domain)
{
	char path[64];
	pid_t member = attached(path), d = the_streamsd();

	T_SOON(has_open(d, path), 8000);
	T_FALSE(gone(d));
	kill(member, SIGKILL);
	T_OK(waitpid(member, NULL, 0));
	T_SOON(gone(d), 12000);
	T_OK(unlink(path));
}

T_CASE(killed_before_the_holder_it_is_replaced_by_who_sleeps)
{
	struct pollfd p = { .events = POLLIN };
	int fd[1];
	pid_t pid = holder(fd, 1), d;

	/* both are asleep in calls, on devices, when it dies */
	for (int i = 0; i < 5; i++) {
		pid_t was = the_streamsd();
		pid_t sleeper = T_OK(fork());

		if (sleeper == 0) {
			p.fd = fd[0];
			_exit(poll(&p, 1, 5000) == 0);
		}
		T_TRUE(p_asleep(sleeper, sleeper));
		T_OK(kill(was, SIGKILL));
		T_SOON(streamsd(&d) == 1 && d != was, 5000);
		T_OK(kill(sleeper, SIGKILL));
		T_OK(waitpid(sleeper, NULL, 0));
	}
	T_OK(kill(pid, SIGKILL));
	T_WITHIN(hung_up(fd[0]), SOON);
	T_OK(waitpid(pid, NULL, 0));
}

/* ---------------------------------------------- what others have of a socket */

#define FIFO "/dev/streams/fifo/77"

/* A file of one byte on its way to the reader of the FIFO @to. */
static void
pass_one(int to, char c)
{
	int fd = T_OK(memfd_create("passed", 0));

	T_EQ(write(fd, &c, 1), 1);
	T_SOON(ioctl(to, I_SENDFD, fd) == 0, 5000);
	T_OK(close(fd));
}

static char
receive_one(int from)
{
	struct strrecvfd v;
	char c = 0;

	T_SOON(ioctl(from, I_RECVFD, &v) == 0, 5000);
	T_EQ(pread(v.fd, &c, 1, 0), 1);
	T_OK(close(v.fd));
	return c;
}

/* Receives a descriptor, and does nothing any more. */
static pid_t
sleeping_receiver(void)
{
	int tell[2], fd;
	pid_t pid;
	char c;

	p_kernel_pipe(tell);
	pid = T_OK(fork());
	if (pid == 0) {
		fd = T_OK(open(FIFO, O_RDWR | O_NONBLOCK));
		pass_one(fd, '1');
		if (receive_one(fd) != '1')
			_exit(1);
		pass_one(fd, '2');
		T_EQ(write(tell[1], "k", 1), 1);
		for (;;)
			pause();
	}
	T_OK(close(tell[1]));
	T_EQ(read(tell[0], &c, 1), 1);
	T_OK(close(tell[0]));
	return pid;
}

static bool
descriptors_can_be_taken(pid_t pid)
{
	int of = (int)syscall(SYS_pidfd_open, pid, 0), fd;

	if (of < 0)
		return false;
	fd = (int)syscall(SYS_pidfd_getfd, of, 0, 0);
	(void)syscall(SYS_close, of);
	(void)(fd >= 0 && syscall(SYS_close, fd));
	return fd >= 0;
}

/*
 * The socket in which the second descriptor waits is in the hands of one process
 * when streamsd has been killed, and that process sleeps in pause(2).
 */
T_CASE_TIMEOUT(a_process_that_only_sleeps_keeps_no_descriptor_back, 60)
{
	int fd = T_OK(open(FIFO, O_RDWR | O_NONBLOCK));
	pid_t asleep = sleeping_receiver(), d = the_streamsd(), pid;

	if (!descriptors_can_be_taken(asleep))
		T_SKIP("pidfd_getfd is not permitted");
	T_OK(kill(d, SIGKILL));
	T_SOON(gone(d), 5000);
	T_EQ(receive_one(fd), '2');
	T_OK(kill(the_streamsd(), SIGKILL));
	pid = T_OK(fork());
	if (pid == 0) {
		pass_one(T_OK(open(FIFO, O_WRONLY)), '3');
		_exit(0);
	}
	T_EQ(receive_one(fd), '3');
	T_TRUE(p_exited(pid, 0));
	T_FALSE(gone(asleep));
	T_OK(kill(asleep, SIGKILL));
	T_OK(waitpid(asleep, NULL, 0));
}

/* ---------------------------------------------------------- killed at any time */

/* a storm: holders and streamsd are killed at any time, many at once */
T_CASE_TIMEOUT(whenever_it_is_killed_nothing_stays_open, 60)
{
	int fd[4];
	pid_t pid, d;

	for (int round = 0; round < 12; round++) {
		pid = holder(fd, 4);
		(void)streamsd(&d);
		if (t_rand_below(2) && d != 0)
			(void)kill(d, SIGKILL);
		T_OK(kill(pid, SIGKILL));
		/* somewhere on its way through the four */
		for (uint64_t n = t_rand_below(3000); n > 0; n--)
			__asm__ volatile("" ::: "memory");
		(void)streamsd(&d);
		if (d != 0)
			(void)kill(d, SIGKILL);
		for (int i = 0; i < 4; i++) {
			struct pollfd p = { fd[i], POLLIN, 0 };

			T_EQ(poll(&p, 1, 5000), 1);
			T_TRUE(p.revents & POLLHUP);
			T_OK(close(fd[i]));
		}
		T_OK(waitpid(pid, NULL, 0));
	}
}

/* Two pipes, each of which is held only by messages in the other. */
static void
circle(void)
{
	int a[2], b[2], e;

	T_OK(pipe(a));
	T_OK(pipe(b));
	for (e = 0; e < 2; e++) {
		T_OK(ioctl(a[e], I_SENDFD, b[e]));
		T_OK(ioctl(b[e], I_SENDFD, a[e]));
	}
	for (e = 0; e < 2; e++) {
		T_OK(close(a[e]));
		T_OK(close(b[e]));
	}
}

static unsigned long long
streams(void)
{
	struct str_i_domain d;

	T_GE(strm_inspect(&d, sizeof(d), 0), (long)sizeof(d));
	return d.nstream;
}

#define BLOCKS 300000

/*
 * The search for circles walks over all memory.  The next sweep without a cause
 * is put off for two thousand times as long as that takes; the last close is a
 * cause.
 */
T_CASE_TIMEOUT(after_a_long_sweep_a_circle_is_freed_soon, 60)
{
	struct strbuf data = {.len = 1, .buf = (char[]){"x"}};
	unsigned long long before;
	int fd[2], i;

	(void)open_loop(minor_next); /* streamsd always has a stream to watch */
	T_OK(pipe(fd));
	for (i = 0; i < BLOCKS; i++)
		T_OK(putpmsg(fd[1], NULL, &data, 1, MSG_BAND));
	before = streams();
	for (i = 0; i < 3; i++) {
		circle();
		T_SOON(streams() == before, 8000);
	}
}

/* the library with its crash points: the program that it starts has them */
static void
killed_at(const char *label)
{
	struct pollfd p = { .events = POLLIN };
	int fd[2];
	pid_t pid, d;

	setenv("STREAMS_DAEMON_CRASH", label, 1);
	pid = holder(fd, 2);
	setenv("STREAMS_DAEMON_CRASH", "", 1);
	T_OK(kill(pid, SIGKILL));
	for (int i = 0; i < 2; i++) {
		p.fd = fd[i];
		if (poll(&p, 1, 10000) != 1)
			T_FAIL("killed at %s, it left number %d open", label,
				i);
		T_TRUE(p.revents & POLLHUP);
		T_OK(close(fd[i]));
	}
	T_OK(waitpid(pid, NULL, 0));
	if (streamsd(&d) != 0) {
		(void)kill(d, SIGKILL);
		T_SOON(gone(d), 5000);
	}
}

/* DAEMON_CRASHES: the labels, with blanks between them */
T_CASE_TIMEOUT(killed_at_a_labelled_point_it_is_followed_by_another, 120)
{
	char *list = getenv("DAEMON_CRASHES");

	if (list == NULL)
		T_SKIP("built without crash points");
	for (char *l = strtok(list, " "); l != NULL; l = strtok(NULL, " "))
		killed_at(l);
}
