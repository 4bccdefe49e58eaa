/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The first pipe where something is missing or limited: /proc, the size of
 * files, memory that may be locked.  The program `use' makes it.
 */
#include <dirent.h>
#include <sched.h>
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

#define CHILD_S 120u

static void
begin(void)
{
	trust_begin("bare");
	/* the dynamic linker's $ORIGIN needs /proc */
	T_OK(setenv("LD_LIBRARY_PATH", LIBDIR, 1));
}

/* The exit status of `use', or minus the signal; what it says: *@ret_said. */
static int
use(const char *what, const char *arg, double *ret_said)
{
	char text[64] = "";
	int out[2], status;
	pid_t pid;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out));
	pid = trust_start(what, arg, 0, out[1], CHILD_S);
	T_OK(close(out[1]));
	(void)!read(out[0], text, sizeof text - 1);
	T_OK(close(out[0]));
	status = trust_ended(pid);
	if (ret_said != NULL)
		*ret_said = text[0] != '\0' ? atof(text) : -1;
	return status;
}

/* Domains in the runtime directory. */
static int
domains(void)
{
	char path[512];
	struct dirent *e;
	struct stat st;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof path, "%s/streams", trust_dir);
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL)
		n += strncmp(e->d_name, "default-", 8) == 0 &&
			fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
			S_ISREG(st.st_mode);
	if (d != NULL)
		closedir(d);
	return n;
}

/* A place without /proc, for this case alone. */
static void
no_proc(void)
{
	t_own_mounts();
	T_OK(mount("none", "/proc", "tmpfs", 0, NULL));
	T_ERR(access("/proc/self", F_OK), ENOENT);
}

T_CASE_TIMEOUT(a_pipe_does_not_need_proc, 120)
{
	uint64_t at;

	begin();
	no_proc();
	at = t_now_ns();
	T_EQ(use(NULL, NULL, NULL), 0);
	T_LT((t_now_ns() - at) / 1000000, 500 * t_scale());
}

T_CASE_TIMEOUT(processes_with_and_without_proc_meet, 120)
{
	pid_t pid[2];
	int via[2];

	begin();
	pid[0] = trust_stay(&via[0], CHILD_S);
	no_proc();
	pid[1] = trust_stay(&via[1], CHILD_S);
	T_EQ(domains(), 1);
	trust_finish(pid[0], via[0]);
	trust_finish(pid[1], via[1]);
}

T_CASE_TIMEOUT(a_child_without_proc_uses_what_it_inherits, 120)
{
	double ms;

	begin();
	no_proc();
	T_EQ(use("inherit", "3", &ms), 0);
	T_LT(ms, 500 * t_scale());
}

T_CASE_TIMEOUT(inherited_streams_outlast_chroot, 120)
{
	char empty[128];

	if (geteuid() != 0)
		T_SKIP("only root may chroot");
	begin();
	snprintf(empty, sizeof empty, "%s/empty", trust_dir);
	T_OK(mkdir(empty, 0700));
	T_EQ(use("chroot", empty, NULL), 0);
}

T_CASE(a_limit_of_file_sizes_is_no_signal)
{
	struct rlimit rl = { 100 << 10, 100 << 10 };

	begin();
	T_OK(setrlimit(RLIMIT_FSIZE, &rl));
	T_EQ(use(NULL, NULL, NULL), ENOSR);
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_EQ(use(NULL, NULL, NULL), ENOSR);
}

/* The limit counts for who makes a domain, not for others. */
T_CASE(a_limit_of_file_sizes_does_not_keep_out)
{
	struct rlimit rl = { 100 << 10, 100 << 10 };
	pid_t pid;
	int via;

	begin();
	pid = trust_stay(&via, CHILD_S);
	T_OK(setrlimit(RLIMIT_FSIZE, &rl));
	T_EQ(use("inherit", "2000", NULL), 0);
	trust_finish(pid, via);
}

T_CASE(memory_that_is_locked_is_what_is_used)
{
	double kib;

	begin();
	if (use("locked", NULL, &kib) == 206)
		T_SKIP("no memory may be locked");
	printf("# %.0f KiB locked\n", kib);
	T_GE(kib, 0);
	T_LT(kib, 4096);
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_EQ(use("locked", NULL, &kib), 0);
	T_GE(kib, 0);
	T_LT(kib, 4096);
}

T_CASE_TIMEOUT(the_first_call_of_a_child_does_not_sweep, 120)
{
	double ms;

	t_need_files(8100);
	begin();
	T_EQ(use("inherit", "4000", &ms), 0);
	printf("# %.1f ms\n", ms);
	T_LT(ms, 100 * t_scale());
}
