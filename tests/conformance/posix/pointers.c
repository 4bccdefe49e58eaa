/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Each pointer argument of the calls that take the place of the C library's,
 * bad, one at a time.  The oracle is the system call itself on a pipe of the
 * kernel: where that says EFAULT the call says so too, on such a pipe and on
 * a Stream, and where it does not the call does not end the process.
 */
#include "posix.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* kinds of arguments */
enum {
	END,
	RFD,	/* the end to read */
	WFD,	/* the end to write */
	EPFD,	/* an epoll instance with the end to read in it */
	NUM,	/* the number that N() has put above it */
	IN,	/* memory that is read */
	OUT,	/* memory that is written */
	EMPTY,	/* "" */
	SET8	/* the size of a signal set, of the system call alone */
};

struct call {
	const char *name;
	long nr;
	void *fn;
	long arg[6];
};

#define N(n) (NUM | (long)(n) * 256)
#define F(nr, fn) #fn, nr, (void *)(uintptr_t)&fn
static const struct call calls[] = {
	{ F(SYS_read, read), { RFD, OUT, N(4) } },
	{ F(SYS_write, write), { WFD, IN, N(4) } },
	{ F(SYS_readv, readv), { RFD, IN, N(1) } },
	{ F(SYS_writev, writev), { WFD, IN, N(1) } },
	{ F(SYS_preadv, preadv), { RFD, IN, N(1) } },
	{ F(SYS_pread64, pread), { RFD, OUT, N(4) } },
	{ F(SYS_fstat, fstat), { RFD, OUT } },
	{ F(SYS_newfstatat, fstatat),
		{ RFD, EMPTY, OUT, N(AT_EMPTY_PATH) } },
	{ F(SYS_newfstatat, fstatat),
		{ RFD, IN, OUT, N(AT_EMPTY_PATH) } },
	{ F(SYS_statx, statx), { RFD, EMPTY, N(AT_EMPTY_PATH),
		N(STATX_BASIC_STATS), OUT } },
	{ F(SYS_statx, statx), { RFD, IN, N(AT_EMPTY_PATH),
		N(STATX_BASIC_STATS), OUT } },
	{ F(SYS_poll, poll), { OUT, N(1), N(0) } },
	{ F(SYS_ppoll, ppoll),
		{ OUT, N(1), IN, IN, SET8 } },
	{ F(SYS_ppoll, ppoll), /* without descriptors */
		{ N(0), N(0), EMPTY, IN, SET8 } },
	{ F(SYS_select, select), { N(64), OUT, N(0),
		N(0), OUT } },
	{ F(SYS_pselect6, pselect), { N(64), OUT, N(0),
		N(0), IN, N(0) } },
	{ F(SYS_epoll_wait, epoll_wait),
		{ EPFD, OUT, N(4), N(0) } },
	{ F(SYS_epoll_pwait, epoll_pwait), { EPFD, OUT, N(4),
		N(0), IN, SET8 } },
	{ F(SYS_epoll_pwait2, epoll_pwait2), { EPFD, OUT, N(4),
		IN, IN, SET8 } },
	{ F(SYS_rt_sigprocmask, sigprocmask),
		{ N(SIG_BLOCK), IN, OUT, SET8 } },
	{ F(SYS_rt_sigaction, sigaction),
		{ N(SIGUSR1), IN, OUT, SET8 } },
	{ F(SYS_rt_sigsuspend, sigsuspend), { IN, SET8 } },
	{ F(SYS_pipe2, pipe2), { OUT, N(0) } },
	{ F(SYS_recvmsg, recvmsg), { RFD, IN, N(MSG_DONTWAIT) } },
	{ F(SYS_sendmsg, sendmsg), { WFD, IN, N(MSG_DONTWAIT) } },
	{ F(SYS_openat, openat),
		{ N(AT_FDCWD), IN, N(O_RDONLY) } },
	{ F(SYS_execve, execve), { IN, N(0), IN } },
};

enum { BAD_NULL, BAD_LOW, BAD_NONE, BAD_READ_ONLY, NBAD };
static const char *const bad_names[] = { "NULL", "8", "no access",
	"read-only" };

static char *none, *read_only;

static long
bad_pointer(int bad)
{
	switch (bad) {
	case BAD_NULL: return 0;
	case BAD_LOW: return 8;
	case BAD_NONE: return (long)none;
	default: return (long)read_only;
	}
}

/* What came of a call, in a child: errno, 0, or -1 when a signal ended it. */
static int
outcome(const struct call *c, int at, int bad, int raw, const int fd[2])
{
	static char room[6][1024];
	long a[6] = { 0 }, ret;
	struct epoll_event ev = { .events = EPOLLIN };
	struct pollfd pfd = { fd[0], POLLIN, 0 };
	struct itimerval soon = { .it_value.tv_usec = 100000 };
	int status, ep;
	pid_t pid = T_OK(fork());

	if (pid != 0) {
		T_EQ(waitpid(pid, &status, 0), pid);
		return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	/* without a time it waits, and a signal ends it */
	(void)setitimer(ITIMER_REAL, &soon, NULL);
	memcpy(room[0], &pfd, sizeof pfd);
	for (int i = 0; i < 6; i++)
		switch (c->arg[i] & 255) {
		case RFD: a[i] = fd[0]; break;
		case WFD: a[i] = fd[1]; break;
		case EPFD:
			ep = epoll_create1(0);
			(void)epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev);
			a[i] = ep;
			break;
		case NUM: a[i] = c->arg[i] >> 8; break;
		case SET8: a[i] = raw ? 8 : 0; break;
		case END: break;
		case EMPTY: a[i] = (long)room[i]; break;
		default: a[i] = i == at ? bad_pointer(bad) : (long)room[i];
		}
	errno = 0;
	if (raw)
		ret = syscall(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	else
		ret = ((int (*)(long, long, long, long, long, long))(uintptr_t)
			c->fn)(a[0], a[1], a[2], a[3], a[4], a[5]);
	_exit(ret == -1 ? errno : 0);
}

/* Does the system call end the process, too, or wait?  Then it says nothing. */
static bool
same(int oracle, int got, bool stream)
{
	if (oracle == -1)
		return true;
	if (oracle == EFAULT)
		return got == EFAULT;
	return stream ? got != -1 : got == oracle;
}

static void
row(const struct call *c, int at, int bad, const int kernel[2],
	const int stream[2])
{
	int oracle = outcome(c, at, bad, 1, kernel);
	int plain = outcome(c, at, bad, 0, kernel);
	int on = outcome(c, at, bad, 0, stream);

	if (!same(oracle, plain, false) || !same(oracle, on, true))
		fprintf(stderr, "# %s, argument %d %s: the system call %d, on a kernel's "
			"pipe %d, on a Stream %d\n", c->name, at + 1,
			bad_names[bad], oracle, plain, on);
	T_TRUE(same(oracle, plain, false));
	T_TRUE(same(oracle, on, true));
}

static void
setup(int kernel[2], int stream[2])
{
	none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	T_TRUE(none != MAP_FAILED && read_only != MAP_FAILED);
	T_OK((int)syscall(SYS_pipe2, kernel, O_NONBLOCK));
	T_OK(pipe2(stream, O_NONBLOCK));
	T_EQ(syscall(SYS_write, kernel[1], "abcdefgh", 8), 8);
	T_EQ(write(stream[1], "abcdefgh", 8), 8);
}

T_CASE(each_bad_pointer_of_each_call_is_answered_as_the_kernel_does)
{
	int kernel[2], stream[2];
	size_t n = 0;

	setup(kernel, stream);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		for (int at = 0; at < 6; at++)
			for (int bad = 0; bad < NBAD; bad++) {
				long kind = calls[i].arg[at];

				if (kind != IN && kind != OUT)
					continue;
				if (kind == IN && bad == BAD_READ_ONLY)
					continue;
				row(&calls[i], at, bad, kernel, stream);
				n++;
			}
	T_TRUE(n > 100);
}

/* the mask of pselect() is not the last argument of its system call */
T_CASE(a_bad_signal_mask_of_pselect_is_EFAULT)
{
	int kernel[2], stream[2];
	struct timespec now = { 0, 0 };
	sigset_t *volatile mask;
	fd_set in;

	setup(kernel, stream);
	mask = (sigset_t *)(void *)none;
	FD_ZERO(&in);
	FD_SET(stream[0], &in);
	T_ERR(pselect(stream[0] + 1, &in, NULL, NULL, &now, mask), EFAULT);
	FD_ZERO(&in);
	FD_SET(kernel[0], &in);
	T_ERR(pselect(kernel[0] + 1, &in, NULL, NULL, &now, mask), EFAULT);
}

T_CASE(a_set_of_eight_bytes_at_the_end_of_memory_is_enough)
{
	int kernel[2], stream[2];
	struct pollfd pfd;
	struct timespec now = { 0, 0 };
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigset_t *volatile mask = (sigset_t *)(void *)(p + 4096 - 8);

	T_OK(mprotect(p + 4096, 4096, PROT_NONE));
	setup(kernel, stream);
	for (int i = 0; i < 2; i++) {
		pfd = (struct pollfd){ i ? kernel[0] : stream[0], POLLIN, 0 };
		T_EQ(ppoll(&pfd, 1, &now, mask), 1);
	}
}
