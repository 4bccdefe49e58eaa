/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * fattach(3) and fdetach(3): names in the file system for Streams.
 *
 * The name is stored in the domain, so that it outlives the process that made
 * it.  An attached end of a pipe is also kept open here by a hidden descriptor:
 * servers close theirs after the attach, and otherwise the kernel would report
 * a false hang-up to the other end.
 */
#include <stropts.h>

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"
#include "filestat.h"
#include "sys.h"
#include "user_impl.h"

#define KEPT (HOST_FD_NAME_END - HOST_FD_NAME)

/* The Streams of the hidden descriptors. [F] */
static struct {
	uint64_t dev, ino;
} kept[KEPT];

static void
keep(int fd, uint64_t dev, uint64_t ino)
{
	struct fd_guard g;
	int i, to;

	fd_lock(&g);
	for (i = 0; i < KEPT; i++)
		if (host_fd_get(HOST_FD_NAME + i) < 0)
			break;
	if (i < KEPT) {
		fd_shared(); /* one more, which counts as no holder */
		to = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (to >= 0) {
			(void)host_fd_hide(HOST_FD_NAME + i, to, true);
			kept[i].dev = dev;
			kept[i].ino = ino;
		}
	}
	fd_unlock(&g);
}

static void
unkeep(uint64_t dev, uint64_t ino)
{
	struct fd_guard g;

	fd_lock(&g);
	for (int i = 0; i < KEPT; i++)
		if (host_fd_get(HOST_FD_NAME + i) >= 0 &&
		    kept[i].dev == dev && kept[i].ino == ino)
			host_fd_drop(HOST_FD_NAME + i);
	fd_unlock(&g);
}

/* May the caller attach to, or detach from, this file?  0 or an errno. */
static int
owner(const struct stat *st)
{
	return geteuid() == 0 || host_uid_mine(st->st_uid) ? 0 : EPERM;
}

STR_EXPORT int
fattach(int fd, const char *path)
{
	struct fd_rec *r = fd_stream(fd);
	struct host_call hc;
	char full[PATH_MAX];
	struct stat st;
	uint64_t born;
	long ret;
	int err;

	if (r == NULL)
		return fail(sys_fcntl(fd, F_GETFD, 0) < 0 ? EBADF : EINVAL);
	ret = file_stat(AT_FDCWD, path, &st, &born);
	if (ret != 0)
		return fail((int)-ret);
	err = owner(&st);
	if (err == 0 && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
		err = errno;
	if (err == 0 && S_ISDIR(st.st_mode) && strcmp(path, "/") == 0)
		err = EBUSY;
	if (err != 0)
		return fail(err);
	if (realpath(path, full) == NULL)
		return -1;
	err = call_begin(&hc, r, fd, 0);
	if (err != 0)
		return fail(err);
	err = str_name_attach(hc.head, &hc, st.st_dev, st.st_ino, born,
		full);
	host_leave();
	if (err != 0)
		return fail(err);
	if (str_load(&r->kind) == HOST_CARRIER_PAIR)
		keep(fd, st.st_dev, st.st_ino);
	return 0;
}

STR_EXPORT int
fdetach(const char *path)
{
	struct host_call hc = {.fd = -1};
	struct stat st;
	uint64_t born;
	long ret;
	int err;

	ret = file_stat(AT_FDCWD, path, &st, &born);
	if (ret != 0)
		return fail((int)-ret);
	err = owner(&st);
	if (err != 0)
		return fail(err);
	if (host_enter(&hc) != 0)
		return fail(EINVAL);
	err = str_name_detach(&hc, st.st_dev, st.st_ino, born);
	host_leave();
	if (err != 0)
		return fail(err == ENOENT ? EINVAL : err);
	unkeep(st.st_dev, st.st_ino);
	return 0;
}
