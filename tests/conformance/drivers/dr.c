/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include "dr.h"

#include <sys/sysmacros.h>

int
dr_open(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK);

	if (fd < 0)
		T_FAIL("open of %s: %s", path, strerror(errno));
	return fd;
}

int
dr_str(int fd, int cmd, void *dp, int len)
{
	struct strioctl ic = {
		.ic_cmd = cmd,
		.ic_timout = 5,
		.ic_len = len,
		.ic_dp = dp,
	};

	return ioctl(fd, I_STR, &ic);
}

int
dr_str_int(int fd, int cmd, int val)
{
	return dr_str(fd, cmd, &val, sizeof(val));
}

int
dr_put(int fd, const char *ctl, const char *data, int flags)
{
	struct strbuf c = {.len = ctl != NULL ? (int)strlen(ctl) : -1,
		.buf = (char *)(uintptr_t)ctl};
	struct strbuf d = {.len = data != NULL ? (int)strlen(data) : -1,
		.buf = (char *)(uintptr_t)data};

	return putmsg(fd, ctl != NULL ? &c : NULL, data != NULL ? &d : NULL,
		flags);
}

void
dr_gets(int fd, const char *ctl, const char *data)
{
	char cbuf[4096], dbuf[4096];
	struct strbuf c = {.maxlen = sizeof(cbuf), .buf = cbuf};
	struct strbuf d = {.maxlen = sizeof(dbuf), .buf = dbuf};
	struct pollfd pfd = {.fd = fd, .events = POLLIN | POLLPRI};
	int flags = 0;

	T_EQ(poll(&pfd, 1, T_PATIENCE), 1);
	T_EQ(getmsg(fd, &c, &d, &flags), 0);
	T_EQ(c.len, ctl != NULL ? (int)strlen(ctl) : -1);
	if (ctl != NULL)
		T_MEM(cbuf, ctl, strlen(ctl));
	T_EQ(d.len, data != NULL ? (int)strlen(data) : -1);
	if (data != NULL)
		T_MEM(dbuf, data, strlen(data));
}

void
dr_nothing(int fd, int ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN | POLLPRI};

	T_EQ(poll(&pfd, 1, ms), 0);
}

unsigned
dr_minor(int fd)
{
	struct stat st;

	T_OK(fstat(fd, &st));
	return minor(st.st_rdev);
}
