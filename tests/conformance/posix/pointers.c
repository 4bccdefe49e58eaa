/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Each pointer argument of the calls that take the place of the C library's,
 * bad, one at a time.  The oracle is the system call itself on a pipe of the
 * kernel: where that says EFAULT the call says so too, on such a pipe and on
 * a Stream, and where it does not the call does not end the process.  Calls for
 * sockets alone are made on a socket of the kernel instead of the pipe, and on
 * a Stream, where they fail without looking at memory.
 *
 * A lint rule keeps the table complete: each call of libstreams.base.map that
 * takes a pointer is in calls[] or in apart[].
 */
#include "posix.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
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
	SOCK,	/* a socket with something to read */
	EPFD,	/* an epoll instance with the end to read in it */
	NUM,	/* the number that N() has put above it */
	IN,	/* memory that is read */
	OUT,	/* memory that is written */
	EMPTY,	/* "" */
	LEN,	/* good memory, with the length of an address in it */
	SET8	/* the size of a signal set, of the system call alone */
};

struct call {
	const char *name;
	long nr; /* of the system call; 0: raw is it */
	long (*raw)(long, long, long, long, long, long);
	void *fn;
	long arg[6];
};

#define N(n) (NUM | (long)(n) * 256)
#define F(nr, fn) #fn, nr, NULL, (void *)(uintptr_t)&fn
/* the system call has its arguments in another order, or others */
#define R(raw, fn) #fn, 0, raw, (void *)(uintptr_t)&fn
/* the call returns an errno, which @by stores */
#define E(nr, fn, by) #fn, nr, NULL, (void *)(uintptr_t)&by

/* In no header, or there under other names alone. */
extern ssize_t __read_chk(int, void *, size_t, size_t);
extern ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
extern ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
extern ssize_t __recv_chk(int, void *, size_t, size_t, int);
extern ssize_t __recvfrom_chk(int, void *, size_t, size_t, int,
	struct sockaddr *, socklen_t *);
extern int __poll_chk(struct pollfd *, nfds_t, int, size_t);
extern int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *,
	const sigset_t *, size_t);
extern int __open_2(const char *, int);
extern int __open64_2(const char *, int);
extern int __openat_2(int, const char *, int);
extern int __openat64_2(int, const char *, int);
extern int __fxstat(int, int, struct stat *);
extern int __fxstat64(int, int, struct stat64 *);
extern int __xstat(int, const char *, struct stat *);
extern int __xstat64(int, const char *, struct stat64 *);
extern int __lxstat(int, const char *, struct stat *);
extern int __lxstat64(int, const char *, struct stat64 *);
extern int __fxstatat(int, int, const char *, struct stat *, int);
extern int __fxstatat64(int, int, const char *, struct stat64 *, int);

#define RAW(name, ...)							\
static long								\
name(long a, long b, long c, long d, long e, long f)			\
{									\
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f;		\
	return syscall(__VA_ARGS__);					\
}
RAW(raw_open, SYS_openat, AT_FDCWD, a, b, c)
RAW(raw_creat, SYS_openat, AT_FDCWD, a, O_CREAT | O_WRONLY | O_TRUNC, b)
RAW(raw_recv, SYS_recvfrom, a, b, c, d, NULL, NULL)
RAW(raw_recv_chk, SYS_recvfrom, a, b, c, e, NULL, NULL)
RAW(raw_recvfrom_chk, SYS_recvfrom, a, b, c, e, f, NULL)
RAW(raw_send, SYS_sendto, a, b, c, d, NULL, 0)
RAW(raw_fxstat, SYS_fstat, b, c)
RAW(raw_stat, SYS_newfstatat, AT_FDCWD, a, b, 0)
RAW(raw_xstat, SYS_newfstatat, AT_FDCWD, b, c, 0)
RAW(raw_fxstatat, SYS_newfstatat, b, c, d, e)
RAW(raw_access, SYS_faccessat, AT_FDCWD, a, b)
RAW(raw_execv, SYS_execve, a, b, environ)
RAW(raw_sigwaitinfo, SYS_rt_sigtimedwait, a, b, NULL, 8)

/* the C library looks at these two itself */
static long
raw_fexecve(long fd, long argv, long envp, long d, long e, long f)
{
	(void)d, (void)e, (void)f;
	if (argv == 0 || envp == 0) {
		errno = EINVAL;
		return -1;
	}
	return syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
}

static int
by_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	errno = pthread_sigmask(how, set, old);
	return errno != 0 ? -1 : 0;
}

#ifdef __x86_64__
#define STAT_VER 1
#else
#define STAT_VER 0
#endif

static const struct call calls[] = {
	{ F(SYS_read, read), { RFD, OUT, N(4) } },
	{ F(SYS_write, write), { WFD, IN, N(4) } },
	{ F(SYS_readv, readv), { RFD, IN, N(1) } },
	{ F(SYS_writev, writev), { WFD, IN, N(1) } },
	{ F(SYS_preadv, preadv), { RFD, IN, N(1) } },
	{ F(SYS_preadv, preadv64), { RFD, IN, N(1) } },
	{ F(SYS_preadv2, preadv2), { RFD, IN, N(1) } },
	{ F(SYS_preadv2, preadv64v2), { RFD, IN, N(1) } },
	{ F(SYS_pwritev, pwritev), { WFD, IN, N(1) } },
	{ F(SYS_pwritev, pwritev64), { WFD, IN, N(1) } },
	{ F(SYS_pwritev2, pwritev2), { WFD, IN, N(1) } },
	{ F(SYS_pwritev2, pwritev64v2), { WFD, IN, N(1) } },
	{ F(SYS_pread64, pread), { RFD, OUT, N(4) } },
	{ F(SYS_pread64, pread64), { RFD, OUT, N(4) } },
	{ F(SYS_pwrite64, pwrite), { WFD, IN, N(4) } },
	{ F(SYS_pwrite64, pwrite64), { WFD, IN, N(4) } },
	{ F(SYS_read, __read_chk), { RFD, OUT, N(4), N(4) } },
	{ F(SYS_pread64, __pread_chk), { RFD, OUT, N(4), N(0), N(4) } },
	{ F(SYS_pread64, __pread64_chk), { RFD, OUT, N(4), N(0), N(4) } },
	{ F(SYS_ioctl, ioctl), { RFD, N(FIONREAD), OUT } },
	{ F(SYS_fcntl, fcntl), { RFD, N(F_GETLK), OUT } },
	{ F(SYS_fcntl, fcntl), { RFD, N(F_GETOWN_EX), OUT } },
	{ F(SYS_fcntl, fcntl64), { RFD, N(F_GETLK), OUT } },
	{ F(SYS_fcntl, fcntl64), { RFD, N(F_SETLK), IN } },
	{ F(SYS_sendfile, sendfile), { WFD, RFD, OUT, N(1) } },
	{ F(SYS_sendfile, sendfile64), { WFD, RFD, OUT, N(1) } },
	{ F(SYS_splice, splice), { RFD, OUT, WFD, OUT, N(1) } },
	{ F(SYS_vmsplice, vmsplice), { WFD, IN, N(1), N(0) } },
	{ F(SYS_fstat, fstat), { RFD, OUT } },
	{ F(SYS_fstat, fstat64), { RFD, OUT } },
	{ R(raw_fxstat, __fxstat), { N(STAT_VER), RFD, OUT } },
	{ R(raw_fxstat, __fxstat64), { N(STAT_VER), RFD, OUT } },
	{ F(SYS_newfstatat, fstatat64),
		{ RFD, EMPTY, OUT, N(AT_EMPTY_PATH) } },
	{ F(SYS_newfstatat, fstatat),
		{ RFD, EMPTY, OUT, N(AT_EMPTY_PATH) } },
	{ F(SYS_newfstatat, fstatat),
		{ RFD, IN, OUT, N(AT_EMPTY_PATH) } },
	{ R(raw_stat, stat), { IN, OUT } },
	{ R(raw_stat, stat64), { IN, OUT } },
	{ R(raw_stat, lstat), { IN, OUT } },
	{ R(raw_stat, lstat64), { IN, OUT } },
	{ R(raw_xstat, __xstat), { N(STAT_VER), IN, OUT } },
	{ R(raw_xstat, __xstat64), { N(STAT_VER), IN, OUT } },
	{ R(raw_xstat, __lxstat), { N(STAT_VER), IN, OUT } },
	{ R(raw_xstat, __lxstat64), { N(STAT_VER), IN, OUT } },
	{ R(raw_fxstatat, __fxstatat),
		{ N(STAT_VER), RFD, EMPTY, OUT, N(AT_EMPTY_PATH) } },
	{ R(raw_fxstatat, __fxstatat64),
		{ N(STAT_VER), RFD, EMPTY, OUT, N(AT_EMPTY_PATH) } },
	{ R(raw_access, access), { IN, N(R_OK) } },
	{ R(raw_access, eaccess), { IN, N(R_OK) } },
	{ R(raw_access, euidaccess), { IN, N(R_OK) } },
	{ F(SYS_faccessat, faccessat), { N(AT_FDCWD), IN, N(R_OK) } },
	{ F(SYS_statx, statx), { RFD, EMPTY, N(AT_EMPTY_PATH),
		N(STATX_BASIC_STATS), OUT } },
	{ F(SYS_statx, statx), { RFD, IN, N(AT_EMPTY_PATH),
		N(STATX_BASIC_STATS), OUT } },
	{ F(SYS_poll, poll), { OUT, N(1), N(0) } },
	{ F(SYS_poll, __poll_chk), { OUT, N(1), N(0), N(8) } },
	{ F(SYS_ppoll, __ppoll_chk), { OUT, N(1), IN, IN, N(8) } },
	{ F(SYS_ppoll, ppoll),
		{ OUT, N(1), IN, IN, SET8 } },
	{ F(SYS_ppoll, ppoll), /* without descriptors */
		{ N(0), N(0), EMPTY, IN, SET8 } },
	{ F(SYS_select, select), { N(64), OUT, N(0),
		N(0), OUT } },
	{ F(SYS_pselect6, pselect), { N(64), OUT, N(0),
		N(0), IN, N(0) } },
	{ F(SYS_epoll_ctl, epoll_ctl),
		{ EPFD, N(EPOLL_CTL_MOD), RFD, IN } },
	{ F(SYS_epoll_wait, epoll_wait),
		{ EPFD, OUT, N(4), N(0) } },
	{ F(SYS_epoll_pwait, epoll_pwait), { EPFD, OUT, N(4),
		N(0), IN, SET8 } },
	{ F(SYS_epoll_pwait2, epoll_pwait2), { EPFD, OUT, N(4),
		IN, IN, SET8 } },
	{ F(SYS_rt_sigprocmask, sigprocmask),
		{ N(SIG_BLOCK), IN, OUT, SET8 } },
	{ E(SYS_rt_sigprocmask, pthread_sigmask, by_pthread_sigmask),
		{ N(SIG_BLOCK), IN, OUT, SET8 } },
	{ R(raw_sigwaitinfo, sigwaitinfo), { IN, OUT } },
	{ F(SYS_rt_sigtimedwait, sigtimedwait), { IN, OUT, IN, SET8 } },
	{ F(SYS_rt_sigaction, sigaction),
		{ N(SIGUSR1), IN, OUT, SET8 } },
	{ F(SYS_rt_sigsuspend, sigsuspend), { IN, SET8 } },
	{ F(SYS_pipe2, pipe), { OUT } },
	{ F(SYS_pipe2, pipe2), { OUT, N(0) } },
	{ F(SYS_recvmsg, recvmsg), { RFD, IN, N(MSG_DONTWAIT) } },
	{ F(SYS_sendmsg, sendmsg), { WFD, IN, N(MSG_DONTWAIT) } },
	{ F(SYS_recvmsg, recvmsg), { SOCK, IN, N(MSG_DONTWAIT) } },
	{ F(SYS_sendmsg, sendmsg), { SOCK, IN, N(MSG_DONTWAIT) } },
	{ F(SYS_recvmmsg, recvmmsg), { SOCK, OUT, N(1), N(MSG_DONTWAIT), IN } },
	{ F(SYS_sendmmsg, sendmmsg), { SOCK, OUT, N(1), N(MSG_DONTWAIT) } },
	{ R(raw_recv, recv), { SOCK, OUT, N(4), N(MSG_DONTWAIT) } },
	{ R(raw_recv_chk, __recv_chk),
		{ SOCK, OUT, N(4), N(4), N(MSG_DONTWAIT) } },
	{ F(SYS_recvfrom, recvfrom),
		{ SOCK, OUT, N(4), N(MSG_DONTWAIT), OUT, OUT } },
	{ R(raw_recvfrom_chk, __recvfrom_chk),
		{ SOCK, OUT, N(4), N(4), N(MSG_DONTWAIT) } },
	{ R(raw_send, send), { SOCK, IN, N(4), N(MSG_DONTWAIT) } },
	{ F(SYS_sendto, sendto),
		{ SOCK, IN, N(4), N(MSG_DONTWAIT), IN, N(16) } },
	{ F(SYS_getsockopt, getsockopt),
		{ SOCK, N(SOL_SOCKET), N(SO_TYPE), OUT, LEN } },
	{ F(SYS_getsockopt, getsockopt),
		{ SOCK, N(SOL_SOCKET), N(SO_TYPE), LEN, OUT } },
	{ F(SYS_setsockopt, setsockopt),
		{ SOCK, N(SOL_SOCKET), N(SO_SNDBUF), IN, N(4) } },
	{ F(SYS_getsockname, getsockname), { SOCK, OUT, LEN } },
	{ F(SYS_getsockname, getsockname), { SOCK, LEN, OUT } },
	{ F(SYS_getpeername, getpeername), { SOCK, OUT, LEN } },
	{ F(SYS_getpeername, getpeername), { SOCK, LEN, OUT } },
	{ F(SYS_bind, bind), { SOCK, IN, N(16) } },
	{ F(SYS_connect, connect), { SOCK, IN, N(16) } },
	{ F(SYS_accept, accept), { SOCK, OUT, OUT } },
	{ F(SYS_accept4, accept4), { SOCK, OUT, OUT, N(0) } },
	{ F(SYS_openat, openat),
		{ N(AT_FDCWD), IN, N(O_RDONLY) } },
	{ F(SYS_openat, openat64), { N(AT_FDCWD), IN, N(O_RDONLY) } },
	{ F(SYS_openat, __openat_2), { N(AT_FDCWD), IN, N(O_RDONLY) } },
	{ F(SYS_openat, __openat64_2), { N(AT_FDCWD), IN, N(O_RDONLY) } },
	{ R(raw_open, open), { IN, N(O_RDONLY) } },
	{ R(raw_open, open64), { IN, N(O_RDONLY) } },
	{ R(raw_open, __open_2), { IN, N(O_RDONLY) } },
	{ R(raw_open, __open64_2), { IN, N(O_RDONLY) } },
	{ R(raw_creat, creat), { IN, N(0600) } },
	{ R(raw_creat, creat64), { IN, N(0600) } },
	{ F(SYS_execve, execve), { IN, N(0), IN } },
	{ R(raw_execv, execv), { IN, N(0) } },
	{ R(raw_fexecve, fexecve), { RFD, IN, IN } },
};

/* Calls that take a pointer and are not above, and why. */
static const struct {
	const char *names, *why;
} apart[] = {
	{ "signal bsd_signal ssignal sysv_signal __sysv_signal sigset",
		"a handler is kept, not read or written" },
	{ "execvp execvpe execl execlp execle",
		"the C library reads the path, or counts the arguments, "
		"before there is a system call" },
	{ "posix_spawn posix_spawnp system popen",
		"no system call: the C library reads and writes itself" },
	{ "clone syscall", "the kernel looks at what it is given" },
	{ "fclose pclose freopen freopen64 fopen fopen64 fdopen "
		"dprintf vdprintf __dprintf_chk __vdprintf_chk",
		"stdio is the C library's, and a bad pointer ends it" },
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

/* What came of a call, in a child: errno, 0, or one of these. */
#define ENDED (-1)  /* by a signal */
#define WAITED (-2) /* for longer than it may */
#define WHILE 100   /* ms, in which a call that waits is known */
#define LONG 20000  /* ms, for one that has to answer: the machine may be busy */

static int
outcome(const struct call *c, int at, int bad, int raw, const int fd[2],
	int ms)
{
	static char room[6][1024];
	long a[6] = { 0 }, ret;
	struct epoll_event ev = { .events = EPOLLIN };
	socklen_t len = sizeof(struct sockaddr);
	struct pollfd pfd = { fd[0], POLLIN, 0 };
	struct itimerval soon = {
		.it_value = { ms / 1000, ms % 1000 * 1000 }
	};
	int status, ep;
	pid_t pid = T_OK(fork());

	if (pid != 0) {
		T_EQ(waitpid(pid, &status, 0), pid);
		return WIFEXITED(status) ? WEXITSTATUS(status) :
			WTERMSIG(status) == SIGALRM ? WAITED : ENDED;
	}
	/* without a time it waits, and a signal ends it */
	(void)setitimer(ITIMER_REAL, &soon, NULL);
	memcpy(room[0], &pfd, sizeof pfd);
	for (int i = 0; i < 6; i++)
		switch (c->arg[i] & 255) {
		case RFD: a[i] = fd[0]; break;
		case SOCK: a[i] = fd[0]; break;
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
		case LEN:
			memcpy(room[i], &len, sizeof len);
			a[i] = (long)room[i];
			break;
		default: a[i] = i == at ? bad_pointer(bad) : (long)room[i];
		}
	errno = 0;
	if (raw && c->raw != NULL)
		ret = c->raw(a[0], a[1], a[2], a[3], a[4], a[5]);
	else if (raw)
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
	if (oracle < 0)
		return true;
	if (oracle == EFAULT)
		return got == EFAULT;
	return stream ? got >= 0 : got == oracle;
}

/* outcome() on a socket of its own, which the call may change. */
static int
outcome_of_socket(const struct call *c, int at, int bad, int raw, int ms)
{
	int s[2], ret;

	T_OK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
	T_EQ(write(s[1], "abcdefgh", 8), 8);
	ret = outcome(c, at, bad, raw, s, ms);
	T_OK(close(s[0]));
	T_OK(close(s[1]));
	return ret;
}

/* Is the answer as it has to be? */
static bool
row(const struct call *c, int at, int bad, const int kernel[2],
	const int stream[2])
{
	bool sock = c->arg[0] == SOCK, good;
	int oracle = sock ? outcome_of_socket(c, at, bad, 1, WHILE) :
		outcome(c, at, bad, 1, kernel, WHILE);
	int ms = oracle == WAITED ? WHILE : LONG;
	int plain = sock ? outcome_of_socket(c, at, bad, 0, ms) :
		outcome(c, at, bad, 0, kernel, ms);
	int on = outcome(c, at, bad, 0, stream, ms);

	good = same(oracle, plain, false) &&
		(sock ? on >= 0 : same(oracle, on, true));
	if (!good)
		printf("# %s, argument %d %s: the system call %d, on the "
			"kernel's %s %d, on a Stream %d\n", c->name, at + 1,
			bad_names[bad], oracle, sock ? "socket" : "pipe",
			plain, on);
	return good;
}

static bool
is_apart(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
		for (const char *p = apart[i].names;
			(p = strstr(p, name)) != NULL; p += len)
			if ((p == apart[i].names || p[-1] == ' ') &&
			    (p[len] == ' ' || p[len] == '\0'))
				return true;
	return false;
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
	size_t n = 0, wrong = 0;

	setup(kernel, stream);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		T_FALSE(is_apart(calls[i].name));
		for (int at = 0; at < 6; at++)
			for (int bad = 0; bad < NBAD; bad++) {
				long kind = calls[i].arg[at];

				if (kind != IN && kind != OUT)
					continue;
				if (kind == IN && bad == BAD_READ_ONLY)
					continue;
				wrong += !row(&calls[i], at, bad, kernel,
					stream);
				n++;
			}
	}
	T_EQ(wrong, 0u);
	T_TRUE(n > 300);
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
