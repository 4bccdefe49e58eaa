/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which processes become members of a domain by open(2) and fopen(3): those that
 * open a Stream.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/syscall.h>

#include <str/inspect.h>

#include "names.h"

/* Has process @pid a slot in the domain? */
static bool
is_member(pid_t pid)
{
	static _Alignas(8) char buf[1 << 20];
	long n = strm_inspect(buf, sizeof(buf), STR_I_WANT_PROCS), at;

	T_GT(n, 0);
	for (at = 0; at < n && at < (long)sizeof(buf);) {
		const struct str_i *i = (const void *)(buf + at);

		if (i->kind == STR_I_PROC &&
		    ((const struct str_i_proc *)(const void *)i)->pid ==
			    (uint32_t)pid)
			return true;
		at += i->size;
	}
	return false;
}

/* The kernel's, so that the child's standard input and output are no Streams. */
static void
kernel_pipe(int fd[2])
{
	T_OK((int)syscall(SYS_pipe2, fd, O_CLOEXEC));
}

struct opener {
	pid_t pid;
	int in, out;
};

static void
start(struct opener *o, const char *path)
{
	int in[2], out[2];

	kernel_pipe(in);
	kernel_pipe(out);
	o->pid = T_OK(fork());
	if (o->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(OPENER, OPENER, path, (char *)NULL);
		_exit(127);
	}
	T_OK(close(in[0]));
	T_OK(close(out[1]));
	o->in = in[1];
	o->out = out[0];
}

static char
says(struct opener *o)
{
	char c = '\0';

	T_EQ(read(o->out, &c, 1), 1);
	return c;
}

static void
go_on(struct opener *o)
{
	T_EQ(write(o->in, "", 1), 1);
}

static void
end(struct opener *o)
{
	go_on(o);
	T_EQ(n_wait(o->pid), 0);
	T_OK(close(o->in));
	T_OK(close(o->out));
}

/* With @named streams attached to files, beside the one that is opened. */
static void
beside_names(unsigned named)
{
	struct opener o;
	char path[128], name[16];
	int fd[2];

	snprintf(path, sizeof(path), "%s", n_file("stream"));
	T_OK(pipe(fd));
	T_TRUE(is_member(getpid()));
	start(&o, n_file("file"));
	T_EQ(says(&o), 'o');
	T_FALSE(is_member(o.pid));
	go_on(&o);
	T_EQ(says(&o), 'f');
	T_FALSE(is_member(o.pid));
	end(&o);

	T_OK(fattach(fd[0], path));
	for (unsigned i = 0; i < named; i++) {
		snprintf(name, sizeof(name), "more-%u", i);
		T_OK(fattach(fd[0], n_file(name)));
	}
	start(&o, path);
	T_EQ(says(&o), 'o');
	T_FALSE(is_member(o.pid));
	go_on(&o);
	T_EQ(says(&o), 's');
	T_TRUE(is_member(o.pid));
	end(&o);
}

T_CASE(a_program_that_opens_files_is_no_member)
{
	beside_names(0);
}

T_CASE(a_program_that_opens_files_beside_many_names_is_no_member)
{
	beside_names(40);
}

static char domain[32];

/* Its streamsd, which removes the domain's file, is killed with the case. */
static void
remove_domain(void)
{
	char dir[64], path[400];
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "/dev/shm/streams-%d", (int)geteuid());
	d = opendir(dir);
	while (d != NULL && (e = readdir(d)) != NULL)
		if (strncmp(e->d_name, domain, strlen(domain)) == 0) {
			snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
			(void)unlink(path);
		}
	if (d != NULL)
		(void)closedir(d);
}

/* Of a domain that is found by its name. */
T_CASE(a_program_that_opens_files_beside_a_named_domain_is_no_member)
{
	snprintf(domain, sizeof(domain), "member-%d", (int)getpid());
	T_OK(setenv("STREAMS_DOMAIN", domain, 1));
	t_at_end(remove_domain);
	beside_names(3);
}

/* A child has its parent's mapping, and no slot. */
T_CASE(a_forked_child_that_opens_files_is_no_member)
{
	const char *path = n_file("stream");
	int fd[2], in[2], out[2];
	char c;
	pid_t pid;

	T_OK(pipe(fd));
	T_OK(fattach(fd[0], path));
	kernel_pipe(in);
	kernel_pipe(out);
	pid = T_OK(fork());
	if (pid == 0) {
		for (int i = 0; i < 1000; i++)
			(void)close(open("/etc/passwd", O_RDONLY));
		(void)!syscall(SYS_write, out[1], "o", 1);
		(void)!syscall(SYS_read, in[0], &c, 1);
		_exit(isastream(open(path, O_RDWR)) != 1);
	}
	T_EQ(read(out[0], &c, 1), 1);
	T_FALSE(is_member(pid));
	T_EQ(write(in[1], "", 1), 1);
	T_EQ(n_wait(pid), 0);
}
