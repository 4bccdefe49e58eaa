/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd: who starts it, when it goes, what it notices.  With the real
 * program (tools/streamsd) around the executive's test double.
 *
 * The program is this one: called `streamsd', by whatever path, it is that.
 */
#include <dirent.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

#define MS 1000000ull

int streamsd_main(int argc, char **argv);

STR_CONSTRUCTOR static void
be_streamsd(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	if (strcmp(slash != NULL ? slash + 1 : argv[0], "streamsd") == 0)
		exit(streamsd_main(argc, argv));
}

static char self[512];

static void
setup_in(const char *domain, const char *linger)
{
	struct host_call hc = { .fd = -1 };
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	T_GT(n, 0);
	setenv("STREAMS_DOMAIN", domain, 1);
	setenv("STREAMS_LINGER", linger, 1);
	setenv("STREAMS_DAEMON", self, 1);
	up_enter(&hc);
	host_leave();
}

/* It stays for as long as the test. */
static void
setup(void)
{
	setup_in("private", "60000");
}

/* It is read when a process comes: come with another program. */
static void
program(const char *path)
{
	T_OK(setenv("STREAMS_DAEMON", path, 1));
	host_daemon_environment();
}

static int
ask(void)
{
	struct host_call hc = { .fd = -1 };
	int err;

	up_enter(&hc);
	err = host_daemon();
	host_leave();
	return err;
}

static void
want(bool yes)
{
	str_store(up_word(UP_WANTED), yes ? 1ull : 0ull);
}

static uint64_t
name(void)
{
	return str_load(&host_shared(host_domain)->daemon);
}

/* Its pid; 0: no process says that it is. */
static pid_t
daemon_pid(void)
{
	return name() >> 62 == 2 ? (pid_t)(uint32_t)name() : 0;
}

static char
state_of(pid_t pid)
{
	char path[64], buf[512], *p;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, buf, sizeof buf - 1);
		(void)close(fd);
	}
	if (n <= 0)
		return 'X';
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p != NULL ? p[2] : 'X';
}

static bool
gone(pid_t pid)
{
	char c = state_of(pid);
	struct pollfd pfd = { -1, POLLIN, 0 };

	if (c != 'Z')
		return c == 'X';
	/* its other thread may take a moment longer */
	pfd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pfd.fd >= 0) {
		c = poll(&pfd, 1, 0) == 1 ? 'X' : 'S';
		(void)close(pfd.fd);
	}
	return c != 'S';
}

/* Member slots of living daemons. */
static int
daemons(void)
{
	uint32_t high = str_load(&host_domain->proc_high);
	int n = 0;

	for (uint32_t i = 0; i < high; i++) {
		struct str_proc *p = &host_domain->proc[i];

		if ((str_load(&p->flags) & STR_PROC_DAEMON) &&
		    str_load(&p->pid) != 0 &&
		    !gone((pid_t)str_load(&p->pid)))
			n++;
	}
	return n;
}

/* A case that passed leaves none behind. */
static void
end_daemon(struct t *t)
{
	if (host_domain != NULL && daemon_pid() != 0)
		(void)kill(daemon_pid(), SIGKILL);
}

STR_CONSTRUCTOR static void
end_each(void)
{
	t_after_each(end_daemon);
}

static bool
member(pid_t pid)
{
	uint32_t high = str_load(&host_domain->proc_high);

	for (uint32_t i = 0; i < high; i++)
		if (str_load(&host_domain->proc[i].pid) == (uint32_t)pid)
			return true;
	return false;
}

/* What the daemon has done; while nothing is wanted only events make it. */
static uint64_t
looks(void)
{
	return str_load(up_word(UP_DIED));
}

/* It has done what starting asks for, and sleeps. */
static void
settled(void)
{
	T_SOON(looks() != 0 && state_of(daemon_pid()) == 'S', 5000);
}

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

/* ----------------------------------------------------------------- dies */

static void
kill_daemon(void)
{
	pid_t pid = daemon_pid();

	T_GT(pid, 0);
	T_OK(kill(pid, SIGKILL));
	T_SOON(gone(pid), 5000);
}

T_CASE(after_its_death_the_next_who_asks_starts_another)
{
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	for (int i = 0; i < 3; i++) {
		pid = daemon_pid();
		kill_daemon();
		T_EQ(ask(), 0);
		T_NE(daemon_pid(), pid);
		T_FALSE(gone(daemon_pid()));
	}
}

T_CASE(who_sleeps_starts_another_when_it_dies)
{
	struct host_call hc = { .fd = -1 };
	pid_t pid, was;
	uint32_t ev;

	setup();
	want(true);
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		T_EQ(host_daemon(), 0);
		for (;;)
			(void)host_wait_carrier(&hc, UINT64_MAX, &ev);
	}
	for (int i = 0; i < 3; i++) {
		T_SOON(daemon_pid() != 0 && !gone(daemon_pid()), 5000);
		T_SOON(state_of(pid) == 'S', 5000);
		was = daemon_pid();
		kill_daemon();
		T_SOON(daemon_pid() != was && daemon_pid() != 0, 5000);
	}
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
}

/* a sleeper that comes when there is none, and one is wanted */
T_CASE(who_goes_to_sleep_starts_it_when_it_is_wanted)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev;

	setup();
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	T_EQ(daemon_pid(), 0);
	want(true);
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	T_GT(daemon_pid(), 0);
	host_leave();
}

/* it died before this process had looked for it */
T_CASE(who_goes_to_sleep_after_its_death_starts_another)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev;
	pid_t pid;

	setup();
	want(true);
	pid = T_OK(fork());
	if (pid == 0) {
		T_EQ(ask(), 0);
		_exit(0);
	}
	T_OK(waitpid(pid, NULL, 0));
	kill_daemon();
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	host_leave();
	T_FALSE(gone(daemon_pid()));
}

T_CASE(nobody_starts_what_is_not_wanted_or_spins)
{
	struct host_call hc = { .fd = -1 };
	int woken = 0;
	uint64_t end;
	uint32_t ev;

	setup();
	T_EQ(ask(), 0);
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, MS, &ev), ETIMEDOUT);
	kill_daemon();
	for (end = host_now() + 100 * MS; host_now() < end; woken++)
		(void)host_wait_carrier(&hc, 50 * MS, &ev);
	host_leave();
	T_LT(woken, 10);
	T_EQ(daemon_pid(), 0);
}

T_CASE(a_watching_descriptor_replaced_by_the_program_is_made_anew)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev;
	int fd;

	setup();
	want(true);
	T_EQ(ask(), 0);
	fd = host_fd_get(HOST_FD_DAEMON);
	T_TRUE(host_fd_is_ours(fd));
	T_OK(dup2(T_OK(open("/dev/null", O_RDONLY)), fd));
	up_enter(&hc);
	for (int i = 0; i < 3; i++)
		(void)host_wait_carrier(&hc, MS, &ev);
	host_leave();
	T_EQ(daemons(), 1);
	kill_daemon();
	T_EQ(ask(), 0);
	T_EQ(daemons(), 1);
}

static const char *const labels[] = {
	"streamsd:attached", "streamsd:claimed", "streamsd:ready",
	"streamsd:serve", "streamsd:reaped", "streamsd:closed",
};

T_CASE_TIMEOUT(killed_at_any_point_it_is_replaced, 60)
{
	pid_t pid;

	setup();
	for (size_t i = 0; i < STR_ARRAY_LEN(labels); i++) {
		setenv("STREAMS_DAEMON_CRASH", labels[i], 1);
		(void)ask();
		if (daemon_pid() != 0) {
			pid = daemon_pid();
			T_SOON(gone(pid), 5000);
		}
		setenv("STREAMS_DAEMON_CRASH", "", 1);
		str_store(&host_shared(host_domain)->daemon_retry, 0ull);
		T_EQ(ask(), 0);
		settled();
		T_EQ(daemons(), 1);
		kill_daemon();
	}
}

static const char *const starter_labels[] = {
	"daemon:starting", "daemon:started",
};

T_CASE(a_starter_killed_on_its_way_is_followed_by_another)
{
	pid_t pid;
	int status;

	setup();
	for (size_t i = 0; i < STR_ARRAY_LEN(starter_labels); i++) {
		pid = T_OK(fork());
		if (pid == 0) {
			setenv("STREAMS_CRASH", starter_labels[i], 1);
			(void)ask();
			_exit(1);
		}
		T_OK(waitpid(pid, &status, 0));
		T_EQ(WTERMSIG(status), SIGKILL);
		T_EQ(ask(), 0);
		T_EQ(daemons(), 1);
		kill_daemon();
	}
}

/*
 * A streamsd of which the first @n that are started are killed on their way.
 * What is left of @n is in the file.
 */
struct mortal {
	char dir[40], program[64], name[64], count[64];
};

static void
mortal_count(const struct mortal *m, int n)
{
	FILE *f = fopen(m->count, "w");

	T_NOTNULL(f);
	fprintf(f, "%d\n", n);
	T_EQ(fclose(f), 0);
}

static int
mortal_left(const struct mortal *m)
{
	FILE *f = fopen(m->count, "r");
	int n = -1;

	T_NOTNULL(f);
	T_EQ(fscanf(f, "%d", &n), 1);
	T_EQ(fclose(f), 0);
	return n;
}

static void
mortal_make(struct mortal *m, int n)
{
	FILE *f;

	strcpy(m->dir, "/tmp/streams-daemon-XXXXXX");
	T_NOTNULL(mkdtemp(m->dir));
	snprintf(m->program, sizeof m->program, "%s/program", m->dir);
	snprintf(m->name, sizeof m->name, "%s/streamsd", m->dir);
	snprintf(m->count, sizeof m->count, "%s/count", m->dir);
	T_OK(symlink(self, m->name));
	mortal_count(m, n);
	f = fopen(m->program, "w");
	T_NOTNULL(f);
	fprintf(f, "#!/bin/sh\nread n <%s\nif [ $n -gt 0 ]; then\n"
		"echo $((n - 1)) >%s\nkill -9 $$\nfi\nexec %s \"$@\"\n",
		m->count, m->count, m->name);
	T_OK(fchmod(fileno(f), 0700));
	T_EQ(fclose(f), 0);
	program(m->program);
}

static void
mortal_end(const struct mortal *m)
{
	T_OK(unlink(m->program));
	T_OK(unlink(m->name));
	T_OK(unlink(m->count));
	T_OK(rmdir(m->dir));
}

/* That it was killed does not mean that it cannot be started. */
T_CASE(killed_on_its_way_it_is_started_again_at_once)
{
	struct mortal m;

	setup();
	mortal_make(&m, 10);
	T_EQ(ask(), 0);
	T_EQ(mortal_left(&m), 0);
	T_FALSE(gone(daemon_pid()));
	/* and those count no more */
	kill_daemon();
	mortal_count(&m, 10);
	T_EQ(ask(), 0);
	T_EQ(mortal_left(&m), 0);
	mortal_end(&m);
}

/* In a child: what another program starts for this domain. */
static pid_t
by_another(void)
{
	char *const argv[] = { (char[]){ "streamsd" }, NULL };
	char *const env[] = { (char[]){ "STREAMS_DOMAIN=fd:3" },
		(char[]){ "STREAMS_LINGER=60000" }, NULL };
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		T_EQ(dup2(host_domain_fd(), 3), 3);
		(void)fcntl(3, F_SETFD, 0);
		execve(self, argv, env);
		_exit(127);
	}
	return pid;
}

T_CASE(always_killed_it_is_not_tried_without_end_until_one_is_up)
{
	struct mortal m;
	pid_t pid;
	int left;

	setup();
	mortal_make(&m, 1000);
	T_EQ(ask(), ESRCH);
	left = mortal_left(&m);
	T_GT(left, 900);
	T_EQ(ask(), ESRCH);
	T_EQ(mortal_left(&m), left);
	/* one that runs says that it can be started */
	pid = by_another();
	T_SOON(daemon_pid() == pid, 5000);
	T_EQ(ask(), 0);
	mortal_count(&m, 0);
	kill_daemon();
	T_OK(waitpid(pid, NULL, 0));
	T_EQ(ask(), 0);
	T_FALSE(gone(daemon_pid()));
	mortal_end(&m);
}

/* Does @pid hold a descriptor of a process? */
static bool
watches(pid_t pid)
{
	char path[64], to[64];
	struct dirent *e;
	bool found = false;
	ssize_t n;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	d = opendir(path);
	T_NOTNULL(d);
	while (!found && (e = readdir(d)) != NULL) {
		n = readlinkat(dirfd(d), e->d_name, to, sizeof to - 1);
		if (n <= 0)
			continue;
		to[n] = '\0';
		found = strstr(to, "pidfd") != NULL;
	}
	closedir(d);
	return found;
}

/*
 * In a child: end it when @pid has found it, and say that there is none.  Not
 * before: a streamsd that was killed before it said that it is there is
 * started again at once.
 */
static void
end_and_tell(pid_t pid)
{
	uint64_t w;

	T_SOON(watches(pid), 5000);
	T_SOON(state_of(pid) == 'S', 5000); /* at the label */
	w = name();
	kill_daemon();
	(void)str_cas(&host_shared(host_domain)->daemon, w, 0ull);
	_exit(0);
}

/* It was there, and another noticed its death before the sleeper did. */
T_CASE(who_goes_to_sleep_while_it_dies_does_not_sleep_on)
{
	struct host_call hc = { .fd = -1 };
	uint32_t ev;
	pid_t pid;

	setup();
	want(true);
	setenv("STREAMS_DELAY", "daemon:found:300", 1);
	pid = T_OK(fork());
	if (pid == 0)
		end_and_tell(getppid());
	up_enter(&hc);
	T_EQ(host_wait_carrier(&hc, 10000 * MS, &ev), 0);
	setenv("STREAMS_DELAY", "", 1);
	T_OK(waitpid(pid, NULL, 0));
	(void)host_wait_carrier(&hc, MS, &ev);
	host_leave();
	T_GT(daemon_pid(), 0);
	T_FALSE(gone(daemon_pid()));
}

/* ---------------------------------------------------------------- notices */

T_CASE(it_reaps_a_member_that_was_killed)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before;
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		for (;;)
			pause();
	}
	T_SOON(member(pid), 5000);
	settled();
	before = looks();
	T_OK(kill(pid, SIGKILL));
	/* no call, and no process waits for it */
	T_SOON(!member(pid) && looks() > before, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

/* A driver asks for a callback with its locks held, and so for streamsd. */
T_CASE(it_is_there_before_it_reaps)
{
	struct host_call hc = { .fd = -1 };
	uint64_t begin;
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		for (;;)
			pause();
	}
	T_SOON(member(pid), 5000);
	str_store(up_word(UP_LOCK), 1ull);
	kill_daemon();
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
	begin = t_now_ns();
	T_EQ(ask(), 0);
	T_LT(t_now_ns() - begin, 4000000000u * t_scale());
	T_TRUE(member(pid));
	str_store(up_word(UP_LOCK), 0ull);
	T_SOON(!member(pid), 5000);
}

T_CASE(a_forked_child_that_makes_no_call_is_watched)
{
	uint64_t before;
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	settled();
	pid = T_OK(fork());
	if (pid == 0)
		for (;;)
			pause();
	T_SOON(state_of(pid) == 'S', 5000);
	settled();
	before = looks();
	T_OK(kill(pid, SIGKILL));
	T_SOON(looks() > before, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

/* Has streamsd a pidfd of @pid? */
static bool
watched(pid_t pid)
{
	char dir[64], buf[512], want[32];
	struct dirent *e;
	bool yes = false;
	DIR *d;

	(void)snprintf(dir, sizeof dir, "/proc/%d/fdinfo", (int)daemon_pid());
	(void)snprintf(want, sizeof want, "\nPid:\t%d\n", (int)pid);
	d = opendir(dir);
	T_NOTNULL(d);
	while (!yes && (e = readdir(d)) != NULL) {
		int fd = openat(dirfd(d), e->d_name, O_RDONLY);
		ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof buf - 1);

		buf[n < 0 ? 0 : n] = '\0';
		yes = strstr(buf, want) != NULL;
		(void)close(fd);
	}
	(void)closedir(d);
	return yes;
}

/* more children than rings find room in the queue of its socket */
T_CASE(of_many_children_at_once_each_is_watched)
{
	pid_t pid[40];

	setup();
	T_EQ(ask(), 0);
	settled();
	T_OK(kill(daemon_pid(), SIGSTOP));
	T_SOON(state_of(daemon_pid()) == 'T', 5000);
	for (int i = 0; i < 40; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] == 0)
			for (;;)
				pause();
		T_SOON(state_of(pid[i]) == 'S', 5000);
	}
	T_OK(kill(daemon_pid(), SIGCONT));
	for (int i = 0; i < 40; i++)
		T_SOON(watched(pid[i]), 5000);
	for (int i = 0; i < 40; i++)
		T_OK(kill(pid[i], SIGKILL));
	for (int i = 0; i < 40; i++)
		T_OK(waitpid(pid[i], NULL, 0));
}

T_CASE(a_child_that_ended_before_it_was_seen_is_a_death)
{
	uint64_t before;
	pid_t pid;

	setup();
	T_EQ(ask(), 0);
	settled();
	T_OK(kill(daemon_pid(), SIGSTOP));
	T_SOON(state_of(daemon_pid()) == 'T', 5000);
	before = looks();
	pid = T_OK(fork());
	if (pid == 0)
		_exit(0);
	T_OK(waitpid(pid, NULL, 0));
	T_OK(kill(daemon_pid(), SIGCONT));
	T_SOON(looks() > before, 5000);
}

T_CASE(a_member_that_left_in_order_is_watched_until_it_ends)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before;
	int go[2];
	char c;
	pid_t pid;

	setup();
	T_OK(pipe(go));
	T_EQ(ask(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		host_leave();
		T_SOON(state_of(daemon_pid()) == 'S', 5000);
		T_EQ(T_OK(read(go[0], &c, 1)), 1); /* it has been seen */
		host_domain_exit();
		for (;;)
			pause();
	}
	T_SOON(member(pid), 5000);
	T_EQ(T_OK(write(go[1], "g", 1)), 1);
	T_SOON(!member(pid), 5000);
	settled();
	before = looks();
	T_OK(kill(pid, SIGKILL));
	T_SOON(looks() > before, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(an_image_that_was_replaced_is_reaped)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before;
	int p[2], go[2];
	pid_t pid;
	char c;

	setup();
	T_EQ(ask(), 0);
	T_OK(pipe(p));
	T_OK(pipe(go));
	pid = T_OK(fork());
	if (pid == 0) {
		up_enter(&hc);
		host_leave();
		T_SOON(state_of(daemon_pid()) == 'S', 5000);
		T_EQ(T_OK(read(go[0], &c, 1)), 1); /* it has been seen */
		dup2(p[0], 0);
		host_exec_begin();
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(127);
	}
	T_SOON(member(pid), 5000);
	before = looks();
	T_EQ(T_OK(write(go[1], "g", 1)), 1);
	T_SOON(!member(pid), 5000);
	T_FALSE(gone(pid));
	T_GT(looks(), before);
	/* and what became of it is watched */
	settled();
	before = looks();
	T_OK(kill(pid, SIGKILL));
	T_SOON(looks() > before, 5000);
	T_OK(waitpid(pid, NULL, 0));
}

T_CASE(it_looks_by_itself_while_it_is_wanted)
{
	uint64_t before;

	setup();
	want(true);
	T_EQ(ask(), 0);
	settled();
	before = looks();
	T_SOON(looks() >= before + 2, 5000);
}

T_CASE(who_rings_makes_it_look)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before;

	setup();
	T_EQ(ask(), 0);
	settled();
	before = looks();
	up_enter(&hc);
	host_daemon_tell(HOST_ASK_LOOK);
	host_leave();
	T_SOON(looks() > before, 5000);
}

/* ------------------------------------------------------------------ sweeps */

static void
soon(void)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	host_daemon_soon();
	host_leave();
}

static void
look(void)
{
	struct host_call hc = { .fd = -1 };

	up_enter(&hc);
	host_daemon_look();
	host_leave();
}

/* Walks that have begun, and sweeps that have ended. */
static uint64_t
begun(void)
{
	return str_load(up_word(UP_BEGUN));
}

static uint64_t
swept(void)
{
	return str_load(up_word(UP_SWEPT));
}

/* A sweep that lasts for @ns is under way. */
static void
sweeping(uint64_t ns)
{
	setup();
	want(true);
	T_EQ(ask(), 0);
	settled();
	str_store(up_word(UP_SWEEP_NS), ns);
	soon();
	T_SOON(begun() > swept(), 5000);
}

/* The memory of dead threads is a reason for a second one; there is none. */
T_CASE(a_ring_makes_one_sweep)
{
	uint64_t before;

	setup();
	T_EQ(ask(), 0);
	settled();
	before = begun();
	look();
	T_SOON(begun() > before, 5000);
	settled();
	T_EQ(begun(), before + 1);
}

/* Each lasts longer than a request waits. */
T_CASE(a_request_during_a_sweep_waits_for_its_end)
{
	uint64_t before, end;

	sweeping(400 * MS);
	before = swept();
	end = host_now() + 3000 * MS;
	while (host_now() < end) {
		uint64_t n = begun();

		/* none begins before the last one has ended */
		T_LE((int64_t)(n - swept()), 1);
		soon();
		t_pause();
	}
	T_GE(swept(), before + 2);
}

/*
 * The ring's walk is a part of the sweep that is under way, whose collector may
 * have passed the stream already.
 */
T_CASE(a_ring_takes_no_request_away)
{
	uint64_t n;

	sweeping(300 * MS);
	n = swept();
	soon();
	look();
	/* without a cause the next one would come later */
	T_SOON(swept() >= n + 2, 4000);
}

/* The request may have been found before the ring arrives. */
T_CASE(a_ring_without_a_request_makes_no_walk)
{
	struct host_call hc = { .fd = -1 };
	uint64_t n;

	sweeping(400 * MS);
	n = swept();
	up_enter(&hc);
	host_daemon_tell(0);
	host_leave();
	while (swept() == n) {
		uint64_t walks = begun();

		T_LE((int64_t)(walks - swept()), 1);
		t_pause();
	}
}

/* streamsd does not sleep during a sweep, so it finds the request. */
T_CASE(a_request_is_found_before_its_ring)
{
	uint64_t before;

	sweeping(2000 * MS);
	want(false); /* without a request nothing follows */
	before = begun();
	(void)str_or(&host_shared(host_domain)->daemon_asks, HOST_ASK_LOOK);
	T_SOON(begun() > before, 5000);
}

T_CASE(a_request_is_served_when_no_stream_is_watched)
{
	uint64_t before;
	int i;

	setup();
	T_EQ(ask(), 0);
	settled();
	for (i = 0; i < 3; i++) {
		before = swept();
		soon();
		T_SOON(swept() > before, 5000);
	}
}

T_CASE(it_runs_callbacks_when_they_are_due)
{
	struct host_call hc = { .fd = -1 };
	uint64_t before, due;

	setup();
	T_EQ(ask(), 0);
	settled();
	before = str_load(up_word(UP_TIMER));
	up_enter(&hc);
	due = host_now() + 30 * MS;
	str_store(up_word(UP_NEXT), due);
	str_fence_full();
	host_defer(host_now(), due);
	host_leave();
	T_SOON(str_load(up_word(UP_TIMER)) == before + 1, 5000);
	T_GE(host_now(), due);
	/* this process has no thread for it */
	T_EQ(str_load(&host_priv_page->timer_up), 0u);
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
