/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Nothing is left behind: no process, and no file in $XDG_RUNTIME_DIR or where
 * STREAMS_DOMAIN says; and there is none anywhere else.  A named domain is
 * gone after a clean exit, and a second after a crash.  A private domain has no
 * file but the sockets of threads that sleep for long; after a crash their names
 * stay until the user's next domain is made.
 */
#include "posix.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <dirent.h>
#include <ftw.h>

static char dir[64], domain[128];
static int count, sockets, tell;

static int
count_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_D)
		return 0;
	if (tell)
		fprintf(stderr, "# left: %s\n", path);
	count++;
	sockets += S_ISSOCK(st->st_mode);
	return 0;
}

static int
files_in(const char *path)
{
	do
		count = sockets = 0;
	/* a directory was removed meanwhile: the walk has ended there */
	while (nftw(path, count_file, 8, FTW_PHYS) == -1 && errno == ENOENT);
	return count;
}

static int
sockets_in(const char *path)
{
	(void)files_in(path);
	return sockets;
}

/* Has process @pid a file mapped whose path has @where in it? */
static int
maps(pid_t pid, const char *where)
{
	static char buf[262144];
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	(void)t_file(path, buf, sizeof(buf));
	return strstr(buf, where) != NULL;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void
clean_up(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/*
 * Processes with our mark in their environment.  Past the library, as ready():
 * its open() would attach to a domain that streamsd is just removing.
 */
static int
marked_processes(void)
{
	static char buf[65536];
	char mark[64], path[300];
	struct dirent *e;
	DIR *d = opendir("/proc");
	int n = 0, fd;
	ssize_t k;

	snprintf(mark, sizeof(mark), "LEAVE_MARK=%d.", getpid());
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' ||
			atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%s/environ", e->d_name);
		fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
		if (fd < 0)
			continue;
		k = syscall(SYS_read, fd, buf, sizeof(buf));
		syscall(SYS_close, fd);
		if (k > 0 && memmem(buf, (size_t)k, mark, strlen(mark)))
			n++;
	}
	closedir(d);
	return n;
}

/* the place for this case: an own runtime directory, and @name as domain */
static void
place(const char *name)
{
	char mark[32];

	snprintf(dir, sizeof(dir), "/tmp/streams-leave-XXXXXX");
	T_NOTNULL(mkdtemp(dir));
	T_OK(prctl(PR_SET_CHILD_SUBREAPER, 1));
	snprintf(mark, sizeof(mark), "%d.", getpid());
	setenv("LEAVE_MARK", mark, 1);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	if (name == NULL) {
		unsetenv("STREAMS_DOMAIN");
		return;
	}
	snprintf(domain, sizeof(domain), name[0] == '/' ? "%s%s" : "%.0s%s",
		dir, name);
	setenv("STREAMS_DOMAIN", domain, 1);
}

struct running {
	pid_t pid;
	int in, out;
};

/*
 * poll(2), past the library: it would look into the domain that it finds for
 * streams that we might have inherited, and make us one of its users.
 */
static int
ready(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return (int)syscall(SYS_poll, &p, 1, ms);
}

static struct running
run(const char *mode)
{
	struct running r;
	int in[2], out[2];
	char line[16];

	p_kernel_pipe(in);
	p_kernel_pipe(out);
	r.pid = fork();
	if (r.pid == 0) {
		setpgid(0, 0);
		dup2(in[0], 0);
		dup2(out[1], 1);
		close_range(3, ~0u, 0);
		execl(p_helper_path, "traffic", mode, (char *)NULL);
		_exit(127);
	}
	T_OK(close(in[0]));
	T_OK(close(out[1]));
	r.in = in[1];
	r.out = out[0];
	T_EQ(ready(r.out, 2 * P_MS_LONG), 1);
	T_GT(read(r.out, line, sizeof(line)), 0);
	/* the domain is where it was told to be */
	T_EQ(maps(r.pid, "/dev/shm/streams"), 0);
	return r;
}

static void
finish(struct running *r)
{
	T_OK(close(r->in));
	T_TRUE(p_exited(r->pid, 0));
	T_OK(close(r->out));
}

/*
 * @r was to be killed, and is dead with both its children: a process that is
 * on its way still has the domain, and takes nothing away as it goes.
 */
static void
crashed(struct running *r)
{
	int status;

	T_OK(close(r->in)); /* a late crash comes now */
	T_EQ(p_wait(r->pid, P_MS_LONG), SIGKILL);
	for (int i = 0; i < 2; i++) {
		/* ours by now: place() */
		T_GT(waitpid(-r->pid, &status, 0), 0);
		T_EQ(status, SIGKILL);
	}
	T_OK(close(r->out));
}

static void
nothing_is_left(void)
{
	double end = p_ms() + P_MS_LONG;
	int processes, here, mine = maps(getpid(), dir);

	/* streamsd may be the last to leave, and no process waits for it */
	while (((processes = marked_processes()) != 0 || files_in(dir) != 0) &&
		p_ms() < end)
		p_pause(5);
	tell = 1;
	here = files_in(dir);
	tell = 0;
	clean_up(); /* before a check ends the process */
	T_EQ(mine, 0);
	T_EQ(processes, 0);
	T_EQ(here, 0);
}

static void
clean_exit(const char *name)
{
	struct running a;

	place(name);
	a = run("hold");
	T_GT(files_in(dir), 0);
	finish(&a);
	nothing_is_left();
}

T_CASE(the_default_domain_is_gone_after_a_clean_exit)
{
	clean_exit(NULL);
}

T_CASE(a_domain_with_a_name_is_gone_after_a_clean_exit)
{
	clean_exit("apart");
}

T_CASE(a_domain_with_a_path_is_gone_after_a_clean_exit)
{
	clean_exit("/domain");
}

T_CASE(a_private_domain_has_no_file_but_the_sockets_of_sleepers)
{
	struct running a;

	place("private");
	a = run("hold");
	T_SOON(sockets_in(dir) > 0, 5000);
	T_EQ(files_in(dir), sockets);
	finish(&a);
	nothing_is_left();
}

/* the first to leave does not take the domain away from the second */
T_CASE(a_named_domain_lasts_until_its_last_user_leaves)
{
	struct running a, b, c;

	place("/domain");
	a = run("hold");
	b = run("hold");
	T_GT(files_in(dir), 0);
	finish(&a);
	T_GT(files_in(dir), 0);
	c = run("hold");
	finish(&b);
	T_GT(files_in(dir), 0);
	finish(&c);
	nothing_is_left();
}

/* A file of /proc/PID, past the library; "" if it cannot be read. */
static void
proc_file(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	long fd, n = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
	if (fd >= 0) {
		n = syscall(SYS_read, fd, buf, size - 1);
		(void)syscall(SYS_close, fd);
	}
	buf[n > 0 ? n : 0] = '\0';
}

/* streamsd, which is a child of this process after its start; 0: none */
static pid_t
streamsd_child(void)
{
	char buf[4096], name[64], *p;

	snprintf(name, sizeof(name), "task/%d/children", (int)getpid());
	proc_file(getpid(), name, buf, sizeof(buf));
	for (p = strtok(buf, " "); p != NULL; p = strtok(NULL, " ")) {
		char comm[64];

		proc_file(atoi(p), "comm", comm, sizeof(comm));
		if (strcmp(comm, "streamsd\n") == 0)
			return atoi(p);
	}
	return 0;
}

/* Does the main thread of @pid run for less than a tenth of 300 ms? */
static int
sleeps(pid_t pid)
{
	char buf[128];
	uint64_t before;

	proc_file(pid, "schedstat", buf, sizeof(buf));
	before = strtoull(buf, NULL, 10);
	p_pause(300);
	proc_file(pid, "schedstat", buf, sizeof(buf));
	return buf[0] != '\0' && strtoull(buf, NULL, 10) - before < 30000000;
}

T_CASE(streamsd_sleeps_while_nothing_happens)
{
	struct running a;

	place("apart");
	a = run("hold");
	T_SOON(streamsd_child() != 0, 5000);
	T_SOON(sleeps(streamsd_child()), 10000);
	/* and goes on sleeping */
	T_TRUE(sleeps(streamsd_child()) || sleeps(streamsd_child()));
	finish(&a);
	nothing_is_left();
}

static void
crash_then_clean_exit(const char *name)
{
	struct running a;

	place(name);
	for (int i = 0; i < 3; i++) {
		a = run("crash");
		crashed(&a);
		/* streamsd removes it */
		T_SOON(files_in(dir) == 0, 1000 * t_scale());
	}
	a = run("hold");
	finish(&a);
	nothing_is_left();
}

T_CASE(the_default_domain_is_gone_after_a_crash)
{
	crash_then_clean_exit(NULL);
}

T_CASE(a_domain_with_a_path_is_gone_after_a_crash)
{
	crash_then_clean_exit("/domain");
}

#ifdef STREAMSD
/*
 * STREAMS_DAEMON: streamsd, which begins when a file called @go exists.  The
 * program is in a directory of its own.
 */
static void
late_streamsd(char go[96])
{
	static char own[64];
	char path[96];
	int fd;

	snprintf(own, sizeof(own), "/tmp/streams-late-XXXXXX");
	T_NOTNULL(mkdtemp(own));
	t_remove_at_end(own);
	snprintf(go, 96, "%s/go", own);
	snprintf(path, sizeof(path), "%s/streamsd", own);
	fd = T_OK(open(path, O_WRONLY | O_CREAT | O_EXCL, 0700));
	T_GT(dprintf(fd, "#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.01; done\n"
		"exec " STREAMSD " \"$@\"\n", go), 0);
	T_OK(close(fd));
	setenv("STREAMS_DAEMON", path, 1);
}

/* All members are killed before streamsd has attached. */
static void
crash_before_streamsd(const char *name)
{
	struct running a;
	char go[96];

	place(name);
	late_streamsd(go);
	a = run("late-crash");
	T_SOON(sockets_in(dir) > 0, 5000);
	crashed(&a);
	T_GT(files_in(dir), sockets);
	T_OK(close(T_OK(open(go, O_WRONLY | O_CREAT, 0600))));
	T_SOON(files_in(dir) == 0, 5000);
	nothing_is_left();
}

T_CASE(the_default_domain_is_gone_after_a_crash_before_streamsd)
{
	crash_before_streamsd(NULL);
}

T_CASE(a_domain_with_a_path_is_gone_after_a_crash_before_streamsd)
{
	crash_before_streamsd("/domain");
}
#endif

static void
crash_private(const char *mode, int least)
{
	struct running a;

	place("private");
	a = run(mode);
	T_SOON(sockets_in(dir) >= least, 5000);
	crashed(&a);
	T_EQ(files_in(dir), sockets);
	/* the user's next domain, wherever it is */
	a = run("hold");
	finish(&a);
	nothing_is_left();
}

T_CASE(a_crashed_private_domain_leaves_no_file_but_sockets)
{
	crash_private("crash", 0);
}

T_CASE(the_next_domain_removes_the_sockets_that_a_crash_left)
{
	crash_private("late-crash", 1);
}

/* a crash beside a process that goes on must not disturb it */
T_CASE(a_crash_beside_a_living_user_leaves_the_domain_to_him)
{
	struct running a, b;

	place("/domain");
	a = run("hold");
	b = run("crash");
	crashed(&b);
	T_GT(files_in(dir), 0);
	b = run("hold");
	finish(&b);
	finish(&a);
	nothing_is_left();
}
