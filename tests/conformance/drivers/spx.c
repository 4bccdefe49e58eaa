/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * spx and I_FDINSERT: spx(4).
 */
#include "dr.h"

static int
insert(int fd, int other, int flags)
{
	struct strfdinsert fi;
	char token[sizeof(int)];

	memset(&fi, 0, sizeof(fi));
	fi.ctlbuf.buf = token;
	fi.ctlbuf.len = sizeof(token);
	fi.databuf.len = -1;
	fi.flags = flags;
	fi.fildes = other;
	return ioctl(fd, I_FDINSERT, &fi);
}

T_CASE(alone_it_sends_back)
{
	int a = dr_open("/dev/spx");

	T_OK(dr_put(a, "ctl", "data", 0));
	dr_gets(a, "ctl", "data");
	T_OK(close(a));
}

T_CASE(fdinsert_pairs_two)
{
	int a = dr_open("/dev/spx"), b = dr_open("/dev/spx");
	struct pollfd pfd = {.fd = b, .events = POLLIN};
	char c;

	T_OK(insert(a, b, 0));
	T_EQ(write(a, "there", 5), 5);
	dr_gets(b, NULL, "there");
	T_OK(dr_put(b, "ctl", "back", 0));
	dr_gets(a, "ctl", "back");
	dr_nothing(b, 0);
	T_OK(close(a));
	T_EQ(poll(&pfd, 1, T_PATIENCE), 1);
	T_TRUE((pfd.revents & POLLHUP) != 0);
	T_EQ(read(b, &c, 1), 0);
	T_OK(close(b));
}

T_CASE(a_high_priority_fdinsert_pairs_too)
{
	int a = dr_open("/dev/spx"), b = dr_open("/dev/spx");

	T_OK(insert(b, a, RS_HIPRI));
	T_EQ(write(a, "there", 5), 5);
	dr_gets(b, NULL, "there");
	T_OK(close(a));
	T_OK(close(b));
}

T_CASE(modules_on_the_other_stream_do_not_hide_its_driver)
{
	int a = dr_open("/dev/spx"), b = dr_open("/dev/spx");

	T_OK(ioctl(b, I_PUSH, "relay"));
	T_OK(insert(a, b, 0));
	T_EQ(write(a, "there", 5), 5);
	dr_gets(b, NULL, "there");
	T_OK(close(a));
	T_OK(close(b));
}
