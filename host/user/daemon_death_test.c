/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd is killed: which process starts it again, and when.
 */
#include "daemon_fixture.h"

/* ----------------------------------------------------------------- dies */

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
	up_enter(&hc);
	(void)host_wait_carrier(&hc, MS, &ev); /* which opens it */
	host_leave();
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
