/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * echo, nuls and printk; and what is true of every driver: clone opens,
 * minors, sharing, closing.
 */
#include "dr.h"

T_CASE(echo_sends_back_data_and_control_parts)
{
	int fd = dr_open("/dev/echo");

	T_EQ(write(fd, "text", 4), 4);
	dr_gets(fd, NULL, "text");
	T_OK(dr_put(fd, "ctl", "data", 0));
	dr_gets(fd, "ctl", "data");
	T_OK(dr_put(fd, "high", NULL, RS_HIPRI));
	dr_gets(fd, "high", NULL);
	T_OK(close(fd));
}

T_CASE(echo_stops_a_writer_whose_reader_does_not_read)
{
	static char buf[1024];
	int fd = dr_open("/dev/echo");
	unsigned out = 0, in = 0;
	ssize_t n;

	while ((n = write(fd, buf, sizeof(buf))) > 0 && out < 100)
		out++;
	T_EQ(n, -1);
	T_EQ(errno, EAGAIN);
	T_GT(out, 5u);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		in += (unsigned)n;
	T_EQ(in, out * 1024);
	T_EQ(write(fd, buf, sizeof(buf)), 1024);
	T_OK(close(fd));
}

T_CASE(clones_are_streams_of_their_own)
{
	int a = dr_open("/dev/streams/clone/echo"), b = dr_open("/dev/echo");

	T_NE(dr_minor(a), dr_minor(b));
	T_EQ(write(a, "a", 1), 1);
	T_EQ(write(b, "b", 1), 1);
	dr_gets(a, NULL, "a");
	dr_gets(b, NULL, "b");
	T_OK(close(a));
	T_OK(close(b));
}

T_CASE(a_minor_that_is_closed_is_given_again)
{
	int a = dr_open("/dev/echo"), b = dr_open("/dev/echo");
	unsigned m = dr_minor(a);

	T_OK(close(a));
	a = dr_open("/dev/echo");
	T_EQ(dr_minor(a), m);
	T_OK(close(a));
	T_OK(close(b));
}

T_CASE(opens_of_one_minor_share_a_stream)
{
	int a = dr_open("/dev/echo.7"), b = dr_open("/dev/streams/echo/7");

	T_EQ(dr_minor(a), 7u);
	T_EQ(dr_minor(b), 7u);
	T_EQ(write(a, "text", 4), 4);
	dr_gets(b, NULL, "text");
	T_OK(close(a));
	T_EQ(write(b, "more", 4), 4);
	dr_gets(b, NULL, "more");
	T_OK(close(b));
}

T_CASE(another_process_shares_the_stream)
{
	int a = dr_open("/dev/echo.7"), status;
	pid_t pid = fork();

	T_GE(pid, 0);
	if (pid == 0) {
		int b = open("/dev/echo.7", O_RDWR);

		_exit(b >= 0 && write(b, "text", 4) == 4 ? 0 : 1);
	}
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	dr_gets(a, NULL, "text");
	T_OK(close(a));
}

T_CASE(a_minor_or_driver_that_there_is_not_cannot_be_opened)
{
	T_EQ(open("/dev/streams/echo/65536", O_RDWR), -1);
	T_EQ(errno, ENXIO);
	T_EQ(open("/dev/streams/clone/nosuch", O_RDWR), -1);
	T_TRUE(errno == ENXIO || errno == ENODEV || errno == ENOENT);
}

T_CASE(devices_are_opened_by_their_drivers_names)
{
	int a = dr_open("/dev/streams/nsdev/echo");
	int b = dr_open("/dev/streams/nsdev/echo/9");

	T_EQ(dr_minor(b), 9u);
	T_NE(dr_minor(a), 9u);
	T_EQ(write(b, "text", 4), 4);
	dr_gets(b, NULL, "text");
	T_EQ(open("/dev/streams/nsdev/nosuch", O_RDWR), -1);
	T_EQ(errno, ENXIO);
	T_OK(close(a));
	T_OK(close(b));
}

T_CASE(simple_drivers_refuse_ioctls)
{
	static const char *const path[] = {
		"/dev/echo", "/dev/nuls", "/dev/printk",
	};
	unsigned i;
	int arg = 0;

	for (i = 0; i < 3; i++) {
		int fd = dr_open(path[i]);

		T_ERR(dr_str_int(fd, 0x1234, 0), EINVAL);
		T_ERR(dr_str(fd, 0x1234, NULL, 0), EINVAL);
		T_ERR(ioctl(fd, 0x1234, &arg), EINVAL);
		T_OK(close(fd));
	}
}

T_CASE(nuls_takes_everything_and_gives_nothing)
{
	static char buf[4096];
	int fd = dr_open("/dev/nuls");
	unsigned i;

	for (i = 0; i < 300; i++)
		T_EQ(write(fd, buf, sizeof(buf)), 4096);
	T_OK(dr_put(fd, "ctl", "data", 0));
	T_OK(dr_put(fd, "high", NULL, RS_HIPRI));
	dr_nothing(fd, 0);
	T_OK(close(fd));
}

T_CASE(modules_can_be_pushed_on_a_driver)
{
	char name[FMNAMESZ + 1];
	int fd = dr_open("/dev/echo");

	T_OK(ioctl(fd, I_PUSH, "srvmod"));
	T_OK(ioctl(fd, I_PUSH, "pipemod"));
	T_OK(ioctl(fd, I_LOOK, name));
	T_STR(name, "pipemod");
	T_EQ(ioctl(fd, I_LIST, NULL), 3);
	T_EQ(ioctl(fd, I_FIND, "echo"), 1);
	T_EQ(write(fd, "text", 4), 4);
	dr_gets(fd, NULL, "text");
	T_OK(ioctl(fd, I_POP, 0));
	T_OK(ioctl(fd, I_POP, 0));
	T_ERR(ioctl(fd, I_POP, 0), EINVAL);
	T_EQ(write(fd, "text", 4), 4);
	dr_gets(fd, NULL, "text");
	T_OK(close(fd));
}

T_CASE(a_driver_is_not_a_module)
{
	int fd = dr_open("/dev/echo");

	T_ERR(ioctl(fd, I_PUSH, "nuls"), EINVAL);
	T_ERR(ioctl(fd, I_PUSH, "loop"), EINVAL);
	T_OK(close(fd));
}

T_CASE(flushing_empties_both_sides)
{
	int fd = dr_open("/dev/echo");

	T_EQ(write(fd, "void", 4), 4);
	T_OK(ioctl(fd, I_FLUSH, FLUSHRW));
	dr_nothing(fd, 0);
	T_EQ(write(fd, "text", 4), 4);
	dr_gets(fd, NULL, "text");
	T_OK(close(fd));
}

T_CASE(printk_takes_data)
{
	int fd = dr_open("/dev/printk");

	T_EQ(write(fd, "one\ntwo", 7), 7);
	T_OK(dr_put(fd, "ctl", NULL, 0));
	dr_nothing(fd, 0);
	T_OK(close(fd));
}
