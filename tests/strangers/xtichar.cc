/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A program of XPG4's time that has become C++: netbufs point to char. */
#define STREAMS_XPG4 1
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xti.h>

#define CHECK(e) do { if (!(e)) { t_error(#e); exit(1); } } while (0)

int
main()
{
	struct t_bind *bind;
	struct t_info *info;
	char *p, *text;
	int fd;

	CHECK((info = (struct t_info *)t_alloc(-1, T_INFO, T_ALL)) != NULL);
	CHECK((fd = t_open("/dev/ticots", O_RDWR, info)) >= 0);
	CHECK(info->servtype == T_COTS);
	CHECK((bind = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL)) != NULL);
	CHECK(t_bind(fd, NULL, bind) == 0);
	p = bind->addr.buf;
	CHECK(bind->addr.len > 0 && p != NULL);
	text = t_strerror(TBADF);
	CHECK(strlen(text) > 0);
	CHECK(t_free((char *)bind, T_BIND) == 0);
	CHECK(t_free((char *)info, T_INFO) == 0);
	CHECK(t_close(fd) == 0);
	return 0;
}
