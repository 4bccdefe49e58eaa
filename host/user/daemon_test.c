/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd: how it is started, and when it leaves.  With the real program
 * (tools/streamsd) around the test double of the executive.
 */
#include "daemon_fixture.h"

/* ---------------------------------------------------------------- starts */

T_CASE(the_first_who_asks_starts_it)
{
	pid_t pid;

	setup();
	T_EQ(daemon_pid(), 0);
	T_EQ(ask(), 0);
	pid = daemon_pid();
	T_GT(pid, 0);
	T_FALSE(gone(pid));
	T_EQ(ask(), 0);
	T_EQ(daemon_pid(), pid);
	T_EQ(daemons(), 1);
}

static void
read_all(const char *what, pid_t pid, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
	fd = T_OK(open(path, O_RDONLY));
	n = T_OK(read(fd, buf, size - 1));
	buf[n] = '\0';
	for (ssize_t i = 0; i < n; i++)
		if (buf[i] == '\0')
			buf[i] = ' ';
	T_OK(close(fd));
}

T_CASE(it_inherits_nothing_but_the_domain)
{
	char buf[4096], path[64], to[256];
	struct dirent *e;
	pid_t pid;
	DIR *d;
	int p[2];
	sigset_t all;

	setenv("SECRET", "told to nobody", 1);
	unsetenv("TSAN_OPTIONS");
	setup();
	(void)signal(SIGUSR1, SIG_IGN);
	sigfillset(&all);
	T_OK(sigprocmask(SIG_BLOCK, &all, NULL));
	T_OK(pipe(p));
	T_OK(dup2(p[0], 200));
	T_EQ(ask(), 0);
	pid = daemon_pid();
	settled();
	read_all("environ", pid, buf, sizeof buf);
	T_STR(buf, "STREAMS_DOMAIN=fd:3 STREAMS_LINGER=60000 ");
	read_all("status", pid, buf, sizeof buf);
	T_NOTNULL(strstr(buf, "SigBlk:\t0000000000000000"));
	/* SIGPIPE is its own */
	T_NOTNULL(strstr(buf, "SigIgn:\t0000000000001000"));
	T_NOTNULL(strstr(buf, "Umask:\t0077"));
	snprintf(path, sizeof path, "/proc/%d/cwd", (int)pid);
	T_EQ(readlink(path, to, sizeof to), 1);
	T_NE(getsid(pid), getsid(0));
	T_NE(getsid(pid), pid);
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	d = opendir(path);
	T_NOTNULL(d);
	while ((e = readdir(d)) != NULL) {
		ssize_t n;

		if (e->d_name[0] == '.')
			continue;
		n = T_OK(readlinkat(dirfd(d), e->d_name, to, sizeof to - 1));
		to[n] = '\0';
		if (atoi(e->d_name) < 3)
			T_STR(to, "/dev/null");
		else if (atoi(e->d_name) == 3)
			T_NOTNULL(strstr(to, "memfd:streams"));
		else if (strstr(to, "pipe:") != NULL)
			T_FAIL("it has descriptor %s, %s", e->d_name, to);
	}
	closedir(d);
}

T_CASE(its_scheduling_policy_is_the_ordinary_one)
{
	struct sched_param one = { .sched_priority = 1 };
	pid_t pid;

	setup();
	if (sched_setscheduler(0, SCHED_FIFO, &one) != 0)
		T_SKIP("no real-time policy is permitted");
	T_EQ(ask(), 0);
	pid = daemon_pid();
	settled();
	T_EQ(sched_getscheduler(0), SCHED_FIFO);
	T_EQ(sched_getscheduler(pid), SCHED_OTHER);
}

static volatile sig_atomic_t children;

static void
on_child(int sig)
{
	children++;
}

T_CASE(who_starts_it_has_no_child_and_no_descriptor_more)
{
	setup();
	(void)signal(SIGCHLD, on_child);
	T_CHECK_FDS();
	T_EQ(ask(), 0);
	T_ERR(waitpid(-1, NULL, WNOHANG | __WALL), ECHILD);
	T_EQ(children, 0);
	host_fd_drop(HOST_FD_DAEMON);
	host_fd_drop(HOST_FD_BELL);
	host_fd_drop(HOST_FD_SOCKDIR);
}

/* even a program that has no descriptor left but two, and odd ones */
T_CASE(standard_descriptors_may_be_closed)
{
	setup();
	for (int fd = 0; fd < 10; fd++)
		if (fd != 1 && fd != 2)
			(void)close(fd);
	T_EQ(ask(), 0);
	settled();
}

T_CASE(twenty_at_once_start_one)
{
	uint64_t *named;
	int status;

	setup();
	named = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 20; i++) {
		if (T_OK(fork()) != 0)
			continue;
		while (str_load((str_a64 *)&named[20]) == 0)
			host_yield();
		T_EQ(ask(), 0);
		named[i] = name();
		_exit(0);
	}
	str_store((str_a64 *)&named[20], 1ull);
	for (int i = 0; i < 20; i++) {
		T_OK(wait(&status));
		T_EQ(status, 0);
	}
	for (int i = 0; i < 20; i++)
		T_TRUE(named[i] == named[0]);
	T_EQ(daemons(), 1);
}

T_CASE(a_program_that_is_not_there_is_told_and_not_tried_again_at_once)
{
	setup();
	program("/nonexistent/streamsd");
	T_EQ(ask(), ENOENT);
	T_EQ(daemon_pid(), 0);
	program(self);
	T_EQ(ask(), ENOENT);
	/* but later it is */
	str_store(&host_shared(host_domain)->daemon_retry, 0ull);
	T_EQ(ask(), 0);
	T_FALSE(gone(daemon_pid()));
}

/*
 * A sleeper may start it while another thread changes the environment, which
 * is then not to be looked at.
 */
T_CASE(what_is_put_into_the_environment_later_is_not_heard)
{
	setup();
	T_OK(setenv("STREAMS_DAEMON", "/nonexistent/streamsd", 1));
	T_EQ(ask(), 0);
	T_FALSE(gone(daemon_pid()));
}

/* who is asleep by then tries it again too */
T_CASE(a_sleeper_tries_again_by_itself)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev;

	setup();
	want(true);
	program("/nonexistent/streamsd");
	up_enter(&hc);
	T_EQ(host_daemon(), ENOENT);
	program(self);
	T_EQ(host_wait_carrier(&hc, 10000 * MS, &ev), 0);
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	host_leave();
	T_GT(daemon_pid(), 0);
}

T_CASE(a_program_that_is_something_else_is_told)
{
	setup();
	program("/bin/true");
	T_EQ(ask(), ESRCH);
	T_EQ(daemon_pid(), 0);
}

/* ----------------------------------------------------------------- leaves */

T_CASE(it_leaves_when_nothing_wants_it)
{
	pid_t pid;

	setup_in("private", "0");
	T_EQ(ask(), 0);
	pid = daemon_pid();
	T_SOON(name() == 0 && gone(pid), 5000);
	/* and comes again */
	T_EQ(ask(), 0);
	T_NE(daemon_pid(), pid);
}

T_CASE(it_stays_while_it_is_wanted)
{
	uint64_t before;
	pid_t pid;

	setup_in("private", "0");
	want(true);
	T_EQ(ask(), 0);
	pid = daemon_pid();
	before = looks();
	/* the second look is later than it would have gone */
	T_SOON(looks() >= before + 3, 5000);
	T_EQ(daemon_pid(), pid);
	T_FALSE(gone(pid));
	want(false);
	T_SOON(gone(pid), 5000);
}

T_CASE(asked_while_it_leaves_it_stays_or_another_comes)
{
	setup_in("private", "0");
	for (int i = 0; i < 30; i++) {
		T_EQ(ask(), 0);
		T_SOON(name() == 0 || i % 3 != 0, 5000);
	}
	T_EQ(ask(), 0);
	T_LE(daemons(), 2);
}

T_CASE(killed_while_it_leaves_it_is_replaced)
{
	static const char *const label[] = {
		"streamsd:leave", "daemon:resigned",
	};
	pid_t pid;

	for (size_t i = 0; i < STR_ARRAY_LEN(label); i++) {
		setenv("STREAMS_DAEMON_CRASH", label[i], 1);
		setup_in("private", "0");
		T_EQ(ask(), 0);
		pid = daemon_pid();
		T_SOON(gone(pid), 5000);
		setenv("STREAMS_DAEMON_CRASH", "", 1);
		T_EQ(ask(), 0);
		T_EQ(daemons(), 1);
		kill_daemon();
	}
}

/* Lock the domain's file in @dir, as a process that has just ended may. */
static int
lock_file(const char *dir)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	int fd = -1;

	T_NOTNULL(d);
	while (fd < 0 && (e = readdir(d)) != NULL)
		if (e->d_type == DT_REG)
			fd = T_OK(openat(dirfd(d), e->d_name,
				O_RDWR | O_CLOEXEC));
	closedir(d);
	T_OK(flock(fd, LOCK_SH));
	return fd;
}

/* The last member's end is its own; nothing is left.  @lock: its lock stays until
 * streamsd is about to leave. */
static void
alone(int sig, bool lock)
{
	char dir[] = "/tmp/streams-daemon-XXXXXX", path[128];
	struct stat st;
	volatile pid_t *tell;
	pid_t pid;
	int status, fd = -1;

	T_NOTNULL(mkdtemp(dir));
	T_OK(setenv("XDG_RUNTIME_DIR", dir, 1));
	tell = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = T_OK(fork());
	if (pid == 0) {
		setup_in("apart", "60000");
		T_EQ(ask(), 0);
		*tell = daemon_pid();
		while (lock && tell[1] == 0)
			t_pause();
		if (sig != 0)
			raise(sig);
		exit(0);
	}
	snprintf(path, sizeof path, "%s/streams", dir);
	if (lock) {
		T_SOON(*tell > 0, 5000);
		fd = lock_file(path);
		tell[1] = 1;
	}
	T_OK(waitpid(pid, &status, 0));
	for (uint64_t end = t_now_ns() + 50000000; lock && t_now_ns() < end;)
		t_pause();
	(void)close(fd);
	T_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, sig);
	T_GT(*tell, 0);
	T_SOON(gone(*tell), 5000);
	T_ERR(stat(path, &st), ENOENT);
	T_OK(rmdir(dir));
}

T_CASE(alone_it_leaves_at_once_and_takes_the_domain_away)
{
	alone(0, false);
}

T_CASE(when_the_last_member_was_killed_it_does_so_too)
{
	alone(SIGKILL, false);
}

T_CASE(so_it_does_when_that_one_s_lock_stays_a_moment_longer)
{
	alone(SIGKILL, true);
}

/* In a child: attach to the domain @path, which wants it. */
static void
member_of(const char *path, pid_t *tell)
{
	setup_in(path, "0");
	want(true);
	T_EQ(ask(), 0);
	settled();
	*tell = daemon_pid();
}

/* In a child: streamsd's memory is gone, but its process is still there. */
static void
come_while_it_ends(const char *path)
{
	struct host_call hc = { .fd = -1 };
	pid_t pid, first;
	bool runs;

	member_of(path, &first);
	(void)str_or(&host_domain->proc[name() >> 32 & (STR_NPROC - 1)].life,
		FUTEX_OWNER_DIED);
	pid = T_OK(fork());
	if (pid == 0) {
		poll(NULL, 0, 50);
		kill(first, SIGKILL);
		_exit(0);
	}
	str_store(&host_shared(host_domain)->daemon_begun, 0ull);
	up_enter(&hc);
	runs = host_daemon_begin();
	host_leave();
	T_FALSE(runs);
	T_OK(waitpid(pid, NULL, 0));
	T_SOON(daemon_pid() > 0 && daemon_pid() != first, 5000);
	want(false);
}

T_CASE(who_comes_while_it_ends_starts_another)
{
	char dir[] = "/tmp/streams-daemon-XXXXXX", path[128];
	int status;
	pid_t pid;

	T_NOTNULL(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/domain", dir);
	pid = T_OK(fork());
	if (pid == 0) {
		come_while_it_ends(path);
		exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	T_SOON(rmdir(dir) == 0, 5000);
}

/* What wants it is a link or a name, of which no process can know any more. */
T_CASE(when_the_domain_was_removed_and_nobody_is_left_it_leaves)
{
	char dir[] = "/tmp/streams-daemon-XXXXXX", path[128];
	uint64_t before;
	pid_t pid, *tell;
	int i, status;

	T_NOTNULL(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/domain", dir);
	tell = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < 2; i++) {
		pid = T_OK(fork());
		if (pid == 0) {
			member_of(path, &tell[i]);
			if (i == 0)
				raise(SIGKILL);
			/* we are here: it stays */
			T_OK(unlink(path));
			before = looks();
			T_SOON(looks() >= before + 2, 10000);
			T_FALSE(gone(tell[i]));
			raise(SIGKILL);
		}
		T_OK(waitpid(pid, &status, 0));
		T_TRUE(WIFSIGNALED(status));
	}
	/* no process was there, but the name */
	T_GT(tell[0], 0);
	T_EQ(tell[1], tell[0]);
	T_SOON(gone(tell[0]), 10000);
	T_OK(rmdir(dir));
}
