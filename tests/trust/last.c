/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the last member of a named domain leaves: nothing, a second after it
 * was killed.  The program `use' is the member.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <t.h>

#include "fixture.h"

#define CHILD_S 60u

static void
begin(void)
{
	trust_begin("last");
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	T_OK(unsetenv("STREAMS_LINGER"));
}

/* Is anything left in the runtime directory? */
static int
left(void)
{
	struct dirent *e;
	int n = 0;
	DIR *d;

	d = opendir(trust_dir);
	T_NOTNULL(d);
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* The streamsd of this case's domain, or 0. */
static pid_t
streamsd(void)
{
	char path[300], buf[4096];
	struct dirent *e;
	pid_t pid = 0;
	ssize_t n;
	DIR *d;
	int fd;

	d = opendir("/proc");
	T_NOTNULL(d);
	while ((e = readdir(d)) != NULL && pid == 0) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
		fd = open(path, O_RDONLY);
		n = fd >= 0 ? read(fd, buf, sizeof buf) : -1;
		if (fd >= 0)
			close(fd);
		if (n > 0 && strcmp(buf, "streamsd") == 0 &&
		    memmem(buf, (size_t)n, trust_dir,
			strlen(trust_dir)) != NULL)
			pid = atoi(e->d_name);
	}
	closedir(d);
	return pid;
}

static pid_t
member(int *ret_via)
{
	return trust_stay(ret_via, CHILD_S);
}

T_CASE(a_domain_goes_with_a_member_that_is_killed)
{
	int via;
	pid_t pid;

	begin();
	pid = member(&via);
	T_SOON(streamsd() != 0, 1000 * t_scale());
	T_EQ(left(), 1);
	T_OK(kill(pid, SIGKILL));
	T_EQ(trust_ended(pid), -SIGKILL);
	T_SOON(left() == 0, 1000 * t_scale());
	T_SOON(streamsd() == 0, 1000 * t_scale());
}

/* Killed as soon as it can be: before streamsd is there, or after. */
T_CASE_TIMEOUT(a_domain_goes_with_a_member_that_is_killed_at_once, 120)
{
	int via;
	pid_t pid;

	begin();
	for (int i = 0; i < 20; i++) {
		pid = member(&via);
		T_OK(kill(pid, SIGKILL));
		T_EQ(trust_ended(pid), -SIGKILL);
		T_OK(close(via));
		T_SOON(left() == 0, 1000 * t_scale());
		T_SOON(streamsd() == 0, 1000 * t_scale());
	}
}

T_CASE(a_domain_goes_with_a_member_that_exits)
{
	int via;
	pid_t pid;

	begin();
	pid = member(&via);
	trust_finish(pid, via);
	T_SOON(left() == 0, 1000 * t_scale());
	T_SOON(streamsd() == 0, 1000 * t_scale());
}

T_CASE(streamsd_stays_as_long_as_a_member)
{
	int via[2];
	pid_t pid[2], who;

	begin();
	T_OK(setenv("STREAMS_LINGER", "250", 1));
	pid[0] = member(&via[0]);
	T_SOON((who = streamsd()) != 0, 1000 * t_scale());
	pid[1] = member(&via[1]);
	T_OK(kill(pid[0], SIGKILL));
	T_EQ(trust_ended(pid[0]), -SIGKILL);
	for (int i = 0; i < 800; i++)
		t_pause();
	T_EQ(streamsd(), who);
	T_EQ(left(), 1);
	T_OK(kill(pid[1], SIGKILL));
	T_EQ(trust_ended(pid[1]), -SIGKILL);
	T_SOON(left() == 0, 1000 * t_scale());
}

/* Another member that comes starts another. */
T_CASE(a_killed_streamsd_is_followed_by_another)
{
	int via[2];
	pid_t pid[2], who;

	begin();
	pid[0] = member(&via[0]);
	T_SOON((who = streamsd()) != 0, 1000 * t_scale());
	for (int i = 0; i < 1200; i++) /* not more than one a second */
		t_pause();
	T_OK(kill(who, SIGKILL));
	T_SOON(streamsd() != who, 1000 * t_scale());
	pid[1] = member(&via[1]);
	T_SOON((who = streamsd()) != 0, 1000 * t_scale());
	T_OK(kill(pid[0], SIGKILL));
	T_OK(kill(pid[1], SIGKILL));
	T_EQ(trust_ended(pid[0]), -SIGKILL);
	T_EQ(trust_ended(pid[1]), -SIGKILL);
	T_SOON(left() == 0, 1000 * t_scale());
}

/* A program that makes no call of the library has an end of a pipe. */
T_CASE(a_holder_that_is_no_member_keeps_the_domain)
{
	int to[2];
	pid_t pid;

	begin();
	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to));
	pid = trust_start("hand", NULL, to[1], to[1], CHILD_S);
	T_OK(close(to[1]));
	T_EQ(trust_ended(pid), -SIGKILL);
	for (int i = 0; i < 1000; i++)
		t_pause();
	T_EQ(left(), 1);
	T_OK(close(to[0])); /* and cat ends */
	T_SOON(left() == 0, 1000 * t_scale());
}

/* For the figures: what the first pipe costs. */
T_CASE(the_first_pipe_is_quick)
{
	double least = 1e9, ms;
	char text[64];
	int to[2];

	begin();
	for (int i = 0; i < 10; i++) {
		memset(text, 0, sizeof text);
		T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to));
		(void)trust_start("time", NULL, to[1], to[1], CHILD_S);
		T_OK(close(to[1]));
		T_GT(read(to[0], text, sizeof text - 1), 0);
		T_OK(wait(NULL));
		T_OK(close(to[0]));
		ms = atof(text);
		least = ms < least ? ms : least;
		T_SOON(left() == 0, 1000 * t_scale());
	}
	printf("# %.2f ms\n", least);
	T_LT(least, 50 * t_scale());
}
