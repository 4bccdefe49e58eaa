/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The next definition of every call we define: the C library's, or that of a
 * library loaded in between.
 *
 * Each is looked up when it is called first: a program needs few of them, and
 * looking up all of them takes longer than the rest of the library's start.
 * Inside this library no wrapped name is ever used: REAL(name) is the next one,
 * sys_*() is the kernel.
 */
#ifndef STREAMS_REAL_H
#define STREAMS_REAL_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <str/annot.h>
#include <str/types.h>

/* Return type, name, parameters. */
#define REAL_CALLS(X) \
	X(long, syscall, (long, ...)) \
	X(int, clone, (int (*)(void *), void *, int, void *, ...)) \
	X(pid_t, fork, (void)) \
	X(pid_t, _Fork, (void)) \
	X(int, open, (const char *, int, ...)) \
	X(int, open64, (const char *, int, ...)) \
	X(int, openat, (int, const char *, int, ...)) \
	X(int, openat64, (int, const char *, int, ...)) \
	X(int, creat, (const char *, mode_t)) \
	X(int, creat64, (const char *, mode_t)) \
	X(int, __open_2, (const char *, int)) \
	X(int, __open64_2, (const char *, int)) \
	X(int, __openat_2, (int, const char *, int)) \
	X(int, __openat64_2, (int, const char *, int)) \
	X(int, close, (int)) \
	X(int, close_range, (unsigned, unsigned, int)) \
	X(int, dup, (int)) \
	X(int, dup2, (int, int)) \
	X(int, dup3, (int, int, int)) \
	X(FILE *, fdopen, (int, const char *)) \
	X(FILE *, fopen, (const char *, const char *)) \
	X(FILE *, fopen64, (const char *, const char *)) \
	X(int, fclose, (FILE *)) \
	X(int, pclose, (FILE *)) \
	X(FILE *, freopen, (const char *, const char *, FILE *)) \
	X(FILE *, freopen64, (const char *, const char *, FILE *)) \
	X(int, vdprintf, (int, const char *, va_list)) \
	X(int, __vdprintf_chk, (int, int, const char *, va_list)) \
	X(int, fcntl, (int, int, ...)) \
	X(int, fcntl64, (int, int, ...)) \
	X(int, ioctl, (int, unsigned long, ...)) \
	X(int, pthread_cancel, (pthread_t)) \
	X(ssize_t, read, (int, void *, size_t)) \
	X(ssize_t, __read_chk, (int, void *, size_t, size_t)) \
	X(ssize_t, readv, (int, const struct iovec *, int)) \
	X(ssize_t, write, (int, const void *, size_t)) \
	X(ssize_t, writev, (int, const struct iovec *, int)) \
	X(int, poll, (struct pollfd *, nfds_t, int)) \
	X(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, \
		const sigset_t *)) \
	X(int, __poll_chk, (struct pollfd *, nfds_t, int, size_t)) \
	X(int, __ppoll_chk, (struct pollfd *, nfds_t, \
		const struct timespec *, const sigset_t *, size_t)) \
	X(int, select, (int, fd_set *, fd_set *, fd_set *, \
		struct timeval *)) \
	X(int, pselect, (int, fd_set *, fd_set *, fd_set *, \
		const struct timespec *, const sigset_t *)) \
	X(int, epoll_ctl, (int, int, int, struct epoll_event *)) \
	X(int, epoll_wait, (int, struct epoll_event *, int, int)) \
	X(int, epoll_pwait, (int, struct epoll_event *, int, int, \
		const sigset_t *)) \
	X(int, epoll_pwait2, (int, struct epoll_event *, int, \
		const struct timespec *, const sigset_t *)) \
	X(int, fstat, (int, struct stat *)) \
	X(int, fstat64, (int, struct stat64 *)) \
	X(int, fstatat, (int, const char *, struct stat *, int)) \
	X(int, fstatat64, (int, const char *, struct stat64 *, int)) \
	X(int, __fxstat, (int, int, struct stat *)) \
	X(int, __fxstat64, (int, int, struct stat64 *)) \
	X(int, stat, (const char *, struct stat *)) \
	X(int, stat64, (const char *, struct stat64 *)) \
	X(int, lstat, (const char *, struct stat *)) \
	X(int, lstat64, (const char *, struct stat64 *)) \
	X(int, __xstat, (int, const char *, struct stat *)) \
	X(int, __xstat64, (int, const char *, struct stat64 *)) \
	X(int, __lxstat, (int, const char *, struct stat *)) \
	X(int, __lxstat64, (int, const char *, struct stat64 *)) \
	X(int, __fxstatat, (int, int, const char *, struct stat *, int)) \
	X(int, __fxstatat64, (int, int, const char *, struct stat64 *, int)) \
	X(int, access, (const char *, int)) \
	X(int, eaccess, (const char *, int)) \
	X(int, euidaccess, (const char *, int)) \
	X(int, faccessat, (int, const char *, int, int)) \
	X(int, statx, (int, const char *, int, unsigned, struct statx *)) \
	X(off_t, lseek, (int, off_t, int)) \
	X(off64_t, lseek64, (int, off64_t, int)) \
	X(int, isatty, (int)) \
	X(ssize_t, pread, (int, void *, size_t, off_t)) \
	X(ssize_t, pread64, (int, void *, size_t, off64_t)) \
	X(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t)) \
	X(ssize_t, __pread64_chk, (int, void *, size_t, off64_t, size_t)) \
	X(ssize_t, pwrite, (int, const void *, size_t, off_t)) \
	X(ssize_t, pwrite64, (int, const void *, size_t, off64_t)) \
	X(ssize_t, preadv, (int, const struct iovec *, int, off_t)) \
	X(ssize_t, preadv64, (int, const struct iovec *, int, off64_t)) \
	X(ssize_t, pwritev, (int, const struct iovec *, int, off_t)) \
	X(ssize_t, pwritev64, (int, const struct iovec *, int, off64_t)) \
	X(ssize_t, preadv2, (int, const struct iovec *, int, off_t, int)) \
	X(ssize_t, preadv64v2, (int, const struct iovec *, int, off64_t, int)) \
	X(ssize_t, pwritev2, (int, const struct iovec *, int, off_t, int)) \
	X(ssize_t, pwritev64v2, (int, const struct iovec *, int, off64_t, \
		int)) \
	X(int, fsync, (int)) \
	X(int, fdatasync, (int)) \
	X(int, ftruncate, (int, off_t)) \
	X(int, ftruncate64, (int, off64_t)) \
	X(ssize_t, sendfile, (int, int, off_t *, size_t)) \
	X(ssize_t, sendfile64, (int, int, off64_t *, size_t)) \
	X(ssize_t, splice, (int, off64_t *, int, off64_t *, size_t, \
		unsigned)) \
	X(ssize_t, tee, (int, int, size_t, unsigned)) \
	X(ssize_t, vmsplice, (int, const struct iovec *, size_t, unsigned)) \
	X(ssize_t, send, (int, const void *, size_t, int)) \
	X(ssize_t, sendto, (int, const void *, size_t, int, \
		const struct sockaddr *, socklen_t)) \
	X(ssize_t, sendmsg, (int, const struct msghdr *, int)) \
	X(int, sendmmsg, (int, struct mmsghdr *, unsigned, int)) \
	X(ssize_t, recv, (int, void *, size_t, int)) \
	X(ssize_t, __recv_chk, (int, void *, size_t, size_t, int)) \
	X(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, \
		socklen_t *)) \
	X(ssize_t, __recvfrom_chk, (int, void *, size_t, size_t, int, \
		struct sockaddr *, socklen_t *)) \
	X(ssize_t, recvmsg, (int, struct msghdr *, int)) \
	X(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, \
		struct timespec *)) \
	X(int, shutdown, (int, int)) \
	X(int, getsockopt, (int, int, int, void *, socklen_t *)) \
	X(int, setsockopt, (int, int, int, const void *, socklen_t)) \
	X(int, getsockname, (int, struct sockaddr *, socklen_t *)) \
	X(int, getpeername, (int, struct sockaddr *, socklen_t *)) \
	X(int, bind, (int, const struct sockaddr *, socklen_t)) \
	X(int, connect, (int, const struct sockaddr *, socklen_t)) \
	X(int, listen, (int, int)) \
	X(int, accept, (int, struct sockaddr *, socklen_t *)) \
	X(int, accept4, (int, struct sockaddr *, socklen_t *, int)) \
	X(int, sigprocmask, (int, const sigset_t *, sigset_t *)) \
	X(int, pthread_sigmask, (int, const sigset_t *, sigset_t *)) \
	X(int, sigsuspend, (const sigset_t *)) \
	X(int, sigwaitinfo, (const sigset_t *, siginfo_t *)) \
	X(int, sigtimedwait, (const sigset_t *, siginfo_t *, \
		const struct timespec *)) \
	X(int, setuid, (uid_t)) \
	X(int, seteuid, (uid_t)) \
	X(int, setreuid, (uid_t, uid_t)) \
	X(int, setresuid, (uid_t, uid_t, uid_t)) \
	X(int, setgid, (gid_t)) \
	X(int, setegid, (gid_t)) \
	X(int, setregid, (gid_t, gid_t)) \
	X(int, setresgid, (gid_t, gid_t, gid_t)) \
	X(void, _exit, (int)) \
	X(int, execve, (const char *, char *const *, char *const *)) \
	X(int, execvpe, (const char *, char *const *, char *const *)) \
	X(int, fexecve, (int, char *const *, char *const *)) \
	X(int, posix_spawn, (pid_t *, const char *, \
		const posix_spawn_file_actions_t *, \
		const posix_spawnattr_t *, char *const *, char *const *)) \
	X(int, posix_spawnp, (pid_t *, const char *, \
		const posix_spawn_file_actions_t *, \
		const posix_spawnattr_t *, char *const *, char *const *)) \
	X(int, system, (const char *)) \
	X(FILE *, popen, (const char *, const char *))

struct real {
#define REAL_MEMBER(type, name, args) type(*name) args;
	REAL_CALLS(REAL_MEMBER)
#undef REAL_MEMBER
};
extern struct real real_table;

/* The next definition of the row at offset @at of the table, which it fills. */
uintptr_t real_find(size_t at) STR_COLD;

STR_INLINE uintptr_t
real_at(const void *row)
{
	const uintptr_t *p = row;
	uintptr_t v = __atomic_load_n(p, __ATOMIC_RELAXED);

	return str_likely(v != 0) ? v :
		real_find((size_t)((const char *)row -
			(const char *)&real_table));
}

#define REAL(name) \
	((__typeof__(real_table.name))real_at(&real_table.name))

#endif
