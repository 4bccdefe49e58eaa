/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * setuid(2) and related calls: a process that changes its user first leaves its
 * former user's domain.
 *
 * Only changes of the real and the effective user count.  A domain belongs to
 * the effective user; ids.c describes the other comparisons when a process
 * joins.  A member that changes its groups or capabilities remains a member.
 *
 * The Streams are closed, in order, as by exit(3).  Their numbers then refer to
 * a descriptor on which every call fails with EBADF, so that no later file is
 * taken for the Stream.
 *
 * A call that fails with EPERM must not close the Streams, so the kernel's rule
 * is checked before.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include "call.h"
#include "sys.h"
#include "user_impl.h"

#define SAME ((uid_t)-1)

struct users {
	uid_t real, effective, saved;
};

static bool
is_privileged(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0, 0, 0}};

	return sys_call2(SYS_capget, &head, data) == 0 &&
		(data[0].effective & 1u << CAP_SETUID) != 0;
}

static struct users
users_now(void)
{
	struct users u = {SAME, SAME, SAME};

	(void)sys_call3(SYS_getresuid, &u.real, &u.effective, &u.saved);
	return u;
}

static bool
is_one_of(uid_t uid, const struct users *u)
{
	return uid == SAME || uid == u->real || uid == u->effective ||
		uid == u->saved;
}

/* ---------------------------------------------------------------- leaving */

/* What takes the place of a Stream: not to be read, written or waited for. */
static void
replace(int fd, int by)
{
	struct fd_release rel;
	int flags = sys_fcntl(fd, F_GETFD, 0);

	if (by < 0) {
		(void)fd_close(fd, &rel);
	} else {
		fd_release_begin(fd, &rel);
		fd_release_hold(&rel);
		(void)sys_call3(SYS_dup3, by, fd,
			(flags & FD_CLOEXEC) ? O_CLOEXEC : 0);
		fd_forget(fd);
	}
	if (rel.sd != NULL)
		fd_release_end(&rel);
}

static bool
is_stream(int fd)
{
	/* if @fd came from another process, it is possibly not known yet */
	return fd_stream(fd) != NULL;
}

/*
 * A descriptor for replace(), -1 when there is none.  Never a directory: a
 * process that changed its root would have the old one by it.
 */
static int
nothing(void)
{
	int fd = sys_openat(AT_FDCWD, "/dev/null", O_PATH | O_CLOEXEC, 0);

	return fd >= 0 ? fd :
		sys_openat(AT_FDCWD, "/proc/self/exe", O_PATH | O_CLOEXEC, 0);
}

static int
leave(void)
{
	struct host_call hc = {.fd = -1};
	int high, by;

	/* to close Streams in order even a child of fork() is a member */
	if (host_enter(&hc) == 0)
		host_leave();
	if (host_leave_begin() != 0)
		return EAGAIN;
	high = STR_MAX(fd_high(), 1023);
	by = nothing();
	for (int fd = 0; fd <= high; fd++)
		if (fd != by && !host_fd_is_ours(fd) &&
			!plain_is_hidden(fd) && is_stream(fd))
			replace(fd, by);
	if (by >= 0)
		(void)sys_close(by);
	host_leave_end();
	fd_possible_again();
	return 0;
}

/*
 * Before the process, whose users are @now, has @real and @effective: leave the
 * domain.  Return: 0, or an errno with which the call is refused.
 */
static int
change(const struct users *now, uid_t real, uid_t effective)
{
	int err = errno, ret;

	if (host_domain == NULL ||
		((real == SAME || real == now->real) &&
		 (effective == SAME || effective == now->effective)))
		return 0;
	ret = leave();
	errno = err;
	return ret;
}

/*
 * The user as it is, which no other thread changes, or attaches as, until
 * change_end().
 */
static bool
change_begin(struct users *ret_now)
{
	bool locked = host_user_lock();

	host_cred_vary();
	*ret_now = users_now();
	return locked;
}

static int
change_end(bool locked, int ret)
{
	if (locked)
		host_user_unlock();
	return ret;
}

/* ------------------------------------------------------------------ calls */

/*
 * The next definition is looked up before the user is locked: the dynamic
 * linker has a lock, and may be calling a constructor that waits for the user.
 */

STR_EXPORT int
setuid(uid_t uid)
{
	int (*next)(uid_t) = REAL(setuid);
	struct users now;
	bool locked = change_begin(&now), all = is_privileged();
	int err = 0;

	if (uid != SAME && (all || uid == now.real || uid == now.saved))
		err = change(&now, all ? uid : SAME, uid);
	return change_end(locked, err != 0 ? fail(err) : next(uid));
}

STR_EXPORT int
seteuid(uid_t uid)
{
	int (*next)(uid_t) = REAL(seteuid);
	struct users now;
	bool locked = change_begin(&now);
	int err = 0;

	if (is_one_of(uid, &now) || is_privileged())
		err = change(&now, SAME, uid);
	return change_end(locked, err != 0 ? fail(err) : next(uid));
}

STR_EXPORT int
setreuid(uid_t real, uid_t effective)
{
	int (*next)(uid_t, uid_t) = REAL(setreuid);
	struct users now;
	bool locked = change_begin(&now);
	int err = 0;

	if (((real == SAME || real == now.real || real == now.effective) &&
		    is_one_of(effective, &now)) || is_privileged())
		err = change(&now, real, effective);
	return change_end(locked, err != 0 ? fail(err) :
		next(real, effective));
}

STR_EXPORT int
setresuid(uid_t real, uid_t effective, uid_t saved)
{
	int (*next)(uid_t, uid_t, uid_t) = REAL(setresuid);
	struct users now;
	bool locked = change_begin(&now);
	int err = 0;

	if ((is_one_of(real, &now) && is_one_of(effective, &now) &&
		    is_one_of(saved, &now)) || is_privileged())
		err = change(&now, real, effective);
	return change_end(locked, err != 0 ? fail(err) :
		next(real, effective, saved));
}

/* A change of the group is no reason to leave. */

STR_EXPORT int
setgid(gid_t gid)
{
	host_cred_vary();
	return REAL(setgid)(gid);
}

STR_EXPORT int
setegid(gid_t gid)
{
	host_cred_vary();
	return REAL(setegid)(gid);
}

STR_EXPORT int
setregid(gid_t real, gid_t effective)
{
	host_cred_vary();
	return REAL(setregid)(real, effective);
}

STR_EXPORT int
setresgid(gid_t real, gid_t effective, gid_t saved)
{
	host_cred_vary();
	return REAL(setresgid)(real, effective, saved);
}
