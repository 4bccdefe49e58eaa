/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The socket directory: where it is, who may use it, and how long it lives.
 */
#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <t.h>

#include "upcalls_test_double.h"

static char base[64];

/* A runtime directory of the case's own. */
static void
begin(const char *domain)
{
	snprintf(base, sizeof base, "/tmp/sockdir-test-%d", getpid());
	T_OK(mkdir(base, 0700));
	t_remove_at_end(base);
	T_OK(setenv("XDG_RUNTIME_DIR", base, 1));
	T_OK(setenv("STREAMS_DOMAIN", domain, 1));
}

static void
enter_leave(void)
{
	up_enter(&(struct host_call){ .fd = -1 });
	host_leave();
}

static const char *
sock_dir(void)
{
	return host_shared(host_domain)->dir;
}

/* How many names there are in @path; -1: there is no such directory. */
static int
names_in(const char *path)
{
	struct dirent *e;
	DIR *d = opendir(path);
	int n = 0;

	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void
child_ok(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
}

static void
child_killed(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_TRUE(WIFSIGNALED(status));
}

static void
need_root(void)
{
	if (geteuid() != 0)
		T_SKIP("not root");
}

T_CASE(the_first_socket_makes_it_for_the_user_alone)
{
	struct host_carrier c;
	struct stat st;
	char path[200];
	int fd;

	begin("private");
	(void)umask(0777);
	enter_leave();
	snprintf(path, sizeof path, "%s/streams/streams-sock-", base);
	T_EQ(strncmp(sock_dir(), path, strlen(path)), 0);
	T_EQ(strlen(sock_dir()) >= strlen(path) + 11, 1);
	T_EQ(names_in(sock_dir()), -1);
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_OK(stat(sock_dir(), &st));
	T_EQ(st.st_mode & 07777, 0700);
	snprintf(path, sizeof path, "%s/1", sock_dir());
	T_OK(stat(path, &st));
	T_EQ(st.st_mode, S_IFSOCK | 0600);
	T_EQ(host_carrier_send(&c), 0);
	T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
}

T_CASE(where_the_path_would_be_too_long_it_lies_in_tmp)
{
	struct host_carrier c;
	char deep[300];
	int fd;

	begin("private");
	snprintf(deep, sizeof deep, "%s/%080d", base, 1);
	T_OK(mkdir(deep, 0700));
	T_OK(setenv("XDG_RUNTIME_DIR", deep, 1));
	enter_leave();
	T_EQ(strncmp(sock_dir(), "/tmp/streams-sock-", 18), 0);
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_carrier_send(&c), 0);
	T_OK(close(fd));
	host_carrier_gone(&c);
	host_domain_exit();
	T_EQ(names_in(sock_dir()), -1);
}

T_CASE(one_that_others_can_use_is_refused_in_words)
{
	struct host_carrier c;
	char up[200];
	int fd = -7;

	begin("private");
	enter_leave();
	snprintf(up, sizeof up, "%s/streams", base);
	T_OK(mkdir(up, 0700));
	T_OK(mkdir(sock_dir(), 0700));
	T_OK(chmod(sock_dir(), 0711));
	T_EQ(host_carrier_open(0, &fd, &c), EACCES);
	T_EQ(fd, -7);
	T_NOTNULL(strstr(host_attach_error(), "mode 0700"));
	T_EQ(names_in(sock_dir()), 0);
	/* the bell neither: the process goes on without */
	T_EQ(host_bell_open(), -1);
	T_OK(chmod(sock_dir(), 0700));
	T_EQ(host_carrier_open(0, &fd, &c), 0);
}

T_CASE(one_of_another_user_is_refused_and_so_is_a_link)
{
	struct host_carrier c;
	char up[200];
	int fd;

	need_root();
	begin("private");
	enter_leave();
	snprintf(up, sizeof up, "%s/streams", base);
	T_OK(mkdir(up, 0700));
	T_OK(mkdir(sock_dir(), 0700));
	T_OK(chown(sock_dir(), 65534, 65534));
	T_EQ(host_carrier_open(0, &fd, &c), EACCES);
	T_OK(rmdir(sock_dir()));
	T_OK(symlink("/tmp", sock_dir()));
	T_EQ(host_carrier_open(0, &fd, &c), EACCES);
	T_OK(unlink(sock_dir()));
	T_EQ(host_carrier_open(0, &fd, &c), 0);
}

/* an id without a number in the namespace looks like every other such id */
T_CASE(a_user_without_a_number_is_refused)
{
	struct host_carrier c;
	int fd;
	pid_t pid;

	begin("private");
	pid = T_OK(fork());
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER) != 0)
			_exit(77);
		enter_leave();
		T_EQ(host_carrier_open(0, &fd, &c), EACCES);
		T_NOTNULL(strstr(host_attach_error(), "user namespace"));
		_exit(0);
	}
	T_EQ(waitpid(pid, &fd, 0), pid);
	if (WIFEXITED(fd) && WEXITSTATUS(fd) == 77)
		T_SKIP("no user namespaces");
	T_EQ(fd, 0);
}

T_CASE(a_name_goes_with_its_socket)
{
	struct host_carrier c[2];
	int fd[2];

	begin("private");
	enter_leave();
	T_EQ(host_carrier_open(0, &fd[0], &c[0]), 0);
	T_EQ(host_carrier_open(0, &fd[1], &c[1]), 0);
	T_EQ(names_in(sock_dir()), 2);
	T_OK(close(fd[0]));
	host_carrier_gone(&c[0]);
	host_carrier_gone(&c[0]);
	T_EQ(names_in(sock_dir()), 1);
	T_EQ(host_carrier_send(&c[0]), ECONNREFUSED);
	T_EQ(host_carrier_send(&c[1]), 0); /* and the bell is there */
	T_EQ(names_in(sock_dir()), 2);
}

T_CASE(a_bell_goes_with_its_process_and_a_killed_ones_when_it_is_reaped)
{
	pid_t pid;

	begin("private");
	enter_leave();
	T_GE(host_bell_open(), 0);
	T_EQ(names_in(sock_dir()), 1);
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		T_GE(host_bell_open(), 0);
		T_EQ(names_in(sock_dir()), 2);
		host_domain_exit();
		T_EQ(names_in(sock_dir()), 1);
		_exit(0);
	}
	child_ok(pid);
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		T_GE(host_bell_open(), 0);
		(void)raise(SIGKILL);
	}
	child_killed(pid);
	T_EQ(names_in(sock_dir()), 2);
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		T_EQ(names_in(sock_dir()), 1);
		_exit(0);
	}
	child_ok(pid);
}

T_CASE(a_closed_bell_is_replaced_and_its_name_with_it)
{
	begin("private");
	enter_leave();
	T_OK(close(T_OK(host_bell_open())));
	T_GE(host_bell_open(), 0);
	T_EQ(names_in(sock_dir()), 1);
}

T_CASE(the_last_member_takes_it_away)
{
	static const char *const domain[] = {"private", "default"};
	char up[200];
	pid_t pid;
	int i;

	begin("private");
	for (i = 0; i < 2; i++) {
		pid = T_OK(fork());
		if (pid != 0) {
			child_ok(pid);
			continue;
		}
		T_OK(setenv("STREAMS_DOMAIN", domain[i], 1));
		enter_leave();
		T_GE(host_bell_open(), 0);
		pid = T_OK(fork());
		if (pid == 0) {
			enter_leave();
			T_GE(host_bell_open(), 0);
			host_domain_exit();
			T_EQ(names_in(sock_dir()), 1);
			_exit(0);
		}
		child_ok(pid);
		snprintf(up, sizeof up, "%s/streams", base);
		T_GE(names_in(up), 1);
		host_domain_exit();
		T_EQ(names_in(up), -1);
		_exit(0);
	}
}

/* a domain whose members were all killed */
static void
leave_one(char *ret_dir, int *ret_fd)
{
	struct host_carrier c;
	int to[2];
	pid_t pid;

	T_OK(pipe(to));
	pid = T_OK(fork());
	if (pid == 0) {
		enter_leave();
		T_GE(host_bell_open(), 0);
		T_EQ(host_carrier_open(0, ret_fd, &c), 0);
		T_EQ(write(to[1], sock_dir(), 96), 96);
		(void)raise(SIGKILL);
	}
	child_killed(pid);
	T_EQ(read(to[0], ret_dir, 96), 96);
	T_EQ(names_in(ret_dir), 2);
}

T_CASE(the_next_domain_takes_away_what_crashes_left)
{
	char dead[2][96], held[96];
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd, s;

	begin("private");
	leave_one(dead[0], &fd);
	leave_one(dead[1], &fd);
	/* each is gone when the next is made; so is one that is locked, or
	 * that has a socket with a holder, not */
	T_EQ(names_in(dead[0]), -1);
	fd = T_OK(open(dead[1], O_RDONLY | O_DIRECTORY));
	T_OK(flock(fd, LOCK_SH));
	leave_one(held, &s);
	T_EQ(names_in(dead[1]), 2);
	T_OK(close(fd));
	s = T_OK(socket(AF_UNIX, SOCK_DGRAM, 0));
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s/living", held);
	T_OK(bind(s, (void *)&sun, sizeof sun));
	enter_leave();
	T_EQ(names_in(dead[1]), -1);
	T_EQ(names_in(held), 3);
	T_GE(host_bell_open(), 0);
	T_EQ(names_in(sock_dir()), 1);
}

T_CASE(streamsd_unlinks_what_was_never_entered)
{
	struct host_carrier c;
	int fd;
	pid_t pid;

	begin("private");
	enter_leave();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setenv("STREAMS_CRASH", "sockdir:bound", 1));
		enter_leave();
		(void)host_carrier_open(0, &fd, &c);
		_exit(0);
	}
	child_killed(pid);
	T_EQ(names_in(sock_dir()), 2);
	host_sockdir_tidy();
	T_EQ(names_in(sock_dir()), 2); /* it may be about to be bound */
	T_SOON((host_sockdir_tidy(), names_in(sock_dir()) == 1), 9000);
	host_sockdir_tidy();
	T_EQ(host_carrier_send(&c), 0);
	T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
}

T_CASE(who_makes_it_is_killed)
{
	static const char *const label[] = {"sockdir:making", "sockdir:made",
		"sockdir:bound", "bell:bound"};
	struct host_carrier c;
	int fd;
	pid_t pid;

	begin("private");
	for (size_t i = 0; i < STR_ARRAY_LEN(label); i++) {
		pid = T_OK(fork());
		if (pid != 0) {
			child_ok(pid);
			continue;
		}
		enter_leave();
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(setenv("STREAMS_CRASH", label[i], 1));
			enter_leave();
			(void)host_bell_open();
			_exit(0);
		}
		child_killed(pid);
		T_EQ(host_carrier_open(0, &fd, &c), 0);
		T_EQ(host_carrier_send(&c), 0);
		T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
		T_OK(close(fd));
		host_carrier_gone(&c);
		host_domain_exit();
		T_EQ(names_in(sock_dir()), -1);
		_exit(0);
	}
}

/* All that has to do with addresses, where the path leads nowhere. */
static void
use_all(void)
{
	struct host_carrier c;
	struct pollfd pfd;
	int fd, got = -1;

	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_carrier_send(&c), 0);
	T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
	host_token_drain(fd);
	T_EQ(host_fd_pass(&c, fd, 5), 0);
	T_EQ(host_fd_take(fd, 5, &got), 0);
	T_OK(close(got));
	host_bell_ring(host_self());
	pfd = (struct pollfd){host_bell_open(), POLLIN, 0};
	T_EQ(poll(&pfd, 1, 0), 1);
	T_OK(close(fd));
	T_FALSE(host_carrier_alive(&c));
	host_carrier_gone(&c);
	T_EQ(host_carrier_send(&c), ECONNREFUSED);
}

static int outside = -1;

static void
enter_jail(const char *jail)
{
	outside = T_OK(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	T_OK(chroot(jail));
	T_OK(chdir("/"));
}

/* So that what the case has made can be removed. */
static void
leave_jail(void)
{
	T_OK(fchdir(outside));
	T_OK(chroot("."));
	T_OK(close(outside));
}

T_CASE(with_another_root_all_goes_on)
{
	struct host_call hc = {.fd = -1};
	struct host_carrier c;
	char jail[100];
	int fd;
	pid_t pid;

	need_root();
	begin("private");
	up_enter(&hc);
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_GE(host_bell_open(), 0);
	snprintf(jail, sizeof jail, "%s/jail", base);
	T_OK(mkdir(jail, 0700));
	enter_jail(jail);
	use_all();
	T_EQ(host_carrier_send(&c), 0);
	T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
	host_token_drain(fd);
	/* a child that has not the path at its first call */
	host_leave();
	pid = T_OK(fork());
	if (pid == 0) {
		T_GE(host_bell_open(), 0);
		T_EQ(host_carrier_send(&c), 0);
		_exit(0);
	}
	child_ok(pid);
	T_EQ(host_carrier_look(fd), HOST_C_TOKEN);
	leave_jail();
}

/* where the jail has a directory of that path, which the attacker can read */
T_CASE(another_directory_of_that_path_gets_nothing_that_matters)
{
	struct host_call hc = {.fd = -1};
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	char jail[100], path[400];
	struct host_carrier c;
	int fd, s, got, null;

	need_root();
	begin("private");
	up_enter(&hc);
	null = T_OK(open("/dev/null", O_RDWR));
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_GE(host_bell_open(), 0);
	snprintf(jail, sizeof jail, "%s/jail", base);
	T_OK(mkdir(jail, 0700));
	for (const char *p = sock_dir(); p != NULL; p = strchr(p + 1, '/')) {
		snprintf(path, sizeof path, "%s%.*s", jail,
			(int)(p - sock_dir()), sock_dir());
		(void)mkdir(path, 0755);
	}
	snprintf(path, sizeof path, "%s%s", jail, sock_dir());
	T_OK(mkdir(path, 0755));
	T_OK(chdir(path));
	s = T_OK(socket(AF_UNIX, SOCK_DGRAM, 0));
	strcpy(sun.sun_path, "1"); /* as the carrier's */
	T_OK(bind(s, (void *)&sun, sizeof sun));
	T_OK(chown(path, 65534, 65534));
	enter_jail(jail);
	T_EQ(host_fd_pass(&c, null, 7), 0);
	T_EQ(recv(s, path, sizeof path, MSG_DONTWAIT), -1);
	T_EQ(host_fd_take(fd, 7, &got), 0);
	/* nor is what is made now bound there */
	T_EQ(host_carrier_open(0, &got, &c), EACCES);
	leave_jail();
}

/* ------------------------------------------------------------- strangers */

/* Send @fd @n times, as user @uid: the kernel permits this to root. */
static void
send_as(const struct host_carrier *c, uid_t uid, int fd, uint64_t id,
	unsigned n)
{
	struct ucred cr = {getpid(), uid, 0};
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof cr) + CMSG_SPACE(3 * sizeof fd)];
	} u = {.buf = {0}};
	struct iovec iov = {&id, sizeof id};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = u.buf,
		.msg_controllen = CMSG_SPACE(sizeof cr) +
			CMSG_SPACE(n * sizeof fd)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	uint64_t number;
	int s = T_OK(socket(AF_UNIX, SOCK_DGRAM, 0));

	*h = (struct cmsghdr){CMSG_LEN(sizeof cr), SOL_SOCKET,
		SCM_CREDENTIALS};
	memcpy(CMSG_DATA(h), &cr, sizeof cr);
	h = CMSG_NXTHDR(&m, h);
	*h = (struct cmsghdr){CMSG_LEN(n * sizeof fd), SOL_SOCKET,
		SCM_RIGHTS};
	for (unsigned i = 0; i < n; i++)
		memcpy(CMSG_DATA(h) + i * sizeof fd, &fd, sizeof fd);
	memcpy(&number, c->addr, sizeof number);
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s/%x", sock_dir(),
		(unsigned)number); /* a number below 10 */
	m.msg_name = &sun;
	m.msg_namelen = sizeof sun;
	T_EQ(sendmsg(s, &m, 0), (ssize_t)sizeof id);
	T_OK(close(s));
}

T_CASE(what_another_user_sends_is_dropped_with_its_descriptors)
{
	struct host_carrier c;
	unsigned n;
	bool lost;
	uint64_t text[2];
	int fd, got = -7, many[HOST_FDS], p[2];
	char b;

	need_root();
	begin("private");
	enter_leave();
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_OK(pipe(p));
	send_as(&c, 65534, p[1], 5, 1);
	send_as(&c, 1000, p[1], 5, 1);
	T_EQ(host_fd_take(fd, 5, &got), ENOENT);
	T_EQ(got, -7);
	for (unsigned i = 1; i <= 3; i++) {
		send_as(&c, 65534, p[1], 5, i);
		send_as(&c, 0, p[1], 4, i);
	}
	send_as(&c, 0, 0, 5, 1);
	T_EQ(host_fd_take(fd, 5, &got), 0);
	T_OK(close(got));
	send_as(&c, 65534, p[1], 6, 3);
	T_EQ(host_fds_recv(fd, text, sizeof text, many, &n, &lost), 0);
	T_EQ(n, 0u);
	send_as(&c, 0, 0, 6, 1);
	T_EQ(host_fds_recv(fd, text, sizeof text, many, &n, &lost), 8);
	T_EQ(n, 1u);
	T_EQ(text[0], 6u);
	/* the writing end has no other holder */
	T_OK(close(p[1]));
	T_EQ(read(p[0], &b, 1), 0);
}
