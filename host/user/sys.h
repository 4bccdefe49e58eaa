/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Raw system calls.
 *
 * The library that links this folder defines open, read, poll, sigaction and
 * other calls itself, so the host must never call them by name.  Results are
 * those of the kernel: a value, or minus an errno. errno is never changed, so
 * that all of this may run in a signal handler.
 */
#ifndef HOST_USER_SYS_H
#define HOST_USER_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <str/annot.h>

#define SYS_SIGSET 8 /* bytes of the kernel's signal set */

#if defined(__x86_64__)
STR_INLINE long
sys_6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			 "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
STR_INLINE long
sys_6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4),
			 "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "host/user knows x86-64 and aarch64"
#endif

/* Pointers and integers alike. */
#define SYS_A(x) ((long)(x))
#define sys_call1(n, a) sys_6(n, SYS_A(a), 0, 0, 0, 0, 0)
#define sys_call2(n, a, b) sys_6(n, SYS_A(a), SYS_A(b), 0, 0, 0, 0)
#define sys_call3(n, a, b, c) \
	sys_6(n, SYS_A(a), SYS_A(b), SYS_A(c), 0, 0, 0)
#define sys_call4(n, a, b, c, d) \
	sys_6(n, SYS_A(a), SYS_A(b), SYS_A(c), SYS_A(d), 0, 0)
#define sys_call5(n, a, b, c, d, e) \
	sys_6(n, SYS_A(a), SYS_A(b), SYS_A(c), SYS_A(d), SYS_A(e), 0)
#define sys_call6(n, a, b, c, d, e, f) \
	sys_6(n, SYS_A(a), SYS_A(b), SYS_A(c), SYS_A(d), SYS_A(e), SYS_A(f))

STR_INLINE int
sys_openat(int dir, const char *path, int flags, int mode)
{
	return (int)sys_call4(SYS_openat, dir, path, flags, mode);
}

STR_INLINE int
sys_close(int fd)
{
	return (int)sys_call1(SYS_close, fd);
}

STR_INLINE long
sys_read(int fd, void *buf, size_t n)
{
	return sys_call3(SYS_read, fd, buf, n);
}

STR_INLINE long
sys_write(int fd, const void *buf, size_t n)
{
	return sys_call3(SYS_write, fd, buf, n);
}

STR_INLINE int
sys_fcntl(int fd, int cmd, long arg)
{
	return (int)sys_call3(SYS_fcntl, fd, cmd, arg);
}

STR_INLINE int
sys_getpid(void)
{
	return (int)sys_call1(SYS_getpid, 0);
}

STR_INLINE int
sys_gettid(void)
{
	return (int)sys_call1(SYS_gettid, 0);
}

/* @set and @old are kernel signal sets. */
STR_INLINE void
sys_sigmask(int how, const uint64_t *set, uint64_t *old)
{
	(void)sys_call4(SYS_rt_sigprocmask, how, set, old, SYS_SIGSET);
}

#endif
