/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which processes become members of a domain: by open(2) and fopen(3) those that
 * open a Stream, by poll(2) and its like those that hold one.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/socket.h>
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

/* @fd at 3, past the library: what makes the child a member is its program. */
static void
place(int fd)
{
	int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 64);

	(void)syscall(SYS_dup3, high, 3, 0);
}

/* Run @program with @arg; @third, unless that is -1, is its descriptor 3. */
static void
start_with(struct opener *o, const char *program, const char *arg, int third)
{
	int in[2], out[2];

	kernel_pipe(in);
	kernel_pipe(out);
	o->pid = T_OK(fork());
	if (o->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (third >= 0)
			place(third);
		execl(program, program, arg, (char *)NULL);
		_exit(127);
	}
	T_OK(close(in[0]));
	T_OK(close(out[1]));
	o->in = in[1];
	o->out = out[0];
}

static void
start(struct opener *o, const char *path)
{
	start_with(o, OPENER, path, -1);
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

/* Of which no descriptor is inherited. */
static void
own_pipe(int fd[2])
{
	T_OK(pipe2(fd, O_CLOEXEC));
	T_TRUE(is_member(getpid()));
}

T_CASE(a_program_that_polls_files_is_no_member)
{
	struct opener o;
	int fd[2];

	own_pipe(fd);
	start_with(&o, POLLER, NULL, -1);
	T_EQ(says(&o), 'o');
	T_FALSE(is_member(o.pid));
	end(&o);
}

T_CASE(a_program_that_polls_files_makes_no_domain)
{
	char path[128];
	struct opener o;

	snprintf(path, sizeof(path), "%s", n_path("domain"));
	T_OK(setenv("STREAMS_DOMAIN", path, 1));
	start_with(&o, POLLER, NULL, -1);
	T_EQ(says(&o), 'o');
	T_ERR(access(path, F_OK), ENOENT);
	end(&o);
}

/* One that it inherits makes a program a member with its first call. */
T_CASE(a_program_that_inherits_a_stream_is_a_member)
{
	struct opener o;
	int fd[2];

	own_pipe(fd);
	start_with(&o, POLLER, "3", fd[0]);
	T_EQ(says(&o), 'o');
	T_TRUE(is_member(o.pid));
	T_EQ(write(fd[1], "a", 1), 1);
	go_on(&o);
	T_EQ(says(&o), 's');
	end(&o);
}

/* A device's carrier is a socket of another type. */
T_CASE(a_program_that_inherits_a_device_is_a_member)
{
	struct opener o;
	int fd = T_OK(open("/dev/streams/clone/echo", O_RDWR | O_CLOEXEC));

	start_with(&o, POLLER, "3", fd);
	T_EQ(says(&o), 'o');
	T_TRUE(is_member(o.pid));
	T_EQ(write(fd, "a", 1), 1);
	go_on(&o);
	T_EQ(says(&o), 's');
	end(&o);
}

static void
send_descriptor(int via, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = {"d", 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = room, .msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	T_EQ(sendmsg(via, &m, 0), 1);
}

/* After its calls have found that it holds none. */
T_CASE(a_program_that_receives_a_stream_is_a_member)
{
	struct opener o;
	int fd[2], via[2];

	own_pipe(fd);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, via));
	start_with(&o, POLLER, "recv", via[1]);
	T_EQ(says(&o), 'o');
	T_FALSE(is_member(o.pid));
	send_descriptor(via[0], fd[0]);
	T_EQ(write(fd[1], "a", 1), 1);
	go_on(&o);
	T_EQ(says(&o), 's');
	T_TRUE(is_member(o.pid));
	end(&o);
}

/* One that is no Stream leaves it what it is. */
T_CASE(a_program_that_receives_a_socket_is_no_member)
{
	struct opener o;
	int fd[2], via[2];

	own_pipe(fd);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, via));
	start_with(&o, POLLER, "recv", via[1]);
	T_EQ(says(&o), 'o');
	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	send_descriptor(via[0], fd[0]);
	T_EQ(write(fd[1], "a", 1), 1);
	go_on(&o);
	T_EQ(says(&o), 'f');
	T_FALSE(is_member(o.pid));
	end(&o);
}
