/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * How a case comes by its descriptors, and helpers.
 *
 * exec: the case makes its pipe, then runs this program again for the same
 * case, which finds the descriptors named in the environment.  The second
 * runner must not hold them, or an end would never be hung up: once it has
 * forked the case it closes them, by a fork handler and a bare system call,
 * for it is no member of the domain.  The case waits until it has.
 *
 * Helpers: a program image that came by exec and is not a case.  It runs from
 * a constructor and never reaches main().
 */
#include "st.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined ST_ANY
T_TARGETS("fifo", "echo")
#elif defined ST_SIM
T_TARGETS("sim")
#elif !defined ST_ONE
T_TARGETS("direct", "dup", "fork", "exec", "rights")
#endif

enum { ALARM_SECONDS = 8, REPORT_ROOM = 4096 };

static int given[2] = { -1, -1 };	/* the ends an exec handed down */
static volatile int *dropped;		/* the runner has closed these */
static int own[2];			/* the ends the case has */

static void
drop_given(void)
{
	for (int i = 0; i < 2; i++)
		if (given[i] != -1) {
			syscall(SYS_close, given[i]);
			given[i] = -1;
		}
	*dropped = 1;
}

static void
helper_echo(void)
{
	char buf[512];
	ssize_t n;

	while ((n = read(0, buf, sizeof buf)) > 0)
		if (write(1, buf, (size_t)n) != n)
			_exit(3);
	_exit(n == 0 ? 0 : 4);
}

/* As named in st_helper(): each leaves with 0 when all went well. */
static void
helper_run(const char *what)
{
	if (strcmp(what, "echo") == 0)
		helper_echo();
	if (strcmp(what, "hold") == 0)
		for (;;)
			pause();
	if (strcmp(what, "push") == 0)
		_exit(ioctl(0, I_PUSH, "nullmod") == 0 ? 0 : 5);
	if (strcmp(what, "pop") == 0)
		_exit(ioctl(0, I_POP, 0) == 0 ? 0 : 5);
	if (strcmp(what, "isastream") == 0)
		_exit(isastream(0) == 1 ? 0 : 5);
	if (strcmp(what, "putpmsg") == 0)
		_exit(st_putp(0, "helper", "says", 7, MSG_BAND) == 0 ? 0 : 5);
	_exit(127);
}

T_CONSTRUCTOR static void
st_init(void)
{
	const char *what = getenv("ST_HELPER"), *fds = getenv("ST_FDS");

	if (what != NULL)
		helper_run(what);
	if (fds != NULL && sscanf(fds, "%d,%d", &given[0], &given[1]) == 2) {
		dropped = st_shared(sizeof *dropped);
		pthread_atfork(NULL, drop_given, NULL);
	}
}

/* An image of this program; returns only if it could not be run. */
static void
exec_self(const char *const *args)
{
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n > 0) {
		path[n] = '\0';
		execv(path, (char *const *)(uintptr_t)args);
	}
	_exit(126);
}

static void
via_dup(int fd[2])
{
	for (int i = 0; i < 2; i++) {
		int d = T_OK(dup(fd[i]));

		T_OK(close(fd[i]));
		fd[i] = d;
	}
}

static void
via_rights(int fd[2])
{
	char c = 'x', ctl[CMSG_SPACE(2 * sizeof(int))];
	struct iovec iov = { &c, 1 };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ctl, .msg_controllen = sizeof ctl };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&mh);
	int sv[2];

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	memset(ctl, 0, sizeof ctl);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(cm), fd, 2 * sizeof(int));
	T_EQ(sendmsg(sv[0], &mh, 0), 1);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_EQ(recvmsg(sv[1], &mh, 0), 1);
	memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&mh)), 2 * sizeof(int));
	T_OK(close(sv[0]));
	T_OK(close(sv[1]));
}

/* Wait for who runs the body; its verdict has reached the runner. */
static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		T_EQ(errno, EINTR);
	return status;
}

static void
via_fork(struct t *t, void (*body)(struct t *t))
{
	volatile int *alone = st_shared(sizeof *alone);
	pid_t pid = st_fork();
	int status;

	if (pid == 0) {
		/* a hang-up is one only when no other holds the end */
		T_SOON(*alone != 0, 4000);
		body(t);
		_exit(0);
	}
	T_OK(close(own[0]));
	T_OK(close(own[1]));
	*alone = 1;
	status = wait_for(pid);
	if (WIFSIGNALED(status))
		T_FAIL("killed by SIG%s", sigabbrev_np(WTERMSIG(status)));
	if (WEXITSTATUS(status) != 0)
		_exit(WEXITSTATUS(status));
}

enum { SKIPPED = 77 }; /* what the harness ends with */

static void
via_exec(struct t *t)
{
	const char *args[] = { "again", "--target=exec", NULL, NULL };
	char env[64], text[REPORT_ROOM];
	int report = (int)syscall(SYS_memfd_create, "report", MFD_CLOEXEC);
	volatile int *alone = st_shared(sizeof *alone);
	int status;
	pid_t pid;
	ssize_t n;

	args[2] = strstr(t->name, ": ") + 2;
	snprintf(env, sizeof env, "%d,%d", own[0], own[1]);
	pid = st_fork();
	if (pid == 0) {
		setenv("ST_FDS", env, 1);
		dup2(report, 1);
		T_SOON(*alone != 0, 4000);
		exec_self(args);
	}
	T_OK(close(own[0]));
	T_OK(close(own[1]));
	*alone = 1;
	status = wait_for(pid);
	if (status == 0)
		return;
	n = pread(report, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		char *why = strstr(text, "# SKIP ");

		if (why != NULL)
			T_SKIP("%.*s", (int)strcspn(why + 7, "\n"), why + 7);
	}
	T_FAIL("after exec, status %#x:\n%s", (unsigned int)status, text);
}

void
st_run(struct t *t, void (*body)(struct t *t))
{
	alarm(ALARM_SECONDS * t_scale());
#ifdef ST_SIM
	st_sim_begin(t);
#endif
	if (given[0] != -1) {
		T_SOON(*dropped != 0, 4000);
		memcpy(own, given, sizeof own);
		given[0] = given[1] = -1;
		body(t);
		return;
	}
#ifdef ST_ANY
	own[0] = T_OK(open(strcmp(t->target, "fifo") == 0 ?
		"/dev/streams/fifo/0" : "/dev/streams/clone/echo", O_RDWR));
	own[1] = T_OK(dup(own[0]));
	body(t);
	return;
#endif
	T_OK(pipe(own));
	if (strcmp(t->target, "fork") == 0) {
		via_fork(t, body);
		return;
	}
	if (strcmp(t->target, "exec") == 0) {
		via_exec(t);
		return;
	}
	if (strcmp(t->target, "dup") == 0)
		via_dup(own);
	else if (strcmp(t->target, "rights") == 0)
		via_rights(own);
	body(t);
}

void
st_pipe(struct t *t, int fd[2])
{
	(void)t;
	memcpy(fd, own, sizeof own);
}

void
st_pipe_more(int fd[2])
{
	T_OK(pipe(fd));
}

void
st_nonblock(int fd)
{
	T_OK(fcntl(fd, F_SETFL, T_OK(fcntl(fd, F_GETFL)) | O_NONBLOCK));
}

/* Whichever order the old marks allow. */
void
st_marks(int fd, int hiwat, int lowat)
{
	int v;

	(void)ioctl(fd, I_SET_HIWAT, hiwat);
	T_OK(ioctl(fd, I_SET_LOWAT, lowat));
	T_OK(ioctl(fd, I_SET_HIWAT, hiwat));
	T_OK(ioctl(fd, I_GET_HIWAT, &v));
	T_EQ(v, hiwat);
	T_OK(ioctl(fd, I_GET_LOWAT, &v));
	T_EQ(v, lowat);
}

#ifdef ST_SIM
void *
st_bad(void)
{
	return st_sim_bad_memory(65536);
}

char *
st_edge(const char *s, size_t n)
{
	return memcpy((char *)st_sim_edge() - n, s, n);
}
#else
void *
st_bad(void)
{
	void *p = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	T_NE(p, MAP_FAILED);
	return p;
}

char *
st_edge(const char *s, size_t n)
{
	char *p = mmap(NULL, 2 * 65536, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	T_NE((void *)p, MAP_FAILED);
	T_OK(mprotect(p + 65536, 65536, PROT_NONE));
	return memcpy(p + 65536 - n, s, n);
}
#endif

void *
st_shared(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	T_NE(p, MAP_FAILED);
	return p;
}

static struct strbuf *
part(struct strbuf *b, const char *s)
{
	if (s == NULL)
		return NULL;
	b->maxlen = 0;
	b->len = (int)strlen(s);
	b->buf = (char *)(uintptr_t)s;
	return b;
}

int
st_put(int fd, const char *ctl, const char *data, int flags)
{
	struct strbuf c, d;

	return putmsg(fd, part(&c, ctl), part(&d, data), flags);
}

int
st_putp(int fd, const char *ctl, const char *data, int band, int flags)
{
	struct strbuf c, d;

	return putpmsg(fd, part(&c, ctl), part(&d, data), band, flags);
}

int
st_putn(int fd, int band, size_t n, int c)
{
	char buf[ST_ROOM];
	struct strbuf d = { 0, (int)n, buf };

	T_LE(n, sizeof buf);
	memset(buf, c, n);
	return putpmsg(fd, NULL, &d, band, MSG_BAND);
}

static struct strbuf *
room(struct strbuf *b, int n, char *buf)
{
	if (n == -2)
		return NULL;
	b->maxlen = n;
	b->len = -7;	/* a length that is not sent: the call must set it */
	b->buf = buf;
	return b;
}

int
st_get_room(int fd, struct st_msg *m, int ctl_room, int data_room, int flags)
{
	struct strbuf c, d;

	memset(m, 0, sizeof *m);
	m->flags = flags;
	c.len = d.len = -1;
	m->ret = getmsg(fd, room(&c, ctl_room, m->ctl),
		room(&d, data_room, m->data), &m->flags);
	m->ctl_len = c.len;
	m->data_len = d.len;
	return m->ret;
}

int
st_get(int fd, struct st_msg *m, int flags)
{
	return st_get_room(fd, m, ST_ROOM, ST_ROOM, flags);
}

int
st_getp(int fd, struct st_msg *m, int band, int flags)
{
	struct strbuf c, d;

	memset(m, 0, sizeof *m);
	m->flags = flags;
	m->band = band;
	m->ret = getpmsg(fd, room(&c, ST_ROOM, m->ctl),
		room(&d, ST_ROOM, m->data), &m->band, &m->flags);
	m->ctl_len = c.len;
	m->data_len = d.len;
	return m->ret;
}

int
st_str(int fd, int cmd, int timeout, int *len, void *dp)
{
	struct strioctl s = { cmd, timeout, *len, dp };
	int r = ioctl(fd, I_STR, &s);

	*len = s.ic_len;
	return r;
}

int
st_str_long(int fd, int cmd, long arg)
{
	int len = sizeof arg;

	return st_str(fd, cmd, 0, &len, &arg);
}

void
st_break(int fd, int cmd, long arg)
{
	T_OK(ioctl(fd, I_PUSH, "testmod"));
	(void)st_str_long(fd, cmd, arg);
}

int
st_revents(int fd, int events)
{
	struct pollfd p = { fd, (short)events, 0 };

	T_OK(poll(&p, 1, 0));
	return p.revents;
}

int
st_queued(int fd)
{
	int bytes;

	return T_OK(ioctl(fd, I_NREAD, &bytes));
}

pid_t
st_fork(void)
{
	pid_t pid = T_OK(fork());

	if (pid == 0)
		alarm(ALARM_SECONDS * t_scale());
	return pid;
}

void
st_reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		T_EQ(errno, EINTR);
	T_EQ(status, 0);
}

int
st_asleep(pid_t pid)
{
	char path[64], buf[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = T_OK(open(path, O_RDONLY));
	n = read(fd, buf, sizeof buf - 1);
	T_OK(close(fd));
	T_GT(n, 0);
	buf[n] = '\0';
	p = strrchr(buf, ')');
	T_NOTNULL(p);
	return p[2] == 'S';
}

/* A sleeper may look around once in 50 ms: ten looks in a row are enough. */
void
st_wait_asleep(pid_t pid)
{
	int n = 0;

	T_SOON((n = st_asleep(pid) ? n + 1 : 0) == 10, 5000);
}

pid_t
st_helper(const char *what, int fd0, int fd1)
{
	const char *args[] = { "helper", NULL };
	pid_t pid = st_fork();

	if (pid != 0)
		return pid;
	setenv("ST_HELPER", what, 1);
	/* Neither number may be overwritten by the other. */
	fd0 = fcntl(fd0, F_DUPFD, 10);
	fd1 = fcntl(fd1, F_DUPFD, 10);
	dup2(fd0, 0);
	dup2(fd1, 1);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	exec_self(args);
	return -1;
}
