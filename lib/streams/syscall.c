/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * syscall(2), and the ways to make a process without the handlers of
 * pthread_atfork(3).
 *
 * io_uring_setup.
 * libuv from 1.45 on makes its calls of epoll_ctl through a ring when it can, and
 * waits by epoll_pwait.  The library then does not notice the descriptors in
 * the instance, and the program gets tokens of Streams as if they were data.
 * Without a ring libuv calls epoll_ctl. liburing makes its system calls by
 * itself and is not affected.
 *
 * Processes.  The child has the descriptors of its parent, the hidden ones too.
 * So the streams are not this process's alone any more, and it keeps no
 * carriers for later streams.  streamsd watches the child, which may end before
 * it makes a call.
 *
 * Messages.  A receiver of a descriptor has the stream, too, as after sendmsg(2).
 *
 * Users and groups.  See host/user/cred.c.
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd.h"
#include "passed.h"
#include "real.h"
#include "user_impl.h"

#undef syscall

static void
before_process(void)
{
	if (!fd_any_made())
		return;
	fd_shared();
	host_spare_close();
}

void
made_process(long pid)
{
	if (pid > 0 && host_domain != NULL)
		host_daemon_news((uint32_t)pid);
}

/* Does the call make a process that has descriptors of its own? */
static bool
makes_process(long number, long flags)
{
	switch (number) {
#ifdef SYS_fork
	case SYS_fork:
	case SYS_vfork:
		return true;
#endif
	case SYS_clone:
		return (flags & CLONE_FILES) == 0;
	case SYS_clone3:
		return true;
	default:
		return false;
	}
}

/* As programs do that change the user of one thread only. */
static bool
changes_ids(long number)
{
	switch (number) {
	case SYS_setuid:
	case SYS_setreuid:
	case SYS_setresuid:
	case SYS_setgid:
	case SYS_setregid:
	case SYS_setresgid:
		return true;
	default:
		return false;
	}
}

/* The call may send descriptors. */
static void
before_messages(long number, const long a[6])
{
	const struct mmsghdr *m = (const void *)a[1];

	if (number == SYS_sendmsg)
		pass_as_it_is((const void *)a[1]);
	else if (number == SYS_sendmmsg)
		for (unsigned i = 0; i < (unsigned)a[2]; i++)
			pass_as_it_is(&m[i].msg_hdr);
}

int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);
STR_EXPORT int
clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	void *a[3];
	va_list ap;
	int pid;

	va_start(ap, arg);
	for (int i = 0; i < 3; i++)
		a[i] = va_arg(ap, void *);
	va_end(ap);
	if ((flags & CLONE_FILES) != 0)
		return REAL(clone)(fn, stack, flags, arg, a[0], a[1], a[2]);
	before_process();
	pid = REAL(clone)(fn, stack, flags, arg, a[0], a[1], a[2]);
	made_process(pid);
	return pid;
}

pid_t _Fork(void);
STR_EXPORT pid_t
_Fork(void)
{
	pid_t pid;

	before_process();
	pid = REAL(_Fork)();
	made_process(pid);
	return pid;
}

STR_EXPORT long
syscall(long number, ...)
{
	long a[6], ret;
	va_list ap;
	bool makes;

	if (number == SYS_io_uring_setup) {
		errno = ENOSYS;
		return -1;
	}
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	makes = makes_process(number, a[0]);
	if (makes)
		before_process();
	else if (changes_ids(number))
		host_cred_vary();
	else
		before_messages(number, a);
	ret = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (makes)
		made_process(ret);
	return ret;
}
