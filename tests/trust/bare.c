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

#define CHILD_S 120u

static char dir[64];

static void
cleanup(void)
{
	char cmd[128];

	snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
	if (dir[0] != '\0')
		(void)!system(cmd);
}

static void
runtime_dir(void)
{
	snprintf(dir, sizeof dir, "/tmp/bare-%d", getpid());
	T_OK(mkdir(dir, 0700));
	t_at_end(cleanup);
	T_OK(setenv("XDG_RUNTIME_DIR", dir, 1));
	T_OK(unsetenv("STREAMS_DOMAIN"));
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

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, out));
	pid = T_OK(fork());
	if (pid == 0) {
		alarm(CHILD_S);
		T_OK(dup2(out[1], 1));
		execl(USE, "use", what, arg, NULL);
		_exit(127);
	}
	T_OK(close(out[1]));
	(void)!read(out[0], text, sizeof text - 1);
	T_OK(close(out[0]));
	T_OK(waitpid(pid, &status, 0));
	if (ret_said != NULL)
		*ret_said = text[0] != '\0' ? atof(text) : -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A member that stays until a byte is sent by *@ret_via. */
static pid_t
stay(int *ret_via)
{
	int to[2];
	pid_t pid;
	char c;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to));
	pid = T_OK(fork());
	if (pid == 0) {
		alarm(CHILD_S);
		T_OK(dup2(to[1], 0));
		T_OK(dup2(to[1], 1));
		execl(USE, "use", "stay", NULL);
		_exit(127);
	}
	T_OK(close(to[1]));
	T_EQ(read(to[0], &c, 1), 1);
	T_EQ(c, 0);
	*ret_via = to[0];
	return pid;
}

static void
go(pid_t pid, int via)
{
	int status;

	T_EQ(write(via, "", 1), 1);
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
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

	snprintf(path, sizeof path, "%s/streams", dir);
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
	if (unshare(CLONE_NEWNS) != 0)
		T_SKIP("no mount namespace of one's own: %s", strerror(errno));
	T_OK(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	T_OK(mount("none", "/proc", "tmpfs", 0, NULL));
	T_ERR(access("/proc/self", F_OK), ENOENT);
}

T_CASE_TIMEOUT(a_pipe_does_not_need_proc, 120)
{
	uint64_t at;

	runtime_dir();
	no_proc();
	at = t_now_ns();
	T_EQ(use(NULL, NULL, NULL), 0);
	T_LT((t_now_ns() - at) / 1000000, 500 * t_scale());
}

T_CASE_TIMEOUT(processes_with_and_without_proc_meet, 120)
{
	pid_t pid[2];
	int via[2];

	runtime_dir();
	pid[0] = stay(&via[0]);
	no_proc();
	pid[1] = stay(&via[1]);
	T_EQ(domains(), 1);
	go(pid[0], via[0]);
	go(pid[1], via[1]);
}

T_CASE_TIMEOUT(a_child_without_proc_uses_what_it_inherits, 120)
{
	double ms;

	runtime_dir();
	no_proc();
	T_EQ(use("inherit", "3", &ms), 0);
	T_LT(ms, 500 * t_scale());
}

T_CASE_TIMEOUT(inherited_streams_outlast_chroot, 120)
{
	char empty[128];

	if (geteuid() != 0)
		T_SKIP("only root may chroot");
	runtime_dir();
	snprintf(empty, sizeof empty, "%s/empty", dir);
	T_OK(mkdir(empty, 0700));
	T_EQ(use("chroot", empty, NULL), 0);
}

T_CASE(a_limit_of_file_sizes_is_no_signal)
{
	struct rlimit rl = { 100 << 10, 100 << 10 };

	runtime_dir();
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

	runtime_dir();
	pid = stay(&via);
	T_OK(setrlimit(RLIMIT_FSIZE, &rl));
	T_EQ(use("inherit", "2000", NULL), 0);
	go(pid, via);
}

T_CASE(memory_that_is_locked_is_what_is_used)
{
	double kib;

	runtime_dir();
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
	runtime_dir();
	T_EQ(use("inherit", "4000", &ms), 0);
	printf("# %.1f ms\n", ms);
	T_LT(ms, 100 * t_scale());
}
