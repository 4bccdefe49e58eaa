/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include "posix.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <stdarg.h>
#include <time.h>

_Atomic int p_signals;

/*
 * To close what another thread uses is what some cases are about, and to
 * leave a thread behind that waits.
 */
#ifdef __SANITIZE_THREAD__
#pragma GCC visibility push(default)
const char *__tsan_default_suppressions(void);
const char *__tsan_default_options(void);

const char *
__tsan_default_suppressions(void)
{
	return "race_top:interceptor_close$\n"
		"race_top:interceptor_dup2$\n";
}

const char *
__tsan_default_options(void)
{
	return "report_thread_leaks=0";
}
#pragma GCC visibility pop
#endif
const char *const p_helper_path = P_HELPER;

void
p_die_at(const char *file, int line, const char *fmt, ...)
{
	int err = errno;
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t_fail(file, line, "%s (errno %s)", text, t_errno_name(err));
}

double
p_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/*
 * The kernel's call directly: what is measured or looked at must not be
 * changed by the one who looks.
 */
void
p_pause(int ms)
{
	syscall(SYS_poll, NULL, 0, ms);
}

static int
task_state(pid_t pid, pid_t tid)
{
	char path[64], buf[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p != NULL && p[1] == ' ' ? p[2] : 0;
}

/*
 * Three looks in a row, a millisecond apart, so that a short nap on a lock is
 * not taken for the long sleep the case is waiting for.
 */
int
p_asleep(pid_t pid, pid_t tid)
{
	double end = p_ms() + P_MS_LONG;
	int seen = 0;

	while (p_ms() < end) {
		seen = task_state(pid, tid) == 'S' ? seen + 1 : 0;
		if (seen == 3)
			return 1;
		p_pause(1);
	}
	return 0;
}

int
p_wait(pid_t pid, int ms)
{
	double end = p_ms() + ms;
	int status;
	pid_t r;

	for (;;) {
		r = waitpid(pid, &status, WNOHANG);
		if (r == pid)
			return status;
		if (r < 0 && errno != EINTR)
			p_die("waitpid");
		if (p_ms() > end)
			break;
		p_pause(1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

int
p_exited(pid_t pid, int code)
{
	int status = p_wait(pid, P_MS_LONG);

	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == code)
		return 1;
	fprintf(stderr, "# child: wait status %#x, expected exit %d\n",
		(unsigned)status, code);
	return 0;
}

void
p_pipe(int fd[2])
{
	if (pipe(fd) != 0)
		p_die("pipe");
}

void
p_warm_up(void)
{
	int fd[2];

	p_pipe(fd);
	if (close(fd[0]) != 0 || close(fd[1]) != 0)
		p_die("close");
}

void
p_kernel_pipe(int fd[2])
{
	if (syscall(SYS_pipe2, fd, 0) != 0)
		p_die("pipe2 of the kernel");
}

void
p_nonblock(int fd, int on)
{
	int fl = fcntl(fd, F_GETFL);

	if (fl < 0)
		p_die("F_GETFL");
	fl = on ? fl | O_NONBLOCK : fl & ~O_NONBLOCK;
	if (fcntl(fd, F_SETFL, fl) != 0)
		p_die("F_SETFL");
}

int
p_is_closed(int fd)
{
	return fcntl(fd, F_GETFD) == -1 && errno == EBADF;
}

size_t
p_fill(int fd)
{
	static char block[PIPE_BUF];
	size_t chunk, total = 0;
	int fl = fcntl(fd, F_GETFL);
	ssize_t n;

	if (fl < 0)
		p_die("F_GETFL");
	p_nonblock(fd, 1);
	p_pattern(block, sizeof(block), 0);
	for (chunk = sizeof(block); chunk > 0;) {
		n = write(fd, block, chunk);
		if (n > 0) {
			total += (size_t)n;
			if (total > 4 * P_BIG)
				p_die("the pipe has no bound");
			continue;
		}
		if (n == 0 || errno != EAGAIN)
			p_die("write while filling: %zd", n);
		chunk /= 2;
	}
	if (fcntl(fd, F_SETFL, fl) != 0)
		p_die("F_SETFL");
	return total;
}

size_t
p_drain(int fd)
{
	static char block[65536];
	size_t total = 0;
	int fl = fcntl(fd, F_GETFL);
	ssize_t n;

	p_nonblock(fd, 1);
	while ((n = read(fd, block, sizeof(block))) > 0)
		total += (size_t)n;
	if (n < 0 && errno != EAGAIN)
		p_die("read while draining");
	if (fl < 0 || fcntl(fd, F_SETFL, fl) != 0)
		p_die("F_SETFL");
	return total;
}

int
p_write_all(int fd, const void *buf, size_t n)
{
	const char *p = buf;
	ssize_t k;

	while (n > 0) {
		k = write(fd, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

size_t
p_read_all(int fd, void *buf, size_t n)
{
	size_t got = 0;
	ssize_t k;

	while (got < n) {
		k = read(fd, (char *)buf + got, n - got);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			p_die("read");
		if (k == 0)
			break;
		got += (size_t)k;
	}
	return got;
}

int
p_ready(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n = poll(&p, 1, ms);

	if (n < 0)
		p_die("poll");
	if ((n == 1) != (p.revents != 0))
		p_die("poll returned %d with revents %#x", n, p.revents);
	return p.revents;
}

/* 251 is prime: no shift by a block or a page looks right. */
void
p_pattern(void *buf, size_t n, size_t offset)
{
	unsigned char *p = buf;

	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)((offset + i) % 251);
}

size_t
p_pattern_ok(const void *buf, size_t n, size_t offset)
{
	const unsigned char *p = buf;
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i] != (unsigned char)((offset + i) % 251))
			break;
	return i;
}

char *
p_bad_page(void)
{
	size_t pg = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * pg, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + pg, pg, PROT_NONE) != 0)
		p_die("mmap");
	return p + pg;
}

static void
count_signal(int sig)
{
	(void)sig;
	p_signals++;
}

void
p_signal(int sig, void (*fn)(int), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = fn == NULL ? count_signal : fn;
	sa.sa_flags = flags;
	sigemptyset(&sa.sa_mask);
	if (sigaction(sig, &sa, NULL) != 0)
		p_die("sigaction");
}

static int
call_select(struct p_call *c)
{
	struct timeval tv = { c->timeout / 1000, c->timeout % 1000 * 1000 };
	fd_set set;
	int n;

	FD_ZERO(&set);
	FD_SET(c->fd, &set);
	n = select(c->fd + 1, c->events & POLLIN ? &set : NULL,
		c->events & POLLOUT ? &set : NULL, NULL,
		c->timeout < 0 ? NULL : &tv);
	if (n == 1 && FD_ISSET(c->fd, &set))
		c->revents = c->events;
	return n;
}

static void *
call_main(void *arg)
{
	struct p_call *c = arg;
	struct iovec iov[2] = {
		{ c->buf, c->len / 2 },
		{ (char *)c->buf + c->len / 2, c->len - c->len / 2 },
	};
	struct pollfd pfd = { .fd = c->fd, .events = c->events };
	struct epoll_event ev = { .events = 0 };

	c->tid = (pid_t)syscall(SYS_gettid);
	errno = 0;
	switch (c->op) {
	case P_READ:
		c->ret = read(c->fd, c->buf, c->len);
		break;
	case P_WRITE:
		c->ret = write(c->fd, c->buf, c->len);
		break;
	case P_READV:
		c->ret = readv(c->fd, iov, 2);
		break;
	case P_WRITEV:
		c->ret = writev(c->fd, iov, 2);
		break;
	case P_POLL:
		c->ret = poll(&pfd, 1, c->timeout);
		c->revents = pfd.revents;
		break;
	case P_SELECT:
		c->ret = call_select(c);
		break;
	case P_EPOLL:
		c->ret = epoll_wait(c->fd, &ev, 1, c->timeout);
		c->revents = (short)ev.events;
		break;
	}
	c->err = errno;
	c->done = 1;
	return NULL;
}

static void
call_start(struct p_call *c)
{
	double end = p_ms() + P_MS_LONG;

	if (pthread_create(&c->thread, NULL, call_main, c) != 0)
		p_die("pthread_create");
	while (c->tid == 0 && p_ms() < end)
		p_pause(0);
}

void
p_call(struct p_call *c, enum p_op op, int fd, void *buf, size_t len)
{
	memset(c, 0, sizeof(*c));
	c->op = op;
	c->fd = fd;
	c->buf = buf;
	c->len = len;
	call_start(c);
}

void
p_call_poll(struct p_call *c, enum p_op op, int fd, short events)
{
	memset(c, 0, sizeof(*c));
	c->op = op;
	c->fd = fd;
	c->events = events;
	c->timeout = -1;
	call_start(c);
}

int
p_call_blocks(struct p_call *c)
{
	return p_asleep(getpid(), c->tid) &&
		!c->done;
}

int
p_call_returns(struct p_call *c, int ms)
{
	double end = p_ms() + ms;

	while (!c->done) {
		if (p_ms() > end)
			return 0;
		p_pause(1);
	}
	pthread_join(c->thread, NULL);
	return 1;
}
