/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of isastream(3), fattach(3) and fdetach(3). */
#include "str.h"

#include <limits.h>

static char c;

/* A path of more than PATH_MAX bytes. */
static const char *
too_long(void)
{
	static char p[PATH_MAX + 10];

	for (size_t i = 0; i < sizeof p - 1; i++)
		p[i] = i % 100 == 0 ? '/' : 'x';
	return p;
}

/* A path through a ring of symbolic links. */
static const char *
ring(void)
{
	T_OK(symlink(s_path("b"), s_path("c")));
	T_OK(symlink(s_path("c"), s_path("b")));
	return s_path("c");
}

CASE(isa_stream)
{
	S_HOLDS(isastream(R) == 1);
	S_HOLDS(isastream(W) == 1);
}

CASE(isa_not)
{
	int fd = T_OK(open("/dev/null", O_RDWR));

	S_HOLDS(isastream(fd) == 0);
	S_HOLDS(isastream(T_OK(open(s_file("a"), O_RDWR))) == 0);
}

CASE(isa_ebadf)
{
	int fd = T_OK(dup(R));

	T_OK(close(fd));
	S_FAILS(isastream(fd), EBADF);
	S_FAILS(isastream(-1), EBADF);
}

CASE(fa_opens)
{
	const char *path = s_file("a");
	int fd;

	T_OK(fattach(R, path));
	fd = T_OK(open(path, O_RDWR));
	S_HOLDS(isastream(fd) == 1);
	ST_WRITES(W, "text");
	ST_READS(fd, 10, "text");
}

CASE(fa_stat)
{
	const char *path = s_file("a");
	int fd = T_OK(open(path, O_RDWR));

	T_EQ(write(fd, "F", 1), 1);
	T_OK(fattach(R, path));
	ST_WRITES(W, "S");
	fd = T_OK(open(path, O_RDWR));
	S_HOLDS(read(fd, &c, 1) == 1 && c == 'S');
}

CASE(fa_twice)
{
	const char *a = s_file("a"), *b = s_file("b");

	S_HOLDS(fattach(R, a) == 0);
	S_HOLDS(fattach(R, b) == 0);
	S_HOLDS(isastream(T_OK(open(b, O_RDWR))) == 1);
	T_OK(fdetach(a));
	S_HOLDS(isastream(T_OK(open(b, O_RDWR))) == 1);
}

CASE(fa_closed)
{
	const char *path = s_file("a");

	T_OK(fattach(R, path));
	T_OK(close(R));
	ST_WRITES(W, "text");
	ST_READS(T_OK(open(path, O_RDWR)), 10, "text");
}

CASE(fa_returns)
{
	S_HOLDS(fattach(R, s_file("a")) == 0);
}

CASE(fa_ebadf)
{
	int fd = T_OK(dup(R));

	T_OK(close(fd));
	S_FAILS(fattach(fd, s_file("a")), EBADF);
}

CASE(fa_enoent)
{
	S_FAILS(fattach(R, s_path("gone")), ENOENT);
	S_FAILS(fattach(R, ""), ENOENT);
}

CASE(fa_enotdir)
{
	(void)s_file("a");
	S_FAILS(fattach(R, s_path("a/b")), ENOTDIR);
}

CASE(fa_ebusy)
{
	const char *path = s_file("a");

	T_OK(fattach(R, path));
	S_FAILS(fattach(W, path), EBUSY);
}

CASE(fa_enametoolong)
{
	S_FAILS(fattach(R, too_long()), ENAMETOOLONG);
}

CASE(fa_eloop)
{
	S_FAILS(fattach(R, ring()), ELOOP);
}

CASE(fa_einval)
{
	int fd = T_OK(open("/dev/null", O_RDWR));

	S_FAILS(fattach(fd, s_file("a")), EINVAL);
}

CASE(fd_returns)
{
	const char *path = s_file("a");

	T_OK(fattach(R, path));
	S_HOLDS(fdetach(path) == 0);
}

CASE(fd_restores)
{
	const char *path = s_file("a");

	T_OK(fattach(R, path));
	T_OK(fdetach(path));
	S_HOLDS(isastream(T_OK(open(path, O_RDWR))) == 0);
}

CASE(fd_open_stay)
{
	const char *path = s_file("a");
	int fd;

	T_OK(fattach(R, path));
	fd = T_OK(open(path, O_RDWR));
	T_OK(fdetach(path));
	ST_WRITES(W, "text");
	ST_READS(fd, 10, "text");
}

CASE(fd_last_use)
{
	const char *path = s_file("a");

	T_OK(fattach(R, path));
	T_OK(close(R));
	T_OK(fdetach(path));
	S_HOLDS(read(W, &c, 1) == 0);
}

CASE(fd_einval)
{
	S_FAILS(fdetach(s_file("a")), EINVAL);
}

CASE(fd_enoent)
{
	S_FAILS(fdetach(s_path("gone")), ENOENT);
	S_FAILS(fdetach(""), ENOENT);
}

CASE(fd_enotdir)
{
	(void)s_file("a");
	S_FAILS(fdetach(s_path("a/b")), ENOTDIR);
}

CASE(fd_enametoolong)
{
	S_FAILS(fdetach(too_long()), ENAMETOOLONG);
}

CASE(fd_eloop)
{
	S_FAILS(fdetach(ring()), ELOOP);
}
