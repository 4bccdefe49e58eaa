/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pipe(2) makes a STREAMS pipe.
 */
#include <stropts.h>

#include <fcntl.h>

#include "call.h"
#include "sys.h"

#define PIPE_FLAGS (O_CLOEXEC | O_NONBLOCK | O_DIRECT)

/*
 * Give up a pipe whose descriptors have not been returned yet: close both ends;
 * the next sweep frees it.
 */
static void
pipe_undo(const int fd[2])
{
	struct fd_release rel;

	for (int i = 0; i < 2; i++) {
		(void)fd_close(fd[i], &rel);
		if (rel.sd != NULL)
			fd_release_end(&rel);
	}
}

/* Linux's packet mode: every read returns one write. */
static int
pipe_packets(struct host_call *hc, struct str_plumb *pl)
{
	long ret = 0;

	for (int i = 0; i < 2 && ret >= 0; i++)
		ret = str_head_ioctl(
			str_pipe_end(pl, i), hc, I_SRDOPT, RMSGD | RPROTNORM);
	return ret < 0 ? (int)-ret : 0;
}

/* Make both carriers and the streams between.  Locks: the table's. */
static int
pipe_weld(int flags, int fd[2], struct str_plumb **ret_pl)
{
	struct host_carrier c[2];
	struct fd_rec *r;
	int err;

	err = host_carrier_pair(flags & (O_CLOEXEC | O_NONBLOCK), fd, c);
	if (err != 0)
		return err == ENOMEM ? ENOSR : err;
	err = str_pipe_create(c, ret_pl);
	if (err != 0) {
		(void)sys_close(fd[0]);
		(void)sys_close(fd[1]);
		fd[0] = fd[1] = -1;
		return err == ENOMEM ? ENOSR : err;
	}
	for (int i = 0; i < 2; i++) {
		struct str_file *f = str_pipe_file(*ret_pl, i);

		str_store(str_file_flags(f), (uint32_t)(O_RDWR |
			(flags & (O_NONBLOCK | O_DIRECT))));
		r = fd_install(fd[i], f, &c[i]);
		if (r == NULL)
			err = ENOSR;
		else
			fd_made(r);
	}
	return err;
}

static int
pipe_make(struct host_call *hc, int flags, int fd[2])
{
	struct str_plumb *pl = NULL;
	struct fd_guard g;
	int err;

	fd[0] = fd[1] = -1;
	fd_lock(&g);
	err = pipe_weld(flags, fd, &pl);
	fd_unlock(&g);
	if (err == 0 && (flags & O_DIRECT))
		err = pipe_packets(hc, pl);
	if (err != 0 && fd[0] >= 0)
		pipe_undo(fd);
	return err;
}

STR_EXPORT int
pipe2(int ufd[2], int flags)
{
	struct host_call hc = {.fd = -1};
	int fd[2], err;

	if (flags & ~PIPE_FLAGS)
		return fail(EINVAL);
	err = host_enter(&hc);
	if (err != 0)
		return fail(call_no_domain(err));
	err = pipe_make(&hc, flags, fd);
	if (err == 0) {
		err = host_copyout(fd, ufd, sizeof fd);
		if (err != 0)
			pipe_undo(fd);
	}
	host_leave();
	return err != 0 ? fail(err) : 0;
}

STR_EXPORT int
pipe(int ufd[2])
{
	return pipe2(ufd, 0);
}
