/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What a forked child knows without asking /proc, and what it must ask. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

#define CHILDREN 60
#define TICK 10000000u /* ns, of start times in /proc */

static int
enter_error(void)
{
	struct host_call hc = { .fd = -1 };
	int err = host_enter(&hc);

	if (err == 0)
		host_leave();
	return err;
}

static void
setup(void)
{
	setenv("STREAMS_DOMAIN", "private", 1);
	T_EQ(enter_error(), 0);
}

/* Exit status 0: the slot says of this process what /proc says. */
static int
check_slot(void)
{
	uint64_t start, image;
	struct str_proc *p;
	bool dead;

	if (enter_error() != 0)
		return 2;
	p = &host_domain->proc[host_priv_page->proc];
	host_proc_start(getpid(), &start, &image, &dead);
	return str_load(&p->pid) == (uint32_t)getpid() &&
		str_load(&p->start) == start && str_load(&p->image) == image &&
		start != 0 && image != 0 ? 0 : 1;
}

static int
status_of(pid_t pid)
{
	int status;

	T_OK(waitpid(pid, &status, 0));
	T_TRUE(WIFEXITED(status));
	return WEXITSTATUS(status);
}

T_CASE(a_child_has_the_start_time_of_proc)
{
	unsigned known = 0;

	setup();
	for (unsigned i = 0; i < CHILDREN; i++) {
		uint64_t start, image;
		pid_t pid = T_OK(fork());
		int status;

		if (pid == 0) {
			bool at_once = host_kin_start(&start, &image);

			status = check_slot();
			_exit(status != 0 ? status : at_once ? 0 : 77);
		}
		status = status_of(pid);
		T_TRUE(status == 0 || status == 77);
		known += status == 0;
	}
	/* a fork rarely begins and ends in two ticks */
	T_GT(known, 0);
}

T_CASE(a_childs_child_has_its_own)
{
	pid_t pid;

	setup();
	pid = T_OK(fork());
	if (pid == 0) {
		uint64_t tick = host_now() / TICK;
		pid_t next;

		T_SOON(host_now() / TICK > tick + 1, 1000);
		next = fork();
		if (next == 0)
			_exit(check_slot());
		_exit(next > 0 ? status_of(next) : 3);
	}
	T_EQ(status_of(pid), 0);
}

/* A child that calls unshare(@flags) and forks once more, if @again. */
static int
elsewhere(int flags, bool again)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		if (unshare(flags) != 0)
			_exit(77);
		if (again) {
			pid_t next = fork();

			if (next != 0)
				_exit(next > 0 ? status_of(next) : 3);
		}
		_exit(enter_error());
	}
	return status_of(pid);
}

T_CASE(a_child_in_another_network_namespace_is_refused)
{
	int status;

	setup();
	status = elsewhere(CLONE_NEWNET, false);
	if (status == 77)
		T_SKIP("no unshare()");
	T_EQ(status, EPROTO);
	T_EQ(elsewhere(CLONE_NEWNET, true), EPROTO);
}

T_CASE(a_child_in_another_pid_namespace_is_refused)
{
	int status;

	setup();
	status = elsewhere(CLONE_NEWPID, true);
	if (status == 77)
		T_SKIP("no unshare()");
	T_EQ(status, EPROTO);
	/* the process that called unshare() stays where it was */
	T_EQ(elsewhere(CLONE_NEWPID, false), 0);
}

/* The error of host_enter() in a child that this thread forks. */
static int
child_error(void)
{
	pid_t pid = T_OK(fork());

	if (pid == 0)
		_exit(enter_error());
	return status_of(pid);
}

struct elsewhere {
	bool attach;	/* first, this process is no member yet */
	int unshared;	/* of unshare(CLONE_NEWNET) */
	int child;
};

static void *
thread_elsewhere(void *arg)
{
	struct elsewhere *e = arg;

	e->unshared = unshare(CLONE_NEWNET);
	if (e->unshared != 0)
		return NULL;
	if (e->attach)
		setup();
	e->child = child_error();
	return NULL;
}

static void
run_elsewhere(struct elsewhere *e)
{
	pthread_t t;

	T_EQ(pthread_create(&t, NULL, thread_elsewhere, e), 0);
	T_EQ(pthread_join(t, NULL), 0);
	if (e->unshared != 0)
		T_SKIP("no unshare()");
}

/* /proc/self shows the namespaces of the group leader. */
T_CASE(a_child_of_a_thread_in_another_network_namespace_is_refused)
{
	struct elsewhere e = { .attach = false };

	setup();
	/* the first fork of this process */
	run_elsewhere(&e);
	T_EQ(e.child, EPROTO);
	T_EQ(child_error(), 0);
}

T_CASE(a_thread_attaches_in_its_own_network_namespace)
{
	struct elsewhere e = { .attach = true };

	run_elsewhere(&e);
	T_EQ(e.child, 0);
	T_EQ(child_error(), EPROTO);
}

/* The sweep of another domain removes a directory without a lock. */
T_CASE(a_child_that_exits_leaves_its_parent_the_socket_directory)
{
	struct host_carrier c;
	char up[512];
	pid_t pid;
	int fd;

	setup();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		(void)enter_error();
		host_domain_exit();
		_exit(0);
	}
	T_EQ(status_of(pid), 0);
	T_OK(close(fd));
	host_carrier_gone(&c);
	snprintf(up, sizeof up, "%s", host_shared(host_domain)->dir);
	*strrchr(up, '/') = '\0';
	host_sockdir_sweep(up);
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_OK(close(fd));
	host_carrier_gone(&c);
}
