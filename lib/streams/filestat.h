/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Identity of the file at a path, for files to which Streams are attached.
 */
#ifndef STREAMS_FILESTAT_H
#define STREAMS_FILESTAT_H

#include <fcntl.h>
#include <sys/stat.h>

#include "sys.h"

/*
 * stat(2), and in *@ret_born the file's time of creation; 0: unknown.
 * Return: 0 or minus an errno.
 */
STR_INLINE long
file_stat(int dir, const char *path, struct stat *st, uint64_t *ret_born)
{
	struct statx sx;
	long err;

	*ret_born = 0;
	err = sys_call4(SYS_newfstatat, dir, path, st, 0);
	if (err == 0 && sys_call5(SYS_statx, dir, path, 0, STATX_BTIME |
			STATX_INO, &sx) == 0 && sx.stx_ino == st->st_ino &&
	    (sx.stx_mask & STATX_BTIME) != 0)
		*ret_born = (uint64_t)sx.stx_btime.tv_sec * 1000000000u +
			sx.stx_btime.tv_nsec;
	return err;
}

#endif
