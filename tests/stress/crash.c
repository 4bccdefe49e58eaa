/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * crash LABEL:N - kill one process at a labelled point, look at the others.
 *
 * The library kills a process at its Nth passage of a label when the
 * environment has STREAMS_CRASH=LABEL:N.  The victim here, one of several
 * participants, does everything that can be done with a pipe.  Two
 * processes share its pipe and two share another one.  When the victim is
 * dead
 *
 *	those at the other pipe go on;
 *	those at its pipe go on too, or see EOF, EPIPE or EIO;
 *	new pipes can be made, by old processes and by new ones.
 *
 * Exit status: 0 all is well, 77 the victim never came to that point, 1 a
 * survivor hangs or something is wrong, with a word on standard error.
 *
 * T_CASE is not used: the driver (crash.py) runs one such program for each
 * label and tells the result.
 */
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_STROPTS
#include <stropts.h>
#endif

#define RECORD 64
#define HANG_MS 3000

static struct board {
	volatile uint64_t progress[8];
	volatile int ended[8]; /* errno + 1 */
	volatile double ended_ms[8];
} *board;

static int shared[2], other[2];
static uint64_t seed;

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void
pause_ms(int ms)
{
	syscall(SYS_poll, NULL, 0, ms);
}

static unsigned
below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void
fail(const char *what)
{
	fprintf(stderr, "# crash: %s (%s)\n", what, strerror(errno));
	exit(1);
}

/* the survivors */

static void
survivor_ended(int me, ssize_t n)
{
	int err = n < 0 ? errno : 0;

	if (err != 0 && err != EPIPE && err != EIO)
		fail("a survivor got another error");
	board->ended_ms[me] = now_ms();
	board->ended[me] = err + 1;
	_exit(0);
}

static void
survivor_writes(int me, int fd)
{
	char r[RECORD];
	ssize_t n;

	memset(r, 'r', sizeof(r));
	for (;;) {
		n = write(fd, r, sizeof(r));
		if (n <= 0)
			survivor_ended(me, n);
		board->progress[me]++;
		if (board->progress[me] % 64 == 0)
			pause_ms(1);
	}
}

static void
survivor_reads(int me, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char r[4 * RECORD];
	ssize_t n;

	for (;;) {
		if (me & 2)
			poll(&p, 1, -1);
		n = read(fd, r, sizeof(r));
		if (n <= 0)
			survivor_ended(me, n);
		for (ssize_t i = 0; i < n; i++)
			if (r[i] != 'r' && r[i] != 'v')
				fail("a survivor read what nobody wrote");
		board->progress[me]++;
	}
}

/* the victim's life; it ends in the middle of it or comes to its end */

static void
own_pipe(void)
{
	static char big[70000];
	struct iovec iov[2] = { { big, 100 }, { big + 100, 200 } };
	struct pollfd p;
	int fd[2], d;

	if (pipe(fd) != 0)
		fail("pipe");
	(void)!write(fd[1], big, 1 + below(4096));
	(void)!read(fd[0], big, 1 + below(4096));
	(void)!writev(fd[1], iov, 2);
	(void)!readv(fd[0], iov, 2);
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	fcntl(fd[1], F_SETFL, O_NONBLOCK);
	while (write(fd[1], big, sizeof(big)) > 0)
		;
	while (write(fd[1], big, 1) > 0)
		;
	p = (struct pollfd){ fd[1], POLLOUT, 0 };
	poll(&p, 1, 0);
	while (read(fd[0], big, 1 + below(sizeof(big))) > 0)
		;
	poll(&p, 1, 0);
	d = dup(fd[0]);
	close(fd[0]);
	(void)!write(fd[1], big, 3000);
	close(below(2) ? d : fd[1]);
	(void)!read(d, big, 10);
	(void)!write(fd[1], big, 10);
	close(fd[1]);
	close(d);
}

/* with a partner, to sleep and to wake in every way there is */
static void
partner(int in, int out)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct pollfd p = { .fd = in, .events = POLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC), round = 0;
	static char c[16384];
	ssize_t n;
	fd_set set;

	epoll_ctl(ep, EPOLL_CTL_ADD, in, &ev);
	for (;;) {
		FD_ZERO(&set);
		FD_SET(in, &set);
		switch (round++ % 4) {
		case 0:
			epoll_wait(ep, &ev, 1, -1);
			break;
		case 1:
			poll(&p, 1, -1);
			break;
		case 2:
			select(in + 1, &set, NULL, NULL, NULL);
			break;
		}
		n = read(in, c, sizeof(c));
		if (n <= 0)
			_exit(0);
		pause_ms(round == 7 ? 60 : round % 2);
		if (write(out, c, 1) != 1)
			_exit(0);
	}
}

static void
to_and_fro(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int there[2], back[2], ep = epoll_create1(EPOLL_CLOEXEC);
	struct pollfd p;
	char c[4096] = "";
	pid_t pid;

	if (pipe(there) != 0 || pipe(back) != 0)
		fail("pipe");
	pid = fork();
	if (pid == 0) {
		unsetenv("STREAMS_CRASH");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(there[1]);
		close(back[0]);
		partner(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	epoll_ctl(ep, EPOLL_CTL_ADD, back[0], &ev);
	p = (struct pollfd){ back[0], POLLIN, 0 };
	for (int i = 0; i < 16; i++) {
		(void)!write(there[1], c, 1);
		if (i % 3 == 0)
			poll(&p, 1, -1);
		else if (i % 3 == 1)
			epoll_wait(ep, &ev, 1, -1);
		(void)!read(back[0], c, 1);
	}
	/* a write that waits for room, and for the partner to make some */
	for (int i = 0; i < 40; i++)
		(void)!write(there[1], c, sizeof(c));
	close(ep);
	close(there[1]);
	close(back[0]);
	waitpid(pid, NULL, 0);
}

static void
pass_around(void)
{
	char byte = 0, space[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = space, .msg_controllen = sizeof(space) };
	struct cmsghdr *c;
	int s[2], fd[2], got;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0 || pipe(fd) != 0)
		fail("socketpair");
	memset(space, 0, sizeof(space));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd[1], sizeof(int));
	if (sendmsg(s[0], &m, 0) == 1 && close(fd[1]) == 0 &&
		recvmsg(s[1], &m, 0) == 1) {
		memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
		(void)!write(got, "p", 1);
		(void)!read(fd[0], &byte, 1);
		close(got);
	}
	close(fd[0]);
	close(s[0]);
	close(s[1]);
}

#ifdef HAVE_STROPTS
static void
messages(void)
{
	static char c[100], d[3000];
	struct strbuf ctl = { sizeof(c), 10, c }, dat = { sizeof(d), 500, d };
	struct strioctl ic = { 1, 1, 0, NULL };
	int fd[2], flags, band, n;

	if (pipe(fd) != 0)
		fail("pipe");
	ioctl(fd[0], I_PUSH, "pipemod");
	ioctl(fd[1], I_PUSH, "nullmod");
	ioctl(fd[0], I_PUSH, "srvmod");
	putmsg(fd[0], &ctl, &dat, 0);
	putmsg(fd[0], &ctl, NULL, RS_HIPRI);
	for (int i = 1; i < 6; i++) {
		dat.len = (int)below(2000);
		putpmsg(fd[0], NULL, &dat, i * 50, MSG_BAND);
	}
	ioctl(fd[1], I_NREAD, &n);
	ioctl(fd[1], I_FLUSHBAND, &(struct bandinfo){ 50, FLUSHR });
	for (int i = 0; i < 8; i++) {
		flags = i == 0 ? MSG_HIPRI : MSG_ANY;
		band = 0;
		fcntl(fd[1], F_SETFL, O_RDWR | O_NONBLOCK);
		getpmsg(fd[1], &ctl, &dat, &band, &flags);
	}
	ioctl(fd[0], I_STR, &ic);
	dat.len = 900;
	for (int i = 0; i < 12; i++)
		putmsg(fd[0], NULL, &dat, 0);
	ioctl(fd[0], I_FLUSH, FLUSHRW);
	ioctl(fd[0], I_POP, 0);
	ioctl(fd[1], I_POP, 0);
	ioctl(fd[1], I_SRDOPT, RMSGD);
	(void)!write(fd[0], d, 700);
	(void)!read(fd[1], d, 100);
	close(fd[1]);
	close(fd[0]);
}
#endif

static void
victim(const char *label)
{
	char r[RECORD];

	setenv("STREAMS_CRASH", label, 1);
	memset(r, 'v', sizeof(r));
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 200; i++) {
			/* never waits: the survivors' records keep it so */
			if (write(shared[1], r, sizeof(r)) <= 0)
				_exit(0);
			if (read(shared[0], r, sizeof(r)) <= 0)
				_exit(0);
			for (size_t k = 0; k < sizeof(r); k++)
				if (r[k] != 'r' && r[k] != 'v')
					_exit(9);
			memset(r, 'v', sizeof(r));
		}
		own_pipe();
		to_and_fro();
		pass_around();
#ifdef HAVE_STROPTS
		messages();
#endif
	}
	_exit(0);
}

/* everybody whose bit is in @who gets on or has seen the end */
static double
all_get_on(unsigned who)
{
	uint64_t before[8];
	double start = now_ms();
	unsigned waiting;

	for (int i = 0; i < 8; i++)
		before[i] = board->progress[i];
	do {
		waiting = 0;
		for (int i = 0; i < 8; i++)
			if (who >> i & 1 && board->ended[i] == 0 &&
				board->progress[i] == before[i])
				waiting |= 1u << i;
		if (waiting == 0)
			return now_ms() - start;
		pause_ms(1);
	} while (now_ms() - start < HANG_MS);
	fprintf(stderr, "# crash: survivors %#x of %#x stand still\n", waiting,
		who);
	return -1;
}

static pid_t pids[4];

static void
kill_survivors(void)
{
	for (int i = 0; i < 4; i++)
		if (pids[i] > 0) {
			kill(pids[i], SIGKILL);
			waitpid(pids[i], NULL, 0);
		}
}

static int
new_pipes_work(void)
{
	char c[100] = "";
	int fd[2], status;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (pid == 0) {
			for (int k = 0; k < 10; k++) {
				if (pipe(fd) != 0 ||
					write(fd[1], c, 100) != 100 ||
					read(fd[0], c, 100) != 100 ||
					close(fd[1]) != 0 ||
					read(fd[0], c, 1) != 0 ||
					close(fd[0]) != 0)
					_exit(1);
			}
			_exit(0);
		}
		for (double end = now_ms() + HANG_MS;;) {
			if (waitpid(pid, &status, WNOHANG) == pid)
				break;
			if (now_ms() > end) {
				kill(pid, SIGKILL);
				waitpid(pid, NULL, 0);
				return 0;
			}
			pause_ms(1);
		}
		if (status != 0)
			return 0;
	}
	return 1;
}

int
main(int argc, char **argv)
{
	int status = 0, reached;
	double ms, end;
	pid_t pid;

	if (argc != 3) {
		fprintf(stderr, "usage: crash LABEL:N SEED\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 0);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED || pipe(shared) != 0 || pipe(other) != 0)
		fail("set-up");
	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (pids[i] != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (i & 1)
			survivor_reads(i, i & 2 ? other[0] : shared[0]);
		else
			survivor_writes(i, i & 2 ? other[1] : shared[1]);
	}
	if (all_get_on(0xf) < 0) {
		kill_survivors();
		return 1;
	}
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		victim(argv[1]);
	}
	for (end = now_ms() + 20000; waitpid(pid, &status, WNOHANG) == 0;) {
		if (now_ms() > end) {
			fprintf(stderr, "# crash: the victim hangs\n");
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			kill_survivors();
			return 1;
		}
		pause_ms(1);
	}
	reached = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	ms = all_get_on(0xf);
	for (int i = 0; ms >= 0 && i < 3; i++)
		if (all_get_on(0xf) < 0)
			ms = -1;
	if (ms > 100)
		fprintf(stderr, "# crash: %s: survivors took %.0f ms\n",
			argv[1], ms);
	for (int i = 2; i < 4; i++)
		if (board->ended[i] != 0) {
			fprintf(stderr, "# crash: the other pipe ended\n");
			ms = -1;
		}
	if (!new_pipes_work()) {
		fprintf(stderr, "# crash: new pipes do not work\n");
		ms = -1;
	}
	kill_survivors();
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (!reached && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
		fprintf(stderr, "# crash: the victim ended with %#x\n",
			(unsigned)status);
		return 1;
	}
	if (ms < 0)
		return 1;
	return reached ? 0 : 77;
}
