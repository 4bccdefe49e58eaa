/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * stat and access of names of devices: what can be opened is there.
 */
#include "names.h"

#include <stdio.h>
#include <sys/sysmacros.h>

static const char *const there[] = {
	"/dev/streams/clone/echo", "/dev/streams/echo/3", "/dev/echo",
	"/dev/loop.1", "/dev/loop_clone", "/dev/ticots", "/dev/sad/admin",
	"/dev//streams/echo/3",
};

static const char *const none[] = {
	"/dev/streams/clone/nosuch", "/dev/streams/nosuch/1", "/dev/nosuch",
	"/dev/streams/echo/x", "/nosuch/echo",
};

T_CASE(stat_says_what_an_open_device_says)
{
	struct stat st, one;
	int fd;

	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		T_OK(stat(there[i], &st));
		T_TRUE(S_ISCHR(st.st_mode));
		T_EQ(st.st_nlink, 1u);
		T_OK(lstat(there[i], &one));
		T_EQ(one.st_mode, st.st_mode);
		T_OK(fstatat(AT_FDCWD, there[i], &one, AT_SYMLINK_NOFOLLOW));
		T_EQ(one.st_rdev, st.st_rdev);
	}
	T_OK(stat("/dev/streams/echo/3", &st));
	fd = T_OK(open("/dev/streams/echo/3", O_RDWR));
	T_OK(fstat(fd, &one));
	T_EQ(one.st_mode, st.st_mode);
	T_EQ(one.st_rdev, st.st_rdev);
	T_OK(stat("/dev/streams/fifo/7", &st));
	T_TRUE(S_ISFIFO(st.st_mode));
}

T_CASE(statx_says_the_same)
{
	struct statx stx;
	struct stat st;

	T_OK(stat("/dev/streams/echo/3", &st));
	T_OK(statx(AT_FDCWD, "/dev/streams/echo/3", 0, STATX_BASIC_STATS,
		&stx));
	T_EQ(stx.stx_mode, st.st_mode);
	T_EQ(stx.stx_rdev_major, major(st.st_rdev));
	T_EQ(stx.stx_rdev_minor, minor(st.st_rdev));
}

T_CASE(access_says_that_it_can_be_read_and_written)
{
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		T_OK(access(there[i], F_OK));
		T_OK(access(there[i], R_OK | W_OK));
		T_OK(eaccess(there[i], R_OK | W_OK));
		T_OK(faccessat(AT_FDCWD, there[i], R_OK | W_OK, AT_EACCESS));
		T_ERR(access(there[i], X_OK), EACCES);
	}
}

/* ... and there is nothing where an open finds nothing. */
T_CASE(what_cannot_be_opened_is_not_there)
{
	struct stat st;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		T_EQ(open(none[i], O_RDWR), -1);
		T_ERR(stat(none[i], &st), ENOENT);
		T_ERR(lstat(none[i], &st), ENOENT);
		T_ERR(access(none[i], F_OK), ENOENT);
	}
}

static int
shared_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[600];
	int n = 0;

	T_NOTNULL(f);
	while (fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, "rw-s") != NULL;
	fclose(f);
	return n;
}

static void
looks(void *arg)
{
	struct stat st;
	int n = shared_mappings();

	(void)arg;
	T_OK(stat("/dev/streams/clone/echo", &st));
	T_OK(access("/dev/streams/clone/echo", R_OK));
	T_ERR(stat("/dev/streams/clone/nosuch", &st), ENOENT);
	T_EQ(shared_mappings(), n);
	T_OK(close(T_OK(open("/dev/streams/clone/echo", O_RDWR))));
	T_GT(shared_mappings(), n);
}

/* No domain is made, and none is joined. */
T_CASE(a_process_that_only_looks_is_no_member)
{
	T_EQ(n_wait(n_child(looks, NULL)), 0);
}

T_CASE(files_are_what_they_are)
{
	const char *path = n_file("f");
	struct stat st;

	T_OK(stat("/dev/null", &st));
	T_EQ(st.st_rdev, makedev(1, 3));
	T_OK(stat(path, &st));
	T_TRUE(S_ISREG(st.st_mode));
	T_OK(access(path, R_OK | W_OK));
	T_ERR(stat("", &st), ENOENT);
}

T_CASE(a_bad_address_is_EFAULT)
{
	void *volatile bad = (void *)8;

	T_ERR(stat("/dev/streams/echo/3", bad), EFAULT);
	T_ERR(statx(AT_FDCWD, "/dev/streams/echo/3", 0, STATX_BASIC_STATS,
		bad), EFAULT);
	T_ERR(stat(bad, bad), EFAULT);
	T_ERR(access(bad, F_OK), EFAULT);
}
