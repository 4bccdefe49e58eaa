/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * fattach(3), fdetach(3), connld and the passing of descriptors: POSIX XSR
 * fattach(), fdetach(), and SVR4 streamio(7), connld(7).
 */
#include "names.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>

static void
make(int fd[2])
{
	T_OK(pipe(fd));
	T_EQ(isastream(fd[0]), 1);
}

/* ---------------------------------------------------------------- fattach */

T_CASE(an_attached_name_opens_the_stream)
{
	const char *path = n_file("a");
	char buf[16];
	int fd[2], c;

	make(fd);
	T_OK(fattach(fd[1], path));
	c = T_OK(open(path, O_RDWR));
	T_EQ(isastream(c), 1);
	T_EQ(T_OK(write(c, "to server", 9)), 9);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 9);
	T_EQ(T_OK(write(fd[0], "back", 4)), 4);
	T_EQ(T_OK(read(c, buf, sizeof(buf))), 4);
	T_MEM(buf, "back", 4);
	T_OK(fdetach(path));
	/* SVR4: those who have it open keep it */
	T_EQ(T_OK(write(c, "more", 4)), 4);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 4);
	T_OK(close(c));
}

T_CASE(after_fdetach_the_path_is_the_file_again)
{
	const char *path = n_file("a");
	int fd[2], f = T_OK(open(path, O_WRONLY));
	char c;

	T_EQ(T_OK(write(f, "F", 1)), 1);
	T_OK(close(f));
	make(fd);
	T_OK(fattach(fd[1], path));
	T_OK(fdetach(path));
	f = T_OK(open(path, O_RDONLY));
	T_EQ(isastream(f), 0);
	T_EQ(T_OK(read(f, &c, 1)), 1);
	T_EQ(c, 'F');
}

T_CASE(fattach_errors)
{
	const char *path = n_file("a"), *gone = n_path("gone");
	int fd[2], other[2], file = T_OK(open(path, O_RDONLY));
	char name[5000];

	make(fd);
	make(other);
	T_ERR(fattach(-1, path), EBADF);
	T_ERR(fattach(900, path), EBADF);
	T_ERR(fattach(file, path), EINVAL);
	T_ERR(fattach(fd[1], gone), ENOENT);
	T_ERR(fattach(fd[1], ""), ENOENT);
	T_ERR(fattach(fd[1], n_path("a/b")), ENOTDIR);
	T_ERR(fattach(fd[1], (const char *)16), EFAULT);
	T_ERR(fattach(fd[1], NULL), EFAULT);
	memset(name, 'x', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	T_ERR(fattach(fd[1], name), ENAMETOOLONG);
	T_OK(symlink(n_path("l2"), n_path("l1")));
	T_OK(symlink(n_path("l1"), n_path("l2")));
	T_ERR(fattach(fd[1], n_path("l1")), ELOOP);
	T_OK(fattach(fd[1], path));
	T_ERR(fattach(other[1], path), EBUSY);
	T_OK(fdetach(path));
	T_OK(fattach(other[1], path));
	T_OK(fdetach(path));
}

T_CASE(fdetach_errors)
{
	const char *path = n_file("a");

	T_ERR(fdetach(path), EINVAL);
	T_ERR(fdetach(n_path("gone")), ENOENT);
	T_ERR(fdetach(n_path("a/b")), ENOTDIR);
	T_ERR(fdetach(NULL), EFAULT);
	T_ERR(fdetach((const char *)16), EFAULT);
}

/* POSIX: EPERM "the process is not the owner", EACCES no write permission. */
T_CASE(fattach_honours_permissions)
{
	const char *path = n_file("a");
	pid_t pid;

	if (geteuid() != 0)
		T_SKIP("only root can become somebody else");
	T_OK(chmod(path, 0666));
	pid = T_OK(fork());
	if (pid == 0) {
		int fd[2];

		/* first: a change of user closes all Streams */
		T_OK(setresuid(65534, 65534, 65534));
		make(fd);
		T_ERR(fattach(fd[1], path), EPERM);
		_exit(0);
	}
	T_EQ(n_wait(pid), 0);
}

/* A file that was removed leaves its number to another, and no more. */
T_CASE(a_new_file_with_the_number_of_an_old_one_is_another_file)
{
	const char *path = n_file("a"), *spare = n_path("b");
	struct stat was, st;
	struct statx sx;
	int fd[2], f, n;

	T_OK(stat(path, &was));
	T_OK(statx(AT_FDCWD, path, 0, STATX_BTIME, &sx));
	if ((sx.stx_mask & STATX_BTIME) == 0)
		T_SKIP("this file system does not say when a file was made");
	make(fd);
	T_OK(fattach(fd[1], path));
	T_OK(unlink(path));
	for (n = 0; n < 100; n++) {
		f = T_OK(open(spare, O_RDWR | O_CREAT | O_EXCL, 0600));
		T_OK(fstat(f, &st));
		T_EQ(isastream(f), 0);
		T_OK(close(f));
		if (st.st_ino == was.st_ino)
			break;
		T_OK(unlink(spare));
	}
	if (n == 100)
		T_SKIP("this file system does not use numbers again");
	f = T_OK(open(spare, O_RDWR));
	T_EQ(isastream(f), 0);
	T_OK(close(f));
	T_ERR(fdetach(spare), EINVAL);
	T_OK(fattach(fd[0], spare));
	f = T_OK(open(spare, O_RDWR));
	T_EQ(isastream(f), 1);
	T_OK(fdetach(spare));
}

/* SVR4: the name holds the stream; the server closes what it attached. */
T_CASE(the_name_keeps_the_attached_end)
{
	const char *path = n_file("a");
	char buf[8];
	int fd[2], c;

	make(fd);
	T_OK(fattach(fd[1], path));
	T_OK(close(fd[1]));
	T_EQ(n_events(fd[0]) & (POLLHUP | POLLERR), 0);
	c = T_OK(open(path, O_RDWR));
	T_EQ(T_OK(write(c, "x", 1)), 1);
	T_TRUE(n_readable(fd[0], 5000));
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 1);
	T_OK(close(c));
	T_EQ(n_events(fd[0]) & (POLLHUP | POLLERR), 0);
	/* XSR fdetach(): the last reference closes it */
	T_OK(fdetach(path));
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 0);
}

T_CASE(a_name_whose_server_is_gone_is_ENXIO)
{
	const char *path = n_file("a");
	int fd[2];

	make(fd);
	T_OK(fattach(fd[1], path));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_ERR(open(path, O_RDWR), ENXIO);
	T_OK(fdetach(path));
}

static void
client_once(void *arg)
{
	int fd = T_OK(open((const char *)arg, O_RDWR));
	char c;

	T_EQ(T_OK(write(fd, "?", 1)), 1);
	T_EQ(T_OK(read(fd, &c, 1)), 1);
	T_EQ(c, '!');
}

T_CASE(names_are_seen_by_other_processes)
{
	const char *path = n_file("a");
	int fd[2], i;
	char c;

	make(fd);
	T_OK(fattach(fd[1], path));
	T_OK(close(fd[1]));
	for (i = 0; i < 5; i++) {
		pid_t pid = n_child(client_once, (void *)path);

		T_EQ(T_OK(read(fd[0], &c, 1)), 1);
		T_EQ(c, '?');
		T_EQ(T_OK(write(fd[0], "!", 1)), 1);
		T_EQ(n_wait(pid), 0);
	}
	T_OK(fdetach(path));
}

/* ----------------------------------------------------------------- connld */

static void
client(void *arg)
{
	int fd = T_OK(open((const char *)arg, O_RDWR));
	char c = (char)getpid(), d;

	T_EQ(T_OK(write(fd, &c, 1)), 1);
	T_EQ(T_OK(read(fd, &d, 1)), 1);
	T_EQ(d, c);
}

/* SVR4 connld(7): each open gets a stream of its own. */
T_CASE(connld_makes_unique_connections)
{
	const char *path = n_file("a");
	struct strrecvfd r;
	pid_t pid[6];
	int fd[2], conn[6], i;
	char c;

	make(fd);
	T_OK(ioctl(fd[1], I_PUSH, "connld"));
	T_OK(fattach(fd[1], path));
	T_OK(close(fd[1]));
	for (i = 0; i < 6; i++)
		pid[i] = n_child(client, (void *)path);
	for (i = 0; i < 6; i++) {
		T_OK(ioctl(fd[0], I_RECVFD, &r));
		T_EQ(r.uid, geteuid());
		T_EQ(r.gid, getegid());
		T_EQ(isastream(r.fd), 1);
		conn[i] = r.fd;
	}
	for (i = 5; i >= 0; i--) {
		T_EQ(T_OK(read(conn[i], &c, 1)), 1);
		T_EQ(T_OK(write(conn[i], &c, 1)), 1);
	}
	for (i = 0; i < 6; i++)
		T_EQ(n_wait(pid[i]), 0);
	/* each is hung up when its client is gone */
	for (i = 0; i < 6; i++)
		T_EQ(T_OK(read(conn[i], &c, 1)), 0);
	T_OK(fdetach(path));
}

/* connld(7): the open blocks until the server has received its end. */
T_CASE(connld_open_waits_for_the_server)
{
	const char *path = n_file("a");
	struct strrecvfd r;
	int fd[2];
	pid_t pid;

	make(fd);
	T_OK(ioctl(fd[1], I_PUSH, "connld"));
	T_OK(fattach(fd[1], path));
	pid = T_OK(fork());
	if (pid == 0) {
		int c;

		alarm(0);
		c = T_OK(open(path, O_RDWR));
		T_OK(close(c));
		_exit(0);
	}
	T_TRUE(n_readable(fd[0], 5000));
	T_EQ(waitpid(pid, NULL, WNOHANG), 0);
	T_OK(ioctl(fd[0], I_RECVFD, &r));
	T_EQ(n_wait(pid), 0);
	T_OK(fdetach(path));
}

static void
idle_server(void *arg)
{
	int *go = arg, fd[2];

	make(fd);
	T_OK(ioctl(fd[1], I_PUSH, "connld"));
	T_OK(fattach(fd[1], n_path("a")));
	T_EQ(T_OK(write(go[0], "x", 1)), 1);
	(void)n_readable(fd[0], 10000);
	T_EQ(T_OK(write(go[0], "y", 1)), 1);
	for (;;)
		pause();
}

static void
sad_client(void *arg)
{
	T_ERR(open((const char *)arg, O_RDWR), ENXIO);
}

/* ... or has died, which is noticed without streamsd too. */
T_CASE(connld_open_ends_when_the_server_is_killed)
{
	const char *path = n_file("a");
	pid_t server, client;
	int go[2];
	char c;

	T_OK(setenv("STREAMS_DAEMON", "/nonexistent/streamsd", 1));
	T_OK(close(2)); /* it is missed */
	make(go);
	server = n_child(idle_server, go);
	T_EQ(T_OK(read(go[1], &c, 1)), 1);
	client = n_child(sad_client, (void *)(uintptr_t)path);
	T_EQ(T_OK(read(go[1], &c, 1)), 1);
	T_OK(kill(server, SIGKILL));
	T_EQ(n_wait(server), 1000 + SIGKILL);
	T_EQ(n_wait(client), 0);
}

static void
killed_client(void *arg)
{
	int fd = T_OK(open((const char *)arg, O_RDWR));

	T_EQ(T_OK(write(fd, "k", 1)), 1);
	for (;;)
		pause();
}

T_CASE(a_killed_client_hangs_its_connection_up)
{
	const char *path = n_file("a");
	struct strrecvfd r;
	int fd[2];
	pid_t pid;
	char c;

	make(fd);
	T_OK(ioctl(fd[1], I_PUSH, "connld"));
	T_OK(fattach(fd[1], path));
	pid = n_child(killed_client, (void *)path);
	T_OK(ioctl(fd[0], I_RECVFD, &r));
	T_EQ(T_OK(read(r.fd, &c, 1)), 1);
	T_OK(kill(pid, SIGKILL));
	T_EQ(n_wait(pid), 1000 + SIGKILL);
	T_EQ(T_OK(read(r.fd, &c, 1)), 0);
	T_OK(fdetach(path));
}

/* ---------------------------------------------------------------- passing */

T_CASE(a_stream_is_passed)
{
	struct strrecvfd r;
	int fd[2], other[2];
	char c = 0;

	make(fd);
	make(other);
	T_OK(ioctl(fd[0], I_SENDFD, other[1]));
	T_OK(close(other[1]));
	/* SVR4: it is open as long as it is on its way */
	T_EQ(n_events(other[0]) & POLLHUP, 0);
	memset(&r, -1, sizeof(r));
	T_OK(ioctl(fd[1], I_RECVFD, &r));
	T_EQ(isastream(r.fd), 1);
	T_EQ(T_OK(write(r.fd, "x", 1)), 1);
	T_EQ(T_OK(read(other[0], &c, 1)), 1);
	T_EQ(T_OK(write(other[0], "y", 1)), 1);
	T_EQ(T_OK(read(r.fd, &c, 1)), 1);
	T_EQ(c, 'y');
	T_OK(close(r.fd));
	T_EQ(T_OK(read(other[0], &c, 1)), 0);
}

/* Is our parent asleep? */
static bool
parent_sleeps(void)
{
	char name[32], text[256], *state;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)getppid());
	f = fopen(name, "r");
	T_TRUE(f != NULL && fgets(text, sizeof(text), f) != NULL);
	fclose(f);
	state = strrchr(text, ')');
	return (state != NULL && state[2] == 'S');
}

/*
 * Write when the parent has been asleep for longer than the stages of a sleep
 * that have an end, and stay: our exit would wake it, too.
 */
static void
late_writer(void *arg)
{
	int asleep = 0;

	T_SOON((asleep = parent_sleeps() ? asleep + 1 : 0) == 200, 6000);
	T_EQ(T_OK(write(*(int *)arg, "w", 1)), 1);
	for (;;)
		pause();
}

static long
cpu_ms(void)
{
	struct timespec ts;

	T_OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts));
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * The pair's other end is closed, a received file holds it instead: no
 * waiter sees a hang-up, burns the CPU, or sleeps through a message.
 */
T_CASE(waiting_for_an_end_that_was_passed_on)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct strrecvfd r;
	int fd[2], other[2], how, e = T_OK(epoll_create1(0));
	char c;

	make(fd);
	make(other);
	T_OK(epoll_ctl(e, EPOLL_CTL_ADD, other[0], &ev));
	T_OK(ioctl(fd[0], I_SENDFD, other[1]));
	T_OK(close(other[1]));
	T_OK(ioctl(fd[1], I_RECVFD, &r));
	for (how = 0; how < 3; how++) {
		long cpu = cpu_ms();
		pid_t pid = n_child(late_writer, &r.fd);

		if (how == 0)
			T_TRUE(n_readable(other[0], 10000));
		else if (how == 1)
			T_EQ(epoll_wait(e, &ev, 1, 10000), 1);
		T_EQ(T_OK(read(other[0], &c, 1)), 1);
		T_LT(cpu_ms() - cpu, 100);
		T_OK(kill(pid, SIGKILL));
		T_EQ(n_wait(pid), 1000 + SIGKILL);
	}
	T_EQ(epoll_wait(e, &ev, 1, 0), 0);
	T_OK(close(r.fd));
	T_EQ(epoll_wait(e, &ev, 1, 5000), 1);
	T_EQ(ev.events & EPOLLHUP, (uint32_t)EPOLLHUP);
	T_EQ(T_OK(read(other[0], &c, 1)), 0);
}

T_CASE(any_descriptor_is_passed)
{
	const char *path = n_file("a");
	int fd[2], f = T_OK(open(path, O_RDWR));
	struct strrecvfd r;
	struct stat a, b;

	make(fd);
	T_EQ(T_OK(write(f, "contents", 8)), 8);
	T_OK(fstat(f, &a));
	T_OK(ioctl(fd[0], I_SENDFD, f));
	T_OK(close(f));
	T_OK(ioctl(fd[1], I_RECVFD, &r));
	T_OK(fstat(r.fd, &b));
	T_EQ(a.st_ino, b.st_ino);
	/* one open file: the offset is shared */
	T_EQ(T_OK(lseek(r.fd, 0, SEEK_CUR)), 8);
	T_EQ(r.uid, geteuid());
}

static void
send_and_die(void *arg)
{
	int *fd = arg;
	int f = T_OK(open(n_file("passed"), O_RDWR));

	T_EQ(T_OK(write(f, "left", 4)), 4);
	T_OK(ioctl(fd[0], I_SENDFD, f));
}

T_CASE(what_was_passed_outlives_the_sender)
{
	struct strrecvfd r;
	char buf[8];
	int fd[2];

	(void)n_path("made");
	make(fd);
	T_EQ(n_wait(n_child(send_and_die, fd)), 0);
	T_OK(ioctl(fd[1], I_RECVFD, &r));
	T_EQ(T_OK(pread(r.fd, buf, sizeof(buf), 0)), 4);
	T_MEM(buf, "left", 4);
}

T_CASE(passed_descriptors_keep_their_order)
{
	struct strrecvfd r;
	struct stat st;
	ino_t ino[10];
	int fd[2], i, f;
	char name[8];

	make(fd);
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		f = T_OK(open(n_path(name), O_CREAT | O_RDWR, 0600));
		T_OK(fstat(f, &st));
		ino[i] = st.st_ino;
		T_OK(ioctl(fd[0], I_SENDFD, f));
		T_OK(close(f));
	}
	for (i = 0; i < 10; i++) {
		T_OK(ioctl(fd[1], I_RECVFD, &r));
		T_OK(fstat(r.fd, &st));
		T_EQ(st.st_ino, ino[i]);
		T_OK(close(r.fd));
	}
}

/* streamio(7) I_SENDFD: EAGAIN EBADF EINVAL ENXIO. */
T_CASE(sendfd_errors)
{
	int dev, fd[2], other[2];

	make(fd);
	T_ERR(ioctl(fd[0], I_SENDFD, -1), EBADF);
	T_ERR(ioctl(fd[0], I_SENDFD, 900), EBADF);
	T_ERR(ioctl(fd[0], I_SENDFD, fd[0]), EINVAL);
	dev = T_OK(open("/dev/streams/clone/nuls", O_RDWR));
	T_ERR(ioctl(dev, I_SENDFD, fd[0]), EINVAL);
	make(other);
	T_OK(close(other[1]));
	T_ERR(ioctl(other[0], I_SENDFD, fd[0]), ENXIO);
}

/* streamio(7) I_RECVFD: EAGAIN EBADMSG EFAULT EINVAL ENXIO. */
T_CASE(recvfd_errors)
{
	struct strrecvfd r;
	void *ro;
	int fd[2];
	char c;

	make(fd);
	T_OK(fcntl(fd[1], F_SETFL, O_NONBLOCK));
	T_ERR(ioctl(fd[1], I_RECVFD, &r), EAGAIN);
	T_EQ(T_OK(write(fd[0], "d", 1)), 1);
	T_ERR(ioctl(fd[1], I_RECVFD, &r), EBADMSG);
	T_EQ(T_OK(read(fd[1], &c, 1)), 1);
	T_OK(ioctl(fd[0], I_SENDFD, 0));
	T_ERR(read(fd[1], &c, 1), EBADMSG);
	T_ERR(ioctl(fd[1], I_RECVFD, NULL), EFAULT);
	T_ERR(ioctl(fd[1], I_RECVFD, (void *)16), EFAULT);
	ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_NE(ro, MAP_FAILED);
	T_ERR(ioctl(fd[1], I_RECVFD, ro), EFAULT);
	/* nothing was lost by that */
	T_OK(ioctl(fd[1], I_RECVFD, &r));
	T_OK(close(fd[0]));
	T_ERR(ioctl(fd[1], I_RECVFD, &r), ENXIO);
	/* what is no pipe says so at once */
	fd[1] = T_OK(open("/dev/streams/clone/nuls", O_RDWR));
	T_ERR(ioctl(fd[1], I_RECVFD, &r), EINVAL);
}

/*
 * streamio(7): a descriptor is no message for getmsg(2), getpmsg(2) and
 * I_PEEK, has no data bytes, and stays for I_RECVFD.
 */
T_CASE(a_passed_descriptor_is_for_recvfd_alone)
{
	struct strrecvfd r;
	struct strbuf ctl, data;
	struct strpeek pk;
	char c[100], d[100];
	int fd[2], other[2], n, band, flags, kind;

	make(fd);
	make(other);
	T_OK(fcntl(fd[1], F_SETFL, O_RDWR | O_NONBLOCK));
	for (kind = 0; kind < 2; kind++) {
		T_OK(ioctl(fd[0], I_SENDFD, kind == 0 ? 0 : other[0]));
		ctl.maxlen = data.maxlen = sizeof(c);
		ctl.buf = c;
		data.buf = d;
		n = -1;
		T_EQ(T_OK(ioctl(fd[1], I_NREAD, &n)), 1);
		T_EQ(n, 0);
		flags = 0;
		T_ERR(getmsg(fd[1], &ctl, &data, &flags), EBADMSG);
		T_ERR(getmsg(fd[1], NULL, NULL, &flags), EBADMSG);
		band = 0;
		flags = MSG_ANY;
		T_ERR(getpmsg(fd[1], &ctl, &data, &band, &flags), EBADMSG);
		pk.ctlbuf = ctl;
		pk.databuf = data;
		pk.flags = 0;
		T_ERR(ioctl(fd[1], I_PEEK, &pk), EBADMSG);
		T_OK(ioctl(fd[1], I_RECVFD, &r));
		T_OK(close(r.fd));
		flags = 0;
		T_ERR(getmsg(fd[1], &ctl, &data, &flags), EAGAIN);
	}
}

/* A message with a descriptor that is flushed lets it go. */
T_CASE(flushing_lets_a_passed_stream_go)
{
	int fd[2], other[2];
	char c;

	make(fd);
	make(other);
	T_OK(ioctl(fd[0], I_SENDFD, other[1]));
	T_OK(close(other[1]));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_EQ(T_OK(read(other[0], &c, 1)), 0);
}

/* Through connld pipes, of which no end is one of pipe(2)'s. */
T_CASE(descriptors_pass_through_connections)
{
	const char *path = n_file("a");
	struct strrecvfd r, r2;
	int fd[2];
	pid_t pid;
	char c;

	make(fd);
	T_OK(ioctl(fd[1], I_PUSH, "connld"));
	T_OK(fattach(fd[1], path));
	pid = T_OK(fork());
	if (pid == 0) {
		int p[2], s = T_OK(open(path, O_RDWR));

		T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
		T_OK(ioctl(s, I_SENDFD, p[0]));
		T_EQ(T_OK(read(p[1], &c, 1)), 1);
		T_EQ(c, 'v');
		_exit(0);
	}
	T_OK(ioctl(fd[0], I_RECVFD, &r));
	T_OK(ioctl(r.fd, I_RECVFD, &r2));
	T_EQ(T_OK(send(r2.fd, "v", 1, 0)), 1);
	T_EQ(n_wait(pid), 0);
	T_OK(fdetach(path));
}

/* ---------------------------------------------------------------- I_PIPE */

/* The pipe driver: two opens and I_PIPE are a pipe. */
T_CASE(two_halves_make_a_pipe)
{
	int a = T_OK(open("/dev/streams/clone/pipe", O_RDWR));
	int b = T_OK(open("/dev/streams/clone/pipe", O_RDWR));
	int c = T_OK(open("/dev/streams/clone/pipe", O_RDWR));
	char buf[8];

	T_EQ(isastream(a), 1);
	T_ERR(ioctl(a, I_PIPE, a), EINVAL);
	T_ERR(ioctl(a, I_PIPE, -1), EBADF);
	T_ERR(ioctl(a, I_PIPE, 0), EINVAL);
	T_OK(ioctl(a, I_PIPE, b));
	T_ERR(ioctl(c, I_PIPE, b), EINVAL);
	T_EQ(T_OK(write(a, "ab", 2)), 2);
	T_EQ(T_OK(read(b, buf, sizeof(buf))), 2);
	T_EQ(T_OK(write(b, "cde", 3)), 3);
	T_EQ(T_OK(read(a, buf, sizeof(buf))), 3);
	T_OK(close(b));
	T_EQ(T_OK(read(a, buf, sizeof(buf))), 0);
	T_OK(close(a));
	T_OK(close(c));
}

/* LiS: a clone open of the FIFO driver is a stream that reads its own. */
T_CASE(a_fifo_of_ones_own)
{
	int a = T_OK(open("/dev/fifo", O_RDWR));
	int b = T_OK(open("/dev/fifo", O_RDWR | O_NONBLOCK));
	char buf[8];

	T_EQ(T_OK(write(a, "self", 4)), 4);
	T_ERR(read(b, buf, sizeof(buf)), EAGAIN);
	T_EQ(T_OK(read(a, buf, sizeof(buf))), 4);
	T_MEM(buf, "self", 4);
}
