/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A process that another process of its user could not trace is no member of
 * that user's domain: members can have each other run their code.  As root.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

#define OTHER 1000
#define GROUP 42
#define STRANGER 2000

static void
setup(void)
{
	if (geteuid() != 0)
		T_SKIP("only root can take another user");
	/* streamsd is killed with the case, and the domain's file would stay */
	t_own_mounts();
	T_OK(mount("none", "/dev/shm", "tmpfs", 0, "mode=1777"));
	T_OK(setenv("STREAMS_DOMAIN", "ids", 1));
	(void)unsetenv("XDG_RUNTIME_DIR");
}

static void
become(uid_t real, uid_t effective, uid_t saved, gid_t gid)
{
	T_OK(setgroups(0, NULL));
	T_OK(setresgid(gid, gid, gid));
	T_OK(setresuid(real, effective, saved));
}

static void
plain(void)
{
	become(OTHER, OTHER, OTHER, OTHER);
}

static void
root_for_a_while(void)
{
	become(0, OTHER, 0, OTHER);
}

static void
root_comes_back(void)
{
	become(OTHER, OTHER, 0, OTHER);
}

static void
another_group(void)
{
	become(OTHER, OTHER, OTHER, GROUP);
}

static void
group_comes_back(void)
{
	T_OK(setgroups(0, NULL));
	T_OK(setresgid(OTHER, OTHER, GROUP));
	T_OK(setresuid(OTHER, OTHER, OTHER));
}

static void
with_a_capability(void)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2] = {{0, 0, 0}};

	T_OK(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
	plain();
	d[0].permitted = 1u << CAP_NET_RAW;
	T_OK(syscall(SYS_capset, &h, d));
}

/* What pipe() gives a process after @how: 0, or ENOSR when there is no domain. */
static int
pipe_as(void (*how)(void))
{
	pid_t pid = T_OK(fork());
	int p[2], st;

	if (pid == 0) {
		how();
		if (pipe(p) < 0)
			_exit(errno);
		_exit(isastream(p[0]) == 1 ? 0 : 255);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_TRUE(WIFEXITED(st));
	return WEXITSTATUS(st);
}

/* A member of OTHER's domain, for as long as the case lasts. */
static pid_t
member(void)
{
	int p[2], up[2];
	pid_t pid;
	char c;

	T_EQ(syscall(SYS_pipe2, up, 0), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		plain();
		T_OK(pipe(p));
		T_EQ(syscall(SYS_write, up[1], "u", 1), 1);
		for (;;)
			(void)pause();
	}
	T_EQ(syscall(SYS_read, up[0], &c, 1), 1);
	(void)syscall(SYS_close, up[0]);
	(void)syscall(SYS_close, up[1]);
	return pid;
}

T_CASE(members_could_trace_each_other)
{
	static void (*const refused[])(void) = {
		root_for_a_while, root_comes_back, another_group,
		group_comes_back, with_a_capability,
	};
	pid_t pid;

	setup();
	pid = member();
	T_EQ(pipe_as(plain), 0);
	for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
		T_EQ(pipe_as(refused[i]), ENOSR);
	T_EQ(pipe_as(plain), 0);
	T_OK(kill(pid, SIGKILL));
	T_EQ(T_OK(waitpid(pid, NULL, 0)), pid);
}

T_CASE(a_process_with_two_users_makes_no_named_domain)
{
	setup();
	T_EQ(pipe_as(root_for_a_while), ENOSR);
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_EQ(pipe_as(root_for_a_while), 0);
}

static void
not_mapped(void)
{
	become(STRANGER, STRANGER, STRANGER, STRANGER);
	T_OK(unshare(CLONE_NEWUSER));
	T_EQ(geteuid(), 65534u);
}

static void
skip_without_user_namespaces(void)
{
	pid_t pid = T_OK(fork());
	int st;

	if (pid == 0) {
		become(STRANGER, STRANGER, STRANGER, STRANGER);
		_exit(unshare(CLONE_NEWUSER) != 0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	if (!WIFEXITED(st) || WEXITSTATUS(st) != 0)
		T_SKIP("no user namespaces");
}

/* All users that are not mapped look like the process's own. */
T_CASE(the_overflow_user_owns_no_domain)
{
	static const char dir[] = "/dev/shm/streams-65534";

	setup();
	skip_without_user_namespaces();
	T_OK(mkdir(dir, 0700));
	T_OK(chown(dir, OTHER, OTHER));
	T_EQ(pipe_as(not_mapped), ENOSR);
}

#define JAIL "/dev/shm/jail"

/* A member, which then has no number, no /proc and no domain. */
static void
not_mapped_any_more(void)
{
	int fd[2];

	plain();
	T_OK(pipe(fd));
	T_OK(unshare(CLONE_NEWUSER | CLONE_NEWNS));
	T_EQ(geteuid(), 65534u);
	T_OK(chroot(JAIL));
	T_OK(chdir("/"));
	/* leaves the domain before the kernel refuses it */
	T_ERR(setuid(5), EINVAL);
}

T_CASE(what_was_known_of_an_earlier_user_namespace_is_forgotten)
{
	setup();
	skip_without_user_namespaces();
	T_OK(mkdir(JAIL, 0755));
	T_OK(mkdir(JAIL "/dev", 0755));
	T_OK(mkdir(JAIL "/dev/shm", 0));
	T_OK(chmod(JAIL "/dev/shm", 01777));
	T_EQ(pipe_as(not_mapped_any_more), ENOSR);
}
