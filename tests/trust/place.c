/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Another user has made /dev/shm/streams-UID first.  The program `use', as the
 * one user, has a pipe all the same; all its processes meet in one domain,
 * whatever the other user does.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <t.h>

#include "fixture.h"

#define USER 12345u
#define OTHER 12346u
#define CHILD_S 60u
#define SHM "/dev/shm"
#define USUAL SHM "/streams-12345"

/* A /dev/shm of this case's own. */
static void
setup(void)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		T_SKIP("two users need root");
	t_own_mounts();
	T_OK(mount("none", SHM, "tmpfs", 0, "mode=1777"));
	T_OK(unsetenv("XDG_RUNTIME_DIR"));
	T_OK(unsetenv("STREAMS_DOMAIN"));
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setuid(USER));
		_exit(access(USE, X_OK) != 0);
	}
	T_OK(waitpid(pid, &status, 0));
	if (status != 0)
		T_SKIP("the build tree is closed to other users");
}

static void
other_user(void)
{
	T_OK(seteuid(OTHER));
}

static void
root(void)
{
	T_OK(seteuid(0));
}

/* `use' by the user; *@ret_via: the way to it, and what it says. */
static pid_t
start(const char *what, int *ret_via, int err)
{
	int to[2];
	pid_t pid;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to));
	pid = T_OK(fork());
	if (pid == 0) {
		alarm(CHILD_S);
		T_OK(dup2(to[1], 0));
		T_OK(dup2(to[1], 1));
		if (err >= 0)
			T_OK(dup2(err, 2));
		T_OK(setgid(USER));
		T_OK(setuid(USER));
		execl(USE, "use", what, NULL);
		_exit(127);
	}
	T_OK(close(to[1]));
	*ret_via = to[0];
	return pid;
}

/* How many of the user's directories, and domains in them, there are. */
static void
count(int *ret_dirs, int *ret_domains)
{
	char path[512];
	struct dirent *e, *f;
	struct stat st;
	DIR *d, *s;

	*ret_dirs = *ret_domains = 0;
	d = opendir(SHM);
	T_NOTNULL(d);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof path, SHM "/%s", e->d_name);
		if (e->d_name[0] == '.' || lstat(path, &st) != 0 ||
		    !S_ISDIR(st.st_mode) || st.st_uid != USER)
			continue;
		++*ret_dirs;
		s = opendir(path);
		while (s != NULL && (f = readdir(s)) != NULL)
			*ret_domains += strncmp(f->d_name, "default-", 8) == 0;
		if (s != NULL)
			closedir(s);
	}
	closedir(d);
}

static void
in_one(void)
{
	int dirs, domains;

	count(&dirs, &domains);
	T_EQ(dirs, 1);
	T_EQ(domains, 1);
}

static int
dirs(void)
{
	int n, domains;

	count(&n, &domains);
	return n;
}

/* Two processes of the user, with what the other user has made. */
static void
two_meet(void)
{
	pid_t pid[2];
	int via[2];

	pid[0] = start("stay", &via[0], -1);
	trust_at_work(via[0]);
	pid[1] = start("stay", &via[1], -1);
	trust_at_work(via[1]);
	in_one();
	trust_finish(pid[0], via[0]);
	trust_finish(pid[1], via[1]);
	T_SOON(dirs() == 0, 1000 * t_scale());
}

T_CASE(the_usual_directory_is_taken_when_it_is_free)
{
	pid_t pid;
	int via;

	setup();
	pid = start("stay", &via, -1);
	trust_at_work(via);
	in_one();
	T_OK(access(USUAL, F_OK));
	trust_finish(pid, via);
	T_SOON(dirs() == 0, 1000 * t_scale());
}

/* Whatever rights of the owner the umask takes. */
T_CASE(a_umask_takes_no_rights_of_the_owner)
{
	static const mode_t mask[] = {0100, 0200, 0400, 0700, 0777};
	pid_t pid;
	int via;

	setup();
	for (int i = 0; i < 10; i++) {
		if (i == 5) {
			T_OK(mkdir(SHM "/run", 0700));
			T_OK(chown(SHM "/run", USER, USER));
			T_OK(setenv("XDG_RUNTIME_DIR", SHM "/run", 1));
		}
		(void)umask(mask[i % 5]);
		pid = start("device", &via, -1);
		(void)umask(022);
		T_EQ(trust_ended(pid), 0);
		T_OK(close(via));
		if (i < 5)
			T_SOON(dirs() == 0, 3000 * t_scale());
	}
	T_OK(unsetenv("XDG_RUNTIME_DIR"));
}

T_CASE(a_directory_of_another_user_is_worked_around)
{
	setup();
	other_user();
	T_OK(mkdir(USUAL, 0777));
	root();
	two_meet();
}

T_CASE(a_link_of_another_user_is_worked_around)
{
	setup();
	other_user();
	T_OK(symlink("/tmp", USUAL));
	root();
	two_meet();
}

T_CASE(what_looks_alike_is_not_taken)
{
	char path[64];

	setup();
	other_user();
	T_OK(mkdir(USUAL, 0700));
	for (int i = 0; i < 20; i++) {
		snprintf(path, sizeof path, USUAL "-%016x", i);
		T_OK(i % 2 != 0 ? mkdir(path, 0700) : symlink("/tmp", path));
	}
	root();
	two_meet();
}

T_CASE_TIMEOUT(many_that_look_alike_cost_no_second, 120)
{
	struct rusage ru;
	char path[64];
	int via, status;
	long ms;
	pid_t pid;

	setup();
	other_user();
	T_OK(mkdir(USUAL, 0700));
	for (int i = 0; i < 20000; i++) {
		snprintf(path, sizeof path, USUAL "-%016x", i);
		T_OK(mkdir(path, 0700));
	}
	root();
	/* its own time: other tests may have the CPUs */
	pid = start("stay", &via, -1);
	trust_at_work(via);
	T_EQ(write(via, "", 1), 1);
	T_OK(wait4(pid, &status, 0, &ru));
	T_EQ(status, 0);
	ms = (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000 +
		(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1000;
	printf("# %ld ms\n", ms);
	T_LT(ms, 1000 * t_scale());
}

/* The other user removes what was made, and makes it again. */
T_CASE(the_place_stays_when_the_usual_one_becomes_free)
{
	pid_t pid[3];
	int via[3];

	setup();
	other_user();
	T_OK(mkdir(USUAL, 0700));
	root();
	pid[0] = start("stay", &via[0], -1);
	trust_at_work(via[0]);
	other_user();
	T_OK(rmdir(USUAL));
	root();
	pid[1] = start("stay", &via[1], -1);
	trust_at_work(via[1]);
	in_one();
	other_user();
	T_OK(mkdir(USUAL, 0700));
	root();
	pid[2] = start("stay", &via[2], -1);
	trust_at_work(via[2]);
	in_one();
	for (int i = 0; i < 3; i++)
		trust_finish(pid[i], via[i]);
	T_SOON(dirs() == 0, 1000 * t_scale());
}

/* While they begin, the other user makes and removes it all the time. */
T_CASE_TIMEOUT(processes_that_begin_together_meet, 120)
{
	enum { N = 6, ROUNDS = 15 };
	pid_t pid[N], other;
	int via[N];

	setup();
	other = T_OK(fork());
	if (other == 0) {
		T_OK(setuid(OTHER));
		for (;;) {
			(void)mkdir(USUAL, 0700);
			(void)rmdir(USUAL);
		}
	}
	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < N; i++)
			pid[i] = start("stay", &via[i], -1);
		for (int i = 0; i < N; i++)
			trust_at_work(via[i]);
		in_one();
		for (int i = 0; i < N; i++)
			trust_finish(pid[i], via[i]);
		T_SOON(dirs() == 0, 1000 * t_scale());
	}
	T_OK(kill(other, SIGKILL));
	T_OK(waitpid(other, NULL, 0));
}

T_CASE(another_place_is_told_once)
{
	char text[512] = "";
	int err[2], via[2];
	pid_t pid[2];
	ssize_t n;

	setup();
	other_user();
	T_OK(mkdir(USUAL, 0700));
	root();
	for (int i = 0; i < 2; i++) {
		T_OK(pipe(err));
		pid[i] = start("stay", &via[i], err[1]);
		trust_at_work(via[i]);
		T_OK(close(err[1]));
		T_OK(fcntl(err[0], F_SETFL, O_NONBLOCK));
		n = read(err[0], text, sizeof text - 1);
		text[n > 0 ? n : 0] = '\0';
		if (i == 0) {
			T_NOTNULL(strstr(text, USUAL " is not"));
			T_NOTNULL(strstr(text, USUAL "-"));
		} else {
			T_STR(text, "");
		}
	}
	trust_finish(pid[0], via[0]);
	trust_finish(pid[1], via[1]);
}
