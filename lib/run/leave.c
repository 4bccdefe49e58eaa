/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Calls after which what is known of this process, or of the holders of its
 * pipes, is no longer true.
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"
#include "sys.h"

/* ------------------------------------------------- passing descriptors */

static void
sending(const struct msghdr *m)
{
	if (!run_on || m == NULL || m->msg_controllen == 0)
		return;
	run_settle_all(RUN_CALL);
	run_unfit_held(false, RUN_SENT);
}

NEXT_SLOT(sendmsg);

STR_EXPORT ssize_t
sendmsg(int fd, const struct msghdr *m, int flags)
{
	sending(m);
	return NEXT(sendmsg)(fd, m, flags);
}

NEXT_SLOT(sendmmsg);

STR_EXPORT int
sendmmsg(int fd, struct mmsghdr *v, unsigned n, int flags)
{
	for (unsigned i = 0; i < n && run_on; i++)
		sending(&v[i].msg_hdr);
	return NEXT(sendmmsg)(fd, v, n, flags);
}

/* A descriptor of a carried pipe may come back. */
NEXT_SLOT(recvmsg);

STR_EXPORT ssize_t
recvmsg(int fd, struct msghdr *m, int flags)
{
	if (run_armed != 0 && m != NULL && m->msg_controllen != 0)
		run_settle_all(RUN_CALL);
	return NEXT(recvmsg)(fd, m, flags);
}

/* ---------------------------------------- other users, roots, namespaces */

/* This process may lose the way to its descriptors in /proc. */
static void
leaving(void)
{
	if (!run_on)
		return;
	run_settle_all(RUN_CALL);
	run_know_held();
	run_unfit_held(false, RUN_APART);
	run_detach();
}

#define LEAVES(name, args, ...) \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name args \
	{ \
		leaving(); \
		return NEXT(name)(__VA_ARGS__); \
	}
LEAVES(unshare, (int flags), flags)
LEAVES(setns, (int fd, int type), fd, type)
LEAVES(chroot, (const char *path), path)
LEAVES(setuid, (uid_t a), a)
LEAVES(seteuid, (uid_t a), a)
LEAVES(setreuid, (uid_t a, uid_t b), a, b)
LEAVES(setresuid, (uid_t a, uid_t b, uid_t c), a, b, c)
LEAVES(setfsuid, (uid_t a), a)
/* the kernel hides the descriptors of a process with another group, too */
LEAVES(setgid, (gid_t a), a)
LEAVES(setegid, (gid_t a), a)
LEAVES(setregid, (gid_t a, gid_t b), a, b)
LEAVES(setresgid, (gid_t a, gid_t b, gid_t c), a, b, c)
LEAVES(setfsgid, (gid_t a), a)

NEXT_SLOT(prctl);

STR_EXPORT int
prctl(int op, ...)
{
	unsigned long a[4];
	va_list ap;

	va_start(ap, op);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (op == PR_SET_SECCOMP || op == PR_SET_DUMPABLE)
		leaving();
	return NEXT(prctl)(op, a[0], a[1], a[2], a[3]);
}

/* ---------------------------------------------------------------- syscall */

/* Numbers that change nothing of what the ring relies on. */
static bool
is_harmless(long n)
{
	switch (n) {
	case SYS_gettid:
	case SYS_getpid:
	case SYS_futex:
	case SYS_getrandom:
	case SYS_sched_getaffinity:
	case SYS_sched_setaffinity:
	case SYS_getcpu:
	case SYS_clock_gettime:
	case SYS_getdents64:
	case SYS_membarrier:
	case SYS_tgkill:
		return true;
	default:
		return false;
	}
}

NEXT_SLOT(syscall);

STR_EXPORT long
syscall(long n, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (run_on && !is_harmless(n)) {
		switch (n) {
#ifdef SYS_fork
		case SYS_fork:
		case SYS_vfork:
#endif
		case SYS_clone:
		case SYS_clone3:
		case SYS_execve:
		case SYS_execveat:
		case SYS_seccomp:
		case SYS_unshare:
		case SYS_setns:
		case SYS_chroot:
		case SYS_pivot_root:
		case SYS_io_uring_setup:
		case SYS_sendmsg:
		case SYS_sendmmsg:
		case SYS_setuid:
		case SYS_setreuid:
		case SYS_setresuid:
		case SYS_setfsuid:
		case SYS_setgid:
		case SYS_setregid:
		case SYS_setresgid:
		case SYS_setfsgid:
		case SYS_landlock_restrict_self:
			leaving();
			break;
		case SYS_rt_sigaction:
		case SYS_rt_sigprocmask:
			run_fault_end();
			break;
		default:
			run_settle_all(RUN_CALL);
			break;
		}
	}
	return NEXT(syscall)(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
